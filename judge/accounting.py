"""Verdict accounting: which of the numbered items has a reply answered, exactly once each?

Items are numbered by us, and a reply must hold one answer an id. What is missing is asked
again; a stranger (an id that was not asked for) beside a complete set is dropped and noted;
an item answered twice counts only when both answers are the same. Numbers that were not asked
for while others are missing look like another numbering (from 0, or from 1 anew), and then
nothing of the reply counts. Nothing here ever makes the list of items shorter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import ValidationError

from ._keys import Keys
from .reading import alone, answered

T = TypeVar("T")
_REFUSED = (ValueError, TypeError)  # int(None) and the like: the value is of the wrong type
_LONGEST_PROBLEM = 200


@dataclass(frozen=True)
class Account(Generic[T]):
    """What one reply has settled.

    Attributes:
        answers: id -> parsed answer, for the ids that have exactly one.
        missing: the other ids, in the order asked.
        problems: why each of those is missing, one line each.
        strangers: ids in the reply that were not asked for.
    """

    answers: dict[str, T]
    missing: tuple[str, ...]
    problems: tuple[str, ...]
    strangers: tuple[str, ...] = ()


def settle(text: str, ids: Sequence[str], parse: Callable[[Any], T]) -> Account[T]:
    """Account for ``ids`` in the reply ``text``.

    Where one id was asked for, an object or a word without any id can stand for its answer,
    if ``parse`` takes it and is known to refuse what is none.

    Args:
        text: the raw reply.
        ids: the ids that were asked for.
        parse: turns one value into an answer; raises ``ValueError`` or ``TypeError`` for one
            it cannot take.

    >>> account = settle('{"1": "7", "3": "x", "note": "0"}', ["1", "2", "3"], int)
    >>> account.answers, account.missing, account.strangers
    ({'1': 7}, ('2', '3'), ('note',))
    >>> settle('{"1": "7", "1": "8"}', ["1"], int).problems
    ('1: answered twice, differently',)
    >>> settle('{"0": "7", "1": "8"}', ["1", "2"], int).problems
    ('the answers are not numbered as asked: 0 was not asked for',)
    """
    values = answered(text, ids)
    if values is None:
        return _unnumbered(text, ids, parse)
    strangers = tuple(key for key in values if key not in ids)
    foreign = _foreign_numbers(values, ids)
    if foreign:
        said = ", ".join(foreign[:3])
        problem = f"the answers are not numbered as asked: {said} was not asked for"
        return Account({}, tuple(ids), (problem,), strangers)
    answers: dict[str, T] = {}
    problems: list[str] = []
    for item_id in ids:
        try:
            answers[item_id] = _one(values.get(item_id, []), parse)
        except _REFUSED as error:
            problems.append(f"{item_id}: {_line(error)}")
    missing = tuple(item_id for item_id in ids if item_id not in answers)
    return Account(answers, missing, tuple(problems), strangers)


def _unnumbered(text: str, ids: Sequence[str], parse: Callable[[Any], T]) -> Account[T]:
    """A reply without any of the ids."""
    value = alone(text, ids[0]) if len(ids) == 1 else None
    if value is not None and _refuses_nonsense(parse, value):
        try:
            return Account({ids[0]: parse(value)}, (), ())
        except _REFUSED:
            pass
    problem = "no JSON object with the keys asked for" if text.strip() else "the reply was empty"
    return Account({}, tuple(ids), (problem,))


def _refuses_nonsense(parse: Callable[[Any], T], value: Any) -> bool:
    """A parser that takes any word, or any object, cannot tell an answer from a refusal."""
    try:
        parse({"zzz": "zzz"} if isinstance(value, dict) else "zzz")
    except _REFUSED:
        return True
    return False


def _foreign_numbers(values: dict[str, list[Any]], ids: Sequence[str]) -> list[str]:
    """Numbers that throw doubt on the others: an id is missing, or they begin at 0."""
    keys = Keys(ids)
    foreign = [key for key in values if key not in ids and keys.is_id(key)]
    complete = all(item_id in values for item_id in ids)
    return foreign if "0" in foreign or not complete else []


def _one(values: Sequence[Any], parse: Callable[[Any], T]) -> T:
    if not values:
        raise ValueError("missing")
    parsed = [parse(value) for value in values]
    if any(other != parsed[0] for other in parsed[1:]):
        raise ValueError("answered twice, differently")
    return parsed[0]


def _line(error: Exception) -> str:
    """The first thing wrong, in one line, without the value itself (it may be hostile)."""
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        return f"{place}: {first['msg']}" if place else str(first["msg"])
    return " ".join(str(error).split())[:_LONGEST_PROBLEM]
