"""The blocks of a text, as Markdown has them: prose, list items, table rows, headings, code.

markdown-it-py reads the blocks; its inline rules, HTML, link definitions and underlined headings
are switched off, so that nothing of the text disappears. Every line that is not blank belongs to
exactly one block, and a text without any markup is prose.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from markdown_it.token import Token

Kind = Literal["prose", "item", "heading", "row", "code", "layout"]
_RULES = ["table", "code", "fence", "blockquote", "hr", "list", "heading"]
_OTHER_LINE_ENDS = re.compile(r"\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_ENDS_AS_PROSE = re.compile(r"[.!?。！？…][\"'”’」』）)]*\s*$")


@dataclass(frozen=True)
class Line:
    """One line of a block; offsets in the text, end exclusive.

    Attributes:
        start: its first character that is not blank.
        content: where its words begin, after list markers and the like.
        end: after its last character that is not blank.
    """

    start: int
    content: int
    end: int


@dataclass(frozen=True)
class Block:
    """Some neighbouring lines that belong together.

    Attributes:
        kind: ``"layout"`` is what states nothing: heads of tables, rules.
        lines: those that are not blank.
        cells: of a row: column name and value of each cell that is not empty.
    """

    kind: Kind
    lines: tuple[Line, ...]
    cells: tuple[tuple[str, str], ...] = ()

    @property
    def start(self) -> int:
        """Where it starts in the text."""
        return self.lines[0].start

    @property
    def end(self) -> int:
        """Where it ends, exclusive."""
        return self.lines[-1].end


def find_blocks(text: str) -> list[Block]:
    r"""The blocks of a text in order.

    >>> [(b.kind, b.cells) for b in find_blocks("Fares:\n- adults 4.50\n\n|a|b|\n|-|-|\n|1|2|")]
    ... # doctest: +NORMALIZE_WHITESPACE
    [('prose', ()), ('item', ()), ('layout', ()), ('layout', ()),
     ('row', (('a', '1'), ('b', '2')))]
    """
    # One character for one, so that offsets hold.
    plain = _OTHER_LINE_ENDS.sub(lambda end: "\n".rjust(len(end[0])), text).replace("\0", "\ufffd")
    return _Reader(plain).blocks()


@cache
def _parser() -> Any:
    from markdown_it import MarkdownIt

    return MarkdownIt("zero").enable(_RULES).disable("inline")


class _Reader:
    """Walks over the parser's tokens; lines count from 0."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.bounds: list[tuple[int, int]] = []
        start = 0
        for line in text.split("\n"):
            self.bounds.append((start, start + len(line)))
            start += len(line) + 1

    def blocks(self) -> list[Block]:
        """All blocks; lines that no token claims (rules of tables) come in as well."""
        found: dict[int, Block] = {}
        free = set(range(len(self.bounds)))
        for first, last, block in self._claimed():
            if block.lines and first in free:
                found[first] = block
                free.difference_update(range(first, last))
        for number in free:
            if lines := self._lines(number, number + 1):
                alnum = any(map(str.isalnum, self.text[lines[0].start : lines[0].end]))
                found[number] = Block("prose" if alnum else "layout", lines)
        return [found[first] for first in sorted(found)]

    def _claimed(self) -> Iterator[tuple[int, int, Block]]:
        tokens: list[Token] = _parser().parse(self.text)
        item = -1
        head: list[str] = []
        for place, token in enumerate(tokens):
            if token.map is None:
                continue
            first, last = token.map
            if token.type == "list_item_open":
                item = first
            elif token.type == "paragraph_open":
                kind: Kind = "item" if item == first else "prose"
                content = tokens[place + 1].content
                yield first, last, Block(kind, self._lines(first, last, content))
            elif token.type == "heading_open":
                yield first, last, Block("heading", self._lines(first, last))
            elif token.type in ("fence", "code_block"):
                yield first, last, self._code(token)
            elif token.type == "tr_open":
                cells = _cells(tokens, place)
                if tokens[place - 1].type == "thead_open":
                    head = cells
                    yield first, last, Block("layout", self._lines(first, last))
                else:
                    yield first, last, self._row(first, head, cells)

    def _lines(self, first: int, last: int, content: str = "") -> tuple[Line, ...]:
        """The lines that are not blank; ``content`` is their text without markers."""
        bare = content.split("\n")
        lines = []
        for number in range(first, last):
            start, end = self.bounds[number]
            whole = self.text[start:end]
            start, end = end - len(whole.lstrip()), start + len(whole.rstrip())
            if start >= end:
                continue
            words = bare[number - first].strip() if len(bare) == last - first else ""
            at = self.text.rfind(words, start, end) if words else start
            lines.append(Line(start, max(start, at), end))
        return tuple(lines)

    def _code(self, token: Token) -> Block:
        """A fence is code; indented text is code unless it ends as prose does."""
        first, last = token.map or (0, 0)
        prose = token.type == "code_block" and _ENDS_AS_PROSE.search(token.content)
        return Block("prose" if prose else "code", self._lines(first, last))

    def _row(self, first: int, head: Sequence[str], cells: Sequence[str]) -> Block:
        """A row of a table; a line without a bar is the prose that follows the table."""
        lines = self._lines(first, first + 1)
        if lines and "|" not in self.text[lines[0].start : lines[0].end]:
            return Block("prose", lines)
        named = tuple((name, cell) for name, cell in zip(head, cells, strict=False) if cell)
        return Block("row" if named else "layout", lines, named)


def _cells(tokens: Sequence[Token], place: int) -> list[str]:
    """The texts of a row's cells, from the token that opens the row."""
    cells = []
    for token in tokens[place + 1 :]:
        if token.type == "tr_close":
            break
        if token.type == "inline":
            cells.append(" ".join(token.content.split()))
    return cells
