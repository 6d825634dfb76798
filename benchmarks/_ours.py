"""A row judged by the steps of this package, with a model or offline."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from _methods import Asked, Cost, Found, Method, nothing, stops

from ragas_judge.judge import Judge
from ragas_judge.judge.errors import EvaluatorError
from ragas_judge.metrics import AnswerRelevancy
from ragas_judge.metrics._context_precision import context_precision_value
from ragas_judge.metrics._faithfulness import faithfulness_value
from ragas_judge.metrics.evidence import Claim, ClaimVerdict
from ragas_judge.metrics.outcomes import Failed, Unscored
from ragas_judge.metrics.steps import Steps
from ragas_judge.metrics.verification import Verification
from ragas_judge.prompts import detect_language

if TYPE_CHECKING:
    from _labelled import Aim, Row

HOW = Verification()
"""What the offline judge is given; it has no use for it."""


async def ask_ours(row: Row, method: Method, judge: Judge | None) -> Asked:
    """Ask a judge, or the offline one when it is None.

    Raises:
        EvaluatorError: one that ``stops``.
    """
    began, failed = time.perf_counter(), ""
    steps, how = make_steps(row, judge), method.how or HOW
    try:
        found = await _AIMS[row.aim](row, steps, how)
    except EvaluatorError as error:
        if stops(error):
            raise
        found, failed = nothing(row), type(error).__name__
    seconds = time.perf_counter() - began
    offline = judge is None or how.cascade is not None
    return Asked(found, Cost.of(steps.calls, seconds, offline=offline), failed)


def make_steps(row: Row, judge: Judge | None) -> Any:
    """``Steps`` or ``OfflineSteps`` for a row, with the prompt pack that the metrics would take."""
    text = row.texts[0] if row.aim in ("claim", "response") else row.answer
    language = detect_language(row.question, text)
    if judge is not None:
        return Steps(judge, language)
    from ragas_judge.metrics.offline import OfflineJudge, OfflineSteps

    return OfflineSteps(OfflineJudge(), language)


async def _claims(row: Row, steps: Any, how: Verification) -> Found:
    """The claim of the row, or the sentences of its reference, as they stand."""
    claims = [Claim(text, text, number) for number, text in enumerate(row.texts, start=1)]
    verdicts = await steps.verify_claims(claims, _contexts(row), how)
    said = _said(verdicts)
    graded = tuple(verdict.probability for verdict in verdicts)
    value = sum(said) / len(said) if row.aim == "recall" else None
    return Found(said, graded, value, _unverified(verdicts))


async def _response(row: Row, steps: Any, how: Verification) -> Found:
    """Faithfulness; the response is faithful when each of its claims is supported.

    Graded by the mean probability of its claims, or by the share that is supported.
    """
    claims = await steps.extract_claims(row.question, row.texts[0])
    verdicts = await steps.verify_claims(claims, _contexts(row), how) if claims else []
    score = faithfulness_value([said == 1 for said in _said(verdicts)])
    if isinstance(score, Unscored):
        return nothing(row, score.reason)
    probabilities = [v.probability for v in verdicts if v.probability is not None]
    known = len(probabilities) == len(verdicts)
    graded = sum(probabilities) / len(verdicts) if known else score
    return Found((float(score == 1),), (graded,), None, _unverified(verdicts))


async def _judged_contexts(row: Row, steps: Any, how: Verification) -> Found:
    """Each context, in one call or in one each; a blank one is not useful."""
    contexts = _contexts(row)
    parts = [{rank: text} for rank, text in contexts.items()]
    verdicts = []
    for part in parts if how.method == "per_context" else [contexts]:
        verdicts += await steps.judge_contexts(row.question, row.answer, part)
    useful = {verdict.context: verdict.useful for verdict in verdicts}
    ranked = [useful.get(rank, False) for rank in range(1, len(row.contexts) + 1)]
    value = context_precision_value(ranked)
    return Found(tuple(map(float, ranked)), (), value, _unverified(verdicts))


async def _pair(row: Row, steps: Any, how: Verification) -> Found:
    """The response with the higher answer relevancy."""
    scores = []
    for response in row.texts:
        outcome = await AnswerRelevancy(steps.judge).explain(
            {"user_input": row.question, "response": response}
        )
        steps.calls.extend(outcome.evidence.calls)
        if isinstance(outcome, Failed):
            raise outcome.error
        if isinstance(outcome, Unscored):
            return nothing(row, outcome.reason)
        scores.append(outcome.value)
    return compared(*scores)


def compared(first: float, second: float) -> Found:
    """Which of two scores is the higher."""
    return Found((0.5 if first == second else float(second > first),), (second - first,))


_AIMS: dict[Aim, Callable[[Row, Any, Verification], Awaitable[Found]]] = {
    "claim": _claims,
    "response": _response,
    "contexts": _judged_contexts,
    "recall": _claims,
    "pair": _pair,
}


def _contexts(row: Row) -> dict[int, str]:
    """Those that hold any text, by their rank from 1."""
    return {rank: text for rank, text in enumerate(row.contexts, start=1) if text.strip()}


def _said(verdicts: Sequence[ClaimVerdict]) -> tuple[float, ...]:
    return tuple(float(verdict.verdict == "supported") for verdict in verdicts)


def _unverified(verdicts: Sequence[Any]) -> int:
    return sum(not verdict.verified for verdict in verdicts)
