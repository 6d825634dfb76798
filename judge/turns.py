"""The queue in front of one service: each call waits for its turn.

Shared by every judge of that service in this process, on whatever thread or event loop
(``ragas.evaluate`` runs a loop of its own), which is why it is not an ``asyncio.Semaphore``.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from .limits import Limits, Window
from .loops import HELD_UP

LONGEST_REST = 10.0
"""Seconds for which a place may stay empty between two calls."""
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
        loop: the event loop that it was given to.
    """

    under_way: int
    delay: float
    sent: float
    loop: asyncio.AbstractEventLoop


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
        self._calls: Counter[asyncio.AbstractEventLoop] = Counter()
        self._rests: list[float] = []
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
            self._calls[waiter.loop] += 1
            if any(self._calls[loop] for loop in HELD_UP.get()):
                self._let_through(waiter)  # those ahead of it may be on a loop that stands still
            else:
                self._waiting.append(waiter)
            self._admit()
            self._remind()
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
            self._ended(ticket.loop)
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
        self._rests.append(self.clock() + seconds)
        self._remind()

    def _remind(self) -> None:
        """Look again when a rest is over, on each loop where a call waits: any of them may end."""
        if self._rests and self._waiting:
            seconds = max(0.0, min(self._rests) - self.clock())
            for loop in {waiter.loop for waiter in self._waiting}:
                _post(loop, partial(loop.call_later, seconds, self._look_again))

    def _look_again(self) -> None:
        with self._lock:
            self._admit()
            self._remind()

    def _admit(self) -> None:
        """Hand out the free places; the lock is held."""
        now = self.clock()
        self._rests = [end for end in self._rests if end > now]
        places = max(1, int(self.window.width)) - len(self._rests)
        while self._waiting and self._under_way < places:
            self._let_through(self._waiting.popleft())

    def _let_through(self, waiter: _Waiter) -> None:
        self._under_way += 1
        now = self.clock()
        delay = max(self._reserve("rpm", 1, now), self._reserve("tpm", waiter.tokens, now))
        waiter.ticket = Ticket(self._under_way, delay, now + delay, waiter.loop)
        if not self.window.has_answered and self._under_way == 1:
            _post(waiter.loop, lambda: waiter.loop.call_later(ALONE, self._open))
        if not _post(waiter.loop, waiter.wake):  # its loop has ended
            self._under_way -= 1
            self._ended(waiter.loop)

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
            self._ended(waiter.loop)
            self._admit()

    def _ended(self, loop: asyncio.AbstractEventLoop) -> None:
        self._calls[loop] -= 1
        if not self._calls[loop]:
            del self._calls[loop]  # or the loop would be kept


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
