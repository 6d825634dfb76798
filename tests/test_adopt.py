"""Whatever ragas.evaluate takes as llm becomes a judge, and stays as it was."""

from __future__ import annotations

import asyncio
import copy
import gc
import json
import os
import ssl
import subprocess
import sys
import threading
import warnings
from collections import defaultdict
from collections.abc import Mapping
from enum import Enum
from types import FunctionType, MethodType, SimpleNamespace
from typing import Any

import httpx
import openai
import pytest

from ragas_judge.judge import Judge, Reply, ReplyState, Request, RetryPolicy, Transport, Usage
from ragas_judge.judge.adopt import adopt, model_name, openai_client
from ragas_judge.judge.errors import (
    JudgeAuthError,
    JudgeError,
    JudgeQuotaError,
    JudgeRateLimitError,
    JudgeRequestError,
    JudgeTimeoutError,
    JudgeUnavailableError,
    JudgeUnreachableError,
    SetupError,
)
from ragas_judge.judge.foreign_errors import translate
from ragas_judge.judge.langchain_transport import LangChainTransport
from ragas_judge.judge.ragas_transport import (
    RagasStructuredTransport,
    RagasTransport,
    raw_reply,
    reply_model,
)
from ragas_judge.judge.service import service_of
from ragas_judge.prompts import Message

os.environ.setdefault("RAGAS_DO_NOT_TRACK", "true")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # ragas and what it imports announce removals
    import instructor
    from instructor.core.exceptions import InstructorRetryException
    from langchain_core.caches import InMemoryCache
    from langchain_core.exceptions import ModelRateLimitError, ModelTimeoutError
    from langchain_core.language_models import FakeListChatModel, FakeListLLM
    from langchain_core.messages import AIMessage
    from langchain_core.outputs import ChatGeneration, Generation, LLMResult
    from langchain_openai import AzureChatOpenAI, ChatOpenAI
    from openai.types.chat import ChatCompletion
    from ragas.cache import CacheInterface
    from ragas.llms import llm_factory
    from ragas.llms.base import (
        BaseRagasLLM,
        InstructorBaseRagasLLM,
        InstructorLLM,
        LangchainLLMWrapper,
    )

# ragas reads the file of its user id without closing it.
pytestmark = pytest.mark.filterwarnings(r"ignore:unclosed file .*uuid\.json:ResourceWarning")

CHAT = [("system", "Our rules."), ("user", "2+2?"), ("assistant", "4"), ("user", "3+3?")]
SCHEMA = {
    "type": "object",
    "properties": {
        "1": {
            "type": "object",
            "properties": {
                "verdict": {"type": "string", "enum": ["yes", "no"]},
                "quotes": {"type": "array", "items": {"type": "string"}},
                "context": {"type": "integer"},
                "useful": {"type": "boolean"},
            },
            "required": ["verdict", "quotes", "context", "useful"],
            "additionalProperties": False,
        }
    },
    "required": ["1"],
    "additionalProperties": False,
}
LIMITS = ("max_tokens", "max_completion_tokens")
ITEM = {"verdict": "yes", "quotes": ["six"], "context": 1, "useful": True}
ANSWER = {"1": ITEM}
STRICT = {
    "type": "json_schema",
    "json_schema": {"name": "reply", "strict": True, "schema": SCHEMA},
}
FOREIGN = {"httpx", "httpx2", "httpcore", "httpcore2", "asyncio", "threading", "_thread", "ssl"}
"""Connection state belongs to the HTTP client, and is not compared."""

MEMOS = {"_serialized"}
"""Values that LangChain computes once and keeps."""


def quiet(make: Any, *args: Any, **kwargs: Any) -> Any:
    """Make an object whose class announces its own removal."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make(*args, **kwargs)


def snapshot(value: Any, depth: int = 8, seen: set[int] | None = None) -> Any:
    """The attributes of an object, and theirs, as plain data that can be compared."""
    seen = set() if seen is None else seen
    if value is None or isinstance(value, str | int | float | bool | bytes | type):
        return value
    modules = {base.__module__.split(".")[0] for base in type(value).__mro__}
    leaf = modules & FOREIGN or isinstance(value, FunctionType | MethodType | Enum)
    if leaf or depth == 0 or id(value) in seen:
        return (type(value), id(value))
    seen.add(id(value))
    if isinstance(value, defaultdict):  # reading one adds empty entries
        value = {name: inner for name, inner in value.items() if inner}
    if isinstance(value, Mapping):
        items = {str(name): inner for name, inner in value.items() if name not in MEMOS}
        return {name: snapshot(inner, depth - 1, seen) for name, inner in items.items()}
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    if isinstance(value, list | tuple):
        return [snapshot(inner, depth - 1, seen) for inner in value]
    names = ("__dict__", "__pydantic_private__", "__pydantic_fields_set__")
    parts = [snapshot(getattr(value, name, None), depth - 1, seen) for name in names]
    return (type(value), id(value), parts)


class Waits:
    """A retry policy that waits no time, and what it would have waited."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.seconds.append(seconds)

    @property
    def policy(self) -> RetryPolicy:
        return RetryPolicy(sleep=self.sleep)


def ask(llm: Any, *, schema: Any = SCHEMA, repetition: int = 0, **settings: Any) -> Reply:
    """One question through a judge adopted from ``llm``, which must not change by it."""
    before = snapshot(llm)
    settings = {"retry": Waits().policy, **settings}
    judge = Judge.of(llm, **settings)
    reply, _ = asyncio.run(judge.ask(judge.request(CHAT, schema=schema, repetition=repetition)))
    assert snapshot(llm) == before
    return reply


def chat_openai(server: Any, **more: Any) -> Any:
    return ChatOpenAI(model="judge-1", base_url=server.url, api_key="none", **more)


def azure_chat(server: Any, **more: Any) -> Any:
    return AzureChatOpenAI(
        azure_deployment="judge-prod",
        azure_endpoint=server.root,
        api_key="none",
        api_version="2024-10-21",
        **more,
    )


def sync_client(server: Any) -> Any:
    return openai.OpenAI(base_url=server.url, api_key="none")


def async_client(server: Any) -> Any:
    return openai.AsyncOpenAI(base_url=server.url, api_key="none")


def azure_client(server: Any) -> Any:
    return openai.AsyncAzureOpenAI(
        azure_endpoint=server.root, api_key="none", api_version="2024-10-21"
    )


@pytest.fixture(autouse=True)
def _no_certificates(monkeypatch: pytest.MonkeyPatch) -> None:
    """All is plain HTTP here, and reading certificates would take most of the time."""
    monkeypatch.setattr(ssl.SSLContext, "load_verify_locations", lambda *args, **kwargs: None)


OPENAI_WAYS = {
    "ChatOpenAI": chat_openai,
    "ChatOpenAI wrapped": lambda server: quiet(LangchainLLMWrapper, chat_openai(server)),
    "AzureChatOpenAI": azure_chat,
    "llm_factory sync": lambda server: llm_factory("judge-1", client=sync_client(server)),
    "llm_factory async": lambda server: llm_factory("judge-1", client=async_client(server)),
    "llm_factory azure": lambda server: llm_factory("judge-1", client=azure_client(server)),
}


@pytest.fixture(params=OPENAI_WAYS)
def way(request: pytest.FixtureRequest) -> Any:
    """Each way to hand over an OpenAI-compatible endpoint."""
    return OPENAI_WAYS[request.param]


# -- OpenAI-compatible endpoints, handed over in any way


def test_request_carries_schema_and_temperature_and_no_defaults_of_others(
    way: Any, fake_openai: Any
) -> None:
    server = fake_openai(lambda body: ANSWER)
    reply = ask(way(server))
    (body,) = server.bodies
    expected = {"messages", "model", "response_format", "temperature"}
    assert set(body) - {"stream"} == expected
    assert not body.get("stream")
    assert body["temperature"] == 0
    assert body["response_format"] == STRICT
    assert [(m["role"], m["content"]) for m in body["messages"]] == CHAT
    assert json.loads(reply.text) == ANSWER
    assert reply.state is ReplyState.COMPLETE
    assert reply.finish == "stop"
    assert reply.usage == Usage(11, 7)
    assert reply.model == "fake-model"
    assert reply.rung == "json_schema"


def test_a_refused_schema_goes_one_rung_down_for_good(way: Any, fake_openai: Any) -> None:
    def answer(body: Any) -> Any:
        if body["response_format"]["type"] == "json_schema":
            return fake_openai.Reply("no such type", status=400, param="response_format")
        return ANSWER

    server = fake_openai(answer)
    llm = way(server)
    before = snapshot(llm)
    judge = Judge.of(llm)

    async def twice() -> list[Reply]:
        request = judge.request(CHAT, schema=SCHEMA)
        return [(await judge.ask(request))[0], (await judge.ask(request))[0]]

    replies = asyncio.run(twice())
    kinds = [body["response_format"]["type"] for body in server.bodies]
    assert kinds == ["json_schema", "json_object", "json_object"]
    assert [reply.rung for reply in replies] == ["json_object", "json_object"]
    assert snapshot(llm) == before


def test_a_refused_temperature_is_left_out_and_told(way: Any, fake_openai: Any) -> None:
    def answer(body: Any) -> Any:
        if "temperature" in body:
            return fake_openai.Reply("not here", status=400, param="temperature")
        return ANSWER

    server = fake_openai(answer)
    assert ask(way(server)).dropped == ("temperature",)
    assert len(server.bodies) == 2


def test_one_policy_retries(way: Any, fake_openai: Any) -> None:
    replies = iter(
        [
            fake_openai.Reply("slow down", status=429, headers={"retry-after": "7"}),
            fake_openai.Reply("oops", status=503),
            fake_openai.Reply(ANSWER),
        ]
    )
    server, waits = fake_openai(lambda body: next(replies)), Waits()
    judge = Judge.of(way(server), retry=waits.policy)
    reply, attempts = asyncio.run(judge.ask(judge.request(CHAT, schema=SCHEMA)))
    assert json.loads(reply.text) == ANSWER
    assert attempts == len(server.bodies) == 3
    assert waits.seconds[0] == 7
    assert len(waits.seconds) == 2


def test_a_reply_cut_at_the_limit_is_kept(way: Any, fake_openai: Any) -> None:
    server = fake_openai(lambda body: fake_openai.Reply('{"1": ', finish="length"))
    reply = ask(way(server))
    assert (reply.state, reply.text) == (ReplyState.LENGTH, '{"1": ')
    assert reply.usage == Usage(11, 7)
    assert len(server.bodies) == 1


@pytest.mark.parametrize("schema", [SCHEMA, None])
def test_a_filtered_reply_is_told(way: Any, fake_openai: Any, schema: Any) -> None:
    server = fake_openai(lambda body: fake_openai.Reply("", finish="content_filter"))
    reply = ask(way(server), schema=schema)
    assert (reply.state, reply.finish) == (ReplyState.FILTERED, "content_filter")


@pytest.mark.parametrize(
    ("status", "code", "expected"),
    [
        (401, None, JudgeAuthError),
        (403, None, JudgeAuthError),
        (404, None, JudgeRequestError),
        (400, None, JudgeRequestError),
        (429, "insufficient_quota", JudgeQuotaError),
    ],
)
def test_errors_that_waiting_does_not_help_are_raised_at_once(
    way: Any, fake_openai: Any, status: int, code: str | None, expected: type[Exception]
) -> None:
    server = fake_openai(lambda body: fake_openai.Reply("my words", status=status, code=code))
    with pytest.raises(expected, match="my words") as caught:
        ask(way(server))
    assert type(caught.value) is expected
    assert caught.value.status == status
    assert len(server.bodies) == 1


def test_no_server_is_unreachable(way: Any, fake_openai: Any) -> None:
    server = fake_openai()
    llm = way(server)
    server.close()
    with pytest.raises(JudgeUnreachableError, match=r"127\.0\.0\.1"):
        ask(llm)


def test_calls_under_way_together_do_not_mix(way: Any, fake_openai: Any) -> None:
    together = threading.Barrier(4, timeout=20)  # the smallest thread pool holds five

    def answer(body: Any) -> Any:
        together.wait()
        return {"temperature": body["temperature"], "asked": body["messages"][-1]["content"]}

    server = fake_openai(answer)
    llm = way(server)
    before = snapshot(llm)
    model, transport, _ = adopt(llm)

    async def one(number: int) -> Reply:
        message = Message("user", f"question {number}")
        schema = SCHEMA if number % 2 else None
        return await transport.send(
            Request(model, (message,), schema, {"temperature": number / 10})
        )

    async def run() -> list[Reply]:
        return await asyncio.gather(*(one(number) for number in range(12)))

    for number, reply in enumerate(asyncio.run(run())):
        asked = {"temperature": number / 10, "asked": f"question {number}"}
        assert json.loads(reply.text) == asked
        assert reply.rung == ("json_schema" if number % 2 else "text")
    assert snapshot(llm) == before


@pytest.mark.parametrize("name", ["ChatOpenAI", "AzureChatOpenAI"])
def test_connections_of_an_ended_event_loop_cost_no_attempt(name: str, fake_openai: Any) -> None:
    server = fake_openai(lambda body: ANSWER, keep_alive=True)
    judge = Judge.of(OPENAI_WAYS[name](server))
    client = judge._live._model.root_async_client

    async def four(*, last: bool) -> list[int]:
        asked = [judge.ask(judge.request(CHAT, schema=SCHEMA)) for _ in range(4)]
        attempts = [attempts for _, attempts in await asyncio.gather(*asked)]
        if last:
            await client.close()
        return attempts

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # of the sockets left behind
        assert asyncio.run(four(last=False)) == [1, 1, 1, 1]
        assert asyncio.run(four(last=True)) == [1, 1, 1, 1]
        gc.collect()


def test_the_connections_of_a_judge_are_closed_and_not_those_of_what_was_handed_over(
    way: Any, fake_openai: Any
) -> None:
    async def use() -> None:
        judge = Judge.of(llm)
        judge.check()
        await judge.ask(judge.request(CHAT, schema=SCHEMA))
        clients = getattr(judge._live, "inner", judge._live)._clients  # type: ignore[attr-defined]
        before = clients.here()
        await judge.aclose()
        if isinstance(before, openai.AsyncOpenAI):
            assert before.is_closed()
        else:
            assert not before.is_closed()  # a synchronous client has its connections itself

    llm = way(fake_openai(lambda body: ANSWER))
    before = snapshot(llm)
    asyncio.run(use())
    assert snapshot(llm) == before


def test_accounts_of_one_address_keep_apart_what_is_known_of_them() -> None:
    def judge(key: str) -> Judge:
        client = openai.AsyncOpenAI(base_url="http://judge.test/v1", api_key=key)
        return Judge.of(llm_factory("judge-1", client=client))

    judges = [judge("key-1"), judge("key-2"), judge("key-2")]
    first, second, again = (service_of(each._live, each.model, each.limits) for each in judges)
    assert second is again
    assert first is not second


def test_azure_deployment_names_the_path(fake_openai: Any) -> None:
    server = fake_openai(lambda body: ANSWER)
    ask(azure_chat(server))
    ask(llm_factory("judge-prod", client=azure_client(server)))
    for seen in server.seen:
        assert seen.path.startswith("/openai/deployments/judge-prod/chat/completions?api-version=")


# -- LangChain models


def test_what_the_user_set_on_chat_openai_is_sent_and_keyed(fake_openai: Any) -> None:
    server = fake_openai(lambda body: ANSWER)
    llm = chat_openai(
        server,
        temperature=0.7,
        max_tokens=50,
        seed=3,
        top_p=0.9,
        stop=["END"],
        extra_body={"top_k": 5},
        model_kwargs={
            "prediction": {"type": "content", "content": "six"},
            "response_format": {"type": "json_object"},
            "extra_headers": {"x-team": "a secret"},
        },
    )
    ask(llm)
    (seen,) = server.seen
    assert seen.body["temperature"] == 0.7
    assert seen.body["max_completion_tokens"] == 50
    assert (seen.body["seed"], seen.body["top_p"], seen.body["top_k"]) == (3, 0.9, 5)
    assert seen.body["stop"] == ["END"]
    assert seen.body["prediction"] == {"type": "content", "content": "six"}
    assert seen.body["response_format"] == STRICT
    assert seen.headers["x-team"] == "a secret"
    _, _, sampling = adopt(llm)
    assert sampling == {
        "temperature": 0.7,
        "max_tokens": 50,
        "seed": 3,
        "top_p": 0.9,
        "stop": ["END"],
        "extra_body": {"top_k": 5},
        "prediction": {"type": "content", "content": "six"},
    }


def test_a_refused_temperature_of_the_users_own_is_left_out_too(fake_openai: Any) -> None:
    def answer(body: Any) -> Any:
        if "temperature" in body:
            message = "Unsupported value: 'temperature' does not support 0.7 with this model."
            return fake_openai.Reply(message, status=400)
        return ANSWER

    server = fake_openai(answer)
    assert ask(chat_openai(server, temperature=0.7)).dropped == ("temperature",)


def test_a_wrapper_told_to_bypass_temperature_sends_none(fake_openai: Any) -> None:
    server = fake_openai(lambda body: ANSWER)
    ask(quiet(LangchainLLMWrapper, chat_openai(server), bypass_temperature=True))
    assert "temperature" not in server.bodies[0]


def test_what_others_write_on_the_shared_model_does_not_leak(fake_openai: Any) -> None:
    server = fake_openai(lambda body: ANSWER)
    llm = chat_openai(server)
    llm.n = 3  # ragas leaves this behind
    judge = Judge.of(llm)
    llm.n, llm.temperature, llm.max_tokens = 5, 0.3, 1
    asyncio.run(judge.ask(judge.request(CHAT)))
    (body,) = server.bodies
    assert body["temperature"] == 0
    assert not {"n", "max_tokens", "max_completion_tokens"} & set(body)


def test_retries_of_the_users_model_stay_as_they_were(fake_openai: Any) -> None:
    llm = chat_openai(fake_openai(), max_retries=5)
    _, transport, _ = adopt(llm)

    async def retries() -> int:
        return int(transport._model_here(cached=True).root_async_client.max_retries)

    assert asyncio.run(retries()) == 0
    assert llm.root_async_client.max_retries == llm.max_retries == 5


def test_a_users_http_client_is_used(fake_openai: Any) -> None:
    server = fake_openai(lambda body: ANSWER)
    paths: list[str] = []

    async def note(request: Any) -> None:
        paths.append(request.url.path)

    client = httpx.AsyncClient(event_hooks={"request": [note]})
    ask(chat_openai(server, http_async_client=client))
    assert paths == ["/v1/chat/completions"]


def test_a_streaming_model_streams(fake_openai: Any) -> None:
    server = fake_openai(lambda body: ANSWER)
    for schema in (SCHEMA, None):
        reply = ask(chat_openai(server, streaming=True, stream_usage=True), schema=schema)
        assert json.loads(reply.text) == ANSWER
        assert (reply.state, reply.usage) == (ReplyState.COMPLETE, Usage(11, 7))
    assert all(body["stream"] for body in server.bodies)


@pytest.mark.parametrize(
    ("finish", "state"), [("stop", ReplyState.COMPLETE), ("length", ReplyState.LENGTH)]
)
def test_the_responses_interface_works_too(
    fake_openai: Any, finish: str, state: ReplyState
) -> None:
    def answer(body: Any) -> Any:
        if body["text"]["format"]["type"] == "json_schema":
            message = "'text.format' of type 'json_schema' is not supported."
            return fake_openai.Reply(message, status=400, param="text.format")
        return fake_openai.Reply(ANSWER, finish=finish)

    server = fake_openai(answer)
    reply = ask(chat_openai(server, use_responses_api=True, max_tokens=50))
    assert json.loads(reply.text) == ANSWER
    assert (reply.state, reply.usage, reply.rung) == (state, Usage(11, 7), "json_object")
    assert server.seen[0].path == "/v1/responses"
    assert server.bodies[0]["max_output_tokens"] == 50


def test_votes_are_not_answered_by_a_cache(fake_openai: Any) -> None:
    server = fake_openai(lambda body: ANSWER)
    llm = chat_openai(server, cache=InMemoryCache())
    judge = Judge.of(llm)

    async def votes() -> None:
        for repetition in (0, 0, 1, 2):
            await judge.ask(judge.request(CHAT, schema=SCHEMA, repetition=repetition))

    asyncio.run(votes())
    assert len(server.bodies) == 3


def test_other_chat_models_get_messages_only() -> None:
    seen: list[dict[str, Any]] = []

    class Model(FakeListChatModel):
        def _call(self, *args: Any, **kwargs: Any) -> str:
            seen.append(kwargs)
            return super()._call(*args, **kwargs)

    reply = ask(Model(responses=["six"], i=0), temperature=0.3)
    assert (reply.text, reply.state, reply.rung) == ("six", ReplyState.COMPLETE, "text")
    assert reply.dropped == ("temperature",)
    assert reply.usage == Usage()
    assert not set(seen[0]) - {"run_manager", "stop"}


def test_old_completion_models_work() -> None:
    assert ask(FakeListLLM(responses=["six"], i=0)).text == "six"


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (TimeoutError("slow"), JudgeTimeoutError),
        (ConnectionResetError("gone"), JudgeUnreachableError),
        (httpx.ConnectError("gone"), JudgeUnreachableError),
        (httpx.ReadTimeout("slow"), JudgeTimeoutError),
        (ModelRateLimitError("busy"), JudgeRateLimitError),
        (ModelTimeoutError("slow"), JudgeTimeoutError),
        (KeyError("a mistake"), KeyError),
        (ValueError("a mistake"), ValueError),
    ],
)
def test_errors_of_other_models(raised: Exception, expected: type[Exception]) -> None:
    class Model(FakeListChatModel):
        def _call(self, *args: Any, **kwargs: Any) -> str:
            raise raised

    _, transport, _ = adopt(Model(responses=["six"]))
    with pytest.raises(expected) as caught:
        asyncio.run(transport.send(Request("any", (Message("user", "hello"),))))
    assert type(caught.value) is expected


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (401, JudgeAuthError),
        (404, JudgeRequestError),
        (408, JudgeUnavailableError),
        (429, JudgeRateLimitError),
        (529, JudgeUnavailableError),
    ],
)
def test_errors_are_told_by_status(status: int, expected: type[Exception]) -> None:
    response = httpx.Response(
        status, headers={"retry-after": "3"}, request=httpx.Request("POST", "http://x/")
    )
    error = translate(
        httpx.HTTPStatusError("so  it\nis", request=response.request, response=response), "x"
    )
    assert type(error) is expected
    assert (error.status, error.retry_after) == (status, 3.0)
    assert str(error) == f"x: HTTP {status}: so it is"


@pytest.mark.parametrize("make", [chat_openai, azure_chat])
@pytest.mark.parametrize("param", ["max_completion_tokens", None])
def test_a_server_that_knows_the_older_name_of_the_limit_only(
    make: Any, param: str | None, fake_openai: Any
) -> None:
    """ChatOpenAI sends ``max_completion_tokens``, whatever it is told."""

    def answer(body: Any) -> Any:
        if "max_completion_tokens" in body:
            words = "Unrecognized request argument supplied: max_completion_tokens"
            return fake_openai.Reply(words, status=400, param=param)
        return ANSWER

    server = fake_openai(answer)
    model = {"model": "m"} if make is azure_chat else {}
    llm = make(server, max_tokens=50, extra_body={"min_p": 0.1}, **model)
    assert ask(llm).dropped == ()
    sent = [{name: body.get(name) for name in LIMITS} for body in server.bodies]
    assert sent == [
        {"max_tokens": None, "max_completion_tokens": 50},
        {"max_tokens": 50, "max_completion_tokens": None},
    ]
    assert server.bodies[-1]["min_p"] == 0.1


def test_a_server_that_knows_no_limit_by_any_name(way: Any, fake_openai: Any) -> None:
    def answer(body: Any) -> Any:
        found = next((name for name in LIMITS if name in body), None)
        return fake_openai.Reply("unsupported", status=400, param=found) if found else ANSWER

    server = fake_openai(answer)
    assert ask(way(server), max_tokens=50).dropped == ("max_tokens",)
    assert len(server.bodies) == 3


@pytest.mark.parametrize(
    "words",
    [
        "body.seed: Extra inputs are not permitted",
        "[{'loc': ['body', 'seed'], 'msg': 'Extra inputs are not permitted'}]",
    ],
)
def test_refused_with_422_is_learnt_too(way: Any, fake_openai: Any, words: str) -> None:
    def answer(body: Any) -> Any:
        return fake_openai.Reply(words, status=422) if "seed" in body else ANSWER

    assert ask(way(fake_openai(answer)), seed=3).dropped == ("seed",)


def test_what_another_judge_had_to_leave_out_is_told_of_it_alone(
    way: Any, fake_openai: Any
) -> None:
    both = "`temperature` and `top_p` cannot both be specified for this model."

    def answer(body: Any) -> Any:
        if "seed" in body:
            return fake_openai.Reply("unknown", status=400, param="seed")
        if {"temperature", "top_p"} <= set(body):
            return fake_openai.Reply(both, status=400, param="temperature")
        return ANSWER

    server = fake_openai(answer)
    llm = way(server)
    first = ask(llm, seed=3, temperature=0.2, extra={"top_p": 0.9})
    assert first.dropped == ("seed", "top_p")
    assert ask(llm).dropped == ()
    assert ask(llm, temperature=None, extra={"top_p": 0.9}).dropped == ()
    assert server.bodies[-1]["top_p"] == 0.9
    assert len(server.bodies) == 5


def test_a_parameter_that_the_sdk_does_not_know_is_sent_all_the_same(
    way: Any, fake_openai: Any
) -> None:
    server = fake_openai(lambda body: ANSWER)
    ask(way(server), extra={"top_k": 5})
    assert server.bodies[0]["top_k"] == 5


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"error": {"message": "my words"}}, JudgeUnavailableError),
        ({"error": {"message": "my words", "code": 429}}, JudgeRateLimitError),
        ({"error": {"message": "my words", "code": "insufficient_quota"}}, JudgeQuotaError),
        ({"choices": None}, JudgeError),
        ({"choices": []}, JudgeError),
        (["my words"], JudgeError),
    ],
)
def test_a_body_of_status_200_that_is_no_reply(
    way: Any, fake_openai: Any, body: Any, expected: type[JudgeError]
) -> None:
    server = fake_openai(lambda _: fake_openai.Reply(body=body))
    model, transport, _ = adopt(way(server))
    with pytest.raises(expected, match=r"^http://127\.0\.0\.1:\d+/.*: "):
        asyncio.run(transport.send(Request(model, (Message("user", "hello"),))))


NO_REPLIES: dict[str, Any] = {
    "choices null": {"choices": None},
    "no choices": {"choices": []},
    "choices an object": {"choices": {"0": 1}},
    "choices of null": {"choices": [None]},
    "choices of text": {"choices": ["x"]},
    "choices a text": {"choices": "x"},
    "no message": {"choices": [{"index": 0, "finish_reason": "stop"}]},
    "message a text": {"choices": [{"message": "hello"}]},
    "content a number": {"choices": [{"message": {"role": "assistant", "content": 5}}]},
    "content a boolean": {"choices": [{"message": {"role": "assistant", "content": True}}]},
    "a list": [1, 2],
    "null": b"null",
    "a text": b'"hi"',
    "not JSON": b"<html>busy</html>",
    "nothing": b"",
    "half": b'{"choices": [',
    "a number of 5000 digits": b'{"choices": [], "created": ' + b"9" * 5000 + b"}",
    "deep": b"[" * 100_000,
    "an error as a text": {"error": "boom"},
}


def send(llm: Any, *, schema: Any = None) -> Reply:
    model, transport, _ = adopt(llm)
    return asyncio.run(transport.send(Request(model, (Message("user", "hello"),), schema)))


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")  # LangChain's own, of the body
@pytest.mark.parametrize("schema", [None, SCHEMA], ids=["plain", "schema"])
@pytest.mark.parametrize("body", NO_REPLIES.values(), ids=NO_REPLIES)
@pytest.mark.parametrize("name", ["ChatOpenAI", "llm_factory async"])
def test_what_is_no_reply_counts_as_unavailable(
    fake_openai: Any, name: str, body: Any, schema: Any
) -> None:
    server = fake_openai(lambda _: fake_openai.Reply(body=body))
    with pytest.raises(JudgeUnavailableError, match=r"^http://127\.0\.0\.1:\d+/v1/?: ") as caught:
        send(OPENAI_WAYS[name](server), schema=schema)
    assert "\n" not in str(caught.value)
    assert len(server.seen) == 1


@pytest.mark.parametrize("schema", [None, SCHEMA], ids=["plain", "schema"])
@pytest.mark.parametrize("name", ["ChatOpenAI", "llm_factory async"])
def test_a_page_of_status_200_counts_as_unavailable(
    fake_openai: Any, name: str, schema: Any
) -> None:
    page, headers = b"<html>gateway busy</html>", {"content-type": "text/html"}
    server = fake_openai(lambda _: fake_openai.Reply(body=page, headers=headers))
    with pytest.raises(JudgeUnavailableError):
        send(OPENAI_WAYS[name](server), schema=schema)


@pytest.mark.parametrize("schema", [None, SCHEMA], ids=["plain", "schema"])
@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("429", JudgeRateLimitError),
        ("invalid_api_key", JudgeAuthError),
        ("insufficient_quota", JudgeQuotaError),
    ],
)
@pytest.mark.parametrize("name", ["ChatOpenAI", "llm_factory async"])
def test_an_error_in_a_reply_is_told_whatever_was_asked_for(
    fake_openai: Any, name: str, code: str, expected: type[JudgeError], schema: Any
) -> None:
    body = {"error": {"message": "my words", "code": code}}
    server = fake_openai(lambda _: fake_openai.Reply(body=body))
    with pytest.raises(expected, match="my words"):
        send(OPENAI_WAYS[name](server), schema=schema)


def body_of(**more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": "{}"}
    choice = {"index": 0, "message": message, "finish_reason": "stop", **more.pop("choice", {})}
    return {"id": "x", "object": "chat.completion", "created": 0, "model": "m",
            "choices": [choice], **more}  # fmt: skip


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 5, "completion_tokens": 0}, Usage(5, 0)),
        ({"prompt_tokens": "5", "completion_tokens": "3"}, Usage()),
        ({"prompt_tokens": 5.0, "completion_tokens": 2.5}, Usage()),
        ({"prompt_tokens": -1, "completion_tokens": 3}, Usage(None, 3)),
        ({"prompt_tokens": True, "completion_tokens": 3}, Usage(None, 3)),
        ({"total_tokens": 8}, Usage()),
        ({}, Usage()),
        (None, Usage()),
    ],
)
@pytest.mark.parametrize("name", ["ChatOpenAI", "llm_factory async"])
def test_tokens_count_only_as_whole_numbers(
    fake_openai: Any, name: str, usage: Any, expected: Usage
) -> None:
    server = fake_openai(lambda _: fake_openai.Reply(body=body_of(usage=usage)))
    assert send(OPENAI_WAYS[name](server)).usage == expected


@pytest.mark.parametrize("usage", ["n/a", [5, 3], {"prompt_tokens": {"all": 5}}])
def test_a_usage_of_another_kind_is_not_known(fake_openai: Any, usage: Any) -> None:
    server = fake_openai(lambda _: fake_openai.Reply(body=body_of(usage=usage)))
    reply = send(OPENAI_WAYS["llm_factory async"](server))
    assert (reply.text, reply.usage) == ("{}", Usage())
    with pytest.raises(JudgeUnavailableError):  # LangChain reads it for itself
        send(chat_openai(server))


@pytest.mark.parametrize(
    ("choice", "text", "finish"),
    [
        ({"finish_reason": 3}, "{}", "3"),
        ({"finish_reason": {"type": "stop"}}, "{}", "{'type': 'stop'}"),
        ({"message": {"role": "assistant", "content": [{"type": "text", "text": None}]}}, "",
         "stop"),
        ({"message": {"role": "assistant", "content": [{"type": "text", "text": "a"}, "b"]}}, "ab",
         "stop"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["ChatOpenAI", "llm_factory async"])
def test_odd_parts_of_a_reply_are_read(
    fake_openai: Any, name: str, choice: Any, text: str, finish: str
) -> None:
    server = fake_openai(lambda _: fake_openai.Reply(body=body_of(choice=choice)))
    reply = send(OPENAI_WAYS[name](server))
    assert (reply.text, reply.finish) == (text, finish)


def test_a_filtered_choice_may_lack_its_message(fake_openai: Any) -> None:
    choice = {"finish_reason": "content_filter", "message": None}
    server = fake_openai(lambda _: fake_openai.Reply(body=body_of(choice=choice)))
    assert send(OPENAI_WAYS["llm_factory async"](server)).state is ReplyState.FILTERED


@pytest.mark.parametrize("param", [5, ["temperature"], {"name": "temperature"}])
def test_the_parameter_that_is_refused_may_be_named_oddly(
    way: Any, fake_openai: Any, param: Any
) -> None:
    server = fake_openai(lambda _: fake_openai.Reply("bad", status=400, param=param))
    with pytest.raises(JudgeRequestError, match="bad"):
        send(way(server))


def test_a_mistake_before_anything_is_sent_is_not_taken_for_a_busy_service(
    fake_openai: Any,
) -> None:
    server = fake_openai()
    with pytest.raises(JudgeRequestError, match="not JSON serializable"):
        send(chat_openai(server, model_kwargs={"user": object()}))
    assert server.seen == []


PLANTED = "planted-4f1d9c7e-key"


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"extra_body": {"api_key": PLANTED}}, "extra_body.api_key"),
        ({"extra_body": {"auth": [{"X-Token": PLANTED}]}}, "extra_body.auth.X-Token"),
        ({"model_kwargs": {"user_api_key": PLANTED}}, "user_api_key"),
    ],
)
def test_a_key_among_the_parameters_of_a_langchain_model_is_refused(
    fake_openai: Any, settings: Any, named: str
) -> None:
    said = rf"ChatOpenAI carries {named}: it would be recorded; give it to the client"
    with pytest.raises(SetupError, match=said) as caught:
        Judge.of(chat_openai(fake_openai(), **settings))
    assert PLANTED not in str(caught.value)


def test_a_key_among_the_arguments_of_llm_factory_is_sent_and_not_recorded() -> None:
    fake = FakeLiteLLM(completion(json.dumps(ANSWER)))
    llm = fake.llm(api_key=PLANTED)
    ask(llm)
    assert fake.calls[0]["api_key"] == PLANTED
    assert PLANTED not in str(adopt(llm)[2])


def test_a_key_in_the_extra_body_of_llm_factory_over_openai_is_refused(fake_openai: Any) -> None:
    client = async_client(fake_openai())
    llm = llm_factory("judge-1", client=client, extra_body={"api_key": PLANTED})
    with pytest.raises(SetupError, match=r"carries extra_body\.api_key"):
        Judge.of(llm)


def test_a_key_of_another_packages_model_is_not_recorded() -> None:
    class Own(FakeListChatModel):
        model_kwargs: dict[str, Any]

    model = Own(responses=["x"], model_kwargs={"hub_token": PLANTED, "top_k": 5})
    assert adopt(model)[2] == {"top_k": 5}


# -- ragas' llm_factory


def test_what_the_user_told_llm_factory_is_sent(fake_openai: Any) -> None:
    server = fake_openai(lambda body: ANSWER)
    llm = llm_factory(
        "judge-1",
        client=async_client(server),
        temperature=0.4,
        max_tokens=4096,
        seed=1,
        max_retries=9,
        extra_headers={"x-team": "a secret"},
        system_prompt="Be brief.",
    )
    ask(llm)
    (seen,) = server.seen
    assert seen.body["temperature"] == 0.4
    assert (seen.body["max_tokens"], seen.body["seed"]) == (4096, 1)
    assert not {"top_p", "max_retries", "system_prompt"} & set(seen.body)
    assert seen.headers["x-team"] == "a secret"
    assert seen.body["messages"][0]["content"] == "Be brief.\n\nOur rules."
    assert [message["role"] for message in seen.body["messages"]].count("system") == 1
    model, _, sampling = adopt(llm)
    assert model == "judge-1"
    expected = {"temperature": 0.4, "max_tokens": 4096, "seed": 1, "system_prompt": "Be brief."}
    assert sampling == expected


def test_the_client_is_found_in_a_closure_too(fake_openai: Any) -> None:
    client = async_client(fake_openai())
    create = instructor.patch(create=client.chat.completions.create, mode=instructor.Mode.JSON)
    by_hand = instructor.AsyncInstructor(client=None, create=create)
    assert openai_client(by_hand) is client
    assert openai_client(instructor.from_openai(client)) is client
    responses = instructor.from_openai(client, mode=instructor.Mode.RESPONSES_TOOLS)
    assert openai_client(responses) is client
    assert openai_client(instructor.from_litellm(lambda **arguments: None)) is None


def completion(content: str, finish: str = "stop") -> Any:
    return ChatCompletion.model_validate(
        {
            "id": "fake",
            "object": "chat.completion",
            "created": 0,
            "model": "claude-fake",
            "choices": [
                {
                    "index": 0,
                    "finish_reason": finish,
                    "message": {"role": "assistant", "content": content},
                }
            ],
            "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7},
        }
    )


class FakeLiteLLM:
    """A completion function as LiteLLM's, behind Instructor and ragas."""

    def __init__(self, answer: Any) -> None:
        self.calls: list[dict[str, Any]] = []
        self.answer = answer

    def completion(self, **arguments: Any) -> Any:
        self.calls.append(arguments)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    async def acompletion(self, **arguments: Any) -> Any:
        return self.completion(**arguments)

    def llm(self, *, synchronous: bool = False, provider: str = "litellm", **more: Any) -> Any:
        function = self.completion if synchronous else self.acompletion
        client = instructor.from_litellm(function, mode=instructor.Mode.JSON)
        return InstructorLLM(client, "claude", provider, **more)


@pytest.mark.parametrize("synchronous", [True, False])
def test_other_structured_models_answer_in_our_schema(synchronous: bool) -> None:
    fake = FakeLiteLLM(completion(json.dumps(ANSWER)))
    reply = ask(fake.llm(synchronous=synchronous, system_prompt="Be brief."))
    assert json.loads(reply.text) == ANSWER
    assert reply.usage == Usage(5, 2)
    assert (reply.model, reply.finish, reply.rung) == ("claude-fake", "stop", "json_schema")
    (call,) = fake.calls
    assert call["temperature"] == 0
    assert not {"top_p", "max_tokens"} & set(call)
    system, user = call["messages"]
    assert system["content"].startswith("Be brief.\n\nOur rules.")
    assert user["content"] == "User: 2+2?\n\nAssistant: 4\n\nUser: 3+3?"


def test_anthropic_keeps_its_length_limit() -> None:
    _, transport, sampling = adopt(FakeLiteLLM(None).llm(provider="anthropic"))
    assert sampling == {"temperature": 0.0, "max_tokens": 1024}
    assert isinstance(transport.inner, RagasStructuredTransport)


def test_an_invalid_structured_reply_costs_one_call_and_is_kept() -> None:
    fake = FakeLiteLLM(completion('```json\n{"1": {"verdict": "Yes"}}\n```'))
    reply = ask(fake.llm())
    assert '"verdict": "Yes"' in reply.text
    assert reply.usage == Usage(5, 2)
    assert len(fake.calls) == 1


def test_a_structured_reply_cut_at_the_limit_is_kept() -> None:
    fake = FakeLiteLLM(completion('{"1": ', finish="length"))
    reply = ask(fake.llm())
    assert (reply.state, reply.text) == (ReplyState.LENGTH, '{"1": ')
    assert len(fake.calls) == 1


def refusal(status: int, message: str) -> Exception:
    response = httpx.Response(status, request=httpx.Request("POST", "http://x/"))
    return httpx.HTTPStatusError(message, request=response.request, response=response)


@pytest.mark.parametrize(
    "refused",
    [
        TypeError("create() got an unexpected keyword argument 'temperature'"),
        refusal(400, "`temperature` is not supported by this model"),
    ],
)
def test_a_parameter_that_a_structured_model_refuses_is_left_out(refused: Exception) -> None:
    class Picky(FakeLiteLLM):
        def completion(self, **arguments: Any) -> Any:
            reply = super().completion(**arguments)
            if "temperature" in arguments:
                raise refused
            return reply

    fake = Picky(completion(json.dumps(ANSWER)))
    reply = ask(fake.llm())
    assert json.loads(reply.text) == ANSWER
    assert reply.dropped == ("temperature",)
    assert len(fake.calls) == 2


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (refusal(401, "no key"), JudgeAuthError),
        (refusal(400, "no such model"), JudgeRequestError),
        (TypeError("a mistake"), InstructorRetryException),
    ],
)
def test_errors_of_structured_models(raised: Exception, expected: type[Exception]) -> None:
    fake = FakeLiteLLM(raised)
    with pytest.raises(expected):
        ask(fake.llm())
    assert len(fake.calls) == 1


def test_errors_of_structured_models_are_told_and_retried_by_one_policy() -> None:
    response = httpx.Response(
        429, headers={"retry-after": "3"}, request=httpx.Request("POST", "http://x/")
    )
    fake = FakeLiteLLM(httpx.HTTPStatusError("busy", request=response.request, response=response))
    waits = Waits()
    with pytest.raises(JudgeRateLimitError, match="busy"):
        ask(fake.llm(), retry=waits.policy)
    # As long as the budget allows: the service has asked to wait.
    assert waits.seconds == [3.0] * (len(fake.calls) - 1)
    budget = RetryPolicy().budget  # the tries themselves take some of it
    assert 0.8 * budget < 3 * len(waits.seconds) < budget


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (None, ("", None, Usage(), None)),
        (
            SimpleNamespace(
                content=[SimpleNamespace(type="tool_use", input=ANSWER)],
                stop_reason="max_tokens",
                usage=SimpleNamespace(input_tokens=5, output_tokens=2),
                model="claude",
            ),
            (json.dumps(ANSWER), "max_tokens", Usage(5, 2), "claude"),
        ),
        (
            SimpleNamespace(content=[SimpleNamespace(type="text", text="{}")]),
            ("{}", None, Usage(), None),
        ),
        (
            SimpleNamespace(
                text="{}",
                candidates=[SimpleNamespace(finish_reason=SimpleNamespace(name="MAX_TOKENS"))],
                usage_metadata=SimpleNamespace(prompt_token_count=5, candidates_token_count=2),
                model_version="gemini",
            ),
            ("{}", "MAX_TOKENS", Usage(5, 2), "gemini"),
        ),
        (
            SimpleNamespace(
                choices=[
                    SimpleNamespace(
                        finish_reason="tool_calls",
                        message=SimpleNamespace(
                            content=None,
                            tool_calls=[SimpleNamespace(function=SimpleNamespace(arguments="{}"))],
                        ),
                    )
                ]
            ),
            ("{}", "tool_calls", Usage(), None),
        ),
    ],
)
def test_raw_replies_of_each_shape_are_read(raw: Any, expected: Any) -> None:
    reply = raw_reply(raw, "text", ())
    assert (reply.text, reply.finish, reply.usage, reply.model) == expected


def test_structured_calls_under_way_together_do_not_mix() -> None:
    started: list[dict[str, Any]] = []

    async def run() -> list[Reply]:
        together = asyncio.Barrier(6)

        async def acompletion(**arguments: Any) -> Any:
            started.append(arguments)
            await together.wait()
            return completion(json.dumps({"text": str(arguments["temperature"])}))

        client = instructor.from_litellm(acompletion, mode=instructor.Mode.JSON)
        llm = InstructorLLM(client, "claude", "litellm")
        before = snapshot(llm)
        _, transport, _ = adopt(llm)
        message = (Message("user", "hello"),)
        requests = [Request("m", message, None, {"temperature": t / 10}) for t in range(6)]
        replies = await asyncio.gather(*map(transport.send, requests))
        assert snapshot(llm) == before
        return list(replies)

    texts = [reply.text for reply in asyncio.run(run())]
    assert texts == [str(number / 10) for number in range(6)]


def test_a_structured_class_of_the_users_own_is_called_as_it_is() -> None:
    class Own(InstructorBaseRagasLLM):
        async def agenerate(self, prompt: str, response_model: Any) -> Any:
            self.prompt = prompt  # its own doing
            return response_model(**{"1": ITEM})

        def generate(self, prompt: str, response_model: Any) -> Any:
            raise AssertionError

    llm = Own()
    judge = Judge.of(llm)
    reply, _ = asyncio.run(judge.ask(judge.request(CHAT, schema=SCHEMA)))
    assert json.loads(reply.text) == ANSWER
    assert llm.prompt.startswith("System: Our rules.\n\nUser: 2+2?")
    assert judge.model == "Own"
    assert judge.sampling == {}


def test_reply_model_refuses_what_our_schemas_do_not_use() -> None:
    schema = {"type": "object", "properties": {"1": {"type": ["string", "null"]}}}
    with pytest.raises(SetupError, match="null"):
        reply_model(json.dumps(schema))


# -- any other ragas model


class OwnLLM(BaseRagasLLM):
    """What a user of ragas writes."""

    def __init__(self, answers: list[Any], cache: Any = None) -> None:
        super().__init__(cache=cache)
        self.answers, self.calls = answers, []
        self.model = "own-1"

    def generate_text(self, *args: Any, **kwargs: Any) -> LLMResult:
        raise AssertionError

    async def agenerate_text(
        self,
        prompt: Any,
        n: int = 1,
        temperature: Any = 0.01,
        stop: Any = None,
        callbacks: Any = None,
    ) -> LLMResult:
        self.calls.append((prompt.to_messages(), n, temperature))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def is_finished(self, response: LLMResult) -> bool:
        return response.generations[0][0].text.endswith("}")


def result(text: str, **info: Any) -> LLMResult:
    generation = Generation(text=text, generation_info=info or None)
    usage = {"prompt_tokens": 4, "completion_tokens": 3}
    return LLMResult(generations=[[generation]], llm_output={"token_usage": usage})


def run_own(*answers: Any, **settings: Any) -> tuple[Reply, OwnLLM]:
    llm = OwnLLM(list(answers))
    judge = Judge.of(llm, retry=Waits().policy, **settings)
    assert isinstance(judge._live, RagasTransport)
    assert judge.model == "own-1"
    return asyncio.run(judge.ask(judge.request(CHAT, schema=SCHEMA)))[0], llm


def test_own_ragas_model() -> None:
    reply, llm = run_own(result("{}", finish_reason="stop"))
    ((messages, n, temperature),) = llm.calls
    assert (n, temperature) == (1, 0.0)
    assert [message.type for message in messages] == ["system", "human", "ai", "human"]
    assert (reply.text, reply.state, reply.usage) == ("{}", ReplyState.COMPLETE, Usage(4, 3))


@pytest.mark.parametrize(
    ("text", "info", "state"),
    [
        ("{}", {"finish_reason": "eos"}, ReplyState.COMPLETE),
        ("{}", {"finish_reason": "MAX_TOKENS"}, ReplyState.LENGTH),
        ("{}", {"stop_reason": "end_turn"}, ReplyState.COMPLETE),
        ("{}", {"finish_reason": "SAFETY"}, ReplyState.FILTERED),
        ("{}", {}, ReplyState.COMPLETE),
        ("{", {}, ReplyState.LENGTH),
        ("", {}, ReplyState.EMPTY),
    ],
)
def test_finish_of_a_ragas_model(text: str, info: Any, state: ReplyState) -> None:
    assert run_own(result(text, **info))[0].state is state


def test_finish_and_usage_in_the_message() -> None:
    message = AIMessage(
        [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "{}"}],
        response_metadata={"stop_reason": "max_tokens", "model_name": "claude-fake"},
        usage_metadata={"input_tokens": 2, "output_tokens": 1, "total_tokens": 3},
    )
    reply, _ = run_own(LLMResult(generations=[[ChatGeneration(message=message)]]))
    assert (reply.text, reply.state) == ("{}", ReplyState.LENGTH)
    assert (reply.usage, reply.model) == (Usage(2, 1), "claude-fake")


def test_a_ragas_model_is_retried_by_one_policy() -> None:
    reply, llm = run_own(TimeoutError("slow"), result("{}"))
    assert reply.text == "{}"
    assert len(llm.calls) == 2


def test_parameters_a_ragas_model_cannot_take_are_told() -> None:
    assert run_own(result("{}"), max_tokens=5)[0].dropped == ("max_tokens",)


def test_votes_are_not_answered_by_ragas_cache() -> None:
    class Memory(CacheInterface):
        def __init__(self) -> None:
            self.kept: dict[str, Any] = {}

        def get(self, key: str) -> Any:
            return self.kept.get(key)

        def set(self, key: str, value: Any) -> None:
            self.kept[key] = value

        def has_key(self, key: str) -> bool:
            return key in self.kept

    llm = OwnLLM([result("{}") for _ in range(3)], cache=Memory())
    judge = Judge.of(llm)

    async def votes() -> None:
        for repetition in (0, 0, 1, 2):
            await judge.ask(judge.request(CHAT, repetition=repetition))

    asyncio.run(votes())
    assert len(llm.calls) == 3


def test_a_wrapper_with_its_own_method_is_called_through_it(fake_openai: Any) -> None:
    class Own(LangchainLLMWrapper):
        async def agenerate_text(self, *args: Any, **kwargs: Any) -> LLMResult:
            return result("its own")

    assert ask(quiet(Own, chat_openai(fake_openai()))).text == "its own"


# -- what is not understood, names, and what is loaded


@pytest.mark.parametrize("llm", [None, "gpt-4.1", object(), ChatOpenAI, quiet])
def test_unknown_objects_are_refused(llm: Any) -> None:
    with pytest.raises(SetupError, match="is not understood: pass a Judge, a LangChain model") as e:
        Judge.of(llm)
    assert type(llm).__qualname__ in str(e.value)
    assert "\n" not in str(e.value)


def test_bound_sampling_parameters_are_part_of_each_request(fake_openai: Any) -> None:
    server = fake_openai(lambda body: ANSWER)
    ask(quiet(LangchainLLMWrapper, chat_openai(server).bind(stop=["END"])))
    assert server.bodies[0]["stop"] == ["END"]


def test_what_is_bound_goes_before_what_the_model_carries(fake_openai: Any) -> None:
    server = fake_openai(lambda body: ANSWER)
    llm = chat_openai(server, temperature=0.7, top_p=0.5).bind(temperature=0.2).bind(seed=3)
    ask(llm)
    sent = server.bodies[0]
    assert (sent["temperature"], sent["top_p"], sent["seed"]) == (0.2, 0.5, 3)
    assert adopt(llm)[2] == {"temperature": 0.2, "top_p": 0.5, "seed": 3}


@pytest.mark.parametrize(
    ("bound", "said"),
    [
        (lambda model: model.bind(tools=[]), "ChatOpenAI comes with tools bound to it"),
        (lambda model: model.bind(stop=object()), "ChatOpenAI comes with stop bound to it"),
        (lambda model: model.with_config(tags=["a"]), "ChatOpenAI comes with config bound to it"),
        (
            lambda model: FakeListChatModel(responses=[]).bind(stop=["END"]),
            "FakeListChatModel comes with stop bound to it",
        ),
    ],
)
def test_what_else_is_bound_is_refused(fake_openai: Any, bound: Any, said: str) -> None:
    with pytest.raises(SetupError, match=said):
        Judge.of(bound(chat_openai(fake_openai())))


def test_a_wrapped_chain_is_refused(fake_openai: Any) -> None:
    model = chat_openai(fake_openai())
    chain = model | (lambda message: message)
    with pytest.raises(SetupError, match=r"around RunnableSequence: it must hold"):
        Judge.of(quiet(LangchainLLMWrapper, chain))


def test_names_of_models(fake_openai: Any) -> None:
    server = fake_openai()
    assert model_name(chat_openai(server)) == "judge-1"
    assert model_name(azure_chat(server)) == "judge-prod"
    assert model_name(azure_chat(server, model="gpt-4o")) == "gpt-4o"
    assert model_name(FakeListChatModel(responses=[])) == "FakeListChatModel"


def test_each_transport_is_one(fake_openai: Any) -> None:
    server = fake_openai()
    llms = [*(make(server) for make in OPENAI_WAYS.values()), OwnLLM([]), FakeLiteLLM(None).llm()]
    for llm in llms:
        _, transport, sampling = adopt(llm)
        assert isinstance(transport, Transport)
        assert transport.endpoint
        assert "none" not in transport.endpoint  # the key
        assert json.loads(json.dumps(sampling)) == sampling


def test_adopt_loads_neither_ragas_nor_langchain() -> None:
    code = """
import sys
from ragas_judge.judge import Judge
from ragas_judge.judge.errors import SetupError
try:
    Judge.of(object())
except SetupError:
    pass
heavy = {"ragas", "langchain_core", "openai", "httpx", "instructor", "numpy"}
print(sorted(heavy & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_snapshot_sees_a_change_deep_inside(fake_openai: Any) -> None:
    llm = quiet(LangchainLLMWrapper, chat_openai(fake_openai()))
    before = snapshot(llm)
    assert snapshot(copy.copy(llm)) != before
    llm.langchain_llm.root_async_client.max_retries = 7
    assert snapshot(llm) != before


def test_transport_alone_takes_a_model(fake_openai: Any) -> None:
    server = fake_openai(lambda body: ANSWER)
    transport = LangChainTransport(chat_openai(server, temperature=0.5))
    asyncio.run(transport.send(Request("judge-1", (Message("user", "hello"),))))
    assert server.bodies[0]["temperature"] == 0.5
    assert transport.endpoint == f"{server.url}/"
