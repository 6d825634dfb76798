"""Read one JSON value out of a text, leniently in form, or say how it ended.

The standard decoder goes first. What it refuses goes through a small parser that also takes
trailing commas, single quotes, quotes like “these”, full-width punctuation, bare words as
keys and values, Python's True, False and None, and comments. It never adds what is not there:
a text that ends too early is ``Cut``, anything else that is wrong is ``Broken``.

A parser of our own, because none was found that fits. Libraries that repair JSON complete a
cut text. ``json5`` refuses True, None, numbers as keys and line breaks in strings, does not
tell which pairs of a cut text are whole, and took 0.4 s for 20 kB. ``ast.literal_eval`` hides
a key given twice, and warns about unknown escapes.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

MOST_DEPTH = 50
"""Containers inside each other that are read; a reply needs five at the most."""

_SPACE = re.compile(r"(?:\s++|\ufeff|//[^\n]*+|#(?=\s)[^\n]*+|/\*.*?\*/)*+", re.DOTALL)
_QUOTED = re.compile(
    r"""  "( (?: [^"\\]++ | \\. )*+ )"
        | '( (?: [^'\\]++ | \\. )*+ )'
        | “( [^“”\\]*+ )”""",  # no escape is known for these: what holds another is refused
    re.VERBOSE | re.DOTALL,
)
_QUOTES = "\"'“"
_BARE = re.compile(r"[\w.+-]+")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
_WORD = re.compile(r"[^\W\d][\w-]*")
_KEY = re.compile(r"\w[\w-]*")
_LITERALS = {"true": True, "True": True, "false": False, "False": False, "null": None, "None": None}
_ESCAPE = re.compile(r'\\x([0-9a-fA-F]{2})|\\(.)|"', re.DOTALL)
_FULL_WIDTH = str.maketrans("｛｝［］：，", "{}[]:,")


class Pairs(list[tuple[str, Any]]):
    """A JSON object as its pairs in order: ``dict`` would hide a key given twice."""


class Unusable:
    """Stands for a value that no parser takes: ambiguous, not finite, too long or too deep."""


@dataclass
class Open:
    """A container that was not closed.

    Attributes:
        value: what it holds, as far as a comma or a closing mark follows.
        key: the key whose value was being read, in an object.
    """

    value: Pairs | list[Any]
    key: str = ""


@dataclass(frozen=True)
class Whole:
    """A complete value and where it ends."""

    value: Any
    end: int


@dataclass(frozen=True)
class Cut:
    """The text ended first; ``open`` are the containers not closed, the outermost first."""

    start: int
    open: tuple[Open, ...]


@dataclass(frozen=True)
class Broken:
    """No JSON from ``end`` on; ``begun`` when it was up to there, and not just prose."""

    end: int
    begun: bool


def _integer(text: str) -> int | Unusable:
    return int(text) if len(text) < 20 else Unusable()


def _float(text: str) -> float | Unusable:
    value = float(text)
    return value if math.isfinite(value) else Unusable()


_DECODER = json.JSONDecoder(
    object_pairs_hook=Pairs,
    parse_int=_integer,
    parse_float=_float,
    parse_constant=lambda _: Unusable(),
    strict=False,  # a line break inside a string is plain enough
)


def read(text: str, start: int) -> Whole | Cut | Broken:
    r"""Read the object or list that begins at ``start``. Objects come as ``Pairs``.

    >>> read("{1: 'it\\'s', ok: True,} and", 0)
    Whole(value=[('1', "it's"), ('ok', True)], end=23)
    >>> read('{"1": "a", "2": "b', 0)
    Cut(start=0, open=(Open(value=[('1', 'a')], key='2'),))
    >>> read("{1: a 2: b}", 0), read("{see below}", 0)
    (Broken(end=6, begun=True), Broken(end=5, begun=False))
    """
    try:
        value, end = _DECODER.raw_decode(text, start)
        return Whole(value, end)
    except (ValueError, RecursionError):
        parser = _Parser(text, start)
    try:
        return Whole(parser.value(), parser.pos)
    except _WrongError:
        return Broken(parser.pos, parser.begun)
    except _TextEndsError:
        return Cut(start, tuple(parser.open))


class _WrongError(Exception):
    pass


class _TextEndsError(Exception):
    pass


class _Parser:
    """Recursive descent, at most ``MOST_DEPTH`` deep; time is linear in what is read."""

    def __init__(self, text: str, pos: int) -> None:
        self.text, self.pos = text, pos
        self.open: list[Open] = []
        self.begun = False

    def value(self) -> Any:
        mark = self._mark()
        if self.open and (isinstance(self.open[0].value, Pairs) or mark in _QUOTES + "{["):
            self.begun = True
        if mark == "{":
            return self._fill(Open(Pairs()), "}", self._pair)
        if mark == "[":
            return self._fill(Open([]), "]", self.value)
        return self._quoted() if mark in _QUOTES else self._bare()

    def _fill(self, opened: Open, closing: str, child: Callable[[], Any]) -> Any:
        if len(self.open) == MOST_DEPTH:
            raise _WrongError
        self.pos += 1
        self.open.append(opened)
        while self._mark() != closing:
            item = child()
            after = self._mark()
            if after == ",":
                self.pos += 1
            elif after != closing:
                raise _WrongError
            opened.value.append(item)
        self.pos += 1
        self.open.pop()
        return opened.value

    def _pair(self) -> tuple[str, Any]:
        key = self._quoted() if self._mark() in _QUOTES else self._token(_KEY)
        if self._mark() != ":":
            raise _WrongError
        self.pos += 1
        self.open[-1].key = key
        return key, self.value()

    def _mark(self) -> str:
        """The next character that is no space and no comment."""
        space = _SPACE.match(self.text, self.pos)
        self.pos = space.end() if space else self.pos
        if self.pos == len(self.text) or self.text.startswith("/*", self.pos):
            raise _TextEndsError
        return self.text[self.pos].translate(_FULL_WIDTH)

    def _quoted(self) -> str:
        found = _QUOTED.match(self.text, self.pos)
        if not found:
            nested = self.text[self.pos] == "“" and re.compile(r"[“\\]").search(
                self.text, self.pos + 1
            )
            raise _WrongError if nested else _TextEndsError
        self.pos = found.end()
        try:
            body = _ESCAPE.sub(_escape, found[found.lastindex or 0])
            return str(_DECODER.decode(f'"{body}"'))
        except ValueError:
            raise _WrongError from None

    def _bare(self) -> Any:
        word = self._token(_BARE)
        if word in _LITERALS:
            return _LITERALS[word]
        if _NUMBER.fullmatch(word):
            return _DECODER.decode(word)
        if _WORD.fullmatch(word):
            return word
        raise _WrongError

    def _token(self, form: re.Pattern[str]) -> str:
        found = form.match(self.text, self.pos)
        if not found:
            raise _WrongError
        self.pos = found.end()
        if self.pos == len(self.text):
            raise _TextEndsError
        return found[0]


def _escape(found: re.Match[str]) -> str:
    r"""JSON's way to write an escape: it has no ``\'`` and no ``\x``."""
    if found[1]:
        return f"\\u00{found[1]}"
    if found[2] == "'":
        return "'"
    return found[0] if found[2] else '\\"'
