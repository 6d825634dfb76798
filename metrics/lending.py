"""Which judge belongs to which evaluation, though ``ragas.evaluate`` lends through attributes.

``ragas.evaluate`` asks ``metric.llm is None``, assigns its own model, calls ``metric.init``,
reads ``metric.single_turn_ascore`` once a row, and later assigns None again. Between those
steps another evaluation with the same metric object may do the same. So that neither sees the
other's judge:

- what ragas assigns is kept apart, by thread, from what the caller has assigned, and only ragas
  sees it; between ragas' assignment and its last read it never yields to another evaluation of
  the same thread;
- whoever reads ``single_turn_ascore`` gets a function bound to the judge of that moment.

The only sign of who assigns is the calling frame, so this is the one module that looks at it.
"""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import MutableMapping
from typing import Any

_EVALUATION = "ragas.evaluation"
_VALIDATION = "ragas.validation"


class _Local(threading.local):
    """What ragas has lent to each metric in this thread."""

    def __init__(self) -> None:
        self.lent: MutableMapping[Any, dict[str, Any]] = weakref.WeakKeyDictionary()


_local = _Local()


def caller_is_ragas(depth: int = 2) -> bool:
    """Is the caller's caller (by default) ``ragas.evaluate`` at work?"""
    return bool(sys._getframe(depth).f_globals.get("__name__") == _EVALUATION)


def dataset_under_validation(depth: int = 2) -> Any:
    """The dataset that ragas is checking a metric's columns against, or None."""
    frame = sys._getframe(depth)
    if frame.f_globals.get("__name__") != _VALIDATION:
        return None
    return frame.f_locals.get("ds")


def lent_to(metric: Any) -> dict[str, Any]:
    """What ragas has lent to ``metric`` in this thread, by attribute name; may be written."""
    return _local.lent.setdefault(metric, {})


class Lendable:
    """An attribute with two owners: the caller, whose value stays, and ragas, who lends one.

    ragas reads the caller's value (its question is "has the metric one of its own?") and
    writes the lent one; everybody else reads and writes the caller's.
    """

    def __init__(self) -> None:
        """The name comes from the class body."""
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        """Keep the values under a private name."""
        self.name, self._own = name, f"_own_{name}"

    def __get__(self, metric: Any, owner: type | None = None) -> Any:
        """The caller's value; asked by ragas, it also ends an earlier loan."""
        if metric is None:
            return None
        if caller_is_ragas():
            lent_to(metric).pop(self.name, None)
        return getattr(metric, self._own, None)

    def __set__(self, metric: Any, value: Any) -> None:
        """Lend (ragas) or set (anybody else)."""
        if caller_is_ragas():
            lent_to(metric)[self.name] = value
        else:
            setattr(metric, self._own, value)
