"""One row of a dataset as the metrics see it, from a mapping or from ragas' sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..judge.errors import InputError

ALIASES: Mapping[str, str] = {
    "question": "user_input",
    "answer": "response",
    "contexts": "retrieved_contexts",
    "ground_truth": "reference",
    "ground_truths": "reference",
    "ground_truth_contexts": "reference_contexts",
}
"""Old column name -> ragas' present one. A list of one ``ground_truths`` is taken as a text."""


@dataclass(frozen=True)
class Sample:
    """The columns the four metrics read; None where the row has no such column.

    ``retrieved_contexts`` is in rank order, best first.
    """

    user_input: str | None = None
    response: str | None = None
    retrieved_contexts: tuple[str, ...] | None = None
    reference: str | None = None

    @classmethod
    def of(cls, row: Any) -> Sample:
        """Take the columns from a mapping (old names too) or from an object's attributes.

        Raises:
            InputError: a column has the wrong type; the text names it.
        """
        names = cls.__dataclass_fields__
        if hasattr(row, "to_dict"):  # a row of pandas, a sample of ragas
            row = row.to_dict()
        if isinstance(row, Mapping):
            columns = renamed(row)
        elif any(hasattr(row, name) for name in names):
            columns = {name: getattr(row, name, None) for name in names}
        else:
            kind = type(row).__name__
            raise InputError(f"a {kind} is no row: pass a mapping of columns or a ragas sample")
        texts = {
            name: check_text(name, columns.get(name))
            for name in ("user_input", "response", "reference")
        }
        contexts = check_texts("retrieved_contexts", columns.get("retrieved_contexts"))
        return cls(retrieved_contexts=contexts, **texts)

    def contexts(self) -> dict[int, str]:
        """The contexts that hold any text, by their rank from 1."""
        ranked = enumerate(self.retrieved_contexts or (), start=1)
        return {rank: text for rank, text in ranked if text.strip()}


def renamed(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row under ragas' present column names; a present name wins over an old one.

    >>> renamed({"question": "q", "ground_truths": ["r"]})
    {'user_input': 'q', 'reference': 'r'}
    """
    columns = {name: value for name, value in row.items() if name not in ALIASES}
    for old, name in ALIASES.items():
        if old in row and columns.get(name) is None:
            value = row[old]
            single = old == "ground_truths" and isinstance(value, Sequence) and len(value) == 1
            columns[name] = value[0] if single and not isinstance(value, str) else value
    return columns


def check_text(column: str, value: Any) -> str | None:
    """A text or None.

    Raises:
        InputError: anything else.
    """
    if value is None:
        return None
    if isinstance(value, str):
        return _whole(column, value)
    kind = type(value).__name__
    raise InputError(f"column {column!r} holds a {kind} where a text is needed: {_short(value)}")


def check_texts(column: str, value: Any) -> tuple[str, ...] | None:
    """A list of texts as a tuple, or None.

    Raises:
        InputError: anything else; a list written out as a text gets its own advice.
    """
    if value is None:
        return None
    if isinstance(value, str):
        if value.strip().startswith("["):
            said = "a list written out as text"
            advice = "load it with json.loads, or with ast.literal_eval if Python wrote it"
        else:
            said, advice = "one text", "put it into a list"
        raise InputError(
            f"column {column!r} holds {said} where a list of texts is needed: {_short(value)};"
            f" {advice}"
        )
    if hasattr(value, "tolist"):  # numpy
        value = value.tolist()
    if not isinstance(value, Sequence):
        kind = type(value).__name__
        raise InputError(f"column {column!r} holds a {kind} where a list of texts is needed")
    for position, text in enumerate(value, start=1):
        if not isinstance(text, str):
            kind = type(text).__name__
            raise InputError(
                f"column {column!r}, entry {position}: a {kind} where a text is needed"
            )
        _whole(f"{column}, entry {position}", text)
    return tuple(value)


def _whole(column: str, text: str) -> str:
    """The text, if it can be sent: JSON may spell half of a surrogate pair, UTF-8 cannot."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"column {column!r} holds half of a surrogate pair at character {error.start}:"
            " the text was cut inside a character, mend it at its source"
        ) from None
    return text


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
