"""The quickstart set: consistent labels, and recordings of a real judge that replay whole."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ragas_judge.judge import Judge
from ragas_judge.metrics import READY, Outcome, Sample, Score
from ragas_judge.metrics._context_precision import context_precision_value
from ragas_judge.metrics.sentences import split_sentences

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "fixtures" / "quickstart"
RECORDINGS = ROOT / "fixtures" / "recordings" / "quickstart"


def read(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / name).read_text("utf-8").splitlines()]


ROWS, EXPECTED = read("dataset.jsonl"), read("expected.jsonl")
PAIRS = list(zip(ROWS, EXPECTED, strict=True))
IDS = [row["id"] for row in ROWS]
FAULTS = {
    "none",
    "invented_claim",
    "wrong_number",
    "contradicted_claim",
    "missing_evidence",
    "useful_context_last",
    "off_topic",
    "refusal",
    "empty_retrieval",
    "long_answer",
    "judge_order",
}


def test_the_set_is_whole() -> None:
    assert Counter(row["language"] for row in ROWS) == {"en": 16, "zh": 8}
    assert {row["planted"] for row in ROWS} == FAULTS
    assert [expected["row"] for expected in EXPECTED] == IDS


@pytest.mark.parametrize(("row", "expected"), PAIRS, ids=IDS)
def test_the_labels_agree_with_their_values(row: dict[str, Any], expected: dict[str, Any]) -> None:
    sample = Sample.of(row)
    for metric, text in (("faithfulness", sample.response), ("context_recall", sample.reference)):
        points, value = expected[metric]["points"], expected[metric]["value"]
        sentences = split_sentences(text or "", row["language"])
        assert all(1 <= point["sentence"] <= len(sentences) for point in points)
        for point in points:
            assert all(1 <= c <= len(row["retrieved_contexts"]) for c in point["contexts"])
            assert bool(point["contexts"]) == (point["verdict"] != "not_found")
        supported = [point["verdict"] == "supported" for point in points]
        assert value == (pytest.approx(sum(supported) / len(points), abs=1e-4) if points else None)
    precision = expected["context_precision"]
    assert len(precision["useful"]) == len(row["retrieved_contexts"])
    value = context_precision_value([bool(v) for v in precision["useful"]])
    assert precision["value"] == pytest.approx(value, abs=1e-4)


@pytest.fixture(scope="module")
def replayed() -> tuple[Judge, dict[str, list[Outcome]]]:
    """All four metrics over the whole set, from recordings."""
    from ragas_judge import metrics

    judge = Judge.replay(RECORDINGS)

    async def run() -> dict[str, list[Outcome]]:
        made = {name: getattr(metrics, cls)(judge) for name, cls in READY.items()}
        return {
            name: list(await asyncio.gather(*(metric.explain(row) for row in ROWS)))
            for name, metric in made.items()
        }

    return judge, asyncio.run(run())


def test_the_recordings_answer_every_row_and_none_is_left_over(
    replayed: tuple[Judge, dict[str, list[Outcome]]],
) -> None:
    judge, outcomes = replayed
    failed = [(n, o.reason) for n, found in outcomes.items() for o in found if o.status == "failed"]
    assert failed == []
    assert judge.recordings is not None
    assert judge.recordings.unused() == []


def test_the_recordings_name_their_judge(replayed: tuple[Judge, Any]) -> None:
    recordings = replayed[0].recordings
    assert recordings is not None
    assert {"model", "quantisation", "server", "recorded", "sampling"} <= set(recordings.header)


def test_every_score_shows_its_evidence(
    replayed: tuple[Judge, dict[str, list[Outcome]]],
) -> None:
    for name, outcomes in replayed[1].items():
        for outcome in outcomes:
            if isinstance(outcome, Score) and "no context" not in outcome.evidence.tags:
                assert outcome.evidence.calls, name
                assert outcome.evidence.tokens.input
                assert (
                    outcome.evidence.claims
                    or outcome.evidence.contexts
                    or (outcome.evidence.questions)
                )


def test_quotes_stand_where_the_evidence_says(
    replayed: tuple[Judge, dict[str, list[Outcome]]],
) -> None:
    seen = 0
    for row, outcome in zip(ROWS, replayed[1]["faithfulness"], strict=True):
        for verdict in outcome.evidence.claims:
            quote = verdict.quote
            if quote and quote.verified:
                text = row["retrieved_contexts"][quote.context - 1][quote.start : quote.end]
                letters = re.findall(r"\w", quote.text.casefold())
                assert re.findall(r"\w", text.casefold()) == letters
                seen += 1
    assert seen > 20


def agreement() -> ModuleType:
    path = ROOT / "benchmarks" / "quickstart.py"
    spec = importlib.util.spec_from_file_location("quickstart_agreement", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_the_page_says_where_the_recorded_judge_is_wrong() -> None:
    module = agreement()
    table = module.markdown(asyncio.run(module.collect(Judge.replay(RECORDINGS))))
    page = (ROOT / "docs" / "quickstart-set.md").read_text("utf-8")
    assert table in page, "run benchmarks/quickstart.py and put its output into the page"


def test_recordings_stay_small() -> None:
    sizes = [path.stat().st_size for path in RECORDINGS.rglob("*.json")]
    assert max(sizes) < 100_000
    assert sum(sizes) < 5_000_000
