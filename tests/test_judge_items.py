"""Asking about numbered items: re-asks, halving, and giving up honestly."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import pytest

from ragas_judge.judge import Judge, Question, Reply, ReplyState, Request, ScriptedTransport
from ragas_judge.judge.errors import (
    FilteredReplyError,
    IncompleteVerdictsError,
    TruncatedReplyError,
)
from ragas_judge.prompts import load_prompt

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragas_judge.judge import Answers

PROMPT = load_prompt("reverse_question")


def ids_of(request: Request) -> list[str]:
    assert request.schema is not None
    return list(request.schema["properties"])


def ask(
    answer: Callable[[Request], Any], count: int = 4, **settings: Any
) -> tuple[Answers[int], ScriptedTransport]:
    transport = ScriptedTransport(answer)
    judge = Judge("scripted", transport=transport, **settings)
    items = {str(number): "" for number in range(1, count + 1)}
    question: Question[int] = Question(PROMPT, items, int, {"answer": "x"})
    return asyncio.run(judge.ask_items(question)), transport


def test_a_complete_reply_takes_one_call() -> None:
    answers, transport = ask(lambda request: dict.fromkeys(ids_of(request), 7))
    assert answers.by_id == {"1": 7, "2": 7, "3": 7, "4": 7}
    assert len(transport.requests) == len(answers.calls) == 1
    assert answers.calls[0].reask == 0
    assert answers.calls[0].key == transport.requests[0].key()


def test_only_missing_items_are_asked_again_and_the_problem_is_named() -> None:
    replies = iter([{"1": 1, "3": "x"}, {"2": 2, "3": 3, "4": 4}])
    answers, transport = ask(lambda _: next(replies))
    assert answers.by_id == {"1": 1, "2": 2, "3": 3, "4": 4}
    assert ids_of(transport.requests[1]) == ["2", "3", "4"]
    assert "2: missing" in transport.requests[1].messages[-1].content
    assert [call.reask for call in answers.calls] == [0, 1]
    assert "asked again: 2: missing" in answers.notes


def test_strangers_are_dropped_and_noted() -> None:
    answers, _ = ask(lambda request: {**dict.fromkeys(ids_of(request), 1), "99": 1})
    assert set(answers.by_id) == {"1", "2", "3", "4"}
    assert answers.notes == ["dropped an answer for unknown id '99'"]


def test_answers_keep_the_order_of_the_items() -> None:
    answers, _ = ask(lambda request: dict.fromkeys(reversed(ids_of(request)), 1))
    assert list(answers.by_id) == ["1", "2", "3", "4"]


def test_what_stays_missing_is_an_error_with_the_ids() -> None:
    transport = ScriptedTransport(lambda _: {"1": 1})
    judge = Judge("scripted", transport=transport, max_reasks=2)
    question: Question[int] = Question(PROMPT, {"1": "", "2": ""}, int, {"answer": "x"})
    with pytest.raises(IncompleteVerdictsError) as caught:
        asyncio.run(judge.ask_items(question))
    assert caught.value.missing == ("2",)
    assert caught.value.raw == '{"1": 1}'
    assert len(transport.requests) == 3
    assert len({request.key() for request in transport.requests}) == 3


def test_a_reply_cut_at_the_limit_keeps_its_answers_and_halves_the_rest() -> None:
    def answer(request: Request) -> Any:
        ids = ids_of(request)
        if len(ids) == 8:
            return Reply('{"1": 1, "2": 2, "3": 3, "4": 9', ReplyState.LENGTH)
        return dict.fromkeys(ids, len(ids))

    answers, transport = ask(answer, count=8)
    assert list(answers.by_id.values()) == [1, 2, 3, 2, 2, 3, 3, 3]
    assert [ids_of(request) for request in transport.requests[1:]] == [["4", "5"], ["6", "7", "8"]]
    assert {call.reask for call in answers.calls} == {0}
    assert answers.notes == [
        "reply cut at the length limit: 3 of 8 answers kept, asked for 5 in halves"
    ]


def test_one_missing_answer_of_a_cut_reply_is_asked_for_alone() -> None:
    replies = iter([Reply('{"1": 1, "2": 2, "3": 3, "4"', ReplyState.LENGTH), {"4": 4}])
    answers, transport = ask(lambda _: next(replies), max_reasks=0)
    assert answers.by_id == {"1": 1, "2": 2, "3": 3, "4": 4}
    assert ids_of(transport.requests[1]) == ["4"]
    assert answers.notes == ["reply cut at the length limit: 3 of 4 answers kept, asked for 1"]


@pytest.mark.parametrize(
    ("count", "kept"), [(1, 0), (7, 0), (32, 0), (2, 1), (32, 1), (32, 5), (5, 5)]
)
def test_a_server_that_cuts_everything_ends_soon(count: int, kept: int) -> None:
    calls = 0

    def answer(request: Request) -> Any:
        nonlocal calls
        calls += 1
        ids = ids_of(request)
        pairs = "".join(f'"{item_id}": 1, ' for item_id in ids[:kept])
        return Reply("{" + pairs, ReplyState.LENGTH)

    with nullcontext() if kept else pytest.raises(TruncatedReplyError):
        assert len(ask(answer, count=count)[0].by_id) == count
    assert calls < 2 * count


def test_a_half_of_a_reask_names_its_own_ids() -> None:
    replies = iter(["nothing", Reply("{", ReplyState.LENGTH), {"1": 1, "2": 2}, {"3": 3, "4": 4}])
    answers, transport = ask(lambda _: next(replies))
    assert len(answers.by_id) == 4
    said = [request.messages[-1].content.splitlines()[-2:] for request in transport.requests[1:]]
    assert {lines[0] for lines in said} == {
        "Your last reply could not be used: no JSON object with the keys asked for"
    }
    assert [line.rpartition(": ")[2] for _, line in said] == ["1, 2, 3, 4", "1, 2", "3, 4"]


def test_an_empty_reply_is_asked_again_within_the_budget() -> None:
    replies = iter(["", "", dict.fromkeys("1234", 1)])
    answers, _ = ask(lambda _: next(replies), max_reasks=2)
    assert [call.reask for call in answers.calls] == [0, 1, 2]
    assert answers.notes == ["asked again: the reply was empty"] * 2
    with pytest.raises(IncompleteVerdictsError):
        ask(lambda _: "", max_reasks=2)


def test_thousands_of_strangers_take_a_few_notes() -> None:
    strangers = {f"stranger {number} {'x' * 99}": 1 for number in range(3000)}
    answers, _ = ask(lambda request: {**strangers, **dict.fromkeys(ids_of(request), 1)})
    assert len(answers.notes) == 6
    assert answers.notes[-1] == "dropped answers for 2995 more unknown ids"
    assert max(map(len, answers.notes)) < 100


def test_one_item_beyond_the_limit_is_an_error() -> None:
    with pytest.raises(TruncatedReplyError):
        ask(lambda _: Reply('{"1": ', ReplyState.LENGTH), count=1)


def test_a_filtered_reply_is_not_asked_again() -> None:
    transport = ScriptedTransport(lambda _: Reply("", ReplyState.FILTERED))
    judge = Judge("scripted", transport=transport)
    question: Question[int] = Question(PROMPT, {"1": ""}, int, {"answer": "x"})
    with pytest.raises(FilteredReplyError):
        asyncio.run(judge.ask_items(question))
    assert len(transport.requests) == 1


def test_no_items_no_call() -> None:
    answers, transport = ask(lambda _: {}, count=0)
    assert (answers.by_id, transport.requests) == ({}, [])
