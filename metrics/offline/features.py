"""The named numbers that stand for a claim beside its contexts.

Most count what of the claim stands in the contexts. Two come from the embedding, which has learnt
a little of what follows from what: how near is the nearest sentence (``similarity``), and are the
sentences nearer to the claim than to the claim denied (``denial``)?
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from .checks import Finding, all_findings, split_negations
from .likeness import folded, group_cover, groups
from .material import Material, Vectors, dot
from .passages import Passage
from .words import tokens

NAMES = (
    "letters", "likeness", "word_pairs", "pieced", "lower_case", "numbers_missing", "altered",
    "names_missing", "denies", "similarity", "denial",
)  # fmt: skip
"""Every feature; docs/offline.md says what each is."""
NUMBERS = ("number", "date", "unit")
"""Kinds of findings that are about numbers."""


@dataclass(frozen=True)
class Comparison:
    """A claim, its nearest passage and what the checks found."""

    claim: str
    material: Material
    nearest: Passage
    findings: tuple[Finding, ...]

    @classmethod
    def of(cls, claim: str, question: str, material: Material, vectors: Vectors) -> Comparison:
        """Find the nearest passage and run the checks.

        Args:
            claim: the claim.
            question: what was asked; its names count as given.
            material: the contexts, at least one sentence.
            vectors: of the claim and of the sentences of its shortlist.
        """
        nearest = material.nearest(claim, vectors)
        findings = all_findings(claim, material.texts, nearest.text, question)
        return cls(claim, material, nearest, tuple(findings))


def is_chinese(claim: str) -> bool:
    """Are more than half of its words Chinese characters?"""
    words = tokens(claim)
    return sum(token.han for token in words) * 2 > len(words)


def denied(claim: str) -> str:
    """The claim denied.

    >>> denied("The hull is larch."), denied("船体用落叶松。")
    ('It is not true that the hull is larch.', '并非船体用落叶松。')
    """
    if is_chinese(claim):
        return f"并非{claim}"
    return f"It is not true that {claim[:1].lower()}{claim[1:]}"


def features(comparison: Comparison, vectors: Vectors) -> dict[str, float]:
    """The features by name.

    Args:
        comparison: the claim and what it is compared with.
        vectors: of the claim, of ``denied(claim)`` and of the sentences of its shortlist.
    """
    found = {**_counted(comparison), **_checked(comparison), **_embedded(comparison, vectors)}
    found["altered"] = _altered(comparison.findings, found["likeness"])
    return {name: found[name] for name in NAMES}


def _altered(findings: Sequence[Finding], likeness: float) -> float:
    """Nearly the words of the contexts, but another number in their place, or a negation more."""
    conflicts = {finding.kind for finding in findings if finding.conflict}
    if "negation" in conflicts:
        return 1.0
    return ramp(likeness, 0.8, 0.95) if conflicts & set(NUMBERS) else 0.0


def _counted(comparison: Comparison) -> dict[str, float]:
    material = comparison.material
    words = tokens(comparison.claim)
    plain = [token.key for token in words if not token.stop and not token.key[0].isdigit()]
    likest = [material.vocabulary.likest(key) for key in plain]
    letters = groups(folded(comparison.claim))
    in_one = max(group_cover(letters, folded(sentence.text)) for sentence in material.sentences)
    pairs = [pair in material.pairs for pair in pairwise(token.key for token in words)]
    return {
        "letters": group_cover(letters, material.folded),
        "likeness": _mean(likest),
        "word_pairs": _mean(pairs),
        # Pieced together: its pairs of words stand in the contexts, but not in one sentence.
        "pieced": ramp(_mean(pairs), 0.55, 0.8) * (1.0 - ramp(in_one, 0.75, 0.95)),
    }


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def ramp(value: float, low: float, high: float) -> float:
    """0 below ``low``, 1 above ``high``, straight between.

    >>> ramp(0.75, 0.5, 1.0), ramp(2, 0.5, 1.0)
    (0.5, 1.0)
    """
    return min(1.0, max(0.0, (value - low) / (high - low)))


def _checked(comparison: Comparison) -> dict[str, float]:
    kinds = [finding.kind for finding in comparison.findings]
    return {
        "numbers_missing": float(any(kind in NUMBERS for kind in kinds)),
        "names_missing": float(min(3, kinds.count("name"))),
        "denies": float(split_negations(comparison.claim)[1] > 0),
        "lower_case": float(is_lower_case(comparison.material.texts)),
    }


_LOST = re.compile(r"[^\W\dA-Z_][ ,;] ?[A-Z]")


def is_lower_case(texts: list[str]) -> bool:
    """Have the texts lost their capitals, save at the beginning of sentences?

    Names cannot be told from other words there, so more of the claim has to be found.

    >>> is_lower_case(["The bbc met mr quill in hask."]), is_lower_case(["It met Quill."])
    (True, False)
    """
    return not any(_LOST.search(text) or is_chinese(text) for text in texts)


def _embedded(comparison: Comparison, vectors: Vectors) -> dict[str, float]:
    claim, other = vectors[comparison.claim], vectors[denied(comparison.claim)]
    near = [vectors[sentence.text] for sentence in comparison.material.shortlist(comparison.claim)]
    to_claim, to_other = [dot(claim, each) for each in near], [dot(other, each) for each in near]
    return {
        "similarity": max(to_claim),
        "denial": _mean([a - b for a, b in zip(to_claim, to_other, strict=True)]),
    }
