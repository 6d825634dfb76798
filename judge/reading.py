"""Read the answers out of a reply, leniently in form, never by guessing.

A reply may carry reasoning, code fences, prose before and after, or several objects. It is
read once from its beginning. Objects and lists at the top level are read one by one, each
with the standard decoder or, where that fails, leniently; so the order is that of the text,
whatever the form, and **the last one that answers wins**: what a model says last is its
answer, and what it quotes from the sample comes earlier or inside a string.

Nothing is read where the borders between text and strings are in doubt: after an object that
is malformed, or closed too early by a quote that was not escaped. Words of the sample may
stand there. Such a reply has to be asked for again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ._keys import Keys, Pair
from ._lenient import MOST_DEPTH, Broken, Cut, Pairs, Unusable, Whole, read

_TAG = r"(?:think|thinking|reasoning)>"
_EVENT = re.compile(rf"[{{\[｛［]|<(?P<closing>/?){_TAG}", re.IGNORECASE)
_THOUGHT = re.compile(rf".*</{_TAG}", re.IGNORECASE | re.DOTALL)
_CLOSED_EARLY = re.compile(r"[\s}\]]*[\"'”,]")
_REST_OF_ONE = re.compile(r"[\"'”]\s*(?:[}\]]|[:：]\s*(?:[\"'“]|\Z))")
_NEXT_ONE = re.compile(r"[\s`]*(?:json)?\s*")
_ONLY_OBJECT = re.compile(r"\s*(?:```\w*\s*)?(?=\{)")
_FENCE = re.compile(r"[\s`]*")
_WORD = re.compile(r"[\s`*\"'“]*(?:```\w*\s)?([^\W\d_]+(?:[ _-][^\W\d_]+){0,2})[\s`*\"'”.。!！]*")
MOST_WASTE = 1_000_000
"""Characters read in vain, plus 50 for each time: what bounds the time for a hostile reply."""


@dataclass(frozen=True)
class _Found:
    start: int
    end: int
    value: Any

    @property
    def is_object(self) -> bool:
        """An object, or a list with one in it; "[1]" in prose is neither."""
        if isinstance(self.value, Pairs):
            return True
        return any(isinstance(entry, Pairs) for entry in self.value)


@dataclass(frozen=True)
class _Said:
    """The objects and lists of a reply, the one it was cut in, and its text.

    All without what was thought aloud.
    """

    found: tuple[_Found, ...] = ()
    cut: Cut | None = None
    text: str = ""


def answered(text: str, ids: Sequence[str]) -> dict[str, list[Any]] | None:
    r"""Find the object that answers for ``ids`` and return all values given for each key.

    Wrappers around it (``{"verdicts": {...}}``) are looked through, and a list counts whose
    entries name their ids. When the text ends inside an object, only the pairs of that object
    that were complete count. None when no id is answered.

    >>> answered('{"1": 0} wait: ```json\n{"1": 1, "1": 2}\n```', ["1", "2"])
    {'1': [1, 2]}
    >>> answered("[{'id': 2, 'verdict': 'supported',}]", ["1", "2"])
    {'2': [{'verdict': 'supported'}]}
    >>> answered('{"1": "supported", "2": "suppor', ["1", "2"])
    {'1': ['supported']}
    """
    said, keys = _said(text), Keys(ids)
    if said.cut:
        return _grouped(keys.kept(said.cut.open))
    for found in reversed(said.found):
        pairs = keys.pairs(found.value)
        if pairs:
            return _grouped(pairs)
    return None


def alone(text: str, item_id: str) -> Any:
    """What a reply says without any id: its only object, or the one word that it is.

    It can stand for an answer only where one id was asked for. None when there is neither.

    >>> alone('Here it is: {"verdict": "supported"}', "1"), alone("**Not supported.**", "1")
    ({'verdict': 'supported'}, 'Not supported')
    >>> alone("It is supported by the first context.", "1")
    """
    said = _said(text)
    objects = [one.value for one in said.found if one.is_object]
    if len(objects) == 1 and not said.cut:
        value = objects[0]
        return _plain(value) if Keys([item_id]).bare(value) else None
    word = _WORD.fullmatch(said.text) if not (said.found or said.cut) else None
    return word[1] if word else None


def _said(text: str) -> _Said:
    """Walk through a reply: objects and lists, and the tags of reasoning blocks between them.

    A closing tag ends all that was thought before it, also where the opening one is missing
    (servers may take it away). An opening tag that is never closed leaves nothing.
    """
    found: list[_Found] = []
    thinking, waste, pos, begin = False, 0, 0, 0
    while (event := _EVENT.search(text, pos)) and waste < MOST_WASTE:
        start, pos = event.span()
        if (closing := event["closing"]) is not None:
            thinking = not closing
            if closing:
                found, begin = [], pos
            continue
        got = read(text, start)
        if isinstance(got, Whole):
            found.append(_Found(start, got.end, got.value))
            pos = got.end
        elif thinking or (isinstance(got, Broken) and not got.begun):
            waste += 50 + (got.end if isinstance(got, Broken) else len(text)) - start
        elif isinstance(got, Cut):
            return _cut(text, begin, found, got)
        else:
            return _after_thought(text, start)
    if thinking or event or _torn(text[begin:], begin, found):
        return _Said()
    return _Said(tuple(found), None, text[begin:])


def _torn(text: str, begin: int, found: Sequence[_Found]) -> bool:
    """Does the text around the objects look like the rest of one that was closed too early?"""
    ends = [0, *(one.end - begin for one in found)]
    starts = [*(one.start - begin for one in found), len(text)]
    if any(_REST_OF_ONE.search(text, *gap) for gap in zip(ends, starts, strict=True)):
        return True
    closed = (one.end - begin for one in found if one.is_object)
    return any(_CLOSED_EARLY.match(text, end) for end in closed)


def _cut(text: str, begin: int, found: list[_Found], cut: Cut) -> _Said:
    """A model that repeats its answer until it is stopped has given it."""
    if _torn(text[begin : cut.start], begin, found):
        return _Said()
    if found:
        last = found[-1]
        repeats = text.startswith(text[cut.start :], last.start)
        if repeats and _NEXT_ONE.fullmatch(text, last.end, cut.start):
            return _Said(tuple(found))
    return _Said((), cut)


def _after_thought(text: str, start: int) -> _Said:
    """What follows a thought that holds something malformed, if it is one object and no more.

    A closing tag inside a malformed object may be quoted; then a rest of that object follows.
    """
    thought = _THOUGHT.match(text, start)
    opening = _ONLY_OBJECT.match(text, thought.end()) if thought else None
    if opening:
        got = read(text, opening.end())
        if isinstance(got, Whole) and _FENCE.fullmatch(text, got.end):
            return _Said((_Found(opening.end(), got.end, got.value),))
    return _Said()


def _grouped(pairs: Sequence[Pair]) -> dict[str, list[Any]] | None:
    values: dict[str, list[Any]] = {}
    for key, value in pairs:
        values.setdefault(key, []).append(_plain(value))
    return values or None


def _plain(value: Any, depth: int = 0) -> Any:
    if depth > MOST_DEPTH:
        return Unusable()
    if isinstance(value, Pairs):
        plain: dict[str, Any] = {}
        for key, item in value:
            given = _plain(item, depth + 1)
            if plain.setdefault(key, given) != given:
                return Unusable()
        return plain
    if isinstance(value, list):
        return [_plain(item, depth + 1) for item in value]
    return value
