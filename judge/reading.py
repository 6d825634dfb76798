"""Read a JSON object out of a reply, leniently in form.

A reply may carry reasoning, code fences, prose before and after, or several objects. Every
balanced object is tried with a real JSON decoder, and the last one that answers counts: what
a model says last is its answer, and an object quoted from the sample comes earlier.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

_END_OF_THINKING = re.compile(r"</(?:think|thinking|reasoning)>", re.IGNORECASE)
MOST_BRACES = 2000
"""Opening braces that are tried at the most, the last ones of a reply: each costs time."""


class Pairs(list[tuple[str, Any]]):
    """A JSON object as its pairs in order: ``dict`` would hide a key given twice."""


_DECODER = json.JSONDecoder(object_pairs_hook=Pairs)


def answered(text: str, ids: Sequence[str]) -> dict[str, list[Any]] | None:
    r"""Find the object that answers for ``ids`` and return all values given for each key.

    One wrapper around it (``{"verdicts": {...}}``) is looked through. None when no object
    of the reply has any of the ids as a key.

    >>> answered('{"1": 0} wait: ```json\n{"1": 1, "1": 2}\n```', ["1", "2"])
    {'1': [1, 2]}
    """
    for pairs in _objects(text):
        wrapped = [value for _, value in pairs if isinstance(value, Pairs)]
        for candidate in (pairs, *reversed(wrapped)):
            values: dict[str, list[Any]] = {}
            for key, value in candidate:
                values.setdefault(key.strip(), []).append(_plain(value))
            if any(item_id in values for item_id in ids):
                return values
    return None


def _objects(text: str) -> list[Pairs]:
    """Balanced objects of a text at its top level, last first, without those thought aloud.

    A closing tag of a reasoning block counts only outside every object: a quote may hold one.
    """
    braces = [match.start() for match in re.finditer("{", text)][-MOST_BRACES:]
    found: list[tuple[int, int, Pairs]] = []
    end = 0
    for start in braces:
        if start < end:
            continue
        try:
            value, end = _DECODER.raw_decode(text, start)
        except (json.JSONDecodeError, RecursionError):
            continue
        found.append((start, end, value))
    thought = 0
    for tag in _END_OF_THINKING.finditer(text):
        if not any(start < tag.start() < end for start, end, _ in found):
            thought = tag.end()
    return [value for start, _, value in reversed(found) if start >= thought]


class Ambiguous:
    """Stands for an object that gives one key two values: no parser takes it."""


def _plain(value: Any) -> Any:
    if isinstance(value, Pairs):
        plain: dict[str, Any] = {}
        for key, item in value:
            given = _plain(item)
            if plain.setdefault(key, given) != given:
                return Ambiguous()
        return plain
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value
