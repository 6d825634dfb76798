"""Every row is checked before the first call is made, so that no money goes into a bad dataset."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

from ..judge.errors import InputError
from ..metrics.sample import check_text, check_texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from .dataset import Row

SHOWN = 5
TEXTS = ("user_input", "response", "reference")
TEXT_LISTS = ("retrieved_contexts",)


def check_rows(rows: Sequence[Row], metrics: Iterable[Any]) -> None:
    """Have all columns the right type, and is every column that a metric needs there at all?

    A column that only some rows lack is fine: those rows will be unscored.

    Args:
        rows: the dataset.
        metrics: objects with a ``name`` and, where they need columns, ``needed``.

    Raises:
        InputError: one line with the first problems and how many more there are.

    >>> from types import SimpleNamespace
    >>> from ragas_judge.runs.dataset import Row
    >>> metric = SimpleNamespace(name="faithfulness", needed={"response"})
    >>> check_rows([Row(0, {"respons": "Larch."})], [metric])
    Traceback (most recent call last):
    ...
    ragas_judge.judge.errors.InputError: metric faithfulness needs column 'response', which no \
row has; the nearest is 'respons' (columns: respons); rename it or leave the metric out
    """
    problems = [problem for row in rows for problem in _wrong_types(row)]
    problems += _missing_columns(rows, metrics)
    if problems:
        more = len(problems) - SHOWN
        tail = f"; and {more} more problems" if more > 0 else ""
        raise InputError("; ".join(problems[:SHOWN]) + tail)


def _wrong_types(row: Row) -> Iterator[str]:
    for columns, check in ((TEXTS, check_text), (TEXT_LISTS, check_texts)):
        for column in columns:
            try:
                check(column, row.columns.get(column))
            except InputError as error:
                yield f"{row.title}: {error}"


def _missing_columns(rows: Sequence[Row], metrics: Iterable[Any]) -> Iterator[str]:
    present = sorted({name for row in rows for name in row.columns} - {"id"})
    for metric in metrics:
        for column in sorted(set(getattr(metric, "needed", ())) - set(present)):
            near = difflib.get_close_matches(column, present, n=1)
            nearest = f"; the nearest is {near[0]!r}" if near else ""
            yield (
                f"metric {metric.name} needs column {column!r}, which no row has{nearest}"
                f" (columns: {', '.join(present) or 'none'}); rename it or leave the metric out"
            )
