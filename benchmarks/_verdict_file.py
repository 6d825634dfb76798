"""The result file: JSON lines, one for each row and method, that hold no text and no label.

A line is found by the row's key (a hash of what a judge may read), the method, the model and the
sampling parameters; of two such lines the later one counts. A line whose prompts are no longer
the ones installed is not used. A last line that was cut off is dropped, so a run that was killed
goes on where it stood.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from _methods import Asked, Cost, Found, offline_version

from ragas_judge.judge.errors import InputError, PromptError, SetupError
from ragas_judge.prompts import load_prompt

if TYPE_CHECKING:
    from _labelled import Aim, Row
    from _methods import Method

FORMAT = 1


@dataclass(frozen=True)
class Key:
    """What a verdict belongs to.

    Attributes:
        row: ``Row.key``.
        method: its name in full.
        judge: the model, or ``offline``.
        sampling: its parameters as JSON.
    """

    row: str
    aim: Aim
    method: str
    judge: str
    sampling: str

    @classmethod
    def of(cls, row: Row, method: Method, model: str, sampling: Mapping[str, Any]) -> Key:
        """The offline judge is the same whatever model stands beside it."""
        name = method.name(row.aim)
        if method.kind == "offline":
            return cls(row.key, row.aim, name, "offline", "{}")
        return cls(row.key, row.aim, name, model, json.dumps(dict(sampling), sort_keys=True))


@dataclass
class Verdicts:
    """All verdicts known, and the file that they are kept in, if any.

    Attributes:
        stale: lines that are not used because their prompts have changed.
    """

    path: Path | None = None
    known: dict[Key, Asked] = field(default_factory=dict)
    stale: int = 0
    _end: int | None = None
    """Bytes to keep where the last line was cut off."""

    @classmethod
    def read(cls, path: Path | None) -> Verdicts:
        """What a file holds; nothing if there is none yet.

        Raises:
            InputError: a line is not one of ours; the text names it.
            SetupError: the file cannot be read.
        """
        verdicts = cls(path)
        if path is None or not path.exists():
            return verdicts
        try:
            text = path.read_text(encoding="ascii")
        except (OSError, UnicodeDecodeError) as error:
            raise SetupError(f"--out {path}: cannot be read: {error}") from None
        whole, newline, cut = text.rpartition("\n")
        if cut:  # its process did not live to end the line
            verdicts._end = len(whole) + len(newline)
        for number, line in enumerate(whole.splitlines(), start=1):
            if line:
                verdicts._take(line, f"{path}:{number}")
        return verdicts

    def _take(self, line: str, place: str) -> None:
        try:
            data = json.loads(line)
            if data.pop("format") != FORMAT:
                raise InputError(f"{place}: not of format {FORMAT}; name another file with --out")
            key = Key(*(data.pop(name) for name in Key.__dataclass_fields__))
            asked = _asked(data)
        except (AttributeError, KeyError, TypeError, ValueError):
            raise InputError(f"{place}: no verdict; name another file with --out") from None
        if all(map(is_current, asked.cost.prompts)):
            self.known[key] = asked
        else:
            self.stale += 1

    def keep(self, key: Key, asked: Asked) -> None:
        """Remember a verdict; it is on its way to the disk when this returns.

        Raises:
            SetupError: the file cannot be written.
        """
        self.known[key] = asked
        if self.path is None:
            return
        line = json.dumps(_line(key, asked), allow_nan=False)
        try:
            if self._end is not None:
                os.truncate(self.path, self._end)
                self._end = None
            with self.path.open("a", encoding="ascii") as file:
                file.write(f"{line}\n")
        except OSError as error:
            raise SetupError(f"--out {self.path}: cannot be written: {error}") from None


def _line(key: Key, asked: Asked) -> dict[str, Any]:
    """The data of a line; of what is told rarely only what there is."""
    found, cost = asdict(asked.found), asdict(asked.cost)
    if set(asked.found.graded) <= {None}:
        found["graded"] = ()
    rare = {"cached": cost.pop("cached"), "failed": asked.failed, **found}
    told = {name: value for name, value in rare.items() if value not in ((), "", 0, None)}
    return {"format": FORMAT, **asdict(key), **told, **cost}


def _asked(data: dict[str, Any]) -> Asked:
    failed = data.pop("failed", "")
    lists = ("said", "graded", "prompts")
    data = {name: tuple(value) if name in lists else value for name, value in data.items()}
    found = {name: data.pop(name) for name in Found.__dataclass_fields__ if name in data}
    return Asked(Found(**found), Cost(**data), failed)


@cache
def is_current(prompt: str) -> bool:
    """Is a prompt still the one that is installed? Of ragas' the version tells.

    >>> is_current("claim_verification/1/en/0000"), is_current("ragas/0.0.1")
    (False, False)
    """
    name, _, rest = prompt.partition("/")
    if name == "ragas":
        return rest == version("ragas")
    if name == "offline":
        return prompt == offline_version()
    number, language, sha256 = rest.split("/")
    try:
        installed = load_prompt(name, version=int(number), language=language).ref
    except PromptError:
        return False
    return installed.sha256.startswith(sha256)
