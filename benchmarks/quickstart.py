"""Where the recorded judge is wrong on the quickstart set: verdicts against expected.jsonl.

    python benchmarks/quickstart.py            # Markdown, as in docs/quickstart-set.md

Each planted point was decided by reading. A point belongs to one sentence, so the recorded
verdict of a sentence is the worst of its claims: contradicted, then not_found, then supported;
``no claim`` when the judge took no claim from it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragas_judge.judge import Judge
from ragas_judge.metrics import (
    AnswerRelevancy,
    ContextPrecision,
    ContextRecall,
    Evidence,
    Faithfulness,
)

ROOT = Path(__file__).resolve().parent.parent
METRICS = (Faithfulness, ContextRecall, ContextPrecision, AnswerRelevancy)
WORST_FIRST = ("contradicted", "not_found", "supported")


@dataclass(frozen=True)
class Point:
    """One thing that was decided by reading, and what the judge said of it."""

    row: str
    planted: str
    metric: str
    what: str
    expected: str
    recorded: str

    @property
    def right(self) -> bool:
        """Does the judge agree?"""
        return self.expected == self.recorded


def read(path: Path) -> list[dict[str, Any]]:
    """The objects of a JSON lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def of_sentence(evidence: Evidence, number: int) -> str:
    """The worst verdict among the claims of one sentence."""
    verdicts = {v.verdict for v in evidence.claims if v.claim.sentence_number == number}
    return next((verdict for verdict in WORST_FIRST if verdict in verdicts), "no claim")


def points_of(expected: dict[str, Any], found: dict[str, Evidence]) -> list[Point]:
    """All points of one row."""
    row, planted = expected["row"], expected["planted"]
    points: list[Point] = []
    for metric in ("faithfulness", "context_recall"):
        for point in expected[metric]["points"]:
            recorded = of_sentence(found[metric], point["sentence"])
            if "no context" in found[metric].tags and metric == "context_recall":
                recorded = "not_found"  # decided in code, without a call
            points.append(Point(row, planted, metric, point["claim"], point["verdict"], recorded))
        if not expected[metric]["points"]:
            claims = len(found[metric].claims)
            recorded = f"{claims} claims" if claims else "no claims"
            points.append(Point(row, planted, metric, "a refusal", "no claims", recorded))
    useful = {verdict.context: verdict.useful for verdict in found["context_precision"].contexts}
    for rank, wanted in enumerate(expected["context_precision"]["useful"], start=1):
        words = {True: "useful", False: "not useful"}
        what, recorded = f"context {rank}", words[useful[rank]]
        points.append(Point(row, planted, "context_precision", what, words[bool(wanted)], recorded))
    flags = {True: "noncommittal", False: "commits itself"}
    wanted = flags[expected["answer_relevancy"]["noncommittal"]]
    recorded = flags["noncommittal" in found["answer_relevancy"].tags]
    points.append(Point(row, planted, "answer_relevancy", "the response", wanted, recorded))
    return points


async def collect(judge: Judge) -> list[Point]:
    """Replay the four metrics over the set and compare."""
    folder = ROOT / "fixtures" / "quickstart"
    points: list[Point] = []
    for row, expected in zip(
        read(folder / "dataset.jsonl"), read(folder / "expected.jsonl"), strict=True
    ):
        outcomes = await asyncio.gather(*(metric(judge).explain(row) for metric in METRICS))
        found = {outcome.evidence.metric: outcome.evidence for outcome in outcomes}
        points += points_of(expected, found)
    return points


def markdown(points: list[Point]) -> str:
    """Counts a metric and language, then every point the judge got wrong."""
    total: Counter[tuple[str, str]] = Counter()
    right: Counter[tuple[str, str]] = Counter()
    for point in points:
        key = (point.metric, point.row[:2])
        total[key] += 1
        right[key] += point.right
    lines = ["| metric | English: right / points | Chinese: right / points |", "|---|---|---|"]
    for metric in dict.fromkeys(point.metric for point in points):
        cells = [f"{right[metric, lang]} / {total[metric, lang]}" for lang in ("en", "zh")]
        lines.append(f"| {metric} | {cells[0]} | {cells[1]} |")
    cells = [f"{_all(right, lang)} / {_all(total, lang)}" for lang in ("en", "zh")]
    lines.append(f"| all | {cells[0]} | {cells[1]} |")
    lines += [
        "",
        "| row | planted | metric | point | right | recorded judge |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {p.row} | {p.planted} | {p.metric} | {p.what} | {p.expected} | {p.recorded} |"
        for p in points
        if not p.right
    ]
    return "\n".join(lines)


def _all(counts: Counter[tuple[str, str]], language: str) -> int:
    return sum(count for (_, lang), count in counts.items() if lang == language)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--recordings", default=str(ROOT / "fixtures" / "recordings" / "quickstart")
    )
    arguments = parser.parse_args()
    print(markdown(asyncio.run(collect(Judge.replay(arguments.recordings)))))


if __name__ == "__main__":
    main()
