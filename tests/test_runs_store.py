"""Runs: rows times metrics, early stops, and the folder that is written whole or not at all."""

from __future__ import annotations

import asyncio
import copy
import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from ragas_judge.judge import Judge, Recordings, Reply, ScriptedTransport, Usage
from ragas_judge.judge.errors import (
    BudgetError,
    InputError,
    JudgeAuthError,
    JudgeRequestError,
    JudgeTimeoutError,
    JudgeUnreachableError,
    RecordingMissingError,
    SetupError,
)
from ragas_judge.judge.foreign_errors import told_in
from ragas_judge.metrics.evidence import Evidence
from ragas_judge.metrics.outcomes import Failed, Outcome, Score, Unscored
from ragas_judge.runs import Row, RunStopped, aevaluate, evaluate
from ragas_judge.runs.runner import MANY_REFUSALS, Result, run_metrics
from ragas_judge.runs.store import check_target, write_run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ragas_judge.judge import Request

ROWS = [
    {
        "id": f"r{number}",
        "user_input": "Which wood is the hull made of?",
        "response": f"The hull of boat {number} is larch.",
        "retrieved_contexts": ["The hull is larch.", f"Sail {number} is red."],
        "reference": "The hull is larch.",
    }
    for number in range(4)
]


def answer(request: Request) -> dict[str, Any]:
    """What an agreeable judge says to any of the four prompts."""
    assert request.prompt is not None
    assert request.schema is not None
    each = {
        "claim_extraction": ["The hull is larch."],
        "claim_verification": {"verdict": "supported", "context": 1, "quote": "The hull is larch."},
        "context_usefulness": {"useful": True, "quote": ""},
        "reverse_question": {"question": "Which wood?", "noncommittal": False},
    }[request.prompt.id]
    return dict.fromkeys(request.schema["required"], each)


def one_way(texts: list[str]) -> list[list[float]]:
    return [[1.0, 0.5] for _ in texts]


def scripted(reply: Callable[[Request], Any] = answer, **settings: Any) -> Judge:
    settings = {"embeddings": one_way, **settings}
    return Judge("scripted", transport=ScriptedTransport(reply), **settings)


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


# --- rows times metrics -----------------------------------------------------------------------


class Fake:
    """A metric that does what its function says."""

    llm = None

    def __init__(self, name: str, outcome: Callable[[dict[str, Any]], Outcome]) -> None:
        self.name, self.outcome = name, outcome
        self.now = self.most = self.started = 0

    async def explain(self, sample: Any) -> Outcome:
        self.now, self.started = self.now + 1, self.started + 1
        self.most = max(self.most, self.now)
        for _ in range(5 - sample["n"] % 5):  # later rows are done first
            await asyncio.sleep(0)
        self.now -= 1
        return self.outcome(sample)


def rows(count: int) -> list[Row]:
    return [Row(number, {"n": number}) for number in range(count)]


def run(count: int, *metrics: Fake, concurrency: int = 4, **more: Any) -> list[Result]:
    return asyncio.run(run_metrics(rows(count), metrics, concurrency=concurrency, **more))


def test_results_come_in_row_and_metric_order_and_no_more_than_asked_are_under_way() -> None:
    first, second = Fake("a", lambda s: Score(0.1)), Fake("b", lambda s: Score(0.2))
    reported: list[Result] = []
    results = run(10, first, second, concurrency=3, on_result=reported.append)
    assert [(r.row, r.metric) for r in results] == [(n, m) for n in range(10) for m in "ab"]
    assert first.most <= 3
    assert len(reported) == 20
    assert reported != results


def test_a_failure_of_one_row_is_a_result() -> None:
    timeout = JudgeTimeoutError("no reply")
    results = run(5, Fake("a", lambda s: Failed(timeout) if s["n"] == 2 else Score(1.0)))
    assert [r.outcome.status for r in results].count("failed") == 1
    assert len(results) == 5


def test_a_failure_that_every_row_would_meet_stops_the_run() -> None:
    refused = JudgeAuthError("key refused")
    metric = Fake("a", lambda s: Failed(refused) if s["n"] == 5 else Score(1.0))
    with pytest.raises(RunStopped, match=r"key refused \(stopped after") as caught:
        run(1_000, metric)
    assert caught.value.error is refused
    assert caught.value.total == 1_000
    assert metric.started < 20
    again = copy.copy(caught.value)
    assert str(again) == str(caught.value)


@pytest.mark.parametrize(
    "too_long",
    [
        JudgeRequestError("too long", status=400),
        told_in(SimpleNamespace(error={"message": "too long", "code": 413}), "in a reply"),
        JudgeRequestError("not found", status=404),
        JudgeAuthError("blocked by the firewall", status=403),
    ],
)
def test_a_request_that_is_refused_is_that_rows_matter_while_others_are_answered(
    too_long: Exception,
) -> None:
    called = Evidence(calls=(None,))  # type: ignore[arg-type]
    metric = Fake("a", lambda s: Failed(too_long) if s["n"] > 3 else Score(1.0, called))
    assert len(run(20, metric, concurrency=1)) == 20


def test_when_nothing_but_refusals_comes_any_more_the_run_stops() -> None:
    called, gone = Evidence(calls=(None,)), JudgeRequestError("model removed", status=404)  # type: ignore[arg-type]
    metric = Fake("a", lambda s: Failed(gone) if s["n"] > 3 else Score(1.0, called))
    with pytest.raises(RunStopped, match="model removed"):
        run(100, metric, concurrency=1)
    assert metric.started == 4 + MANY_REFUSALS


def test_when_the_budget_is_used_up_what_is_under_way_is_ended() -> None:
    over = BudgetError("used up")
    metric = Fake("a", lambda s: Failed(over) if s["n"] == 4 else Score(1.0))
    with pytest.raises(RunStopped, match="used up") as caught:
        run(100, metric, concurrency=8)
    assert len(caught.value.results) == metric.started


def test_when_nothing_but_refusals_comes_the_run_stops() -> None:
    metric = Fake("a", lambda s: Failed(JudgeRequestError("unknown option", status=400)))
    with pytest.raises(RunStopped, match="unknown option"):
        run(100, metric, concurrency=1)
    assert metric.started == 3


def test_a_model_that_is_not_there_stops_the_run_at_once() -> None:
    metric = Fake("a", lambda s: Failed(JudgeRequestError("no such model", status=404)))
    with pytest.raises(RunStopped, match="no such model"):
        run(100, metric, concurrency=1)
    assert metric.started == 1


def test_concurrency_below_one() -> None:
    with pytest.raises(SetupError):
        run(1, Fake("a", lambda s: Score(1.0)), concurrency=0)


# --- evaluate ---------------------------------------------------------------------------------


def test_the_four_metrics_on_a_list(tmp_path: Path) -> None:
    result = evaluate(ROWS, judge=scripted(), out=tmp_path / "runs" / "first")
    names = ["faithfulness", "context_recall", "context_precision", "answer_relevancy"]
    assert [line.metric for line in result.headlines] == names
    assert [line.mean for line in result.headlines] == pytest.approx([1.0] * 4)
    assert result.path == tmp_path / "runs" / "first"
    assert result.scores() == read_lines(result.path / "scores.jsonl")
    assert result.scores()[0] == {
        "row": "r0",
        "metric": "faithfulness",
        "status": "scored",
        "value": 1.0,
        "reason": "",
        "tags": [],
    }
    evidence = read_lines(result.path / "evidence.jsonl")
    assert [(e["row"], e["metric"]) for e in evidence] == [
        (row["id"], name) for row in ROWS for name in names
    ]
    assert evidence[0]["claims"][0]["quote"]["start"] == 0
    assert sorted(path.name for path in tmp_path.joinpath("runs").iterdir()) == ["first"]


def test_the_manifest(tmp_path: Path) -> None:
    recorded = Recordings(tmp_path / "recordings", mode="rewrite")
    judge = scripted(recordings=recorded, temperature=0.5, max_tokens=99)
    path = tmp_path / "data.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    evaluate(path, ["faithfulness", "answer_relevancy"], judge, out=tmp_path / "run", limit=2)
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["format"] == 1
    assert (manifest["complete"], manifest["stopped"]) == (True, None)
    assert manifest["created"].endswith("+00:00")
    assert manifest["dataset"]["path"] == str(path)
    assert (manifest["dataset"]["rows"], manifest["dataset"]["limit"]) == (2, 2)
    assert len(manifest["dataset"]["sha256"]) == 64
    assert manifest["judge"] == {
        "model": "scripted",
        "endpoint": "scripted",
        "sampling": {"temperature": 0.5, "max_tokens": 99},
        "recordings": {"path": str(tmp_path / "recordings"), "mode": "rewrite"},
    }
    assert manifest["embedder"].endswith(".one_way")
    faithful, relevant = manifest["metrics"]
    assert faithful["class"] == "Faithfulness"
    assert faithful["options"]["verification"] == "batched"
    assert [p["id"] for p in faithful["prompts"]] == ["claim_extraction", "claim_verification"]
    assert {len(p["sha256"]) for p in relevant["prompts"]} == {64}
    assert manifest["headlines"]["faithfulness"]["scored"] == 2
    assert manifest["tokens"] == {"input": None, "output": None, "embedded": None}
    assert manifest["calls"] == 6
    assert manifest["packages"]["ragas"]
    assert manifest["ragas_judge"]


def test_tokens_are_added_up_where_the_service_counts_them() -> None:
    def counted(request: Request) -> Reply:
        return Reply(json.dumps(answer(request)), usage=Usage(10, 2))

    result = evaluate(ROWS, ["faithfulness"], scripted(counted))
    assert result.manifest["tokens"] == {"input": 80, "output": 16, "embedded": 0}
    assert result.path is None


def test_objects_keep_their_judge_and_are_not_written_to(tmp_path: Path) -> None:
    from ragas_judge.metrics import ContextRecall, Faithfulness

    own = Judge("own", transport=ScriptedTransport(answer))
    lonely, settled = Faithfulness(no_claims=1), ContextRecall(llm=own)
    result = evaluate(ROWS[:1], [lonely, settled, "context_precision"], scripted())
    assert lonely.llm is None
    assert settled.llm is own
    assert [r.outcome.evidence.judge for r in result.results] == ["scripted", "own", "scripted"]
    described = result.manifest["metrics"]
    assert described[0]["options"]["no_claims"] == 1
    assert [metric.get("judge", {}).get("model") for metric in described] == [None, "own", None]


def test_an_unscored_row_keeps_its_reason() -> None:
    empty = {**ROWS[0], "id": "empty", "response": " "}
    result = evaluate([ROWS[0], empty], ["faithfulness"], scripted())
    assert [r.outcome.reason for r in result.results] == ["", "empty response"]
    assert result.headlines[0].unscored == 1
    assert (result.headlines[0].if_unscored_0, result.headlines[0].if_unscored_1) == (0.5, 1.0)


def test_inside_a_running_loop() -> None:
    async def notebook() -> float | None:
        inside = await aevaluate(ROWS[:1], ["context_precision"], scripted())
        outside = evaluate(ROWS[:1], ["context_precision"], scripted())
        assert inside.headlines == outside.headlines
        return inside.headlines[0].mean

    assert asyncio.run(notebook()) == 1.0


@pytest.mark.parametrize(
    ("metrics", "error", "said"),
    [
        (["faithfulnes"], InputError, "did you mean 'faithfulness'"),
        (["faithfulness", "faithfulness"], InputError, "metric faithfulness is given twice"),
        ([], InputError, "no metrics"),
        ([object()], InputError, "is no metric of ragas_judge"),
        ([int], InputError, "is a class"),
    ],
)
def test_metrics_that_cannot_be_taken(metrics: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        evaluate(ROWS, metrics, scripted())


def test_no_judge_at_all() -> None:
    with pytest.raises(SetupError, match="faithfulness has no judge; pass judge= to evaluate"):
        evaluate(ROWS, ["faithfulness"])


def test_a_bad_row_is_found_before_the_first_call() -> None:
    transport = ScriptedTransport(answer)
    rows = [*ROWS, {**ROWS[0], "id": "bad", "retrieved_contexts": "['a']"}]
    with pytest.raises(InputError, match="row 'bad': column 'retrieved_contexts'"):
        evaluate(rows, judge=Judge("scripted", transport=transport), limit=1)
    assert transport.requests == []


# --- runs that end early ----------------------------------------------------------------------


def failing_after(count: int, error: Exception) -> Judge:
    asked = 0

    def reply(request: Request) -> Any:
        nonlocal asked
        asked += 1
        if asked > count:
            raise error
        return answer(request)

    return scripted(reply)


def test_a_run_that_stops_after_paid_scores_leaves_a_partial_run(tmp_path: Path) -> None:
    judge, out = failing_after(5, JudgeAuthError("key withdrawn")), tmp_path / "run"
    with pytest.raises(RunStopped, match=r"key withdrawn .*the partial run is in") as caught:
        evaluate(ROWS, ["faithfulness"], judge, out=out, concurrency=1)
    assert caught.value.path == out
    manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    assert (manifest["complete"], manifest["stopped"]) == (False, "key withdrawn")
    headline = manifest["headlines"]["faithfulness"]
    assert (headline["scored"], headline["failed"], headline["not_run"]) == (2, 1, 1)
    assert [line["status"] for line in read_lines(out / "scores.jsonl")] == [
        "scored",
        "scored",
        "failed",
    ]


@pytest.mark.parametrize(
    ("count", "error"),
    [
        (0, JudgeAuthError("key refused")),
        (5, RecordingMissingError("not recorded")),
    ],
)
def test_a_run_without_a_paid_call_or_in_replay_leaves_nothing(
    tmp_path: Path, count: int, error: Exception
) -> None:
    judge = failing_after(count, error)
    with pytest.raises(RunStopped) as caught:
        evaluate(ROWS, ["faithfulness"], judge, out=tmp_path / "run", concurrency=1)
    assert caught.value.path is None
    assert not (tmp_path / "run").exists()


def test_a_score_that_took_no_call_does_not_make_a_partial_run(tmp_path: Path) -> None:
    unreachable = failing_after(0, JudgeRequestError("no such model", status=404))
    free = {**ROWS[0], "id": "free", "retrieved_contexts": []}
    with pytest.raises(RunStopped):
        evaluate([free, *ROWS], ["context_recall"], unreachable, out=tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_leaves_a_partial_run(ctrl_c: Any, tmp_path: Path) -> None:
    asked = 0

    def interrupted(request: Request) -> Any:
        nonlocal asked
        asked += 1
        if asked == 4:
            ctrl_c()
        return answer(request)

    with pytest.raises(KeyboardInterrupt) as caught:
        evaluate(ROWS, ["faithfulness"], scripted(interrupted), out=tmp_path / "r", concurrency=1)
    manifest = json.loads((tmp_path / "r" / "manifest.json").read_text(encoding="utf-8"))
    assert (manifest["complete"], manifest["stopped"]) == (False, "interrupted")
    notes = getattr(caught.value.__context__, "__notes__", [])
    assert notes == [f"the partial run is in {tmp_path / 'r'}; the same command goes on"]


def test_ctrl_c_inside_a_running_loop_stops_the_run_as_well(ctrl_c: Any, tmp_path: Path) -> None:
    asked = 0

    async def interrupted(request: Request) -> Any:
        nonlocal asked
        asked += 1
        if asked == 4:
            ctrl_c()
            await asyncio.Event().wait()  # until the interrupt reaches this loop
        return answer(request)

    async def notebook() -> None:
        evaluate(ROWS, ["faithfulness"], scripted(interrupted), out=tmp_path / "r", concurrency=1)

    loop = asyncio.new_event_loop()
    try:
        with pytest.raises(KeyboardInterrupt) as caught:
            loop.run_until_complete(notebook())
    finally:
        loop.close()
    assert asked == 4
    notes = getattr(caught.value.__context__, "__notes__", [])
    assert notes == [f"the partial run is in {tmp_path / 'r'}; the same command goes on"]


# --- the folder -------------------------------------------------------------------------------

MANIFEST = {"format": 1, "ragas_judge": "0", "headlines": {}}


def found() -> list[Result]:
    return [
        Result("a", "m", Score(0.5)),
        Result("b", "m", Unscored("no claims")),
        Result("c", "m", Failed(JudgeUnreachableError("no\nconnection \ud83d"))),
    ]


def test_values_that_are_not_there_are_null_never_nan(tmp_path: Path) -> None:
    path = write_run(tmp_path / "run", MANIFEST, found())
    lines = read_lines(path / "scores.jsonl")
    assert [line["value"] for line in lines] == [0.5, None, None]
    assert lines[2]["reason"] == "failed: JudgeUnreachableError: no connection \ud83d"
    for file in path.iterdir():
        assert "NaN" not in file.read_text(encoding="utf-8")


def test_nan_is_refused_and_nothing_is_left(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        write_run(tmp_path / "run", {"mean": float("nan")}, [])
    assert list(tmp_path.iterdir()) == []


def test_a_crash_while_writing_leaves_the_earlier_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_run(tmp_path / "run", MANIFEST, found()[:1])

    def full(result: Result) -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("ragas_judge.runs.store.evidence_of", full)
    with pytest.raises(InputError, match="cannot be written: No space left"):
        write_run(path, MANIFEST, found(), overwrite=True)
    assert len(read_lines(path / "scores.jsonl")) == 1
    assert [entry.name for entry in tmp_path.iterdir()] == ["run"]


def test_an_earlier_run_is_replaced_only_when_asked(tmp_path: Path) -> None:
    path = write_run(tmp_path / "run", MANIFEST, found())
    with pytest.raises(InputError, match="holds a run already; choose another folder or overwrite"):
        write_run(path, MANIFEST, found())
    write_run(path, MANIFEST, found()[:1], overwrite=True)
    assert len(read_lines(path / "scores.jsonl")) == 1
    assert [entry.name for entry in tmp_path.iterdir()] == ["run"]


def test_an_empty_folder_is_taken(tmp_path: Path) -> None:
    write_run(tmp_path, MANIFEST, found())
    assert sorted(entry.name for entry in tmp_path.iterdir()) == [
        "evidence.jsonl",
        "manifest.json",
        "scores.jsonl",
    ]


def test_a_folder_with_anything_else_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work", encoding="utf-8")
    with pytest.raises(InputError, match="holds files but no run"):
        check_target(tmp_path, overwrite=True)
    (tmp_path / "manifest.json").write_text('{"format": 1}', encoding="utf-8")
    with pytest.raises(InputError, match="holds files but no run"):
        check_target(tmp_path, overwrite=True)
    (tmp_path / "manifest.json").write_text(json.dumps(MANIFEST), encoding="utf-8")
    with pytest.raises(InputError, match=r"holds thesis\.txt beside the run"):
        check_target(tmp_path, overwrite=True)
    assert (tmp_path / "thesis.txt").read_text(encoding="utf-8") == "years of work"


def test_a_file_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(InputError, match="is a file"):
        check_target(tmp_path / "file", overwrite=True)
    with pytest.raises(InputError, match="cannot be written to"):
        check_target(tmp_path / "file" / "run")


def test_a_link_to_a_run_stays_a_link(tmp_path: Path) -> None:
    write_run(tmp_path / "real", MANIFEST, found())
    (tmp_path / "latest").symlink_to(tmp_path / "real")
    write_run(tmp_path / "latest", MANIFEST, found()[:1], overwrite=True)
    assert (tmp_path / "latest").is_symlink()
    assert len(read_lines(tmp_path / "real" / "scores.jsonl")) == 1
