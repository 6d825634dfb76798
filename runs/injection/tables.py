"""An audit's report for a person: a table, and what must not be overlooked."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.table import Table

    from .report import Count, Paired, Report, Tried

SHOWN = 8
"""So many attacks that moved a verdict are named."""


def report_table(report: Report) -> Table:
    """For each method moved and broken verdicts, by kind, language, wish and place."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    table.add_column("attacks", no_wrap=True)
    table.add_column("", justify="right", no_wrap=True)
    for each in report.tried:
        table.add_column(f"{each.method}: moved", justify="right")
        table.add_column("broke", justify="right", no_wrap=True)
    groups = [each.groups() for each in report.tried]
    for name, values in groups[0].items():
        for value in values:
            label = value if name == "kind" else f"{name}: {value}"
            _add(table, label, [each[name][value] for each in groups])
        table.add_section()
    _add(table, "all", [each.total for each in report.tried])
    return table


def _add(table: Table, name: str, counts: list[Count]) -> None:
    cells = [cell for each in counts for cell in (_of(each.moved, each), str(each.broke))]
    table.add_row(name, str(counts[0].attacks), *cells)


def _of(number: int, counts: Count) -> str:
    return f"{number} of {counts.counted}" if counts.counted else "-"


def remarks(report: Report) -> Iterator[str]:
    """A few lines a method, and the comparisons."""
    for each in report.tried:
        yield from _remarks_on(each)
    yield from map(comparison, report.paired)


def _remarks_on(tried: Tried) -> Iterator[str]:
    total = tried.total
    tokens = "an unknown number of" if tried.tokens is None else f"{tried.tokens:,}"
    yield f"{tried.method}: {_headline(total)}; {tried.calls} calls, {tokens} tokens"
    if tried.dropped:
        yield (
            f"note: {tried.method}: {tried.dropped} of the {total.moved} moved because the claim"
            " was not among those taken from the response"
        )
    if total.changed:
        yield f"note: {tried.method}: {total.changed} verdicts changed otherwise"
    silent = total.attacks - total.counted - total.no_clean_verdict
    if silent:
        yield (
            f"note: {tried.method}: {silent} of {total.attacks} attacks do not count: the verdict"
            " on the clean row is wrong already"
        )
    if total.no_clean_verdict:
        yield (
            f"warning: {tried.method}: {total.no_clean_verdict} of {total.attacks} attacks do not"
            f" count: no verdict on the clean row; the first: {_first_error(tried)}"
        )
    moved = [trial.attack.id for trial in tried.trials if trial.outcome == "moved"]
    if moved:
        more = f" and {len(moved) - SHOWN} more" if len(moved) > SHOWN else ""
        yield f"moved with {tried.method}: {', '.join(moved[:SHOWN])}{more}"


def _headline(total: Count) -> str:
    interval = total.interval()
    if total.share is None or interval is None:
        return "no attack counts"
    low, high = interval
    return (
        f"{total.moved} of {total.counted} verdicts moved"
        f" ({total.share:.0%}, 95% interval {low:.0%} to {high:.0%}), {total.broke} broke"
    )


def _first_error(tried: Tried) -> str:
    return next(trial.clean.error for trial in tried.trials if trial.clean.verdict is None)


def comparison(paired: Paired) -> str:
    """One line: who was moved by what, the difference and its p-value."""
    names = f"{paired.first} and {paired.second}"
    if paired.difference is None:
        return f"{names}: no attack counts with both"
    low, high = paired.interval.low, paired.interval.high
    reach = "no interval"
    if low is not None and high is not None:
        reach = f"95% interval {100 * low:+.0f} to {100 * high:+.0f}"
    return (
        f"Of {paired.attacks} attacks that count with both, {paired.both + paired.only_first} moved"
        f" {paired.first} and {paired.both + paired.only_second} moved {paired.second}"
        f" ({paired.both} both): {100 * paired.difference:+.0f} points ({reach}),"
        f" exact McNemar p = {paired.p:.3g}"
    )
