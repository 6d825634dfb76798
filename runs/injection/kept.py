"""The verdicts of an audit on disk: JSON lines, one a verdict, so that it can be gone on with.

Each line is written in one piece as soon as its verdict is there. A line that a crash tore is
passed over and its verdict asked for again. No text of attacks or contexts is kept.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...judge.errors import InputError
from .methods import Ruling

if TYPE_CHECKING:
    import os

    from .attacks import Case
    from .methods import Method

FORMAT = 1


class Kept:
    """The rulings in one file.

    Args:
        path: the file; made when the first ruling is put. None: nothing is kept.

    Raises:
        InputError: the file is not one of ours, is of another format, or cannot be used.

    >>> len(Kept())
    0
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        """Read what is there."""
        self.path = None if path is None else Path(path)
        self._rulings: dict[str, Ruling] = {}
        self._torn = False
        if self.path is not None:
            self._open(self.path)

    def __len__(self) -> int:
        return len(self._rulings)

    def get(self, method: Method, case: Case) -> Ruling | None:
        """The ruling on this case by this method with this model, or None."""
        return self._rulings.get(_key(method, case))

    def put(self, method: Method, case: Case, ruling: Ruling) -> None:
        """Keep a ruling.

        Raises:
            InputError: the disk refuses.
        """
        key = _key(method, case)
        self._rulings[key] = ruling
        if self.path is None:
            return
        line: dict[str, Any] = {
            "format": FORMAT,
            "case": case.id,
            "method": method.name,
            "model": method.judge.model,
            "key": key,
            **asdict(ruling),
        }
        text = json.dumps(line) + "\n"  # ASCII, so that a torn line is text still
        try:
            with self.path.open("a", encoding="utf-8", newline="\n") as file:
                file.write(f"\n{text}" if self._torn else text)
        except OSError as error:
            raise InputError(f"{self.path}: cannot be written: {error.strerror}") from error
        self._torn = False

    def _open(self, path: Path) -> None:
        """Read the file, and find out before the first call whether it can be written."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("a+", encoding="utf-8") as file:
                file.seek(0)
                text = file.read()
        except UnicodeDecodeError:
            raise InputError(
                f"{path}: holds no verdicts of an audit; choose another file"
            ) from None
        except OSError as error:
            raise InputError(f"{path}: cannot be used: {error.strerror}") from error
        lines = text.split("\n")
        self._torn = bool(lines.pop())
        for number, line in enumerate(lines, start=1):
            self._read(f"{path}:{number}", line)

    def _read(self, place: str, text: str) -> None:
        """Take one line; what a crash left of one is passed over."""
        try:
            line = json.loads(text)
        except ValueError:
            if not text.strip() or text.startswith("{"):
                return
            raise InputError(f"{place}: no verdict of an audit; choose another file") from None
        if not isinstance(line, dict) or line.get("format") != FORMAT:
            raise InputError(f"{place}: not of format {FORMAT}; choose another file")
        try:
            names = Ruling.__dataclass_fields__
            self._rulings[line["key"]] = Ruling(**{name: line[name] for name in names})
        except KeyError as error:
            raise InputError(f"{place}: lacks {error}; choose another file") from None


def _key(method: Method, case: Case) -> str:
    """Covers all that may alter a verdict: the case's words, the method, the model, the service."""
    judge = method.judge
    asked = [method.name, method.version, judge.model, judge.endpoint, judge.sampling]
    text = json.dumps([asked, asdict(case)], ensure_ascii=False, sort_keys=True, default=dict)
    return hashlib.sha256(text.encode()).hexdigest()[:24]
