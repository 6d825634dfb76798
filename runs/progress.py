"""How far a run has come, on stderr: a bar on a terminal, else a line each tenth."""

from __future__ import annotations

import sys
from typing import Any, Self, TextIO


class Progress:
    """Counts results up to ``total``.

    Args:
        total: how many there will be.
        stream: where to show it; the stderr of the moment when None.
    """

    def __init__(self, total: int, stream: TextIO | None = None) -> None:
        """Nothing is shown yet."""
        self.total, self.done, self.failed = total, 0, 0
        self._stream = stream or sys.stderr
        self._bar: Any = _bar(self._stream) if self._stream.isatty() else None
        self._task: Any = None

    def __enter__(self) -> Self:
        """Show the bar."""
        if self._bar is not None:
            self._bar.start()
            self._task = self._bar.add_task("scoring", total=self.total)
        return self

    def __exit__(self, *exc: object) -> None:
        """Leave the bar as it stands."""
        if self._bar is not None:
            self._bar.stop()

    def advance(self, *, failed: bool = False) -> None:
        """One more result."""
        self.done += 1
        self.failed += failed
        note = f", {self.failed} failed" if self.failed else ""
        if self._bar is not None:
            self._bar.update(self._task, advance=1, description=f"scoring{note}")
        elif tenth(self.done, self.total) > tenth(self.done - 1, self.total):
            percent = self.done * 100 // self.total
            scored = self.done - self.failed
            print(f"{percent:3d}%  {scored} of {self.total} scores{note}", file=self._stream)


def tenth(done: int, total: int) -> int:
    """How many tenths are done.

    >>> tenth(2, 24), tenth(3, 24), tenth(24, 24)
    (0, 1, 10)
    """
    return done * 10 // total


def _bar(stream: TextIO) -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(compact=True, elapsed_when_finished=True),
    )
    return Bar(*columns, console=Console(file=stream))
