"""The numbers of ``_measured.measure`` as tables: on a terminal, or as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from _labelled import AIMS


@dataclass(frozen=True)
class Shown:
    """One table."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]

    @classmethod
    def of(cls, title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Shown:
        """Without columns in which nothing stands."""
        used = [n for n in range(len(head)) if any(row[n] != "–" for row in rows)]
        return cls(title, [head[n] for n in used], [[row[n] for n in used] for row in rows])


AGREEMENT = ("balanced accuracy", "95% interval", "coverage", "none as wrong", "AUC", "value off")
COST = ("tokens in", "out", "calls", "s")


def tables(report: dict[str, Any]) -> Iterator[Shown]:
    """For each aim the sets, their means and the differences."""
    for aim, title in AIMS.items():
        sets, means, differences = (
            [entry for entry in report[part] if entry["aim"] == aim]
            for part in ("sets", "means", "differences")
        )
        if not sets:
            continue
        head: Sequence[str] = ("set", "by", "method", "n", *AGREEMENT, *COST)
        yield Shown.of(title, head, [_set(entry) for entry in sets])
        several = [entry for entry in means if entry["of"] > 1]
        if several:
            head = ("mean over", "method", "sets", *AGREEMENT, *COST)
            yield Shown.of(f"{title}: means over sets", head, [_mean(entry) for entry in several])
        if differences:
            head = ("over", "method", "less", "n", "difference", "95% interval")
            rows = [_difference(entry) for entry in differences]
            yield Shown.of(f"{title}: paired differences", head, rows)


def _set(entry: dict[str, Any]) -> list[str]:
    head = [entry["set"], entry["by"], entry["method"], str(entry["items"])]
    return [*head, *_agreement(entry), *_cost(entry)]


def _mean(entry: dict[str, Any]) -> list[str]:
    sets = f"{entry['sets']} of {entry['of']}" if entry["sets"] < entry["of"] else entry["of"]
    return [_group(entry), entry["method"], str(sets), *_agreement(entry), *_cost(entry)]


def _difference(entry: dict[str, Any]) -> list[str]:
    over = entry["set"] or f"mean of {entry['sets']}: {_group(entry)}"
    value = entry["difference"]
    difference = "–" if value is None else f"{value:+.3f}"
    between = interval(entry, sign="+")
    return [over, entry["method"], entry["baseline"], str(entry["items"]), difference, between]


def _group(entry: dict[str, Any]) -> str:
    return entry["by"] if entry["language"] == "all" else f"{entry['by']}, {entry['language']}"


def _agreement(entry: dict[str, Any]) -> list[str]:
    coverage = entry["coverage"]
    return [
        number(entry["balanced_accuracy"]),
        interval(entry),
        "–" if coverage is None else f"{coverage:.1%}",
        number(entry["none_as_wrong"]),
        number(entry["auc"]),
        number(entry["value_off"]),
    ]


def _cost(entry: dict[str, Any]) -> list[str]:
    tokens = ["?" if entry[name] is None else f"{entry[name]:,.0f}" for name in ("input", "output")]
    return [*tokens, number(entry["calls"], 2), number(entry["seconds"], 1)]


def number(value: float | None, places: int = 3) -> str:
    """A number, or a dash.

    >>> number(2 / 3), number(None)
    ('0.667', '–')
    """
    return "–" if value is None else f"{value:.{places}f}"


def interval(entry: dict[str, Any], sign: str = "") -> str:
    """Both ends, or a dash.

    >>> interval({"low": 0.5, "high": 0.75})
    '0.500 to 0.750'
    """
    if entry["low"] is None:
        return "–"
    return f"{entry['low']:{sign}.3f} to {entry['high']:{sign}.3f}"


def remarks(report: dict[str, Any]) -> Iterator[str]:
    """What must not be overlooked, a line each."""
    for entry in report["sets"]:
        if entry["no_verdict"]:
            reasons = ", ".join(f"{count} {why}" for why, count in entry["no_verdict"].items())
            rows = f"of {entry['rows']} rows without a verdict: {reasons}"
            yield f"{entry['set']}, {entry['method']}: {rows}"
    if report["open"]:
        yield f"{report['open']} questions are not asked yet"
    if report["stale"]:
        yield f"{report['stale']} verdicts in the file are not used: their prompts have changed"


def markdown(report: dict[str, Any]) -> str:
    """All tables."""
    parts = []
    for table in tables(report):
        lines = [table.head, ["---"] * len(table.head), *table.rows]
        parts.append(
            "\n".join([f"**{table.title}**", "", *(f"| {' | '.join(x)} |" for x in lines)])
        )
    return "\n\n".join([*parts, *(f"- {remark}" for remark in remarks(report))])


def show(report: dict[str, Any]) -> None:
    """All tables, on a terminal."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    console = Console()
    for shown in tables(report):
        table = Table(title=shown.title, box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
        for name in shown.head:
            words = name in ("set", "by", "method", "mean over", "over", "less")
            table.add_column(name, justify="left" if words else "right", overflow="fold")
        for row in shown.rows:
            table.add_row(*row)
        console.print(table)
    for remark in remarks(report):
        console.print(remark, markup=False, highlight=False)
