"""The units of measure that a number may carry, in both languages; no conversion between them."""

from __future__ import annotations

import re

_SPELLINGS = {
    "%": "%|percent|per cent|percentage points|percentage point|pct|个百分点",
    "km": "km|kilometres|kilometers|kilometre|kilometer|公里|千米",
    "metre": "metres|meters|metre|meter|米",
    "cm": "cm|centimetres|centimeters|centimetre|centimeter|厘米",
    "mm": "mm|millimetres|millimeters|millimetre|millimeter|毫米",
    "mile": "miles|mile|英里",
    "foot": "feet|foot|ft|英尺",
    "inch": "inches|inch|英寸",
    "kg": "kg|kilograms|kilogram|kilogrammes|公斤|千克",
    "gram": "grams|gram|grammes|克",
    "tonne": "tonnes|tonne|tons|ton|吨",
    "pound": "£|pounds|pound|lbs|lb|英镑",
    "dollar": "$|dollars|dollar|美元",
    "euro": "€|euros|euro|欧元",
    "yuan": "¥|yuan|rmb|人民币|元",
    "yen": "yen|日元",
    "litre": "litres|liters|litre|liter|升",
    "ml": "ml|millilitres|milliliters|毫升",
    "°C": "°C|℃|degrees Celsius|摄氏度",
    "°F": "°F|℉|degrees Fahrenheit|华氏度",
    "year": "years old|year old|years|year|周年|年|岁",
    "month": "months|month|个月",
    "week": "weeks|week|星期|周",
    "day": "days|day|天",
    "hour": "hours|hour|个小时|小时",
    "minute": "minutes|minute|分钟",
    "second": "seconds|second|秒",
}
BY_SPELLING = {
    spelling.casefold(): unit
    for unit, spellings in _SPELLINGS.items()
    for spelling in spellings.split("|")
}
"""Spelling in small letters -> unit."""
BEFORE = "£$€¥"
"""Signs that stand before their number."""


def _pattern() -> str:
    parts = []
    for spelling in sorted(BY_SPELLING, key=len, reverse=True):
        part = re.escape(spelling).replace(r"\ ", r"[\s-]")
        parts.append(part + (r"(?![a-z])" if "a" <= spelling[-1] <= "z" else ""))
    return "|".join(parts)


PATTERN = _pattern()
"""Any spelling, longest first; to be matched without regard to case."""


def unit_of(spelling: str) -> str:
    """The unit behind a spelling; "" when there is none.

    >>> unit_of("Kilometres"), unit_of("公里"), unit_of("years-old"), unit_of("")
    ('km', 'km', 'year', '')
    """
    return BY_SPELLING.get(re.sub(r"[\s-]+", " ", spelling).casefold(), "")
