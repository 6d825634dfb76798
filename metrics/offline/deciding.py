"""Decide claims by their features: a probability, a verdict of three, the nearest passage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..evidence import Quote, Verdict
from .checks import Finding
from .features import Comparison, denied, features, is_chinese
from .logistic import Logistic, fitted
from .material import Material, Vectors

THRESHOLD = 0.5
"""Probability above which a claim counts as supported."""
DOUBT = 0.8
"""Share of the probability that goes when the claim alters what a passage says."""
CERTAIN = ("number", "date", "unit", "negation")
"""Findings that, in conflict, make a claim contradicted rather than not found."""


@dataclass(frozen=True)
class Support:
    """What the contexts say about one claim, as far as can be told without a model.

    Attributes:
        probability: that people would call the claim supported, 0 to 1.
        nearest: the passage nearest to it.
        findings: what it states that the contexts do not.
    """

    probability: float
    nearest: Quote
    findings: tuple[Finding, ...] = ()

    def verdict(self, threshold: float = THRESHOLD) -> Verdict:
        """Supported above the threshold; else contradicted where a check conflicts."""
        if self.probability > threshold:
            return "supported"
        conflict = any(finding.conflict and finding.kind in CERTAIN for finding in self.findings)
        return "contradicted" if conflict else "not_found"


def texts_needed(claims: Sequence[str], material: Material) -> list[str]:
    """The texts whose vectors ``decide`` needs, each once."""
    found: dict[str, None] = {}
    for claim in claims:
        found |= dict.fromkeys((claim, denied(claim)))
        found |= dict.fromkeys(sentence.text for sentence in material.shortlist(claim))
    return list(found)


def support_probability(
    values: Mapping[str, float], *, chinese: bool = False, model: Logistic | None = None
) -> float:
    """The probability that a claim with these features is supported, 0 to 1.

    The model's, less ``DOUBT`` of it where the claim is ``altered``: labelled data hold too few
    passages with the same words but another number, or a negation more, to learn a weight from.

    Args:
        values: features by name; see ``features.NAMES``.
        chinese: the claim is Chinese; the two languages have coefficients of their own.
        model: coefficients other than those shipped.
    """
    chosen = model or fitted("support zh" if chinese else "support en")
    return chosen.probability(values) * (1.0 - DOUBT * values["altered"])


def decide(claim: str, question: str, material: Material, vectors: Vectors) -> Support:
    """Decide one claim.

    Args:
        claim: the claim.
        question: what was asked; "" when not known.
        material: the contexts; at least one sentence.
        vectors: of ``texts_needed``.
    """
    comparison = Comparison.of(claim, question, material, vectors)
    values = features(comparison, vectors)
    probability = support_probability(values, chinese=is_chinese(claim))
    return Support(probability, comparison.nearest.quote(), comparison.findings)
