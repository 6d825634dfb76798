"""A thin synchronous door to the asynchronous core, without patching any event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


def run_sync(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end and return its result.

    Where a loop is running already (a notebook, a web server), the coroutine runs on a loop
    of its own in another thread while this one waits.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    with ThreadPoolExecutor(1, thread_name_prefix="ragas-judge") as pool:
        return pool.submit(asyncio.run, coroutine).result()
