"""Reading a reply, and accounting for every item asked about."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragas_judge.judge.accounting import settle
from ragas_judge.judge.reading import answered

IDS = ["1", "2"]
BOTH = {"1": ["a"], "2": ["b"]}

REPLIES = [
    ('{"1": "a", "2": "b"}', BOTH),
    ('```json\n{"1": "a", "2": "b"}\n```', BOTH),
    ('Here you are: {"1": "a", "2": "b"} Anything else?', BOTH),
    ('<think>{"1": "x", "2": "y"} no</think>{"1": "a", "2": "b"}', BOTH),
    ('{"1": "x"} hm, no.</think>{"1": "a", "2": "b"}', BOTH),
    ('see [1] and {braces} first: {"1": "a", "2": "b"}', BOTH),
    ('{"1": "x", "2": "x"} I was wrong: {"1": "a", "2": "b"}', BOTH),
    ('{"1": "a", "2": "b"} {"note": "done"}', BOTH),
    ('{"verdicts": {"1": "a", "2": "b"}}', BOTH),
    ('{" 1 ": "a", "2": "b"}', BOTH),
    ('{"1": "a } {", "2": "b"}', {"1": ["a } {"], "2": ["b"]}),
    ('{"1": "a", "1": "z", "2": "b"}', {"1": ["a", "z"], "2": ["b"]}),
    ('{"1": "a"}', {"1": ["a"]}),
    ("{}", None),
    ("", None),
    ("I cannot help with that.", None),
    ('{"1": "a", "2": "b', None),
    ("[1, 2]", None),
    ('{"reason": "fine"}', None),
]


@pytest.mark.parametrize(("reply", "expected"), REPLIES)
def test_a_reply_is_read(reply: str, expected: dict[str, list[str]] | None) -> None:
    assert answered(reply, IDS) == expected


def test_an_inner_object_of_a_cut_reply_is_not_taken_for_the_answer() -> None:
    assert answered('{"9": {"1": "a", "2": "b"}, "2": "cut he', IDS) in (
        None,
        BOTH,
    )  # the inner object has both ids; what must not happen is an id with a wrong value
    assert answered('{"1": {"verdict": "supported"}, "2": {"verd', IDS) is None


def test_nesting_without_end_is_no_answer() -> None:
    assert answered('{"1":' * 3000, IDS) is None


@pytest.mark.parametrize("tag", ["think", "thinking", "reasoning", "THINK"])
def test_reasoning_is_dropped(tag: str) -> None:
    assert answered(f'<{tag}>{{"1": "x"}}\nb</{tag}> {{"1": "a"}}', IDS) == {"1": ["a"]}
    assert answered(f'<{tag}>{{"1": "x"}}\nb</{tag}> nothing', IDS) is None


def test_a_tag_inside_a_quote_is_no_reasoning() -> None:
    reply = '{"1": "a <think> b", "2": "c </think> d"}'
    assert answered(reply, IDS) == {"1": ["a <think> b"], "2": ["c </think> d"]}


def test_a_huge_reply_is_read_in_time() -> None:
    noise = '{"a": "' * 200_000
    assert answered(f'{noise}"}} {{"1": "a", "2": "b"}}', IDS) is not None


@given(
    values=st.dictionaries(
        st.integers(1, 12).map(str), st.text(max_size=8), min_size=1, max_size=8
    ),
    before=st.text(alphabet="abc {}[]:,\n", max_size=20),
    after=st.text(alphabet="abc .\n", max_size=20),
)
def test_prose_around_the_object_changes_nothing(
    values: dict[str, str], before: str, after: str
) -> None:
    reply = f"{before}\n{json.dumps(values)}\n{after}"
    found = answered(reply, list(values))
    if found is not None and "{" not in before:
        assert found == {key: [value] for key, value in values.items()}


@given(
    asked=st.lists(st.integers(1, 20).map(str), unique=True, min_size=1),
    given_=st.dictionaries(st.integers(1, 20).map(str), st.integers(0, 9)),
)
def test_no_item_is_lost_or_invented(asked: list[str], given_: dict[str, int]) -> None:
    account = settle(json.dumps(given_), asked, int)
    assert list(account.answers) == [item_id for item_id in asked if item_id in given_]
    assert sorted([*account.answers, *account.missing]) == sorted(asked)
    assert len(account.problems) == (len(account.missing) if account.answers else 1) or (
        not given_.keys() & set(asked)
    )
    if account.answers:
        assert set(account.strangers) == given_.keys() - set(asked)


def test_a_duplicate_that_agrees_counts_once() -> None:
    account = settle('{"1": 1, "1": 1}', ["1"], int)
    assert account.answers == {"1": 1}
    assert account.missing == ()


def test_a_duplicate_that_disagrees_is_missing() -> None:
    account = settle('{"1": 1, "1": 2, "2": 3}', ["1", "2"], int)
    assert account.missing == ("1",)
    assert account.problems == ("1: answered twice, differently",)
