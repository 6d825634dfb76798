"""Every reply of the table is read as it should be, alone and through a whole dialogue."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragas_judge.judge import Judge, Question, Reply, ReplyState, Request, ScriptedTransport
from ragas_judge.judge.accounting import settle
from ragas_judge.judge.errors import (
    FilteredReplyError,
    IncompleteVerdictsError,
    TruncatedReplyError,
)
from ragas_judge.metrics.replies import parse_claims, parse_question, parse_useful, parse_verdict
from ragas_judge.prompts import load_prompt


def load_table() -> Any:
    path = Path(__file__).with_name("replies.py")
    spec = importlib.util.spec_from_file_location("replies", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.TABLE


TABLE = load_table()
NAMES = [f"{row.kind} {number}" for number, row in enumerate(TABLE)]

PARSERS: dict[str, Any] = {
    "verdict": lambda value: parse_verdict(value).verdict,
    "useful": lambda value: parse_useful(value).useful,
    "question": lambda value: parse_question(value).question,
    "claims": parse_claims,
}
GOOD = {"verdict": "supported", "useful": True, "question": "Why?", "claims": ["It is so."]}


def test_the_table_is_large_and_of_many_kinds() -> None:
    assert len(TABLE) >= 80
    assert len({(row.text, row.prompt, row.ids, row.state) for row in TABLE}) == len(TABLE)
    assert min(Counter(row.kind for row in TABLE).values()) >= 4
    assert {row.prompt for row in TABLE} == set(PARSERS)
    assert {row.state for row in TABLE} == set(ReplyState)


@pytest.mark.parametrize("row", TABLE, ids=NAMES)
def test_a_reply_is_accounted_for(row: Any) -> None:
    ids = row.ids.split()
    account = settle(row.text, ids, PARSERS[row.prompt])
    assert account.answers == row.expected
    assert list(account.missing) == [item_id for item_id in ids if item_id not in row.expected]
    assert bool(account.problems) == bool(account.missing)
    assert all("\n" not in problem and len(problem) < 300 for problem in account.problems)


def ask(row: Any, *replies: Reply) -> tuple[dict[str, Any], list[list[str]]]:
    """Answers by id, and the ids of each request; after ``replies`` all is answered well."""
    asked: list[list[str]] = []
    coming = iter(replies)

    def answer(request: Request) -> Any:
        assert request.schema is not None
        asked.append(list(request.schema["properties"]))
        return next(coming, None) or dict.fromkeys(asked[-1], GOOD[row.prompt])

    items = dict.fromkeys(row.ids.split(), "")
    question: Question[Any] = Question(
        load_prompt("reverse_question"), items, PARSERS[row.prompt], {"answer": "x"}
    )
    judge = Judge("scripted", transport=ScriptedTransport(answer))
    try:
        answers = asyncio.run(judge.ask_items(question))
    except (FilteredReplyError, TruncatedReplyError) as error:
        return {"error": type(error), "raw": error.raw}, asked
    return answers.by_id, asked


@pytest.mark.parametrize("row", TABLE, ids=NAMES)
def test_the_dialogue_goes_on_with_what_is_missing(row: Any) -> None:
    ids = row.ids.split()
    missing = [item_id for item_id in ids if item_id not in row.expected]
    answers, asked = ask(row, Reply(row.text, ReplyState(row.state)))
    if row.state == "filtered":
        assert answers == {"error": FilteredReplyError, "raw": row.text}
        assert len(asked) == 1
        return
    if row.state == "length" and len(ids) == 1 and missing:
        assert answers == {"error": TruncatedReplyError, "raw": row.text}
        assert len(asked) == 1
        return
    halves = row.state == "length" and len(missing) > 1
    parts = [missing[: len(missing) // 2], missing[len(missing) // 2 :]] if halves else [missing]
    assert asked == [ids, *(part for part in parts if part)]
    assert answers == {item_id: row.expected.get(item_id, GOOD[row.prompt]) for item_id in ids}


def test_a_refusal_is_asked_again_and_then_shown() -> None:
    refusal = "I'm sorry, I can't help with that."
    row = next(row for row in TABLE if row.text == refusal)
    with pytest.raises(IncompleteVerdictsError, match=r"last reply began .I'm sorry") as caught:
        ask(row, *[Reply(refusal)] * 9)
    assert caught.value.raw == refusal


# --- properties --------------------------------------------------------------------------

WORDS = ["supported", "contradicted", "not_found"]
QUOTES = st.text(alphabet="ab1 ,:{}[]'\"\\“”</think>\n", max_size=12)
VERDICTS = st.dictionaries(
    st.integers(1, 9).map(str), st.tuples(st.sampled_from(WORDS), QUOTES), min_size=1, max_size=5
)
FORMS: dict[str, Any] = {
    "object": lambda entries: entries,
    "wrapped": lambda entries: {"verdicts": entries},
    "list": lambda entries: [{"id": int(k), **v} for k, v in entries.items()],
    "wrapped list": lambda entries: {"result": [{"id": k, **v} for k, v in entries.items()]},
    "decorated": lambda entries: {f"[{k}]": v for k, v in entries.items()},
}
WRITERS: dict[str, Any] = {
    "json": json.dumps,
    "indented": lambda value: json.dumps(value, indent=1, ensure_ascii=False),
    "python": repr,
}


def told(verdicts: dict[str, tuple[str, str]], form: str, writer: str) -> str:
    entries = {k: {"verdict": verdict, "quote": quote} for k, (verdict, quote) in verdicts.items()}
    return str(WRITERS[writer](FORMS[form](entries)))


def seen(value: Any) -> tuple[str, str]:
    answer = parse_verdict(value)
    return answer.verdict, answer.quote


@given(
    verdicts=VERDICTS,
    form=st.sampled_from(sorted(FORMS)),
    writer=st.sampled_from(sorted(WRITERS)),
    data=st.data(),
)
def test_a_cut_reply_keeps_no_wrong_answer(
    verdicts: dict[str, tuple[str, str]], form: str, writer: str, data: st.DataObject
) -> None:
    whole = told(verdicts, form, writer)
    assert settle(whole, list(verdicts), seen).answers == verdicts
    cut = whole[: data.draw(st.integers(0, len(whole) - 1))]
    account = settle(f"Here it is:\n{cut}", list(verdicts), seen)
    assert account.answers.items() <= verdicts.items()
    assert list(account.answers) == list(verdicts)[: len(account.answers)]
    assert len(account.answers) < len(verdicts)


@given(verdicts=VERDICTS, form=st.sampled_from(sorted(FORMS)), data=st.data())
def test_the_order_of_ids_changes_nothing(
    verdicts: dict[str, tuple[str, str]], form: str, data: st.DataObject
) -> None:
    order = data.draw(st.permutations(list(verdicts)))
    asked = data.draw(st.permutations(list(verdicts)))
    text = told({item_id: verdicts[item_id] for item_id in order}, form, "json")
    account = settle(text, asked, seen)
    assert (account.answers, list(account.answers), account.missing) == (verdicts, asked, ())


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


@given(reply=JSON_VALUES.map(json.dumps) | JSON_VALUES.map(repr) | st.text(), at=st.integers(0, 40))
def test_no_reply_raises(reply: str, at: int) -> None:
    for text in (reply, reply[:at], reply[at:]):
        for parse in (*PARSERS.values(), int):
            for ids in (["1"], ["1", "2"]):
                account = settle(text, ids, parse)
                assert sorted([*account.answers, *account.missing]) == ids


# --- cost --------------------------------------------------------------------------------

MILLION = 1_000_000
HUGE = {
    "braces": "{" * MILLION,
    "brackets": "[" * MILLION,
    "objects in each other": '{"1":' * MILLION,
    "lists in an object": '{"1": ' + "[" * MILLION,
    "closed lists in an object": '{"1": ' + "[" * 9000 + "]" * 9000 + "}",
    "closed objects in each other": '{"1": ' * 9000 + "1" + "}" * 9000,
    "strings that do not end": '{"' * MILLION,
    "curly quotes": "{“" * MILLION,
    "comments": "{/*" * MILLION,
    "line comments": "{//" * MILLION,
    "thoughts full of comments": "<think>" + "{//" * MILLION,
    "thoughts full of objects": "<think>" + "{a:" * MILLION,
    "tags": "<think></think>" * MILLION,
    "prose in braces": "{see below} " * 100_000,
    "backslashes": '{"1": "' + "\\" * MILLION,
    "one long key": '{"' + "1" * MILLION + '": "supported"}',
    "many keys": "{" + ", ".join(f"'{number}': 'x'" for number in range(100_000)) + "}",
    "quotes": "'" * MILLION,
}


@pytest.mark.parametrize("name", HUGE)
def test_a_hostile_reply_is_read_in_time(name: str) -> None:
    begin = time.process_time()
    account = settle(HUGE[name], ["1", "2"], PARSERS["verdict"])
    assert account.answers == {}
    assert time.process_time() - begin < 10


def test_a_long_lenient_reply_is_read_in_time() -> None:
    item = {"verdict": "supported", "context": 1, "quote": "the hull is of larch " * 10}
    text = repr({str(number): item for number in range(1, 2001)})
    begin = time.process_time()
    account = settle(text, [str(number) for number in range(1, 2001)], PARSERS["verdict"])
    assert account.missing == ()
    assert time.process_time() - begin < 10
