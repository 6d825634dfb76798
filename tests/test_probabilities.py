"""How sure a judge was of one word: log probabilities read, sent for, recorded and cached."""

from __future__ import annotations

import asyncio
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_openai import ChatOpenAI

from ragas_judge.judge import Judge, Recordings, Reply
from ragas_judge.judge.probabilities import ASK, tokens_of, word_probabilities
from ragas_judge.judge.types import Token

WORDS = {"yes": "supported", "true": "supported", "no": "not_found", "not found": "not_found"}


def token(text: str, **others: float) -> Token:
    pairs = tuple((word, math.log(share)) for word, share in others.items())
    return Token(text, dict(pairs).get(text, 0.0), pairs)


def plain(*texts: str) -> list[Token]:
    return [Token(text, 0.0) for text in texts]


def supported(*tokens: Token, item: str = "1") -> float | None:
    text = "".join(each.text for each in tokens)
    found = word_probabilities(Reply(text, tokens=tokens), item, WORDS)
    return None if found is None else found["supported"]


# --- reading ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "tokens",
    [
        [token("Yes", Yes=0.6, No=0.3)],
        [*plain("{", '"1', '":', ' "'), token("yes", yes=0.6, no=0.3), *plain('"}')],
        [*plain('{"1":'), token(' "yes', **{' "yes': 0.6, ' "no': 0.3}), *plain('"}')],
        [*plain("thought ", "no ", '{"1": "'), token("yes", yes=0.6, no=0.3), *plain('"}')],
        [*plain('{"2": "', "no", '", "1": "'), token("ye", ye=0.6, no=0.3), *plain('s"}')],
        [*plain('{"1": '), token("true", true=0.6, no=0.3), *plain("}")],
        [token("yes", yes=0.4, Yes=0.2, no=0.2, No=0.1)],
    ],
    ids=["word", "json", "with mark", "after thought", "second", "boolean", "spellings add up"],
)
def test_the_alternatives_of_the_verdict_are_set_in_proportion(tokens: list[Token]) -> None:
    assert supported(*tokens) == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    "tokens",
    [
        [],
        plain("{}"),
        [token("Perhaps", Perhaps=0.7, Yes=0.2, No=0.1)],
        [token("x", x=0.9)],
        [*plain('{"1": "')],
        plain("yes"),
    ],
    ids=["none given", "no word", "else", "no such word", "cut before it", "no alternatives"],
)
def test_without_the_words_there_is_no_probability(tokens: list[Token]) -> None:
    assert supported(*tokens) is None


@pytest.mark.parametrize(
    "content",
    [
        [{"token": "Yes"}],
        [{"token": "Yes", "logprob": None}],
        [{"token": "Yes", "logprob": "-0.1"}],
        [{"token": "Yes", "logprob": True}],
        [{"token": "Yes", "logprob": math.nan}],
        [{"token": "Yes", "logprob": 1000}],
        [{"token": "Yes", "logprob": -(10**400)}],
        [{"token": 5, "logprob": -0.1}],
        [{"token": "Yes", "logprob": -0.1, "top_logprobs": [None]}],
        [{"token": "Yes", "logprob": -0.1, "top_logprobs": 3}],
        [{"token": "a", "logprob": -0.1}, "b"],
        ["Yes"],
        "Yes",
        7,
        {"token": "Yes"},
    ],
)
def test_of_odd_data_no_token_is_read(content: Any) -> None:
    assert tokens_of({"content": content}) == ()
    assert tokens_of(content) == ()


def test_a_token_that_could_begin_either_word_counts_for_neither() -> None:
    words = {"not found": "not_found", "noted": "supported"}
    tokens = (token("no", no=0.5, noted=0.3, **{"not found": 0.2}),)
    found = word_probabilities(Reply("no", tokens=tokens), "1", words)
    assert found == {"not_found": pytest.approx(0.4), "supported": pytest.approx(0.6)}


@given(st.floats(0.01, 1), st.floats(0.01, 1))
def test_probabilities_add_up_to_one(yes: float, no: float) -> None:
    yes, no = yes / (yes + no) * 0.9, no / (yes + no) * 0.9
    found = word_probabilities(Reply("yes", tokens=(token("yes", yes=yes, no=no),)), "1", WORDS)
    assert found is not None
    assert math.fsum(found.values()) == pytest.approx(1)
    assert found["supported"] == pytest.approx(yes / 0.9)


def test_logprobs_without_alternatives_or_missing() -> None:
    assert tokens_of(None) == ()
    assert tokens_of({"content": None}) == ()
    assert tokens_of({"content": [{"token": "a", "logprob": -1}]}) == (Token("a", -1.0),)


# --- on the way ---------------------------------------------------------------------------------

LOGPROBS = {
    "content": [
        {
            "token": "Yes",
            "logprob": -0.5,
            "bytes": None,
            "top_logprobs": [
                {"token": "Yes", "logprob": -0.5, "bytes": None},
                {"token": "No", "logprob": -1.5, "bytes": None},
            ],
        }
    ],
    "refusal": None,
}
TOKENS = (Token("Yes", -0.5, (("Yes", -0.5), ("No", -1.5))),)


def completion(body: dict[str, Any]) -> dict[str, Any]:
    message = {"role": "assistant", "content": "Yes"}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    if body.get("logprobs"):
        choice["logprobs"] = LOGPROBS
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    head = {"id": "x", "object": "chat.completion", "created": 0, "model": "m"}
    return {**head, "choices": [choice], "usage": usage}


def ask(judge: Judge, **sampling: Any) -> Reply:
    from dataclasses import replace

    request = judge.request([("user", "Is it so?")])
    request = replace(request, sampling={**request.sampling, **sampling})
    return asyncio.run(judge.ask(request))[0]


@pytest.mark.parametrize("over", ["openai", "langchain"])
def test_they_are_asked_for_and_come_back(fake_openai: Any, over: str) -> None:
    server = fake_openai(lambda body: fake_openai.Reply(body=completion(body)))
    if over == "openai":
        judge = Judge("m", base_url=server.url, api_key="none")
    else:
        judge = Judge.of(ChatOpenAI(model="m", base_url=server.url, api_key="none"))
    assert ask(judge, **ASK).tokens == TOKENS
    assert ask(judge).tokens == ()
    assert (server.bodies[0]["logprobs"], server.bodies[0]["top_logprobs"]) == (True, 10)
    assert "logprobs" not in server.bodies[1]


def test_a_service_that_refuses_them_is_asked_without(fake_openai: Any) -> None:
    def answer(body: dict[str, Any]) -> Any:
        for name in ("top_logprobs", "logprobs"):
            if name in body:
                said = f"'{name}' is not supported with this model."
                return fake_openai.Reply(said, status=400, param=name)
        return "Yes"

    reply = ask(Judge("m", base_url=fake_openai(answer).url, api_key="none"), **ASK)
    assert (reply.text, reply.tokens) == ("Yes", ())
    assert reply.dropped == ("logprobs", "top_logprobs")


def test_they_are_recorded_and_cached(fake_openai: Any, tmp_path: Path) -> None:
    server = fake_openai(lambda body: fake_openai.Reply(body=completion(body)))
    settings = {"base_url": server.url, "api_key": "none"}
    recordings = Recordings(tmp_path / "r", mode="missing")
    recording = Judge("m", recordings=recordings, cache=tmp_path / "c", **settings)
    assert ask(recording, **ASK).tokens == TOKENS
    assert ask(Judge("m", cache=tmp_path / "c", **settings), **ASK).tokens == TOKENS
    assert ask(Judge.replay(tmp_path / "r"), **ASK).tokens == TOKENS
    assert len(server.bodies) == 1


def test_a_reply_without_them_is_written_as_before() -> None:
    assert "tokens" not in Reply("x").to_dict()
    assert Reply.from_dict(Reply("x").to_dict()) == Reply("x")
    whole = Reply("Yes", tokens=TOKENS)
    assert Reply.from_dict(whole.to_dict()) == whole
