"""Context recall: what share of the reference's claims can be found in the retrieved contexts?

    context recall = supported / claims

supported   number of claims of the reference answer that the contexts support
claims      number of claims of the reference answer

Range 0 to 1, higher is better. No reference, or one without claims: unscored. No context: 0.
"""

from __future__ import annotations

from collections.abc import Sequence

from ._claim_metric import ClaimMetric
from .evidence import Evidence
from .outcomes import Outcome, Score, Unscored
from .run import Run
from .sample import Sample
from .steps import Steps


def context_recall_value(supported: Sequence[bool]) -> float | Unscored:
    """Share of the reference's claims that the contexts support.

    Args:
        supported: for each claim of the reference, whether the contexts support it.

    >>> context_recall_value([True, True, True, True, False])       # 4 / 5
    0.8
    >>> context_recall_value([]).reason
    'no reference'
    """
    if not supported:
        return Unscored("no reference")
    return sum(supported) / len(supported)


class ContextRecall(ClaimMetric):
    """Share of the reference's claims that the retrieved contexts support.

    Args:
        llm, name, language, on_failure: as for ``JudgedMetric``.
        verification, votes, quotes, threshold, cascade: as for ``ClaimMetric``.
    """

    metric_name = "context_recall"
    columns = frozenset({"user_input", "retrieved_contexts", "reference"})
    needed = frozenset({"retrieved_contexts", "reference"})

    async def _score(self, sample: Sample, steps: Steps, run: Run) -> Outcome:
        if sample.retrieved_contexts is None:
            return Unscored("no column 'retrieved_contexts' in this row")
        if not (sample.reference or "").strip():
            return Unscored("no reference")
        contexts = sample.contexts()
        if not contexts:
            return Score(0.0, Evidence(tags=("no context",)))
        claims = await steps.extract_claims(sample.user_input or "", sample.reference or "")
        verdicts = await steps.verify_claims(claims, contexts, self._how(run))
        evidence = Evidence(claims=tuple(verdicts))
        value = context_recall_value([verdict.verdict == "supported" for verdict in verdicts])
        if isinstance(value, Unscored):
            return Unscored("no reference: it makes no claims", evidence)
        return Score(value, evidence)
