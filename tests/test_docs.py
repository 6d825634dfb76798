"""Every Python example in README and docs runs, and prints what stands below it.

A ``python`` block followed by a ``text`` block must print exactly that text. All blocks of a
page run in one process each, in a folder that looks like the repository, with the API address
pointing at a server of this test.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"```python\n(.*?)```(?:\n+```text\n(.*?)```)?", re.DOTALL)


def blocks() -> list[Any]:
    found = []
    for page in PAGES:
        for number, match in enumerate(BLOCK.finditer(page.read_text("utf-8")), start=1):
            name = f"{page.relative_to(ROOT)}:{number}"
            found.append(pytest.param(match[1], match[2], id=name))
    return found


def reply(body: dict[str, Any]) -> dict[str, Any]:
    """A valid answer of every form our prompts ask for."""
    schema = body["response_format"]["json_schema"]["schema"]
    return {key: _value(item) for key, item in schema["properties"].items()}


def _value(schema: dict[str, Any]) -> Any:
    if schema["type"] == "array":
        return ["A claim."]
    if schema["type"] == "object":
        return {key: _value(item) for key, item in schema["properties"].items()}
    if "enum" in schema:
        return schema["enum"][0]
    return {"boolean": True, "integer": 1, "string": "words"}[schema["type"]]


@pytest.mark.parametrize(("code", "printed"), blocks())
def test_example(code: str, printed: str | None, tmp_path: Path, fake_openai: Any) -> None:
    server = fake_openai(reply)
    script = tmp_path / "example.py"
    script.write_text(code, encoding="utf-8")
    (tmp_path / "fixtures").symlink_to(ROOT / "fixtures")
    environment = {
        **os.environ,
        "OPENAI_API_KEY": "none",
        "OPENAI_BASE_URL": server.url,
        "PYTHONWARNINGS": "ignore",
    }
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    if printed is not None:
        assert done.stdout == printed


def test_the_examples_were_found() -> None:
    assert len(blocks()) >= 6
