"""Give verdicts their deciding words, where these did not come with the verdict.

    separate   one more call: the claims, marked with what was decided, for a quote each
    nearest    the passage of the contexts that shares most words with the claim; nobody is asked

A claim that was not supported becomes ``contradicted`` when the judge then quotes words of a
context against it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from ..judge.errors import ReplyError
from ..judge.items import Question
from ..prompts import load_prompt
from .nearest import nearest
from .offline.passages import windows
from .quotes import locate
from .replies import EvidenceAnswer, parse_evidence

if TYPE_CHECKING:
    from .evidence import ClaimVerdict
    from .steps import Steps
    from .verification import Verification

MARKS = {True: "supported", False: "not supported"}
"""How the prompt ``claim_evidence`` is told what was decided."""


async def add_quotes(
    steps: Steps,
    texts: Mapping[str, str],
    verdicts: dict[str, ClaimVerdict],
    contexts: Mapping[int, str],
    how: Verification,
) -> dict[str, ClaimVerdict]:
    """The verdicts with quotes, as ``how.quotes`` says.

    Words that cannot be had leave the verdict as it is, with a note: it was decided before.
    """
    if how.quotes == "nearest":
        passages = windows(contexts, steps.language)
        return {
            number: replace(verdict, quote=nearest(texts[number], passages))
            for number, verdict in verdicts.items()
        }
    if how.quotes != "separate":
        return verdicts
    question: Question[EvidenceAnswer] = Question(
        load_prompt("claim_evidence", language=steps.language),
        {n: f"({MARKS[v.verdict == 'supported']}) {texts[n]}" for n, v in verdicts.items()},
        parse_evidence,
        {"contexts": {str(number): text for number, text in contexts.items()}},
    )
    try:
        answers = await steps.ask(question)
    except ReplyError as error:
        steps.notes.append(f"verdicts without quotes: {error}")
        return verdicts
    found = answers.by_id
    return {number: _with(verdict, found[number], contexts) for number, verdict in verdicts.items()}


def _with(
    verdict: ClaimVerdict, answer: EvidenceAnswer, contexts: Mapping[int, str]
) -> ClaimVerdict:
    if verdict.verdict == "supported":
        return replace(verdict, quote=locate(answer.quote, answer.context, contexts))
    if not answer.quote.strip():
        return verdict
    against = locate(answer.quote, answer.context, contexts)
    return replace(verdict, verdict="contradicted", quote=against) if against.verified else verdict
