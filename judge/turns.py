"""The queue in front of one service: each call waits for its turn.

Shared by every judge of that service in this process, on whatever thread or event loop
(``ragas.evaluate`` runs a loop of its own), which is why it is not an ``asyncio.Semaphore``.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from .limits import Limits, Window
from .loops import HELD_UP

LONGEST_REST = 10.0
ALONE = 2.0
"""Seconds for which the first call holds up the others."""
BURST = 1.0
"""Seconds' worth of a limit by the minute that may be used at once."""


@dataclass(frozen=True)
class Ticket:
    """A place among the calls under way.

    Attributes:
        under_way: how many there were when it was given, itself included.
        delay: seconds to wait before sending, for a limit by the minute.
        sent: moment of sending, on the queue's clock.
    """

    under_way: int
    delay: float
    sent: float


@dataclass
class Turns:
    """Lets calls through as far as the limits and the window allow, first come, first served.

    Args:
        limits: what the user knows of the service's limits.
        clock: seconds that only grow; replaced in tests.
    """

    limits: Limits = field(default_factory=Limits)
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        """Nobody is waiting yet."""
        self.window = Window(self.limits)
        self._lock = threading.Lock()
        self._waiting: deque[_Waiter] = deque()
        self._under_way = 0
        self._resting = 0
        self._usual = 0.0
        self._holds_back = False
        self._free = {"rpm": float("-inf"), "tpm": float("-inf")}

    async def take(self, tokens: int = 0) -> Ticket:
        """Wait for a turn.

        Args:
            tokens: about how many the call will take.
        """
        waiter = _Waiter(asyncio.get_running_loop(), tokens)
        with self._lock:
            if HELD_UP.get():
                self._let_through(waiter)
            else:
                self._waiting.append(waiter)
            self._admit()
        try:
            return await waiter.future
        except asyncio.CancelledError:
            self._give_up(waiter)
            raise

    def leave(self, ticket: Ticket, *, answered: bool = False, refused: bool = False) -> None:
        """Give the place back.

        Args:
            ticket: what ``take`` returned.
            answered: the service replied; how is of no matter.
            refused: it said that there are too many calls (429).
        """
        with self._lock:
            took = self.clock() - ticket.sent
            full = bool(self._waiting) or self._under_way >= int(self.window.width)
            self._under_way -= 1
            if refused:
                self.window.refused(self._under_way)
            elif answered:
                self._usual = took
                self.window.answered(ticket.under_way, full=full, seconds=took)
            self._rest()
            self._admit()

    def hold_back(self) -> None:
        """A call has failed: until one is answered, no other is sent beside the first."""
        self._holds_back = True

    def _open(self) -> None:
        """The first call takes its time: it may be slow, or hang."""
        with self._lock:
            if not (self.window.has_answered or self._holds_back):
                self.window.open()
                self._admit()

    def _rest(self) -> None:
        """Below one call at a time the place stays empty for a while after each call."""
        if self.window.width >= 1 or not self._waiting:
            return
        seconds = min(LONGEST_REST, max(self._usual, 0.01) * (1 / self.window.width - 1))
        self._resting += 1
        loop = self._waiting[0].loop
        if not _post(loop, lambda: loop.call_later(seconds, self._rested)):
            self._resting -= 1

    def _rested(self) -> None:
        with self._lock:
            self._resting -= 1
            self._admit()

    def _admit(self) -> None:
        """Hand out the free places; the lock is held."""
        while self._waiting and self._under_way + self._resting < max(1, int(self.window.width)):
            self._let_through(self._waiting.popleft())

    def _let_through(self, waiter: _Waiter) -> None:
        self._under_way += 1
        now = self.clock()
        delay = max(self._reserve("rpm", 1, now), self._reserve("tpm", waiter.tokens, now))
        waiter.ticket = Ticket(self._under_way, delay, now + delay)
        if not self.window.has_answered and self._under_way == 1:
            _post(waiter.loop, lambda: waiter.loop.call_later(ALONE, self._open))
        if not _post(waiter.loop, waiter.wake):  # its loop has ended
            self._under_way -= 1

    def _reserve(self, name: str, amount: int, now: float) -> float:
        """Seconds until ``amount`` of a limit by the minute is free, which is now taken."""
        per_minute = getattr(self.limits, name)
        if per_minute is None:
            return 0.0
        begins = max(self._free[name], now - BURST)
        self._free[name] = begins + 60.0 * amount / per_minute
        return max(0.0, begins - now)

    def _give_up(self, waiter: _Waiter) -> None:
        """Its call was cancelled: before its turn, or between its turn and its waking."""
        with self._lock:
            if waiter.ticket is None:
                self._waiting.remove(waiter)
            else:
                self._under_way -= 1
            self._admit()


@dataclass(eq=False)
class _Waiter:
    """A call that waits on its own event loop."""

    loop: asyncio.AbstractEventLoop
    tokens: int
    ticket: Ticket | None = None

    def __post_init__(self) -> None:
        self.future: asyncio.Future[Ticket] = self.loop.create_future()

    def wake(self) -> None:
        if not self.future.done() and self.ticket is not None:
            self.future.set_result(self.ticket)


def _post(loop: asyncio.AbstractEventLoop, callback: Callable[[], object]) -> bool:
    """Run something on a loop that may be another thread's; False when it has ended."""
    try:
        loop.call_soon_threadsafe(callback)
    except RuntimeError:
        return False
    return True
