"""benchmarks/_agreement.py: the arithmetic."""

from __future__ import annotations

import importlib
import math
import sys
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]

BENCHMARKS = str(Path(__file__).resolve().parent.parent / "benchmarks")
sys.path.insert(0, BENCHMARKS)
agreement: Any = importlib.import_module("_agreement")
sys.path.remove(BENCHMARKS)

Item, Gain = agreement.Item, agreement.Gain

items = st.lists(
    st.builds(
        Item,
        gold=st.integers(0, 1),
        said=st.sampled_from([0.0, 1.0, 0.5, None]),
        cluster=st.integers(0, 8),
        graded=st.none() | st.sampled_from([0.0, 0.25, 0.5, 1.0]),
    ),
    max_size=40,
)


@given(items)
def test_balanced_accuracy_is_the_mean_of_both_recalls(some: list[Any]) -> None:
    told = [(item.gold, item.said) for item in some if item.said is not None]
    found = agreement.balanced(agreement.hits(some))
    ones, zeros = ([said for gold, said in told if gold == label] for label in (1, 0))
    if not ones or not zeros:
        assert found is None
        return
    by_hand = (sum(ones) / len(ones) + sum(1 - said for said in zeros) / len(zeros)) / 2
    assert found == pytest.approx(by_hand)


@given(items)
def test_none_as_wrong_is_never_higher_and_equal_at_full_coverage(some: list[Any]) -> None:
    plain, strict = agreement.balanced(agreement.hits(some)), agreement.none_as_wrong(some)
    if plain is not None:
        assert strict <= plain + 1e-12
        if agreement.coverage(some) == 1:
            assert strict == pytest.approx(plain)


@given(items)
def test_auc_counts_pairs(some: list[Any]) -> None:
    told = [item for item in some if item.said is not None]
    ones, zeros = ([item.graded for item in told if item.gold == label] for label in (1, 0))
    found = agreement.auc(some)
    if not ones or not zeros or None in ones + zeros:
        assert found is None
    else:
        wins = [(a > b) + (a == b) / 2 for a, b in product(ones, zeros)]
        assert found == pytest.approx(sum(wins) / len(wins))


@given(st.lists(items, min_size=1, max_size=3))
@settings(max_examples=30, deadline=None)
def test_an_interval_holds_the_estimate_and_stays_within_bounds(sets: list[list[Any]]) -> None:
    gains = [agreement.hits(some) for some in sets]
    estimate, interval = agreement.balanced_mean(gains), agreement.interval(gains)
    if interval.low is None:
        assert interval.note
    else:
        assert 0 <= interval.low <= estimate <= interval.high <= 1
        assert interval.low < interval.high
    if estimate is None:
        assert interval.low is None


@given(items)
@settings(max_examples=20, deadline=None)
def test_a_method_differs_from_itself_by_nothing(some: list[Any]) -> None:
    gains = agreement.differences(some, some)
    assert agreement.balanced(gains) in (0, None)
    assert agreement.interval([gains]).low is None


@given(items, st.randoms(use_true_random=False))
@settings(max_examples=30, deadline=None)
def test_a_difference_is_that_of_the_rows_both_answered(some: list[Any], dice: Any) -> None:
    others = [Item(item.gold, dice.choice([0.0, 1.0, None]), item.cluster) for item in some]
    both = [n for n, item in enumerate(some) if None not in (item.said, others[n].said)]
    first, second = (
        agreement.balanced(agreement.hits([each[n] for n in both])) for each in (some, others)
    )
    found = agreement.balanced(agreement.differences(some, others))
    back = agreement.balanced(agreement.differences(others, some))
    if first is None:
        assert found is None
    else:
        assert found == pytest.approx(first - second)
        assert back == pytest.approx(-found)


def test_single_items_get_the_interval_of_scipy() -> None:
    dice = np.random.default_rng(7)
    ones, zeros = dice.random(60) < 0.8, dice.random(50) < 0.6
    values = [(1, hit) for hit in ones] + [(0, hit) for hit in zeros]
    gains = [Gain(gold, float(hit), number) for number, (gold, hit) in enumerate(values)]
    found = agreement.interval([gains])
    theirs = stats.bootstrap(
        (ones.astype(float), zeros.astype(float)),
        lambda a, b, axis: (a.mean(axis=axis) + b.mean(axis=axis)) / 2,
        n_resamples=9_999,
        method="percentile",
        rng=dice,
    ).confidence_interval
    assert found.low == pytest.approx(theirs.low, abs=0.012)
    assert found.high == pytest.approx(theirs.high, abs=0.012)


def test_items_that_belong_together_widen_the_interval() -> None:
    hits = [1.0, 1.0, 0.0, 1.0, 0.0] * 2
    alone = [Gain(n % 2, hits[n // 6], n) for n in range(60)]
    together = [Gain(n % 2, hits[n // 6], n // 6) for n in range(60)]
    narrow, wide = agreement.interval([alone]), agreement.interval([together])
    assert wide.high - wide.low > 1.5 * (narrow.high - narrow.low)


def test_a_mean_over_sets_is_surer_than_one_of_them() -> None:
    one = [Gain(n % 2, float(n % 5 > 0), n) for n in range(60)]
    single, mean = agreement.interval([one]), agreement.interval([one] * 4)
    assert mean.high - mean.low < 0.7 * (single.high - single.low)


def test_the_same_items_get_the_same_interval() -> None:
    some = [Gain(n % 2, float(n % 3 > 0), n // 2) for n in range(40)]
    assert agreement.interval([some]) == agreement.interval([list(some)])


def test_no_interval_says_why() -> None:
    right = [Gain(n % 2, 1.0, n) for n in range(20)]
    assert "too little" in agreement.interval([right]).note
    assert "no item" in agreement.interval([[Gain(1, 1.0, 0)]]).note
    assert agreement.interval([]).low is None


def test_mean_distance_leaves_unknown_values_out() -> None:
    assert agreement.mean_distance([(0.5, 1.0), (None, 1.0), (1.0, 0.75)]) == 0.375
    assert agreement.mean_distance([(None, 1.0)]) is None
    assert math.isclose(agreement.coverage([Item(1, None, 0), Item(1, 0.0, 0)]), 0.5)
