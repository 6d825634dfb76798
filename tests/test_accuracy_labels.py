"""benchmarks/_labelled.py: rows told apart by their fields, in a fixed order, in clusters."""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragas_judge.judge.errors import InputError

BENCHMARKS = str(Path(__file__).resolve().parent.parent / "benchmarks")
sys.path.insert(0, BENCHMARKS)
labelled: Any = importlib.import_module("_labelled")
sys.path.remove(BENCHMARKS)

CONTEXTS = ["The Orrin mill has four wheels.", "The Orrin ferry is blue."]
ROWS: dict[str, dict[str, Any]] = {
    "claim": {"claim": "The mill has four wheels.", "retrieved_contexts": CONTEXTS, "label": 1},
    "response": {
        "user_input": "How many wheels?",
        "response": "Four.",
        "retrieved_contexts": CONTEXTS,
        "label": 0,
    },
    "contexts": {
        "user_input": "How many wheels?",
        "retrieved_contexts": CONTEXTS,
        "reference": "Four.",
        "labels": {"relevant": [1, 0]},
    },
    "recall": {
        "user_input": "How many wheels?",
        "retrieved_contexts": CONTEXTS,
        "reference": "It has four. It is old.",
        "labels": {"reference_sentences": ["It has four.", "It is old."], "supported": [1, 0]},
    },
    "pair": {"user_input": "How many wheels?", "responses": ["It is old.", "Four."], "label": 1},
}


def write(path: Path, *rows: Any) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def read(tmp_path: Path, *rows: Any, name: str = "mine.jsonl") -> list[Any]:
    (found,) = labelled.read_sets([write(tmp_path / name, *rows)]).values()
    return list(found)


@pytest.mark.parametrize("aim", ROWS)
def test_the_fields_tell_the_aim(aim: str, tmp_path: Path) -> None:
    (row,) = read(tmp_path, ROWS[aim])
    assert row.aim == aim
    assert row.gold == {"claim": (1,), "response": (0,), "pair": (1,)}.get(aim, (1, 0))


def test_the_rows_in_the_page_are_rows(tmp_path: Path) -> None:
    page = Path(BENCHMARKS).with_name("docs") / "labels.md"
    (block,) = re.findall(r"```json\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    rows = [json.loads(line) for line in block.splitlines()]
    found = [read(tmp_path, row)[0].aim for row in rows]
    assert found == ["claim", "contexts"]


def test_one_passage_with_a_label_is_context_usefulness(tmp_path: Path) -> None:
    row = {"user_input": "How many?", "retrieved_contexts": CONTEXTS[:1], "label": 0}
    (found,) = read(tmp_path, row)
    assert (found.aim, found.gold) == ("contexts", (0,))


def test_old_column_names_are_taken(tmp_path: Path) -> None:
    row = {"question": "How many?", "answer": "Four.", "contexts": CONTEXTS, "label": 1}
    (found,) = read(tmp_path, row)
    assert (found.aim, found.question) == ("response", "How many?")


def test_a_claim_with_another_label_than_1_is_not_supported(tmp_path: Path) -> None:
    rows = read(tmp_path, ROWS["claim"] | {"label": 2}, ROWS["claim"] | {"label": True})
    assert [row.gold for row in rows] == [(0,), (1,)]


def test_a_reference_that_some_rows_lack_is_used_for_none(tmp_path: Path) -> None:
    without = {name: value for name, value in ROWS["contexts"].items() if name != "reference"}
    assert [row.answer for row in read(tmp_path, ROWS["contexts"], without)] == [
        "How many wheels?",
        "How many wheels?",
    ]
    assert read(tmp_path, ROWS["contexts"])[0].answer == "Four."


def test_who_labelled_is_said_by_the_rows_else_by_the_name(tmp_path: Path) -> None:
    assert read(tmp_path, ROWS["claim"])[0].by == "H"
    assert read(tmp_path, ROWS["claim"] | {"by": "D"})[0].by == "D"
    assert read(tmp_path, ROWS["claim"], name="claims_zh_cmrc.dev.jsonl")[0].by == "D"


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"text": "?"}, "a row of no known form"),
        (ROWS["claim"] | {"claim": " "}, "a text to be judged is empty"),
        (ROWS["claim"] | {"label": "yes"}, "labels are whole numbers"),
        (ROWS["claim"] | {"by": "X"}, "'by' is"),
        (ROWS["claim"] | {"retrieved_contexts": "one"}, "one text where a list"),
        (ROWS["response"] | {"label": 3}, "labels are 0 or 1"),
        (ROWS["contexts"] | {"labels": {"relevant": [1]}}, "1 labels for 2 items"),
        (ROWS["contexts"] | {"labels": [1, 0]}, "'labels' is no object"),
        (ROWS["contexts"] | {"user_input": ""}, "needs a question"),
        (ROWS["pair"] | {"responses": ["one"]}, "1 responses where two"),
        ({"user_input": "?", "retrieved_contexts": CONTEXTS, "label": 1}, "labels.relevant"),
        (ROWS["response"], "put them into two files"),
        (ROWS["claim"] | {"by": "D"}, "put them into two files"),
        ("text", "write one JSON object a line"),
    ],
)
def test_a_bad_row_is_named_with_file_and_line(row: Any, said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=said) as caught:
        read(tmp_path, ROWS["claim"], row)
    assert "mine.jsonl:2: " in str(caught.value)


def test_two_files_of_one_name_and_an_empty_one_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "mine.jsonl", ROWS["claim"])
    with pytest.raises(InputError, match="given before"):
        labelled.read_sets([path, path])
    with pytest.raises(InputError, match="no rows"):
        labelled.read_sets([write(tmp_path / "none.jsonl")])


def test_the_key_is_of_what_a_judge_may_read_alone(tmp_path: Path) -> None:
    same = ROWS["claim"] | {"id": "7", "label": 0, "source": "somewhere", "labels": {"votes": 3}}
    other = ROWS["claim"] | {"claim": "The mill has five wheels."}
    first, second, third = read(tmp_path, ROWS["claim"], same, other)
    assert first.key == second.key != third.key
    assert len(first.key) == 64


def claims(count: int, tmp_path: Path) -> list[Any]:
    rows = [
        {
            "claim": f"Bell {number} is red.",
            "retrieved_contexts": [f"Bell {number}."],
            "label": number % 3 == 0,
        }
        for number in range(count)
    ]
    return read(tmp_path, *rows)


def test_a_larger_limit_holds_the_smaller_one_and_labels_take_turns(tmp_path: Path) -> None:
    rows = claims(30, tmp_path)
    few, many = (labelled.plan({"a": rows}, limit) for limit in (8, 20))
    assert many[:8] == few
    assert Counter(row.gold for row in few) == {(0,): 4, (1,): 4}
    assert labelled.plan({"a": rows[::-1]}, 8) == few
    assert sorted(row.key for row in labelled.plan({"a": rows})) == sorted(r.key for r in rows)


def test_sets_take_turns(tmp_path: Path) -> None:
    rows = claims(6, tmp_path)
    planned = labelled.plan({"a": rows[:4], "b": rows[4:]})
    assert [row in rows[4:] for row in planned] == [False, True, False, True, False, False]


def test_rows_with_a_text_in_common_are_one_cluster(tmp_path: Path) -> None:
    def row(claim: str, *contexts: str, question: str = "") -> dict[str, Any]:
        return {
            "claim": claim,
            "retrieved_contexts": list(contexts),
            "user_input": question,
            "label": 1,
        }

    rows = [
        row("a", "one", "two"),
        row("b", "three"),
        row("c", "two", "three"),  # joins the first two
        row("d", "four"),
        row("d", "five"),  # the same claim
        row("e", "six", question="Which?"),
        row("f", "seven", question="Which?"),
        row("g", "eight"),
    ]
    found = labelled.clusters(read(tmp_path, *rows))
    assert len({found[n] for n in (0, 1, 2)}) == 1
    assert found[3] == found[4]
    assert found[5] == found[6]
    assert len(set(found)) == 4


def test_an_instruction_that_most_rows_share_joins_nothing(tmp_path: Path) -> None:
    rows = [
        ROWS["response"] | {"user_input": "Sum it up.", "retrieved_contexts": [f"Text {number}."]}
        for number in range(5)
    ]
    assert len(set(labelled.clusters(read(tmp_path, *rows)))) == 5


@given(st.lists(st.lists(st.integers(), max_size=6), max_size=5))
def test_by_turns_leaves_nothing_out(lists: list[list[int]]) -> None:
    found = list(labelled.by_turns(lists))
    assert Counter(found) == Counter(item for each in lists for item in each)
    firsts = [each[0] for each in lists if each]
    assert found[: len(firsts)] == firsts
