"""What a metric returns for one row: ``Score``, ``Unscored`` or ``Failed``.

A failure is a type, never a number. NaN exists in one place: ``NotScored``, the float that
``ragas.evaluate`` needs for a row without a score; it carries the outcome along.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from .evidence import NO_EVIDENCE, Evidence


class Score(float):
    """A finite value, 0 to 1 for the metrics here, with its evidence; a float for everybody else.

    >>> score = Score(0.75)
    >>> score + 0.25, score.status, score.reason
    (1.0, 'scored', '')

    Raises:
        ValueError: the value is not a finite number.
    """

    evidence: Evidence
    status = "scored"
    reason = ""

    def __new__(cls, value: float, evidence: Evidence | None = None) -> Score:
        """Make the float and hang the evidence on it."""
        if not math.isfinite(value):
            raise ValueError(f"a score is a finite number, not {value}")
        score = super().__new__(cls, value)
        score.evidence = evidence or Evidence()
        return score

    @property
    def value(self) -> float:
        """The bare number."""
        return float(self)

    def __repr__(self) -> str:
        """Print as the number, so that tables of scores read as before."""
        return float.__repr__(self)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy with the evidence."""
        return type(self), (self.value, self.evidence)


@dataclass(frozen=True)
class Unscored:
    """The rule gives this row no score; ``reason`` says why. Nothing went wrong."""

    reason: str
    evidence: Evidence = NO_EVIDENCE
    status = "unscored"
    value = None


@dataclass(frozen=True)
class Failed:
    """The judge, its replies or a setting failed for this row."""

    error: Exception
    evidence: Evidence = NO_EVIDENCE
    status = "failed"
    value = None

    @property
    def reason(self) -> str:
        """Class and message of the error, in one line."""
        message = " ".join(str(self.error).split())
        return f"failed: {type(self.error).__name__}: {message}"


Outcome = Score | Unscored | Failed


class NotScored(float):
    """The NaN that ``ragas.evaluate`` gets for a row without a score.

    Attributes:
        outcome: the ``Unscored`` or ``Failed`` behind it.

    >>> nan = NotScored(Unscored("no claims"))
    >>> nan != nan, nan.status, nan.reason
    (True, 'unscored', 'no claims')
    """

    outcome: Unscored | Failed

    def __new__(cls, outcome: Unscored | Failed) -> NotScored:
        """Make the NaN and hang the outcome on it."""
        nan = super().__new__(cls, math.nan)
        nan.outcome = outcome
        return nan

    @property
    def status(self) -> str:
        """``"unscored"`` or ``"failed"``."""
        return self.outcome.status

    @property
    def reason(self) -> str:
        """Why there is no score."""
        return self.outcome.reason

    @property
    def evidence(self) -> Evidence:
        """What was found before the row was given up."""
        return self.outcome.evidence

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy with the outcome."""
        return type(self), (self.outcome,)


def for_ragas(outcome: Outcome) -> Score | NotScored:
    """The float that stands for an outcome in ``ragas.evaluate``."""
    return outcome if isinstance(outcome, Score) else NotScored(outcome)
