"""The wire to a real llama.cpp server (run with ``-m llama``): not the judgment, the protocol.

``RAGAS_JUDGE_GGUF`` names a model file; a model of 135M parameters is enough.
"""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any

import pytest

from ragas_judge.judge import Judge, Question, Recordings, ReplyState
from ragas_judge.metrics import Faithfulness
from ragas_judge.metrics.replies import parse_claims, parse_verdict
from ragas_judge.prompts import load_prompt

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.llama, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def base_url() -> Iterator[str]:
    """A llama.cpp server in this process."""
    xllamacpp = pytest.importorskip("xllamacpp", reason="the llama tests need xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = os.environ["RAGAS_JUDGE_GGUF"]
    params.n_parallel = 2
    params.n_ctx = 2 * 4096
    params.hostnames = ["127.0.0.1"]
    params.port = _free_port()
    server = xllamacpp.Server(params)
    yield f"{server.listening_address}/v1"
    del server


def _free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def made(base_url: str, **settings: Any) -> Judge:
    settings = {"max_tokens": 160, "seed": 1, "concurrency": 2, **settings}
    return Judge("smollm2", base_url=base_url, api_key="none", **settings)


def closing(judge: Judge, coroutine: Any) -> Any:
    async def run() -> Any:
        try:
            return await coroutine
        finally:
            await judge.aclose()

    return asyncio.run(run())


def test_the_schema_is_enforced_and_tokens_are_counted(base_url: str) -> None:
    judge = made(base_url)
    prompt = load_prompt("claim_verification")
    items = {"1": "The bell is old.", "2": "The bell is blue.", "3": "The bell is loud."}
    question = Question(prompt, items, parse_verdict, {"contexts": {"1": "The bell is old."}})
    answers = closing(judge, judge.ask_items(question))
    assert set(answers.by_id) == set(items)
    first = answers.calls[0].reply
    assert (first.rung, first.state) == ("json_schema", ReplyState.COMPLETE)
    assert first.usage.input
    assert first.usage.output


def test_a_reply_cut_at_the_limit_is_seen(base_url: str) -> None:
    judge = made(base_url, max_tokens=4)
    request = judge.request([("user", "Count from one to fifty.")])
    reply, attempts = closing(judge, judge.ask(request))
    assert (reply.state, reply.finish, attempts) == (ReplyState.LENGTH, "length", 1)


def test_chinese_comes_back_whole(base_url: str) -> None:
    judge = made(base_url)
    prompt = load_prompt("claim_extraction", language="zh")
    sentences = {"1": "水温为85℃。"}
    shared = {"question": "水温多少？", "sentences": sentences}
    question = Question(prompt, sentences, parse_claims, shared)
    answers = closing(judge, judge.ask_items(question))
    assert isinstance(answers.by_id["1"], list)


def test_a_row_is_scored_or_marked_and_replays(base_url: str, tmp_path: Path) -> None:
    row = {
        "user_input": "How old is the bell?",
        "response": "The bell is ninety years old.",
        "retrieved_contexts": ["The bell was cast ninety years ago."],
    }
    judge = made(base_url, recordings=Recordings(tmp_path, "missing"))
    live = closing(judge, Faithfulness(judge).explain(row))
    # So small a model may write claims without end: then the row is marked, and replays so.
    marked = "TruncatedReplyError" in live.reason or live.reason == "no claims"
    assert live.status == "scored" or marked
    assert live.evidence.calls
    again = asyncio.run(Faithfulness(Judge.replay(tmp_path)).explain(row))
    assert again.evidence.claims == live.evidence.claims
    assert (again.status, again.value) == (live.status, live.value)
