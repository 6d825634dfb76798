"""The summary of a run for a person: one line a metric, and what must not be overlooked."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ..metrics.outcomes import Failed, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.table import Table

    from .runner import Result
    from .summary import Headline


def summary_table(headlines: Sequence[Headline], results: Sequence[Result]) -> Table:
    """Mean, interval, coverage and the reasons of rows without a score."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    table.add_column("metric", no_wrap=True)
    table.add_column("mean", justify="right", no_wrap=True)
    table.add_column("95% interval", no_wrap=True)
    table.add_column("scored", justify="right", no_wrap=True)
    table.add_column("not scored, and why", overflow="fold")
    for headline in headlines:
        outcomes = [result.outcome for result in results if result.metric == headline.metric]
        table.add_row(
            headline.metric,
            number(headline.mean),
            interval(headline),
            f"{headline.scored}/{headline.total}",
            reasons(outcomes, headline.not_run),
        )
    return table


def number(value: float | None) -> str:
    """Three decimals, or a dash.

    >>> number(0.83333), number(None)
    ('0.833', '-')
    """
    return "-" if value is None else f"{value:.3f}"


def interval(headline: Headline) -> str:
    """Both ends, or a dash: the reason is among the notes."""
    if headline.low is None or headline.high is None:
        return "-"
    return f"{headline.low:.3f} to {headline.high:.3f}"


def reasons(outcomes: Sequence[Outcome], not_run: int = 0) -> str:
    """Why rows have no score, most frequent first, each with its number of rows.

    >>> from ragas_judge.metrics.outcomes import Failed, Score, Unscored
    >>> reasons([Unscored("no claims"), Score(1.0), Unscored("no claims"), Failed(OSError("x"))])
    '2 no claims, 1 failed: OSError'
    """
    counts = Counter(_kind(outcome) for outcome in outcomes if outcome.status != "scored")
    parts = [f"{count} {reason}" for reason, count in counts.most_common()]
    return ", ".join([*parts, *([f"{not_run} not reached"] if not_run else [])])


def _kind(outcome: Outcome) -> str:
    """The reason without what is different in every row."""
    if isinstance(outcome, Failed):
        return f"failed: {type(outcome.error).__name__}"
    return outcome.reason


def remarks(headlines: Sequence[Headline], results: Sequence[Result]) -> Iterator[str]:
    """What must not be overlooked, a line each: rows without a score, and why no interval."""
    for headline in headlines:
        if headline.failed:
            first = next(
                result
                for result in results
                if result.metric == headline.metric and result.outcome.status == "failed"
            )
            rows = f"{headline.failed} of {headline.total} rows failed"
            place = f"the first, row {first.row!r}, {first.outcome.reason}"
            yield f"warning: {headline.metric}: {rows}; {place}"
        if 0 < headline.scored < headline.total:
            yield (
                f"note: {headline.metric}: were the {headline.total - headline.scored} rows without"
                f" a score all 0 or all 1, the mean would be {number(headline.if_unscored_0)} or"
                f" {number(headline.if_unscored_1)}"
            )
        if headline.note:
            yield f"note: {headline.metric}: {headline.note}"
