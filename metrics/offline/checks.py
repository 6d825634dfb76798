"""Compare what a claim states with passages: numbers, dates, names, quoted words, negation.

Pure functions. Each returns findings, one for each thing that is missing or in conflict; none
means that all stands there. No list of opposites is kept: "open" against "closed" is not seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from ..quotes import find_quote
from .dates import Date, backed, find_dates
from .numbers import Number, find_numbers
from .words import Token, tokens

Kind = Literal["number", "date", "unit", "name", "quotation", "negation"]


@dataclass(frozen=True)
class Finding:
    """One thing a claim states that the contexts do not.

    Attributes:
        kind: what it is.
        text: the claim's own words.
        nearest: what the nearest passage has in its place; "" when nothing.
        conflict: the passage says otherwise, rather than nothing.
    """

    kind: Kind
    text: str
    nearest: str = ""
    conflict: bool = False

    def __str__(self) -> str:
        """A sentence for the reader.

        >>> print(Finding("number", "1843", "1834", conflict=True))
        number 1843 stands in no context; the nearest passage has 1834
        """
        if self.kind == "negation":
            return f"the claim differs by a negation from the nearest passage: {self.nearest}"
        said = f"{self.kind} {self.text} stands in no context"
        return f"{said}; the nearest passage has {self.nearest}" if self.nearest else said


def check_dates(claim: str, contexts: Sequence[str], nearest: str = "") -> list[Finding]:
    """Dates and years of the claim that no context has.

    >>> check_dates("It closed on 4 May 1931.", ["It closed on 3 May 1931."], "on 3 May 1931")
    [Finding(kind='date', text='4 May 1931', nearest='3 May 1931', conflict=True)]
    """
    given = [date for context in contexts for date in find_dates(context)]
    counted = {number.value for context in contexts for number in find_numbers(context)}
    here = find_dates(nearest)
    findings = []
    for date in find_dates(claim):
        if backed(date, given) or (date.month is None and date.year in counted):
            continue
        rival = next((other for other in here if _as_exact(other, date)), None)
        findings.append(
            Finding("date", date.text, rival.text if rival else "", conflict=rival is not None)
        )
    return findings


def _as_exact(other: Date, date: Date) -> bool:
    """Does ``other`` say everything that ``date`` says, so that the two can differ?"""
    pairs = ((other.year, date.year), (other.month, date.month), (other.day, date.day))
    return all(given is not None for given, wanted in pairs if wanted is not None)


def check_numbers(claim: str, contexts: Sequence[str], nearest: str = "") -> list[Finding]:
    """Numbers of the claim that no context has, or that it has with another unit.

    >>> check_numbers("It is 40 km long.", ["It is 40 miles long."], "It is 40 miles long.")
    [Finding(kind='unit', text='40 km', nearest='40 miles', conflict=True)]
    >>> check_numbers("水温为85℃", ["水温为八十五摄氏度"])
    []
    """
    given = [number for context in contexts for number in bare_numbers(context)]
    years = {date.year for context in contexts for date in find_dates(context)}
    here = bare_numbers(nearest)
    findings = []
    for number in bare_numbers(claim):
        equal = [other for other in given if other.value == number.value]
        if any(_units_agree(number, other) for other in equal) or number.value in years:
            continue
        if equal:
            findings.append(Finding("unit", number.text, equal[0].text, conflict=True))
            continue
        own = {other.value for other in bare_numbers(claim)}
        rival = next((o for o in here if _rivals(o, number) and o.value not in own), None)
        findings.append(
            Finding("number", number.text, rival.text if rival else "", conflict=rival is not None)
        )
    return findings


def bare_numbers(text: str) -> list[Number]:
    """The numbers of a text that are not part of a date."""
    taken = [(date.start, date.end) for date in find_dates(text)]
    return [
        number
        for number in find_numbers(text)
        if not any(start < number.end and number.start < end for start, end in taken)
    ]


def _units_agree(one: Number, other: Number) -> bool:
    return not one.unit or not other.unit or one.unit == other.unit


def _rivals(other: Number, number: Number) -> bool:
    """Could the two be values of the same thing?"""
    return other.unit == number.unit


_NAME = re.compile(
    r"[^\W\d_a-z][\w'’&.-]*(?:\s+(?:(?:of|the|de|van|von|and|&|for)\s+)?[^\W\d_a-z][\w'’&.-]*)*"
)


def find_names(text: str) -> list[str]:
    """Runs of capitalised words; a word that merely begins a sentence is left out.

    >>> find_names("In 1931 the Blue Teal left Port Hask. It sank.")
    ['Blue Teal', 'Port Hask']
    """
    names = []
    words = [token for token in tokens(text) if not token.han]
    run: list[Token] = []
    for place, token in enumerate(words):
        opens = place == 0 or bool(
            re.search(r"[.!?:\n\"“]", text[words[place - 1].end : token.start])
        )
        if run and (opens or not token.capital):
            names.append(run)
            run = []
        if token.capital and not (opens and (token.stop or not _goes_on(words, place, text))):
            run.append(token)
    if run:
        names.append(run)
    return [text[run[0].start : run[-1].end] for run in names if not all(t.stop for t in run)]


def _goes_on(words: Sequence[Token], place: int, text: str) -> bool:
    """Is the next word capitalised too, or this one written in capitals?"""
    own = text[words[place].start : words[place].end]
    if len(own) > 1 and own.isupper():
        return True
    return place + 1 < len(words) and words[place + 1].capital


def check_names(claim: str, contexts: Sequence[str], known: str = "") -> list[Finding]:
    """Names of the claim of which a word stands in no context.

    Args:
        claim: the claim.
        contexts: the contexts.
        known: further text whose names are given, such as the question.

    >>> [f.text for f in check_names("He met Ada Quill in Hask.", ["Quill lived in Hask."])]
    ['Ada Quill']
    """
    given = {token.key for text in (*contexts, known) for token in tokens(text)}
    return [
        Finding("name", name)
        for name in find_names(claim)
        if any(token.key not in given and not token.stop for token in tokens(name))
    ]


_QUOTED = re.compile(r"“([^”]{2,})”|「([^」]{2,})」|《([^》]{2,})》|\"([^\"]{2,})\"")


def check_quotations(claim: str, contexts: Sequence[str], known: str = "") -> list[Finding]:
    """Words between quotation marks or title marks that stand in no context.

    >>> [f.text for f in check_quotations("他写了《北风》。", ["他的《南风》很有名。"])]
    ['北风']
    """
    quoted = [next(filter(None, match)) for match in _QUOTED.findall(claim)]
    texts = (*contexts, known)
    return [
        Finding("quotation", words)
        for words in quoted
        if not any(find_quote(words, text) for text in texts)
    ]


_NEGATION = re.compile(
    r"(?<=\w)n['’]t\b|(?<=\bcan)not\b"
    r"|\b(?:not(?! only\b| just\b)|never|nobody|nothing|no(?!\. ?\d|-)|none|neither|nor|without)\b"
    r"|从不|从未|并非|并不|并未|尚未|没有|不是|不会|不得(?!不)|无法|不再|[不没未无](?!但|仅|过|断|同|久|少|管|论|只|错|来)|并无",
    re.IGNORECASE,
)
_NO_NEGATION = re.compile(r"是不是|能不能|有没有|会不会|不得不")
_CLAUSES = re.compile(r"(?<=[,;:.!?，；：。！？])\s*")
ALIKE = 85
"""Likeness, 0 to 100, from which two clauses say the same but for a negation."""


def split_negations(text: str) -> tuple[str, int]:
    """A text without its negations, and how many there were.

    >>> split_negations("Dogs aren't allowed."), split_negations("灯塔不开放。")
    (('Dogs are allowed.', 1), ('灯塔开放。', 1))
    >>> split_negations("Not only dogs like the No. 1 boat.")[1]
    0
    """
    kept = _NO_NEGATION.sub("是否", text)
    rest, count = _NEGATION.subn("", kept)
    return re.sub(r" {2,}", " ", rest), count


def check_negation(claim: str, nearest: str) -> list[Finding]:
    """A clause of the nearest passage that says the same as the claim but for a negation.

    >>> print(check_negation("Dogs are allowed.", "It is small. Dogs are not allowed.")[0])
    the claim differs by a negation from the nearest passage: Dogs are not allowed.
    >>> check_negation("Dogs are not allowed.", "Dogs aren't allowed.")
    []
    """
    from rapidfuzz import fuzz

    mine, count = split_negations(claim)
    for clause in _CLAUSES.split(nearest):
        theirs, number = split_negations(clause)
        if (count - number) % 2 and fuzz.ratio(_bare(mine), _bare(theirs)) >= ALIKE:
            return [Finding("negation", claim, nearest=clause, conflict=True)]
    return []


def _bare(text: str) -> str:
    return text.casefold().strip(" ,;:.!?，；：。！？\"'“”")


def all_findings(
    claim: str, contexts: Iterable[str], nearest: str = "", known: str = ""
) -> list[Finding]:
    """Every check in turn.

    Args:
        claim: the claim.
        contexts: all contexts.
        nearest: the passage nearest to the claim.
        known: the question, whose names count as given.
    """
    texts = list(contexts)
    return [
        *check_dates(claim, texts, nearest),
        *check_numbers(claim, texts, nearest),
        *check_names(claim, texts, known),
        *check_quotations(claim, texts, known),
        *check_negation(claim, nearest),
    ]
