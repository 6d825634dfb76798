"""How far verdicts agree with labels: pure arithmetic.

    balanced accuracy = (share of the items labelled 1 that were hit
                         + share of the items labelled 0 that were hit) / 2

An item without a verdict is neither hit nor missed; coverage says how many there are.

Intervals: 95%, percentile bootstrap over clusters (items that share a text stay together), drawn
within strata, so that each resample has as many clusters of each make as the data: those of
items labelled 1 only, those labelled 0 only, those of both. A mean over sets resamples each set
by itself. A difference between two methods is paired: the same items, drawn together.
``scipy.stats.bootstrap`` draws single items; made to draw numbers of clusters from many strata it
took some five times as long as the few lines here, and a table has hundreds of intervals.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from numpy.typing import NDArray

RESAMPLES = 9_999
SEED = 0
SAME = 1e-9
"""Values nearer than this are one; the rest is rounding."""


@dataclass(frozen=True)
class Item:
    """One label beside what was said.

    Attributes:
        gold: 1 or 0.
        said: 1, 0, something between (a tie), or None: no verdict.
        cluster: items with the same number belong together.
        graded: how strongly 1 was said, where that is known.
    """

    gold: int
    said: float | None
    cluster: int
    graded: float | None = None

    @property
    def hit(self) -> float | None:
        """1 where label and verdict are the same, 0 where not; None without a verdict."""
        return None if self.said is None else 1 - abs(self.gold - self.said)


@dataclass(frozen=True)
class Gain:
    """A number for one labelled item: a hit, or by how much one method's hit exceeds another's."""

    gold: int
    value: float
    cluster: int


@dataclass(frozen=True)
class Interval:
    """Both ends, or why there are none."""

    low: float | None = None
    high: float | None = None
    note: str = ""


def hits(items: Sequence[Item]) -> list[Gain]:
    """The items that have a verdict."""
    return [Gain(i.gold, i.hit, i.cluster) for i in items if i.hit is not None]


def differences(first: Sequence[Item], second: Sequence[Item]) -> list[Gain]:
    """Hit of the first method less hit of the second, where both have a verdict.

    Args:
        first, second: the same items in the same order.
    """
    pairs = zip(first, second, strict=True)
    return [
        Gain(a.gold, a.hit - b.hit, a.cluster)
        for a, b in pairs
        if a.hit is not None and b.hit is not None
    ]


def balanced(gains: Sequence[Gain]) -> float | None:
    """Mean over the two labels of the mean value under each; None if one has no item.

    >>> balanced([Gain(1, 1.0, 0), Gain(1, 0.0, 1), Gain(0, 1.0, 2)])      # (1 / 2 + 1) / 2
    0.75
    """
    means = []
    for gold in (1, 0):
        values = [gain.value for gain in gains if gain.gold == gold]
        if not values:
            return None
        means.append(math.fsum(values) / len(values))
    return sum(means) / 2


def balanced_mean(sets: Sequence[Sequence[Gain]]) -> float | None:
    """Mean of ``balanced`` over sets; None if it is None for one of them."""
    values = [balanced(gains) for gains in sets]
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known and len(known) == len(values) else None


def coverage(items: Sequence[Item]) -> float:
    """Share of the items that have a verdict; 0 without items."""
    return sum(item.said is not None for item in items) / len(items) if items else 0.0


def none_as_wrong(items: Sequence[Item]) -> float | None:
    """Balanced accuracy with each item without a verdict counted as missed."""
    return balanced([Gain(item.gold, item.hit or 0.0, item.cluster) for item in items])


def auc(items: Sequence[Item]) -> float | None:
    """Chance that an item labelled 1 is graded above one labelled 0, ties as half.

    Returns:
        None if an item with a verdict has no grade, or one label no item.

    >>> auc([Item(1, 1, 0, 0.9), Item(1, 1, 1, 0.4), Item(0, 0, 2, 0.4), Item(0, 0, 3, 0.1)])
    0.875
    """
    given = [item for item in items if item.said is not None]
    grades = [item.graded for item in given]
    positive = sum(item.gold for item in given)
    negative = len(given) - positive
    if None in grades or not positive or not negative:
        return None
    ranks = stats.rankdata(grades)
    total = sum(rank for rank, item in zip(ranks, given, strict=True) if item.gold)
    return float((total - positive * (positive + 1) / 2) / (positive * negative))


def mean_distance(pairs: Sequence[tuple[float | None, float]]) -> float | None:
    """Mean absolute difference of the pairs whose first part is known."""
    distances = [abs(value - gold) for value, gold in pairs if value is not None]
    return math.fsum(distances) / len(distances) if distances else None


# --- intervals -----------------------------------------------------------------------------------


def interval(sets: Sequence[Sequence[Gain]]) -> Interval:
    """The interval of ``balanced_mean``.

    The ends are never on one side of the estimate, and an interval of width zero is none: from
    items that all came out alike nothing can be resampled.
    """
    estimate = balanced_mean(sets)
    if estimate is None:
        return Interval(note="a label has no item with a verdict")
    dice = np.random.default_rng(SEED)
    means = np.mean([_resampled(gains, dice) for gains in sets], axis=0)
    low, high = (float(end) for end in np.quantile(means, [0.025, 0.975]))
    if high - low < SAME:
        return Interval(note="the items differ too little to resample")
    return Interval(min(low, estimate), max(high, estimate))


def _resampled(gains: Sequence[Gain], dice: np.random.Generator) -> NDArray[np.float64]:
    """``balanced`` of each resample of one set."""
    clusters: dict[int, list[float]] = {}
    for gain in gains:  # sum and number of the items labelled 0, then of those labelled 1
        cluster = clusters.setdefault(gain.cluster, [0.0] * 4)
        cluster[2 * gain.gold] += gain.value
        cluster[2 * gain.gold + 1] += 1
    makes: dict[tuple[bool, bool], list[list[float]]] = {}
    for cluster in clusters.values():
        makes.setdefault((cluster[1] > 0, cluster[3] > 0), []).append(cluster)
    totals = np.zeros((4, RESAMPLES))
    for make in sorted(makes):
        members = np.array(makes[make]).T
        chosen = dice.integers(len(makes[make]), size=(RESAMPLES, len(makes[make])))
        for total, column in zip(totals, members, strict=True):
            total += column[chosen].sum(axis=1)
    found: NDArray[np.float64] = (totals[0] / totals[1] + totals[2] / totals[3]) / 2
    return found
