"""Tell ragas' callbacks about a row: ``result.traces`` and tracing tools read them."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def traced(metric: Any, sample: Any, callbacks: Any, score: Coroutine[Any, Any, T]) -> T:
    """Await ``score`` inside a callback group for the metric, with one group a call."""
    from ragas.callbacks import ChainType, new_group

    inputs = sample.model_dump(include=set(metric.columns), exclude_none=True)
    manager, group = new_group(
        metric.name, inputs=inputs, callbacks=callbacks or [], metadata={"type": ChainType.METRIC}
    )
    ended = False
    try:
        value = await score
        for call in getattr(getattr(value, "evidence", None), "calls", ()):
            step, _ = new_group(
                call.prompt.id,
                inputs={"data": call.key},
                callbacks=group,
                metadata={"type": ChainType.RAGAS_PROMPT},
            )
            step.on_chain_end({"output": call.reply.text})
        manager.on_chain_end({"output": value})
        ended = True
        return value
    finally:
        if not ended:
            manager.on_chain_error(RuntimeError(f"{metric.name} raised"))
