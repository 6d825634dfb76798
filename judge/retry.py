"""Send the same request again when the trouble lies with the service (tenacity).

Retrying is apart from re-asking (``items.py``): it changes nothing about the question, has
its own budget and its own counter. Each try takes its own place in the service's queue
(``turns.py``), so that a call that waits does not keep others from being sent.
"""

from __future__ import annotations

import asyncio
import logging
import time
import warnings
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception,
    wait_exponential,
    wait_random,
)

from .errors import (
    JudgeError,
    JudgeQuotaError,
    JudgeRateLimitError,
    JudgeTimeoutError,
    JudgeUnavailableError,
    JudgeUnreachableError,
    SetupError,
)
from .service import Service, Turn

T = TypeVar("T")

RETRIED = (
    JudgeRateLimitError,
    JudgeTimeoutError,
    JudgeUnavailableError,
    JudgeUnreachableError,
)
MAX_WAIT = 60.0
LEAST_TRY = 0.5
"""Seconds that must be left for one more try: cut shorter, it would only hide the last error."""
_backoff = wait_exponential(multiplier=0.5, max=MAX_WAIT) + wait_random(0, 0.5)

log = logging.getLogger("ragas_judge")

ATTEMPT_SECONDS: ContextVar[float | None] = ContextVar("ATTEMPT_SECONDS", default=None)
"""Seconds left to the try under way, for clients that must be told (synchronous ones)."""


@dataclass(frozen=True)
class RetryPolicy:
    """How often and how long one request is tried. Waiting for one's turn is not counted.

    Attributes:
        attempts: tries in all, the first included. A service that asks to wait (429) is tried
            as long as the budget allows.
        attempt_timeout: seconds for one try.
        budget: seconds for all tries and the waits between them; a wait that would end after
            it is not begun.
        connect_budget: the same for a service that cannot be reached and has not answered
            anything yet.
        patience: a try is given up early, after this many times the slowest of the latest
            replies, and made again with twice the patience, so that a call that hangs costs
            little. The service may charge for both. None: never.
        sleep: waits; replaced in tests.

    Raises:
        SetupError: a number that makes no sense.
    """

    attempts: int = 6
    attempt_timeout: float = 120.0
    budget: float = 600.0
    connect_budget: float = 15.0
    patience: float | None = 3.0
    sleep: Callable[[float], Awaitable[None]] = field(default=asyncio.sleep, repr=False)

    def __post_init__(self) -> None:
        """Check the numbers."""
        if not isinstance(self.attempts, int) or self.attempts < 1:
            raise SetupError(f"attempts is a whole number of at least 1, not {self.attempts!r}")
        for name in ("attempt_timeout", "budget", "connect_budget"):
            if not getattr(self, name) > 0:
                raise SetupError(f"{name} is more than 0 seconds, not {getattr(self, name)!r}")
        if self.patience is not None and not self.patience >= 1:
            raise SetupError(f"patience is at least 1, or None, not {self.patience!r}")


def warn_if_tight(policy: RetryPolicy, seconds: float) -> None:
    """Warn when one try may take longer than ragas gives a row, with all its calls and waits."""
    if policy.attempt_timeout > seconds:
        warnings.warn(
            f"one try may take {policy.attempt_timeout:g} s (RetryPolicy.attempt_timeout), but"
            f" ragas gives a row {seconds:g} s for all its calls (RunConfig.timeout): slow rows"
            " will fail; raise the one or lower the other",
            stacklevel=3,
        )


def _may_pass(error: BaseException) -> bool:
    """Could the same request fare better next time?"""
    return isinstance(error, RETRIED) and not error.remembered


def wait(state: RetryCallState) -> float:
    """Seconds before the next try: what the service asked for, else a growing backoff."""
    error = state.outcome.exception() if state.outcome else None
    if isinstance(error, JudgeError) and error.retry_after:  # 0 names no wait
        return error.retry_after
    return _backoff(state)


async def send_with_retry(
    send: Callable[[], Awaitable[T]],
    policy: RetryPolicy,
    service: Service | None = None,
    *,
    endpoint: str = "the service",
    tokens: int = 0,
    deadline: float | None = None,
) -> tuple[T, int]:
    """Return what ``send`` returns and the number of tries it took.

    Args:
        send: sends once.
        policy: how often and how long.
        service: what is known of the service; one of its own when None.
        endpoint: its name, for messages.
        tokens: about how many the call takes, for a limit by tokens.
        deadline: moment on ``time.monotonic`` after which no further try is begun.

    Raises:
        JudgeError: of the last try.
    """
    tries = _Tries(send, policy, service or Service(), endpoint, tokens, deadline)
    retrying = AsyncRetrying(
        retry=retry_if_exception(_may_pass),
        stop=tries.stop,
        wait=wait,
        sleep=tries.sleep,
        before_sleep=tries.tell,
        reraise=True,
    )
    try:
        reply: T = await retrying(tries.once)
    except JudgeError as error:
        asked = error.retry_after or 0.0
        if isinstance(error, JudgeRateLimitError) and asked > policy.budget:
            said = f"{error} (it asks to wait {asked:.0f} s, longer than the budget)"
            error = JudgeQuotaError(said, status=error.status, retry_after=asked)
        tries.service.note_failure(error)
        raise error from error.__cause__
    finally:
        tries.end()
    return reply, tries.made


@dataclass
class _Tries(Generic[T]):
    """The tries of one call so far."""

    send: Callable[[], Awaitable[T]]
    policy: RetryPolicy
    service: Service
    endpoint: str
    tokens: int
    deadline: float | None
    made: int = 0
    spent: float = 0.0
    """Seconds of all tries and waits, without those in the queue."""
    turn: Turn | None = None
    given_up_early: int = 0

    async def once(self) -> T:
        """One try, in its turn."""
        self.turn = self.turn or await self.service.turn(self.tokens)
        self.made += 1
        began = time.monotonic()
        try:
            reply = await self._send(self._seconds())
            self.turn.answered()
            return reply
        except JudgeError as error:
            self.turn.failed(error)
            raise
        finally:
            self.spent += time.monotonic() - began
            # Until the service has answered anything, nobody else is sent while this one waits.
            if self.service.has_answered:
                self.end()

    def end(self) -> None:
        """Let the next call have its turn."""
        if self.turn is not None:
            self.turn.end()
            self.turn = None

    async def _send(self, seconds: float) -> T:
        token = ATTEMPT_SECONDS.set(seconds)
        try:
            async with asyncio.timeout(seconds) as clock:
                return await self.send()
        except TimeoutError as error:
            if not clock.expired():
                raise
            self.given_up_early += 1
            message = f"{self.endpoint}: no reply within {seconds:.3g} s"
            raise JudgeTimeoutError(message) from error
        finally:
            ATTEMPT_SECONDS.reset(token)

    def _seconds(self) -> float:
        """What this try may take."""
        patience = self.policy.patience
        early = self.service.slow(patience) if patience else None
        if early is not None:
            early *= 2**self.given_up_early
        limits = [self.policy.attempt_timeout, self.policy.budget - self.spent, early]
        if self.deadline is not None:
            limits.append(self.deadline - time.monotonic())
        return max(0.0, min(limit for limit in limits if limit is not None))

    def tell(self, state: RetryCallState) -> None:
        """Log why it is tried again."""
        error = state.outcome.exception() if state.outcome else None
        wait = state.upcoming_sleep
        log.info("try %d failed, the next comes in %.1f s: %s", self.made, wait, error)

    async def sleep(self, seconds: float) -> None:
        """Wait between two tries."""
        self.spent += seconds
        await self.policy.sleep(seconds)

    def stop(self, state: RetryCallState) -> bool:
        """Was this the last try?"""
        error = state.outcome.exception() if state.outcome else None
        if self.made >= self.policy.attempts and not isinstance(error, JudgeRateLimitError):
            return True
        budget = self.policy.budget
        if isinstance(error, JudgeUnreachableError) and not self.service.has_answered:
            budget = min(budget, self.policy.connect_budget)
        least = state.upcoming_sleep + LEAST_TRY
        if self.spent + least >= budget:
            return True
        return self.deadline is not None and time.monotonic() + least >= self.deadline
