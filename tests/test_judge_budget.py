"""A limit in tokens or money is never exceeded by a call that could have been left unmade."""

from __future__ import annotations

import asyncio
import copy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragas_judge.judge import (
    Budget,
    Judge,
    Recordings,
    Reply,
    RetryPolicy,
    ScriptedTransport,
    Usage,
)
from ragas_judge.judge.errors import BudgetError, JudgeAuthError, JudgeTimeoutError, SetupError
from ragas_judge.judge.prices import Prices

PRICE_LIST = """
[own.models]
"m" = { input = 1.0, output = 10.0 }
"""


@pytest.fixture
def prices(tmp_path: Path) -> Prices:
    file = tmp_path / "prices.toml"
    file.write_text(PRICE_LIST, encoding="utf-8")
    return Prices.load(file)


def judge_that(answer: Any, budget: Budget, **settings: Any) -> Judge:
    return Judge("m", transport=ScriptedTransport(answer), budget=budget, **settings)


def ask(judge: Judge, text: str = "x") -> Reply:
    return asyncio.run(judge.ask(judge.request([("user", text)])))[0]


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=30))
def test_calls_that_take_what_was_set_aside_never_exceed_the_limit(
    calls: list[tuple[int, int]],
) -> None:
    budget, under_way = Budget(max_tokens=200), []
    for number, (estimate, output) in enumerate(calls):
        try:
            call = budget.reserve("m", estimate)
        except BudgetError:
            continue
        under_way.append((call, min(output, call.usage.output or 0)))
        if number % 3 == 0:
            done, used = under_way.pop(0)
            budget.settle(done, Usage(done.usage.input, used))
        assert budget.tokens + sum(c.usage.input + c.usage.output for c, _ in under_way) <= 200
    for done, used in under_way:
        budget.settle(done, Usage(done.usage.input, used))
    assert budget.tokens <= 200


def test_the_longest_reply_so_far_is_set_aside() -> None:
    budget = Budget(max_tokens=100)
    budget.settle(budget.reserve("m", 10), Usage(10, 30))
    assert budget.reserve("m", 20).usage == Usage(20, 30)
    with pytest.raises(BudgetError, match="limit of 100 tokens: 40 are used"):
        budget.reserve("m", 0)


def test_a_call_that_came_to_nothing_costs_nothing() -> None:
    def refuse(_: Any) -> Any:
        raise JudgeAuthError("no")

    budget = Budget(max_tokens=100)
    with pytest.raises(JudgeAuthError):
        ask(judge_that(refuse, budget))
    assert budget.tokens == 0
    assert budget.reserve("m", 100)


def test_tokens_that_are_not_counted_are_estimated() -> None:
    budget = Budget(max_tokens=100)
    budget.settle(budget.reserve("m", 10), Usage(None, None))
    assert budget.tokens == 10


def test_money_is_limited_by_price(prices: Prices) -> None:
    budget = Budget(max_cost=0.001, prices=prices)
    budget.settle(budget.reserve("m", 100), Usage(100, 50))  # 0.0001 + 0.0005
    assert budget.cost == pytest.approx(0.0006)
    with pytest.raises(BudgetError, match=r"limit of 0\.001 US dollars: 0\.0006 are spent"):
        budget.reserve("m", 100)


def test_money_cannot_be_limited_without_a_price(prices: Prices) -> None:
    with pytest.raises(SetupError, match="the price of 'unheard-of' is unknown"):
        Judge(
            "unheard-of",
            transport=ScriptedTransport(lambda _: "x"),
            budget=Budget(max_cost=1, prices=prices),
        )


@pytest.mark.parametrize("limit", [{"max_tokens": 0}, {"max_cost": -1.0}, {"max_cost": 0}])
def test_limits_that_make_no_sense(limit: dict[str, Any]) -> None:
    with pytest.raises(SetupError, match="is more than 0"):
        Budget(**limit)


def test_a_reply_from_the_cache_costs_nothing(tmp_path: Path) -> None:
    budget = Budget(max_tokens=1000)
    judge = judge_that(lambda _: Reply("x", usage=Usage(7, 2)), budget, cache=tmp_path / "c")
    ask(judge)
    ask(judge)
    assert budget.tokens == 9


def test_a_reply_from_recordings_costs_nothing_and_takes_no_turn(tmp_path: Path) -> None:
    answer = Reply("fine", usage=Usage(40, 4))
    for round_ in range(2):
        budget = Budget(max_tokens=1000)
        recordings = Recordings(tmp_path, "missing")
        judge = judge_that(lambda _: answer, budget, recordings=recordings)
        assert ask(judge).text == "fine"
        assert budget.tokens == (0 if round_ else 44)
        assert judge._line.service.has_answered is (round_ == 0)


def test_a_call_that_was_given_up_is_counted_as_estimated() -> None:
    budget = Budget(max_tokens=1000)

    async def hang(_: Any) -> str:
        await asyncio.Event().wait()
        return ""

    retry = RetryPolicy(attempts=1, attempt_timeout=0.01)
    with pytest.raises(JudgeTimeoutError):
        ask(judge_that(hang, budget, retry=retry))
    assert budget.tokens > 0


def test_one_budget_serves_several_judges() -> None:
    budget = Budget(max_tokens=1000)
    for _ in range(2):
        ask(judge_that(lambda _: Reply("x", usage=Usage(7, 2)), budget))
    assert budget.tokens == 18


def test_it_survives_copying_as_between_processes() -> None:
    budget = Budget(max_tokens=10, tokens=4)
    twin = copy.deepcopy(budget)  # by the same protocol
    assert twin == budget
    twin.settle(twin.reserve("m", 1), None)  # with a lock of its own
