"""A hard limit in tokens or money: a call that could exceed it is not made.

    judge = Judge("gpt-4.1-mini", budget=Budget(max_cost=2.50))

One budget may serve several judges. Replies from a cache or from recordings cost nothing.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

from .errors import BudgetError, SetupError
from .prices import Prices
from .types import Usage


@dataclass(frozen=True)
class Reservation:
    """What a call under way may take: input and output tokens."""

    model: str
    usage: Usage


@dataclass
class Budget:
    """Counts what calls take and refuses the one that could go beyond.

    A call under way counts with its estimated input and the longest reply so far, until its
    real numbers are known. A reply whose service does not count tokens is taken as estimated.

    Args:
        max_tokens: input and output tokens, of all calls.
        max_cost: US dollars, of all calls.
        prices: the price list; the one that is shipped when None.

    Attributes:
        tokens, cost: taken so far; ``cost`` only where ``max_cost`` is set.

    Raises:
        SetupError: a limit that is not more than 0.

    >>> budget = Budget(max_tokens=100)
    >>> call = budget.reserve("some-model", 90)
    >>> budget.settle(call, Usage(90, 5))
    >>> budget.tokens
    95
    >>> budget.reserve("some-model", 90)
    Traceback (most recent call last):
    ...
    ragas_judge.judge.errors.BudgetError: the next call could exceed the limit of 100 tokens: \
95 are used
    """

    max_tokens: int | None = None
    max_cost: float | None = None
    prices: Prices | None = None
    tokens: int = 0
    cost: float = 0.0
    _reserved: list[Reservation] = field(default_factory=list, repr=False)
    _longest: int = field(default=0, repr=False)

    def __post_init__(self) -> None:
        """Check the limits; the price list is read when it is needed."""
        for name in ("max_tokens", "max_cost"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise SetupError(f"{name} is more than 0, or None, not {value!r}")
        if self.max_cost is not None and self.prices is None:
            self.prices = Prices.load()
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        """Without the lock: it belongs to this process."""
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.Lock())

    def check(self, model: str) -> None:
        """Raise ``SetupError`` now when money is limited and the model's price is unknown."""
        if self.max_cost is not None and self._price(model, Usage(0, 0)) is None:
            raise SetupError(
                f"the price of {model!r} is unknown, so its cost cannot be limited: name its"
                " price in a file of your own, or limit the tokens"
            )

    def reserve(self, model: str, tokens: int) -> Reservation:
        """Set tokens aside for a call.

        Args:
            model: which is asked.
            tokens: about how many its input has.

        Raises:
            BudgetError: with this call, what is spent and under way could exceed a limit.
        """
        with self._lock:
            call = Reservation(model, Usage(tokens, self._longest))
            self._check_tokens(call)
            self._check_cost(call)
            self._reserved.append(call)
            return call

    def settle(self, call: Reservation, usage: Usage | None) -> None:
        """Replace what was set aside by what was used; None: the call came to nothing."""
        with self._lock:
            self._reserved.remove(call)
            if usage is None:
                return
            known = Usage(
                call.usage.input if usage.input is None else usage.input,
                call.usage.output if usage.output is None else usage.output,
            )
            self._longest = max(self._longest, known.output or 0)
            self.tokens += _sum(known)
            self.cost += self._price(call.model, known) or 0.0

    def _check_tokens(self, call: Reservation) -> None:
        if self.max_tokens is None:
            return
        wanted = self.tokens + sum(_sum(each.usage) for each in (*self._reserved, call))
        if wanted > self.max_tokens:
            raise BudgetError(
                f"the next call could exceed the limit of {self.max_tokens} tokens:"
                f" {self.tokens} are used"
            )

    def _check_cost(self, call: Reservation) -> None:
        if self.max_cost is None:
            return
        under_way = (self._price(each.model, each.usage) or 0.0 for each in (*self._reserved, call))
        if self.cost + sum(under_way) > self.max_cost:
            raise BudgetError(
                f"the next call could exceed the limit of {self.max_cost:g} US dollars:"
                f" {self.cost:.4f} are spent"
            )

    def _price(self, model: str, usage: Usage) -> float | None:
        return None if self.prices is None else self.prices.cost(model, usage)


def _sum(usage: Usage) -> int:
    return (usage.input or 0) + (usage.output or 0)
