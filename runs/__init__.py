"""Evaluate datasets: check, run, summarize, store; and the command line.

    from ragas_judge.runs import evaluate

Nothing is loaded before it is asked for: importing this package does not load ragas.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .dataset import Row, load_dataset
    from .errors import RunStopped
    from .evaluation import RunResult, aevaluate, evaluate
    from .planning import Forecast, plan
    from .prepared import prepare
    from .runner import Result
    from .summary import Headline, summarize

_HOMES = {
    "Forecast": "planning",
    "Headline": "summary",
    "Result": "runner",
    "Row": "dataset",
    "RunResult": "evaluation",
    "RunStopped": "errors",
    "aevaluate": "evaluation",
    "evaluate": "evaluation",
    "load_dataset": "dataset",
    "plan": "planning",
    "prepare": "prepared",
    "summarize": "summary",
}

__all__ = [
    "Forecast",
    "Headline",
    "Result",
    "Row",
    "RunResult",
    "RunStopped",
    "aevaluate",
    "evaluate",
    "load_dataset",
    "plan",
    "prepare",
    "summarize",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
