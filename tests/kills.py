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
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ragas_judge.judge import Cache, Judge, OpenAIEmbedder, Reply, Request, RetryPolicy
from ragas_judge.judge.openai_transport import OpenAITransport
from ragas_judge.runs import evaluate
from ragas_judge.runs.journal import Journal


def main() -> None:
    plan = json.load(sys.stdin)
    dice = random.Random(plan["seed"])
    folder, kills, runs = Path(plan["folder"]), 0, []
    # Here, not in a fork: whatever is loaded when it is needed is then loaded for all.
    evaluation(plan, -1, folder / "run--1")
    usual = attempt(plan, -2, folder / "run--2", None)
    while kills < plan["points"]:
        number, out, attempts = len(runs), folder / f"run-{len(runs)}", 0
        while not finished(out):
            attempts += 1
            alone = attempts > plan["tries"]  # so that every run comes to its end
            took = attempt(plan, number, out, None if alone else dice.random() * usual)
            kills += not alone and took > 0
        runs.append({"out": str(out), "attempts": attempts})
    notes = folder / "paid-twice"
    twice = len(notes.read_text("utf-8")) if notes.exists() else 0
    json.dump({"kills": kills, "runs": runs, "twice": twice}, sys.stdout)


def attempt(plan: dict[str, Any], number: int, out: Path, seconds: float | None) -> float:
    """Run once, killed after some seconds.

    Returns:
        How long it took; 0 when it had ended before it could be killed.
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
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return seconds if os.WIFSIGNALED(status) else 0.0


def finished(out: Path) -> bool:
    return (out / "manifest.json").is_file()


class Noting:
    """A transport and an embedder that note each call whose reply is on disk already."""

    def __init__(self, live: Any, cache: Cache, notes: Path) -> None:
        self.live, self.cache, self.notes = live, cache, notes
        self.endpoint, self.name = live.endpoint, getattr(live, "name", "")

    async def send(self, request: Request) -> Reply:
        self.note(self.cache.get(self.endpoint, request) is not None)
        return await self.live.send(request)

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.note(self.cache.get_vectors(self.endpoint, self.name, texts) is not None)
        return await self.live.embed(texts)

    def note(self, on_disk: bool) -> None:
        if on_disk:
            with self.notes.open("a", encoding="utf-8") as file:
                file.write("x")


def evaluation(plan: dict[str, Any], number: int, out: Path) -> None:
    """One run, or what is left of it."""
    settings = {"base_url": plan["url"], "api_key": "none"}
    beside = Journal(out).cache, out.with_name("paid-twice")
    judge = Judge(
        "mock",
        transport=Noting(OpenAITransport(**settings), *beside),
        embeddings=Noting(OpenAIEmbedder("mock-embed", **settings), *beside),
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
