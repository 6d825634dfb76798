"""A judge and an embedder that answer at once, out of nothing, and count what that would take."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ..judge import Reply, Request, Usage
from ..judge.tokens import estimate_chat, estimate_tokens
from .typical import typical_reply

SCHEMA_OVERHEAD = 9
"""Tokens around a schema."""
NOT_COUNTED = ("required", "additionalProperties", "$schema")
"""Keys of a schema that OpenAI does not charge for (openai-cookbook, issue 2140)."""


class EstimatingTransport:
    """Answers each request at once with a typical reply, and estimates what that would take.

    Attributes:
        calls, input, schema, output: how many requests there were, and their tokens.

    >>> import asyncio
    >>> transport = EstimatingTransport()
    >>> asyncio.run(transport.send(Request("any", ()))).text
    'as much text as a short sentence has'
    >>> transport.calls, transport.output
    (1, 9)
    """

    endpoint = "nowhere: a forecast"

    def __init__(self) -> None:
        """Nothing was asked yet."""
        self.calls = self.input = self.schema = self.output = 0

    async def send(self, request: Request) -> Reply:
        """A reply of the usual size."""
        text = typical_reply(request)
        schema = 0 if request.schema is None else schema_tokens(request.schema)
        sent = estimate_chat(message.content for message in request.messages) + schema
        received = estimate_tokens(text)
        self.calls += 1
        self.input += sent
        self.schema += schema
        self.output += received
        return Reply(text=text, finish="stop", usage=Usage(sent, received))


class CountingEmbedder:
    """Stands in for an embedder: counts what it would be asked, every vector the same."""

    def __init__(self, name: str) -> None:
        """Nothing was asked yet."""
        self.name = name
        self.calls = self.tokens = 0

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector a text."""
        self.calls += 1
        self.tokens += sum(map(estimate_tokens, texts))
        return [[1.0, 0.0] for _ in texts]


def schema_tokens(schema: Mapping[str, Any]) -> int:
    """About how many tokens OpenAI counts for a reply's schema: it depends on the service.

    >>> schema_tokens({"type": "object", "properties": {}, "required": []})
    18
    """

    def counted(part: Any) -> Any:
        if isinstance(part, Mapping):
            return {k: counted(value) for k, value in part.items() if k not in NOT_COUNTED}
        return [counted(each) for each in part] if isinstance(part, list | tuple) else part

    text = json.dumps(counted(schema), ensure_ascii=False, separators=(",", ":"))
    return estimate_tokens(text) + SCHEMA_OVERHEAD
