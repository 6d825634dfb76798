"""Killed at random moments, a run still comes to the same scores and pays for nothing twice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

POINTS = 20
AT_ONCE = 3
ROWS = [
    {
        "id": f"r{number}",
        "user_input": f"Which wood is boat {number} made of?",
        "response": f"The hull of boat {number} is larch. Its sail is red.",
        "retrieved_contexts": [f"The hull of boat {number} is larch.", "A crew of five."],
        "reference": f"The hull of boat {number} is larch.",
    }
    for number in range(4)
]


def asked_again(paid: dict[str, list[Any]]) -> int:
    """Answers that were sent for requests which had been answered before."""
    return sum(len(answers) - 1 for answers in paid.values())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_nothing_is_lost_and_nothing_is_paid_twice(fault_server: Any, tmp_path: Path) -> None:
    server = fault_server(latency=0.02, embedding_latency=0.01)
    plan = {
        "url": server.url,
        "folder": str(tmp_path),
        "rows": ROWS,
        "points": POINTS,
        "tries": 6,
        "concurrency": AT_ONCE,
        "seed": 7,
    }
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("kills.py"))],
        input=json.dumps(plan),
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(done.stdout)
    assert told["kills"] >= POINTS
    scores = [Path(run["out"], "scores.jsonl").read_text("utf-8") for run in told["runs"]]
    undisturbed = (tmp_path / "run--1" / "scores.jsonl").read_text("utf-8")
    assert set(scores) == {undisturbed}
    assert told["twice"] == 0
    # A kill loses the calls under way: of the judge, and of the embedder, one a row.
    assert asked_again(server.stats.paid) <= (AT_ONCE + len(ROWS)) * told["kills"]
