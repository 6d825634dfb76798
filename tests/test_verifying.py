"""Ways to check claims: what is asked, how votes and probabilities decide, whence quotes come."""

from __future__ import annotations

import asyncio
import math
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragas_judge.judge import Judge, Reply, Request, RetryPolicy, ScriptedTransport
from ragas_judge.judge.errors import IncompleteVerdictsError, JudgeAuthError, SetupError
from ragas_judge.judge.types import Token
from ragas_judge.metrics import ContextRecall, Faithfulness
from ragas_judge.metrics.evidence import Claim, ClaimVerdict
from ragas_judge.metrics.steps import Steps
from ragas_judge.metrics.verification import METHODS, QUOTES, Verification
from ragas_judge.metrics.verifying import BEST_FIRST, majority

CONTEXTS = {
    1: "The Tolm mill ground rye. Its wheel is kept in the yard.",
    2: "The mill closed in 1907. A fire destroyed its roof.",
    3: "Rye bread is baked on Fridays.",
}
CLAIMS = [
    Claim(text, text, number)
    for number, text in enumerate(
        ["The wheel is kept in the yard.", "The mill closed in 1917.", "A duke owned it."], start=1
    )
]
TRUE = {"The wheel is kept in the yard."}


def blocks(request: Request) -> list[dict[str, str]]:
    """The numbered texts of each data block of the question: contexts, then claims."""
    found = re.findall(r"<data-\w+>\n(.*?)\n</data-", request.messages[-1].content, re.DOTALL)
    return [dict(re.findall(r"^\[(\d+)\] (.*)$", block, re.MULTILINE)) for block in found]


def knows(request: Request, *, true: set[str] = TRUE) -> Any:
    """Answers by what is true, wherever the context that says it is at hand."""
    prompt = request.prompt.id if request.prompt else ""
    contexts, claims = blocks(request)[0], blocks(request)[-1]
    at_hand = any("wheel" in text for text in contexts.values())
    if prompt == "claim_word":
        (claim,) = re.findall(r"<data-\w+>\n(.*?)\n</data-", request.messages[-1].content, re.S)[1:]
        return "Yes" if claim in true and at_hand else "No"
    if prompt == "claim_evidence":
        return {number: evidence(text) for number, text in claims.items()}
    supported = {number: text in true and at_hand for number, text in claims.items()}
    if prompt == "claim_verdict":
        return {number: "yes" if found else "no" for number, found in supported.items()}
    yes = {"verdict": "supported", "context": 1, "quote": "Its wheel is kept in the yard"}
    no = {"verdict": "not_found", "context": 0, "quote": ""}
    return {number: yes if found else no for number, found in supported.items()}


def evidence(text: str) -> dict[str, Any]:
    if "1917" in text:
        return {"context": 2, "quote": "The mill closed in 1907"}
    return {"context": 0, "quote": ""} if "duke" in text else {"context": 1, "quote": "Its wheel"}


async def no_sleep(_: float) -> None:
    pass


def judge_that(answer: Callable[[Request], Any] = knows, **settings: Any) -> Judge:
    retry = RetryPolicy(attempts=1, sleep=no_sleep)
    return Judge("m", transport=ScriptedTransport(answer), retry=retry, **settings)


def check(
    judge: Judge, how: Verification, claims: list[Claim] = CLAIMS, language: str = "en"
) -> tuple[list[ClaimVerdict], Steps]:
    steps = Steps(judge, language)
    return asyncio.run(steps.verify_claims(claims, CONTEXTS, how)), steps


def prompts(judge: Judge) -> Counter[str]:
    requests: list[Request] = judge._live.requests  # type: ignore[attr-defined]
    return Counter(request.prompt.id for request in requests if request.prompt)


# --- methods ------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    ("how", "asked"),
    [
        (Verification(), {"claim_verification": 1}),
        (Verification(quotes="before"), {"claim_verification_quote_first": 1}),
        (Verification(quotes="none"), {"claim_verdict": 1}),
        (Verification(quotes="nearest"), {"claim_verdict": 1}),
        (Verification(quotes="separate"), {"claim_verdict": 1, "claim_evidence": 1}),
        (Verification("per_claim"), {"claim_verification": 3}),
        (Verification("per_claim", quotes="none"), {"claim_verdict": 3}),
        (Verification("per_context"), {"claim_verification": 3 + 2}),
        (Verification("per_context", quotes="none"), {"claim_verdict": 3 + 2}),
        (Verification("probability", quotes="nearest"), {"claim_word": 3}),
        (Verification("probability", quotes="separate"), {"claim_word": 3, "claim_evidence": 1}),
        (Verification(votes=3), {"claim_verification": 3}),
        (Verification("probability", votes=2, quotes="none"), {"claim_word": 6}),
    ],
    ids=str,
)
def test_every_way_finds_the_same_verdicts(
    how: Verification, asked: dict[str, int], language: str
) -> None:
    judge = judge_that()
    found, steps = check(judge, how, language=language)
    assert [verdict.claim for verdict in found] == CLAIMS
    assert [verdict.verdict == "supported" for verdict in found] == [True, False, False]
    assert prompts(judge) == asked
    assert len(steps.calls) == sum(asked.values())


def test_the_same_question_is_asked_as_ever_by_default() -> None:
    judge = judge_that()
    check(judge, Verification())
    (request,) = judge._live.requests  # type: ignore[attr-defined]
    assert dict(request.sampling) == {"temperature": 0.0}
    assert request.repetition == 0


def test_a_claim_that_needs_two_contexts_is_checked_once_more_against_both() -> None:
    def answer(request: Request) -> Any:
        contexts, claims = blocks(request)[0], blocks(request)[-1]
        both = {"The mill closed in 1907. A fire destroyed its roof.", CONTEXTS[3]}
        found = both <= set(contexts.values())
        return dict.fromkeys(claims, "yes" if found else "no")

    claim = Claim("The mill closed in 1907; rye bread is baked on Fridays.", "", 1)
    judge = judge_that(answer)
    found, _ = check(judge, Verification("per_context", quotes="none"), [claim])
    assert found[0].verdict == "supported"
    assert prompts(judge) == {"claim_verdict": 4}


def test_calls_of_one_row_stand_in_the_order_of_the_claims_however_they_come_back() -> None:
    waiting: list[asyncio.Event] = []

    async def answer(request: Request) -> Any:
        mine = asyncio.Event()
        waiting.append(mine)
        if len(waiting) < len(CLAIMS):
            await mine.wait()
        for other in reversed(waiting):
            other.set()
        return knows(request)

    judge = judge_that(answer, concurrency=8)
    judge._line.service.turns.window.open()  # or the first call would go alone
    _, steps = check(judge, Verification("per_claim", quotes="none"))
    requests = judge._live.requests[-3:]  # type: ignore[attr-defined]
    by_key = {request.key(): blocks(request)[-1] for request in requests}
    texts = [next(iter(by_key[call.key].values())) for call in steps.calls]
    assert texts == [claim.text for claim in CLAIMS]


def test_when_one_call_fails_the_row_fails_and_its_calls_are_kept() -> None:
    def answer(request: Request) -> Any:
        if "duke" in request.messages[-1].content:
            raise JudgeAuthError("no")
        return knows(request)

    steps = Steps(judge_that(answer), "en")
    with pytest.raises(JudgeAuthError):
        asyncio.run(steps.verify_claims(CLAIMS, CONTEXTS, Verification("per_claim")))
    assert len(steps.calls) <= 2


def test_a_word_that_is_no_verdict_is_asked_again_and_never_counts_as_no() -> None:
    judge = judge_that(lambda request: "Perhaps", max_reasks=1)
    with pytest.raises(IncompleteVerdictsError):
        check(judge, Verification("probability", quotes="none"), CLAIMS[:1])
    assert prompts(judge) == {"claim_word": 2}


# --- probabilities ------------------------------------------------------------------------------


def sure(probability: float) -> Callable[[Request], Reply]:
    """A judge that writes "yes", or "no" below a half, and tells how sure it was."""

    def answer(request: Request) -> Reply:
        word = "Yes" if probability > 0.5 else "No"
        pairs = (("Yes", math.log(probability)), ("No", math.log(1 - probability)))
        return Reply(word, tokens=(Token(word, dict(pairs)[word], pairs),))

    return answer


@pytest.mark.parametrize(
    ("probability", "threshold", "verdict"),
    [
        (0.8, 0.5, "supported"),
        (0.3, 0.5, "not_found"),
        (0.8, 0.9, "not_found"),
        (0.3, 0.2, "supported"),
    ],
)
def test_the_probability_decides_against_the_threshold(
    probability: float, threshold: float, verdict: str
) -> None:
    how = Verification("probability", quotes="none", threshold=threshold)
    (found,), _ = check(judge_that(sure(probability)), how, CLAIMS[:1])
    assert (found.verdict, found.probability) == (verdict, pytest.approx(probability))


def test_without_log_probabilities_the_word_decides() -> None:
    (found,), _ = check(judge_that(), Verification("probability", quotes="none"), CLAIMS[:1])
    assert (found.verdict, found.probability) == ("supported", None)


def test_the_graded_score_stands_beside_the_hard_one() -> None:
    def answer(request: Request) -> Any:
        if request.prompt and request.prompt.id == "claim_extraction":
            return {"1": ["A is red."]}
        return sure(0.7)(request)

    metric = Faithfulness(judge_that(answer), verification="probability")
    row = {"response": "A is red.", "retrieved_contexts": ["B."], "user_input": "?"}
    score = asyncio.run(metric.explain(row))
    assert (score.value, score.evidence.graded) == (1.0, pytest.approx(0.7))
    assert score.evidence.to_dict()["graded"] == pytest.approx(0.7)


# --- votes --------------------------------------------------------------------------------------

VERDICTS = st.sampled_from(BEST_FIRST)


@given(st.lists(VERDICTS, min_size=1, max_size=9))
def test_the_verdict_given_most_often_wins_and_a_tie_is_not_in_favour(said: list[str]) -> None:
    claim = Claim("", "", 0)
    found = majority([ClaimVerdict(claim, verdict) for verdict in said])  # type: ignore[arg-type]
    counts = Counter(said)
    assert counts[found.verdict] == max(counts.values())
    rivals = [verdict for verdict in counts if counts[verdict] == counts[found.verdict]]
    assert found.verdict == max(rivals, key=BEST_FIRST.index)
    if len(said) > 1:
        assert found.probability == counts["supported"] / len(said)
        assert list(found.votes) == said


@pytest.mark.parametrize(
    ("judged_at", "voted_at"), [(0.0, [0.0, 0.7, 0.7]), (1.0, [1.0] * 3), (None, [None, 0.7, 0.7])]
)
def test_votes_after_the_first_are_left_some_chance(
    judged_at: float | None, voted_at: list[float | None]
) -> None:
    judge = judge_that(temperature=judged_at)
    check(judge, Verification(votes=3))
    requests = judge._live.requests  # type: ignore[attr-defined]
    assert [request.sampling.get("temperature") for request in requests] == voted_at
    assert [request.repetition for request in requests] == [0, 1, 2]


# --- quotes -------------------------------------------------------------------------------------


def test_words_against_a_claim_make_it_contradicted() -> None:
    found, _ = check(judge_that(), Verification(quotes="separate"))
    assert [verdict.verdict for verdict in found] == ["supported", "contradicted", "not_found"]
    quotes = [verdict.quote for verdict in found]
    assert quotes[0] is not None
    assert (quotes[0].text, quotes[0].context) == ("Its wheel", 1)
    assert quotes[1] is not None
    assert CONTEXTS[2][quotes[1].start : quotes[1].end] == "The mill closed in 1907"
    assert quotes[2] is None


def test_made_up_words_against_a_claim_change_nothing() -> None:
    def answer(request: Request) -> Any:
        if request.prompt and request.prompt.id == "claim_evidence":
            made_up = {"context": 2, "quote": "made up"}
            return dict.fromkeys(blocks(request)[-1], made_up)
        return knows(request)

    found, steps = check(judge_that(answer), Verification(quotes="separate"))
    assert [verdict.verdict for verdict in found] == ["supported", "not_found", "not_found"]
    assert [verdict.verified for verdict in found] == [False, True, True]
    assert steps.notes == []


def test_when_no_quotes_can_be_had_the_verdicts_stay() -> None:
    def answer(request: Request) -> Any:
        if request.prompt and request.prompt.id == "claim_evidence":
            return "I will not"
        return knows(request)

    found, steps = check(judge_that(answer, max_reasks=0), Verification(quotes="separate"))
    assert [verdict.verdict for verdict in found] == ["supported", "not_found", "not_found"]
    assert any(note.startswith("verdicts without quotes") for note in steps.notes)


def test_the_nearest_passage_is_shown_for_each_claim_that_shares_words_with_one() -> None:
    found, _ = check(judge_that(), Verification(quotes="nearest"))
    quotes = [verdict.quote and verdict.quote.text for verdict in found]
    assert quotes[:2] == ["Its wheel is kept in the yard.", "The mill closed in 1907."]
    for verdict in found:
        assert verdict.verified


# --- options ------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", [Faithfulness, ContextRecall])
def test_what_was_chosen_is_recorded_in_the_score(metric: Any) -> None:
    chosen = metric(judge_that(), verification="per_context", votes=2, quotes="none", threshold=0.4)
    outcome = asyncio.run(chosen.explain({}))
    assert (
        dict(outcome.evidence.options).items()
        >= {
            "verification": "per_context",
            "votes": 2,
            "quotes": "none",
            "threshold": 0.4,
            "cascade": None,
        }.items()
    )


@pytest.mark.parametrize(
    "options",
    [
        {"verification": "guess"},
        {"quotes": "perhaps"},
        {"votes": 0},
        {"votes": 1.5},
        {"threshold": 0},
        {"threshold": 1.0},
        {"cascade": (0.9, 0.1)},
        {"cascade": (-1, 0.5)},
        {"verification": "probability", "quotes": "after"},
    ],
    ids=str,
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(SetupError):
        Faithfulness(judge_that(), **options)


@given(st.sampled_from(METHODS), st.sampled_from(QUOTES), st.integers(1, 5))
def test_options_and_back(method: Any, quotes: Any, votes: int) -> None:
    if method == "probability" and quotes in ("after", "before"):
        quotes = "none"
    how = Verification(method, votes, quotes, 0.3, (0.1, 0.9))
    assert Verification.from_options(how.options()) == how


# --- cascade ------------------------------------------------------------------------------------


def test_claims_of_which_the_offline_judge_is_sure_are_not_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sure_of = dict(zip([claim.text for claim in CLAIMS], [0.95, 0.5, 0.05], strict=True))

    async def support(texts: dict[str, str], *_: Any) -> dict[str, ClaimVerdict]:
        return {
            number: ClaimVerdict(
                CLAIMS[0],
                "supported" if sure_of[text] > 0.5 else "not_found",
                probability=sure_of[text],
            )
            for number, text in texts.items()
        }

    monkeypatch.setattr("ragas_judge.metrics.offline.steps.support", support)
    judge = judge_that()
    found, _ = check(judge, Verification(quotes="none", cascade=(0.1, 0.9)))
    assert [verdict.claim for verdict in found] == CLAIMS
    assert [verdict.verdict for verdict in found] == ["supported", "not_found", "not_found"]
    (request,) = judge._live.requests  # type: ignore[attr-defined]
    assert list(blocks(request)[-1].values()) == [CLAIMS[1].text]


def test_a_cascade_over_the_real_offline_judge() -> None:
    judge = judge_that()
    found, _ = check(judge, Verification(quotes="none", cascade=(0.5, 0.5)))
    assert [verdict.verdict == "supported" for verdict in found] == [True, False, False]
    assert judge._live.requests == []  # type: ignore[attr-defined]
