"""The way of one call: cache, budget, turn, tries; and back into the cache."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from .budget import Budget
from .cache import Cache
from .embedders import EmbeddedE5, Embedder, embed_counted, is_named
from .limits import Limits
from .recorded_vectors import RecordedEmbedder
from .recordings import RecordTransport, ReplayTransport
from .retry import RetryPolicy, send_with_retry
from .service import Service, service_of
from .tokens import estimate_chat, estimate_tokens
from .types import Reply, Request, Transport, Usage


@dataclass(frozen=True)
class Line:
    """Everything between a request and its reply. Frozen, and made anew for another setting.

    Attributes:
        transport: what sends; with recordings, what replays or records.
        live: what sends in the end.
    """

    transport: Transport
    live: Transport
    model: str
    retry: RetryPolicy
    limits: Limits
    cache: Cache | None = None
    budget: Budget | None = None
    _services: dict[tuple[str, str], Service] = field(
        default_factory=dict, compare=False, repr=False
    )

    @cached_property
    def service(self) -> Service:
        """The service behind it."""
        return service_of(self.live, self.model, self.limits)

    async def ask(self, request: Request, deadline: float | None = None) -> tuple[Reply, int]:
        """The reply, and the number of tries: 0 when it was in the cache.

        Raises:
            JudgeError, RecordingError, CacheError, BudgetError: there is none.
        """
        if isinstance(self.transport, ReplayTransport):
            return await self.transport.send(request), 1
        if isinstance(self.transport, RecordTransport):
            recorded = self.transport.known(request)
            if recorded is not None:  # nobody is asked: no turn, no budget
                return recorded, 1
        reply, tries = await self._cached(request, deadline)
        if isinstance(self.transport, RecordTransport):
            self.transport.keep(request, reply)
        return reply, tries

    async def _cached(self, request: Request, deadline: float | None) -> tuple[Reply, int]:
        if self.cache is None:
            return await self._send(request, deadline)
        cache, endpoint = self.cache, self.transport.endpoint
        # Two rows that ask the same thing at the same time pay once.
        async with cache.alone(f"{endpoint}\n{request.key()}"):
            known = cache.get(endpoint, request)
            if known is not None:
                return known, 0
            reply, tries = await self._send(request, deadline)
            cache.put(endpoint, request, reply)
            return reply, tries

    async def embed(
        self, embedder: Embedder, texts: Sequence[str], deadline: float | None = None
    ) -> tuple[list[list[float]], Usage | None]:
        """One vector a text, and the tokens it took: None when nobody was asked for them.

        Raises:
            JudgeError, EmbeddingError, CacheError, BudgetError: there are none.
        """
        if isinstance(embedder, RecordedEmbedder):
            recorded = embedder.known(texts)
            if recorded is not None:
                return recorded, None
        if isinstance(embedder, EmbeddedE5):
            return await embedder.embed(texts), None
        endpoint = str(getattr(embedder, "endpoint", ""))
        if self.cache is None or not is_named(embedder):
            return await self._embed(embedder, texts, deadline)
        async with self.cache.alone("\n".join((endpoint, embedder.name, *texts))):
            known = self.cache.get_vectors(endpoint, embedder.name, texts)
            if known is not None:
                return known, None
            vectors, usage = await self._embed(embedder, texts, deadline)
            self.cache.put_vectors(endpoint, embedder.name, texts, vectors)
            return vectors, usage

    async def _send(self, request: Request, deadline: float | None) -> tuple[Reply, int]:
        tokens = estimate_chat(message.content for message in request.messages)
        # What is recorded is counted and cached first: a full disk must not lose it.
        recorded = isinstance(self.transport, RecordTransport)
        transport = self.live if recorded else self.transport

        async def send() -> Reply:
            with self._paid(self.model, tokens) as paid:
                reply = await transport.send(request)
                paid.append(reply.usage)
                return reply

        return await send_with_retry(
            send,
            self.retry,
            self.service,
            endpoint=self.transport.endpoint,
            tokens=tokens,
            deadline=deadline,
        )

    async def _embed(
        self, embedder: Embedder, texts: Sequence[str], deadline: float | None
    ) -> tuple[list[list[float]], Usage]:
        tokens = sum(map(estimate_tokens, texts))

        async def embed() -> tuple[list[list[float]], Usage]:
            with self._paid(embedder.name, tokens) as paid:
                vectors, tokens_taken = await embed_counted(embedder, texts)
                usage = Usage(tokens_taken, None if tokens_taken is None else 0)
                paid.append(usage)
                return vectors, usage

        found, _ = await send_with_retry(
            embed,
            self.retry,
            self._service_of(embedder),
            endpoint=embedder.name,
            tokens=tokens,
            deadline=deadline,
        )
        return found

    def _service_of(self, embedder: Embedder) -> Service:
        """Kept here: between two calls nobody else holds it."""
        key = embedder.name, str(getattr(embedder, "endpoint", ""))
        if key not in self._services:
            self._services[key] = service_of(embedder, embedder.name, Limits())
        return self._services[key]

    @contextmanager
    def _paid(self, model: str, tokens: int) -> Iterator[list[Usage]]:
        """Within the budget: what the call took is put into the list."""
        used: list[Usage] = []
        if self.budget is None:
            yield used
            return
        reservation = self.budget.reserve(model, tokens)
        try:
            yield used
        except asyncio.CancelledError:
            used.append(Usage())  # given up, and perhaps charged: counted as estimated
            raise
        finally:
            self.budget.settle(reservation, used[0] if used else None)

    def __reduce__(self) -> tuple[Any, ...]:
        """Without locks and pace: they belong to this process."""
        return Line, (
            self.transport,
            self.live,
            self.model,
            self.retry,
            self.limits,
            self.cache,
            self.budget,
        )
