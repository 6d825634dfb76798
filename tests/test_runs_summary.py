"""The headline: mean, interval, bounds; and the table that shows it."""

from __future__ import annotations

import io
import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragas_judge.judge.errors import JudgeTimeoutError
from ragas_judge.metrics.outcomes import Failed, Outcome, Score, Unscored
from ragas_judge.runs import Headline, summarize
from ragas_judge.runs.progress import Progress
from ragas_judge.runs.runner import Result
from ragas_judge.runs.summary import BCA_ROWS, confidence_interval
from ragas_judge.runs.table import remarks, summary_table

VALUES = st.lists(st.floats(0, 1), max_size=30)


@settings(max_examples=40, deadline=None)
@given(values=VALUES, unscored=st.integers(0, 5), failed=st.integers(0, 5))
def test_counts_mean_and_bounds(values: list[float], unscored: int, failed: int) -> None:
    total = len(values) + unscored + failed
    headline = summarize(values, total, failed=failed)
    assert (headline.scored, headline.unscored, headline.failed) == (len(values), unscored, failed)
    if not total:
        assert headline.mean is headline.if_unscored_0 is headline.if_unscored_1 is None
        return
    assert headline.if_unscored_0 is not None
    assert headline.if_unscored_1 is not None
    gap = (unscored + failed) / total
    assert headline.if_unscored_1 - headline.if_unscored_0 == pytest.approx(gap)
    if values:
        assert headline.mean is not None
        assert min(values) <= headline.mean <= max(values)
        assert headline.if_unscored_0 - 1e-12 <= headline.mean <= headline.if_unscored_1 + 1e-12
    else:
        assert headline.mean is None


@settings(max_examples=30, deadline=None)
@given(values=VALUES, seed=st.integers(0, 100))
def test_an_interval_is_real_or_says_why_not(values: list[float], seed: int) -> None:
    headline = summarize(values, len(values))
    shuffled = random.Random(seed).sample(values, len(values))
    assert summarize(shuffled, len(values)) == headline
    if headline.low is None or headline.high is None:
        assert headline.low is headline.high is None
        assert headline.note.startswith("no interval: ")
        return
    assert not headline.note
    assert headline.method.startswith("BCa")
    assert min(values) <= headline.low <= headline.high <= max(values)


@pytest.mark.parametrize(
    ("values", "note"),
    [
        ([], "no interval: fewer than 2 scored rows"),
        ([0.5], "no interval: fewer than 2 scored rows"),
        ([0.5] * 20, "no interval: all scored rows have the same value"),
        ([1.0, 1.0 - 1e-15], "no interval: all scored rows have the same value"),
    ],
)
def test_no_interval_of_width_zero(values: list[float], note: str) -> None:
    headline = summarize(values, 24)
    assert (headline.low, headline.high, headline.note) == (None, None, note)


def test_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    generator = random.Random(7)
    hits = 0
    for _ in range(60):
        found = confidence_interval(sorted(generator.random() for _ in range(30)))
        assert found.low is not None
        assert found.high is not None
        hits += found.low <= 0.5 <= found.high
    assert 52 <= hits <= 60


def test_many_rows_take_the_fast_way_with_nearly_the_same_interval() -> None:
    generator = random.Random(7)
    many = sorted(generator.random() for _ in range(BCA_ROWS + 1))
    fast, slow = confidence_interval(many), confidence_interval(many[1:])
    assert (fast.method, slow.method[:3]) == ("Student's t", "BCa")
    assert fast.low == pytest.approx(slow.low, abs=2e-3)
    assert fast.high == pytest.approx(slow.high, abs=2e-3)


@pytest.mark.parametrize("values", [[math.nan], [1.5], [-0.1], [math.inf]])
def test_values_that_are_no_scores(values: list[float]) -> None:
    with pytest.raises(ValueError, match="from 0 to 1"):
        summarize(values, 1)


def test_more_rows_than_there_are() -> None:
    with pytest.raises(ValueError, match="2 scored and 1 other rows of 2"):
        summarize([0.0, 1.0], 2, failed=1)


# --- the table --------------------------------------------------------------------------------

OUTCOMES: list[Outcome] = [
    Score(1.0),
    Score(0.5),
    Unscored("no claims"),
    Unscored("no claims"),
    Failed(JudgeTimeoutError("no reply within 5 s")),
]


def shown(width: int) -> tuple[str, list[str]]:
    from rich.console import Console

    results = [Result(row, "context_precision", outcome) for row, outcome in enumerate(OUTCOMES)]
    headline = summarize([1.0, 0.5], 6, metric="context_precision", failed=1, not_run=1)
    stream = io.StringIO()
    Console(file=stream, width=width).print(summary_table([headline], results))
    return stream.getvalue(), list(remarks([headline], results))


def test_table_shows_counts_and_reasons() -> None:
    text, _ = shown(120)
    assert "context_precision" in text
    assert "0.750" in text
    assert "2/6" in text
    assert "2 no claims, 1 failed: JudgeTimeoutError, 1 not reached" in text


def test_a_metric_name_is_not_broken_at_80_columns_and_lines_fit() -> None:
    text, _ = shown(80)
    assert "context_precision" in text
    assert max(map(len, text.splitlines())) <= 80


def test_failed_rows_are_remarked_upon() -> None:
    _, said = shown(80)
    assert said == [
        "warning: context_precision: 1 of 6 rows failed; the first, row 4, failed:"
        " JudgeTimeoutError: no reply within 5 s",
        "note: context_precision: were the 4 rows without a score all 0 or all 1, the mean would"
        " be 0.250 or 0.917",
    ]


def test_a_missing_interval_is_remarked_upon() -> None:
    headline: Headline = summarize([1.0, 1.0], 2, metric="faithfulness")
    assert list(remarks([headline], [])) == [
        "note: faithfulness: no interval: all scored rows have the same value"
    ]


# --- progress ---------------------------------------------------------------------------------


def test_progress_without_a_terminal_is_ten_lines() -> None:
    stream = io.StringIO()
    with Progress(96, stream) as progress:
        for _ in range(96):
            progress.advance()
    said = stream.getvalue().splitlines()
    assert len(said) == 10
    assert said[-1] == "100%  96 of 96 scores"


def test_progress_on_a_terminal_is_a_bar() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    stream = Terminal()
    with Progress(3, stream) as progress:
        for _ in range(3):
            progress.advance()
    assert "3/3" in stream.getvalue()
    assert "100%" not in stream.getvalue()
