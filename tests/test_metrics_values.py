"""The arithmetic, without any model: the worked numbers and what must always hold."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragas_judge.judge.errors import EmbeddingError
from ragas_judge.metrics import READY, Unscored
from ragas_judge.metrics._answer_relevancy import answer_relevancy_value, cosine
from ragas_judge.metrics._context_precision import context_precision_value
from ragas_judge.metrics._context_recall import context_recall_value
from ragas_judge.metrics._faithfulness import faithfulness_value

SHARES = [faithfulness_value, context_recall_value]
verdicts = st.lists(st.booleans(), max_size=30)


def test_the_worked_numbers() -> None:
    assert context_precision_value([True, False, True, False]) == pytest.approx(5 / 6)
    assert context_recall_value([True] * 4 + [False]) == 4 / 5
    assert answer_relevancy_value([0.95, 0.82, 0.97], [False] * 3) == pytest.approx(
        0.9133, abs=5e-5
    )
    assert faithfulness_value([True, False]) == 0.5


@given(st.integers(1, 60), st.integers(0, 60))
def test_a_perfect_ranking_is_exactly_one(useful: int, others: int) -> None:
    assert context_precision_value([True] * useful + [False] * others) == 1.0


@given(verdicts)
def test_precision_stays_in_range_and_is_zero_only_without_a_hit(useful: list[bool]) -> None:
    value = context_precision_value(useful)
    assert 0.0 <= value <= 1.0
    assert (value == 0.0) == (not any(useful))


@given(verdicts.filter(lambda v: len(v) > 1), st.data())
def test_moving_a_useful_context_forward_never_lowers_precision(
    useful: list[bool], data: st.DataObject
) -> None:
    k = data.draw(st.integers(1, len(useful) - 1))
    if useful[k] and not useful[k - 1]:
        better = [*useful[: k - 1], True, False, *useful[k + 1 :]]
        assert context_precision_value(better) > context_precision_value(useful)


@given(verdicts)
def test_precision_agrees_with_its_definition(useful: list[bool]) -> None:
    terms = [sum(useful[: k + 1]) / (k + 1) for k, v in enumerate(useful) if v]
    expected = sum(terms) / len(terms) if terms else 0.0
    assert context_precision_value(useful) == pytest.approx(expected)


@pytest.mark.parametrize("share", SHARES)
@given(supported=st.lists(st.booleans(), min_size=1, max_size=30), seed=st.randoms())
def test_a_share_ignores_order_and_counts_every_claim(share, supported, seed) -> None:  # type: ignore[no-untyped-def]
    shuffled = list(supported)
    seed.shuffle(shuffled)
    assert share(supported) == share(shuffled)
    assert share(supported) * len(supported) == pytest.approx(sum(supported))
    assert share([*supported, False]) < share([*supported, True])


@pytest.mark.parametrize("share", SHARES)
def test_a_share_of_nothing_is_not_a_number(share) -> None:  # type: ignore[no-untyped-def]
    assert isinstance(share([]), Unscored)


similarities = st.lists(st.floats(-1, 1), min_size=1, max_size=9)


@given(similarities)
def test_relevancy_is_clipped(values: list[float]) -> None:
    assert 0.0 <= answer_relevancy_value(values, [False] * len(values)) <= 1.0


@given(similarities, st.integers(0, 9))
def test_relevancy_is_zero_when_most_readings_do_not_commit(values: list[float], n: int) -> None:
    flags = [position < n for position in range(len(values))]
    value = answer_relevancy_value(values, flags)
    if sum(flags) * 2 > len(flags):
        assert value == 0.0
    else:
        assert value == answer_relevancy_value(values, [False] * len(values))


@pytest.mark.parametrize(("values", "flags"), [([], []), ([0.5], []), ([0.5], [False, True])])
def test_relevancy_needs_a_flag_a_question(values: list[float], flags: list[bool]) -> None:
    with pytest.raises(ValueError, match="one similarity and one flag"):
        answer_relevancy_value(values, flags)


vectors = st.lists(st.floats(-100, 100), min_size=3, max_size=3).filter(
    lambda v: math.hypot(*v) > 1e-3
)


@given(vectors, vectors, st.floats(0.1, 10))
def test_cosine_is_symmetric_bounded_and_scale_free(
    a: list[float], b: list[float], scale: float
) -> None:
    assert -1.0 <= cosine(a, b) <= 1.0
    assert cosine(a, b) == cosine(b, a)
    assert cosine([x * scale for x in a], b) == pytest.approx(cosine(a, b), abs=1e-9)
    assert cosine(a, a) == pytest.approx(1.0)


@pytest.mark.parametrize("bad", [[0.0, 0.0], [math.nan, 1.0], [math.inf, 1.0]])
def test_a_vector_without_direction_is_an_error(bad: list[float]) -> None:
    with pytest.raises(EmbeddingError):
        cosine(bad, [1.0, 0.0])


def test_no_metric_is_left_out_here() -> None:
    assert set(READY) == {
        "faithfulness",
        "context_recall",
        "context_precision",
        "answer_relevancy",
    }
