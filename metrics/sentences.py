"""Cut a text into sentences (sentencex, by language), and find the sentence of a claim."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any


@cache
def _segment() -> Any:
    from sentencex import segment

    return segment


def split_sentences(text: str, language: str) -> list[str]:
    """The sentences of a text, without surrounding white space and without empty ones.

    A line end ends a sentence, so that list items and table rows stand alone.

    >>> split_sentences("A ticket costs 4.50 marlets. It is sold until 7:30 p.m. daily.", "en")
    ['A ticket costs 4.50 marlets.', 'It is sold until 7:30 p.m. daily.']
    >>> split_sentences("水温为85℃。时间是多久？三分钟！", "zh")
    ['水温为85℃。', '时间是多久？', '三分钟！']
    """
    segment = _segment()
    parts = (part for line in text.splitlines() for part in segment(language, line))
    return [part.strip() for part in parts if part.strip()]


CLEARLY = 10.0
"""By how many points of likeness (0 to 100) another sentence must win over the one named."""


def source_sentence(claim: str, named: int, sentences: Mapping[int, str]) -> int:
    """The number of the sentence that a claim came from.

    A judge may file all claims under one sentence. The one it names stays unless another is
    clearly more like the claim (normalised edit similarity, rapidfuzz).

    >>> sentences = {1: "The Blue Teal was built in 1931.", 2: "Its hull is made of larch."}
    >>> source_sentence("The hull of the Blue Teal is made of larch.", 1, sentences)
    2
    """
    from rapidfuzz import fuzz, process

    least = fuzz.ratio(claim, sentences.get(named, "")) + CLEARLY
    if least >= 100:
        return named
    best = process.extractOne(claim, sentences, scorer=fuzz.ratio, score_cutoff=least)
    return named if best is None or best[1] <= least else int(best[2])
