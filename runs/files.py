"""Files of rows: each reader yields a place (``file:line`` where there are lines) and a row."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..judge.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

Record = tuple[str, Mapping[str, Any]]
LISTS = (
    "retrieved_contexts",
    "reference_contexts",
    "retrieved_context_ids",
    "reference_context_ids",
    "contexts",
    "ground_truth_contexts",
)
"""Columns that hold a list, under their present and their old names."""
MAX_CELL = 100_000_000


def read_file(path: Path) -> Iterator[Record]:
    """The rows of a file, by its suffix, or of a folder that ``save_to_disk`` wrote.

    Raises:
        InputError: it is not there, not readable, or not of a known kind; the text names file
            and line.
    """
    if path.is_dir():
        return read_saved(path)
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise InputError(
            f"{path}: {path.suffix or 'no suffix'} is no known kind of dataset; use"
            f" {', '.join(READERS)} or a folder written by save_to_disk"
        )
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    return reader(path)


def read_jsonl(path: Path) -> Iterator[Record]:
    """One JSON object a line; blank lines are passed over."""
    for number, line in enumerate(_lines(path), start=1):
        if not line.strip():
            continue
        place = f"{path}:{number}"
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            said = getattr(error, "msg", error)
            raise InputError(f"{place}: not JSON: {said}; write one JSON object a line") from None
        if not isinstance(row, dict):
            raise InputError(f"{place}: a JSON {type(row).__name__}; write one JSON object a line")
        yield place, row


def read_json(path: Path) -> Iterator[Record]:
    """A JSON list of objects."""
    try:
        rows = json.loads("".join(_lines(path)))
    except RecursionError as error:
        raise InputError(f"{path}: not JSON that can be read: {error}") from None
    except json.JSONDecodeError as error:
        hint = "; a file with one object a line ends in .jsonl" if error.lineno > 1 else ""
        raise InputError(f"{path}:{error.lineno}: not JSON: {error.msg}{hint}") from None
    except ValueError as error:
        raise InputError(f"{path}: not JSON that can be read: {error}") from None
    if not isinstance(rows, list):
        raise InputError(
            f"{path}: a JSON {type(rows).__name__}; write a list of objects, one a row"
        )
    for number, row in enumerate(rows):
        if not isinstance(row, dict):
            raise InputError(f"{path}: row {number} is a {type(row).__name__}; write an object")
        yield "", row


def read_csv(path: Path) -> Iterator[Record]:
    """A header line and one row a record; an empty cell is a missing value.

    Everything is text but the columns of ``LISTS``, whose cells are JSON lists.
    """
    before = csv.field_size_limit(MAX_CELL)
    try:
        yield from _records(path)
    except csv.Error as error:
        raise InputError(f"{path}: not CSV: {error}") from None
    finally:
        csv.field_size_limit(before)


def _records(path: Path) -> Iterator[Record]:
    with closing(_lines(path)) as lines:
        reader = csv.reader(lines)
        header = next(reader, [])
        twice = sorted({name for name in header if header.count(name) > 1})
        if twice:
            raise InputError(
                f"{path}:1: column {twice[0]!r} stands twice in the header; rename one"
            )
        line = reader.line_num + 1
        for cells in reader:
            place, line = f"{path}:{line}", reader.line_num + 1
            if not cells:
                continue
            if len(cells) != len(header):
                raise InputError(
                    f"{place}: {len(cells)} cells where the header names {len(header)} columns;"
                    " put cells that hold commas or line breaks in double quotes"
                )
            named = zip(header, cells, strict=True)
            yield place, {name: _cell(place, name, text) for name, text in named}


def _cell(place: str, column: str, text: str) -> Any:
    """The value of a cell: None, a text, or a list in the columns that hold one.

    >>> _cell("data.csv:2", "contexts", '["one", "two"]'), _cell("data.csv:2", "answer", "")
    (['one', 'two'], None)
    """
    if not text.strip():
        return None
    if column not in LISTS:
        return text
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, list):
        raise InputError(
            f"{place}, column {column!r}: not a JSON list: {text[:40]!r}; write the cell as"
            ' ["first", "second"], in double quotes, as json.dumps does'
        )
    return value


def read_parquet(path: Path) -> Iterator[Record]:
    """One row a record."""
    parquet = import_module("pyarrow.parquet")
    try:
        rows = parquet.read_table(path).to_pylist()
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read as Parquet: {_first_line(error)}") from error
    for row in rows:
        yield "", row


def read_saved(path: Path) -> Iterator[Record]:
    """A folder that ``Dataset.save_to_disk`` of Hugging Face datasets wrote."""
    splits = path / "dataset_dict.json"
    if splits.is_file():
        names = sorted(part.name for part in path.iterdir() if (part / "state.json").is_file())
        raise InputError(
            f"{path}: a dataset with the splits {', '.join(names)}; name one of them, such as"
            f" {path / (names[0] if names else 'train')}"
        )
    if not (path / "state.json").is_file():
        raise InputError(
            f"{path}: not a folder written by save_to_disk; name a file or such a folder"
        )
    datasets = import_module("datasets")
    try:
        rows = datasets.load_from_disk(str(path))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read: {_first_line(error)}") from error
    for row in rows:
        yield "", row


READERS: Mapping[str, Callable[[Path], Iterator[Record]]] = {
    ".jsonl": read_jsonl,
    ".json": read_json,
    ".csv": read_csv,
    ".parquet": read_parquet,
}


def _lines(path: Path) -> Generator[str, None, None]:
    """The lines of a UTF-8 text, a byte order mark left out."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            yield from file
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text ({error.reason}); save it as UTF-8") from None


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
