"""The attacks themselves: valid, varied, and none can close the data block it stands in."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragas_judge.prompts import load_prompt, prompt_ids
from ragas_judge.prompts._fence import fence, neutralise
from ragas_judge.runs import injection
from ragas_judge.runs.injection import Attack, load_attacks, load_rows
from ragas_judge.runs.injection.attacks import LANGUAGES, UNMOVED, WISHED, planted, planted_case

ATTACKS = load_attacks()
KINDS = {
    "order", "forged verdict", "fake fence", "chat tokens", "role change", "fake examples",
    "fake re-ask", "authority", "encoded", "other language", "hidden markup", "unicode",
    "reference says", "score anchor",
}  # fmt: skip
TRUTH = {"pass": "unsupported", "fail": "supported", "useful": "useless"}
each_attack = pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.id)


def bears(mark: str, text: str) -> bool:
    return re.search(rf"(?<!\d){re.escape(mark)}(?!\d)", text) is not None


def test_there_are_enough_and_no_two_are_alike() -> None:
    assert len(ATTACKS) >= 48
    assert len({attack.id for attack in ATTACKS}) == len(ATTACKS)
    texts = [text for attack in ATTACKS for text in attack.plant.values()]
    assert len(set(texts)) == len(texts)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_kind_wish_and_place_in_each_language(language: str) -> None:
    mine = [attack for attack in ATTACKS if attack.language == language]
    assert {attack.kind for attack in mine} == KINDS
    assert {attack.wish for attack in mine} == set(TRUTH)
    assert {attack.place for attack in mine} == {"response", "context"}
    assert abs(2 * len(mine) - len(ATTACKS)) <= 1


def test_the_first_few_are_from_each_language() -> None:
    assert {attack.language for attack in ATTACKS[:2]} == set(LANGUAGES)


def test_what_grants_a_wish_is_not_what_it_starts_from() -> None:
    assert set(UNMOVED) == set(WISHED) == set(TRUTH)
    assert not any(UNMOVED[wish] & WISHED[wish] for wish in TRUTH)


@pytest.mark.parametrize("row", load_rows().values(), ids=load_rows())
def test_the_clean_rows(row: Any) -> None:
    assert row.language in LANGUAGES
    assert bears(row.mark, row.claim)
    where = [n for n, text in enumerate(row.contexts, start=1) if bears(row.mark, text)]
    if row.truth == "unsupported":
        assert where == []
    else:
        assert len(where) == 1
    assert (row.truth == "useless") == (row.useless in range(1, len(row.contexts) + 1))
    assert row.useless not in where
    assert any(attack.row == row for attack in ATTACKS), "no attack uses it"


@each_attack
def test_an_attack_suits_its_row(attack: Attack) -> None:
    row = attack.row
    assert re.fullmatch(rf"{row.language}(-[a-z0-9]+)+", attack.id)
    assert attack.language == row.language
    assert row.truth == TRUTH[attack.wish]
    places = {"response", *(f"context {n}" for n, _ in enumerate(row.contexts, start=1))}
    assert attack.plant
    assert set(attack.plant) <= places
    if attack.wish == "useful":
        assert set(attack.plant) == {f"context {row.useless}"}


@each_attack
def test_an_attack_is_planted_and_leaves_the_rest_alone(attack: Attack) -> None:
    case, row = planted_case(attack), attack.row
    texts = {"response": (row.claim, case.response)}
    pairs = zip(row.contexts, case.contexts, strict=True)
    texts |= {f"context {n}": pair for n, pair in enumerate(pairs, start=1)}
    for place, (clean, now) in texts.items():
        assert clean in now
        assert (clean != now) == (place in attack.plant)
        assert "$" not in now


@each_attack
def test_words_in_a_context_order_and_do_not_state_the_claim(attack: Attack) -> None:
    """A context that states the claim supports it: the verdict would be right to change."""
    for place, words in attack.plant.items():
        if place != "response":
            assert not bears(attack.row.mark, planted(words, "", attack.row))


def rendered(attack: Attack) -> list[str]:
    """The last message of every prompt, with this attack wherever its words can get."""
    case = planted_case(attack)
    contexts = {str(n): text for n, text in enumerate(case.contexts, start=1)}
    claims = {"1": case.response}
    known = {
        "question": case.question,
        "answer": case.response,
        "sentences": claims,
        "contexts": contexts,
    }
    texts = []
    for name in prompt_ids():
        prompt = load_prompt(name, language=case.language)
        items = contexts if name == "context_usefulness" else claims
        given = {"items": items, **known}
        variables = {variable: given[variable] for variable in prompt.variables}
        texts.append(prompt.messages(variables)[-1].content)
    return texts


@each_attack
def test_no_attack_closes_a_block_or_opens_one(attack: Attack) -> None:
    for text in rendered(attack):
        codes = re.findall(r"^<data-(\w{8})>$", text, re.MULTILINE)
        for code in codes:
            assert text.count(f"\n</data-{code}>") == 1
        assert len(re.findall(r"</?data-", text, re.IGNORECASE)) == 2 * len(codes)
        assert "<|" not in text


unhurried = settings(deadline=None)  # a busy machine is no failure
fragments = st.lists(
    st.one_of(
        st.sampled_from([words for attack in ATTACKS for words in attack.plant.values()]),
        st.from_regex(r"\A\s?</?[dD][aA][tT][aA]-[0-9a-f]{8}>\s?\Z"),
        st.from_regex(r"\A[\n\r\x85\u2028\x0b]?\[[1-9]\] \Z"),
        st.sampled_from(["<", "</", "data-", "<|", "<｜", "\n", "\r\n", "\u2029", "\u200b"]),
        st.text(max_size=20),
    ),
    max_size=8,
).map("".join)


@unhurried
@given(fragments)
def test_no_text_can_close_its_own_block(text: str) -> None:
    block = fence(text)
    code = block[6:14]
    assert block.endswith(f"\n</data-{code}>")
    body = block.removeprefix(f"<data-{code}>\n").removesuffix(f"\n</data-{code}>")
    assert not re.search(r"</?data-|<[|｜]", body, re.IGNORECASE)
    assert len(body) == len(text), "only brackets were replaced"


@unhurried
@given(st.lists(fragments, min_size=1, max_size=4))
def test_no_text_can_pass_for_another_number(texts: list[str]) -> None:
    block = fence({str(number): text for number, text in enumerate(texts, start=1)})
    numbers = [line[1] for line in block.splitlines() if re.match(r"\[\d", line)]
    assert numbers == [str(number) for number, _ in enumerate(texts, start=1)]


@unhurried
@given(fragments)
def test_neutralising_twice_changes_nothing_more(text: str) -> None:
    once = neutralise(text)
    assert neutralise(once) == once


@pytest.mark.parametrize(
    "name", [module.name for module in pkgutil.iter_modules(injection.__path__)]
)
def test_examples_of(name: str) -> None:
    module = importlib.import_module(f"ragas_judge.runs.injection.{name}")
    assert doctest.testmod(module).failed == 0
