"""A key is planted wherever one can be given, and then looked for in all that is shown or kept."""

from __future__ import annotations

import asyncio
import base64
import logging
import ssl
import traceback
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.language_models import SimpleChatModel
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from ragas_judge.judge import Judge, OpenAIEmbedder, Recordings, RetryPolicy
from ragas_judge.judge._secrets import SHORTEST, keys_of, redact
from ragas_judge.judge.errors import EvaluatorError, SetupError
from ragas_judge.metrics import Faithfulness
from ragas_judge.runs import evaluate
from ragas_judge.runs.cli import main

KEY = "planted-4f1d9c7e-key"
TAIL = "4f1d9c7e-key"
ROW = {
    "user_input": "Which wood?",
    "response": "The hull is larch.",
    "retrieved_contexts": ["The hull is larch."],
}


@pytest.fixture(autouse=True)
def _no_certificates(monkeypatch: pytest.MonkeyPatch) -> None:
    """All is plain HTTP here, and reading them would take most of the time."""
    monkeypatch.setattr(ssl.SSLContext, "load_verify_locations", lambda *args, **kwargs: None)


def of_argument(url: str) -> Judge:
    return Judge("m", base_url=url, api_key=KEY, retry=RetryPolicy(attempts=1))


def of_environment(url: str) -> Judge:
    return Judge("m", base_url=url, retry=RetryPolicy(attempts=1))


def of_client(url: str) -> Judge:
    client = openai.AsyncOpenAI(base_url=url, api_key=KEY, default_headers={"x-key": KEY})
    return Judge("m", client=client, retry=RetryPolicy(attempts=1))


def of_synchronous_client(url: str) -> Judge:
    client = openai.OpenAI(base_url=url, api_key=KEY)
    return Judge("m", client=client, retry=RetryPolicy(attempts=1))


def of_azure(url: str) -> Judge:
    client = openai.AsyncAzureOpenAI(
        azure_endpoint=url.removesuffix("/v1"), api_key=KEY, api_version="2024-10-21"
    )
    return Judge("m", client=client, retry=RetryPolicy(attempts=1))


def of_langchain(url: str) -> Judge:
    model = ChatOpenAI(model="m", base_url=url, api_key=KEY)  # type: ignore[arg-type]
    return Judge.of(model, retry=RetryPolicy(attempts=1))


def of_url(url: str) -> Judge:
    planted = url.replace("//", f"//me:{KEY}@")
    return Judge("m", base_url=planted, api_key="none", retry=RetryPolicy(attempts=1))


def of_query(url: str) -> Judge:
    client = openai.AsyncOpenAI(base_url=url, api_key="none", default_query={"the-key": KEY})
    return Judge("m", client=client, retry=RetryPolicy(attempts=1))


def of_header(url: str) -> Judge:
    headers = {"x-gateway-authorization": f"Bearer {KEY}"}
    client = openai.AsyncOpenAI(base_url=url, api_key="none", default_headers=headers)
    return Judge("m", client=client, retry=RetryPolicy(attempts=1))


async def fetched_key() -> str:
    return KEY


def of_function(url: str) -> Judge:
    client = openai.AsyncOpenAI(base_url=url, api_key=fetched_key)
    return Judge("m", client=client, retry=RetryPolicy(attempts=1))


def of_langchain_function(url: str) -> Judge:
    model = ChatOpenAI(model="m", base_url=url, api_key=fetched_key)
    return Judge.of(model, retry=RetryPolicy(attempts=1))


def of_azure_token(url: str) -> Judge:
    client = openai.AsyncAzureOpenAI(
        azure_endpoint=url.removesuffix("/v1"), azure_ad_token=KEY, api_version="2024-10-21"
    )
    return Judge("m", client=client, retry=RetryPolicy(attempts=1))


def of_own_client(url: str, **given: Any) -> Judge:
    client = openai.AsyncOpenAI(base_url=url, api_key="none", **given)
    return Judge("m", client=client, retry=RetryPolicy(attempts=1))


def of_cookie(url: str) -> Judge:
    return of_own_client(url, default_headers={"Cookie": f"a=b; session={KEY}"})


def of_a_query_of_any_name(url: str) -> Judge:
    return of_own_client(url, default_query={"code": KEY})


def of_own_http_headers(url: str) -> Judge:
    return of_own_client(url, http_client=httpx.AsyncClient(headers={"x-gateway": KEY}))


def of_own_http_cookies(url: str) -> Judge:
    return of_own_client(url, http_client=httpx.AsyncClient(cookies={"session": KEY}))


def of_langchain_headers(url: str) -> Judge:
    more = {"model_kwargs": {"extra_headers": {"x-gateway": KEY}}}
    model = ChatOpenAI(model="m", base_url=url, api_key="none", **more)  # type: ignore[arg-type]
    return Judge.of(model, retry=RetryPolicy(attempts=1))


WAYS = [
    of_argument,
    of_cookie,
    of_a_query_of_any_name,
    of_own_http_headers,
    of_own_http_cookies,
    of_langchain_headers,
    of_environment,
    of_client,
    of_synchronous_client,
    of_azure,
    of_azure_token,
    of_langchain,
    of_langchain_function,
    of_url,
    of_query,
    of_header,
    of_function,
]


def whole(error: BaseException) -> str:
    """Everything a traceback would print, and what a log would."""
    return "".join(traceback.format_exception(error)) + repr(error) + str(error.args)


def shows(text: str) -> bool:
    return KEY in text or TAIL in text


@pytest.mark.parametrize("status", [200, 400, 401, 429, 500])
@pytest.mark.parametrize("make", WAYS)
def test_a_service_that_echoes_the_key(
    fake_openai: Any,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    scripted: Any,
    make: Any,
    status: int,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    caplog.set_level(logging.DEBUG, logger="ragas_judge")
    said = (
        f"Incorrect API key provided: {KEY}. (Authorization: Bearer {KEY}), ends in {TAIL};"
        " temperature is not supported"  # so that it is logged, too, as something to be learnt
    )
    body = {"error": {"message": said}} if status == 200 else None
    judge = make(fake_openai(lambda _: fake_openai.Reply(said, status=status, body=body)).url)
    policy = RetryPolicy(attempts=1, budget=9, sleep=scripted.no_sleep)
    judge = Judge("m", transport=judge._live, retry=policy)
    with pytest.raises(EvaluatorError) as caught:
        asyncio.run(judge.ask(judge.request([("user", "x")])))
    outcome = asyncio.run(Faithfulness(judge).explain(ROW))
    seen = [
        whole(caught.value),
        repr(judge),
        repr(judge._live),
        outcome.reason,
        whole(outcome.error),
        str(outcome.evidence.to_dict()),
        caplog.text,
    ]
    assert [text for text in seen if shows(text)] == []
    assert "***" in str(caught.value)
    assert ("is refused and will be" in caplog.text) is (status == 400)


@pytest.mark.parametrize("make", WAYS)
def test_no_file_holds_the_key(
    fake_openai: Any,
    scripted: Any,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    make: Any,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)

    def answer(body: dict[str, Any]) -> Any:
        properties = body["response_format"]["json_schema"]["schema"]["properties"]
        if "verdict" in str(properties):
            return {key: {"verdict": "not_found", "context": 0, "quote": ""} for key in properties}
        return {key: ["The hull is larch."] for key in properties}

    live = make(fake_openai(answer).url)._live
    recordings = Recordings(tmp_path / "recordings", mode="missing")
    judge = Judge("m", transport=live, recordings=recordings, cache=tmp_path / "cache.sqlite")
    evaluate([ROW], ["faithfulness"], judge, out=tmp_path / "run")
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert {"cache.sqlite", "manifest.json", "evidence.jsonl"} <= {file.name for file in files}
    found = [file.name for file in files if shows(file.read_bytes().decode("latin-1"))]
    assert found == []


def test_the_command_line_shows_no_key(
    fake_openai: Any,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    server = fake_openai(lambda body: fake_openai.Reply(f"no key {KEY}", status=401))
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"question": "q", "answer": "It is so.", "contexts": ["c"]}\n', "utf-8")
    live = ("--model", "m", "--base-url", server.url, "--api-key-env", "MY_KEY", "--debug")
    out = ("--metrics", "faithfulness", "--out", str(tmp_path / "run"))
    assert main(["evaluate", str(rows), *live, *out]) == 3
    shown = capsys.readouterr()
    assert not shows(shown.out + shown.err)


class OwnChat(SimpleChatModel):
    """A model of a package that we do not know."""

    its_own_api_key: SecretStr = SecretStr(KEY)

    def _call(self, *arguments: Any, **named: Any) -> str:
        raise ConnectionError(f"refused with key {KEY}")

    @property
    def _llm_type(self) -> str:
        return "own"


def test_a_model_of_another_package_shows_no_key() -> None:
    judge = Judge.of(OwnChat(), retry=RetryPolicy(attempts=1))
    with pytest.raises(EvaluatorError, match=r"refused with key \*\*\*") as caught:
        asyncio.run(judge.ask(judge.request([("user", "x")])))
    assert not shows(whole(caught.value) + repr(judge) + repr(judge._live))


def test_an_embedder_shows_no_key() -> None:
    embedder = OpenAIEmbedder("e", base_url=f"http://me:{KEY}@127.0.0.1:9/v1", api_key=KEY)
    with pytest.raises(EvaluatorError) as caught:
        asyncio.run(embedder.embed(["x"]))
    assert not shows(repr(embedder) + repr(embedder._clients) + whole(caught.value))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Missing bearer or basic authentication", "Missing bearer or basic authentication"),
        ("a bearer token is needed", "a bearer token is needed"),
        ("Bearer tokenabc123", "Bearer ***"),
        ("Incorrect: sk-proj-abcd*****wxyz.", "Incorrect: ***"),
        ("token eyJhbGciOiJI.eyJzdWIi.c2lnbmF0dXJl refused", "token *** refused"),
        ("sk-learn, task-oriented", "sk-learn, task-oriented"),
    ],
)
def test_what_looks_like_a_key_is_told_from_words(text: str, expected: str) -> None:
    assert redact(text) == expected


def test_a_key_is_found_as_an_address_would_write_it() -> None:
    assert redact("/v1?key=a%2Fb%2Bc%3Ddefgh&x=1", ["a/b+c=defgh"]) == "/v1?key=***&x=1"


def test_keys_are_found_wherever_a_client_keeps_them() -> None:
    inner = SimpleNamespace(
        api_key="key-of-the-client",
        base_url="http://me:key-of-the-address@judge.test/v1?code=key-of-the-query",
        _custom_headers={"authorization": "Bearer key-of-a-header", "accept": "application/json"},
        timeout=3,
    )
    model = SimpleNamespace(client=inner, hidden=SecretStr("key-that-is-hidden"), max_tokens=9)
    found = set(keys_of(SimpleNamespace(llm=model)))
    assert found - {""} == {
        "key-of-the-client",
        "key-of-the-address",
        base64.b64encode(b"me:key-of-the-address").decode(),
        "key-of-the-query",
        "key-of-a-header",
        "key-that-is-hidden",
    }
    assert keys_of(None) == []


def test_a_password_is_found_as_it_is_sent() -> None:
    sent = base64.b64encode(f"me:{KEY}".encode()).decode()
    client = openai.AsyncOpenAI(base_url=f"http://me:{KEY}@judge.test/v1", api_key="none")
    assert sent in keys_of(client)
    http = httpx.AsyncClient(auth=httpx.BasicAuth("me", KEY))
    client = openai.AsyncOpenAI(base_url="http://judge.test/v1", api_key="none", http_client=http)
    assert sent in keys_of(client)


def test_what_every_client_sends_is_no_key() -> None:
    http = httpx.AsyncClient(params={"api-version": "v"})
    client = openai.AsyncOpenAI(base_url="http://judge.test/v1", api_key="k", http_client=http)
    assert {found for found in keys_of(client) if len(found) >= SHORTEST} == set()


@pytest.mark.parametrize("name", ["api_key", "extra_headers", "extra_query", "timeout"])
def test_what_belongs_to_the_client_cannot_become_part_of_a_request(name: str) -> None:
    with pytest.raises(SetupError, match="it would be recorded; pass a client="):
        Judge("m", api_key=KEY, extra={name: {"Authorization": KEY}})


@pytest.mark.parametrize(
    ("extra", "named"),
    [
        ({"extra_body": {"api_key": KEY}}, r"extra_body\.api_key"),
        ({"metadata": {"token": KEY}}, r"metadata\.token"),
        ({"extra_body": {"deep": [{"Authorization": [KEY]}]}}, r"extra_body\.deep\.Authorization"),
        ({"user_key": KEY}, "user_key"),
    ],
)
def test_what_is_named_like_a_key_cannot_become_part_of_a_request(extra: Any, named: str) -> None:
    with pytest.raises(
        SetupError, match=rf"{named}: it would be recorded; pass a client="
    ) as caught:
        Judge("m", api_key=KEY, extra=extra)
    assert not shows(str(caught.value))


def test_parameters_that_only_look_like_a_key_are_sent() -> None:
    schema = {"properties": {"key": {"type": "string"}}}
    extra = {"prompt_cache_key": "a", "max_tokens": 9, "metadata": {"token": None}, "tools": schema}
    extra |= {"extra_body": {"eos_token": "<end>", "stop_token_ids": [1], "keyword": "x"}}
    assert Judge("m", api_key=KEY, extra=extra).sampling == {"temperature": 0.0, **extra}


@given(
    st.text(min_size=8, max_size=40, alphabet=st.characters(min_codepoint=33, max_codepoint=126)),
    st.text(),
    st.integers(8, 40),
)
def test_no_part_of_eight_characters_is_left(secret: str, text: str, length: int) -> None:
    shown = redact(f"{text} {secret} {secret[:length]}… …{secret[-length:]}", [secret])
    if secret[:8] not in text and "*" not in secret:
        assert secret[:8] not in shown.removeprefix(text)


@pytest.mark.parametrize(
    "url", ["http://[::1", "http://host:port/v1", "localhost:8000/v1", "ftp://x"]
)
@pytest.mark.parametrize("make", [Judge, OpenAIEmbedder])
def test_an_address_that_is_none_is_told_at_once_and_not_shown(make: Any, url: str) -> None:
    with pytest.raises(SetupError, match="base_url is not an address such as") as caught:
        make("m", base_url=f"{url}?key={KEY}", api_key=KEY)
    assert not shows(whole(caught.value))


async def fetched_accent() -> str:
    return f"{KEY} é"


CLIENTS: dict[str, Any] = {
    "async": openai.AsyncOpenAI,
    "sync": openai.OpenAI,
    "langchain": lambda **given: ChatOpenAI(model="m", **given),
}


@pytest.mark.parametrize("key", [f"{KEY}\n", f"{KEY} é", fetched_accent])
@pytest.mark.parametrize("name", CLIENTS)
def test_a_key_of_a_callers_client_that_cannot_be_sent_is_told_and_not_shown(
    name: str, key: Any
) -> None:
    if name == "sync" and callable(key):
        key = f"{KEY} é".strip  # fetched by a plain function
    client = CLIENTS[name](base_url="http://127.0.0.1:9/v1", api_key=key)
    with pytest.raises(SetupError, match="no key can hold") as caught:
        judge = Judge.of(client) if name == "langchain" else Judge("m", client=client)
        asyncio.run(judge.ask(judge.request([("user", "x")])))
    assert not shows(whole(caught.value))


@pytest.mark.parametrize("key", [f"{KEY}\n", f"{KEY} é"])
def test_a_key_that_cannot_be_sent_is_told_before_the_first_call(key: str) -> None:
    with pytest.raises(SetupError, match="no key can hold") as caught:
        Judge("m", base_url="http://127.0.0.1:9/v1", api_key=key).check()
    assert not shows(whole(caught.value))
