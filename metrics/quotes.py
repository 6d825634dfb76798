"""Find a quote in a context, though white space, quotation marks or forms may differ.

Both sides are normalised character by character with a map back to the offsets of the
original: Unicode NFKC, case folded, typographic marks made plain, white space made one blank
and dropped beside CJK characters. A quote with an ellipsis is found part by part, in order; what
stands between is not looked at.
No fuzzy matching: a changed word or number is not found, and should not be, nor is a part of
one ("5 minutes" in "25 minutes").
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache

from .evidence import Quote

_PLAIN = str.maketrans({
    "“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "「": '"', "」": '"', "『": '"', "』": '"',
    "‘": "'", "’": "'", "‚": "'", "–": "-", "—": "-", "−": "-", "‐": "-", "‑": "-",
    "。": ".", "、": ",", "‹": "<",
})  # fmt: skip
_ELLIPSIS = re.compile(r"\s*(?:\.{3,}|…+|\[\.{3}\]|\[…\])\s*")
_PIECES = re.compile(
    r"\s+|\S[\u0300-\u036f\u0591-\u05bd\u064b-\u065f\u1160-\u11ff\u20d0-\u20ff\u3099\u309a]*"
)
"""White space, or a character with the marks that combine with it."""
_FOLDED = ("<super>", "<sub>", "<circle>")
"""Forms that NFKC makes plain though they mean another thing: 10² is not 102."""
_EDGES = " \t\r\n\"'.,;:!?-"
_CJK = re.compile(r"[\u3000-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef]")


@lru_cache(maxsize=128)
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
            plain = _plain(piece)
        out.extend(plain)
        offsets.extend([offset] * len(plain))
    return "".join(out), offsets


def _plain(piece: str) -> str:
    if unicodedata.category(piece[0]) == "Cf":  # soft hyphens, marks of direction
        return ""
    if unicodedata.decomposition(piece[0]).startswith(_FOLDED):
        return piece
    plain = unicodedata.normalize("NFKC", piece.translate(_PLAIN)).casefold()
    return unicodedata.normalize("NFC", plain).translate(_PLAIN)


def find_quote(quote: str, context: str) -> tuple[int, int] | None:
    r"""Start and end of a quote in a context, or None.

    >>> find_quote("costs “4.50” marlets", 'A ticket costs  "4.50"\nmarlets.')
    (9, 30)
    >>> find_quote("每次用水 40 升。", "每次用水40升，由值班员完成。")
    (0, 7)
    >>> find_quote("costs 5.40 marlets", "A ticket costs 4.50 marlets.") is None
    True
    """
    if len(quote) > 2 * len(context) + 100:
        return None
    text, offsets = normalise(context)
    start: int | None = None
    position = 0
    for part in _ELLIPSIS.split(quote):
        wanted = _trim(normalise(part)[0])
        if not wanted:
            continue
        found = _find(wanted, text, position)
        if found == -1:
            return None
        start = found if start is None else start
        position = found + len(wanted)
    return None if start is None else (offsets[start], offsets[position - 1] + 1)


def _trim(quote: str) -> str:
    """Without marks at the ends, but with a sign or a point that belongs to a number."""
    trimmed = quote.strip(_EDGES)
    before = quote[: quote.find(trimmed)][-1:] if trimmed else ""
    return before + trimmed if before in "-." and trimmed[:1].isdigit() else trimmed


def _find(wanted: str, text: str, position: int) -> int:
    """Where ``wanted`` stands as whole words and numbers, or -1."""
    found = text.find(wanted, position)
    while found != -1:
        end = found + len(wanted)
        if not (_cuts(text, found) or _cuts(text, end)):
            return found
        found = text.find(wanted, found + 1)
    return -1


def _cuts(text: str, offset: int) -> bool:
    """Does ``offset`` lie inside a word or a number, as in "2|5", "4.5|0", "-|5" or "un|able"?"""
    two_before, before, after, two_after = (
        text[i] if 0 <= i < len(text) else " " for i in range(offset - 2, offset + 2)
    )
    if before in ".," and after.isdigit():
        return two_before.isdigit()
    if after in ".," and before.isdigit():
        return two_after.isdigit()
    if before == "-" and after.isdigit():
        return not two_before.isalnum()
    if not (before.isalnum() and after.isalnum()):
        return False
    return not (_CJK.match(before) or _CJK.match(after))


def locate(quote: str, named: int, contexts: Mapping[int, str]) -> Quote:
    """Find the quote in the context named, else in any other; unverified when in none."""
    order = [named, *(number for number in contexts if number != named)]
    for number in order:
        span = find_quote(quote, contexts.get(number, ""))
        if span:
            return Quote(number, quote, *span)
    return Quote(named, quote)
