"""Calls of many metrics at once over one shared model: each leaves with its own parameters."""

from __future__ import annotations

import asyncio
import json
import random
from dataclasses import dataclass, field
from typing import Any

import httpx
import openai
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_openai import ChatOpenAI

from ragas_judge.judge import Judge, Request, RetryPolicy


@dataclass
class Server:
    """Answers in an order of its own and keeps what it was asked."""

    seed: int
    bodies: dict[str, dict[str, Any]] = field(default_factory=dict)

    async def __call__(self, request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content)
        mark = body["messages"][-1]["content"]
        assert mark not in self.bodies, "asked twice"
        self.bodies[mark] = body
        for _ in range(random.Random(f"{self.seed} {mark}").randrange(8)):
            await asyncio.sleep(0)
        count = body.get("n") or 1
        choice = {"message": {"role": "assistant", "content": mark}, "finish_reason": "stop"}
        choices = [{"index": index, **choice} for index in range(count)]
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        head = {"id": "x", "object": "chat.completion", "created": 0, "model": "m"}
        return httpx.Response(200, json={**head, "choices": choices, "usage": usage})


def over_langchain(server: Server) -> Any:
    client = httpx.AsyncClient(transport=httpx.MockTransport(server))
    return ChatOpenAI(
        model="m", api_key="none", temperature=0.7, n=3, seed=1, http_async_client=client
    )


def over_openai(server: Server) -> Any:
    client = httpx.AsyncClient(transport=httpx.MockTransport(server))
    return openai.AsyncOpenAI(api_key="none", http_client=client)


@dataclass(frozen=True)
class Wanted:
    """One call of some metric: who asks, with what."""

    judge: int
    ids: int
    with_schema: bool
    repetition: int


CALLS = st.lists(
    st.builds(Wanted, st.integers(0, 2), st.integers(1, 4), st.booleans(), st.integers(0, 2)),
    min_size=2,
    max_size=25,
)
TEMPERATURES = (0.0, 0.3, 1.0)
ONCE = RetryPolicy(attempts=1, patience=None)
FEW = settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow], deadline=None)


def judges_of(model: Any) -> list[Judge]:
    if isinstance(model, openai.AsyncOpenAI):
        return [Judge("m", client=model, temperature=t, seed=5, retry=ONCE) for t in TEMPERATURES]
    return [Judge.of(model, temperature=t, seed=5, retry=ONCE) for t in TEMPERATURES]


def request_of(judges: list[Judge], number: int, call: Wanted) -> Request:
    properties = {str(item): {"type": "string"} for item in range(1, call.ids + 1)}
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return judges[call.judge].request(
        [("system", "rules"), ("user", f"call {number}")],
        schema=schema if call.with_schema else None,
        repetition=call.repetition,
    )


def check(model: Any, server: Server, calls: list[Wanted]) -> None:
    judges = judges_of(model)
    requests = [request_of(judges, number, call) for number, call in enumerate(calls)]

    async def ask() -> list[str]:
        asked = (
            judges[call.judge].ask(request) for call, request in zip(calls, requests, strict=True)
        )
        return [reply.text for reply, _ in await asyncio.gather(*asked)]

    assert asyncio.run(ask()) == [f"call {number}" for number in range(len(calls))]
    for number, (call, request) in enumerate(zip(calls, requests, strict=True)):
        body = server.bodies[f"call {number}"]
        assert body["temperature"] == TEMPERATURES[call.judge]
        assert body.get("n") in (None, 1)
        assert body["seed"] == 5
        sent = body.get("response_format", {}).get("json_schema", {}).get("schema")
        assert sent == request.schema
        assert len(body["messages"]) == 2


@FEW
@given(CALLS, st.integers(0, 99))
def test_over_one_langchain_model_that_is_left_as_it_was(calls: list[Wanted], seed: int) -> None:
    server = Server(seed)
    model = over_langchain(server)
    before = model.model_dump(exclude={"client", "async_client", "root_async_client"})
    check(model, server, calls)
    after = model.model_dump(exclude={"client", "async_client", "root_async_client"})
    assert (model.temperature, model.n, model.seed) == (0.7, 3, 1)
    assert after == before


@FEW
@given(CALLS, st.integers(0, 99))
def test_over_one_openai_client(calls: list[Wanted], seed: int) -> None:
    server = Server(seed)
    check(over_openai(server), server, calls)
