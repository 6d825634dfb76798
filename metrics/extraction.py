"""Take a text apart into claims: what is asked in one call, and what is made of the answers.

A claim keeps the unit of the text that it came from, and the words that stand in no source
(``invented``). Neither changes how claims are counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ..judge import Question
from ..prompts import load_prompt
from .evidence import Claim
from .invented import Source
from .replies import parse_claims
from .sentences import Unit, source_sentence, split_units

MAX_SENTENCES = 30
MAX_CHARACTERS = 4_000
"""Of the units that one call asks about; some 700 English words, so most answers take one call."""
BEFORE = 3
"""How many units before those asked about are shown with them, for what "it" and "there" mean."""


@dataclass(frozen=True)
class Batch:
    """The units that one call asks about.

    Attributes:
        units: all that are shown, by their number in the text from 1.
        first: number of the first one that is asked about; those before it are only shown.
    """

    units: Mapping[int, Unit]
    first: int = 1

    def question(self, asked: str, language: str) -> Question[list[str]]:
        """What to ask the judge.

        Args:
            asked: the question that the text is the answer to.
            language: prompt pack.
        """
        shown = {str(number): unit.text for number, unit in self.units.items()}
        items = {number: text for number, text in shown.items() if int(number) >= self.first}
        shared = {"question": asked, "sentences": shown}
        prompt = load_prompt("claim_extraction", language=language)
        return Question(prompt, items, parse_claims, shared)

    def claims(self, answers: Mapping[str, Sequence[str]]) -> list[Claim]:
        """The claims in the order given, each with the unit it came from.

        A judge may file a claim under another unit than its own (see ``source_sentence``). A
        claim that it writes twice for one unit is kept once; for two units it is two.

        Args:
            answers: for each number asked about, its claims.
        """
        texts = {number: unit.text for number, unit in self.units.items()}
        found = []
        for named, claims in answers.items():
            for claim in _once(claims):
                number = source_sentence(claim, int(named), texts)
                unit = self.units[number]
                found.append(Claim(claim, unit.text, number, unit.start, unit.end))
        return found


def batches(text: str, language: str) -> list[Batch]:
    """The calls that a text takes: none without a unit that states something.

    >>> [list(batch.units) for batch in batches("It sails daily. It is grey.", "en")]
    [[1, 2]]
    >>> long = " ".join(["It sails daily."] * 40)
    >>> [(batch.first, min(batch.units), max(batch.units)) for batch in batches(long, "en")]
    [(1, 1, 30), (31, 28, 40)]
    """
    units = [unit for unit in split_units(text, language) if unit.kind != "layout"]
    return [
        Batch({number: units[number - 1] for number in range(max(1, first - BEFORE), last)}, first)
        for first, last in _ranges(units)
    ]


def _ranges(units: Sequence[Unit]) -> Iterator[tuple[int, int]]:
    """Number of the first unit of each batch, and of the one after its last."""
    first, size = 1, 0
    for number, unit in enumerate(units, start=1):
        full = number - first == MAX_SENTENCES or size + len(unit.text) > MAX_CHARACTERS
        if full and number > first:
            yield first, number
            first, size = number, 0
        size += len(unit.text)
    if units:
        yield first, len(units) + 1


def _once(claims: Sequence[str]) -> list[str]:
    """The claims without repeats; two that differ in blanks, case and the last mark are one."""
    found: dict[str, str] = {}
    for claim in claims:
        found.setdefault(" ".join(claim.casefold().split()).rstrip(".。!！ "), claim)
    return list(found.values())


def with_invented(claims: Sequence[Claim], *sources: str) -> list[Claim]:
    """The claims, each with its words that stand in none of the sources.

    Args:
        claims: claims of one text.
        sources: that text, and the question it answers.
    """
    source = Source(*sources)
    return [replace(claim, invented=source.lacks(claim.text)) for claim in claims]


def notes(claims: Sequence[Claim]) -> list[str]:
    """One note for each claim with invented words; claims count from 1.

    >>> notes([Claim("It costs 5 marlets.", "It costs 4 marlets.", 1, invented=("5",))])
    ['claim 1 has words that stand in neither the text nor the question: 5']
    """
    return [
        f"claim {number} has words that stand in neither the text nor the question:"
        f" {', '.join(claim.invented)}"
        for number, claim in enumerate(claims, start=1)
        if claim.invented
    ]
