"""Retrying by class of error, without ever sleeping."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tenacity import RetryCallState, Retrying

from ragas_judge.judge import Judge, Reply, RetryPolicy, ScriptedTransport, errors
from ragas_judge.judge.retry import MAX_WAIT, RETRIED, wait

RETRIED_ONES = [
    errors.JudgeRateLimitError,
    errors.JudgeTimeoutError,
    errors.JudgeUnavailableError,
    errors.JudgeUnreachableError,
]
OTHERS = [errors.JudgeAuthError, errors.JudgeQuotaError, errors.JudgeRequestError]


def judge_that(outcomes: list[Any], waits: list[float], **policy: Any) -> Judge:
    steps = iter(outcomes)

    def answer(_: Any) -> Any:
        step = next(steps)
        if isinstance(step, Exception):
            raise step
        return step

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    policy_ = RetryPolicy(sleep=sleep, **policy)
    return Judge("scripted", transport=ScriptedTransport(answer), retry=policy_)


def ask(judge: Judge) -> tuple[Reply, int]:
    return asyncio.run(judge.ask(judge.request([("user", "x")])))


@pytest.mark.parametrize("kind", RETRIED_ONES)
def test_trouble_of_the_service_is_tried_again(kind: type[errors.JudgeError]) -> None:
    waits: list[float] = []
    reply, attempts = ask(judge_that([kind("a"), kind("b"), "fine"], waits))
    assert (reply.text, attempts, len(waits)) == ("fine", 3, 2)


@pytest.mark.parametrize("kind", OTHERS)
def test_what_would_fail_again_is_not_tried_again(kind: type[errors.JudgeError]) -> None:
    waits: list[float] = []
    with pytest.raises(kind):
        ask(judge_that([kind("no"), "never"], waits))
    assert waits == []


def test_the_retried_classes_are_these_four() -> None:
    assert set(RETRIED) == set(RETRIED_ONES)


def test_the_last_error_is_raised_when_tries_run_out() -> None:
    waits: list[float] = []
    tries = [errors.JudgeUnavailableError(str(number)) for number in range(3)]
    with pytest.raises(errors.JudgeUnavailableError, match="2"):
        ask(judge_that(tries, waits, attempts=3))


def state(error: Exception, attempt: int = 1) -> RetryCallState:
    made = RetryCallState(Retrying(), None, (), {})
    made.attempt_number = attempt
    made.set_exception((type(error), error, None))
    return made


@pytest.mark.parametrize("asked", [7.5, 9999.0])
def test_the_wait_a_service_asks_for_is_kept(asked: float) -> None:
    assert wait(state(errors.JudgeRateLimitError("x", retry_after=asked))) == asked


def test_a_wait_longer_than_the_whole_budget_is_a_quota() -> None:
    waits: list[float] = []
    daily = errors.JudgeRateLimitError("daily limit", status=429, retry_after=3600)
    with pytest.raises(errors.JudgeQuotaError, match="asks to wait 3600 s") as caught:
        ask(judge_that([daily], waits, budget=600))
    assert (waits, caught.value.status, caught.value.retry_after) == ([], 429, 3600)


def test_a_service_that_asks_for_no_wait_is_not_asked_again_at_once() -> None:
    assert wait(state(errors.JudgeRateLimitError("busy", retry_after=0.0), attempt=3)) >= 2


def test_a_wait_beyond_the_budget_is_not_begun() -> None:
    waits: list[float] = []
    slow = errors.JudgeRateLimitError("come back later", retry_after=40.0)
    with pytest.raises(errors.JudgeRateLimitError, match="later"):
        ask(judge_that([slow] * 3, waits, budget=60.0))
    assert waits == [40.0]


def test_a_try_for_which_no_time_would_be_left_is_not_made() -> None:
    waits: list[float] = []
    busy = errors.JudgeRateLimitError("busy", retry_after=1.0)
    with pytest.raises(errors.JudgeRateLimitError, match="busy"):
        ask(judge_that([busy] * 9, waits, budget=2.3))
    assert waits == [1.0]  # after another there were 0.3 s left


def test_otherwise_the_wait_grows_up_to_the_cap() -> None:
    error = errors.JudgeUnavailableError("x")
    assert 0.5 <= wait(state(error, 1)) <= 1.0
    assert 4.0 <= wait(state(error, 4)) <= 4.5
    assert wait(state(error, 30)) <= MAX_WAIT + 0.5


def test_a_try_that_takes_too_long_is_a_timeout() -> None:
    async def never(_: Any) -> str:
        await asyncio.Event().wait()
        return ""

    judge = Judge(
        "scripted",
        transport=ScriptedTransport(never),
        retry=RetryPolicy(attempts=1, attempt_timeout=0.01),
    )
    with pytest.raises(errors.JudgeTimeoutError, match=r"scripted: no reply within 0\.01 s"):
        ask(judge)
