"""Context precision: do the useful contexts stand first?

    AP = sum over k of v[k] * P[k]  /  sum over k of v[k]        P[k] = (v[1] + ... + v[k]) / k

v[k]   1 when the context at rank k is useful for the reference answer, else 0
P[k]   share of useful contexts among the first k

Range 0 to 1, higher is better; a perfect ranking is exactly 1 (no epsilon in the denominator).
No useful context, or no context at all: 0, tagged.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any, Literal

from ..judge.errors import SetupError
from .base import JudgedMetric
from .evidence import ContextVerdict, Evidence
from .outcomes import Outcome, Score, Unscored
from .run import Run
from .sample import Sample
from .steps import Steps


def context_precision_value(useful: Sequence[bool]) -> float:
    """Average precision of verdicts in rank order; 0 when none is useful.

    Args:
        useful: v[1], v[2], …, best rank first.

    >>> round(context_precision_value([True, False, True, False]), 4)    # (1/1 + 2/3) / 2
    0.8333
    >>> context_precision_value([True, True, True]), context_precision_value([False])
    (1.0, 0.0)
    """
    if not any(useful):
        return 0.0
    hits = accumulate(useful)
    ranked = enumerate(zip(useful, hits, strict=True), start=1)
    return sum(hit / k for k, (v_k, hit) in ranked if v_k) / sum(useful)


class ContextPrecision(JudgedMetric):
    """Average precision of the retrieved contexts, judged useful or not.

    Args:
        llm, name, language, on_failure: as for ``JudgedMetric``.
        against: what a context must help to arrive at: ``"reference"``, ``"response"``, or
            ``"auto"``: the reference, and in rows that have no such column the response, tagged.
    """

    metric_name = "context_precision"
    columns = frozenset({"user_input", "retrieved_contexts", "reference", "response"})
    needed = frozenset({"user_input", "retrieved_contexts"})

    def __init__(
        self,
        llm: Any = None,
        *,
        against: Literal["auto", "reference", "response"] = "auto",
        **settings: Any,
    ) -> None:
        """Keep the settings."""
        if against not in ("auto", "reference", "response"):
            raise SetupError(f"against is 'auto', 'reference' or 'response', not {against!r}")
        super().__init__(llm, **settings)
        self.against = against

    def _options(self) -> dict[str, Any]:
        return {**super()._options(), "against": self.against}

    async def _score(self, sample: Sample, steps: Steps, run: Run) -> Outcome:
        if sample.retrieved_contexts is None:
            return Unscored("no column 'retrieved_contexts' in this row")
        against = run.options["against"]
        if against == "auto":
            against = "response" if sample.reference is None else "reference"
        answer = (sample.reference if against == "reference" else sample.response) or ""
        if not answer.strip():
            return Unscored("no reference" if against == "reference" else "empty response")
        if not (sample.user_input or "").strip():
            return Unscored("no question")
        tags = ("judged against the response",) if against == "response" else ()
        contexts = sample.contexts()
        judged = await steps.judge_contexts(sample.user_input or "", answer, contexts)
        by_rank = {verdict.context: verdict for verdict in judged}
        verdicts = [  # a blank context is not useful, and nobody need be asked
            by_rank.get(rank, ContextVerdict(rank, useful=False))
            for rank in range(1, len(sample.retrieved_contexts) + 1)
        ]
        useful = [verdict.useful for verdict in verdicts]
        if not contexts:
            tags = (*tags, "no context")
        elif not any(useful):
            tags = (*tags, "no useful context")
        return Score(context_precision_value(useful), Evidence(contexts=tuple(verdicts), tags=tags))
