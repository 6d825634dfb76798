"""Metrics by name or as objects, each bound to the judge it will ask."""

from __future__ import annotations

import copy
import difflib
from typing import TYPE_CHECKING, Any

from .. import metrics as catalogue
from ..judge.errors import InputError, SetupError
from ..metrics import READY

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..judge import Judge
    from .runner import Metric

DEFAULT = ("faithfulness", "context_recall", "context_precision", "answer_relevancy")


def check_metrics(metrics: Iterable[Any] | None) -> list[Any]:
    """The names and objects given, each once; the four metrics when None.

    Nothing is loaded yet: a misspelt name is told at once.

    Raises:
        InputError: an unknown name, something that is no metric, one given twice, or none.

    >>> check_metrics(["faithfulnes"])
    Traceback (most recent call last):
    ...
    ragas_judge.judge.errors.InputError: unknown metric 'faithfulnes'; did you mean \
'faithfulness'? There are answer_relevancy, context_precision, context_recall, faithfulness
    """
    if isinstance(metrics, str):
        metrics = [metrics]
    chosen = list(DEFAULT if metrics is None else metrics)
    names = [_name(metric) for metric in chosen]
    if not names:
        raise InputError(f"no metrics; name some of {', '.join(READY)}")
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputError(
            f"metric {twice[0]} is given twice; leave one out, or give an object another name="
        )
    return chosen


def _name(metric: Any) -> str:
    if isinstance(metric, str):
        if metric in READY:
            return metric
        near = difflib.get_close_matches(metric, READY, n=1)
        hint = f"; did you mean {near[0]!r}? There are " if near else "; there are "
        raise InputError(f"unknown metric {metric!r}{hint}{', '.join(READY)}")
    if isinstance(metric, type):
        raise InputError(f"{metric.__name__} is a class; pass an object: {metric.__name__}()")
    if not hasattr(metric, "explain") or not hasattr(metric, "name"):
        raise InputError(
            f"a {type(metric).__name__} is no metric of ragas_judge; score metrics of ragas' own"
            " with ragas.evaluate"
        )
    return str(metric.name)


def bind_metrics(
    metrics: Sequence[Any], judge: Judge | None, *, language: str | None = None
) -> list[Metric]:
    """Fresh metric objects whose ``llm`` is a ``Judge``.

    Args:
        metrics: names and objects, as ``check_metrics`` lets them through.
        judge: for the metrics that have none of their own.
        language: prompt pack of the metrics given by name; None: by each row.

    Returns:
        New objects for names and copies of objects, so that no object of the caller's is
        ever written to.

    Raises:
        SetupError: a metric has no judge.
    """
    bound: list[Metric] = []
    for metric in metrics:
        if isinstance(metric, str):
            fresh = getattr(catalogue, READY[metric])(language=language)
        else:
            fresh = copy.copy(metric)
        bound.append(_bind(fresh, judge))
    return bound


def _bind(metric: Any, judge: Judge | None) -> Metric:
    from ..metrics.offline.judge import judge_of

    own = metric.llm
    if own is None and judge is None:
        raise SetupError(f"{metric.name} has no judge; pass judge= to evaluate, or llm= to it")
    metric.llm = judge if own is None else judge_of(own)
    return metric  # type: ignore[no-any-return]
