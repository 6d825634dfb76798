"""Parameters that a service refuses: learnt from the refusal, once for all judges of a model."""

from __future__ import annotations

import asyncio
from typing import Any

import openai
import pytest
from langchain_openai import ChatOpenAI

from ragas_judge.judge import Judge, Reply

UNSUPPORTED = "Unsupported parameter: '{0}' is not supported with this model."
RENAMED = f"{UNSUPPORTED} Use 'max_completion_tokens' instead."
DEFAULT_ONLY = "Unsupported value: 'temperature' does not support 0. Only the default is supported."
BOTH = "`temperature` and `top_p` cannot both be specified for this model. Please use only one."
SCHEMA = {"type": "object", "properties": {"1": {"type": "string"}}, "required": ["1"]}


def ask(judge: Judge) -> Reply:
    request = judge.request([("user", "x")], schema=SCHEMA)
    return asyncio.run(judge.ask(request))[0]


def by_url(url: str, name: str, **settings: Any) -> Judge:
    return Judge(name, base_url=url, api_key="none", **settings)


def by_langchain(url: str, name: str, **settings: Any) -> Judge:
    model = ChatOpenAI(model=name, base_url=url, api_key="none")  # type: ignore[arg-type]
    return Judge.of(model, **settings)


def by_azure(url: str, name: str, **settings: Any) -> Judge:
    client = openai.AsyncAzureOpenAI(
        azure_endpoint=url.removesuffix("/v1"), api_key="none", api_version="2024-10-21"
    )
    return Judge(name, client=client, **settings)


@pytest.mark.parametrize("make", [by_url, by_langchain, by_azure])
def test_a_reasoning_model_under_any_name(fault_server: Any, make: Any) -> None:
    refuse = {"max_tokens": RENAMED.format("max_tokens"), "temperature": DEFAULT_ONLY}
    server = fault_server(refuse=refuse, keep_bodies=True)
    reply = ask(make(server.url, "judge-prod", max_tokens=50, temperature=0.0, seed=3))
    sent = server.stats.bodies[-1]
    assert not {"max_tokens", "temperature"} & set(sent)
    assert (sent["max_completion_tokens"], sent["seed"]) == (50, 3)
    assert reply.dropped == ("temperature",)
    before = len(server.stats.bodies)
    ask(make(server.url, "judge-prod", max_tokens=50, temperature=0.0))
    assert len(server.stats.bodies) == before + 1  # another judge knows it already
    ask(make(server.url, "another", max_tokens=50, temperature=0.0))
    assert len(server.stats.bodies) > before + 2  # another model may take it


@pytest.mark.parametrize("make", [by_url, by_langchain])
def test_of_two_that_exclude_each_other_the_temperature_stays(fault_server: Any, make: Any) -> None:
    server = fault_server(refuse={"temperature+top_p": BOTH}, keep_bodies=True)
    reply = ask(make(server.url, "claude", temperature=0.2, extra={"top_p": 0.9}))
    assert server.stats.bodies[-1]["temperature"] == 0.2
    assert "top_p" not in server.stats.bodies[-1]
    assert reply.dropped == ("top_p",)


def test_a_server_without_schemas_is_asked_in_words(fault_server: Any) -> None:
    refuse = {"response_format": "response_format is not supported by this model"}
    server = fault_server(refuse=refuse, keep_bodies=True)
    assert ask(by_url(server.url, "small")).rung == "text"
    assert ["response_format" in body for body in server.stats.bodies] == [True, True, False]
    assert ask(by_url(server.url, "small")).rung == "text"
    assert len(server.stats.bodies) == 4
