"""The judge without a key: stands where a ``Judge`` stands, and asks nobody."""

from __future__ import annotations

from typing import Any

from ...judge import Judge, Reply, Request
from ...judge.errors import SetupError

OFFLINE = "offline"
"""What stands for it where a judge is named, and in scores where a model's name would."""


class _Nobody:
    """A transport that is never used."""

    endpoint = OFFLINE

    async def send(self, request: Request) -> Reply:
        raise SetupError("the offline judge answers no prompts: this metric needs a model")


class OfflineJudge(Judge):
    """Judges by features of the texts and a small fitted model: no LLM, no network, no key.

    Args:
        embeddings: vectors for answer relevancy; the embedded ones unless told otherwise.
            Claims and contexts are always compared with the embedded ones, which the model's
            coefficients were fitted to.

    >>> OfflineJudge()
    OfflineJudge()
    >>> OfflineJudge().model, OfflineJudge().endpoint
    ('offline', 'offline')
    """

    def __init__(self, embeddings: Any = None) -> None:
        """Nothing is loaded yet."""
        super().__init__(OFFLINE, transport=_Nobody(), embeddings=embeddings, temperature=None)

    def __repr__(self) -> str:
        """It has no settings to name."""
        return "OfflineJudge()"

    @property
    def is_replay(self) -> bool:
        """Like a replay, it asks nobody and pays nothing."""
        return True


def judge_of(llm: Any) -> Judge:
    """The judge behind what a caller has: ``"offline"``, or whatever ``Judge.of`` takes.

    Raises:
        SetupError: it is neither.
    """
    return OfflineJudge() if isinstance(llm, str) and llm == OFFLINE else Judge.of(llm)
