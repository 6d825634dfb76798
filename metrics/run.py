"""One metric bound to one judge at one moment: what scores a row, whoever asked for it."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..judge import Embedder, Judge
from ..judge.errors import EvaluatorError, JudgeTimeoutError, SetupError
from ..judge.spans import score_span
from ..judge.types import total
from ..prompts import detect_language
from .evidence import Evidence
from .offline.judge import OfflineJudge
from .offline.steps import OfflineSteps
from .outcomes import Failed, Outcome, Score, Unscored
from .sample import Sample
from .steps import Steps

if TYPE_CHECKING:
    from .base import JudgedMetric

log = logging.getLogger("ragas_judge")


@dataclass(frozen=True)
class Run:
    """Everything one row's score depends on, bound at one moment."""

    metric: JudgedMetric
    judge: Judge | None
    embedder: Embedder
    options: Mapping[str, Any] = field(default_factory=dict)

    async def explain(self, row: Any, seconds: float | None = None) -> Outcome:
        """Score one row within ``seconds``; whatever goes wrong becomes ``Failed``."""
        with score_span(self.metric.name) as done:
            outcome = await self._explain(row, seconds)
            done(outcome)
            return outcome

    async def _explain(self, row: Any, seconds: float | None) -> Outcome:
        evidence = Evidence(metric=self.metric.name, options=tuple(self.options.items()))
        steps: Steps | None = None
        clock: asyncio.Timeout | None = None
        try:
            sample = Sample.of(row)
            if self.judge is None:
                raise SetupError(
                    f"{self.metric.name} has no judge: pass llm= to the metric or to ragas.evaluate"
                )
            language = self.options["language"] or self._language(sample)
            deadline = None if seconds is None else time.monotonic() + seconds
            offline = isinstance(self.judge, OfflineJudge)
            steps = (OfflineSteps if offline else Steps)(self.judge, language, deadline)
            evidence = evidence.but(
                judge=self.judge.model, endpoint=self.judge.endpoint, language=language
            )
            async with asyncio.timeout(seconds) as clock:
                found: Any = await self.metric._score(sample, steps, self)
            if not isinstance(found, Score | Unscored | Failed):
                kind = type(found).__name__
                raise TypeError(f"{self.metric.name} returned a {kind}, not Score or Unscored")
            outcome: Outcome = found
        except Exception as error:  # the one place where a crash becomes a mark
            if isinstance(error, TimeoutError) and clock is not None and clock.expired():
                error = JudgeTimeoutError(f"the {seconds:g} s for this row and metric ran out")
            elif not isinstance(error, EvaluatorError):
                log.exception("%s: unexpected error", self.metric.name)
            outcome = Failed(error)
        return _with_evidence(outcome, evidence, steps)

    def _language(self, sample: Sample) -> str:
        """By the script of the question and of the text that the metric judges."""
        texts = [
            getattr(sample, name) or ""
            for name in ("reference", "response")
            if name in self.metric.columns
        ]
        return detect_language(sample.user_input or "", next(filter(None, texts), ""))


def _with_evidence(outcome: Outcome, known: Evidence, steps: Steps | None) -> Outcome:
    """Join what the metric found with what is known of the run."""
    found = outcome.evidence
    evidence = known.but(
        claims=found.claims,
        contexts=found.contexts,
        questions=found.questions,
        embedder=found.embedder,
        embedded_tokens=total(steps.embedded) if steps else 0,
        tags=found.tags,
        calls=tuple(steps.calls) if steps else (),
        notes=tuple(steps.notes) if steps else (),
    )
    if isinstance(outcome, Score):
        return Score(outcome.value, evidence)
    if isinstance(outcome, Failed):
        return Failed(outcome.error, evidence)
    return Unscored(outcome.reason, evidence)
