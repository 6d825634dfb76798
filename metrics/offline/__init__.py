"""The judge without a key: no LLM, no network, the same evidence.

    from ragas_judge.metrics.offline import OfflineJudge
    Faithfulness(llm=OfflineJudge())

Verdicts come from a small fitted model over features of the texts; docs/offline.md says which,
how often they agree with people, and where they do not.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .checks import Finding
    from .deciding import Support, support_probability
    from .judge import OfflineJudge
    from .steps import OfflineSteps, support

_HOMES = {
    "Finding": "checks",
    "OfflineJudge": "judge",
    "OfflineSteps": "steps",
    "Support": "deciding",
    "support": "steps",
    "support_probability": "deciding",
}

__all__ = [
    "Finding",
    "OfflineJudge",
    "OfflineSteps",
    "Support",
    "support",
    "support_probability",
]


def __getattr__(name: str) -> Any:
    # Lazily, since modules that the steps need take words and dates from here.
    if name in _HOMES:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
