"""Find a quote in a context, though white space, quotation marks or forms may differ.

Both sides are normalised character by character with a map back to the offsets of the
original: Unicode NFKC, case folded, typographic marks made plain, white space made one blank
and dropped beside CJK characters. A quote with an ellipsis is found part by part, in order.
No fuzzy matching: a changed word or number is not found, and should not be.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

from .evidence import Quote

_PLAIN = str.maketrans({
    "“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "「": '"', "」": '"', "『": '"', "』": '"',
    "‘": "'", "’": "'", "‚": "'", "–": "-", "—": "-", "−": "-", "‐": "-", "‑": "-",
    "。": ".", "、": ",", "‹": "<",
})  # fmt: skip
_ELLIPSIS = re.compile(r"\s*(?:\.{3,}|…+|\[\.{3}\]|\[…\])\s*")
_PIECES = re.compile(r"\s+|\S")
_EDGES = " \t\r\n\"'.,;:!?-"
_CJK = re.compile(r"[\u3000-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef]")


def normalise(text: str) -> tuple[str, list[int]]:
    """The normal form of a text, and for each of its characters the offset it came from.

    >>> normalise("A  “b”")
    ('a "b"', [0, 1, 3, 4, 5])
    """
    out: list[str] = []
    offsets: list[int] = []
    for match in _PIECES.finditer(text):
        piece, offset = match[0], match.start()
        if piece.isspace():
            neighbours = text[max(0, offset - 1) : offset] + text[match.end() : match.end() + 1]
            plain = "" if _CJK.search(neighbours) else " "
        else:
            plain = unicodedata.normalize("NFKC", piece.translate(_PLAIN)).casefold()
            plain = plain.translate(_PLAIN)
        out.extend(plain)
        offsets.extend([offset] * len(plain))
    return "".join(out), offsets


def find_quote(quote: str, context: str) -> tuple[int, int] | None:
    r"""Start and end of a quote in a context, or None.

    >>> find_quote("costs “4.50” marlets", 'A ticket costs  "4.50"\nmarlets.')
    (9, 30)
    >>> find_quote("每次用水 40 升。", "每次用水40升，由值班员完成。")
    (0, 7)
    >>> find_quote("costs 5.40 marlets", "A ticket costs 4.50 marlets.") is None
    True
    """
    text, offsets = normalise(context)
    start: int | None = None
    position = 0
    for part in _ELLIPSIS.split(quote):
        wanted = normalise(part)[0].strip(_EDGES)
        if not wanted:
            continue
        found = text.find(wanted, position)
        if found == -1:
            return None
        start = found if start is None else start
        position = found + len(wanted)
    return None if start is None else (offsets[start], offsets[position - 1] + 1)


def locate(quote: str, named: int, contexts: Mapping[int, str]) -> Quote:
    """Find the quote in the context named, else in any other; unverified when in none."""
    order = [named, *(number for number in contexts if number != named)]
    for number in order:
        span = find_quote(quote, contexts.get(number, ""))
        if span:
            return Quote(number, quote, *span)
    return Quote(named, quote)
