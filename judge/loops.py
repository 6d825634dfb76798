"""A thin synchronous door to the asynchronous core, without patching any event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import ContextVar, copy_context
from typing import Any, TypeVar

T = TypeVar("T")

HELD_UP: ContextVar[tuple[asyncio.AbstractEventLoop, ...]] = ContextVar("HELD_UP", default=())
"""Event loops that stand still until this work is done: it must not wait for calls on them."""


async def together(works: Iterable[Awaitable[T]]) -> list[T]:
    """The results in order, all worked at at once; after one has failed the others are given up.

    Unlike a ``TaskGroup`` it raises the first error as it is, not a group of errors.
    """
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()


def run_sync(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end and return its result.

    Where a loop is running already (a notebook, a web server), the coroutine runs on a loop
    of its own in another thread while this one waits.
    """
    try:
        standing = asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)

    inside: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]] = []

    async def work() -> T:
        inside.append((asyncio.get_running_loop(), asyncio.current_task()))  # type: ignore[arg-type]
        return await coroutine

    def run() -> T:
        HELD_UP.set((*HELD_UP.get(), standing))
        return asyncio.run(work())

    with ThreadPoolExecutor(1, thread_name_prefix="ragas-judge") as pool:
        result = pool.submit(copy_context().run, run)
        try:
            return result.result()
        except KeyboardInterrupt as interrupt:
            with suppress(RuntimeError):  # it has ended by itself
                for loop, task in inside:
                    loop.call_soon_threadsafe(task.cancel)
            interrupt.__context__ = result.exception()  # its notes, as from ``asyncio.run``
            raise
