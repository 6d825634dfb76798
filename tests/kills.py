"""Kill a run at random moments until it comes to its end, many times over.

Run as a process of its own, with a plan as JSON on stdin and what happened as JSON on stdout.
Everything is imported once; each attempt is a fork, which starts within milliseconds.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from pathlib import Path
from typing import Any

from ragas_judge.judge import Judge, OpenAIEmbedder, RetryPolicy
from ragas_judge.runs import evaluate


def main() -> None:
    plan = json.load(sys.stdin)
    dice = random.Random(plan["seed"])
    folder, kills, runs = Path(plan["folder"]), [], []
    # Here, not in a fork: whatever is loaded when it is needed is then loaded for all.
    evaluation(plan, -1, folder / "run--1")
    usual = attempt(plan, -2, folder / "run--2", None)
    while len(kills) < plan["points"]:
        number, out, attempts = len(runs), folder / f"run-{len(runs)}", 0
        while not finished(out):
            attempts += 1
            alone = attempts > plan["tries"]  # so that every run comes to its end
            moment = attempt(plan, number, out, None if alone else dice.random() * usual)
            if not alone and moment > 0:
                kills.append(moment)
        runs.append({"out": str(out), "attempts": attempts})
    json.dump({"kills": kills, "runs": runs, "usual": usual}, sys.stdout)


def attempt(plan: dict[str, Any], number: int, out: Path, seconds: float | None) -> float:
    """Run once, killed after some seconds.

    Returns:
        The moment of the kill, -1 when it had ended before; how long it took when left alone.
    """
    began = time.monotonic()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            evaluation(plan, number, out)
            code = 0
        finally:
            os._exit(code)
    if seconds is None:
        _, status = os.waitpid(child, 0)
        if status != 0:
            raise SystemExit(f"an attempt that was left alone ended with {status}")
        return time.monotonic() - began
    time.sleep(seconds)  # what is tried here: a moment that nothing in the run has chosen
    moment = time.time()
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return moment if os.WIFSIGNALED(status) else -1.0


def finished(out: Path) -> bool:
    return (out / "manifest.json").is_file()


def evaluation(plan: dict[str, Any], number: int, out: Path) -> None:
    """One run, or what is left of it."""
    judge = Judge(
        "mock",
        base_url=plan["url"],
        api_key="none",
        embeddings=OpenAIEmbedder("mock-embed", base_url=plan["url"], api_key="none"),
        concurrency=plan["concurrency"],
        retry=RetryPolicy(patience=None),
    )
    evaluate(rows_of(plan["rows"], number), judge=judge, out=out)


def rows_of(rows: list[dict[str, Any]], number: int) -> list[dict[str, Any]]:
    """The rows with other words in each run, so that no request is that of another run."""
    mark = f" Copy {number}."
    return [
        {
            **row,
            "user_input": row["user_input"] + mark,
            "response": row["response"] + mark,
            "retrieved_contexts": [text + mark for text in row["retrieved_contexts"]],
        }
        for row in rows
    ]


if __name__ == "__main__":
    main()
