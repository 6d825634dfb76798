"""Rows times metrics, a bounded number at a time, until all are done or going on is pointless."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, Protocol

from ..judge.errors import (
    BudgetError,
    CacheError,
    JudgeAuthError,
    JudgeQuotaError,
    JudgeRequestError,
    JudgeUnreachableError,
    RecordingError,
    SetupError,
)
from ..metrics.outcomes import Failed, Outcome
from .errors import RunStopped

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .dataset import Row, RowId

FATAL = (
    BudgetError,
    CacheError,
    JudgeAuthError,
    JudgeQuotaError,
    JudgeRequestError,
    JudgeUnreachableError,
    RecordingError,
    SetupError,
)
"""What would happen again in every other row."""
ABOUT_ONE_REQUEST = (400, 413, 422)
"""HTTP statuses of a refusal that may be due to this very row, such as one that is too long."""
FORBIDDEN = 403
"""A firewall's answer to one text, once others have been answered."""
REFUSALS = 3
"""So many of those before the judge has answered anything, and the run stops after all."""
MANY_REFUSALS = 20
"""So many in a row afterwards."""


class Metric(Protocol):
    """What a run asks of a metric."""

    name: str
    llm: Any

    async def explain(self, sample: Any) -> Outcome:
        """Score one row, a mapping of columns; a failure is returned, not raised."""
        ...


@dataclass(frozen=True)
class Result:
    """The outcome of one metric in one row."""

    row: RowId
    metric: str
    outcome: Outcome


class _Stop(Exception):
    """A signal between the workers, seen by nobody else."""


class _Watch:
    """Decides from the outcomes so far whether going on is pointless."""

    def __init__(self) -> None:
        self.answered, self.refused = False, 0
        self.error: Exception | None = None

    def stops(self, outcome: Outcome) -> bool:
        """Take one more outcome into account."""
        self.answered = self.answered or bool(outcome.evidence.calls)
        if isinstance(outcome, Failed):
            if self._fatal(outcome.error):
                self.error = self.error or outcome.error
        elif outcome.evidence.calls:
            self.refused = 0
        return self.error is not None

    def _fatal(self, error: Exception) -> bool:
        if self._about_one_request(error):
            self.refused += 1
            return self.refused >= (MANY_REFUSALS if self.answered else REFUSALS)
        return isinstance(error, FATAL)

    def _about_one_request(self, error: Exception) -> bool:
        """May it be due to this very row?"""
        if isinstance(error, JudgeRequestError):
            return self.answered or error.status in ABOUT_ONE_REQUEST
        return self.answered and isinstance(error, JudgeAuthError) and error.status == FORBIDDEN


async def run_metrics(
    rows: Sequence[Row],
    metrics: Sequence[Metric],
    *,
    concurrency: int,
    on_result: Callable[[Result], None] | None = None,
) -> list[Result]:
    """Score every row with every metric.

    Args:
        rows: what to score.
        metrics: with what; all metrics of a row stand beside each other, so that a server can
            keep their common prompt prefix.
        concurrency: how many are under way at once; no more than that are ever started.
        on_result: called with each result as it comes.

    Returns:
        One result for each row and metric, in that order, however they came.

    Raises:
        SetupError: the concurrency is below 1.
        RunStopped: an error that every other row would meet too; it holds the results so far.
            Errors of one row are results (``Failed``).
    """
    if concurrency < 1:
        raise SetupError(f"concurrency is at least 1, not {concurrency}")
    jobs = enumerate(product(rows, metrics))
    total = len(rows) * len(metrics)
    done: dict[int, Result] = {}
    watch = _Watch()

    async def work() -> None:
        for number, (row, metric) in jobs:
            outcome = await metric.explain(row.columns)
            done[number] = result = Result(row.id, metric.name, outcome)
            if on_result is not None:
                on_result(result)
            if watch.stops(outcome):
                if isinstance(watch.error, BudgetError):
                    return  # calls under way are paid for: each worker ends what it is at
                raise _Stop

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(concurrency, total)):
                group.create_task(work())
    except* _Stop:
        pass
    results = [done[number] for number in sorted(done)]
    if watch.error is not None:
        raise RunStopped(watch.error, results, total)
    return results
