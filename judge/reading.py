"""Read a JSON object out of a reply, leniently in form.

A reply may carry reasoning, code fences, prose before and after, or several objects. Every
balanced object is tried with a real JSON decoder, and the last one that answers counts: what
a model says last is its answer, and an object quoted from the sample comes earlier.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

_THINKING = re.compile(r"<(think|thinking|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_OPEN_THINKING = re.compile(r"^.*</(?:think|thinking|reasoning)>", re.DOTALL | re.IGNORECASE)


class Pairs(list[tuple[str, Any]]):
    """A JSON object as its pairs in order: ``dict`` would hide a key given twice."""


_DECODER = json.JSONDecoder(object_pairs_hook=Pairs)


def strip_thinking(text: str) -> str:
    """Drop reasoning blocks, also one whose opening tag the server has swallowed.

    >>> strip_thinking('<think>{"1": 0}</think>{"1": 1}')
    '{"1": 1}'
    """
    return _OPEN_THINKING.sub("", _THINKING.sub("", text))


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


def _objects(text: str) -> Iterator[Pairs]:
    """Balanced objects of a text at its top level, last first."""
    text = strip_thinking(text)
    found: list[Pairs] = []
    position = text.find("{")
    while position != -1:
        try:
            value, end = _DECODER.raw_decode(text, position)
        except (json.JSONDecodeError, RecursionError):
            end = position + 1
        else:
            found.append(value)
        position = text.find("{", end)
    return reversed(found)


def _plain(value: Any) -> Any:
    if isinstance(value, Pairs):
        return {key: _plain(item) for key, item in value}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value
