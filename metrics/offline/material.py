"""The contexts of one row, cut and counted once for all its claims; and the nearest passage."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from operator import mul

from .likeness import Vocabulary, folded, group_cover, groups
from .passages import Passage, windows
from .words import tokens, units

Vectors = Mapping[str, Sequence[float]]
"""Text -> its vector, of length 1."""
NEAR, SPREAD = 3, 4
"""How many sentences are embedded: so many that share most with a claim, and so many others."""
SHARED = 0.15
"""Weight of shared words beside the cosine when the nearest passage is sought."""


@dataclass(frozen=True)
class Material:
    """What claims are compared with.

    Attributes:
        contexts: texts by number.
        language: ``"en"`` or ``"zh"``, for the sentence splitter.
    """

    contexts: Mapping[int, str]
    language: str

    @cached_property
    def windows(self) -> list[Passage]:
        """All windows of one sentence, then all of two."""
        return windows(self.contexts, self.language)

    @cached_property
    def sentences(self) -> list[Passage]:
        """The windows of one sentence."""
        return [window for window in self.windows if len(window.sentences) == 1]

    @cached_property
    def texts(self) -> list[str]:
        """The contexts' texts."""
        return list(self.contexts.values())

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The words, ready to be compared by likeness."""
        return Vocabulary.of(token.key for text in self.texts for token in tokens(text))

    @cached_property
    def pairs(self) -> frozenset[tuple[str, str]]:
        """The pairs of words that stand side by side in a context."""
        keys = ([token.key for token in tokens(text)] for text in self.texts)
        return frozenset(pair for each in keys for pair in pairwise(each))

    @cached_property
    def folded(self) -> str:
        """All contexts, folded, in one text."""
        return " ".join(map(folded, self.texts))

    @cached_property
    def window_units(self) -> list[frozenset[str]]:
        """The units of each window."""
        return [frozenset(units(window.tokens)) for window in self.windows]

    @cached_property
    def units(self) -> frozenset[str]:
        """The units of all windows."""
        return frozenset().union(*self.window_units)

    def shortlist(self, text: str) -> list[Passage]:
        """The sentences that a text is compared with by embedding, in their order.

        The ``NEAR`` ones that share most letter groups with it, and ``SPREAD`` at even
        distances, which stand for the whole and are the same for every text. A sentence takes
        some 50 ms to embed, and with more of them the verdicts were no better.
        """
        count = len(self.sentences)
        if count <= NEAR + SPREAD:
            return self.sentences
        wanted = groups(folded(text))
        shared = [group_cover(wanted, folded(sentence.text)) for sentence in self.sentences]
        near = sorted(range(count), key=lambda place: -shared[place])[:NEAR]
        spread = [(2 * step + 1) * count // (2 * SPREAD) for step in range(SPREAD)]
        return [self.sentences[place] for place in sorted({*near, *spread})]

    def nearest(self, text: str, vectors: Vectors) -> Passage:
        """The window nearest to a text, by cosine and shared words; of equals the first.

        The vector of two sentences is taken to be the mean of theirs, which costs nothing.

        Args:
            text: a claim, or a question and its answer.
            vectors: of the text and of the sentences of its ``shortlist``.
        """
        known = {sentence.sentences[0]: sentence.text for sentence in self.shortlist(text)}
        wanted = frozenset(units(tokens(text)))
        best, highest = self.windows[0], -math.inf
        for window, held in zip(self.windows, self.window_units, strict=True):
            if not all(number in known for number in window.sentences):
                continue
            parts = [vectors[known[number]] for number in window.sentences]
            near = dot(vectors[text], mean_direction(parts))
            near += SHARED * len(wanted & held) / max(1, len(wanted))
            if near > highest + 1e-9:
                best, highest = window, near
        return best


def dot(one: Sequence[float], other: Sequence[float]) -> float:
    """Sum of products; the cosine when both have length 1."""
    return float(sum(map(mul, one, other)))


def mean_direction(vectors: Sequence[Sequence[float]]) -> Sequence[float]:
    """The vector of length 1 that points where the mean of the vectors points.

    >>> mean_direction([(1.0, 0.0), (0.0, 1.0)])
    [0.7071067811865475, 0.7071067811865475]
    """
    if len(vectors) == 1:
        return vectors[0]
    total = [sum(parts) for parts in zip(*vectors, strict=True)]
    length = math.hypot(*total) or 1.0
    return [part / length for part in total]
