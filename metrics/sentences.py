"""Cut a text into the units that are asked about, and find the unit of a claim.

A unit is a sentence, a heading, a row of a table or a block of code; docs/extraction.md has the
rules. sentencex finds the ends of sentences. What it does not know is put right here: lines that
were wrapped, marks of lists, abbreviations before a number or beside Chinese characters, the
frame after a quotation.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from .blocks import Block, Kind, Line, find_blocks

HAN = r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"


@dataclass(frozen=True)
class Unit:
    """A stretch of a text that is asked about as one.

    Attributes:
        text: as the judge sees it: lines of a sentence joined, names of columns put in.
        start, end: where it stands in the text, end exclusive.
        kind: what it is; ``"layout"`` states nothing and is not asked about.
    """

    text: str
    start: int
    end: int
    kind: Kind = "prose"


def split_units(text: str, language: str) -> list[Unit]:
    r"""The units of a text in order, each character that is not blank in exactly one.

    Args:
        text: any text, with or without Markdown.
        language: ``"en"`` or ``"zh"``.

    >>> [unit.text for unit in split_units("|Ticket|Price|\n|-|-|\n|adult|4.50 marlets|", "en")]
    ['|Ticket|Price|', '|-|-|', 'Ticket: adult; Price: 4.50 marlets']
    """
    units: list[Unit] = []
    for block in find_blocks(text):
        if block.kind in ("prose", "item"):
            for lines in _passages(text, block):
                units += _sentences(text, lines, block.kind, language)
            continue
        shown = text[block.start : block.end]
        if block.kind == "row":
            shown = _row(block, language)
        units.append(Unit(shown, block.start, block.end, block.kind))
    return units


def split_sentences(text: str, language: str) -> list[str]:
    """What ``split_units`` finds to ask about, each as it stands in the text.

    >>> split_sentences("A ticket costs 4.50 marlets. It is sold until 7:30 p.m. daily.", "en")
    ['A ticket costs 4.50 marlets.', 'It is sold until 7:30 p.m. daily.']
    >>> split_sentences("水温为85℃。时间是多久？三分钟！", "zh")
    ['水温为85℃。', '时间是多久？', '三分钟！']
    """
    units = split_units(text, language)
    return [text[unit.start : unit.end] for unit in units if unit.kind != "layout"]


def _row(block: Block, language: str) -> str:
    colon, semicolon = ("：", "；") if language == "zh" else (": ", "; ")
    return semicolon.join(f"{name}{colon}{cell}" if name else cell for name, cell in block.cells)


# --- lines -------------------------------------------------------------------------------

LEAST_WIDTH = 40
"""Columns; what is narrower is a list, an address or a verse, and was not wrapped."""
_CLOSED = re.compile(r"(?:[!?。！？:：;；][\"'”’」』）)*_]*|  |\\)$")
"""The end of a line that nothing continues; two blanks or a backslash break a line in Markdown.
A full stop is left to the splitter, which knows abbreviations."""
_OPENS = re.compile(
    rf"[|•·●○▪◦‣–—*+-]|[(（]?(?:\d{{1,3}}|[a-z]|[一二三四五六七八九十]{{1,3}})[)）.、．](?!\d)"
    rf"|[①-⑳]|[^\W_](?:[^:：。.!?]{{0,30}})[:：](?:\s|[{HAN}])"
)
"""The beginning of a line that continues none: a mark of a list, a bar, a label."""


def _passages(text: str, block: Block) -> Iterator[list[Line]]:
    """The lines of a block in groups: a line and those that only wrap it."""
    widths = [_width(text[line.content : line.end]) for line in block.lines]
    group = [block.lines[0]]
    for line, width in zip(block.lines[1:], widths, strict=False):
        hanging = block.kind == "item" and _indent(text, line) > _indent(text, block.lines[0])
        if hanging or _wraps(text, group[-1], line, max(widths) - width):
            group.append(line)
        else:
            yield group
            group = [line]
    yield group


def _wraps(text: str, line: Line, following: Line, room: int) -> bool:
    """Does a line go on in the following one?

    It does when it is unfinished (a comma, a small letter next), or when it ends only because
    the next word did not fit into the room left.
    """
    written = text[line.content : line.end]
    rest = text[following.content : following.end]
    if _width(written) + room < LEAST_WIDTH or _OPENS.match(rest):
        return False
    if _CLOSED.search(text[line.content : following.start].removesuffix("\n")):
        return False
    if written[-1] in ",，、" or (rest[0].islower() and written[-1] != "."):
        return True
    word = rest[0] if _wide(rest[0]) else rest.split(maxsplit=1)[0]
    return _width(word) + (not _wide(rest[0])) > room


def _indent(text: str, line: Line) -> int:
    return line.start - (text.rfind("\n", 0, line.start) + 1)


def _width(written: str) -> int:
    return len(written) + sum(map(_wide, written))


def _wide(character: str) -> bool:
    return unicodedata.east_asian_width(character) in "WF"


# --- sentences ---------------------------------------------------------------------------

_MASK = "\u00b7"
"""A dot of the same length that ends no sentence."""
_NO_END = re.compile(
    r"(?<![A-Za-z])(?:"
    r"(?<!\d )(?:nos?|figs?|tabs?|secs?|arts?|vols?|chs?|eqs?|pp?|approx|ca|max|min|est|avg)"
    r"\.(?=\s?\d)"
    r"|(?:Dr|Mr|Mrs|Ms|Prof)\.(?=\s?\w)"
    rf"|(?:[A-Z]\.)+[A-Z]\.(?=\s?[a-z\d{HAN}])"
    r")|(?<=[\d０-９])．(?=[\d０-９])"
    r"|(?<=[:：]\s)\d{1,2}\.(?=\s)",
    re.IGNORECASE,
)
"""Full stops that end no sentence though sentencex may think so."""
_ENUMERATOR = re.compile(
    r"\W*(?:\d{1,3}|[A-Za-z]|[ivxIVX]+|[一二三四五六七八九十]{1,3})[.．)）、]\s*"
)
_CLOSERS = re.compile(r"[”’」』）】》)\]]+(?=\s|$)|\*{1,3}|_{2,3}|`")
_QUOTED = re.compile(r"[!?！？.。…][\"'”’」』]\s*$")
_FRAME = re.compile(
    r"(?:(?:[A-Z][\w'’-]*|he|she|they|it|I|we)\s+){1,3}"
    r"(?:said|says|asked|asks|replied|answered|wrote|added|called|cried|explained|wondered)\b"
    r"|[^，。！？；：“”\s]{1,6}(?:说|问|(?<!知)道|答|喊|写|表示|补充|解释)[，。：！？…]",
)
"""Who says it: the part of a sentence after the words it quotes."""


def _sentences(text: str, lines: Sequence[Line], kind: Kind, language: str) -> Iterator[Unit]:
    """The sentences of some lines that were one before they were wrapped."""
    joined, offsets = _joined(text, lines)
    first = lines[0]
    lead = text[first.start : first.content]
    for start, end in _cut(joined, language):
        shown = lead + joined[start:end]
        at = first.start if start == 0 else offsets[start]
        says = any(c.isalnum() or unicodedata.category(c) == "So" for c in shown)
        yield Unit(shown, at, offsets[end - 1] + 1, kind if says else "layout")
        lead = ""


def _joined(text: str, lines: Sequence[Line]) -> tuple[str, list[int]]:
    """The lines as one, and the offset in the text of each of its characters."""
    joined, offsets = "", list[int]()
    for line in lines:
        if joined and not (_wide(joined[-1]) and _wide(text[line.content])) and joined[-1] != "-":
            joined += " "
            offsets.append(offsets[-1] + 1)
        joined += text[line.content : line.end]
        offsets += range(line.content, line.end)
    return joined, offsets


def _cut(passage: str, language: str) -> list[tuple[int, int]]:
    """Start and end of each sentence, without white space around."""
    masked = _NO_END.sub(lambda found: re.sub(r"[.．]", _MASK, found[0]), passage)
    pieces = _segment()(language, masked)
    if "".join(pieces) != masked:  # a splitter that alters the text is not followed
        pieces = [masked]
    ends: list[int] = []
    start = position = 0
    for piece in pieces:
        if ends and _belongs(passage[start:position], piece):
            ends.pop()
        elif ends:
            start = position
            if (mark := _CLOSERS.match(piece)) and _closes(mark[0], passage[:position]):
                start = ends[-1] = position + mark.end()
        position += len(piece)
        ends.append(position)
    return [span for span in _stripped(passage, ends) if span[0] < span[1]]


def _stripped(passage: str, ends: Sequence[int]) -> Iterator[tuple[int, int]]:
    for start, end in zip((0, *ends), ends, strict=False):
        piece = passage[start:end]
        yield end - len(piece.lstrip()), start + len(piece.rstrip())


def _belongs(before: str, piece: str) -> bool:
    """Is a piece part of the sentence before it?"""
    if not any(map(str.isalnum, piece)) or not any(map(str.isalnum, before)):
        return True
    if _ENUMERATOR.fullmatch(before):
        return True
    return bool(_QUOTED.search(before) and _FRAME.match(piece))


def _closes(mark: str, before: str) -> bool:
    """Does a mark at the beginning of a piece close what was opened before?"""
    return mark[0] not in "*_`" or before.count(mark) % 2 == 1


@cache
def _segment() -> Any:
    from sentencex import segment

    return segment


# --- the sentence of a claim -------------------------------------------------------------

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
