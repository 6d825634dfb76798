"""Sentences, quotes, lenient answers, outcomes, samples: the small parts of the metrics."""

from __future__ import annotations

import copy
import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from ragas_judge.judge.errors import InputError, JudgeUnavailableError
from ragas_judge.metrics import Evidence, Failed, NotScored, Sample, Score, Unscored
from ragas_judge.metrics.quotes import find_quote, locate, normalise
from ragas_judge.metrics.replies import (
    parse_claims,
    parse_question,
    parse_useful,
    parse_verdict,
)
from ragas_judge.metrics.sample import renamed

# --- quotes ------------------------------------------------------------------------------

CONTEXT = "The “Grey Heron” may carry\n  at most 140 passengers — never more. It’s grey."
FOUND = [
    ('"Grey Heron" may carry at most 140 passengers', True),
    ("GREY HERON” MAY CARRY", True),
    ("may carry ... never more", True),
    ("It's grey", True),
    ("140 passengers - never", True),
    ("at most 104 passengers", False),
    ("never more ... may carry", False),
    ("40 passengers", False),
    ("14", False),
    ("eron", False),
    ("at most 140", True),
    ("grey", True),
    ("", False),
    ("...", False),
]


@pytest.mark.parametrize(("quote", "found"), FOUND)
def test_a_quote_is_found_by_its_words(quote: str, found: bool) -> None:
    assert (find_quote(quote, CONTEXT) is not None) == found


@pytest.mark.parametrize(
    ("quote", "context"),
    [
        ("每次清洗用水 40 升", "清洗规定：每次清洗用水40升。"),
        ("水温８５℃", "水温85℃，时间三分钟"),
        ("“红布”盖住", "须用「红布」盖住。"),
    ],
)
def test_chinese_forms_and_spaces_do_not_matter(quote: str, context: str) -> None:
    assert find_quote(quote, context) is not None


@pytest.mark.parametrize(
    ("quote", "context", "found"),
    [
        ("5 minutes", "it takes 25 minutes", False),
        ("4.5", "it costs 14.50", False),
        ("4.5", "it costs 4.50", False),
        ("4.50", "it costs 4.50.", True),
        ("1,000", "it weighs 1,000 kg", True),
        ("000 kg", "it weighs 1,000 kg", False),
        ("able to pay", "he is unable to pay", False),
        ("-5 C", "at 5 C it stops", False),
        ("5 C", "at -5 C it stops", False),
        ("-5 C", "at -5 C it stops", True),
        ("5 to 7", "from 5 to 7, or 5-7", True),
        ("7", "from 5-7", True),
        ("40升", "用水140升", False),
        ("140升", "用水140升", True),
        ("水140", "用水140升", True),
        ("102 metres", "it is 10² metres wide", False),
        ("caf\u00e9 noir", "a cafe\u0301 noir", True),
        ("coopera", "co\u00adopera", True),
    ],
)
def test_a_part_of_a_word_or_number_is_not_a_quote(quote: str, context: str, found: bool) -> None:
    assert (find_quote(quote, context) is not None) == found


@given(st.text(max_size=60), st.data())
def test_offsets_point_at_the_words(context: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(context)))
    end = data.draw(st.integers(start, len(context)))
    span = find_quote(context[start:end], context)
    if span is not None:
        low, high = span
        wanted = normalise(context[start:end])[0].strip(" \t\r\n\"'.,;:!?-")
        assert 0 <= low < high <= len(context)
        for part in wanted.split("..."):
            assert part in normalise(context[low:high])[0] or "…" in context


def test_a_quote_from_another_context_gets_the_right_number() -> None:
    contexts = {1: "nothing here", 3: "the deciding words"}
    quote = locate("deciding words", 1, contexts)
    assert (quote.context, quote.start, quote.end) == (3, 4, 18)
    lost = locate("invented words", 1, contexts)
    assert (lost.context, lost.verified) == (1, False)


# --- answers -----------------------------------------------------------------------------

VERDICTS: list[tuple[Any, str]] = [
    ("supported", "supported"),
    ("Supported", "supported"),
    ("yes", "supported"),
    (True, "supported"),
    (1, "supported"),
    ("not found", "not_found"),
    ("NOT_FOUND", "not_found"),
    ("unsupported", "not_found"),
    ("No", "not_found"),
    (False, "not_found"),
    ("0", "not_found"),
    ("contradiction", "contradicted"),
    ({"verdict": "supported", "context": "[2]", "quote": None}, "supported"),
    ({"verdict": "contradicted", "context": None, "reason": "x"}, "contradicted"),
]
NO_VERDICTS: list[Any] = ["maybe", 2, -1, 7, 0.5, None, [], {}, {"context": 1}, {"verdict": "7"}]


@pytest.mark.parametrize(("given_", "verdict"), VERDICTS)
def test_plain_meaning_is_read(given_: Any, verdict: str) -> None:
    assert parse_verdict(given_).verdict == verdict


@pytest.mark.parametrize("given_", NO_VERDICTS)
def test_what_is_not_a_verdict_is_refused(given_: Any) -> None:
    with pytest.raises(ValidationError):
        parse_verdict(given_)


@pytest.mark.parametrize(
    ("given_", "useful"), [({"useful": "Yes"}, True), ("no", False), (1, True), (False, False)]
)
def test_usefulness_is_read(given_: Any, useful: bool) -> None:
    assert parse_useful(given_).useful is useful


@pytest.mark.parametrize("given_", ["maybe", 2, None, {"quote": "x"}])
def test_what_is_not_a_usefulness_is_refused(given_: Any) -> None:
    with pytest.raises(ValidationError):
        parse_useful(given_)


def test_claims_and_questions_are_read() -> None:
    assert parse_claims("one") == ["one"]
    assert parse_claims([" one ", ""]) == ["one"]
    assert parse_question("Why?").question == "Why?"
    assert parse_question({"question": "", "noncommittal": True}).noncommittal
    assert parse_verdict({"verdict": "yes", "context": "Context 2"}).context == 2
    with pytest.raises(ValueError, match="surrogates not allowed"):
        parse_claims(["caf\ud83d"])
    for bad in ({"question": " "}, {"noncommittal": False}, 3):
        with pytest.raises(ValidationError):
            parse_question(bad)
    with pytest.raises(ValidationError):
        parse_claims([1, 2])


# --- outcomes ----------------------------------------------------------------------------


def test_a_score_is_a_float_with_evidence() -> None:
    score = Score(0.5, Evidence(metric="m"))
    assert isinstance(score, float)
    assert json.dumps([score]) == "[0.5]"
    assert np.asarray([score, 1.0]).dtype == np.float64
    twin = copy.deepcopy(score)
    assert (twin, twin.evidence.metric, repr(twin)) == (0.5, "m", "0.5")


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_score_is_never_nan(bad: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        Score(bad)


def test_a_failure_says_class_and_message_in_one_line() -> None:
    failed = Failed(JudgeUnavailableError("HTTP 503:\n down"))
    assert failed.reason == "failed: JudgeUnavailableError: HTTP 503: down"
    assert (failed.status, failed.value) == ("failed", None)


def test_the_nan_for_ragas_carries_its_reason() -> None:
    nan = copy.copy(NotScored(Unscored("no claims")))
    assert math.isnan(nan)
    assert (nan.status, nan.reason) == ("unscored", "no claims")


# --- samples -----------------------------------------------------------------------------


def test_old_names_are_taken_and_new_ones_win() -> None:
    row = {"question": "q", "user_input": "Q", "answer": "a", "ground_truths": ["g"], "x": 1}
    assert renamed(row) == {"user_input": "Q", "response": "a", "reference": "g", "x": 1}
    assert renamed({"user_input": None, "question": "q"}) == {"user_input": "q"}


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"response": 3}, "column 'response' holds a int"),
        ({"retrieved_contexts": "['a']"}, "a list written out as text"),
        ({"contexts": "one"}, "holds one text where a list of texts is needed"),
        ({"retrieved_contexts": ["a", None]}, "'retrieved_contexts', entry 2: a NoneType"),
        ({"response": "\ud800"}, "half of a surrogate pair at character 0"),
        ({"retrieved_contexts": ["a", "b\udfff"]}, "'retrieved_contexts, entry 2' holds half"),
        ({"retrieved_contexts": 5}, "'retrieved_contexts' holds a int"),
        ({"ground_truths": ["a", "b"]}, "column 'reference' holds a list"),
    ],
)
def test_a_wrong_type_names_its_column(row: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Sample.of(row)


def test_blank_contexts_are_left_out_but_ranks_stay() -> None:
    assert Sample(retrieved_contexts=("a", " ", "c")).contexts() == {1: "a", 3: "c"}
