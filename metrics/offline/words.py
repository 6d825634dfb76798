"""Cut a text into comparable words: Latin-script words by stem, Chinese by character and pair.

One rule serves both languages and texts that mix them, so a Chinese claim with an English name
in it needs no switch. The stemmer takes off English endings only and errs on the short side:
both texts pass through it, so what counts is that forms of one word meet, not that a stem is a
word. A segmenter for Chinese would bring a dictionary of many megabytes for a comparison that
pairs of characters make as well.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_TOKEN = re.compile(
    rf"[{HAN}]"
    r"|\d+(?:[.,]\d+)*"
    rf"|[^\W\d_{HAN}](?:[^\W_{HAN}]|['’](?=[^\W_{HAN}]))*"
)
_FULL_WIDTH = str.maketrans(
    "０１２３４５６７８９％．，：－～＋", "0123456789%.,:-~+"
)  # one character for one, so that offsets stay
STOP_WORDS = frozenset((
    "a", "about", "after", "again", "all", "also", "am", "an", "and", "any", "are", "as", "at",
    "be", "because", "been", "before", "being", "both", "but", "by", "can", "could", "did", "do",
    "does", "doing", "down", "during", "each", "few", "for", "from", "further", "had", "has",
    "have", "having", "he", "her", "here", "hers", "him", "his", "how", "i", "if", "in", "into",
    "is", "it", "its", "itself", "just", "may", "me", "might", "more", "most", "must", "my",
    "nor", "now", "of", "off", "on", "once", "only", "or", "other", "our", "out", "over", "own",
    "same", "shall", "she", "should", "so", "some", "such", "than", "that", "the", "their",
    "them", "then", "there", "these", "they", "this", "those", "through", "to", "too", "under",
    "until", "up", "upon", "us", "very", "was", "we", "were", "what", "when", "where", "which",
    "while", "who", "whom", "whose", "why", "will", "with", "would", "you", "your", "not", "no",
))  # fmt: skip
"""English words too common to tell one passage from another."""
STOP_CHARACTERS = frozenset("的了是在和也就都而及与着过吗呢吧啊之其被把对于这那个")
"""Their Chinese counterparts."""


@dataclass(frozen=True)
class Token:
    """One word or one Chinese character.

    Attributes:
        key: the form that is compared: folded, without an English ending.
        start, end: where it stands in the text.
        han: is it a Chinese character?
        stop: is it too common to count?
        capital: does it begin with a capital letter?
    """

    key: str
    start: int
    end: int
    han: bool
    stop: bool
    capital: bool


def plain_width(text: str) -> str:
    """The text with full-width digits and marks made plain; its length stays.

    >>> plain_width("４５％")
    '45%'
    """
    return text.translate(_FULL_WIDTH)


@lru_cache(maxsize=256)
def tokens(text: str) -> tuple[Token, ...]:
    """The words and Chinese characters of a text, in order.

    >>> [token.key for token in tokens("Its boats carried 1,200 lamps 到港口")]
    ['its', 'boat', 'carry', '1200', 'lamp', '到', '港', '口']
    """
    return tuple(_token(match) for match in _TOKEN.finditer(plain_width(text)))


def _token(match: re.Match[str]) -> Token:
    word, start, end = match[0], match.start(), match.end()
    if re.match(f"[{HAN}]", word):
        return Token(word, start, end, True, word in STOP_CHARACTERS, False)
    folded = word.casefold().replace("’", "'")
    if folded[0].isdigit():
        return Token(folded.replace(",", ""), start, end, False, False, False)
    return Token(stem(folded), start, end, False, folded in STOP_WORDS, word[0].isupper())


def stem(word: str) -> str:
    """An English word without its ending; short words stay as they are.

    >>> [stem(word) for word in ("stories", "stopped", "releases", "releasing", "gas", "larch's")]
    ['story', 'stop', 'releas', 'releas', 'gas', 'larch']
    """
    word = word.removesuffix("'s").removesuffix("n't") or word
    if len(word) < 4:
        return word
    if word.endswith(("ies", "ied")):
        return word[:-3] + "y"
    for ending in ("ing", "ed", "es", "s", "ly", "e"):
        rest = word.removesuffix(ending)
        if rest != word and len(rest) >= 3 and not word.endswith("ss"):
            return _undoubled(rest.removesuffix("e") if ending == "ly" else rest)
    return word


def _undoubled(rest: str) -> str:
    """Make "stopp" "stop"; "fill" and "pass" stay."""
    doubled = rest[-1] == rest[-2] and rest[-1] not in "aeiouls"
    return rest[:-1] if doubled else rest


def units(words: Sequence[Token]) -> list[str]:
    """What is counted when two texts are compared, in order, with repeats.

    Words that are no stop words; pairs of neighbouring Chinese characters; a Chinese character
    that stands alone.

    >>> units(tokens("The lamp of 灯塔高 is red"))
    ['lamp', '灯塔', '塔高', 'red']
    """
    found: list[str] = []
    for place, token in enumerate(words):
        if not token.han:
            if not token.stop:
                found.append(token.key)
            continue
        after = words[place + 1] if place + 1 < len(words) else None
        if after is not None and after.han and after.start == token.end:
            found.append(token.key + after.key)
            continue
        before = words[place - 1] if place else None
        if before is None or not before.han or before.end != token.start:
            found.append(token.key)
    return found
