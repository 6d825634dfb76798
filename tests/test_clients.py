"""Clients and their connections: one for each event loop, and none kept after it."""

from __future__ import annotations

import asyncio
import copy
import gc
import weakref
from collections.abc import Callable
from typing import Any

import openai
import pytest

from ragas_judge.judge import Judge, OpenAIEmbedder, Reply, Request, ScriptedTransport
from ragas_judge.judge._openai_clients import CallersClients, OwnClients, PerLoop
from ragas_judge.judge.errors import SetupError
from ragas_judge.judge.system_prompt import SystemPromptTransport

URL = "http://judge.test/v1"


def own() -> PerLoop:
    return OwnClients(base_url=URL, api_key="none")


def callers() -> PerLoop:
    return CallersClients(openai.AsyncOpenAI(base_url=URL, api_key="none"))


both = pytest.mark.parametrize("make", [own, callers])


@both
def test_a_loop_that_has_ended_is_not_kept_and_neither_is_its_client(
    make: Callable[[], PerLoop],
) -> None:
    async def use() -> None:
        client = clients.here()
        assert clients.here() is client
        kept.extend((weakref.ref(asyncio.get_running_loop()), weakref.ref(client)))

    clients, kept = make(), list[Any]()
    for _ in range(5):
        asyncio.run(use())
    gc.collect()
    assert [each() for each in kept] == [None] * 10


@both
def test_a_client_is_closed_with_its_loop(make: Callable[[], PerLoop]) -> None:
    async def use() -> Any:
        return clients.here()

    clients = make()
    assert asyncio.run(use()).is_closed()


@both
def test_a_client_that_was_closed_is_not_used_again(make: Callable[[], PerLoop]) -> None:
    async def use() -> None:
        first = clients.here()
        await clients.aclose()
        assert first.is_closed()
        await clients.aclose()  # nothing is open
        second = clients.here()
        gc.collect()
        await asyncio.sleep(0)
        assert clients.here() is second
        assert not second.is_closed()

    clients = make()
    asyncio.run(use())


@both
def test_a_client_is_closed_when_nobody_keeps_it(make: Callable[[], PerLoop]) -> None:
    async def use() -> None:
        clients = make()
        client = clients.here()
        del clients
        for _ in range(3):  # the loop is told, makes a task of it, and runs that
            await asyncio.sleep(0)
        assert client.is_closed()

    asyncio.run(use())


@both
def test_a_copy_has_connections_of_its_own(make: Callable[[], PerLoop]) -> None:
    async def use() -> None:
        client = clients.here()
        assert copy.copy(clients).here() is not client
        assert clients.here() is client

    clients = make()
    asyncio.run(use())


@pytest.mark.parametrize(
    "client",
    [
        openai.OpenAI(base_url=URL, api_key="none"),
        openai.AsyncOpenAI(
            base_url=URL, api_key="none", http_client=openai.DefaultAsyncHttpxClient()
        ),
    ],
    ids=["synchronous", "with an HTTP client of its own"],
)
def test_a_callers_own_connections_are_left_open(client: Any) -> None:
    async def use() -> None:
        assert clients.here()._client is client._client
        await clients.aclose()

    clients = CallersClients(client)
    asyncio.run(use())
    assert not client.is_closed()


def test_where_a_client_is_given_the_environment_is_not_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "no address at all")
    client = openai.AsyncOpenAI(base_url=URL, api_key="none")
    judge = Judge("m", client=client)
    judge.check()
    assert judge.endpoint == f"{URL}/"
    with pytest.raises(SetupError, match="base_url is not an address"):
        Judge("m")


def test_a_missing_key_is_told_by_check() -> None:
    with pytest.raises(SetupError, match="no API key"):
        Judge("m", base_url=URL).check()


def test_accounts_are_told_apart_without_showing_a_key() -> None:
    first, second = (Judge("m", base_url=URL, api_key=key) for key in ("key-1", "key-2"))
    assert first._live.account != second._live.account  # type: ignore[attr-defined]
    assert OpenAIEmbedder("e", base_url=URL, api_key="key-1").account == (
        first._live.account  # type: ignore[attr-defined]
    )
    assert repr(own()) == f"OwnClients({URL!r})"
    assert repr(callers()) == f"CallersClients({URL + '/'!r})"


class Inner:
    """A transport that can be checked and closed."""

    endpoint = URL
    account = 7

    def __init__(self) -> None:
        self.closed = 0

    async def send(self, request: Request) -> Reply:
        raise AssertionError("nothing is sent")

    def check(self) -> None:
        raise SetupError("no key")

    async def aclose(self) -> None:
        self.closed += 1


@pytest.mark.parametrize("wrap", [lambda inner: inner, SystemPromptTransport])
def test_a_transport_of_any_kind_is_checked_and_closed(wrap: Callable[[Any], Any]) -> None:
    inner = Inner()
    judge = Judge("m", transport=wrap(inner))
    with pytest.raises(SetupError, match="no key"):
        judge.check()
    asyncio.run(judge.aclose())
    assert inner.closed == 1
    assert wrap(inner).account == 7


def test_a_transport_need_not_be_checked_or_closed() -> None:
    transport = SystemPromptTransport(ScriptedTransport(lambda request: "hello"))
    judge = Judge("m", transport=transport)
    judge.check()
    asyncio.run(judge.aclose())
    assert transport.account is None
