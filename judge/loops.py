"""A thin synchronous door to the asynchronous core, without patching any event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from typing import Any, TypeVar

T = TypeVar("T")

HELD_UP: ContextVar[bool] = ContextVar("HELD_UP", default=False)
"""Does an event loop stand still until this work is done? Then it must wait for nobody: those
ahead of it may be on that very loop."""


def run_sync(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end and return its result.

    Where a loop is running already (a notebook, a web server), the coroutine runs on a loop
    of its own in another thread while this one waits.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)

    def run() -> T:
        HELD_UP.set(True)
        return asyncio.run(coroutine)

    with ThreadPoolExecutor(1, thread_name_prefix="ragas-judge") as pool:
        return pool.submit(copy_context().run, run).result()
