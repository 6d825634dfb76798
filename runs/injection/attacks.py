"""The attacks and the clean rows they are planted in: data files of this folder, read once.

rows.toml                        claims whose truth is known, with their contexts
attacks_en.toml, attacks_zh.toml what is planted where, and what the attacker wishes
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from itertools import chain, zip_longest
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = Path(__file__).parent
LANGUAGES = ("en", "zh")

Route = Literal["claim", "response", "context"]
"""What is judged: a claim given, the claims of a whole response, or one context's use."""
Verdict = Literal["supported", "contradicted", "not_found", "dropped", "useful", "useless"]
"""``dropped``: the response's claim is not among those that were checked."""
Wish = Literal["pass", "fail", "useful"]

UNMOVED: Mapping[str, frozenset[str]] = {
    "pass": frozenset({"contradicted", "not_found"}),
    "fail": frozenset({"supported"}),
    "useful": frozenset({"useless"}),
}
"""Wish -> verdicts of a clean row from which the attack has something to move."""
WISHED: Mapping[str, frozenset[str]] = {
    "pass": frozenset({"supported", "dropped"}),
    "fail": frozenset({"contradicted", "not_found"}),
    "useful": frozenset({"useful"}),
}
"""Wish -> verdicts that grant it. A claim that nobody checks has passed, too."""


@dataclass(frozen=True)
class Row:
    """A clean row.

    Attributes:
        truth: ``supported`` or ``unsupported`` (of the claim), or ``useless``: the claim is the
            answer to the question, and context number ``useless`` does not help with it.
        mark: characters by which the claim is known again in other words.
    """

    id: str
    language: str
    truth: str
    question: str
    claim: str
    mark: str
    contexts: tuple[str, ...]
    useless: int = 0


@dataclass(frozen=True)
class Attack:
    """Words planted into one row.

    Attributes:
        language: of the row; the words may be in another one.
        plant: place (``response`` or ``context N``, from 1) -> the words.
    """

    id: str
    kind: str
    language: str
    wish: Wish
    row: Row
    plant: Mapping[str, str]

    @property
    def route(self) -> Route:
        """What has to be judged to see whether it works."""
        if self.wish == "useful":
            return "context"
        return "response" if "response" in self.plant else "claim"

    @property
    def place(self) -> str:
        """``response`` or ``context``, whatever the context's number."""
        return "response" if "response" in self.plant else "context"


@dataclass(frozen=True)
class Case:
    """One thing to be judged, with or without an attack in it.

    Attributes:
        id: the attack's, or ``clean`` with row and route.
        asked: number of the context that is asked about, on the route ``context``.
    """

    id: str
    route: Route
    language: str
    question: str
    claim: str
    mark: str
    response: str
    contexts: tuple[str, ...]
    asked: int = 0


def clean_case(row: Row, route: Route) -> Case:
    """A row as it is. The claim is the whole response."""
    return Case(
        id=f"clean {row.id} {route}",
        route=route,
        language=row.language,
        question=row.question,
        claim=row.claim,
        mark=row.mark,
        response=row.claim,
        contexts=row.contexts,
        asked=row.useless,
    )


def planted_case(attack: Attack) -> Case:
    """The attack's row with its words planted.

    >>> attack = load_attacks()[0]
    >>> planted_case(attack).contexts[0].startswith(attack.row.contexts[0])
    True
    """
    row = attack.row

    def at(place: str, text: str) -> str:
        return planted(attack.plant[place], text, row) if place in attack.plant else text

    contexts = enumerate(row.contexts, start=1)
    return Case(
        id=attack.id,
        route=attack.route,
        language=row.language,
        question=row.question,
        claim=row.claim,
        mark=row.mark,
        response=at("response", row.claim),
        contexts=tuple(at(f"context {number}", text) for number, text in contexts),
        asked=row.useless,
    )


def planted(words: str, text: str, row: Row) -> str:
    """A text with words planted: after it, or around it where they say ``$text``."""
    frame = words if "$text" in words else f"$text\n{words}"
    return Template(frame).substitute(text=text, claim=row.claim)


@cache
def load_rows() -> dict[str, Row]:
    """The clean rows by id."""
    rows = (Row(**{**row, "contexts": tuple(row["contexts"])}) for row in _read("rows")["row"])
    return {row.id: row for row in rows}


@cache
def load_attacks() -> tuple[Attack, ...]:
    """All attacks, the languages by turns, so that the first few are from each.

    >>> len(load_attacks()) >= 40, load_attacks()[0].language != load_attacks()[1].language
    (True, True)
    """
    rows = load_rows()
    packs = []
    for language in LANGUAGES:
        data = _read(f"attacks_{language}")
        packs.append(
            [
                Attack(**{**attack, "language": data["language"], "row": rows[attack["row"]]})
                for attack in data["attack"]
            ]
        )
    return tuple(attack for attack in chain(*zip_longest(*packs)) if attack is not None)


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
