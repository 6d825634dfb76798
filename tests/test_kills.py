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
ON_THE_WAY = 0.1
"""Seconds that a request or a reply may take between the two processes: one that was sent so
shortly before a kill may not have arrived."""
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


def twice_paid(
    paid: dict[str, list[tuple[float, float]]], kills: list[float], on_the_way: float = ON_THE_WAY
) -> list[str]:
    """Requests that were answered again although no kill had come between call and reply."""
    found = []
    for key, answers in paid.items():
        for came, sent in answers[:-1]:
            if not any(came - on_the_way < kill < sent + on_the_way for kill in kills):
                found.append(key)
    return found


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_nothing_is_lost_and_nothing_is_paid_twice(fault_server: Any, tmp_path: Path) -> None:
    server = fault_server(latency=0.02, embedding_latency=0.01)
    plan = {
        "url": server.url,
        "folder": str(tmp_path),
        "rows": ROWS,
        "points": POINTS,
        "tries": 6,
        "concurrency": 3,
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
    assert len(told["kills"]) >= POINTS
    scores = [Path(run["out"], "scores.jsonl").read_text("utf-8") for run in told["runs"]]
    undisturbed = (tmp_path / "run--1" / "scores.jsonl").read_text("utf-8")
    assert set(scores) == {undisturbed}
    # On a machine that is busy with other tests, all takes longer in proportion.
    on_the_way = max(ON_THE_WAY, told["usual"] / 4)
    assert twice_paid(server.stats.paid, told["kills"], on_the_way) == []
    # Without the journal each attempt would pay for a whole run.
    calls = sum(map(len, server.stats.paid.values()))
    runs = len(told["runs"]) + 1
    assert calls <= 7 * len(ROWS) * runs + 2 * 3 * len(told["kills"])
    assert list(tmp_path.glob(".run*")) == []
