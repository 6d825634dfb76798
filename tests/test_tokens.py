"""The token estimate: how near it is to what a real tokenizer counted, and that it behaves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragas_judge.judge.tokens import estimate_chat, estimate_tokens

RECORDINGS = Path(__file__).resolve().parent.parent / "fixtures" / "recordings" / "quickstart"
MIXED = st.text(st.one_of(st.characters(codec="utf-8"), st.sampled_from("ab 12.,\n渡船，é😀")))


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("side", ["input", "output"])
def test_in_sum_it_is_within_ten_percent_of_the_recorded_counts(language: str, side: str) -> None:
    estimated = counted = 0
    for file in RECORDINGS.glob("*/*.json"):
        entry = json.loads(file.read_text("utf-8"))
        if entry["request"]["prompt"]["language"] != language:
            continue
        messages = [message["content"] for message in entry["request"]["messages"]]
        text = entry["reply"]["text"]
        estimated += estimate_chat(messages) if side == "input" else estimate_tokens(text)
        counted += entry["reply"]["usage"][side]
    assert counted > 1000
    assert estimated == pytest.approx(counted, rel=0.10)


@given(MIXED, MIXED)
def test_more_text_is_never_fewer_tokens_and_the_parts_add_up(first: str, second: str) -> None:
    whole, parts = (
        estimate_tokens(first + second),
        (estimate_tokens(first), estimate_tokens(second)),
    )
    assert max(parts) <= whole <= sum(parts) + 2


@given(MIXED)
def test_it_is_a_whole_number_from_zero_up(text: str) -> None:
    tokens = estimate_tokens(text)
    assert isinstance(tokens, int)
    assert 0 <= tokens <= 2 * len(text)


def test_nothing_has_no_tokens() -> None:
    assert estimate_tokens("") == 0


def test_a_long_word_costs_more_than_a_short_one() -> None:
    assert estimate_tokens("a" * 120) >= 10


def test_a_chat_costs_more_than_its_texts() -> None:
    assert estimate_chat(["one", "two"]) > estimate_tokens("one") + estimate_tokens("two")
