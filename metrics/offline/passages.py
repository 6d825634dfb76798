"""Cut contexts into windows of one and two sentences that know where they stand.

A window is a slice of its context by construction, so a quote made of one is always verified.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from ..evidence import Quote
from ..sentences import split_sentences
from .words import Token, tokens

LONGEST = 400
"""Characters of a sentence; a longer one (a table, a list of links) is cut at a weaker mark."""
_WEAKER = re.compile(r"(?<=[;；:：,，、|])\s*|\s+(?=[-–•*#|])|\s+")


@dataclass(frozen=True)
class Passage:
    """A stretch of a context.

    Attributes:
        context: number of the context.
        text: ``context[start:end]``.
        start, end: offsets in the context, end exclusive.
        sentences: numbers of its sentences within the row, from 0, one or two neighbours.
    """

    context: int
    text: str
    start: int
    end: int
    sentences: tuple[int, ...]

    @property
    def tokens(self) -> tuple[Token, ...]:
        """The words and Chinese characters of it."""
        return tokens(self.text)

    def quote(self) -> Quote:
        """The passage as a quote."""
        return Quote(self.context, self.text, self.start, self.end)


def spans(text: str, language: str) -> list[tuple[int, int]]:
    """Where the sentences of a text stand: start and end of each, without white space around.

    >>> text = "It opened in 1931. Nobody came."
    >>> [text[start:end] for start, end in spans(text, "en")]
    ['It opened in 1931.', 'Nobody came.']
    """
    found: list[tuple[int, int]] = []
    position = 0
    for sentence in split_sentences(text, language):
        start = text.find(sentence, position)
        if start == -1:  # the splitter altered a character: keep what it left behind
            continue
        position = start + len(sentence)
        found.extend(_cut(text, start, position))
    return found


def _cut(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The stretch in pieces of at most ``LONGEST`` characters, at marks or blanks if it can."""
    while end - start > LONGEST:
        marks = [m for m in _WEAKER.finditer(text, start + LONGEST // 4, start + LONGEST) if m[0]]
        cut, following = (
            (marks[-1].start(), marks[-1].end()) if marks else (start + LONGEST, start + LONGEST)
        )
        yield start, cut
        start = following
    if start < end:
        yield start, end


@lru_cache(maxsize=64)
def _sentences(text: str, language: str) -> tuple[tuple[int, int], ...]:
    return tuple(spans(text, language))


def windows(contexts: Mapping[int, str], language: str) -> list[Passage]:
    """All windows of one sentence, then all of two neighbours, of each context in turn.

    Args:
        contexts: texts by number.
        language: ``"en"`` or ``"zh"``, for the sentence splitter.

    >>> [w.text for w in windows({1: "It opened. Nobody came."}, "en")]
    ['It opened.', 'Nobody came.', 'It opened. Nobody came.']
    """
    singles: list[Passage] = []
    pairs: list[Passage] = []
    for number, text in contexts.items():
        first = len(singles)
        for start, end in _sentences(text, language):
            singles.append(Passage(number, text[start:end], start, end, (len(singles),)))
        for one, two in zip(singles[first:], singles[first + 1 :], strict=False):
            whole = text[one.start : two.end]
            pairs.append(
                Passage(number, whole, one.start, two.end, (*one.sentences, *two.sentences))
            )
    return [*singles, *pairs]
