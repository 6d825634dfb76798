"""Synchronous clients on threads of their own, bounded and timed out.

``concurrent.futures`` does not do here: a thread that hangs keeps its place in the pool for
ever, and the interpreter waits for it at its end. These are daemon threads; a call that is
given up frees its place at once, though its thread may linger.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import functools
import threading
import weakref
from collections.abc import Callable
from typing import Any, TypeVar

from .errors import JudgeTimeoutError

T = TypeVar("T")

MOST = 64
"""Calls at once on one event loop; further ones wait."""
MOST_LINGERING = 64
"""Threads of calls that were given up, in the whole process."""

_places: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = (
    weakref.WeakKeyDictionary()
)
_lingering: set[threading.Thread] = set()
_lock = threading.Lock()


async def in_thread(function: Callable[..., T], *arguments: Any, **named: Any) -> T:
    """Await a synchronous function that runs in a thread, with this context's variables.

    Raises:
        JudgeTimeoutError: too many calls that were given up before are still hanging.

    >>> asyncio.run(in_thread(max, 3, 7))
    7
    """
    loop = asyncio.get_running_loop()
    async with _places.setdefault(loop, asyncio.Semaphore(MOST)):
        with _lock:
            _lingering.difference_update([t for t in _lingering if not t.is_alive()])
            if len(_lingering) >= MOST_LINGERING:
                raise JudgeTimeoutError(
                    f"{len(_lingering)} calls of a synchronous client still hang after they were"
                    " given up: give the client a timeout, or use its asynchronous form"
                )
        future: asyncio.Future[T] = loop.create_future()
        call = functools.partial(contextvars.copy_context().run, function, *arguments, **named)
        thread = threading.Thread(
            target=_run, args=(call, loop, future), name="ragas-judge", daemon=True
        )
        thread.start()
        try:
            return await future
        finally:
            if not future.done() or future.cancelled():
                with _lock:
                    _lingering.add(thread)


def _run(
    call: Callable[[], Any], loop: asyncio.AbstractEventLoop, future: asyncio.Future[Any]
) -> None:
    outcome = _Outcome()
    with outcome:
        outcome.value = call()
    with contextlib.suppress(RuntimeError):  # the loop has ended: nobody waits any more
        loop.call_soon_threadsafe(outcome.give_to, future)


class _Outcome:
    """What a call returned or raised."""

    def __init__(self) -> None:
        self.value: Any = None
        self.error: BaseException | None = None

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        self.error = error
        return True

    def give_to(self, future: asyncio.Future[Any]) -> None:
        if future.done():
            return
        if isinstance(self.error, StopIteration):  # no future takes it
            told = RuntimeError("the function raised StopIteration")
            told.__cause__ = self.error
            future.set_exception(told)
        elif self.error is not None:
            future.set_exception(self.error)
        else:
            future.set_result(self.value)
