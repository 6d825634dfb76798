"""The judge: one model, bound at construction and never changed afterwards.

judge = Judge("gpt-4.1-mini")                                  # key and URL as openai reads them
judge = Judge("qwen", base_url="http://127.0.0.1:8091/v1", api_key="none")
judge = Judge.replay("fixtures/recordings/quickstart")         # model as it was recorded
judge = Judge.of(ChatOpenAI(model="gpt-4.1-mini"))             # whatever ragas.evaluate takes
"""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from os import PathLike
from typing import Any, TypeVar

from .embedders import Embedder, adopt_embedder
from .errors import SetupError
from .items import Answers, Call, Question, ask_items
from .openai_transport import OpenAITransport
from .recorded_vectors import recorded
from .recordings import RecordingMode, Recordings
from .retry import RetryPolicy, send_with_retry
from .types import Reply, Request, Transport

T = TypeVar("T")
DEFAULT_CONCURRENCY = 8
DEFAULT_REASKS = 3
OWN = {"model", "messages", "stream", "response_format", "n"}
"""Parameters that are never the caller's."""


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
        concurrency: calls under way at once.
        max_reasks: further questions when a reply is unusable or incomplete.
        retry: how often and how long one request is tried.

    Raises:
        SetupError: the settings exclude each other, or no model is named.

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
        concurrency: int = DEFAULT_CONCURRENCY,
        max_reasks: int = DEFAULT_REASKS,
        retry: RetryPolicy | None = None,
    ) -> None:
        """Bind everything; nothing is connected yet."""
        if not model:
            raise SetupError("a judge needs the name of a model")
        if transport is not None and (base_url or api_key or client is not None):
            raise SetupError("give a transport, or base_url / api_key / client, not both")
        if concurrency < 1 or max_reasks < 0:
            raise SetupError("concurrency must be at least 1 and max_reasks at least 0")
        taken = sorted(OWN & set(extra or {}))
        if taken:
            raise SetupError(f"extra= cannot hold {', '.join(taken)}: the judge sets them itself")
        live = transport or OpenAITransport(base_url=base_url, api_key=api_key, client=client)
        sampling = {"temperature": temperature, "max_tokens": max_tokens, "seed": seed}
        self._model = model
        self._sampling = {
            **{name: value for name, value in sampling.items() if value is not None},
            **(extra or {}),
        }
        self._live = live
        self._transport = recordings.wrap(live) if recordings else live
        self._recordings = recordings
        self._embedder = None if embeddings is None else self.recorded(adopt_embedder(embeddings))
        self._max_reasks = max_reasks
        self._retry = retry or RetryPolicy()
        self._concurrency = concurrency
        self._gates: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = (
            weakref.WeakKeyDictionary()
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
        return self._transport.endpoint

    @property
    def sampling(self) -> Mapping[str, Any]:
        """A copy of the sampling parameters sent with each request."""
        return dict(self._sampling)

    @property
    def concurrency(self) -> int:
        """Calls under way at once, at most."""
        return self._concurrency

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

    def __getstate__(self) -> dict[str, Any]:
        """Without gates: they belong to event loops of this process."""
        return {**self.__dict__, "_gates": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _gates=weakref.WeakKeyDictionary())

    def check(self) -> None:
        """Raise ``SetupError`` now if the first call could only fail (no key)."""
        if self._recordings and self._recordings.mode is RecordingMode.REPLAY:
            return
        if isinstance(self._live, OpenAITransport):
            self._live.check()

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

    async def ask(self, request: Request) -> tuple[Reply, int]:
        """Send a request, with retries; the reply and the number of tries.

        Raises:
            JudgeError: the service did not answer.
            RecordingError: in replay, there is no recording.
        """
        async with self._gate():
            return await send_with_retry(self._transport, request, self._retry)

    async def ask_items(
        self, question: Question[T], answers: Answers[T] | None = None
    ) -> Answers[T]:
        """Ask about numbered items until each has exactly one answer.

        Args:
            question: the prompt and its items.
            answers: where to put them; also holds the calls made before an error.

        Raises:
            ReplyError: the model's replies stay unusable or incomplete.
            JudgeError, RecordingError: as for ``ask``.
        """
        into = Answers() if answers is None else answers
        return await ask_items(question, self._once, self._max_reasks, into)

    async def _once(
        self, question: Question[Any], ids: Sequence[str], note: str, reask: int
    ) -> Call:
        prompt = question.prompt
        items = {item_id: question.items[item_id] for item_id in ids}
        messages = list(prompt.messages({**question.shared, "items": items}))
        if note:
            role, content = messages[-1]
            messages[-1] = type(messages[-1])(role, f"{content}\n\n{note}")
        request = self.request(
            messages,
            schema=prompt.schema(ids),
            repetition=question.repetition,
            prompt=prompt.ref,
        )
        reply, attempts = await self.ask(request)
        return Call(prompt.ref, request.key(), reply, attempts, reask)

    def _gate(self) -> AbstractAsyncContextManager[Any]:
        """Limits the calls under way; one gate an event loop."""
        loop = asyncio.get_running_loop()
        return self._gates.setdefault(loop, asyncio.Semaphore(self._concurrency))

    async def aclose(self) -> None:
        """Close the connections opened on the running event loop."""
        if isinstance(self._live, OpenAITransport):
            await self._live.aclose()
