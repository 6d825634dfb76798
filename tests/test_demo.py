"""What ``make demo`` prints is what the README shows."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from ragas_judge.runs.cli import main

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).resolve().parent.parent


def table(text: str) -> list[str]:
    """The rows of the summary table.

    Without the white space at their ends, and for ``answer_relevancy`` to two digits: its
    vectors are computed where the demo runs.
    """
    lines = [line.rstrip() for line in text.splitlines()]
    rows = [line for line in lines if re.match(r" (metric|faith|context|answer)", line)]
    return [re.sub(r"(\.\d\d)\d", r"\1", row) if "answer" in row else row for row in rows]


def test_the_table_in_the_readme(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "80")
    sets, recordings = "fixtures/quickstart/dataset.jsonl", "fixtures/recordings/quickstart"
    out = str(tmp_path / "demo")
    code = main(["evaluate", sets, "--recordings", recordings, "--mode", "replay", "--out", out])
    printed = capsys.readouterr()
    assert code == 0, printed.err
    shown = table((ROOT / "README.md").read_text("utf-8"))
    assert len(shown) == 5
    assert table(printed.out) == shown
    assert sorted(path.name for path in (tmp_path / "demo").iterdir()) == [
        "evidence.jsonl",
        "manifest.json",
        "scores.jsonl",
    ]
