"""The headline of a metric: its mean with an honest interval, and how much of it is missing.

Interval: 95%, from ``scipy.stats.bootstrap`` with the BCa method over the scored rows (9,999
resamples, fixed seed, so that the same scores always give the same interval, in any order).
Above 2,000 scored rows, where BCa costs minutes and changes nothing that is shown, Student's t.
Where no interval can be had there is none, with the reason, never one of width zero.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

LEVEL = 0.95
RESAMPLES = 9_999
SEED = 0
BCA_ROWS = 2_000
SAME = 1e-9
"""Scores nearer than this are one value; the rest is rounding."""
_BATCH = 2_000_000


@dataclass(frozen=True)
class Headline:
    """What one metric says about a run. Numbers of rows, and values from 0 to 1.

    Attributes:
        mean: over the scored rows; None when there are none.
        low, high: ends of the 95% interval of the mean; None when ``note`` says why.
        scored, unscored, failed, not_run: they add up to ``total``; ``not_run`` is 0 unless
            the run was stopped.
        if_unscored_0, if_unscored_1: the mean over all rows if every row without a score had
            scored 0, or 1.
        method: how the interval was computed.
        note: why there is no interval.
    """

    metric: str
    mean: float | None
    low: float | None
    high: float | None
    scored: int
    unscored: int
    failed: int
    total: int
    if_unscored_0: float | None
    if_unscored_1: float | None
    not_run: int = 0
    method: str = ""
    note: str = ""


@dataclass(frozen=True)
class Interval:
    """Ends of an interval and how it was computed, or why there is none."""

    low: float | None = None
    high: float | None = None
    method: str = ""
    note: str = ""


def summarize(
    values: Sequence[float], total: int, *, metric: str = "", failed: int = 0, not_run: int = 0
) -> Headline:
    """The headline of one metric.

    Args:
        values: scores of the scored rows, each from 0 to 1, in any order.
        total: number of rows, scored or not.
        metric: its name.
        failed: rows in which the judge failed.
        not_run: rows that a stopped run did not reach.

    Raises:
        ValueError: a value is not a number from 0 to 1, or the counts do not add up.

    >>> headline = summarize([1.0, 0.5, 0.0], 4, metric="faithfulness")
    >>> headline.mean, headline.scored, headline.unscored
    (0.5, 3, 1)
    >>> headline.if_unscored_0, headline.if_unscored_1      # 1.5 / 4 and 2.5 / 4
    (0.375, 0.625)
    >>> summarize([1.0, 1.0], 2).note
    'no interval: all scored rows have the same value'
    """
    unscored = total - len(values) - failed - not_run
    if unscored < 0:
        raise ValueError(f"{len(values)} scored and {failed + not_run} other rows of {total}")
    if not all(0 <= value <= 1 for value in values):
        raise ValueError("scores are numbers from 0 to 1")
    ordered = sorted(float(value) for value in values)
    interval, added = confidence_interval(ordered), math.fsum(ordered)
    return Headline(
        metric=metric,
        mean=_mean(ordered) if ordered else None,
        low=interval.low,
        high=interval.high,
        scored=len(ordered),
        unscored=unscored,
        failed=failed,
        total=total,
        if_unscored_0=added / total if total else None,
        if_unscored_1=(added + total - len(ordered)) / total if total else None,
        not_run=not_run,
        method=interval.method,
        note=interval.note,
    )


def confidence_interval(values: Sequence[float]) -> Interval:
    """The 95% interval of the mean of ``values``, where there is one.

    Args:
        values: in ascending order, since the resamples are drawn by position. The ends stay
            within them.

    >>> confidence_interval([0.5]).note
    'no interval: fewer than 2 scored rows'
    """
    if len(values) < 2:
        return Interval(note="no interval: fewer than 2 scored rows")
    if values[-1] - values[0] < SAME:
        return Interval(note="no interval: all scored rows have the same value")
    low, high, method = (_student if len(values) > BCA_ROWS else _bca)(values)
    if not (math.isfinite(low) and math.isfinite(high)):
        return Interval(note="no interval: the scores differ too little to resample")
    return Interval(max(low, values[0]), min(high, values[-1]), method)


def _bca(values: Sequence[float]) -> tuple[float, float, str]:
    import numpy as np
    from scipy import stats  # type: ignore[import-untyped]

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # a degenerate sample gives NaN, which is looked at
        found = stats.bootstrap(
            (np.asarray(values),),
            np.mean,
            confidence_level=LEVEL,
            n_resamples=RESAMPLES,
            method="BCa",
            batch=max(1, _BATCH // len(values)),
            random_state=np.random.default_rng(SEED),
        ).confidence_interval
    low, high = sorted((float(found.low), float(found.high)))
    return low, high, f"BCa bootstrap, {RESAMPLES} resamples, seed {SEED}"


def _student(values: Sequence[float]) -> tuple[float, float, str]:
    import numpy as np
    from scipy import stats

    error = float(np.std(values, ddof=1)) / math.sqrt(len(values))
    reach = float(stats.t.ppf((1 + LEVEL) / 2, len(values) - 1)) * error
    mean = _mean(values)
    return mean - reach, mean + reach, "Student's t"


def _mean(values: Sequence[float]) -> float:
    """The mean, kept between the smallest and the largest value against rounding."""
    return min(values[-1], max(values[0], math.fsum(values) / len(values)))
