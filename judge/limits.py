"""How many calls may be under way at once: a window that follows the service's refusals.

Additive increase, multiplicative decrease: while calls are answered the window grows, and each
refusal (429) shrinks it to the calls that the service did take, so that a share r of refused
calls makes it (1 - r) times as wide. Pure bookkeeping, without a clock: ``turns.py`` asks it.

Own code, because limiters on PyPI enforce a limit that one knows; this one finds it.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from .errors import SetupError

MOST = 64
"""Calls at once that a window grows to when nobody set a number."""
FIRST = 4
"""Where it starts then."""
RAMP = 0.5
"""Growth of the width with each answer until the first refusal: half as wide again a round."""
NARROWEST = 0.02
"""Least width; below 1 it is one call at a time, with rests in between."""
FASTEST_CUT = 0.7
"""Share of the width that one refusal leaves, at least."""
TRUSTED_SHARE = 0.2
"""Share of refusals that is borne before a number that the user set is undercut."""
NEAR = 0.8
"""Share of the width that was refused last, from which growth is calm."""
CALM = 0.25
"""Growth in so many answers as the window is wide (in ``CALM_ROUND``, if it is narrower) near
the width that was refused last; further away it is 1."""
CALM_ROUND = 20.0
"""A narrow window would be refused every few answers if it grew as much in each round."""
STEEPEST = 0.1
"""Growth with one answer, at most, as a share of the width: matters below 3 calls at once."""
CREEP = 0.06
"""Growth with one answer below one call at a time, as a share of the width."""
SLOWER = 2.0
"""Replies so many times as slow as at their best: more calls at once would only queue up."""
LATEST = 0.25
"""Weight of the latest reply in how long replies take now."""
MEMORY = 0.99
"""Weight that each answer leaves to the ones before it, in shares."""
ENOUGH = 12
"""Calls, weighted by ``MEMORY``, from which a share of refusals is believed."""
MOST_BACKGROUND = 0.2
"""Share of refusals that is believed to come at any width, at most."""
MARGIN = 1.5
"""Refusals borne for each that is expected at any width: chance brings some together."""
MOST_CREDIT = 3.0
"""Refusals that are borne one after another, at most."""


@dataclass(frozen=True)
class Limits:
    """What the user knows of the service's limits; None: nothing.

    Attributes:
        concurrency: calls at once, at most.
        rpm: requests a minute, at most.
        tpm: tokens a minute, at most, input and output.

    Raises:
        SetupError: a limit below its least sensible value.
    """

    concurrency: int | None = None
    rpm: float | None = None
    tpm: float | None = None

    def __post_init__(self) -> None:
        """Check the numbers."""
        count = self.concurrency
        if count is not None and (not isinstance(count, int) or count < 1):
            raise SetupError(f"concurrency is a whole number of at least 1, not {count!r}")
        for name in ("rpm", "tpm"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise SetupError(f"{name} is more than 0, or None, not {value!r}")


@dataclass
class Window:
    """Calls that may be under way at once.

    One call is sent alone first: it may show that the key is wrong or that nobody is there.
    When it shows nothing for a while, ``open`` lets others go, too.

    >>> window = Window(Limits())
    >>> window.width
    1.0
    >>> window.answered(1, full=True, seconds=0.5)
    >>> window.width
    4.0
    >>> for _ in range(4): window.answered(4, full=True, seconds=0.5)
    >>> window.width
    6.0
    >>> window.refused(5)
    >>> window.width
    5.0
    """

    limits: Limits
    width: float = 1.0
    has_answered: bool = False
    _refused_at: float | None = None
    _shares: defaultdict[int, _Share] = field(default_factory=lambda: defaultdict(_Share))
    _credit: float = 0.0
    _pace: float | None = None
    _best: float | None = None

    @property
    def ceiling(self) -> int:
        """The widest it can become."""
        return self.limits.concurrency or MOST

    def open(self) -> None:
        """Let more than the first call go."""
        self.width = max(self.width, float(self.limits.concurrency or FIRST))

    def answered(self, under_way: int, *, full: bool, seconds: float) -> None:
        """A call was answered.

        Args:
            under_way: calls that were under way when it was sent, itself included.
            full: the window was used to its full width, so its width was put to the test.
            seconds: how long the answer took.
        """
        self._count(under_way, refused=False)
        if not self.has_answered:
            self.has_answered = True
            self.open()
        elif full and not self._crowded(seconds):
            self.width = min(self.width + self._step(), float(self.ceiling))

    def refused(self, under_way: int) -> None:
        """A call was refused while ``under_way`` others were under way."""
        self._count(under_way + 1, refused=True)
        self._credit -= 1
        if self._credit >= 0:
            self._refused_at = None
            return
        self._credit = 0.0
        self._refused_at = self.width
        shrunk = max(FASTEST_CUT * self.width, min(self.width, float(under_way)))
        self.width = max(NARROWEST, shrunk)

    def _step(self) -> float:
        if self._refused_at is None:
            return RAMP
        if self.width < 1:
            return CREEP * self.width
        if self.width > NEAR * self._refused_at:
            return CALM / max(self.width, CALM_ROUND)
        return min(1.0 / self.width, STEEPEST * self.width)

    def _crowded(self, seconds: float) -> bool:
        """Do replies take much longer than they did with fewer calls at once?"""
        before = seconds if self._pace is None else self._pace
        self._pace = (1 - LATEST) * before + LATEST * seconds
        self._best = self._pace if self._best is None else min(self._best, self._pace)
        return self.limits.concurrency is None and self._pace > SLOWER * self._best

    def _count(self, level: int, *, refused: bool) -> None:
        """Keep the shares that tell our own haste from refusals that come anyway."""
        self._shares[level.bit_length()].add(refused=refused)
        trusted = TRUSTED_SHARE if self.limits.concurrency else 0.0
        borne = max(trusted, MARGIN * self._background())
        self._credit = min(MOST_CREDIT, self._credit + borne)

    def _background(self) -> float:
        """The share that is refused however few calls are under way: haste is not its cause."""
        most = max(self._shares)
        known = [
            share.value
            for width, share in self._shares.items()
            if width < most and share.seen >= ENOUGH
        ]
        return min(MOST_BACKGROUND, *known) if known else 0.0


@dataclass
class _Share:
    """A share of refusals that forgets slowly."""

    seen: float = 0.0
    refused: float = 0.0

    def add(self, *, refused: bool) -> None:
        self.seen = MEMORY * self.seen + 1
        self.refused = MEMORY * self.refused + refused

    @property
    def value(self) -> float:
        return self.refused / self.seen
