"""The numbers of a text, with units: 1,234.5; 45%; £3m; two hundred; 三百二十万; 5至10米.

No library reads the numbers of both languages inside running text and tells where they stand.
Dates and years are left to ``dates``. "one" and 一 alone are no numbers here, mostly they are
articles; nor are decades (the 1990s) and digits that belong to a name (U-30).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from .measures import BEFORE, PATTERN, unit_of
from .words import plain_width

_ONES = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen",
]  # fmt: skip
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_WORDS = dict(zip((*_ONES, *_TENS), (*range(20), *range(20, 100, 10)), strict=True))
_SCALES = {
    "hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12,
    "k": 1e3, "m": 1e6, "mn": 1e6, "bn": 1e9, "tn": 1e12,
    "百": 1e2, "千": 1e3, "万": 1e4, "百万": 1e6, "千万": 1e7, "亿": 1e8, "万亿": 1e12,
}  # fmt: skip
_HAN_DIGITS = dict(zip("零一二三四五六七八九", range(10), strict=True)) | {"〇": 0, "两": 2}
_HAN_PLACES = {"十": 10, "百": 100, "千": 1000}

_DIGITS = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
_WORD = "|".join(sorted(_WORDS, key=len, reverse=True))
_SPELT = rf"(?:{_WORD})(?:(?:[\s-]+|\s+and\s+)(?:{_WORD}|hundred|thousand|million|billion)\b)*"
_HAN = "[零〇一二两三四五六七八九十百千万亿]"
_COUNTED = "个人名位次种家座条场届倍件本只张辆艘层部项所支吨米升克元岁年月日天周秒小公"
"""A single Chinese numeral counts as a number only before one of these."""
_NUMBER = re.compile(
    rf"(?P<sign>[{BEFORE}])?\s?"
    rf"(?:(?P<share>百分之)(?P<part>{_DIGITS}|{_HAN}+(?:点{_HAN}+)?)"
    rf"|(?<![\w.])(?P<spelt>{_SPELT})\b"
    rf"|(?<![\d.A-Za-z])(?<![A-Za-z]-)(?P<digits>{_DIGITS})(?![\d]*s\b)"
    r"(?:[多余]?(?P<hanscale>万亿|百万|千万|[百千万亿])"
    r"|[\s-]?(?P<scale>hundred|thousand|million|billion|trillion)\b|(?P<short>k|mn?|bn|tn)\b)?"
    rf"|(?P<han>{_HAN}{{2,}}(?:点{_HAN}+)?|[二两三四五六七八九十百千](?=[{_COUNTED}])))"
    rf"(?:[\s-]?(?P<unit>{PATTERN}))?",
    re.IGNORECASE,
)
_NO_NUMBERS = re.compile("一一|万一|万千|十分|千万(?!人|元|美|英|欧|吨|平)|百十")
"""Chinese words that look like numerals."""
_RANGE = re.compile(r"\s?(?:-|–|—|~|～|to|and|至|到)\s?", re.IGNORECASE)


@dataclass(frozen=True)
class Number:
    """A number as a text has it.

    Attributes:
        text: how it is written, with its unit.
        value: its value, scale words applied; percent as it is written (45 for 45%).
        unit: unit of measure; "" when it has none that is known here.
        start, end: where ``text`` stands.
    """

    text: str
    value: float
    unit: str
    start: int
    end: int


@lru_cache(maxsize=512)
def find_numbers(text: str) -> tuple[Number, ...]:
    """The numbers of a text in order; a range gives its two ends, the unit on both.

    >>> [(n.value, n.unit) for n in find_numbers("£3m for 5-10 kilometres, up 45 per cent")]
    [(3000000.0, 'pound'), (5.0, 'km'), (10.0, 'km'), (45.0, '%')]
    >>> [(n.value, n.unit) for n in find_numbers("三百二十万人，5至10米，百分之三十")]
    [(3200000.0, ''), (5.0, 'metre'), (10.0, 'metre'), (30.0, '%')]
    >>> [n.value for n in find_numbers("Two hundred and five of the twenty-three thousand")]
    [205.0, 23000.0]
    """
    plain = plain_width(text)
    found: list[Number] = []
    for match in _NUMBER.finditer(plain):
        value = _value(match)
        if value is None:
            continue
        start = match.start() + len(match[0]) - len(match[0].lstrip())
        unit = "%" if match["share"] else unit_of(match["unit"] or match["sign"] or "")
        found.append(Number(text[start : match.end()], value, unit, start, match.end()))
    return tuple(_with_ranges(plain, found))


def _value(match: re.Match[str]) -> float | None:
    if match["digits"]:
        scale = match["hanscale"] or match["scale"] or match["short"] or ""
        if (match["short"] or "").casefold() == "m" and not match["sign"]:
            scale = ""  # "3m" is three metres, or three million: not known
        return float(match["digits"].replace(",", "")) * _SCALES.get(scale.casefold(), 1.0)
    if match["spelt"]:
        return _spelt_value(match["spelt"].casefold())
    written = match["part"] or match["han"]
    if written[0].isdigit():
        return float(written.replace(",", ""))
    return han_value(written)


def _spelt_value(words: str) -> float | None:
    """The value of English number words; None for "one" alone."""
    if words == "one":
        return None
    total = current = 0.0
    for word in re.split(r"[\s-]+", words):
        if word in _WORDS:
            current += _WORDS[word]
        elif word == "hundred":
            current = max(current, 1) * 100
        elif word in _SCALES:
            total, current = total + max(current, 1) * _SCALES[word], 0.0
    return total + current


def han_value(numeral: str) -> float | None:
    """The value of a Chinese numeral; None when it is none.

    >>> han_value("三百二十万"), han_value("二〇二四"), han_value("两千零五"), han_value("三点一四")
    (3200000.0, 2024.0, 2005.0, 3.14)
    """
    if _NO_NUMBERS.match(numeral):
        return None
    whole, _, decimals = numeral.partition("点")
    if len(whole) > 1 and all(character in _HAN_DIGITS for character in whole):
        value = float("".join(str(_HAN_DIGITS[character]) for character in whole))
    else:
        value = _places(whole)
    if decimals and all(character in _HAN_DIGITS for character in decimals):
        value = float(f"{value:.0f}." + "".join(str(_HAN_DIGITS[c]) for c in decimals))
    return value


def _places(numeral: str) -> float:
    """十, 百, 千 multiply the digit before them, 万 and 亿 all that stands before them."""
    total = section = digit = 0.0
    for character in numeral:
        if character in _HAN_DIGITS:
            digit = _HAN_DIGITS[character]
        elif character in _HAN_PLACES:
            section += (digit or 1) * _HAN_PLACES[character]
            digit = 0.0
        else:
            factor = _SCALES[character]
            total = (
                (total + section + digit or 1) * factor
                if factor == 1e8
                else (total + (section + digit or 1) * factor)
            )
            section = digit = 0.0
    return total + section + digit


def _with_ranges(text: str, numbers: Sequence[Number]) -> list[Number]:
    """The first end of a range takes the unit of the second: "5-10 km"."""
    found = list(numbers)
    for place in range(len(found) - 1):
        first, second = found[place], found[place + 1]
        between = text[first.end : second.start]
        if not first.unit and second.unit and _RANGE.fullmatch(between):
            found[place] = replace(first, unit=second.unit)
    return found
