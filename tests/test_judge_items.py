"""Asking about numbered items: re-asks, halving, and giving up honestly."""

from __future__ import annotations

import asyncio
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


def test_a_reply_cut_at_the_limit_halves_the_batch() -> None:
    def answer(request: Request) -> Any:
        ids = ids_of(request)
        if len(ids) > 1:
            return Reply('{"1": 5, "2', ReplyState.LENGTH)
        return dict.fromkeys(ids, int(ids[0]))

    answers, transport = ask(answer)
    assert answers.by_id == {"1": 1, "2": 2, "3": 3, "4": 4}
    assert len(transport.requests) == 7


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
