"""A run that ended early goes on: nothing is lost, nothing is paid twice."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ragas_judge.judge import Budget, Cache, Judge, RetryPolicy, ScriptedTransport
from ragas_judge.judge.errors import InputError, JudgeAuthError, JudgeUnavailableError
from ragas_judge.runs import evaluate
from ragas_judge.runs.cli import main
from ragas_judge.runs.errors import RunStopped

METRICS = ["faithfulness", "context_precision", "answer_relevancy"]
ROWS = [
    {
        "id": f"r{number}",
        "user_input": f"Which wood is the hull of boat {number} made of?",
        "response": f"The hull of boat {number} is larch.",
        "retrieved_contexts": [f"The hull of boat {number} is larch.", f"Sail {number} is red."],
    }
    for number in range(5)
]


class Service:
    """An agreeable judge that fails when told to, and counts what it was paid for."""

    def __init__(self, scripted: Any, fails: Any = lambda number, request: None) -> None:
        self._answer, self._fails = scripted.answer_well, fails
        self.paid: Counter[str] = Counter()
        self._number = 0

    def __call__(self, request: Any) -> Any:
        self._number += 1
        error = self._fails(self._number, request)
        if error is not None:
            raise error
        self.paid[request.key()] += 1
        return self._answer(request)

    def judge(self, **settings: Any) -> Judge:
        async def no_wait(_: float) -> None:
            pass

        settings = {"concurrency": 2, "embeddings": self.embed, **settings}
        retry = RetryPolicy(attempts=2, sleep=no_wait)
        return Judge("m", transport=ScriptedTransport(self), retry=retry, **settings)

    async def embed(self, texts: list[str]) -> list[list[float]]:
        self.paid["\n".join(texts)] += 1
        return [[1.0, 0.5] for _ in texts]


def lines(run: Path) -> list[Any]:
    return [json.loads(line) for line in (run / "scores.jsonl").read_text("utf-8").splitlines()]


def undisturbed(scripted: Any, folder: Path) -> tuple[Counter[str], list[Any]]:
    service = Service(scripted)
    evaluate(ROWS, METRICS, service.judge(), out=folder / "undisturbed")
    return service.paid, lines(folder / "undisturbed")


@pytest.mark.parametrize("after", [1, 4, 9, 14])
def test_a_run_that_was_stopped_goes_on_where_it_was(
    scripted: Any, tmp_path: Path, after: int
) -> None:
    paid, scores = undisturbed(scripted, tmp_path)
    withdrawn = True

    def fails(number: int, _: Any) -> Any:
        return JudgeAuthError("key withdrawn") if withdrawn and number > after else None

    service, out = Service(scripted, fails), tmp_path / "run"
    with pytest.raises(RunStopped, match="key withdrawn"):
        evaluate(ROWS, METRICS, service.judge(), out=out)
    withdrawn = False
    result = evaluate(ROWS, METRICS, service.judge(), out=out)
    assert service.paid == paid
    assert lines(out) == scores
    assert result.manifest["complete"] is True
    assert result.manifest["calls_from_cache"] == after
    assert [file.name for file in tmp_path.glob(".run*")] == []


def test_rows_that_failed_are_asked_again_and_no_others(scripted: Any, tmp_path: Path) -> None:
    paid, scores = undisturbed(scripted, tmp_path)
    down = True

    def fails(_: int, request: Any) -> Any:
        about = "boat 3" in request.messages[-1].content
        return JudgeUnavailableError("down") if down and about else None

    service, out = Service(scripted, fails), tmp_path / "run"
    first = evaluate(ROWS, METRICS, service.judge(), out=out)
    assert first.manifest["complete"] is True
    assert {line["row"] for line in lines(out) if line["status"] == "failed"} == {"r3"}
    assert (tmp_path / ".run.replies.sqlite").is_file()
    down = False
    evaluate(ROWS, METRICS, service.judge(), out=out, overwrite=True)
    assert service.paid == paid
    assert lines(out) == scores
    assert not (tmp_path / ".run.replies.sqlite").exists()


def test_a_partial_run_of_other_rows_is_left_alone(scripted: Any, tmp_path: Path) -> None:
    service = Service(scripted, lambda number, _: JudgeAuthError("no") if number > 4 else None)
    with pytest.raises(RunStopped):
        evaluate(ROWS, METRICS, service.judge(), out=tmp_path / "run")
    before = lines(tmp_path / "run")
    with pytest.raises(InputError, match="holds a partial run of another dataset"):
        evaluate(ROWS[:2], METRICS, service.judge(), out=tmp_path / "run")
    assert lines(tmp_path / "run") == before


def test_a_cache_serves_later_runs_and_leaves_no_journal(scripted: Any, tmp_path: Path) -> None:
    service, cache = Service(scripted), Cache(tmp_path / "cache.sqlite")
    for number in range(2):
        evaluate(ROWS, METRICS, service.judge(), out=tmp_path / f"run-{number}", cache=cache)
    assert max(service.paid.values()) == 1
    assert lines(tmp_path / "run-0") == lines(tmp_path / "run-1")
    assert list(tmp_path.glob(".run*")) == []


def test_a_budget_ends_a_run_that_can_go_on_later(scripted: Any, tmp_path: Path) -> None:
    paid, scores = undisturbed(scripted, tmp_path)
    service, out = Service(scripted), tmp_path / "run"
    budget = Budget(max_tokens=5000)
    with pytest.raises(RunStopped, match="limit of 5000 tokens") as caught:
        evaluate(ROWS, METRICS, service.judge(), out=out, budget=budget)
    assert caught.value.path == out
    assert 0 < budget.tokens <= 5000
    assert 0 < sum(service.paid.values()) < sum(paid.values())
    evaluate(ROWS, METRICS, service.judge(), out=out)
    assert service.paid == paid
    assert lines(out) == scores


def test_what_a_killed_writer_left_is_swept_away(scripted: Any, tmp_path: Path) -> None:
    for name in (".run.0123abcd.new", ".run.0123abcd.old", ".run.notes", ".runs.0123abcd.new"):
        (tmp_path / name).mkdir()
    evaluate(ROWS[:1], METRICS, Service(scripted).judge(), out=tmp_path / "run")
    left = sorted(file.name for file in tmp_path.iterdir())
    assert left == [".run.notes", ".runs.0123abcd.new", "run"]


# --- the command line ---------------------------------------------------------------------------


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    return file


@pytest.fixture
def command(
    dataset: Path, tmp_path: Path, fake_openai: Any, monkeypatch: pytest.MonkeyPatch
) -> Any:
    """``code = command(answer, "--option")`` runs two metrics of all rows against a server."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    server = fake_openai()

    def run(answer: Any, *options: Any) -> int:
        server.answer = answer
        metrics = ("--metrics", "faithfulness,context_precision", "--out", tmp_path / "run")
        live = ("--model", "gpt-4.1-mini", "--base-url", server.url)
        return main(["evaluate", *map(str, (dataset, *live, *metrics, *options))])

    run.server, run.Reply = server, fake_openai.Reply  # type: ignore[attr-defined]
    return run


def answer_well(body: dict[str, Any]) -> Any:
    kinds = body["response_format"]["json_schema"]["schema"]["properties"]
    properties = str(next(iter(kinds.values())))
    if "useful" in properties:
        return {item_id: {"useful": True, "quote": ""} for item_id in kinds}
    if "verdict" in properties:
        return {item_id: {"verdict": "not_found", "context": 0, "quote": ""} for item_id in kinds}
    return {item_id: ["The hull is larch."] for item_id in kinds}


@pytest.mark.parametrize("limit", [("--max-tokens-total", 2000), ("--max-cost", 0.2)])
def test_a_limit_on_the_command_line_stops_with_a_code_of_its_own(
    command: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], limit: tuple[str, Any]
) -> None:
    prices = tmp_path / "prices.toml"
    dear = '[own.models]\n"gpt-4.1-mini" = { input = 100.0, output = 100.0 }\n'
    prices.write_text(dear, encoding="utf-8")
    if "--max-cost" in limit:
        limit = (*limit, "--prices", prices)  # type: ignore[assignment]

    def answer(body: dict[str, Any]) -> Any:
        usage = {"prompt_tokens": 150, "completion_tokens": 50, "total_tokens": 200}
        return command.Reply(answer_well(body), usage=usage)

    assert command(answer, *limit, "--concurrency", 1) == 4
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith("ragas-judge: error: the next call could exceed the limit of")
    assert f"the partial run is in {tmp_path / 'run'}" in said
    asked = len(command.server.bodies)
    assert command(answer_well) == 0
    assert f"going on with {asked} replies of an earlier run" in capsys.readouterr().err
    assert len(command.server.bodies) == 3 * len(ROWS)


def test_money_cannot_be_limited_for_a_model_without_a_price(
    command: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(answer_well, "--max-cost", 1, "--model", "unheard-of") == 2
    assert "the price of 'unheard-of' is unknown" in capsys.readouterr().err
    assert command.server.bodies == []


def test_a_cache_on_the_command_line(command: Any, tmp_path: Path) -> None:
    cache = ("--cache", tmp_path / "cache.sqlite")
    assert command(answer_well, *cache) == 0
    asked = len(command.server.bodies)
    assert command(answer_well, *cache, "--overwrite") == 0
    assert len(command.server.bodies) == asked


def test_a_file_that_is_no_cache(
    command: Any, dataset: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(answer_well, "--cache", dataset) == 2
    assert "cannot be used as a cache" in capsys.readouterr().err.splitlines()[-1]
