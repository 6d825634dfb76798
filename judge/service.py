"""What this process knows of one service: its pace, how long replies take, whether it is there.

Shared by all judges of the same address, model, account and limits, so that four metrics with
four judges of one lent model keep one pace, and learn once that a key is refused.
"""

from __future__ import annotations

import asyncio
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from .errors import (
    JudgeAuthError,
    JudgeError,
    JudgeQuotaError,
    JudgeRateLimitError,
    JudgeRequestError,
    JudgeUnreachableError,
)
from .limits import Limits
from .turns import Ticket, Turns

REMEMBERED = 30.0
"""Seconds for which a call that could only fail in the same way is not made."""
LASTING = (JudgeAuthError, JudgeQuotaError, JudgeUnreachableError)
"""What the next call would meet, too."""
SEVERAL = 3
"""So many such failures in a row speak for the next call, too, though others were answered."""
OVERLOADED = (503, 529)
"""HTTP statuses by which a service says that it has too much to do."""
ENOUGH = 10
"""Replies from which their usual time is judged."""
LEAST_PATIENCE = 3.0
"""Seconds that any reply is given: so long may this process itself be held up."""


class Service:
    """One service, as far as this process has come to know it.

    Args:
        limits: what the user knows of its limits.
        clock: seconds that only grow; replaced in tests.
    """

    def __init__(
        self, limits: Limits | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Nothing is known yet."""
        self.turns = Turns(limits or Limits(), clock)
        self._clock = clock
        self._seconds: deque[float] = deque(maxlen=50)
        self._trouble: tuple[JudgeError, float] | None = None
        self._in_a_row = 0

    @property
    def has_answered(self) -> bool:
        """Has any call been answered?"""
        return self.turns.window.has_answered

    def slow(self, patience: float) -> float | None:
        """``patience`` times the slowest of the latest replies, in seconds; None: not known."""
        if len(self._seconds) < ENOUGH:
            return None
        return max(LEAST_PATIENCE, patience * max(self._seconds))

    async def turn(self, tokens: int = 0) -> Turn:
        """Wait for a turn to send one call; its ``end`` must be called.

        Raises:
            JudgeError: a call a moment ago has shown that this one could only fail.
        """
        turn = Turn(self, await self.turns.take(tokens))
        with ExitStack() as undo:
            undo.callback(turn.end)
            self._check()
            if turn.ticket.delay:
                await asyncio.sleep(turn.ticket.delay)
            undo.pop_all()
        return turn

    def replied(self, ticket: Ticket) -> None:
        """A reply came: whatever the trouble was, it is over."""
        self._trouble = None
        self._in_a_row = 0
        self._seconds.append(self._clock() - ticket.sent)

    def note_failure(self, error: JudgeError) -> None:
        """A call was given up; does it speak for the next ones?"""
        if not isinstance(error, LASTING) or error.remembered:
            return
        self._in_a_row += 1
        # A service that has answered may refuse one text alone (a firewall's 403).
        if not self.has_answered or self._in_a_row >= SEVERAL:
            self._trouble = (error, self._clock() + REMEMBERED)

    def _check(self) -> None:
        trouble = self._trouble
        if trouble is not None and self._clock() < trouble[1]:
            error, _ = trouble
            again = type(error)(str(error), status=error.status)
            again.remembered = True
            raise again


class Turn:
    """One call's turn, and what came of it."""

    def __init__(self, service: Service, ticket: Ticket) -> None:
        """Nothing has come of it yet."""
        self.service, self.ticket = service, ticket
        self._alive = self._refused = False

    def answered(self) -> None:
        """The service replied."""
        self._alive = True
        self.service.replied(self.ticket)

    def failed(self, error: JudgeError) -> None:
        """The call failed."""
        self.service.turns.hold_back()
        overloaded = error.status in OVERLOADED
        self._refused = isinstance(error, JudgeRateLimitError) or overloaded
        self._alive = isinstance(error, JudgeRequestError)

    def end(self) -> None:
        """Let the next call have its turn."""
        self.service.turns.leave(self.ticket, answered=self._alive, refused=self._refused)


_known: weakref.WeakValueDictionary[Any, Service] = weakref.WeakValueDictionary()
_lock = threading.Lock()


def service_of(transport: Any, model: str, limits: Limits) -> Service:
    """The service behind a transport: shared where its address is a URL, else one of its own.

    Args:
        transport: ``endpoint`` names the address; ``account``, where it has one, tells accounts
            apart without naming a key.
        model: services limit by model.
        limits: judges with other limits keep another pace.
    """
    endpoint = getattr(transport, "endpoint", "")
    if "://" not in endpoint:
        return Service(limits)
    key = (endpoint, model, getattr(transport, "account", None), limits)
    with _lock:
        return _known.setdefault(key, Service(limits))
