"""The journal of a run: a cache of replies beside its folder, as long as it is not complete.

Whatever ends a run early, its replies are there: the same command goes on with them.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ..judge import Cache
from ..judge.errors import CacheError

if TYPE_CHECKING:
    from collections.abc import Iterator


class Journal:
    """The journal of the run that is to be written to ``out``.

    Attributes:
        path: its file.
        cache: the replies in it.
        kept: how many there were when it was opened.
        done: set when the run is written whole; the file is then removed.
    """

    def __init__(self, out: str | os.PathLike[str]) -> None:
        """Open it; the file is made when missing."""
        target = Path(out).resolve()
        self.path = target.with_name(f".{target.name}.replies.sqlite")
        self.cache = Cache(self.path)
        self.kept = len(self.cache)
        self.done = False

    def close(self) -> None:
        """Close the file, and remove it when it is of no more use."""
        done = self.done or self._is_empty()
        self.cache.close()
        if done:
            for ending in ("", "-wal", "-shm"):
                Path(f"{self.path}{ending}").unlink(missing_ok=True)

    def _is_empty(self) -> bool:
        try:
            return len(self.cache) == 0
        except CacheError:  # what has stopped the run tells of it
            return False


@contextmanager
def journal(out: str | os.PathLike[str] | None) -> Iterator[Journal | None]:
    """The journal for ``out``; None where there is no folder to write."""
    if out is None:
        yield None
        return
    opened = Journal(out)
    try:
        yield opened
    finally:
        opened.close()
