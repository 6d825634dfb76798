"""What faults and limits of a service do to the scores, the time and the bill.

    python benchmarks/reliability.py                    # all scenarios, some twelve minutes
    python benchmarks/reliability.py faults --rows 50   # one, smaller

The server is ``tests/fault_server.py`` as a process of its own: its answers follow a rule, so
a score that differs from the run without faults is wrong. Prints Markdown.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import _rows

from ragas_judge.judge import Judge, OpenAIEmbedder, RetryPolicy
from ragas_judge.metrics import AnswerRelevancy, ContextPrecision, ContextRecall, Faithfulness
from ragas_judge.runs import evaluate

TESTS = Path(__file__).resolve().parent.parent / "tests"
FAULTS = {
    "http500": 0.05,
    "http429": 0.10,
    "truncated": 0.05,
    "short": 0.05,
    "reordered": 0.05,
    "longer": 0.05,
    "hang": 0.02,
}
METRICS = (Faithfulness, ContextRecall, ContextPrecision, AnswerRelevancy)
Scores = dict[tuple[str, str], tuple[str, Any]]
"""(row, metric) -> (status, value)."""


def load(name: str) -> Any:
    """A helper module of the tests, by path."""
    spec = importlib.util.spec_from_file_location(name, TESTS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


fault_server, test_kills = load("fault_server"), load("test_kills")


@contextmanager
def server() -> Iterator[Any]:
    """The fault server as a process of its own."""
    script = [sys.executable, str(TESTS / "fault_server.py")]
    with subprocess.Popen(script, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        try:
            yield fault_server.RemoteServer(url.removesuffix("/v1"))
        finally:
            process.terminate()


# --- two ways to score rows ---------------------------------------------------------------------


def embedder(url: str) -> OpenAIEmbedder:
    return OpenAIEmbedder("mock-embed", base_url=url, api_key="none")


def judge_at(url: str, **settings: Any) -> Judge:
    return Judge("mock", base_url=url, api_key="none", embeddings=embedder(url), **settings)


def by_runs(rows: list[Any], url: str, workers: int, **settings: Any) -> Scores:
    """``runs.evaluate``."""
    result = evaluate(rows, judge=judge_at(url, **settings), concurrency=2 * workers)
    return {
        (line["row"], line["metric"]): (line["status"], line["value"]) for line in result.scores()
    }


def by_ragas(rows: list[Any], url: str, workers: int, **settings: Any) -> Scores:
    """``ragas.evaluate``."""
    import ragas
    from ragas import RunConfig

    judge = judge_at(url, **settings)
    return _scores_of(
        rows,
        ragas.evaluate(
            ragas.EvaluationDataset.from_list([_columns(row) for row in rows]),
            [metric(judge) for metric in METRICS],
            run_config=RunConfig(max_workers=workers),
            show_progress=False,
        ),
    )


def by_lent(rows: list[Any], url: str, workers: int, **_: Any) -> Scores:
    """``ragas.evaluate`` with a model of LangChain's lent to the metrics, nothing else set."""
    import ragas
    from langchain_openai import ChatOpenAI
    from ragas import RunConfig

    metrics = [
        AnswerRelevancy(embeddings=embedder(url)) if m is AnswerRelevancy else m() for m in METRICS
    ]
    return _scores_of(
        rows,
        ragas.evaluate(
            ragas.EvaluationDataset.from_list([_columns(row) for row in rows]),
            metrics,
            llm=ChatOpenAI(model="mock", base_url=url, api_key="none"),
            run_config=RunConfig(max_workers=workers),
            show_progress=False,
        ),
    )


def _columns(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != "id"}


def _scores_of(rows: list[Any], result: Any) -> Scores:
    scores: Scores = {}
    for row, found in zip(rows, result.scores, strict=True):
        for metric, value in found.items():
            status = getattr(value, "status", "scored")
            scores[row["id"], metric] = status, float(value) if status == "scored" else None
    return scores


WAYS: dict[str, Callable[..., Scores]] = {
    "`runs.evaluate`": by_runs,
    "`ragas.evaluate`": by_ragas,
    "`ragas.evaluate`, lent model": by_lent,
}


def warm_up() -> None:
    """What is loaded once is not part of a run's time."""
    with server() as at:
        for way in WAYS.values():
            way(_rows.make_rows(1), at.url, 4)


def timed(way: Callable[..., Scores], *arguments: Any, **settings: Any) -> tuple[Scores, float]:
    began = time.monotonic()
    scores = way(*arguments, **settings)
    return scores, time.monotonic() - began


# --- scenarios ----------------------------------------------------------------------------------


def faults(count: int, latency: float) -> list[list[Any]]:
    """A mix of faults beside none."""
    rows, table = _rows.make_rows(count), []
    warm_up()
    patient = {"concurrency": 16, "retry": RetryPolicy(attempt_timeout=10)}
    for name in ("`runs.evaluate`", "`ragas.evaluate`"):
        with server() as at:
            at.configure(latency=latency, embedding_latency=latency / 10)
            clean, usual = timed(WAYS[name], rows, at.url, 16, **patient)
        with server() as at:
            at.configure(latency=latency, embedding_latency=latency / 10, faults=FAULTS)
            found, seconds = timed(WAYS[name], rows, at.url, 16, **patient)
            stats = at.stats
        marked = sum(found[key][0] == "failed" for key in found)
        wrong = sum(found[key] != clean[key] and found[key][0] != "failed" for key in clean)
        table.append([
            name, len(clean), wrong, marked, f"{1 - marked / len(clean):.2%}",
            f"{usual:.0f}", f"{seconds:.0f}", f"{seconds / usual:.2f}",
            sum(stats["kinds"].values()),
        ])  # fmt: skip
    return table


def limits(count: int, latency: float) -> list[list[Any]]:
    """64 workers against a server that takes 16 at once, and one of 600 calls a minute."""
    rows, table = _rows.make_rows(count), []
    for limit in ({"max_concurrency": 16}, {"rpm": 600}):
        for name in ("`runs.evaluate`", "`ragas.evaluate`, lent model"):
            with server() as at:
                at.configure(latency=latency, embedding_latency=latency / 10, **limit)
                found, seconds = timed(WAYS[name], rows, at.url, 64)
                stats = at.stats
            refused, all_of = stats["status"].get("429", 0), sum(stats["status"].values())
            calls = sum(stats["kinds"].values())
            ideal = calls * latency / 16 if "max_concurrency" in limit else calls / 10
            table.append([
                "16 at once" if "max_concurrency" in limit else "600 a minute", name, len(found),
                sum(status == "failed" for status, _ in found.values()),
                refused, f"{refused / all_of:.1%}", f"{ideal:.0f}", f"{seconds:.0f}",
            ])  # fmt: skip
    return table


def dead(count: int, latency: float) -> list[list[Any]]:
    """Nobody there, a wrong key, no quota left: by the command line."""
    table = [["nobody listens", *_command(_closed_port(), None)]]
    with _slammed_door() as (url, attempts):
        table.append(["every connection is closed at once", *_command(url, attempts)])
    for what, always in (("wrong key", "401"), ("quota exhausted", "quota")):
        with fault_server.FaultServer(always=always) as at:
            counted = lambda at=at: sum(at.stats.status.values())  # noqa: E731
            table.append([what, *_command(at.url, counted)])
    return table


def _command(url: str, attempts: Callable[[], int] | None) -> list[Any]:
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder, "rows.jsonl")
        lines = (json.dumps(row) + "\n" for row in _rows.make_rows(50))
        data.write_text("".join(lines), encoding="utf-8")
        began = time.monotonic()
        done = subprocess.run(
            [
                *(sys.executable, "-m", "ragas_judge.runs", "evaluate", str(data)),
                *("--model", "mock", "--base-url", url, "--out", f"{folder}/run"),
            ],
            env={**os.environ, "OPENAI_API_KEY": "none"},
            capture_output=True,
            text=True,
            check=False,
        )
        said = [line for line in done.stderr.splitlines() if "%  " not in line]
        return [
            f"{time.monotonic() - began:.1f}",
            attempts() if attempts else "–",
            len(said),
            done.returncode,
        ]


def _closed_port() -> str:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}/v1"


@contextmanager
def _slammed_door() -> Iterator[tuple[str, Callable[[], int]]]:
    """Takes connections only to close them, and counts."""
    attempts = 0
    door = socket.create_server(("127.0.0.1", 0))

    def slam() -> None:
        nonlocal attempts
        while True:
            try:
                door.accept()[0].close()
            except OSError:
                return
            attempts += 1

    threading.Thread(target=slam, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{door.getsockname()[1]}/v1", lambda: attempts
    finally:
        door.close()


def kills(count: int, latency: float) -> list[list[Any]]:
    """``kill -9`` at ``count`` random moments; each run goes on until it is whole."""
    with (
        fault_server.FaultServer(latency=latency / 50, embedding_latency=latency / 100) as at,
        tempfile.TemporaryDirectory() as folder,
    ):
        plan = {"url": at.url, "folder": folder, "rows": test_kills.ROWS, "points": count}
        more = {"tries": 8, "concurrency": 3, "seed": 2026}
        done = subprocess.run(
            [sys.executable, str(TESTS / "kills.py")],
            input=json.dumps({**plan, **more}),
            capture_output=True,
            text=True,
            check=True,
        )
        told = json.loads(done.stdout)
        expected = Path(folder, "run--1", "scores.jsonl").read_text("utf-8")
        found = [Path(run["out"], "scores.jsonl").read_text("utf-8") for run in told["runs"]]
        answers = at.stats.paid
        return [[
            told["kills"], len(found), sum(text != expected for text in found),
            sum(map(len, answers.values())), test_kills.asked_again(answers), told["twice"],
        ]]  # fmt: skip


SCENARIOS: dict[str, tuple[Callable[[int, float], list[list[Any]]], int, str, list[str]]] = {
    "faults": (
        faults, 200, "A mix of faults, 16 at once",
        ["by", "scores", "silently wrong", "marked failed", "scored", "s without faults", "s with",
         "ratio", "calls"],
    ),
    "limits": (
        limits, 100, "64 workers, no concurrency given",
        ["limit", "by", "scores", "failed", "429s", "of all answers", "ideal s", "s"],
    ),
    "dead": (
        dead, 0, "No use in asking",
        ["what", "s, start included", "attempts", "lines on stderr", "exit code"],
    ),
    "kills": (
        kills, 200, "kill -9 at random moments",
        ["kills", "runs", "runs with other scores", "answers paid for",
         "asked again: under way when killed", "asked again: reply on disk"],
    ),
}  # fmt: skip


def main() -> None:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scenarios", nargs="*", default=list(SCENARIOS), metavar="SCENARIO")
    parser.add_argument("--rows", type=int, help="rows, or kills")
    parser.add_argument("--latency", type=float, default=1.0, help="seconds a reply takes")
    options = parser.parse_args()
    for name in options.scenarios:
        scenario, count, title, head = SCENARIOS[name]
        table = scenario(options.rows or count, options.latency)
        print(f"\n{title}\n")
        for line in (head, ["---"] * len(head), *table):
            print(f"| {' | '.join(map(str, line))} |", flush=True)


if __name__ == "__main__":
    main()
