"""Synchronous clients: side by side, timed out, and in nobody's way."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import subprocess
import sys
import threading
from typing import Any

import openai
import pytest
from langchain_core.language_models import LLM, FakeListLLM, SimpleChatModel
from langchain_openai import ChatOpenAI
from openai.resources.chat.completions import Completions

from ragas_judge.judge import Judge, RetryPolicy, threads
from ragas_judge.judge.errors import JudgeTimeoutError
from ragas_judge.judge.langchain_transport import runs_in_the_default_pool
from ragas_judge.judge.threads import in_thread


def test_calls_run_side_by_side() -> None:
    together = threading.Barrier(16)

    async def many() -> list[int]:
        return await asyncio.gather(*(in_thread(together.wait, 60) for _ in range(16)))

    assert sorted(asyncio.run(many())) == list(range(16))


def test_what_is_returned_and_raised_comes_through() -> None:
    def fail() -> None:
        raise KeyError("here")

    assert asyncio.run(in_thread(int, "7", base=8)) == 7
    with pytest.raises(KeyError, match="here"):
        asyncio.run(in_thread(fail))


def test_variables_of_the_context_are_seen() -> None:
    variable = contextvars.ContextVar("variable", default="outside")

    async def inside() -> str:
        variable.set("inside")
        return await in_thread(variable.get)

    assert asyncio.run(inside()) == "inside"


def test_no_more_than_so_many_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "MOST", 3)
    release, before = threading.Event(), set(threading.enumerate())

    async def many() -> list[threading.Thread]:
        calls = [asyncio.create_task(in_thread(release.wait)) for _ in range(6)]
        await asyncio.sleep(0)  # each has begun, or waits
        begun = [thread for thread in threading.enumerate() if thread not in before]
        release.set()
        assert await asyncio.gather(*calls) == [True] * 6
        return begun

    try:
        assert len(asyncio.run(many())) == 3
    finally:
        release.set()


def test_the_one_error_that_no_future_takes_comes_through_as_another() -> None:
    async def scenario() -> None:
        async with asyncio.timeout(20):
            await in_thread(next, iter(()))

    with pytest.raises(RuntimeError, match="raised StopIteration") as caught:
        asyncio.run(scenario())
    assert isinstance(caught.value.__cause__, StopIteration)


def test_a_call_that_hangs_is_given_up_and_frees_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "MOST", 1)
    release = threading.Event()

    async def scenario() -> str:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await in_thread(release.wait)
        return await in_thread(str, "next")

    try:
        assert asyncio.run(scenario()) == "next"
    finally:
        release.set()


def test_too_many_that_hang_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "MOST_LINGERING", 2)
    monkeypatch.setattr(threads, "_lingering", set())
    release = threading.Event()

    async def scenario() -> None:
        for _ in range(2):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.01):
                    await in_thread(release.wait)
        with pytest.raises(JudgeTimeoutError, match="2 calls of a synchronous client still hang"):
            await in_thread(str)
        release.set()
        for thread in list(threads._lingering):
            thread.join(60)
        assert await in_thread(str, "again") == "again"

    asyncio.run(scenario())


HANGS = """
import asyncio, threading
from ragas_judge.judge.threads import in_thread

async def give_up():
    try:
        async with asyncio.timeout(0.01):
            await in_thread(threading.Event().wait)
    except TimeoutError:
        print("given up")

asyncio.run(give_up())
"""


def test_a_thread_that_hangs_does_not_keep_the_program_alive() -> None:
    done = subprocess.run(
        [sys.executable, "-c", HANGS], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout == "given up\n"


def test_a_synchronous_client_runs_side_by_side_and_is_timed_out(fake_openai: Any) -> None:
    together, release = threading.Barrier(16), threading.Event()

    def answer(body: dict[str, Any]) -> str:
        if body["messages"][-1]["content"] == "hang":
            release.wait(60)
        else:
            together.wait(60)
        return "fine"

    client = openai.OpenAI(base_url=fake_openai(answer).url, api_key="none")
    quick = RetryPolicy(attempts=1, attempt_timeout=0.3)
    judge = Judge("m", client=client, concurrency=16, retry=quick)
    judge._line.service.turns.window.answered(1, full=True, seconds=0.0)  # no call alone first

    async def ask(text: str) -> str:
        return (await judge.ask(judge.request([("user", text)])))[0].text

    async def scenario() -> list[str]:
        with pytest.raises(JudgeTimeoutError):
            await ask("hang")
        return await asyncio.gather(*(ask(str(number)) for number in range(16)))

    try:
        assert asyncio.run(scenario()) == ["fine"] * 16
    finally:
        release.set()
        client.close()


def test_a_synchronous_client_is_told_how_long_it_may_take(
    fake_openai: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own timeout ends the thread, which nobody waits for any more."""
    seconds: list[float] = []
    create = Completions.create

    @functools.wraps(create)
    def spy(*arguments: Any, **named: Any) -> Any:
        seconds.append(named["timeout"])
        return create(*arguments, **named)

    monkeypatch.setattr(Completions, "create", spy)
    client = openai.OpenAI(base_url=fake_openai().url, api_key="none")
    judge = Judge("m", client=client, retry=RetryPolicy(attempts=1, attempt_timeout=77.0))
    asyncio.run(judge.ask(judge.request([("user", "x")])))
    client.close()
    assert seconds == [77.0]


class Synchronous:
    """What a user writes who knows only the synchronous way."""

    def _call(self, *arguments: Any, **named: Any) -> str:
        return threading.current_thread().name

    @property
    def _llm_type(self) -> str:
        return "synchronous"


class SynchronousChat(Synchronous, SimpleChatModel):
    pass


class SynchronousLLM(Synchronous, LLM):
    pass


@pytest.mark.parametrize("model", [SynchronousChat(), SynchronousLLM()])
def test_a_model_that_langchain_makes_asynchronous_runs_in_a_thread_of_ours(model: Any) -> None:
    judge = Judge.of(model)
    reply, _ = asyncio.run(judge.ask(judge.request([("user", "x")])))
    assert reply.text == "ragas-judge"


@pytest.mark.parametrize(
    "model",
    [FakeListLLM(responses=["x"]), ChatOpenAI(model="m", api_key="none"), object()],  # type: ignore[arg-type]
)
def test_a_model_with_an_asynchronous_way_of_its_own_is_left_to_it(model: Any) -> None:
    assert not runs_in_the_default_pool(model)
