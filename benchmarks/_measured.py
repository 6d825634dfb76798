"""Labels and verdicts side by side: what benchmarks/accuracy.py prints, as plain JSON data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import _agreement as agreement
from _labelled import clusters

from ragas_judge.judge.types import total
from ragas_judge.metrics._context_precision import context_precision_value

if TYPE_CHECKING:
    from _agreement import Gain, Item
    from _labelled import Row
    from _methods import Asked, Method

ALL = "all"
"""Stands for the sets of every language."""


@dataclass(frozen=True)
class Line:
    """One method on one set.

    Attributes:
        name: the method's name where it judges rows of this aim.
        asked: the rows asked about so far, and what was said.
        items: one a label, by key of the row and number of the label in it.
    """

    name: str
    asked: Sequence[tuple[Row, Asked]]
    items: dict[tuple[str, int], Item]

    @property
    def gains(self) -> list[Gain]:
        """The items that have a verdict."""
        return agreement.hits(list(self.items.values()))


@dataclass(frozen=True)
class Part:
    """All methods on one set, by their names."""

    rows: Sequence[Row]
    lines: dict[str, Line]

    @property
    def name(self) -> str:
        """Of the set."""
        return self.rows[0].set

    @property
    def head(self) -> dict[str, str]:
        """Which sets it may be averaged with."""
        first = self.rows[0]
        language = Counter(row.language for row in self.rows).most_common(1)[0][0]
        return {"aim": first.aim, "by": first.by, "language": language}


AnswerOf = Callable[["Method", "Row"], "Asked | None"]
"""What is known of a row; None: it was not asked about yet."""


def measure(
    sets: Sequence[Sequence[Row]], methods: Sequence[Method], answer: AnswerOf, baseline: Method
) -> dict[str, Any]:
    """All numbers.

    Args:
        sets: the rows of each set that are to be asked about.
        methods: which are compared, in the order of the table.
        answer: where the verdicts are.
        baseline: which one the others are compared with.

    Returns:
        ``sets``: one entry a set and method. ``means``: one a method and group of sets (same
        aim, labels of the same origin; by language too where there are several).
        ``differences``: of each method from the baseline, by set and by group. ``open``: how
        many questions of the plan are not asked yet.
    """
    parts = [_part(rows, methods, answer) for rows in sets]
    groups = list(_groups(parts))
    lines = [(part, line) for part in parts for line in part.lines.values()]
    entries = {(part.name, line.name): _on_set(part, line) for part, line in lines}
    differences = [*_differences_by_set(parts, baseline), *_differences_of_means(groups, baseline)]
    return {
        "sets": list(entries.values()),
        "means": [
            _mean(head, some, name, entries) for head, some in groups for name in some[0].lines
        ],
        "differences": differences,
        "open": sum(len(part.rows) - len(line.asked) for part, line in lines),
    }


def _part(rows: Sequence[Row], methods: Sequence[Method], answer: AnswerOf) -> Part:
    numbers = clusters(rows)
    lines: dict[str, Line] = {}
    for method in methods:
        name = method.name(rows[0].aim)
        if name not in lines:
            lines[name] = _line(name, rows, numbers, method, answer)
    return Part(rows, lines)


def _line(
    name: str, rows: Sequence[Row], numbers: Sequence[int], method: Method, answer: AnswerOf
) -> Line:
    items, asked = {}, []
    for row, cluster in zip(rows, numbers, strict=True):
        given = answer(method, row)
        if given is None:
            continue
        asked.append((row, given))
        graded = given.found.graded or (None,) * len(row.gold)
        for number, gold in enumerate(row.gold):
            said = given.found.said[number]
            items[row.key, number] = agreement.Item(gold, said, cluster, graded[number])
    return Line(name, asked, items)


def _groups(parts: Sequence[Part]) -> Iterator[tuple[dict[str, str], list[Part]]]:
    """Sets that may be averaged, most general first."""
    for aim, by in dict.fromkeys((part.head["aim"], part.head["by"]) for part in parts):
        some = [part for part in parts if (part.head["aim"], part.head["by"]) == (aim, by)]
        languages = list(dict.fromkeys(part.head["language"] for part in some))
        yield {"aim": aim, "by": by, "language": ALL if languages[1:] else languages[0]}, some
        for language in languages if languages[1:] else ():
            same = [part for part in some if part.head["language"] == language]
            yield {"aim": aim, "by": by, "language": language}, same


# --- the entries ---------------------------------------------------------------------------------


def _on_set(part: Part, line: Line) -> dict[str, Any]:
    items = list(line.items.values())
    distances = [
        (asked.found.value, gold) for row, asked in line.asked if (gold := _gold(row)) is not None
    ]
    return {
        **part.head,
        "set": part.name,
        "method": line.name,
        "rows": len(line.asked),
        "items": len(items),
        "balanced_accuracy": agreement.balanced(line.gains),
        **asdict(agreement.interval([line.gains])),
        "coverage": agreement.coverage(items) if items else None,
        "none_as_wrong": agreement.none_as_wrong(items),
        "auc": agreement.auc(items),
        "value_off": agreement.mean_distance(distances),
        **_cost(line),
        "unverified": sum(asked.found.unverified for _, asked in line.asked),
        "no_verdict": dict(_reasons(line)),
    }


def _gold(row: Row) -> float | None:
    """The metric's value by the labels, where the metric's value is compared."""
    if row.aim == "contexts":
        return context_precision_value([bool(gold) for gold in row.gold])
    return sum(row.gold) / len(row.gold) if row.aim == "recall" else None


def _cost(line: Line) -> dict[str, float | None]:
    """A verdict's share. Time is taken of rows none of whose replies came from the cache."""
    asked = [asked for _, asked in line.asked]
    fresh = [each for each in asked if not each.cost.cached]
    return {
        "input": _each(total(each.cost.input for each in asked), asked),
        "output": _each(total(each.cost.output for each in asked), asked),
        "calls": _each(sum(each.cost.calls for each in asked), asked),
        "seconds": _each(sum(each.cost.seconds for each in fresh), fresh),
    }


def _each(amount: float | None, asked: Sequence[Asked]) -> float | None:
    verdicts = sum(said is not None for each in asked for said in each.found.said)
    return None if amount is None or not verdicts else amount / verdicts


def _reasons(line: Line) -> Counter[str]:
    """Why rows have no verdict."""
    return Counter(
        asked.failed or asked.found.reason
        for _, asked in line.asked
        if asked.failed or asked.found.reason
    )


MEANS = (
    "balanced_accuracy",
    "coverage",
    "none_as_wrong",
    "auc",
    "value_off",
    "input",
    "output",
    "calls",
    "seconds",
)


def _mean(
    head: dict[str, str],
    parts: Sequence[Part],
    name: str,
    entries: dict[tuple[str, str], dict[str, Any]],
) -> dict[str, Any]:
    """Mean over the sets for which the method has a balanced accuracy."""
    some = [part for part in parts if entries[part.name, name]["balanced_accuracy"] is not None]
    return {
        **head,
        "method": name,
        "sets": len(some),
        "of": len(parts),
        **{key: _average([entries[part.name, name][key] for part in some]) for key in MEANS},
        **asdict(agreement.interval([part.lines[name].gains for part in some])),
    }


def _average(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None


# --- differences ---------------------------------------------------------------------------------


def _differences_by_set(parts: Sequence[Part], baseline: Method) -> Iterator[dict[str, Any]]:
    for part in parts:
        base = baseline.name(part.rows[0].aim)
        for name in part.lines:
            if name != base:
                head = {**part.head, "set": part.name, "method": name, "baseline": base}
                yield {**head, **_difference([_paired(part, name, base)])}


def _differences_of_means(
    groups: Sequence[tuple[dict[str, str], list[Part]]], baseline: Method
) -> Iterator[dict[str, Any]]:
    for head, parts in groups:
        base = baseline.name(parts[0].rows[0].aim)
        for name in parts[0].lines:
            paired = [_paired(part, name, base) for part in parts]
            some = [gains for gains in paired if agreement.balanced(gains) is not None]
            if name != base and len(parts) > 1:
                which = {"set": None, "sets": len(some), "of": len(parts)}
                yield {**head, **which, "method": name, "baseline": base, **_difference(some)}


def _paired(part: Part, name: str, base: str) -> list[Gain]:
    """The items that both methods were asked about."""
    first, second = part.lines[name].items, part.lines[base].items
    both = [place for place in first if place in second]
    return agreement.differences([first[p] for p in both], [second[p] for p in both])


def _difference(sets: Sequence[Sequence[Gain]]) -> dict[str, Any]:
    return {
        "items": sum(map(len, sets)),
        "difference": agreement.balanced_mean(sets),
        **asdict(agreement.interval(sets)),
    }
