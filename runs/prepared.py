"""A dataset for plain ``ragas.evaluate``: every old column name, every row checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..judge import telemetry  # noqa: F401  # before ragas: it reads the switch once
from ..judge.errors import InputError
from .check import check_rows
from .dataset import Row, load_dataset

if TYPE_CHECKING:
    from ragas import EvaluationDataset, SingleTurnSample


def prepare(source: Any) -> EvaluationDataset:
    """Load a dataset, check all its rows, and hand it over as ragas' own class.

    Inside ``ragas.evaluate`` only four old column names are known, on a Hugging Face dataset
    alone, and a wrong cell is reported without its row.

    Args:
        source: as for ``load_dataset``. Columns that ragas does not know are left out.

    Raises:
        InputError: a row or a cell cannot be used; the text names it.

    >>> dataset = prepare([{"question": "Why?", "ground_truths": ["Because."]}])
    >>> dataset[0].reference
    'Because.'
    """
    from ragas import EvaluationDataset

    rows = load_dataset(source)
    check_rows(rows, [])
    return EvaluationDataset([_sample(row) for row in rows])


def _sample(row: Row) -> SingleTurnSample:
    from pydantic import ValidationError
    from ragas import SingleTurnSample

    try:
        return SingleTurnSample.model_validate(dict(row.columns))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise InputError(f"{row.title}: column {first['loc'][0]!r}: {first['msg']}") from error
