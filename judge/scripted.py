"""A judge that answers from a function: for tests, in this project and in yours."""

from __future__ import annotations

import inspect
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from .types import Reply, ReplyState, Request

Answer = Reply | str | Mapping[str, Any]


class ScriptedTransport:
    """Answers each request with what ``answer(request)`` returns.

    Args:
        answer: a function, plain or async. A mapping it returns is sent as JSON text, a
            string as it is, a ``Reply`` untouched; an exception it raises is raised.

    Attributes:
        requests: every request seen, in order.

    >>> import asyncio
    >>> from ragas_judge.judge.types import Request
    >>> transport = ScriptedTransport(lambda request: {"1": "yes"})
    >>> asyncio.run(transport.send(Request("any", ()))).text
    '{"1": "yes"}'
    """

    def __init__(self, answer: Callable[[Request], Answer | Awaitable[Answer]]) -> None:
        """Keep the function."""
        self.endpoint = "scripted"
        self.requests: list[Request] = []
        self._answer = answer

    async def send(self, request: Request) -> Reply:
        """Answer one request."""
        self.requests.append(request)
        answer = self._answer(request)
        if inspect.isawaitable(answer):
            answer = await answer
        if isinstance(answer, Reply):
            return answer
        text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
        state = ReplyState.COMPLETE if text.strip() else ReplyState.EMPTY
        return Reply(text=text, state=state, finish="stop")
