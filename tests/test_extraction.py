"""Claims: what is asked in one call, where a claim came from, which words were added to it."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragas_judge.judge import Request
from ragas_judge.judge.errors import IncompleteVerdictsError
from ragas_judge.metrics.evidence import Claim
from ragas_judge.metrics.extraction import BEFORE, MAX_CHARACTERS, MAX_SENTENCES, batches
from ragas_judge.metrics.invented import Source
from ragas_judge.metrics.steps import Steps

SENTENCES = [f"Boat {number} carries {number + 100} lamps." for number in range(1, 76)]
LONG = " ".join(SENTENCES)


def extract(judge: Any, text: str, question: str = "", language: str = "en") -> list[Claim]:
    return asyncio.run(Steps(judge, language).extract_claims(question, text))


# --- what is asked -----------------------------------------------------------------------


def test_an_ordinary_answer_takes_one_call() -> None:
    assert len(batches(" ".join(SENTENCES[:MAX_SENTENCES]), "en")) == 1
    assert batches(" \n---\n...", "en") == []


def test_a_long_answer_is_asked_about_in_parts_with_what_stands_before() -> None:
    parts = batches(LONG, "en")
    assert [len(batch.question("", "en").items) for batch in parts] == [30, 30, 15]
    question = parts[1].question("What do the boats carry?", "en")
    assert list(question.items) == [str(number) for number in range(31, 61)]
    assert list(question.shared["sentences"]) == [str(n) for n in range(31 - BEFORE, 61)]
    assert question.shared["sentences"]["30"] == SENTENCES[29]


@settings(deadline=None)  # the first example loads the parser
@given(sizes=st.lists(st.sampled_from([1, 300, MAX_CHARACTERS + 1]), max_size=80))
def test_each_sentence_is_asked_about_once_and_no_call_is_too_large(sizes: list[int]) -> None:
    text = "\n".join("x" * size + "!" for size in sizes)
    asked = [batch.question("", "en").items for batch in batches(text, "en")]
    assert [key for items in asked for key in items] == [str(n + 1) for n in range(len(sizes))]
    for items in asked:
        assert 1 <= len(items) <= MAX_SENTENCES
        assert len(items) == 1 or sum(map(len, items.values())) <= MAX_CHARACTERS


def test_claims_of_all_parts_come_in_order_with_their_place(scripted: Any) -> None:
    judge = scripted.make_judge()
    steps = Steps(judge, "en")
    claims = asyncio.run(steps.extract_claims("", LONG))
    assert [claim.text for claim in claims] == SENTENCES
    assert [claim.sentence_number for claim in claims] == list(range(1, 76))
    assert all(LONG[claim.start : claim.end] == claim.sentence for claim in claims)
    assert len(steps.calls) == 3


def test_calls_of_the_parts_already_made_are_kept_when_one_fails(scripted: Any) -> None:
    def answer(request: Request) -> Any:
        return "no" if "61" in scripted.ids_of(request) else scripted.answer_well(request)

    steps = Steps(scripted.make_judge(answer, max_reasks=0), "en")
    with pytest.raises(IncompleteVerdictsError):
        asyncio.run(steps.extract_claims("", LONG))
    assert steps.calls


# --- where a claim came from -------------------------------------------------------------


def test_a_claim_of_a_row_shows_the_row_with_its_columns(scripted: Any) -> None:
    text = "|Ticket|Price|\n|-|-|\n|adult|4.50 marlets|"
    said = scripted.only("claim_extraction", lambda _: {"1": ["An adult pays 4.50 marlets."]})
    (claim,) = extract(scripted.make_judge(said), text, "What does an adult pay?")
    assert claim.sentence == "Ticket: adult; Price: 4.50 marlets"
    assert text[claim.start : claim.end] == "|adult|4.50 marlets|"


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ({"1": ["It is red.", "It is red."], "2": []}, ["It is red."]),
        ({"1": ["It is red.", "it is  red"], "2": []}, ["It is red."]),
        ({"1": ["It is red."], "2": ["It is red."]}, ["It is red.", "It is red."]),
    ],
)
def test_a_claim_counts_once_for_each_sentence(
    scripted: Any, said: dict[str, list[str]], kept: list[str]
) -> None:
    text = "It is red. It is red, and the boat is made of larch."
    judge = scripted.make_judge(scripted.only("claim_extraction", lambda _: said))
    assert [claim.text for claim in extract(judge, text)] == kept


def test_a_claim_filed_under_another_sentence_goes_home(scripted: Any) -> None:
    text = "The hull of the boat is larch. Tickets are sold on board by the crew."
    said = {"1": ["The hull is larch.", "Tickets are sold on board."], "2": []}
    judge = scripted.make_judge(scripted.only("claim_extraction", lambda _: said))
    assert [claim.sentence_number for claim in extract(judge, text)] == [1, 2]


# --- nothing invented --------------------------------------------------------------------

ANSWER = (
    "The Orrin bell is looked after by Tamsin Reel, who lives on Cooper Row and rings it twice"
    " a day. It weighs 1,200.50 kg, was cast on 3 May 1931, cost £3 million and carries e-mail"
    " sensors. Children were seen there."
)
ANSWER_ZH = (
    "云岭钟由住在箍桶巷的裴四娘看管，她每天敲两次。钟重85千克，一九三一年五月三日铸成，高３．５米。"
)
NOT_INVENTED = [
    "Tamsin Reel looks after the Orrin bell.",
    "TAMSIN REEL lives on Cooper Row.",
    "Tamsin Reel’s bell is rung 2 times daily.",
    "The Orrin bell weighs 1200.5 kilograms.",
    "The Orrin bell was cast on May 3, 1931.",
    "The casting of the Orrin bell cost £3,000,000.",
    "The sensors of the bell are carried by email.",
    "A child was seen at the bell.",
    "Visitors may see the Orrin bell.",
]
NOT_INVENTED_ZH = [
    "云岭钟由裴四娘看管。",
    "裴四娘每天敲2次云岭钟。",
    "云岭钟重八十五公斤。",
    "云岭钟的铸成时间是1931年5月3日。",
    "云岭钟高3.5米。",
    "云岭钟的看管者是裴四娘。",
    "来客可以看云岭钟。",
]
INVENTED = [
    ("The Orrin bell weighs 1,250 kg.", ("1,250 kg",)),
    ("The Orrin bell weighs 1200.5 pounds.", ("1200.5 pounds",)),
    ("The bell was cast in 1913.", ("1913",)),
    ("The bell was cast on 4 May 1931.", ("4",)),
    ("The bell is made of bronze.", ("bronze",)),
    ("Tamsel Reel lives on Cooper Row.", ("Tamsel",)),
    ("Tamsin Reel lives in Vane on Cooper Row.", ("Vane",)),
    ("Tamsin Reel never rings the bell.", ("never",)),
]
INVENTED_ZH = [
    ("云岭钟重58千克。", ("58千克",)),
    ("云岭钟铸成于1932年。", ("1932年",)),
    ("裴三娘住在箍桶巷。", ("裴三娘",)),
    ("裴四娘住在木桶巷。", ("木",)),
    ("云岭钟由青铜铸成。", ("青铜",)),
    ("云岭钟没有看管。", ("没",)),
    ("云岭钟在Vane。", ("Vane",)),
]


@pytest.mark.parametrize("claim", NOT_INVENTED)
def test_other_forms_of_the_same_words_are_no_invention(claim: str) -> None:
    assert Source(ANSWER, "May visitors see the bell?").lacks(claim) == ()


@pytest.mark.parametrize("claim", NOT_INVENTED_ZH)
def test_other_forms_of_the_same_chinese_are_no_invention(claim: str) -> None:
    assert Source(ANSWER_ZH, "来客可以看云岭钟吗？").lacks(claim) == ()


@pytest.mark.parametrize(("claim", "words"), [*INVENTED, *INVENTED_ZH])
def test_what_stands_nowhere_is_named(claim: str, words: tuple[str, ...]) -> None:
    zh = re.search("[云裴]", claim)
    found = Source(ANSWER_ZH if zh else ANSWER).lacks(claim)
    assert found == words


@given(number=st.integers(2, 999_999_999))
def test_a_number_is_known_in_each_of_its_forms(number: int) -> None:
    source = Source(f"It has {number} lamps.")
    assert source.lacks(f"It has {number:,} lamps.") == ()
    assert source.lacks(f"It has {number}.0 lamps.") == ()
    assert source.lacks(f"It has {number + 1:,} lamps.") == (f"{number + 1:,}",)


@pytest.mark.parametrize(
    ("han", "digits"),
    [("十二", "12"), ("一百零五", "105"), ("三千二百", "3200"), ("两万", "20000"), ("三", "3")],
)
def test_a_chinese_numeral_is_its_value(han: str, digits: str) -> None:
    assert Source(f"共有{han}个灯。").lacks(f"共有{digits}个灯。") == ()
    assert Source(f"共有{digits}个灯。").lacks(f"共有{han}个灯。") == ()
    assert Source("共有7个灯。").lacks(f"共有{digits}个灯。") != ()


@given(text=st.text(max_size=60))
def test_a_text_lacks_nothing_of_itself(text: str) -> None:
    assert Source(text).lacks(text) == ()


def test_invented_words_are_shown_and_noted_and_leave_the_score_alone(scripted: Any) -> None:
    from ragas_judge.metrics import Faithfulness, Score

    said = {"1": ["The boat is red.", "The boat is made of oak."]}
    judge = scripted.make_judge(scripted.only("claim_extraction", lambda _: said))
    row = {
        "user_input": "What is the boat like?",
        "response": "It is red.",
        "retrieved_contexts": ["The boat is red."],
    }
    outcome = asyncio.run(Faithfulness(judge).explain(row))
    assert isinstance(outcome, Score)
    assert outcome == 1.0
    claims = outcome.evidence.to_dict()["claims"]
    assert [verdict["claim"]["invented"] for verdict in claims] == [(), ("oak",)]
    assert any("claim 2 has words" in note for note in outcome.evidence.notes)
