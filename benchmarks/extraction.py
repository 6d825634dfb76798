"""How steady claim extraction is: the number of claims when the same answer is asked about again.

    python benchmarks/extraction.py --judge qwen2.5-7b --base-url http://127.0.0.1:8091/v1
    python benchmarks/extraction.py --judge gpt-4.1-mini --answers mine.jsonl --json

The answers are JSON lines with ``response``, and where there are any ``user_input``, ``id`` and
``language``; else those of the quickstart set. Nothing of their text is printed.
docs/extraction.md says what each column means.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from _patient import patient_judge

from ragas_judge.judge import Judge
from ragas_judge.judge.errors import EvaluatorError, ReplyError
from ragas_judge.metrics.extraction import Batch, batches, with_invented
from ragas_judge.metrics.sample import Sample
from ragas_judge.metrics.sentences import source_sentence
from ragas_judge.prompts import detect_language
from ragas_judge.runs.exits import exit_code
from ragas_judge.runs.files import read_file

ANSWERS = Path(__file__).resolve().parent.parent / "fixtures" / "quickstart" / "dataset.jsonl"
COLUMNS = (
    "answers", "failed", "sentences", "claims", "claims a sentence", "standard deviation",
    "range", "same each time", "flagged", "moved",
)  # fmt: skip


@dataclass(frozen=True)
class Answer:
    """A text to take apart."""

    id: str
    language: str
    question: str
    text: str


@dataclass(frozen=True)
class Taken:
    """What one repetition gave.

    Attributes:
        claims: how many claims.
        flagged: how many of them have invented words.
        moved: how many of them the judge filed under another sentence than they came from.
    """

    claims: int
    flagged: int
    moved: int


@dataclass(frozen=True)
class Steadiness:
    """One answer over all repetitions.

    Attributes:
        sentences: how many units were asked about.
        counts: number of claims in each repetition; empty when one of them failed.
        failure: what went wrong.
    """

    id: str
    language: str
    sentences: int
    counts: tuple[int, ...] = ()
    flagged: int = 0
    moved: int = 0
    failure: str = ""

    @property
    def mean(self) -> float:
        """Mean number of claims."""
        return fmean(self.counts)

    @property
    def deviation(self) -> float:
        """Standard deviation of the number of claims (n - 1)."""
        return stdev(self.counts) if len(self.counts) > 1 else 0.0

    @property
    def range(self) -> int:
        """Most claims less fewest."""
        return max(self.counts) - min(self.counts)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON data, without any text."""
        if self.failure:
            return asdict(self)
        return {
            **asdict(self), "mean": self.mean, "deviation": self.deviation, "range": self.range
        }  # fmt: skip


def read_answers(path: Path, limit: int | None = None) -> list[Answer]:
    """The answers of a file, at most ``limit`` a language; rows without one are left out."""
    found: list[Answer] = []
    for number, (_, row) in enumerate(read_file(path)):
        sample = Sample.of(row)
        text, question = sample.response or "", sample.user_input or ""
        if not text.strip():
            continue
        language = str(row.get("language") or detect_language(question, text))
        before = sum(answer.language == language for answer in found)
        if limit is None or before < limit:
            found.append(Answer(str(row.get("id", number)), language, question, text))
    return found


async def take(judge: Judge, answer: Answer, repetition: int) -> Taken:
    """Take an answer apart once; ``repetition`` makes it a request with a seed of its own."""
    claims, moved = [], 0
    for batch in batches(answer.text, answer.language):
        question = batch.question(answer.question, answer.language)
        again = replace(question, repetition=repetition, sampling={"seed": repetition})
        said = await judge.ask_items(again)
        claims += batch.claims(said.by_id)
        moved += sum(_moves(batch, said.by_id))
    checked = with_invented(claims, answer.text, answer.question)
    return Taken(len(checked), sum(bool(claim.invented) for claim in checked), moved)


def _moves(batch: Batch, answers: Mapping[str, Sequence[str]]) -> Iterator[bool]:
    texts = {number: unit.text for number, unit in batch.units.items()}
    for named, claims in answers.items():
        for claim in claims:
            yield source_sentence(claim, int(named), texts) != int(named)


async def measure(judge: Judge, answers: Sequence[Answer], repeats: int) -> list[Steadiness]:
    """Take each answer apart so many times, all at once as far as the judge allows."""

    async def steadiness(answer: Answer) -> Steadiness:
        asked = sum(
            len(batch.question(answer.question, answer.language).items)
            for batch in batches(answer.text, answer.language)
        )
        blank = Steadiness(answer.id, answer.language, asked)
        try:
            taken = await asyncio.gather(*(take(judge, answer, n) for n in range(repeats)))
        except ReplyError as error:
            return replace(blank, failure=f"{type(error).__name__}: {error}")
        return replace(
            blank,
            counts=tuple(one.claims for one in taken),
            flagged=sum(one.flagged for one in taken),
            moved=sum(one.moved for one in taken),
        )

    return list(await asyncio.gather(*map(steadiness, answers)))


def summary(found: Sequence[Steadiness]) -> dict[str, Any]:
    """The numbers of some answers together; means are over answers, shares over claims.

    None where there is nothing to divide by.
    """
    whole = [each for each in found if each.counts]
    repetitions = [sum(each.counts) for each in whole]
    claims = sum(repetitions)
    sentences = sum(each.sentences * len(each.counts) for each in whole)
    return {
        "answers": len(found),
        "failed": len(found) - len(whole),
        "sentences": sum(each.sentences for each in whole),
        "claims": mean([each.mean for each in whole]),
        "claims a sentence": claims / sentences if sentences else None,
        "standard deviation": mean([each.deviation for each in whole]),
        "range": mean([float(each.range) for each in whole]),
        "same each time": mean([float(each.range == 0) for each in whole]),
        "flagged": sum(each.flagged for each in whole) / claims if claims else None,
        "moved": sum(each.moved for each in whole) / claims if claims else None,
    }


def mean(values: Sequence[float]) -> float | None:
    """The mean; None without values."""
    return math.fsum(values) / len(values) if values else None


def report(found: Sequence[Steadiness], settings: Mapping[str, Any]) -> dict[str, Any]:
    """All numbers: of each language, of all, of each answer."""
    languages = sorted({each.language for each in found})
    parts = {name: [each for each in found if each.language == name] for name in languages}
    if len(parts) > 1:
        parts["all"] = list(found)
    return {
        **settings,
        "languages": {name: summary(part) for name, part in parts.items()},
        "answers": [each.to_dict() for each in found],
    }


def markdown(numbers: Mapping[str, Any]) -> str:
    """The table of languages."""
    lines = [f"| | {' | '.join(COLUMNS)} |", "|---" * (len(COLUMNS) + 1) + "|"]
    for name, row in numbers["languages"].items():
        lines.append(f"| {name} | {' | '.join(_cell(c, row[c]) for c in COLUMNS)} |")
    worst = max((each.get("range", 0) for each in numbers["answers"]), default=0)
    lines += ["", f"Widest range of one answer: {worst}. {numbers['repeats']} repetitions each."]
    return "\n".join(lines)


def _cell(column: str, value: float | None) -> str:
    if value is None:
        return "–"
    if column in ("same each time", "flagged", "moved"):
        return f"{value:.1%}"
    return str(value) if isinstance(value, int) else f"{value:.2f}"


def parser() -> argparse.ArgumentParser:
    """The options."""
    made = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = made.add_argument
    add("--judge", required=True, metavar="MODEL")
    add("--base-url", metavar="URL", help="OpenAI-compatible server; else as openai reads")
    add("--api-key-env", default="OPENAI_API_KEY", metavar="NAME", help="variable with the key")
    add("--answers", type=Path, default=ANSWERS, metavar="FILE", help="JSON lines")
    add("--repeats", type=int, default=5, metavar="N", help="how often each is asked about: 5")
    add("--temperature", type=float, default=0.7, help="0.7")
    add("--limit", type=int, metavar="N", help="so many answers a language")
    add("--concurrency", type=int, default=4, metavar="N", help="calls at once: 4")
    add("--cache", type=Path, metavar="FILE", help="keeps every reply: a second run goes on")
    add("--max-tokens", type=int, metavar="N", help="limit of one reply")
    add("--timeout", type=float, default=600.0, metavar="SECONDS", help="for one call: 600")
    add("--json", action="store_true", help="numbers on stdout, also of each answer")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask, print; the exit code."""
    options = parser().parse_args(arguments)
    if options.repeats < 1 or (options.limit or 1) < 1:
        parser().error("--repeats and --limit are at least 1")
    try:
        judge = patient_judge(options)
        answers = read_answers(options.answers, options.limit)
        found = asyncio.run(measure(judge, answers, options.repeats))
    except EvaluatorError as error:
        print(f"error: {error}", file=sys.stderr)
        return exit_code(error)
    names = ("judge", "temperature", "repeats")
    numbers = report(found, {name: getattr(options, name) for name in names})
    if options.json:
        print(json.dumps(numbers, ensure_ascii=False, indent=1))
    else:
        print(markdown(numbers))
    return 0


if __name__ == "__main__":
    sys.exit(main())
