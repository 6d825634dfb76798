"""How claims are checked: the options that faithfulness and context recall share.

    batched       all claims of a row in one call
    per_claim     one call a claim, against all contexts
    per_context   one call a context; a claim that no context supports alone is checked once
                  more against the likeliest contexts together
    probability   one call a claim for one word, yes or no; the probability of "yes" decides

docs/accuracy.md has what each costs and how often each agrees with people.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self, get_args

from ..judge.errors import SetupError

Method = Literal["batched", "per_claim", "per_context", "probability"]
Quotes = Literal["after", "before", "separate", "nearest", "none"]
METHODS: tuple[str, ...] = get_args(Method)
QUOTES: tuple[str, ...] = get_args(Quotes)


@dataclass(frozen=True)
class Verification:
    """One way to check claims.

    Attributes:
        method: see above.
        votes: how often each question is asked; the verdict given most often counts, and of
            two given equally often the worse one.
        quotes: where the deciding words come from: ``"after"`` or ``"before"`` the verdict in
            the same reply, asked for in a call of its own (``"separate"``), the passage
            ``"nearest"`` to the claim, which no model is asked for, or ``"none"``.
        threshold: the probability above which a claim counts as supported, where the service
            gives log probabilities; set by labels of one's own.
        cascade: two probabilities; a claim that the offline judge holds to be supported with
            one outside of them is decided by it, and only the others are sent to the model.

    Raises:
        SetupError: an option is not one of those offered, or two do not go together.
    """

    method: Method = "batched"
    votes: int = 1
    quotes: Quotes = "after"
    threshold: float = 0.5
    cascade: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        if self.method not in METHODS:
            raise SetupError(f"verification is one of {METHODS}, not {self.method!r}")
        if self.quotes not in QUOTES:
            raise SetupError(f"quotes is one of {QUOTES}, not {self.quotes!r}")
        if not isinstance(self.votes, int) or self.votes < 1:
            raise SetupError(f"votes is a whole number of at least 1, not {self.votes!r}")
        if self.method == "probability" and self.quotes in ("after", "before"):
            raise SetupError(
                "verification='probability' asks for one word: quotes is 'separate', 'nearest'"
                " or 'none'"
            )
        if not 0 < self.threshold < 1:
            raise SetupError(f"threshold is between 0 and 1, not {self.threshold!r}")
        if self.cascade is not None:
            low, high = self.cascade
            if not 0 <= low <= high <= 1:
                raise SetupError(f"cascade is two probabilities, low and high, not {self.cascade}")

    @classmethod
    def of(cls, *, method: Method = "batched", quotes: Quotes | None = None, **rest: Any) -> Self:
        """With the quotes that are usual for the method where none are named.

        >>> Verification.of(method="probability").quotes, Verification.of().quotes
        ('nearest', 'after')
        """
        usual: Quotes = "nearest" if method == "probability" else "after"
        return cls(method, quotes=quotes or usual, **rest)

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> Self:
        """What ``options()`` made, other options beside it left out."""
        return cls(
            options["verification"],
            **{name: options[name] for name in ("votes", "quotes", "threshold", "cascade")},
        )

    def options(self) -> dict[str, Any]:
        """What the evidence records."""
        return {
            "verification": self.method,
            "votes": self.votes,
            "quotes": self.quotes,
            "threshold": self.threshold,
            "cascade": self.cascade,
        }


DEFAULT = Verification()
