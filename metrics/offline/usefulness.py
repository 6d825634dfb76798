"""Decide whether contexts help to answer a question: how near each is, alone and beside the others.

Unlike support, usefulness is also a matter of rank, so half of the features are the distance
from the mean over the row's contexts; they are 0 for a single context.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from .features import is_chinese
from .likeness import Vocabulary
from .logistic import fitted
from .material import Material, Vectors, dot
from .words import tokens, units

NAMES = (
    "asked", "rare_cover", "likeness", "answer_cover", "chinese",
    "asked_above_mean", "rare_cover_above_mean", "likeness_above_mean",
)  # fmt: skip
"""Every feature; docs/offline.md says what each is."""
UNKNOWN = 0.5
"""Cover of an answer that is not given, or whose words all stand in the question."""


def together(question: str, answer: str) -> str:
    """Question and answer in one text, as it is compared with sentences."""
    return f"{question} {answer}".strip()


def texts_needed(question: str, answer: str, contexts: Sequence[Material]) -> list[str]:
    """The texts whose vectors are needed, each once."""
    asked = together(question, answer)
    near = (s.text for context in contexts for s in context.shortlist(asked))
    return list(dict.fromkeys((asked, *near)))


def usefulness_features(
    question: str, answer: str, contexts: Sequence[Material], vectors: Vectors
) -> list[dict[str, float]]:
    """The features of each context by name.

    Args:
        question: what was asked.
        answer: the reference answer or the response; "" when there is none.
        contexts: each context alone, with at least one sentence.
        vectors: of ``texts_needed``.
    """
    words = tokens(question)
    wanted = list(dict.fromkeys(units(words)))
    said = [unit for unit in dict.fromkeys(units(tokens(answer))) if unit not in wanted]
    rarity = _rarity(wanted, contexts)
    asked = together(question, answer)
    vector = vectors[asked]
    chinese = float(is_chinese(question))
    found = [
        {
            "asked": max(dot(vector, vectors[s.text]) for s in context.shortlist(asked)),
            "rare_cover": _weighted(rarity, context.units),
            "likeness": _likeness([t.key for t in words if not t.stop], context.vocabulary),
            "answer_cover": _cover(said, context.units),
            "chinese": chinese,
        }
        for context in contexts
    ]
    for name in ("asked", "rare_cover", "likeness"):
        mean = sum(values[name] for values in found) / len(found)
        for values in found:
            values[f"{name}_above_mean"] = values[name] - mean
    return found


def usefulness(
    question: str, answer: str, contexts: Sequence[Material], vectors: Vectors
) -> list[float]:
    """The probability that each context is useful, 0 to 1; see ``usefulness_features``."""
    model = fitted("usefulness")
    return [
        model.probability(values)
        for values in usefulness_features(question, answer, contexts, vectors)
    ]


def _rarity(wanted: Sequence[str], contexts: Sequence[Material]) -> dict[str, float]:
    """Weight of each unit: the fewer contexts hold it, the more."""
    count = len(contexts)
    holders = {unit: sum(unit in context.units for context in contexts) for unit in wanted}
    return {unit: math.log((count + 1) / (held + 0.5)) + 0.3 for unit, held in holders.items()}


def _weighted(weights: Mapping[str, float], held: frozenset[str]) -> float:
    total = sum(weights.values())
    return sum(weight for unit, weight in weights.items() if unit in held) / total if total else 0.0


def _likeness(keys: Sequence[str], vocabulary: Vocabulary) -> float:
    return sum(map(vocabulary.likest, keys)) / len(keys) if keys else 0.0


def _cover(wanted: Sequence[str], held: frozenset[str]) -> float:
    return sum(unit in held for unit in wanted) / len(wanted) if wanted else UNKNOWN
