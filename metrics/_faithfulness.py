"""Faithfulness: what share of the response's claims do the retrieved contexts support?

    faithfulness = supported / claims

supported   number of claims of the response that the contexts support
claims      number of claims of the response; every claim extracted counts, answered or not

Range 0 to 1, higher is better. A contradicted claim and one that is not found count the same.
A response without claims (a refusal): unscored, or a fixed value by ``no_claims=``. Contexts
missing while the response makes claims: 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..judge.errors import SetupError
from ._claim_metric import ClaimMetric
from .evidence import Evidence
from .outcomes import Outcome, Score, Unscored
from .run import Run
from .sample import Sample
from .steps import Steps


def faithfulness_value(supported: Sequence[bool]) -> float | Unscored:
    """Share of supported claims.

    Args:
        supported: for each claim of the response, whether the contexts support it.

    >>> faithfulness_value([True, True, False])         # 2 / 3
    0.6666666666666666
    >>> faithfulness_value([]).reason
    'no claims'
    """
    if not supported:
        return Unscored("no claims")
    return sum(supported) / len(supported)


class Faithfulness(ClaimMetric):
    """Share of the response's claims that the retrieved contexts support.

    Args:
        llm, name, language, on_failure: as for ``JudgedMetric``.
        verification, votes, quotes, threshold, cascade: as for ``ClaimMetric``.
        no_claims: value of a response that makes no claim: None (unscored), 0 or 1.
    """

    metric_name = "faithfulness"
    columns = frozenset({"user_input", "response", "retrieved_contexts"})
    needed = frozenset({"response", "retrieved_contexts"})

    def __init__(self, llm: Any = None, *, no_claims: float | None = None, **settings: Any) -> None:
        """Keep the settings."""
        if no_claims not in (None, 0, 1):
            raise SetupError(f"no_claims is None, 0 or 1, not {no_claims!r}")
        super().__init__(llm, **settings)
        self.no_claims = no_claims

    def _options(self) -> dict[str, Any]:
        return {**super()._options(), "no_claims": self.no_claims}

    async def _score(self, sample: Sample, steps: Steps, run: Run) -> Outcome:
        if sample.retrieved_contexts is None:
            return Unscored("no column 'retrieved_contexts' in this row")
        if not (sample.response or "").strip():
            return Unscored("empty response")
        claims = await steps.extract_claims(sample.user_input or "", sample.response or "")
        contexts = sample.contexts()
        verdicts = await steps.verify_claims(claims, contexts, self._how(run))
        tags = () if contexts else ("no context",)
        evidence = Evidence(claims=tuple(verdicts), tags=tags)
        value = faithfulness_value([verdict.verdict == "supported" for verdict in verdicts])
        if isinstance(value, Unscored):
            fixed = run.options["no_claims"]
            if fixed is None:
                return Unscored(value.reason, evidence)
            return Score(fixed, evidence.but(tags=(*tags, "no claims")))
        return Score(value, evidence)
