"""Embedders: every shape a caller may have, recorded like replies."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from ragas_judge.judge import (
    EmbeddedE5,
    Judge,
    OpenAIEmbedder,
    Recordings,
    ScriptedTransport,
    adopt_embedder,
)
from ragas_judge.judge.errors import EmbeddingError, RecordingMissingError, SetupError

if TYPE_CHECKING:
    from pathlib import Path

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
    with pytest.raises(SetupError, match="a function with a name"):
        judge(tmp_path, "missing", lambda texts: VECTORS)
