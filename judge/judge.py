"""The judge: one model, bound at construction and never changed afterwards.

judge = Judge("gpt-4.1-mini")                                  # key and URL as openai reads them
judge = Judge("qwen", base_url="http://127.0.0.1:8091/v1", api_key="none")
judge = Judge.replay("fixtures/recordings/quickstart")         # model as it was recorded
judge = Judge.of(ChatOpenAI(model="gpt-4.1-mini"))             # whatever ragas.evaluate takes
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any, TypeVar

from ._settings import check_reasks, sampling_of
from .budget import Budget
from .cache import Cache
from .embedders import Embedder, adopt_embedder
from .errors import SetupError
from .items import Answers, Call, Question, ask_items
from .limits import Limits
from .line import Line
from .openai_transport import OpenAITransport
from .recorded_vectors import recorded
from .recordings import RecordingMode, Recordings
from .retry import RetryPolicy
from .spans import embedding_span
from .types import Reply, Request, Transport, Usage, check_transport, close_transport
from .watching import watched

T = TypeVar("T")
DEFAULT_REASKS = 3
"""Further questions about one reply that cannot be used."""


class Judge:
    """Asks one model and accounts for every answer.

    Args:
        model: the model's name, or the deployment's on Azure.
        base_url, api_key: as the openai package reads them when None.
        client: a ready OpenAI or Azure client (synchronous or not) instead of those two.
        transport: any other way to the model, instead of those three.
        recordings: replay or record the replies.
        embeddings: vectors for metrics that need them; see ``adopt_embedder``.
        temperature: 0 unless told otherwise; None sends none.
        max_tokens: length limit of one reply; None sends none.
        seed: sent when set.
        extra: further sampling parameters, sent as they are (also those the SDK does not know).
        concurrency: calls under way at once, at most. None: found out, from a few upwards, by
            following the service's refusals.
        rpm, tpm: requests and tokens a minute, at most.
        max_reasks: further questions when a reply is unusable or incomplete.
        retry: how often and how long one request is tried.
        cache: a ``Cache`` or the path of its file: what was answered once is never paid again.
        budget: a limit in tokens or money.

    Raises:
        SetupError: the settings exclude each other, make no sense, or no model is named.

    >>> import asyncio
    >>> from ragas_judge.judge import Judge, ScriptedTransport
    >>> judge = Judge("scripted", transport=ScriptedTransport(lambda request: "hello"))
    >>> asyncio.run(judge.ask(judge.request([("user", "say hello")])))[0].text
    'hello'
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        client: Any = None,
        transport: Transport | None = None,
        recordings: Recordings | None = None,
        embeddings: Any = None,
        temperature: float | None = 0.0,
        max_tokens: int | None = None,
        seed: int | None = None,
        extra: Mapping[str, Any] | None = None,
        concurrency: int | None = None,
        rpm: float | None = None,
        tpm: float | None = None,
        max_reasks: int = DEFAULT_REASKS,
        retry: RetryPolicy | None = None,
        cache: Cache | str | PathLike[str] | None = None,
        budget: Budget | None = None,
    ) -> None:
        """Bind everything; nothing is connected yet."""
        if not model:
            raise SetupError("a judge needs the name of a model")
        if transport is not None and (base_url or api_key or client is not None):
            raise SetupError("give a transport, or base_url / api_key / client, not both")
        check_reasks(max_reasks)
        if budget is not None:
            budget.check(model)
        live = transport or OpenAITransport(base_url=base_url, api_key=api_key, client=client)
        self._model = model
        self._sampling = sampling_of(temperature, max_tokens, seed, extra or {})
        if recordings is not None:
            recordings.check_judge(model, self._sampling)
        self._live = live
        self._recordings = recordings
        self._embedder = None if embeddings is None else self.recorded(adopt_embedder(embeddings))
        self._max_reasks = max_reasks
        self._line = Line(
            transport=recordings.wrap(live, self._sampling) if recordings else live,
            live=live,
            model=model,
            retry=retry or RetryPolicy(),
            limits=Limits(concurrency, rpm, tpm),
            cache=cache if cache is None or isinstance(cache, Cache) else Cache(cache),
            budget=budget,
        )

    @classmethod
    def of(cls, llm: Any, **settings: Any) -> Judge:
        """The judge behind whatever ``ragas.evaluate(llm=…)`` takes.

        Args:
            llm: a ``Judge``, a LangChain model (wrapped by ragas or not), a model from
                ragas' ``llm_factory``, or any other ``BaseRagasLLM``. It is used as it is:
                none of its attributes is changed.
            settings: as for ``Judge``; without effect on a ``Judge``.

        Raises:
            SetupError: the object is none of these.
        """
        if isinstance(llm, Judge):
            return llm
        if isinstance(inner := getattr(llm, "judge", None), Judge):  # what as_ragas_llm made
            return inner
        from .adopt import adopt

        model, transport, sampling = adopt(llm)
        for name in ("temperature", "max_tokens", "seed"):
            if name in settings:  # said here, so it goes before what the object carries
                sampling[name] = settings.pop(name)
        sampling |= settings.pop("extra", None) or {}
        sampling = {name: value for name, value in sampling.items() if value is not None}
        return cls(model, transport=transport, temperature=None, extra=sampling, **settings)

    @classmethod
    def replay(cls, path: str | PathLike[str], **settings: Any) -> Judge:
        """A judge that answers from recordings alone.

        Model and sampling parameters are those the recordings were made with.

        Args:
            path: a folder of recordings.
            settings: as for ``Judge``.

        Raises:
            SetupError: there are no recordings in the folder.
        """
        recordings = Recordings(path)
        extra = {"temperature": None, "extra": recordings.header.get("sampling", {})}
        return cls(recordings.header["model"], recordings=recordings, **{**extra, **settings})

    @property
    def model(self) -> str:
        """The model's name."""
        return self._model

    @property
    def endpoint(self) -> str:
        """Where requests go."""
        return self._line.transport.endpoint

    @property
    def sampling(self) -> Mapping[str, Any]:
        """A copy of the sampling parameters sent with each request."""
        return dict(self._sampling)

    @property
    def limits(self) -> Limits:
        """The limits set at construction."""
        return self._line.limits

    @property
    def retry(self) -> RetryPolicy:
        """How often and how long one request is tried."""
        return self._line.retry

    @property
    def cache(self) -> Cache | None:
        """The cache, or None."""
        return self._line.cache

    @property
    def budget(self) -> Budget | None:
        """The budget, or None."""
        return self._line.budget

    @property
    def is_replay(self) -> bool:
        """Does it answer from recordings alone?"""
        return self._recordings is not None and self._recordings.mode is RecordingMode.REPLAY

    def completed(self, *, cache: Cache | None = None, budget: Budget | None = None) -> Judge:
        """The same judge with a cache or a budget, where it has none of its own."""
        judge = copy.copy(self)
        judge._line = replace(self._line, cache=self.cache or cache, budget=self.budget or budget)
        if budget is not None and self.budget is None:
            budget.check(self.model)
        return judge

    @property
    def embedder(self) -> Embedder | None:
        """The embedder given at construction, or None."""
        return self._embedder

    @property
    def recordings(self) -> Recordings | None:
        """The recordings given at construction, or None."""
        return self._recordings

    def recorded(self, embedder: Embedder) -> Embedder:
        """An embedder as this judge's recordings have it: replayed, recorded, or as it is."""
        return recorded(embedder, self._recordings)

    def __repr__(self) -> str:
        """Name model and endpoint; no key is shown."""
        return f"Judge({self._model!r}, endpoint={self.endpoint!r})"

    def check(self) -> None:
        """Raise ``SetupError`` now if the first call could only fail (no key)."""
        if not self.is_replay:
            check_transport(self._live)

    def request(
        self,
        messages: Sequence[tuple[str, str]],
        *,
        schema: Mapping[str, Any] | None = None,
        repetition: int = 0,
        **more: Any,
    ) -> Request:
        """Build a request to this model without sending it."""
        from ..prompts import Message

        chat = tuple(Message(*message) for message in messages)
        return Request(self._model, chat, schema, self.sampling, repetition=repetition, **more)

    async def ask(self, request: Request, *, deadline: float | None = None) -> tuple[Reply, int]:
        """The reply to a request, and the number of tries: 0 when it was in the cache.

        Args:
            request: what to ask.
            deadline: moment on ``time.monotonic`` after which no further try is begun.

        Raises:
            JudgeError: the service did not answer.
            RecordingError: in replay, there is no recording.
            BudgetError: the call could exceed the budget; it was not made.
            CacheError: the cache cannot be read or written.
        """
        with watched(request, self.endpoint) as done:
            reply, tries = await self._line.ask(request, deadline)
            done(reply, tries)
            return reply, tries

    async def embed(
        self, embedder: Embedder, texts: Sequence[str], *, deadline: float | None = None
    ) -> tuple[list[list[float]], Usage | None]:
        """One vector a text, with this judge's cache, retries and budget.

        Returns:
            The vectors in order, and the tokens they took: None when nobody had to be asked.

        Raises:
            EmbeddingError: the vectors cannot be compared.
            JudgeError, BudgetError, CacheError: as for ``ask``.
        """
        with embedding_span(embedder.name, str(getattr(embedder, "endpoint", ""))) as done:
            vectors, usage = await self._line.embed(embedder, texts, deadline)
            done(usage or Usage())
            return vectors, usage

    def as_ragas_llm(self) -> Any:
        """This judge as ragas' ``BaseRagasLLM``, for ragas' own metrics."""
        from .as_ragas import ragas_llm

        return ragas_llm(self)

    def as_ragas_embeddings(self, embeddings: Any = None) -> Any:
        """An embedder as ragas' ``BaseRagasEmbeddings``, recorded and cached as by this judge.

        Args:
            embeddings: see ``adopt_embedder``; the judge's own when None, else the embedded one.
        """
        from .as_ragas import ragas_embeddings

        return ragas_embeddings(self, embeddings)

    async def ask_items(
        self,
        question: Question[T],
        answers: Answers[T] | None = None,
        *,
        deadline: float | None = None,
    ) -> Answers[T]:
        """Ask about numbered items until each has exactly one answer.

        Args:
            question: the prompt and its items.
            answers: where to put them; also holds the calls made before an error.
            deadline: as for ``ask``.

        Raises:
            ReplyError: the model's replies stay unusable or incomplete.
            JudgeError, RecordingError, BudgetError, CacheError: as for ``ask``.
        """

        async def once(question: Question[Any], ids: Sequence[str], note: str, reask: int) -> Call:
            request = self._item_request(question, ids, note)
            reply, attempts = await self.ask(request, deadline=deadline)
            return Call(question.prompt.ref, request.key(), reply, attempts, reask)

        into = Answers() if answers is None else answers
        return await ask_items(question, once, self._max_reasks, into)

    def _item_request(self, question: Question[Any], ids: Sequence[str], note: str) -> Request:
        prompt = question.prompt
        items = {item_id: question.items[item_id] for item_id in ids}
        messages = list(prompt.messages({**question.shared, "items": items}))
        if note:
            role, content = messages[-1]
            messages[-1] = type(messages[-1])(role, f"{content}\n\n{note}")
        request = self.request(
            messages,
            schema=prompt.schema(ids) if question.with_schema else None,
            repetition=question.repetition,
            prompt=prompt.ref,
        )
        return replace(request, sampling={**request.sampling, **question.sampling})

    async def aclose(self) -> None:
        """Close the connections opened on the running event loop."""
        await close_transport(self._live)
