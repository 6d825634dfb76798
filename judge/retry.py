"""Send the same request again when the trouble lies with the service (tenacity).

Retrying is apart from re-asking (``items.py``): it changes nothing about the question, has
its own budget and its own counter.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception_type,
    stop_after_attempt,
    stop_before_delay,
    wait_exponential,
    wait_random,
)

from .errors import (
    JudgeError,
    JudgeRateLimitError,
    JudgeTimeoutError,
    JudgeUnavailableError,
    JudgeUnreachableError,
)
from .types import Reply, Request, Transport

RETRIED = (
    JudgeRateLimitError,
    JudgeTimeoutError,
    JudgeUnavailableError,
    JudgeUnreachableError,
)
MAX_WAIT = 60.0
_backoff = wait_exponential(multiplier=0.5, max=MAX_WAIT) + wait_random(0, 0.5)


@dataclass(frozen=True)
class RetryPolicy:
    """How often and how long one request is tried.

    Attributes:
        attempts: tries in all, the first included.
        attempt_timeout: seconds for one try.
        budget: seconds for all tries and the waits between them; a wait that would end after
            it is not begun.
        sleep: waits; replaced in tests.
    """

    attempts: int = 4
    attempt_timeout: float = 120.0
    budget: float = 600.0
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


def wait(state: RetryCallState) -> float:
    """Seconds before the next try: what the service asked for, else a growing backoff."""
    error = state.outcome.exception() if state.outcome else None
    if isinstance(error, JudgeError) and error.retry_after is not None:
        return error.retry_after
    return _backoff(state)


async def send_with_retry(
    transport: Transport, request: Request, policy: RetryPolicy
) -> tuple[Reply, int]:
    """Return the reply and the number of tries it took.

    Raises:
        JudgeError: of the last try.
    """
    retrying = AsyncRetrying(
        retry=retry_if_exception_type(RETRIED),
        stop=stop_after_attempt(policy.attempts) | stop_before_delay(policy.budget),
        wait=wait,
        sleep=policy.sleep,
        reraise=True,
    )
    attempts = 0
    ends = time.monotonic() + policy.budget

    async def once() -> Reply:
        nonlocal attempts
        attempts += 1
        seconds = max(0.0, min(policy.attempt_timeout, ends - time.monotonic()))
        try:
            async with asyncio.timeout(seconds) as clock:
                return await transport.send(request)
        except TimeoutError as error:
            if not clock.expired():
                raise
            message = f"no reply within {seconds:.3g} s from {transport.endpoint}"
            raise JudgeTimeoutError(message) from error

    return await retrying(once), attempts
