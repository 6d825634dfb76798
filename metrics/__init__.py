"""The formulas, and the ragas classes around them.

    from ragas_judge.metrics import Faithfulness, ContextRecall, ContextPrecision
    from ragas_judge.metrics import faithfulness, answer_relevancy   # ready, a new one an access

Nothing is loaded before it is asked for: importing this package does not load ragas.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._answer_relevancy import AnswerRelevancy
    from ._context_precision import ContextPrecision
    from ._context_recall import ContextRecall
    from ._faithfulness import Faithfulness
    from .base import JudgedMetric
    from .evidence import Claim, ClaimVerdict, ContextVerdict, Evidence, GeneratedQuestion, Quote
    from .outcomes import Failed, NotScored, Outcome, Score, Unscored
    from .run import Run
    from .sample import Sample
    from .steps import Steps

    faithfulness: Faithfulness
    context_recall: ContextRecall
    context_precision: ContextPrecision
    answer_relevancy: AnswerRelevancy

_HOMES = {
    "AnswerRelevancy": "_answer_relevancy",
    "Claim": "evidence",
    "ClaimVerdict": "evidence",
    "ContextPrecision": "_context_precision",
    "ContextRecall": "_context_recall",
    "ContextVerdict": "evidence",
    "Evidence": "evidence",
    "Failed": "outcomes",
    "Faithfulness": "_faithfulness",
    "GeneratedQuestion": "evidence",
    "JudgedMetric": "base",
    "NotScored": "outcomes",
    "Outcome": "outcomes",
    "Quote": "evidence",
    "Run": "run",
    "Sample": "sample",
    "Score": "outcomes",
    "Steps": "steps",
    "Unscored": "outcomes",
}
READY = {
    "answer_relevancy": "AnswerRelevancy",
    "context_precision": "ContextPrecision",
    "context_recall": "ContextRecall",
    "faithfulness": "Faithfulness",
}
"""Metric name -> class. A ready instance is made on each access, so none is ever shared."""

__all__ = [
    "READY",
    "AnswerRelevancy",
    "Claim",
    "ClaimVerdict",
    "ContextPrecision",
    "ContextRecall",
    "ContextVerdict",
    "Evidence",
    "Failed",
    "Faithfulness",
    "GeneratedQuestion",
    "JudgedMetric",
    "NotScored",
    "Outcome",
    "Quote",
    "Run",
    "Sample",
    "Score",
    "Steps",
    "Unscored",
    "answer_relevancy",
    "context_precision",
    "context_recall",
    "faithfulness",
]


def __getattr__(name: str) -> Any:
    if name in READY:
        return __getattr__(READY[name])()
    if name in _HOMES:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
