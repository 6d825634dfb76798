"""Rows to evaluate, from whatever a caller has: one shape, one name a column, one id a row."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..judge.errors import InputError
from ..metrics.sample import renamed
from .files import Record, read_file

RowId = str | int


@dataclass(frozen=True)
class Row:
    """One row under ragas' present column names.

    Attributes:
        id: its ``id`` column where there is one, else its number from 0.
        columns: column -> value; a column without a value in this row is left out.
        place: ``file:line`` where it was read from a file of lines.
    """

    id: RowId
    columns: Mapping[str, Any]
    place: str = ""

    @property
    def title(self) -> str:
        """How messages name the row.

        >>> Row("en-03", {}, "data.jsonl:4").title, Row(7, {}).title
        ("row 'en-03' (data.jsonl:4)", 'row 7')
        """
        return f"row {self.id!r} ({self.place})" if self.place else f"row {self.id!r}"


def load_dataset(source: Any) -> list[Row]:
    """The rows of a dataset.

    Args:
        source: a path to ``.jsonl``, ``.json`` (a list), ``.csv`` or ``.parquet``; a folder
            written by ``save_to_disk``; a Hugging Face ``Dataset``; a pandas ``DataFrame``; a
            ragas ``EvaluationDataset``; or any sequence of mappings or ragas samples. Old
            column names (``question``, ``answer``, ``contexts``, ``ground_truth``, …) are taken
            too. None, NaN and an empty CSV cell are missing values.

    Raises:
        InputError: no rows, a row that cannot be read, or ids that are not one a row. The text
            is one line that names row or line, column, and what to do.

    >>> rows = load_dataset([{"question": "Why?", "answer": None}, {"question": "How?"}])
    >>> rows[1]
    Row(id=1, columns={'user_input': 'How?'}, place='')
    >>> rows[0].columns
    {'user_input': 'Why?'}
    """
    rows: list[Row] = []
    seen: dict[str, str] = {}
    for number, (place, record) in enumerate(_records(source)):
        values = {str(name): _clean(value) for name, value in record.items()}
        columns = renamed({name: value for name, value in values.items() if value is not None})
        bare, where = Row(number, columns, place), place or str(number)
        row = Row(_id(bare, with_ids=bool(rows) and "id" in rows[0].columns), columns, place)
        first = seen.setdefault(str(row.id), where)
        if first != where:
            raise InputError(
                f"rows {first} and {where} have the same id {row.id!r}; give each its own"
            )
        rows.append(row)
    if not rows:
        name = source if isinstance(source, str | Path) else f"this {type(source).__name__}"
        raise InputError(f"{name}: the dataset has no rows; give at least one")
    return rows


def dataset_hash(rows: Sequence[Row]) -> str:
    """SHA-256 of the rows as canonical JSON lines, 64 hexadecimal digits.

    Two files with the same rows in the same order have the same hash, whatever their format.

    >>> dataset_hash([Row(0, {"a": 1, "b": 2})]) == dataset_hash([Row(0, {"b": 2, "a": 1})])
    True
    """
    digest = hashlib.sha256()
    for row in rows:
        line = {"row": row.id, "columns": dict(row.columns)}
        text = json.dumps(line, ensure_ascii=False, sort_keys=True, default=_plain)
        digest.update(text.encode("utf-8", "backslashreplace") + b"\n")
    return digest.hexdigest()


def _records(source: Any) -> Iterator[Record]:
    """Places and rows of any source."""
    if isinstance(source, str | Path):
        yield from read_file(Path(source))
        return
    kind = f"{type(source).__module__.partition('.')[0]}.{type(source).__name__}"
    if kind == "pandas.DataFrame":
        source = source.to_dict("records")
    elif kind == "ragas.EvaluationDataset":
        source = source.samples
    if kind.endswith("DatasetDict"):
        raise InputError(
            f"a dataset with the splits {', '.join(source)}; pass one of them, such as"
            f" dataset[{next(iter(source), 'train')!r}]"
        )
    if isinstance(source, Mapping) or not isinstance(source, Iterable):
        raise InputError(
            f"a {kind.removeprefix('builtins.')} is no dataset; pass a path, a list of dicts, a"
            " Dataset, a DataFrame or an EvaluationDataset"
        )
    for number, row in enumerate(source):
        yield "", _mapping(number, row)


def _mapping(number: int, row: Any) -> Mapping[str, Any]:
    if isinstance(row, Mapping):
        return row
    if hasattr(row, "model_dump"):
        dumped: Mapping[str, Any] = row.model_dump(exclude_none=True)
        return dumped
    raise InputError(f"row {number} is a {type(row).__name__}; pass a dict of columns a row")


def _clean(value: Any) -> Any:
    """Plain Python values; what stands for a missing value becomes None.

    >>> _clean(float("nan")), _clean(0.5), _clean(["a"])
    (None, 0.5, ['a'])
    """
    if hasattr(value, "tolist"):  # numpy
        value = value.tolist()
    if isinstance(value, float) and value != value:
        return None
    return None if type(value).__name__ in ("NAType", "NaTType") else value


def _id(row: Row, *, with_ids: bool) -> RowId:
    """The row's id; ``row.id`` is its number."""
    value = row.columns.get("id")
    if value is None:
        if with_ids:
            raise InputError(f"{row.title}: no id, though other rows have one; give it one")
        return row.id
    if row.id != 0 and not with_ids:
        raise InputError(f"{row.title}: an id, though row 0 has none; give every row one or none")
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, str | int):
        kind = type(value).__name__
        raise InputError(f"{row.title}, column 'id': a {kind}; make it a text or a whole number")
    return value


def _plain(value: Any) -> str:
    """Stands in for a value that JSON has no form for."""
    return value.isoformat() if hasattr(value, "isoformat") else f"<{type(value).__name__}>"
