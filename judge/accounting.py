"""Verdict accounting: which of the numbered items has a reply answered, exactly once each?

Items are numbered by us, and a reply must hold one answer an id. What is missing is asked
again; a stranger (an id that was not asked for) is dropped and noted; an item answered twice
counts only when both answers are the same. Nothing here ever makes the list of items shorter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import ValidationError

from .reading import answered

T = TypeVar("T")


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

    Args:
        text: the raw reply.
        ids: the ids that were asked for.
        parse: turns one value into an answer; raises ``ValueError`` for one it cannot take.

    >>> account = settle('{"1": "7", "3": "x", "9": "0"}', ["1", "2", "3"], int)
    >>> account.answers, account.missing, account.strangers
    ({'1': 7}, ('2', '3'), ('9',))
    >>> settle('{"1": "7", "1": "8"}', ["1"], int).problems
    ('1: answered twice, differently',)
    """
    values = answered(text, ids)
    if values is None:
        return Account({}, tuple(ids), ("no JSON object with the keys asked for",))
    answers: dict[str, T] = {}
    problems: list[str] = []
    for item_id in ids:
        try:
            answers[item_id] = _one(values.get(item_id, []), parse)
        except ValueError as error:
            problems.append(f"{item_id}: {_line(error)}")
    missing = tuple(item_id for item_id in ids if item_id not in answers)
    strangers = tuple(key for key in values if key not in ids)
    return Account(answers, missing, tuple(problems), strangers)


def _one(values: Sequence[Any], parse: Callable[[Any], T]) -> T:
    if not values:
        raise ValueError("missing")
    parsed = [parse(value) for value in values]
    if any(other != parsed[0] for other in parsed[1:]):
        raise ValueError("answered twice, differently")
    return parsed[0]


def _line(error: ValueError) -> str:
    """The first thing wrong, in one line, without the value itself (it may be hostile)."""
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        return f"{place}: {first['msg']}" if place else str(first["msg"])
    return str(error)
