"""Reading a reply, and accounting for every item asked about."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragas_judge.judge._lenient import MOST_DEPTH, Broken, Cut, Pairs, Unusable, Whole, read
from ragas_judge.judge.accounting import settle
from ragas_judge.judge.reading import answered

if TYPE_CHECKING:
    from collections.abc import Callable

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
    ('{"1": "a", "2": "b', {"1": ["a"]}),
    ('{"1": "a", "2": "b"', {"1": ["a"]}),
    ('{"1": "a"} and {"2": "b', None),
    ("{'1': 'a', '2': 'b'}", BOTH),
    ('[{"id": 1, "x": "a"}]', {"1": [{"x": "a"}]}),
    ('{"[1]": "a", "1": "c", "2.": "b"}', {"1": ["a", "c"], "2": ["b"]}),
    ("[1, 2]", None),
    ('{"reason": "fine"}', None),
]


@pytest.mark.parametrize(("reply", "expected"), REPLIES)
def test_a_reply_is_read(reply: str, expected: dict[str, list[str]] | None) -> None:
    assert answered(reply, IDS) == expected


def test_an_inner_object_of_a_cut_reply_is_not_taken_for_the_answer() -> None:
    assert answered('{"9": {"1": "a", "2": "b"}, "2": "cut he', IDS) is None
    assert answered('{"1": {"2": "a"}, "2": {"1": "b", ', IDS) == {"1": [{"2": "a"}]}


def test_nesting_without_end_is_no_answer() -> None:
    assert answered('{"1":' * 3000, IDS) is None


@pytest.mark.parametrize("tag", ["think", "thinking", "reasoning", "THINK"])
def test_reasoning_is_dropped(tag: str) -> None:
    assert answered(f'<{tag}>{{"1": "x"}}\nb</{tag}> {{"1": "a"}}', IDS) == {"1": ["a"]}
    assert answered(f'<{tag}>{{"1": "x"}}\nb</{tag}> nothing', IDS) is None


def test_a_tag_inside_a_quote_is_no_reasoning() -> None:
    reply = '{"1": "a <think> b", "2": "c </think> d"}'
    assert answered(reply, IDS) == {"1": ["a <think> b"], "2": ["c </think> d"]}


def test_an_answer_is_found_behind_a_long_thought() -> None:
    thought = 'first {"a": 1} and then \\frac{1}{2}, ' * 5_000
    assert answered(f'<think>{thought}</think> {{"1": "a", "2": "b"}}', IDS) == BOTH


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
    assert sorted([*account.answers, *account.missing]) == sorted(asked)
    strangers = given_.keys() - set(asked)
    if set(asked) <= given_.keys() or not strangers:
        assert account.answers == {
            item_id: given_[item_id] for item_id in asked if item_id in given_
        }
    else:
        assert account.answers == {}
    if account.answers:
        assert set(account.strangers) == strangers
        assert len(account.problems) == len(account.missing)


@pytest.mark.parametrize(
    ("reply", "asked", "counts"),
    [
        ('{"1": 5, "2": 6, "3": 7}', ["1", "2"], True),
        ('{"0": 5, "1": 6, "2": 7}', ["1", "2"], False),
        ('{"1": 5, "2": 6}', ["2", "3"], False),
        ('{"2": 5, "note": 6}', ["2", "3"], True),
        ('{"a": 5, "c": 6}', ["a", "b"], True),
    ],
)
def test_numbers_that_were_not_asked_for_throw_doubt_on_the_rest(
    reply: str, asked: list[str], counts: bool
) -> None:
    assert bool(settle(reply, asked, int).answers) is counts


def test_a_parser_that_takes_anything_gets_no_answer_without_its_id() -> None:
    assert settle("Sorry", ["1"], str).missing == ("1",)
    assert settle('{"note": "x"}', ["1"], str).missing == ("1",)
    assert settle('{"1": "Sorry"}', ["1"], str).answers == {"1": "Sorry"}


def test_a_value_of_the_wrong_type_is_missing_and_told_in_a_short_line() -> None:
    assert settle('{"1": 1e999, "2": NaN}', IDS, float).answers == {}
    account = settle('{"1": null, "2": "' + "x\\n" * 900 + '"}', IDS, int)
    assert account.missing == ("1", "2")
    assert [len(problem.splitlines()) for problem in account.problems] == [1, 1]
    assert max(map(len, account.problems)) < 250


def test_a_duplicate_that_agrees_counts_once() -> None:
    account = settle('{"1": 1, "1": 1}', ["1"], int)
    assert account.answers == {"1": 1}
    assert account.missing == ()


def test_a_duplicate_that_disagrees_is_missing() -> None:
    account = settle('{"1": 1, "1": 2, "2": 3}', ["1", "2"], int)
    assert account.missing == ("1",)
    assert account.problems == ("1: answered twice, differently",)


# --- the lenient parser --------------------------------------------------------------------

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(st.tuples(st.text(max_size=3), inner), max_size=3).map(Pairs)
    ),
    max_leaves=10,
)


def written(value: Any, quote: Callable[[str], str]) -> str:
    if isinstance(value, Pairs):
        pairs = [f"{quote(key)} : {written(item, quote)}," for key, item in value]
        return "{" + " ".join(pairs) + "}"
    if isinstance(value, list):
        return "[" + " ".join(f"{written(item, quote)}," for item in value) + " ]"
    return quote(value) if isinstance(value, str) else str(value)


@pytest.mark.parametrize("quote", [repr, json.dumps])
@given(value=VALUES)
def test_what_is_written_another_way_reads_the_same(
    quote: Callable[[str], str], value: Any
) -> None:
    text = written(Pairs([("a", value)]), quote)
    if "\\U" not in text:  # escapes of eight digits are refused
        assert read(f"{text} and more", 0) == Whole([("a", value)], len(text))
        for end in range(len(text)):
            assert isinstance(read(text[:end] or "{", 0), Cut)


def test_depth_is_bounded() -> None:
    deep = "[" * (MOST_DEPTH - 1) + "]" * (MOST_DEPTH - 1)
    assert isinstance(read(f"{{'a': {deep}}}", 0), Whole)
    assert read(f"{{'a': [{deep}]}}", 0) == Broken(6 + MOST_DEPTH - 1, True)
    (values,) = (answered('{"1": ' + "[" * 500 + "]" * 500 + "}", IDS) or {}).values()
    for _ in range(MOST_DEPTH + 1):
        values = values[0]
    assert isinstance(values[0], Unusable)
