"""Tell ragas' callbacks about a row and its calls: ``result.traces`` and tracing tools read them.

A group of ragas' own kind for the metric holds one for each call, begun and ended when the
call is.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, TypeVar

from ..judge.types import Request
from ..judge.watching import WATCHERS, Done

T = TypeVar("T")


async def traced(metric: Any, sample: Any, callbacks: Any, score: Coroutine[Any, Any, T]) -> T:
    """Await ``score`` inside a callback group for the metric, with one group a call."""
    from ragas.callbacks import ChainType, new_group

    inputs = sample.model_dump(include=set(metric.columns), exclude_none=True)
    manager, group = new_group(
        metric.name, inputs=inputs, callbacks=callbacks or [], metadata={"type": ChainType.METRIC}
    )
    token = WATCHERS.set((*WATCHERS.get(), _calls_in(group)))
    ended = False
    try:
        value = await score
        manager.on_chain_end({"output": value})
        ended = True
        return value
    finally:
        WATCHERS.reset(token)
        if not ended:
            manager.on_chain_error(RuntimeError(f"{metric.name} raised"))


def _calls_in(group: Any) -> Callable[[Request, str], AbstractContextManager[Done]]:
    @contextmanager
    def call(request: Request, endpoint: str) -> Iterator[Done]:
        from ragas.callbacks import ChainType, new_group

        step, _ = new_group(
            request.prompt.id if request.prompt else "call",
            inputs={"data": request.key()},
            callbacks=group,
            metadata={"type": ChainType.RAGAS_PROMPT},
        )
        output: list[str] = []
        try:
            yield lambda reply, _: output.append(reply.text)
        finally:
            if output:
                step.on_chain_end({"output": output[0]})
            else:
                step.on_chain_error(RuntimeError(f"{endpoint}: no reply"))

    return call
