"""Paid replies are kept: what is the same request, what is not, and what a damaged file says."""

from __future__ import annotations

import asyncio
import copy
import gc
import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragas_judge.judge import (
    Cache,
    Judge,
    Recordings,
    Reply,
    ReplyState,
    Request,
    ScriptedTransport,
    Usage,
)
from ragas_judge.judge.errors import CacheError, JudgeAuthError
from ragas_judge.prompts import Message, PromptRef

AT = "https://judge.test/v1"
REQUEST = Request(
    "model-a",
    (Message("system", "Be brief."), Message("user", "Is it larch?")),
    {"type": "object", "properties": {"1": {"type": "string"}}},
    {"temperature": 0.0, "seed": 3},
    PromptRef("claim_verification", "v1", "en", "abc"),
)
REPLY = Reply('{"1": "是"}', ReplyState.LENGTH, "length", Usage(3, None), "m-1", "text", ("seed",))


@pytest.fixture
def cache(tmp_path: Path) -> Any:
    with closing(Cache(tmp_path / "deep" / "replies.sqlite")) as opened:
        yield opened


def scripted(answer: Any = lambda _: "fine", **settings: Any) -> Judge:
    return Judge("m", transport=ScriptedTransport(answer), **settings)


def asked(judge: Judge) -> int:
    return len(judge._live.requests)  # type: ignore[attr-defined]


def ask(judge: Judge, text: str = "x") -> tuple[Reply, int]:
    return asyncio.run(judge.ask(judge.request([("user", text)])))


# --- what is kept -------------------------------------------------------------------------------


def test_a_reply_comes_back_as_it_was_also_after_reopening(cache: Cache) -> None:
    cache.put(AT, REQUEST, REPLY)
    assert cache.get(AT, REQUEST) == REPLY
    cache.close()
    assert Cache(cache.path).get(AT, REQUEST) == REPLY
    assert len(cache) == 1


# Half a surrogate pair may come; two halves that fit are one character.
@given(st.text(), st.text(alphabet="\ud800\x00\n\"'{}"))
def test_any_text_can_be_kept(text: str, odd: str) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder, closing(Cache(Path(folder) / "c")) as opened:
        reply = Reply(text + odd)
        opened.put(AT, REQUEST, reply)
        assert opened.get(AT, REQUEST) == reply


OTHERS = {
    "model": replace(REQUEST, model="model-b"),
    "messages": replace(REQUEST, messages=REQUEST.messages[1:]),
    "schema": replace(REQUEST, schema=None),
    "temperature": replace(REQUEST, sampling={"temperature": 0.3, "seed": 3}),
    "a parameter less": replace(REQUEST, sampling={"temperature": 0.0}),
    "prompt version": replace(REQUEST, prompt=PromptRef("claim_verification", "v2", "en", "abc")),
    "prompt hash": replace(REQUEST, prompt=PromptRef("claim_verification", "v1", "en", "abd")),
    "repetition": replace(REQUEST, repetition=1),
}


@pytest.mark.parametrize("what", OTHERS)
def test_another_request_never_gets_this_reply(cache: Cache, what: str) -> None:
    cache.put(AT, REQUEST, REPLY)
    assert cache.get(AT, OTHERS[what]) is None


def test_another_address_never_gets_this_reply(cache: Cache) -> None:
    cache.put(AT, REQUEST, REPLY)
    assert cache.get("https://other.test/v1", REQUEST) is None


def test_vectors_are_kept_by_embedder_address_and_texts(cache: Cache) -> None:
    cache.put_vectors(AT, "e", ["a", "b"], [[1.0, 0.25], [0.5, 2.0]])
    assert cache.get_vectors(AT, "e", ["a", "b"]) == [[1.0, 0.25], [0.5, 2.0]]
    assert cache.get_vectors(AT, "e", ["b", "a"]) is None
    assert cache.get_vectors(AT, "f", ["a", "b"]) is None
    assert cache.get_vectors("", "e", ["a", "b"]) is None


def test_no_text_of_a_request_is_kept(cache: Cache) -> None:
    cache.put(AT, REQUEST, REPLY)
    cache.put_vectors(AT, "e", ["Is it larch?"], [[1.0]])
    cache.close()
    assert b"larch" not in b"".join(file.read_bytes() for file in cache.path.parent.iterdir())


# --- a judge with a cache -----------------------------------------------------------------------


def test_a_judge_pays_once(tmp_path: Path) -> None:
    judge = scripted(cache=tmp_path / "c.sqlite")
    assert ask(judge) == (Reply("fine", finish="stop"), 1)
    assert ask(judge) == (Reply("fine", finish="stop"), 0)
    again = scripted(cache=str(tmp_path / "c.sqlite"))
    assert ask(again)[1] == 0
    assert (asked(judge), asked(again)) == (1, 0)


def test_a_failure_is_not_kept(tmp_path: Path) -> None:
    replies = iter([JudgeAuthError("no"), "yes"])

    def answer(_: Request) -> str:
        reply = next(replies)
        if isinstance(reply, Exception):
            raise reply
        return reply

    cache = Cache(tmp_path / "c")
    with pytest.raises(JudgeAuthError):
        ask(scripted(answer, cache=cache))
    assert ask(scripted(answer, cache=cache))[0].text == "yes"


def test_the_same_request_at_the_same_time_is_paid_once(tmp_path: Path) -> None:
    async def slow(_: Request) -> str:
        await asyncio.sleep(0)
        return "fine"

    judge = scripted(slow, cache=tmp_path / "c", concurrency=8)

    async def many() -> list[tuple[Reply, int]]:
        return await asyncio.gather(
            *(judge.ask(judge.request([("user", str(n % 3))])) for n in range(30))
        )

    tries = [tries for _, tries in asyncio.run(many())]
    assert sorted(tries) == [0] * 27 + [1] * 3
    assert asked(judge) == 3


def test_when_the_one_that_asks_is_cancelled_the_next_one_asks(tmp_path: Path) -> None:
    started, under_way = 0, asyncio.Event()

    async def answer(_: Request) -> str:
        nonlocal started
        started += 1
        if started == 1:
            under_way.set()
            await asyncio.Event().wait()
        return "fine"

    judge = scripted(answer, cache=tmp_path / "c", concurrency=8)

    async def scenario() -> Reply:
        request = judge.request([("user", "x")])
        first, second = (asyncio.create_task(judge.ask(request)) for _ in range(2))
        await under_way.wait()
        first.cancel()
        return (await second)[0]

    assert asyncio.run(scenario()).text == "fine"


def test_vectors_are_paid_once(tmp_path: Path) -> None:
    batches: list[list[str]] = []

    class Named:
        name = "ones"

        async def embed(self, texts: Sequence[str]) -> list[list[float]]:
            batches.append(list(texts))
            return [[1.0] for _ in texts]

    judge = scripted(cache=tmp_path / "c", embeddings=Named())
    assert judge.embedder is not None
    for _ in range(2):
        vectors, _ = asyncio.run(judge.embed(judge.embedder, ["a", "b"]))
        assert vectors == [[1.0], [1.0]]
    assert batches == [["a", "b"]]


def test_replay_does_not_look_into_the_cache(tmp_path: Path) -> None:
    recordings = Recordings(tmp_path / "r", mode="missing")
    ask(scripted(lambda _: "recorded", recordings=recordings))
    cache = Cache(tmp_path / "c")
    replay = Judge.replay(tmp_path / "r", cache=cache)
    assert ask(replay)[0].text == "recorded"
    assert len(cache) == 0


def test_a_judge_with_a_cache_survives_copying_as_between_processes(tmp_path: Path) -> None:
    judge = scripted(cache=tmp_path / "c")
    ask(judge)
    twin = copy.deepcopy(judge)  # by the same protocol
    assert twin.cache is not judge.cache
    assert ask(twin)[1] == 0


# --- several threads and processes --------------------------------------------------------------

WRITER = """
import sys
from ragas_judge.judge import Cache, Reply, Request
cache = Cache(sys.argv[1])
for number in range(150):
    both = Request("both", (), None, {"n": number})
    cache.put("at", both, Reply(f"both {number}"))
    assert cache.get("at", both).text == f"both {number}"
    cache.put("at", Request(sys.argv[2], (), None, {"n": number}), Reply(f"own {number}"))
"""


def test_two_processes_share_a_file(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, path, name]) for name in "ab"]
    assert [writer.wait(120) for writer in writers] == [0, 0]
    with closing(Cache(path)) as cache:
        assert len(cache) == 450
        for number in range(150):
            for model, text in (("a", "own"), ("b", "own"), ("both", "both")):
                reply = cache.get("at", Request(model, (), None, {"n": number}))
                assert reply is not None
                assert reply.text == f"{text} {number}"


def test_threads_share_an_object(cache: Cache) -> None:
    def write(model: str) -> None:
        for number in range(50):
            cache.put(AT, Request(model, (), None, {"n": number}), Reply(model))

    threads = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(cache) == 200


def test_judges_that_share_a_cache_pay_once_for_the_same_question(tmp_path: Path) -> None:
    asked = 0

    async def answer(_: Request) -> str:
        nonlocal asked
        asked += 1
        await asyncio.sleep(0)
        return "x"

    cache = Cache(tmp_path / "c")
    judges = [scripted(answer, cache=cache) for _ in range(4)]

    async def scenario() -> None:
        await asyncio.gather(*(judge.ask(judge.request([("user", "x")])) for judge in judges))

    asyncio.run(scenario())
    assert asked == 1


FORK = """
import os, sys
from ragas_judge.judge import Cache, Reply, Request
cache = Cache(sys.argv[1])
cache.put("at", Request("before", ()), Reply("x"))
child = os.fork()
cache.put("at", Request("child" if child == 0 else "parent", ()), Reply("x"))
if child == 0:
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
assert len(cache) == 3, len(cache)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_fork_opens_the_file_anew(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", FORK, tmp_path / "c"], check=True, timeout=120)


def test_a_cache_that_is_dropped_closes_its_file(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "c")
    assert cache._open is not None
    connection = cache._open[1]
    del cache
    gc.collect()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        connection.execute("SELECT 1")


# --- files that cannot be used ------------------------------------------------------------------


def database(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def test_a_file_of_another_kind(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a database, and longer than the header of one " * 20, encoding="utf-8")
    with pytest.raises(CacheError, match="cannot be used as a cache: file is not a database"):
        Cache(path)
    assert path.read_text(encoding="utf-8").startswith("not a database")


def test_a_database_of_somebody_else(tmp_path: Path) -> None:
    path = tmp_path / "theirs.sqlite"
    database(path, "CREATE TABLE replies (key TEXT)")
    with pytest.raises(CacheError, match="not a cache of ours; choose another file"):
        Cache(path)


def test_a_newer_format(cache: Cache) -> None:
    cache.close()
    database(cache.path, "PRAGMA user_version = 99")
    with pytest.raises(CacheError, match="cache format 99, this version reads 1"):
        Cache(cache.path)


def test_a_damaged_reply(cache: Cache) -> None:
    cache.put(AT, REQUEST, REPLY)
    cache.close()
    database(cache.path, "UPDATE replies SET reply = '{\"text\": 1}'")
    with pytest.raises(CacheError, match="holds a damaged reply"):
        cache.get(AT, REQUEST)


def test_a_folder_in_the_place_of_the_file(tmp_path: Path) -> None:
    with pytest.raises(CacheError, match="cannot be used as a cache"):
        Cache(tmp_path)


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(CacheError, match="cannot be used as a cache"):
        Cache(tmp_path / "file" / "c.sqlite")
