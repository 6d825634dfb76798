"""Who wants to know of each call: the log, OpenTelemetry, and whoever asks.

A watcher is entered before a call and left after it; it is told the reply, where one came. The
callbacks of ragas are one (``metrics/tracing.py``), put here for the row that is being scored.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar

from .spans import call_span
from .types import Reply, Request

Done = Callable[[Reply, int], None]
"""(reply, number of tries) once the reply is there."""
Watcher = Callable[[Request, str], AbstractContextManager[Done]]
"""(request, endpoint) -> a context around the call."""

WATCHERS: ContextVar[tuple[Watcher, ...]] = ContextVar("WATCHERS", default=())

log = logging.getLogger("ragas_judge")


@contextmanager
def watched(request: Request, endpoint: str) -> Iterator[Done]:
    """Let every watcher see a call."""
    with ExitStack() as stack:
        told = [
            stack.enter_context(watcher(request, endpoint))
            for watcher in (logged, call_span, *WATCHERS.get())
        ]

        def done(reply: Reply, tries: int) -> None:
            for tell in told:
                tell(reply, tries)

        yield done


@contextmanager
def logged(request: Request, endpoint: str) -> Iterator[Done]:
    """One line a call at DEBUG: no text of the request or the reply is in it."""
    began = time.monotonic()
    prompt = request.prompt.id if request.prompt else "-"

    def done(reply: Reply, tries: int) -> None:
        log.debug(
            "%s %s %s: %s after %d tries and %.2f s, %s tokens in, %s out",
            endpoint,
            request.model,
            prompt,
            reply.state,
            tries,
            time.monotonic() - began,
            reply.usage.input,
            reply.usage.output,
        )

    yield done
