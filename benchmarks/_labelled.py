"""Rows that people have labelled: read, told apart by their fields, put into a fixed order.

The format is in docs/labels.md.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from ragas_judge.judge.errors import InputError
from ragas_judge.metrics.sample import check_text, check_texts, renamed
from ragas_judge.prompts import detect_language
from ragas_judge.runs.files import read_jsonl

Aim = Literal["claim", "response", "contexts", "recall", "pair"]
AIMS: dict[Aim, str] = {
    "claim": "claim support",
    "response": "response faithfulness",
    "contexts": "context usefulness",
    "recall": "context recall per sentence",
    "pair": "answer relevancy pairs",
}
By = Literal["H", "D"]
DERIVED = (
    "claims_zh_cmrc",
    "claims_zh_rgb_fact",
    "recall_clapnq",
    "recall_hotpotqa",
    "recall_zh_cmrc",
    "relpair_clapnq",
    "relpair_zh_cmrc",
    "resp_clapnq",
    "resp_rgb_fact_en",
    "resp_rgb_fact_zh",
)
"""Known sets whose labels are derived from annotation by a rule, where the rows do not say so."""
SEED = 2026
T = TypeVar("T")


@dataclass(frozen=True)
class Row:
    """One labelled row.

    Attributes:
        set: name of its file without ``.jsonl``.
        place: file and line, for messages.
        aim: what is judged.
        by: "H": people labelled this very text. "D": a rule made the label from annotation.
        language: the row's ``lang``, else by script.
        question: "" where there is none.
        contexts: in the order given.
        texts: what is judged: the claim, the response, the sentences of the reference, or two
            responses. Nothing where the contexts are judged.
        answer: what contexts must help to arrive at; for recall the reference as one text.
        gold: one label an item. 1 or 0; of a pair one, the number of the better response.
    """

    set: str
    place: str
    aim: Aim
    by: By
    language: str
    question: str
    contexts: tuple[str, ...]
    texts: tuple[str, ...]
    answer: str
    gold: tuple[int, ...]

    @property
    def key(self) -> str:
        """SHA-256 of all that a judge may read of the row, and of nothing else.

        Its id, its labels, who gave them and the name of the file are left out: a label that
        is mended costs no call.
        """
        parts = [self.aim, self.question, self.contexts, self.texts, self.answer]
        return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()


def read_sets(paths: Iterable[Path]) -> dict[str, list[Row]]:
    """The rows of each file, by the name of the set.

    Raises:
        InputError: a file cannot be read, a row is of no known form, or two files have one
            name; the text names file and line.
    """
    sets: dict[str, list[Row]] = {}
    for path in paths:
        name = path.name.removesuffix(".jsonl")
        if name in sets:
            raise InputError(f"{path}: a set named {name} was given before; rename one file")
        sets[name] = read_set(path, name)
    return sets


def read_set(path: Path, name: str) -> list[Row]:
    """The rows of one file, in its order."""
    rows = [_row(name, place, renamed(row)) for place, row in read_jsonl(path)]
    if not rows:
        raise InputError(f"{path}: no rows")
    for row in rows:
        if row.aim != rows[0].aim:
            first = f"{rows[0].place} is for {AIMS[rows[0].aim]}"
            raise InputError(
                f"{row.place}: a row for {AIMS[row.aim]}, and {first}; put them into two files"
            )
        if row.by != rows[0].by:
            said = f"by {row.by!r} where {rows[0].place} is by {rows[0].by!r}"
            raise InputError(f"{row.place}: {said}; put them into two files")
    # An answer that only some rows have would tell which contexts are the useful ones.
    if rows[0].aim == "contexts" and not all(row.answer for row in rows):
        rows = [replace(row, answer=row.question) for row in rows]
    return rows


def _row(name: str, place: str, row: Mapping[str, Any]) -> Row:
    try:
        return _read(name, place, row)
    except InputError as error:
        raise InputError(f"{place}: {error}") from None


def _read(name: str, place: str, row: Mapping[str, Any]) -> Row:
    labels = row.get("labels") or {}
    if not isinstance(labels, Mapping):
        raise InputError("'labels' is no object")
    aim = aim_of(row, labels)
    texts = check_texts("texts", _TEXTS[aim](row, labels)) or ()
    contexts = check_texts("retrieved_contexts", row.get("retrieved_contexts")) or ()
    gold = _gold(aim, row, labels)
    items = len(contexts) if aim == "contexts" else len(texts)
    if len(gold) != (1 if aim == "pair" else items) or not gold:
        raise InputError(f"{len(gold)} labels for {items} items to be judged")
    if aim != "pair" and not all(text.strip() for text in texts):
        raise InputError("a text to be judged is empty")
    question = check_text("user_input", row.get("user_input")) or ""
    if aim in ("contexts", "pair") and not question.strip():
        raise InputError(f"{AIMS[aim]} needs a question in 'user_input'")
    language = row.get("lang") or detect_language(question, *texts)
    by: Any = row.get("by") or ("D" if name.split(".")[0] in DERIVED else "H")
    if by not in get_args(By):
        raise InputError(f'\'by\' is "H" or "D", not {by!r}')
    answer = _answer(aim, row, texts, str(language))
    return Row(name, place, aim, by, str(language), question, contexts, texts, answer, gold)


def aim_of(row: Mapping[str, Any], labels: Mapping[str, Any]) -> Aim:
    """What a row is for, by the fields it has.

    Raises:
        InputError: it has those of no aim.

    >>> aim_of({"claim": "It rang.", "retrieved_contexts": ["It rang."], "label": 1}, {})
    'claim'
    """
    has = {name for name, value in row.items() if value is not None}
    has |= {f"labels.{name}" for name, value in labels.items() if value is not None}
    found = next((aim for aim, fields in _FIELDS if fields <= has), None)
    if found == "contexts" and "labels.relevant" not in has and len(row["retrieved_contexts"]) != 1:
        raise InputError("one 'label' for several contexts; give labels.relevant, one a context")
    if found is None:
        wanted = "; or ".join(", ".join(sorted(fields)) for _, fields in _FIELDS)
        raise InputError(f"a row of no known form; it needs {wanted}")
    return found


_FIELDS: tuple[tuple[Aim, frozenset[str]], ...] = (
    ("claim", frozenset({"claim", "retrieved_contexts", "label"})),
    ("pair", frozenset({"user_input", "responses", "label"})),
    (
        "recall",
        frozenset({"retrieved_contexts", "labels.reference_sentences", "labels.supported"}),
    ),
    ("contexts", frozenset({"user_input", "retrieved_contexts", "labels.relevant"})),
    ("response", frozenset({"response", "retrieved_contexts", "label"})),
    ("contexts", frozenset({"user_input", "retrieved_contexts", "label"})),
)
"""The first aim whose fields a row has is its aim."""
_TEXTS: dict[Aim, Any] = {
    "claim": lambda row, labels: [row["claim"]],
    "response": lambda row, labels: [row["response"]],
    "contexts": lambda row, labels: [],
    "recall": lambda row, labels: labels["reference_sentences"],
    "pair": lambda row, labels: row["responses"],
}


def _gold(aim: Aim, row: Mapping[str, Any], labels: Mapping[str, Any]) -> tuple[int, ...]:
    """The labels as 0 and 1. A claim's label is 1 or something else."""
    if aim == "pair" and len(row["responses"]) != 2:
        raise InputError(f"{len(row['responses'])} responses where two are compared")
    given = {"recall": labels.get("supported"), "contexts": labels.get("relevant")}.get(aim)
    values = [row["label"]] if given is None else given
    if not isinstance(values, list) or not all(isinstance(value, int) for value in values):
        raise InputError(f"labels are whole numbers, not {values!r}")
    if aim != "claim" and not all(value in (0, 1) for value in values):
        raise InputError(f"labels are 0 or 1, not {values!r}")
    return tuple(int(value == 1) for value in values)


def _answer(aim: Aim, row: Mapping[str, Any], texts: Sequence[str], language: str) -> str:
    if aim == "recall":
        return ("" if language == "zh" else " ").join(texts)
    if aim != "contexts":
        return ""
    reference = check_text("reference", row.get("reference")) or ""
    return reference.strip() or (check_text("response", row.get("response")) or "").strip()


# --- order ---------------------------------------------------------------------------------------


def ordered(rows: Iterable[Row], seed: int = SEED) -> list[Row]:
    """A set's rows in a fixed order of chance that takes its labels by turns.

    The order does not hang on that of the file, so that the first n rows are among the first
    n + 1. A row with several labels is of the class "all 1", "all 0" or "mixed".
    """
    classes: dict[str, list[Row]] = {}
    for row in sorted(rows, key=lambda row: _chance(row, seed)):
        mixed = len(set(row.gold)) > 1
        classes.setdefault("mixed" if mixed else str(row.gold[0]), []).append(row)
    return list(by_turns([classes[name] for name in sorted(classes)]))


def _chance(row: Row, seed: int) -> str:
    return hashlib.sha256(f"{seed}:{row.key}".encode()).hexdigest()


def by_turns(lists: Iterable[Sequence[T]]) -> Iterator[T]:
    """One of each list, then one of each again; a list that is used up is passed over.

    >>> "".join(by_turns(["abc", "x"]))
    'axbc'
    """
    nothing = object()
    for round_ in zip_longest(*lists, fillvalue=nothing):
        yield from (item for item in round_ if item is not nothing)  # type: ignore[misc]


def plan(sets: Mapping[str, Sequence[Row]], limit: int | None = None) -> list[Row]:
    """The rows in the order in which they are asked about: the sets by turns.

    Args:
        sets: rows by the name of their set.
        limit: so many rows a set, at most.
    """
    return list(by_turns([ordered(rows)[:limit] for rows in sets.values()]))


# --- rows that belong together -------------------------------------------------------------------


def clusters(rows: Sequence[Row]) -> list[int]:
    """A number for each row: rows of one set that share a text have the same.

    Shared texts are a context, a question or a claim. A question that more than half of the
    rows have is an instruction and joins nothing.
    """
    asked = Counter(row.question for row in rows)
    first: dict[tuple[str, str], int] = {}
    parent = list(range(len(rows)))

    def root(number: int) -> int:
        while parent[number] != number:
            number = parent[number]
        return number

    for number, row in enumerate(rows):
        texts = [("context", text) for text in row.contexts]
        if row.question and 2 * asked[row.question] <= len(rows):
            texts.append(("question", row.question))
        if row.aim == "claim":
            texts.append(("claim", row.texts[0]))
        for text in texts:
            parent[root(number)] = root(first.setdefault(text, number))
    return [root(number) for number in range(len(rows))]
