"""Prices: which entry a model gets, what it costs, and that an unknown price stays unknown."""

from __future__ import annotations

import datetime
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragas_judge.judge import Usage
from ragas_judge.judge.errors import SetupError
from ragas_judge.judge.prices import SHIPPED, Prices

if TYPE_CHECKING:
    from collections.abc import Callable

PRICES = Prices.load()
SHIPPED_DATA = tomllib.loads(SHIPPED.read_text("utf-8"))


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    def writer(text: str) -> Path:
        path = tmp_path / "mine.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return writer


@pytest.mark.parametrize(
    ("asked", "priced_as"),
    [
        ("gpt-4.1-mini", "gpt-4.1-mini"),
        ("gpt-4.1-mini-2025-04-14", "gpt-4.1-mini"),
        ("gpt-4.1-2025-04-14", "gpt-4.1"),
        ("GPT-4.1-Mini ", "gpt-4.1-mini"),
        ("openai/gpt-4.1-mini", "gpt-4.1-mini"),
        ("azure/gpt-4.1-mini-2025-04-14", "gpt-4.1-mini"),
        ("gpt-4o-2024-05-13", "gpt-4o-2024-05-13"),
        ("gpt-4o-2024-08-06", "gpt-4o"),
        ("claude-haiku-4-5-20251001", "claude-haiku-4-5"),
        ("claude-haiku-4-5@20251001", "claude-haiku-4-5"),
        ("models/gemini-2.5-flash", "gemini-2.5-flash"),
        ("gemini-2.5-flash-001", "gemini-2.5-flash"),
        ("qwen-plus-latest", "qwen-plus"),
        ("OpenAIEmbeddings:text-embedding-3-small", "text-embedding-3-small"),
    ],
)
def test_a_name_is_found(asked: str, priced_as: str) -> None:
    price = PRICES.price(asked)
    assert price is not None
    assert price.model == priced_as


@pytest.mark.parametrize(
    "asked",
    [
        "",
        "gpt-4.1-medium",
        "gpt-4.1-mini-eu",
        "gpt-4",
        "gpt-4.10",
        "my-gpt-4.1",
        "fireworks/gpt-4.1",
        "mistral-large-2411",
        "gemini-2.5-flash-preview-05-20",
        "qwen2.5:14b",
        "Qwen/Qwen2.5-14B-Instruct",
    ],
)
def test_a_name_that_is_not_listed_has_no_price(asked: str) -> None:
    assert PRICES.price(asked) is None
    assert PRICES.cost(asked, Usage(1000, 1000)) is None


@given(st.sampled_from(sorted(PRICES.by_model)), st.sampled_from(["mini", "nano", "pro", "flash"]))
def test_another_word_in_a_name_is_another_model(name: str, word: str) -> None:
    longer = f"{name}-{word}"
    price = PRICES.price(longer)
    assert price is None or price.model == longer


def test_cost_is_tokens_times_price() -> None:
    assert PRICES.cost("gpt-4.1", Usage(1_000_000, 0)) == 2.0
    assert PRICES.cost("gpt-4.1", Usage(0, 1_000_000)) == 8.0
    assert PRICES.cost("gpt-4.1", Usage(3_000, 500)) == pytest.approx(0.006 + 0.004)
    assert PRICES.cost("gpt-4.1", Usage(0, 0)) == 0.0


@pytest.mark.parametrize("usage", [Usage(), Usage(None, 5), Usage(5, None)])
def test_tokens_that_nobody_counted_have_no_cost(usage: Usage) -> None:
    assert PRICES.cost("gpt-4.1", usage) is None


def test_an_embedding_model_has_no_price_for_replies() -> None:
    assert PRICES.cost("text-embedding-3-small", Usage(1_000_000, 0)) == 0.02
    assert PRICES.cost("text-embedding-3-small", Usage(10, 10)) is None


@given(
    st.sampled_from([name for name, price in PRICES.by_model.items() if price.output is not None]),
    st.lists(st.tuples(st.integers(0, 10**7), st.integers(0, 10**6)), min_size=1, max_size=5),
)
def test_costs_of_calls_add_up(model: str, calls: list[tuple[int, int]]) -> None:
    together = Usage(sum(i for i, _ in calls), sum(o for _, o in calls))
    costs = [PRICES.cost(model, Usage(i, o)) for i, o in calls]
    assert None not in costs
    assert PRICES.cost(model, together) == pytest.approx(sum(cost or 0.0 for cost in costs))


def test_the_shipped_list_is_plausible() -> None:
    assert isinstance(SHIPPED_DATA["as_of"], datetime.date)
    for provider, table in SHIPPED_DATA.items():
        assert provider == "as_of" or len(table["source"]) > 20
    for price in PRICES.by_model.values():
        assert 0 < price.input <= 100
        assert price.output is None or price.input <= price.output <= 500
        assert price.cached_input is None or price.cached_input < price.input


def test_the_list_says_of_what_day_it_is() -> None:
    assert str(SHIPPED_DATA["as_of"]) in PRICES.origin


def test_a_file_of_ones_own_goes_before_the_shipped_list(write: Callable[[str], Path]) -> None:
    path = write(
        "as_of = 2030-01-31\n[ours.models]\n"
        '"gpt-4.1" = { input = 1, output = 4.5 }\n"Our-Judge" = { input = 0, output = 0 }\n'
    )
    prices = Prices.load(path)
    assert prices.cost("gpt-4.1-2025-04-14", Usage(1_000_000, 0)) == 1.0
    assert prices.cost("our-judge", Usage(5, 5)) == 0.0
    assert prices.price("gpt-4.1-mini") == PRICES.price("gpt-4.1-mini")
    assert str(path) in prices.origin
    assert "2030-01-31" in prices.origin
    assert PRICES.cost("gpt-4.1", Usage(1_000_000, 0)) == 2.0  # the other list is not touched


def test_a_name_with_its_route_may_have_a_price_of_its_own(write: Callable[[str], Path]) -> None:
    prices = Prices.load(write('[x.models]\n"openai/gpt-4.1" = { input = 9, output = 9 }'))
    assert prices.cost("openai/gpt-4.1", Usage(1_000_000, 0)) == 9.0
    assert prices.cost("gpt-4.1", Usage(1_000_000, 0)) == 2.0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[x.models]\n"m" = { input = -1 }', ["'m'", "input", "-1"]),
        ('[x.models]\n"m" = { input = nan }', ["'m'", "input", "nan"]),
        ('[x.models]\n"m" = { input = inf }', ["'m'", "input", "inf"]),
        ('[x.models]\n"m" = { input = true }', ["'m'", "input", "True"]),
        ('[x.models]\n"m" = { input = 1, output = "2" }', ["'m'", "output", "'2'"]),
        ('[x.models]\n"m" = { input = 1, price = 2 }', ["'m'", "'price'", "cached_input"]),
        ('[x.models]\n"m" = { output = 1 }', ["'m'", "'input'"]),
        ('[x.models]\n"m" = 2', ["'m'", "input"]),
        ("[x.models]\ngpt-4.1 = { input = 1 }", ["'gpt-4'", "'1'", "quotes"]),
        ('[x]\n"m" = { input = 1 }', ["'x'", "[x.models]"]),
        ('"m" = 2', ["'m'", "[m.models]"]),
        ("[x]\nurl = 1\n[x.models]", ["'x'", "'url'"]),
        ('[x.models]\n"m" = { input = 1 }\n"M" = { input = 2 }', ["'M'", "twice"]),
        ("as_of = 7", ["as_of", "7"]),
        ('as_of = "2026-11-30"', ["as_of", "2026-11-30"]),
        ("[x", ["not a TOML file"]),
    ],
)
def test_a_wrong_file_is_told_by_place(
    text: str, said: list[str], write: Callable[[str], Path]
) -> None:
    path = write(text)
    with pytest.raises(SetupError) as caught:
        Prices.load(path)
    for part in [str(path), *said]:
        assert part in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_or_not_text_is_told(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"none\.toml: cannot be read"):
        Prices.load(tmp_path / "none.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SetupError, match=r"bytes\.toml: not a TOML file"):
        Prices.load(tmp_path / "bytes.toml")
