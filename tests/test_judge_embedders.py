"""Embedders: every shape a caller may have, recorded like replies."""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import threading
import traceback
import warnings
from contextlib import closing
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import openai
import pytest
from langchain_core.embeddings import Embeddings
from pydantic import SecretStr

from ragas_judge.judge import (
    Cache,
    EmbeddedE5,
    Judge,
    OpenAIEmbedder,
    Recordings,
    ScriptedTransport,
    adopt_embedder,
)
from ragas_judge.judge.errors import (
    CacheError,
    EmbeddingError,
    JudgeAuthError,
    JudgeRateLimitError,
    JudgeUnavailableError,
    JudgeUnreachableError,
    RecordingMissingError,
    SetupError,
)

os.environ.setdefault("RAGAS_DO_NOT_TRACK", "true")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # ragas and what it imports announce removals
    from ragas.embeddings import LangchainEmbeddingsWrapper

if TYPE_CHECKING:
    from pathlib import Path

KEY = "planted-4f1d9c7e-key"
TEXTS = ["one", "three"]
VECTORS = [[3.0, 1.0], [5.0, 1.0]]


def vectors(texts: list[str]) -> list[list[float]]:
    return [[float(len(text)), 1.0] for text in texts]


async def avectors(texts: list[str]) -> list[list[float]]:
    return vectors(texts)


class Modern:
    """As ragas' present embeddings over an asynchronous client."""

    is_async = True
    model = "modern"
    aembed_texts = staticmethod(avectors)
    embed_texts = None


class ModernSync:
    """As ragas' present embeddings over a synchronous client: the async method raises."""

    is_async = False

    async def aembed_texts(self, texts: list[str]) -> list[list[float]]:
        raise TypeError("this client is synchronous")

    embed_texts = staticmethod(vectors)


class Older:
    """As LangChain's embeddings."""

    aembed_documents = staticmethod(avectors)


@pytest.mark.parametrize(
    "embeddings",
    [vectors, avectors, Modern(), ModernSync(), Older(), SimpleNamespace(embed_documents=vectors)],
)
def test_every_shape_gives_one_vector_a_text(embeddings: Any) -> None:
    assert asyncio.run(adopt_embedder(embeddings).embed(TEXTS)) == VECTORS


def test_langchain_embeddings_work() -> None:
    from langchain_core.embeddings import DeterministicFakeEmbedding

    found = asyncio.run(adopt_embedder(DeterministicFakeEmbedding(size=4)).embed(TEXTS))
    assert [len(vector) for vector in found] == [4, 4]


def test_an_embedder_is_taken_as_it_is() -> None:
    embedder = EmbeddedE5()
    assert adopt_embedder(embedder) is embedder


def test_anything_else_is_refused() -> None:
    with pytest.raises(SetupError, match="embeddings of type int are not understood"):
        adopt_embedder(3)


@pytest.mark.parametrize("bad", [[[1.0]], [[1.0], [1.0, 2.0]], [[], []]])
def test_vectors_of_the_wrong_form_are_an_error(bad: list[list[float]]) -> None:
    with pytest.raises(EmbeddingError):
        asyncio.run(adopt_embedder(lambda texts: bad).embed(TEXTS))


def test_the_embedded_embedder_needs_no_network_and_knows_both_languages() -> None:
    near, same, far = asyncio.run(
        EmbeddedE5().embed(
            ["When does the ferry sail?", "渡轮什么时候开船？", "Who paints fences?"]
        )
    )
    assert len(near) == 384

    def dot(a: list[float], b: list[float]) -> float:
        return sum(x * y for x, y in zip(a, b, strict=True))

    assert dot(near, near) == pytest.approx(1.0, abs=1e-3)
    assert dot(near, same) > dot(near, far)


def test_an_openai_endpoint_is_asked_once_a_batch(fake_openai: Any) -> None:
    server = fake_openai(lambda body: "")
    embedder = OpenAIEmbedder("e", base_url=server.url, api_key="none")
    found = asyncio.run(embedder.embed(TEXTS))
    assert len(found) == 2
    assert [body["input"] for body in server.bodies] == [TEXTS]


def test_many_texts_go_in_batches_and_come_back_in_order(fake_openai: Any) -> None:
    server = fake_openai()
    embedder = OpenAIEmbedder("e", base_url=server.url, api_key="none", batch_size=2)
    texts = ["a", "bb", "ccc", "dddd", "eeeee"]
    found, tokens = asyncio.run(embedder.embed_counted(texts))
    assert sorted(body["input"] for body in server.bodies) == [texts[:2], texts[2:4], texts[4:]]
    assert [sum(vector) for vector in found] == [9.0, 10.0, 11.0, 12.0, 13.0]
    assert tokens == 5  # the server counts one a text


def test_no_text_costs_no_call(fake_openai: Any) -> None:
    server = fake_openai()
    embedder = OpenAIEmbedder("e", base_url=server.url, api_key="none")
    assert asyncio.run(embedder.embed_counted([])) == ([], 0)
    assert server.seen == []


def test_a_batch_size_below_one_is_refused() -> None:
    with pytest.raises(SetupError, match="batch_size is at least 1, not 0"):
        OpenAIEmbedder("e", api_key="none", batch_size=0)


def test_an_embedder_without_a_key_is_told() -> None:
    with pytest.raises(SetupError, match="no API key"):
        asyncio.run(OpenAIEmbedder("e").embed(["x"]))


def answered_by(answer: Any, monkeypatch: pytest.MonkeyPatch) -> OpenAIEmbedder:
    """An embedder whose requests never leave the process: ``answer`` makes the responses."""
    bases = openai.DefaultAsyncHttpxClient.__mro__
    client = next(base for base in bases if base.__name__ == "AsyncClient")
    http = importlib.import_module(client.__module__.split(".")[0])  # of httpx's two, the SDK's

    def respond(request: Any) -> Any:
        status, content = answer(json.loads(request.content)["input"])
        text = content if isinstance(content, str) else json.dumps(content)
        headers = {"content-type": "application/json"}
        return http.Response(status, headers=headers, content=text.encode())

    embedder = OpenAIEmbedder("e", base_url="http://judge.test/v1", api_key=KEY, batch_size=1)
    transport = http.MockTransport(respond)
    new = openai.AsyncOpenAI(
        base_url="http://judge.test/v1",
        api_key=KEY,
        max_retries=0,
        http_client=openai.DefaultAsyncHttpxClient(transport=transport),
    )
    monkeypatch.setattr(embedder._clients, "new", lambda: new)
    return embedder


def listed(vector: Any, **more: Any) -> dict[str, Any]:
    return {"object": "list", "model": "e", "data": [{"embedding": vector, **more}]}


def test_a_service_that_counts_no_tokens_and_numbers_no_vectors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    embedder = answered_by(lambda texts: (200, listed([1.0, 2.0])), monkeypatch)
    assert asyncio.run(embedder.embed_counted(["x"])) == ([[1.0, 2.0]], None)


@pytest.mark.parametrize(
    ("status", "content", "expected"),
    [
        (401, {"error": {"message": f"no such key: {KEY}"}}, JudgeAuthError),
        (429, {"error": {"message": "slow down"}}, JudgeRateLimitError),
        (500, f"Authorization: Bearer {KEY}", JudgeUnavailableError),
        (200, {"error": {"message": f"key {KEY} is being looked up"}}, JudgeUnavailableError),
        (200, "no JSON", JudgeUnavailableError),
        (200, listed(None, index=0), EmbeddingError),
        (200, listed(["a"], index=0), EmbeddingError),
        (200, {"data": []}, EmbeddingError),
        (200, [[1.0]], EmbeddingError),
    ],
)
def test_what_goes_wrong_at_the_service_is_told_without_the_key(
    status: int, content: Any, expected: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[list[str]] = []

    def answer(texts: list[str]) -> tuple[int, Any]:
        calls.append(texts)
        return status, content

    with pytest.raises(expected) as caught:
        asyncio.run(answered_by(answer, monkeypatch).embed(["x"]))
    assert type(caught.value) is expected
    assert KEY not in "".join(traceback.format_exception(caught.value))
    assert len(calls) == 1  # retries are the judge's matter


def test_when_one_batch_fails_the_others_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    async def embed(texts: list[str]) -> Any:
        if texts == ["bad"]:
            raise JudgeUnavailableError("down")
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(texts)

    async def scenario() -> None:
        with pytest.raises(JudgeUnavailableError):
            await embedder.embed(["good", "bad"])
        await asyncio.sleep(0)
        assert ended == [["good"]]

    ended: list[list[str]] = []
    embedder = OpenAIEmbedder("e", api_key="none", batch_size=1)
    monkeypatch.setattr(embedder, "_embed", embed)
    asyncio.run(scenario())


def test_what_goes_wrong_in_a_function_is_told_without_the_key() -> None:
    class Client:
        def __init__(self) -> None:
            self.openai_api_key = SecretStr(KEY)

        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            raise ConnectionError(f"refused for {KEY}")

    with pytest.raises(JudgeUnreachableError, match=r"Client: refused for \*\*\*") as caught:
        asyncio.run(adopt_embedder(Client()).embed(["x"]))
    assert KEY not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("wrapped", [False, True])
def test_embeddings_that_langchain_makes_asynchronous_run_in_a_thread_of_ours(
    wrapped: bool,
) -> None:
    seen: list[str] = []

    class Plain(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            seen.append(threading.current_thread().name)
            return vectors(texts)

        def embed_query(self, text: str) -> list[float]:
            return vectors([text])[0]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # ragas announces the end of its wrapper
        embeddings = LangchainEmbeddingsWrapper(Plain()) if wrapped else Plain()
    assert asyncio.run(adopt_embedder(embeddings).embed(TEXTS)) == VECTORS
    assert seen == ["ragas-judge"]


def judge(path: Path, mode: str, embeddings: Any) -> Judge:
    return Judge(
        "m",
        transport=ScriptedTransport(lambda _: ""),
        recordings=Recordings(path, mode),
        embeddings=embeddings,
    )


def test_vectors_are_recorded_and_replayed(tmp_path: Path) -> None:
    writer = judge(tmp_path, "missing", vectors)
    assert writer.recordings is not None
    writer.recordings.describe(model="m", sampling={})
    assert writer.embedder is not None
    assert asyncio.run(writer.embedder.embed(TEXTS)) == VECTORS

    def never(texts: list[str]) -> list[list[float]]:
        raise AssertionError("replay must not compute")

    never.__module__, never.__qualname__ = vectors.__module__, vectors.__qualname__
    reader = judge(tmp_path, "replay", never)
    assert reader.embedder is not None
    assert asyncio.run(reader.embedder.embed(TEXTS)) == VECTORS
    with pytest.raises(RecordingMissingError, match="no recorded vectors"):
        asyncio.run(reader.embedder.embed(["other"]))


def test_the_vectors_of_a_lambda_are_not_recorded(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="a function of a module"):
        judge(tmp_path, "missing", lambda texts: VECTORS)


def embed_with(cache: Cache, embeddings: Any) -> list[list[float]]:
    one = Judge("m", transport=ScriptedTransport(lambda _: ""), cache=cache, embeddings=embeddings)
    assert one.embedder is not None
    return asyncio.run(asyncio.wait_for(one.embed(one.embedder, TEXTS), 30))[0]


def test_functions_without_a_name_of_their_own_share_no_cached_vectors(tmp_path: Path) -> None:
    with closing(Cache(tmp_path / "c")) as cache:
        for number in (1.0, 2.0):
            assert embed_with(cache, lambda texts, n=number: [[n] for _ in texts])[0] == [number]


@pytest.mark.parametrize("wrapped", [False, True])
def test_embeddings_made_for_ragas_are_embedded_by_what_they_were_made_of(
    tmp_path: Path, wrapped: bool
) -> None:
    from ragas.embeddings import LangchainEmbeddingsWrapper

    maker = Judge("m", transport=ScriptedTransport(lambda _: ""))
    made = maker.as_ragas_embeddings(vectors)
    with closing(Cache(tmp_path / "c")) as cache:
        assert embed_with(cache, LangchainEmbeddingsWrapper(made) if wrapped else made) == VECTORS
        assert len(cache) == 1


def test_damaged_vectors_in_a_cache_are_told(tmp_path: Path) -> None:
    with closing(Cache(tmp_path / "c")) as cache:
        embed_with(cache, vectors)
        with cache._connection() as connection:
            connection.execute("UPDATE vectors SET vectors = '[[1], []]'")
        with pytest.raises(CacheError, match="holds a damaged batch of vectors"):
            embed_with(cache, vectors)
