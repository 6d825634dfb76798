"""A row judged by ragas' own metrics, with ragas' prompts and ragas' parser, on our client.

claim      Faithfulness: its verification prompt on the one claim
response   Faithfulness as a whole; faithful when its score is 1
contexts   LLMContextPrecisionWithReference, for each context by itself
recall     LLMContextRecall: each sentence of the labels gets the verdict of the statement
           most like it (``rapidfuzz``), as the model writes the statements anew
pair       ResponseRelevancy; the higher score wins, embedded as ours is
"""

from __future__ import annotations

import math
import time
from collections.abc import Awaitable, Callable, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, cast

from _methods import Asked, Cost, Found, nothing, stops
from _ours import compared
from langchain_core.exceptions import OutputParserException
from ragas import SingleTurnSample
from ragas.exceptions import RagasException
from ragas.metrics import (
    Faithfulness,
    LLMContextPrecisionWithReference,
    LLMContextRecall,
    ResponseRelevancy,
)
from ragas.metrics._context_recall import QCA
from rapidfuzz import fuzz, process

from ragas_judge.judge import Judge, Reply, Request
from ragas_judge.judge.as_ragas import JudgeLLM, ragas_embeddings
from ragas_judge.judge.errors import EvaluatorError
from ragas_judge.judge.types import total

if TYPE_CHECKING:
    from _labelled import Aim, Row

PROMPTS = (f"ragas/{version('ragas')}",)


class Tally:
    """A judge that keeps what it was answered: ragas tells nobody which calls it made."""

    def __init__(self, judge: Judge) -> None:
        self.judge = judge
        self.replies: list[tuple[Reply, int]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.judge, name)

    async def ask(self, request: Request, **options: Any) -> tuple[Reply, int]:
        """As ``Judge.ask``."""
        answered = await self.judge.ask(request, **options)
        self.replies.append(answered)
        return answered

    def cost(self, seconds: float) -> Cost:
        """Of all calls so far."""
        usages = [reply.usage for reply, _ in self.replies]
        return Cost(
            input=total(usage.input for usage in usages),
            output=total(usage.output for usage in usages),
            calls=len(self.replies),
            cached=sum(attempts == 0 for _, attempts in self.replies),
            seconds=round(seconds, 3),
            prompts=PROMPTS,
        )


async def ask_ragas(row: Row, judge: Judge) -> Asked:
    """Ask a judge in ragas' words.

    Raises:
        EvaluatorError: one that ``stops``.
    """
    began, failed = time.perf_counter(), ""
    tally = Tally(judge)
    try:
        found = await _AIMS[row.aim](row, JudgeLLM(cast("Judge", tally)))
    except EvaluatorError as error:
        if stops(error):
            raise
        found, failed = nothing(row), type(error).__name__
    except (OutputParserException, RagasException) as error:
        found, failed = nothing(row), type(error).__name__
    return Asked(found, tally.cost(time.perf_counter() - began), failed)


async def _claim(row: Row, llm: JudgeLLM) -> Found:
    metric = Faithfulness(llm=llm)
    columns = {"retrieved_contexts": list(row.contexts)}
    given = await metric._create_verdicts(columns, list(row.texts), [])
    return _faithful(row, metric._compute_score(given))


async def _response(row: Row, llm: JudgeLLM) -> Found:
    return _faithful(row, await Faithfulness(llm=llm).single_turn_ascore(_sample(row)))


def _faithful(row: Row, score: float) -> Found:
    """ragas says NaN when the model named no statement, and rounds nothing: 1 is all of them."""
    if math.isnan(score):
        return nothing(row, "no statements")
    return Found((float(score == 1),), (score,) if row.aim == "response" else ())


async def _contexts(row: Row, llm: JudgeLLM) -> Found:
    """By context: the precision of one context alone is its verdict."""
    metric = LLMContextPrecisionWithReference(llm=llm)
    said = []
    for context in row.contexts:
        sample = _sample(row, reference=row.answer, retrieved_contexts=[context])
        said.append(float(await metric.single_turn_ascore(sample) > 0.5))
    hits = [sum(said[: k + 1]) / (k + 1) * verdict for k, verdict in enumerate(said)]
    return Found(tuple(said), (), sum(hits) / (sum(said) + 1e-10))


async def _recall(row: Row, llm: JudgeLLM) -> Found:
    metric = LLMContextRecall(llm=llm)
    asked = QCA(question=row.question, context="\n".join(row.contexts), answer=row.answer)
    (reply,) = await metric.context_recall_prompt.generate_multiple(data=asked, llm=llm)
    given = reply.classifications
    if not given:
        return nothing(row, "no statements")
    statements = [each.statement for each in given]
    said = [float(bool(given[place].attributed)) for place in aligned(row.texts, statements)]
    return Found(tuple(said), (), metric._compute_score(given))


def aligned(sentences: Sequence[str], statements: Sequence[str]) -> list[int]:
    """For each sentence the number of the statement most like it, the first of equals.

    >>> aligned(["It rings at noon.", "It was cast in 1834."], ["It was cast in 1834", "Noon."])
    [0, 0]
    """
    best = (process.extractOne(sentence, statements, scorer=fuzz.ratio) for sentence in sentences)
    return [found[2] for found in best if found is not None]


async def _pair(row: Row, llm: JudgeLLM) -> Found:
    judge = cast("Tally", llm.judge).judge
    metric = ResponseRelevancy(llm=llm, embeddings=ragas_embeddings(judge))
    scores = []
    for response in row.texts:
        score = await metric.single_turn_ascore(_sample(row, response=response))
        if math.isnan(score):
            return nothing(row, "no question")
        scores.append(float(score))
    return compared(*scores)


def _sample(row: Row, **more: Any) -> SingleTurnSample:
    columns = {"user_input": row.question, "retrieved_contexts": list(row.contexts)}
    if row.aim == "response":
        columns["response"] = row.texts[0]
    return SingleTurnSample(**{**columns, **more})


_AIMS: dict[Aim, Callable[[Row, JudgeLLM], Awaitable[Found]]] = {
    "claim": _claim,
    "response": _response,
    "contexts": _contexts,
    "recall": _recall,
    "pair": _pair,
}
