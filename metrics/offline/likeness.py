"""How much of one text stands in another, letter group by letter group."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

GROUP = 3
"""Letters in a group."""
_BLANKS = re.compile(r"\s+")


def folded(text: str) -> str:
    """The text in small letters with single blanks, without marks at its ends.

    >>> folded(" The  Hull. ")
    'the hull'
    """
    return _BLANKS.sub(" ", text.casefold()).strip(" .。!！")


def groups(text: str) -> list[str]:
    """Every ``GROUP`` neighbouring characters of a text; the text itself when it is shorter.

    >>> groups("larch"), groups("高")
    (['lar', 'arc', 'rch'], ['高'])
    """
    return [text[i : i + GROUP] for i in range(len(text) - GROUP + 1)] or [text]


def group_cover(wanted: Sequence[str], text: str) -> float:
    """Share of letter groups that stand in a folded text, 0 to 1.

    >>> group_cover(groups("hulls"), "the hull")
    0.6666666666666666
    """
    return sum(group in text for group in wanted) / max(1, len(wanted))


@dataclass(frozen=True)
class Vocabulary:
    """The words of the contexts, and the letter groups of each."""

    words: frozenset[str]
    grouped: tuple[frozenset[str], ...]

    @classmethod
    def of(cls, words: Iterable[str]) -> Vocabulary:
        """Prepare words for ``likest``."""
        known = frozenset(words)
        grouped = (frozenset(groups(f"^{word}")) for word in sorted(known) if len(word) > 2)
        return cls(known, tuple(grouped))

    def likest(self, word: str) -> float:
        """Likeness of the word that is most like this one: Dice of letter groups, 0 to 1.

        >>> round(Vocabulary.of(["archaeology", "site"]).likest("archaeologist"), 2)
        0.82
        """
        if word in self.words:
            return 1.0
        mine = frozenset(groups(f"^{word}"))
        return max(
            (2 * len(mine & other) / (len(mine) + len(other)) for other in self.grouped),
            default=0.0,
        )
