"""Read the dates of a text: October 27, 2014; 27 Oct; 2014-10-27; 2014年10月; the year 1931."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from .numbers import han_value
from .words import plain_width

_NAMES = [
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
]  # fmt: skip
_MONTHS = {name: number for number, name in enumerate(_NAMES, start=1)} | {
    name[:3]: number for number, name in enumerate(_NAMES, start=1)
} | {"sept": 9}  # fmt: skip
_MONTH = r"(?:" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\b\.?"
_DAY = r"(?:3[01]|[12]\d|0?[1-9])"
_YEAR = r"(?:1\d{3}|20\d{2})"
_HAN_YEAR = "[零〇一二三四五六七八九]{4}"
_HAN_DAY = r"(?:\d{1,2}|[一二三四五六七八九十]{1,3})"
_DATE = re.compile(
    rf"\b(?P<m1>{_MONTH})\s+(?P<d1>{_DAY})(?:st|nd|rd|th)?\b(?:\s*,?\s*(?P<y1>{_YEAR})\b)?"
    rf"|\b(?P<d2>{_DAY})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<m2>{_MONTH})(?:\s*,?\s*(?P<y2>{_YEAR})\b)?"
    rf"|\b(?P<m3>{_MONTH})\s*,?\s+(?:of\s+)?(?P<y3>{_YEAR})\b"
    rf"|\b(?P<y4>{_YEAR})[-/.](?P<m4>1[0-2]|0?[1-9])[-/.](?P<d4>{_DAY})(?!\d)"
    rf"|(?P<y5>(?<!\d){_YEAR}|{_HAN_YEAR})\s?年\s?(?P<m5>{_HAN_DAY})\s?月"
    rf"(?:份|\s?(?P<d5>{_HAN_DAY})\s?[日号])?"
    rf"|(?<!\d)(?P<m6>{_HAN_DAY})\s?月\s?(?P<d6>{_HAN_DAY})\s?[日号]"
    rf"|(?P<y7>(?<!\d){_YEAR}|{_HAN_YEAR})\s?年(?!代|的?历史)"
    rf"|(?<![\d.,£$€¥#A-Za-z])(?<![A-Za-z]-)(?P<y8>{_YEAR})(?![\d%°℃]|[.,]\d|s\b|\s?[-–]?\s?(?:km|kg|m|cm|mm|miles|"
    r"people|years|feet|metres|meters|tonnes|tons|million|billion|square)\b|\s?[余多万亿人名米元吨个])",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Date:
    """A date as a text has it; None for what it does not say.

    Attributes:
        text: how it is written.
        start, end: where it stands.
    """

    year: int | None
    month: int | None
    day: int | None
    text: str
    start: int
    end: int


@lru_cache(maxsize=512)
def find_dates(text: str) -> tuple[Date, ...]:
    """The dates and years of a text, in order.

    >>> [(d.year, d.month, d.day) for d in find_dates("On 3 May 1931, then June 12th; since 1950")]
    [(1931, 5, 3), (None, 6, 12), (1950, None, None)]
    >>> [(d.year, d.month, d.day) for d in find_dates("2014年10月27日；二〇一五年；6月1日")]
    [(2014, 10, 27), (2015, None, None), (None, 6, 1)]
    """
    found = []
    for match in _DATE.finditer(plain_width(text)):
        year, month, day = (_part(match, letter) for letter in "ymd")
        if (month or 1) <= 12 and (day or 1) <= 31:
            written = text[match.start() : match.end()]
            found.append(Date(year, month, day, written, match.start(), match.end()))
    return tuple(found)


def _part(match: re.Match[str], letter: str) -> int | None:
    written = next(
        (text for name, text in match.groupdict().items() if name[0] == letter and text), None
    )
    if written is None:
        return None
    if written.isdigit():
        return int(written)
    month = _MONTHS.get(written.casefold().strip("."))
    return month if month else int(han_value(written) or 0)


def backed(date: Date, others: Sequence[Date]) -> bool:
    """Do the other dates say all that this one does? A year may come from another of them.

    >>> given = find_dates("It opened on 3 May; the year was 1931.")
    >>> backed(find_dates("3 May 1931")[0], given), backed(find_dates("4 May")[0], given)
    (True, False)
    """
    years = {other.year for other in others}
    if date.month is None:
        return date.year in years
    for other in others:
        if other.month != date.month or (date.day and other.day != date.day):
            continue
        if date.year is None or (date.year == (other.year or date.year) and date.year in years):
            return True
    return False
