"""Answer relevancy: would the questions that the response answers be the one that was asked?

    answer relevancy = min(1, max(0, (cos[1] + ... + cos[n]) / n))

cos[i]   cosine of the vectors of the question asked and of question i, written from the response

Range 0 to 1, higher is better. 0 when most of the n readings of the response are noncommittal.
How high unrelated texts score depends on the embedder: compare scores of one embedder only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ragas.metrics.base import MetricWithEmbeddings

from ..judge.errors import EmbeddingError, SetupError
from ..prompts import detect_language
from .base import DEFAULT_EMBEDDINGS, JudgedMetric
from .evidence import Evidence
from .lending import Lendable
from .outcomes import Outcome, Score, Unscored
from .run import Run
from .sample import Sample
from .steps import Steps

DEFAULT_QUESTIONS = 3


def answer_relevancy_value(similarities: Sequence[float], noncommittal: Sequence[bool]) -> float:
    """Mean similarity, clipped to 0..1; 0 when more than half of the readings do not commit.

    Args:
        similarities: cosine of the question asked and of each question written back, -1 to 1.
        noncommittal: for each, whether the response was read as noncommittal.

    Raises:
        ValueError: no similarities, or not one flag each.

    >>> round(answer_relevancy_value([0.95, 0.82, 0.97], [False] * 3), 4)    # 2.74 / 3
    0.9133
    >>> answer_relevancy_value([0.95, 0.82, 0.97], [True, True, False])
    0.0
    """
    if not similarities or len(similarities) != len(noncommittal):
        raise ValueError("one similarity and one flag for each question, and at least one question")
    if sum(noncommittal) * 2 > len(noncommittal):
        return 0.0
    return min(1.0, max(0.0, math.fsum(similarities) / len(similarities)))


def cosine(a: Sequence[float], b: Sequence[float]) -> float:
    """Cosine of the angle between two vectors, -1 to 1.

    Raises:
        EmbeddingError: a vector has no direction (all zeros, or not finite).

    >>> cosine([3.0, 4.0], [4.0, 3.0])
    0.96
    """
    length = math.hypot(*a) * math.hypot(*b)
    if not math.isfinite(length) or length == 0:
        raise EmbeddingError("the embedder returned a vector without direction")
    return max(-1.0, min(1.0, math.fsum(x * y for x, y in zip(a, b, strict=True)) / length))


class AnswerRelevancy(JudgedMetric, MetricWithEmbeddings):
    """Mean similarity of the question to questions written back from the response.

    Args:
        llm, name, language, on_failure: as for ``JudgedMetric``.
        embeddings: see ``adopt_embedder``; unless given, the judge's, else the embedded one.
            None: what ``ragas.evaluate(embeddings=…)`` is given.
        questions: how many questions are written back, in one call.
    """

    metric_name = "answer_relevancy"
    columns = frozenset({"user_input", "response"})
    needed = frozenset({"user_input", "response"})

    embeddings = Lendable()

    def __init__(
        self,
        llm: Any = None,
        *,
        embeddings: Any = DEFAULT_EMBEDDINGS,
        questions: int = DEFAULT_QUESTIONS,
        **settings: Any,
    ) -> None:
        """Keep the settings."""
        if questions < 1:
            raise SetupError(f"questions is at least 1, not {questions!r}")
        super().__init__(llm, **settings)
        self.embeddings, self.questions = embeddings, questions

    def _options(self) -> dict[str, Any]:
        return {**super()._options(), "questions": self.questions}

    async def _score(self, sample: Sample, steps: Steps, run: Run) -> Outcome:
        response, asked = sample.response or "", sample.user_input or ""
        if not response.strip():
            return Unscored("empty response")
        if not asked.strip():
            return Unscored("no question")
        written = await steps.write_questions(response, run.options["questions"])
        flags = [question.noncommittal for question in written]
        if sum(flags) * 2 > len(flags):  # nothing need be compared
            return Score(0.0, Evidence(questions=tuple(written), tags=("noncommittal",)))
        texts = [question.text for question in written if question.text]
        asked_vector, *vectors = await steps.embed(run.embedder, [asked, *texts])
        likeness = dict(zip(texts, (cosine(asked_vector, v) for v in vectors), strict=True))
        similarities = [likeness.get(question.text, 0.0) for question in written]
        known = {detect_language(response), detect_language(asked)}
        strange = [
            str(number)
            for number, question in enumerate(written, start=1)
            if question.text and detect_language(question.text) not in known
        ]
        if strange:
            said = f"question {', '.join(strange)}: in another language than the response"
            steps.notes.append(said)
        questions = tuple(
            replace(
                question,
                similarity=similarity,
                language=detect_language(question.text) if question.text else "",
            )
            for question, similarity in zip(written, similarities, strict=True)
        )
        evidence = Evidence(questions=questions, embedder=run.embedder.name)
        return Score(answer_relevancy_value(similarities, flags), evidence)
