"""The ways to reach a verdict that are compared: ours by option, offline, and ragas' own.

    batched   per_claim   per_context   probability      as in metrics/verification.py
        +quotes=after|before|separate|nearest|none  +votes=3  +cascade=0.1:0.9
    offline                                             the judge without a model
    ragas                                               ragas' own metrics (_ragas_own.py)

Options bear on the checking of claims. Contexts are judged in one call, with ``per_context`` in
one call each; pairs are always judged alike.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragas_judge.judge import Call
from ragas_judge.judge.errors import (
    BudgetError,
    CacheError,
    EvaluatorError,
    JudgeAuthError,
    JudgeQuotaError,
    JudgeUnreachableError,
    RecordingError,
    SetupError,
)
from ragas_judge.judge.types import total
from ragas_judge.metrics.verification import METHODS, Verification

if TYPE_CHECKING:
    from _labelled import Aim, Row

STOPS = (
    BudgetError,
    CacheError,
    JudgeAuthError,
    JudgeQuotaError,
    JudgeUnreachableError,
    RecordingError,
    SetupError,
)
"""Errors that end a run: the next row would fail as well."""
DIGITS = 16
"""Of a prompt's hash that are kept."""


@dataclass(frozen=True)
class Found:
    """What a method said of one row.

    Attributes:
        said: one number an item: 1 (supported, useful), 0, or None; of a pair the number of the
            response that it took for the better one, 0.5 for a tie.
        graded: how strongly 1 was said of each item: a probability; of a response the mean of
            its claims', else the score; of a pair by how much the second scored higher. None:
            not known.
        value: the metric's score of the row, where its contexts or its sentences make one.
        unverified: quotes that stand in no context.
        reason: why there is no verdict, if there is none.
    """

    said: tuple[float | None, ...]
    graded: tuple[float | None, ...] = ()
    value: float | None = None
    unverified: int = 0
    reason: str = ""


@dataclass(frozen=True)
class Cost:
    """What a row took.

    Attributes:
        input, output: tokens as the service counted them, also of replies from the cache; None
            where it did not.
        calls: replies read; ``cached``: those of them that came from the cache.
        seconds: from the first question to the last verdict, waiting included.
        prompts: what was asked, as ``id/version/language/hash``.
    """

    input: int | None = 0
    output: int | None = 0
    calls: int = 0
    cached: int = 0
    seconds: float = 0.0
    prompts: tuple[str, ...] = ()

    @classmethod
    def of(cls, calls: Sequence[Call], seconds: float, *, offline: bool) -> Cost:
        """Added up over calls of a judge; ``offline``: the offline judge had its part."""
        refs = dict.fromkeys(call.prompt for call in calls)
        prompts = [f"{r.id}/{r.version}/{r.language}/{r.sha256[:DIGITS]}" for r in refs]
        return cls(
            input=total(call.reply.usage.input for call in calls),
            output=total(call.reply.usage.output for call in calls),
            calls=len(calls),
            cached=sum(call.attempts == 0 for call in calls),
            seconds=round(seconds, 3),
            prompts=(*prompts, *([offline_version()] if offline else [])),
        )


@dataclass(frozen=True)
class Asked:
    """A row after it was asked about."""

    found: Found
    cost: Cost
    failed: str = ""
    """Class of the error that left it without a verdict."""


@dataclass(frozen=True)
class Method:
    """One way. ``how`` is None but for ours."""

    kind: str
    how: Verification | None = None

    def name(self, aim: Aim) -> str:
        """Its name in full where it judges rows of this aim: the options that bear on them.

        >>> parse_method("probability").name("claim"), parse_method("probability").name("pair")
        ('probability+quotes=none', 'batched')
        """
        if self.how is None:
            return self.kind
        if aim == "pair":
            return "batched"
        if aim == "contexts":
            return "per_context" if self.how.method == "per_context" else "batched"
        votes = f"+votes={self.how.votes}" if self.how.votes > 1 else ""
        ends = ":".join(f"{end:g}" for end in self.how.cascade or ())
        return f"{self.how.method}+quotes={self.how.quotes}{votes}{'+cascade=' * bool(ends)}{ends}"

    @property
    def label(self) -> str:
        """Its name where it judges claims, with all its options."""
        return self.name("claim")


def parse_method(text: str) -> Method:
    """A method as the command line names it.

    Raises:
        SetupError: it names no method, or an option there is not.

    >>> parse_method("per_claim+quotes=none+votes=3").label
    'per_claim+quotes=none+votes=3'
    """
    kind, *options = text.split("+")
    if kind in ("offline", "ragas") and not options:
        return Method(kind)
    if kind not in METHODS:
        known = f"{', '.join(METHODS)} with options, offline and ragas without"
        raise SetupError(f"--method {text}: there are {known}")
    given: dict[str, Any] = {"quotes": "none"} if kind == "probability" else {}
    for option in options:
        name, _, value = option.partition("=")
        try:
            given[name] = _OPTIONS[name](value)
        except (KeyError, ValueError):
            raise SetupError(
                f"--method {text}: {option!r} is no option; there are quotes=WORD, votes=NUMBER and"
                " cascade=LOW:HIGH"
            ) from None
    return Method("ours", Verification(kind, **given))  # type: ignore[arg-type]  # it checks


def _ends(text: str) -> tuple[float, float]:
    low, high = map(float, text.split(":"))
    return low, high


_OPTIONS: Mapping[str, Callable[[str], Any]] = {"quotes": str, "votes": int, "cascade": _ends}


def nothing(row: Row, reason: str = "") -> Found:
    """No verdict on any item."""
    return Found((None,) * len(row.gold), reason=reason)


def stops(error: EvaluatorError) -> bool:
    """Would the next row fail as well?"""
    return isinstance(error, STOPS)


@cache
def offline_version() -> str:
    """Stands for a prompt where the offline judge decided: a hash of its code and its numbers."""
    spec = find_spec("ragas_judge.metrics.offline")
    assert spec is not None
    folders = spec.submodule_search_locations or ()
    files = sorted(file for folder in folders for file in Path(folder).glob("*.*"))
    content = b"".join(file.read_bytes() for file in files if file.suffix in (".py", ".json"))
    return f"offline/{hashlib.sha256(content).hexdigest()[:DIGITS]}"
