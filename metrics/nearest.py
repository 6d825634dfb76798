"""Which passage of the contexts shares most words with a claim.

    cover = words of the claim that stand in the passage / words of the claim

A passage is one sentence, or two neighbours. In Chinese text pairs of characters stand for words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .evidence import Quote
from .offline.passages import Passage
from .offline.words import tokens, units


def cover(claim: str, passage: str) -> float:
    """The share of the claim's words that stand in the passage, 0 to 1; 0 for no words.

    >>> round(cover("The hull is made of larch.", "Its hull is larch."), 2)
    0.67
    """
    wanted, found = units(tokens(claim)), set(units(tokens(passage)))
    return sum(unit in found for unit in wanted) / len(wanted) if wanted else 0.0


def nearest(claim: str, passages: Sequence[Passage]) -> Quote | None:
    """The nearest passage as a quote; of equally near ones the shorter, then the earlier.

    None: no passage shares a word with the claim.

    >>> from ragas_judge.metrics.offline.passages import windows
    >>> nearest("Its hull is larch.", windows({3: "It is old. The hull is of larch."}, "en")).text
    'The hull is of larch.'
    """
    rated = [(cover(claim, passage.text), passage) for passage in passages]
    best = max(rated, key=lambda pair: (pair[0], -len(pair[1].text)), default=None)
    return best[1].quote() if best is not None and best[0] > 0 else None


def likeliest(claim: str, contexts: Mapping[int, str], count: int) -> dict[int, str]:
    """So many contexts that share most words with the claim, by their number."""
    ranked = sorted(contexts, key=lambda number: -cover(claim, contexts[number]))
    return {number: contexts[number] for number in sorted(ranked[:count])}
