"""Which words of a claim stand in none of its sources, so that the judge must have added them?

Compared are numbers by value and unit, dates, words in any inflection, names strictly, Chinese by
pairs of characters, and whether anything is denied. Common words, which state nothing by
themselves, are passed over; so a claim made of the right words in the wrong order is not seen.
docs/extraction.md has the rules and what they miss.

The table of irregular forms stands here because the libraries that know them (lemmatisers) bring
tens of megabytes of dictionaries.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import pairwise

from .offline.dates import backed, find_dates
from .offline.numbers import Number, find_numbers, han_value
from .offline.words import STOP_CHARACTERS, STOP_WORDS, Token, stem, tokens

Span = tuple[int, int]

_IRREGULAR = (
    "begin began begun,break broke broken,bring brought,build built,buy bought,catch caught,"
    "choose chose chosen,come came,cost costs,draw drew drawn,drink drank drunk,drive drove driven,"
    "eat ate eaten,fall fell fallen,feed fed,fight fought,find found,flee fled,fly flew flown,"
    "freeze froze frozen,get got gotten,give gave given,go goes went gone,grow grew grown,"
    "hang hung,hide hid hidden,hold held,keep kept,know knew known,lay laid,lead led,leave left,"
    "lend lent,lie lay lain,lose lost,make made,mean meant,meet met,pay paid,ride rode ridden,"
    "ring rang rung,rise rose risen,run ran,say said,see saw seen,seek sought,sell sold,send sent,"
    "shake shook shaken,shine shone,shoot shot,show shown,shrink shrank shrunk,sing sang sung,"
    "sink sank sunk,sit sat,sleep slept,speak spoke spoken,spend spent,stand stood,"
    "steal stole stolen,stick stuck,strike struck,swim swam swum,take took taken,teach taught,"
    "tear tore torn,tell told,think thought,throw threw thrown,understand understood,"
    "wake woke woken,wear wore worn,win won,wind wound,write wrote written,"
    "child children,man men,woman women,person people,foot feet,tooth teeth,mouse mice,goose geese,"
    "life lives,leaf leaves,half halves,good better best,bad worse worst,far further furthest,"
    "day daily"
)
_FORMS = {
    stem(word): forms.split()[0]
    for forms in reversed(_IRREGULAR.split(","))
    for word in forms.split()
}
"""Stem of an irregular form -> its first form; of two that look alike, the one listed first."""
_COUNTS = (
    "0.5 half,1 one first once single,2 two second twice both,3 three third thrice,4 four fourth,"
    "5 five fifth,6 six sixth,7 seven seventh,8 eight eighth,9 nine ninth,10 ten tenth,"
    "11 eleven eleventh,12 twelve twelfth dozen"
)
_ORDINALS = {
    stem(word): float(value)
    for value, *words in map(str.split, _COUNTS.split(","))
    for word in words
}
"""Stem of a counting word -> its value."""
_LIGHT = "called known made name one person someone something thing times"
_LIGHT_WORDS = frozenset(_FORMS.get(word, word) for word in map(stem, _LIGHT.split()))
"""Words that state little by themselves, beside the stop words."""
_LIGHT_HAN = re.compile(
    "就是|以及|并且|或者|可以|能够|应当|应该|必须|需要|进行|目前|其中|一个|这些|它们|他们|她们"
    "|名为|称为|叫做|名字|名称|时间|时候"
)
_LIGHT_CHARACTERS = STOP_CHARACTERS | frozenset(
    "由为于从到等共均也即则所以可能会须应需将给并或该此每各个有它他她们时人者"
)
_HAN_NUMERAL = re.compile("[零〇一二两三四五六七八九十百千万亿]+")
_DENIES = re.compile(
    r"\b(?:not|no(?!\.)|never|none|nobody|nothing|neither|nor|without|cannot)\b|n['’]t\b"
    r"|(?:[不没未无]|并非)(?![但仅过断同久少管论数来])",
    re.IGNORECASE,
)
_MAY_DENY = re.compile(
    r"\bun(?!der|it|iv|ion|til)\w{3}|\bim(?:poss|prop)|\bin(?:act|cap|comp|val)"
    r"|\bdis(?:abl|allow|cont)|less\b|\b(?:except|exclu|fail|forb|free|lack|only|prohib|refus)"
    r"|[非禁免勿拒除缺少否别]",
    re.IGNORECASE,
)
"""Further words of a source that a denial may put plainly."""


class Source:
    """The texts that a claim may take its words from.

    >>> source = Source("It carries 1,200 lamps and was built of larch.", "What is the Blue Teal?")
    >>> source.lacks("The Blue Teal carries 1200 lamps.")
    ()
    >>> source.lacks("The Blue Teal was built of oak in 1931.")
    ('oak', '1931')
    >>> Source("鲜叶须摊晾三小时。").lacks("鲜叶须在竹匾上摊晾3小时。")
    ('竹匾上',)
    """

    def __init__(self, *texts: str) -> None:
        """Read the texts."""
        whole = "\n".join(map(_plain, texts))
        words = tokens(whole)
        self.numbers = find_numbers(whole)
        self.values = {number.value for number in self.numbers} | _loose_values(whole, words)
        self.dates = find_dates(whole)
        self.keys = {_key(token) for token in words}
        self.small = {_key(t) for t in words if not t.han and not whole[t.start].isupper()}
        self.squeezed = re.sub(r"[\W_]+", "", whole.casefold())
        self.pairs = set(_pairs(words))
        self.denies = bool(_DENIES.search(whole) or _MAY_DENY.search(whole))

    def lacks(self, claim: str) -> tuple[str, ...]:
        """The words and numbers of a claim that stand in none of the texts, in order, once each."""
        plain = _plain(claim)
        numbers = [(number.start, number.end) for number in find_numbers(plain)]
        dates = [(d.start, d.end) for d in find_dates(plain) if backed(d, self.dates)]
        words = [token for token in tokens(plain) if not _inside(token, [*numbers, *dates])]
        found = [*self._numbers(plain, dates), *self._characters(plain, words)]
        found += [(t.start, t.end) for t in words if not t.han and self._is_new(t, plain[t.start])]
        denial = _DENIES.search(plain)
        if denial and not self.denies:
            found.append(denial.span())
        written = claim if len(claim) == len(plain) else plain
        return tuple(dict.fromkeys(written[start:end] for start, end in sorted(found)))

    def _numbers(self, claim: str, dated: Sequence[Span]) -> Iterator[Span]:
        for number in find_numbers(claim):
            span = (number.start, number.end)
            if any(start <= span[0] and span[1] <= end for start, end in dated):
                continue
            if not self._has(number):
                yield span

    def _has(self, number: Number) -> bool:
        """Does the number stand there, with this unit or where one of the two has none?"""
        if number.value not in self.values:
            return False
        units = {other.unit for other in self.numbers if other.value == number.value}
        return not number.unit or not units or number.unit in units or "" in units

    def _is_new(self, token: Token, initial: str) -> bool:
        """Is this a word of content that stands in none of the texts?"""
        key = _key(token)
        if token.stop or key in self.keys or key in STOP_WORDS or key in _LIGHT_WORDS:
            return False
        if key[0].isdigit():
            return _value(key) not in self.values
        if _ORDINALS.get(key) in self.values or key.endswith("n't"):
            return False
        if len(key) >= 5 and key in self.squeezed:  # "email" in "e-mail"
            return False
        # A name may look like another name: it is compared with small-letter words only.
        others = self.small if initial.isupper() else self.keys
        return not any(_related(key, other) for other in others)

    def _characters(self, claim: str, words: Sequence[Token]) -> Iterator[Span]:
        """Runs of Chinese characters of which no pair is known, nor all of one or two."""
        blank = {at for found in _LIGHT_HAN.finditer(claim) for at in range(*found.span())}
        run: list[Token] = []
        for token in [*self._unpaired(words), None]:
            if token and (token.start in blank or token.key in _LIGHT_CHARACTERS):
                continue
            if run and (token is None or token.start != run[-1].end):
                if len(run) >= 3 or any(not self._has_character(each.key) for each in run):
                    yield run[0].start, run[-1].end
                run = []
            if token:
                run.append(token)

    def _unpaired(self, words: Sequence[Token]) -> Iterator[Token]:
        """Chinese characters that are in no pair with a neighbour that the texts have, too."""
        for place, token in enumerate(words):
            around = words[max(0, place - 1) : place + 2]
            if token.han and not any(pair in self.pairs for pair in _pairs(around)):
                yield token

    def _has_character(self, character: str) -> bool:
        return character in self.keys or (
            bool(_HAN_NUMERAL.match(character)) and han_value(character) in self.values
        )


def _plain(text: str) -> str:
    """The text in one form of characters, digits grouped by commas: 1 200 is 1,200.

    千克 and 千米 are written with their other names: their 千 is not a thousand.
    """
    text = re.sub(r"(?<=\d)[\u00a0\u2009\u202f](?=\d{3}(?!\d))", ",", text)
    text = unicodedata.normalize("NFKC", text)
    return text.replace("千克", "公斤").replace("千米", "公里")


def _key(token: Token) -> str:
    return _FORMS.get(token.key, token.key)


def _inside(token: Token, spans: Sequence[Span]) -> bool:
    return any(start <= token.start < end for start, end in spans)


def _loose_values(text: str, words: Sequence[Token]) -> set[float]:
    """Values of ordinals, of digits anywhere and of each Chinese numeral, counted or not."""
    values: set[float] = {_ORDINALS[token.key] for token in words if token.key in _ORDINALS}
    values |= {_value(found) for found in re.findall(r"\d+(?:\.\d+)?", text)}
    numerals = (han_value(found) for found in _HAN_NUMERAL.findall(text))
    return values | {value for value in numerals if value is not None}


def _value(digits: str) -> float:
    return float(digits) if re.fullmatch(r"\d+(?:\.\d+)?", digits) else float("nan")


def _related(key: str, other: str) -> bool:
    """Do two words begin alike, as forms of one do: "operates", "operation"?

    >>> _related("operat", "operation"), _related("oak", "oats"), _related("harbour", "harth")
    (True, False, False)
    """
    if len(key) < 4 or key[:4] != other[:4]:
        return False
    common = next(
        (at for at, (a, b) in enumerate(zip(key, other, strict=False)) if a != b),
        min(len(key), len(other)),
    )
    return common >= 0.6 * max(len(key), len(other))


def _pairs(words: Sequence[Token]) -> Iterator[str]:
    """Pairs of Chinese characters that stand side by side."""
    for one, two in pairwise(words):
        if one.han and two.han and one.end == two.start:
            yield one.key + two.key
