"""Paid replies kept in one SQLite file: what was answered once is never paid for again.

    judge = Judge("gpt-4.1-mini", cache="judge-cache.sqlite")

A reply is on disk before anything is made of it, so a run that is killed at any moment loses
none that had arrived, and the next one pays only for what is missing. The key covers all that
can alter a reply, the address included: one model never gets another's answer. Several
processes may share a file. Values are JSON; no request text, key or header is kept.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import sqlite3
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

from .embedders import checked
from .errors import CacheError, EmbeddingError
from .types import Reply, Request

FORMAT = 1
APPLICATION = 0x726A7564
"""Tells our files from other SQLite files."""
PATIENCE = 30.0
"""Seconds to wait for another process that writes."""
_INHERITED: list[sqlite3.Connection] = []
TABLES = """
CREATE TABLE IF NOT EXISTS replies (
    key TEXT PRIMARY KEY, model TEXT, prompt TEXT, reply TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS vectors (
    key TEXT PRIMARY KEY, embedder TEXT, vectors TEXT NOT NULL
) WITHOUT ROWID;
"""


class Cache:
    """A file of replies and vectors.

    Args:
        path: the file; made, with its folder, when missing.

    Raises:
        CacheError: the file is not one of ours, is of another format, or cannot be written.

    >>> import tempfile
    >>> from ragas_judge.judge.types import Reply, Request
    >>> folder = tempfile.TemporaryDirectory()
    >>> cache = Cache(folder.name + "/replies.sqlite")
    >>> request = Request("some-model", ())
    >>> cache.put("https://judge.test/v1", request, Reply("yes"))
    >>> cache.get("https://judge.test/v1", request).text
    'yes'
    >>> cache.get("https://another.test/v1", request) is None
    True
    >>> cache.close(); folder.cleanup()
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Open the file, so that whatever is wrong with it is told now."""
        self.path = Path(path).expanduser()
        self._lock = threading.Lock()
        self._asking: weakref.WeakValueDictionary[tuple[int, str], asyncio.Lock] = (
            weakref.WeakValueDictionary()
        )
        self._open: tuple[int, sqlite3.Connection] | None = None
        self._let_go: weakref.finalize[..., Cache] | None = None
        with self._connection():
            pass

    def __getstate__(self) -> dict[str, Any]:
        """The path alone: a connection belongs to its process."""
        return {"path": self.path}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["path"])  # type: ignore[misc]

    def __repr__(self) -> str:
        """Name the file."""
        return f"Cache({str(self.path)!r})"

    def get(self, endpoint: str, request: Request) -> Reply | None:
        """The reply to a request, or None."""
        row = self._value("SELECT reply FROM replies WHERE key = ?", _key(endpoint, request.key()))
        if row is None:
            return None
        try:
            return Reply.from_dict(json.loads(row))
        except (KeyError, TypeError, ValueError) as error:
            raise self._damaged("reply", error) from error

    def put(self, endpoint: str, request: Request, reply: Reply) -> None:
        """Keep a reply; it is on disk when this returns."""
        prompt = request.prompt.id if request.prompt else None
        text = json.dumps(reply.to_dict())
        with self._connection() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?)",
                (_key(endpoint, request.key()), request.model, prompt, text),
            )

    def get_vectors(
        self, endpoint: str, embedder: str, texts: Sequence[str]
    ) -> list[list[float]] | None:
        """The vectors of these texts, or None."""
        key = _key(endpoint, json.dumps([embedder, list(texts)]))
        found = self._value("SELECT vectors FROM vectors WHERE key = ?", key)
        try:
            return None if found is None else checked(json.loads(found), len(texts), embedder)
        except (EmbeddingError, ValueError) as error:
            raise self._damaged("batch of vectors", error) from error

    def put_vectors(
        self, endpoint: str, embedder: str, texts: Sequence[str], vectors: Sequence[Sequence[float]]
    ) -> None:
        """Keep the vectors of these texts, in order."""
        key = _key(endpoint, json.dumps([embedder, list(texts)]))
        values = json.dumps([list(vector) for vector in vectors])
        with self._connection() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", (key, embedder, values)
            )

    def _damaged(self, what: str, error: Exception) -> CacheError:
        return CacheError(f"{self.path}: holds a damaged {what} ({error!r}); delete the file")

    def __len__(self) -> int:
        """How many replies and batches of vectors it holds."""
        return int(
            self._value("SELECT (SELECT count(*) FROM replies) + (SELECT count(*) FROM vectors)")
        )

    def alone(self, key: str) -> asyncio.Lock:
        """A lock for whoever asks this: of those that ask the same on one loop, one pays."""
        loop = id(asyncio.get_running_loop())
        return self._asking.setdefault((loop, key), asyncio.Lock())

    def close(self) -> None:
        """Close the file; it opens again when needed."""
        with self._lock:
            if self._let_go is not None:
                self._let_go()
            self._open = self._let_go = None

    def _value(self, statement: str, *arguments: str) -> Any:
        with self._connection() as connection:
            row = connection.execute(statement, arguments).fetchone()
        return None if row is None else row[0]

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """The connection of this process, one thread at a time, in a transaction of its own."""
        try:
            with self._lock:
                if self._open is None or self._open[0] != os.getpid():
                    self._open = (os.getpid(), _connect(self.path))
                    self._let_go = weakref.finalize(self, _close, *self._open)
                with self._open[1] as connection:
                    yield connection
        except (sqlite3.Error, OSError) as error:
            raise CacheError(f"{self.path}: cannot be used as a cache: {error}") from error


def _connect(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path, timeout=PATIENCE, check_same_thread=False)
    with ExitStack() as undo:
        undo.callback(connection.close)
        _prepare(connection, path)
        undo.pop_all()
    return connection


def _close(owner: int, connection: sqlite3.Connection) -> None:
    if owner == os.getpid():
        connection.close()
    else:
        # Neither used nor closed on the far side of a fork: that would drop the owner's locks.
        _INHERITED.append(connection)


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    connection.execute("PRAGMA journal_mode = WAL")
    # Survives the death of the process; after a power cut the last replies may be missing.
    connection.execute("PRAGMA synchronous = NORMAL")
    with connection, closing(connection.cursor()) as cursor:
        cursor.execute("BEGIN IMMEDIATE")
        owner = cursor.execute("PRAGMA application_id").fetchone()[0]
        known = cursor.execute("PRAGMA user_version").fetchone()[0]
        if cursor.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
            for statement in TABLES.split(";"):
                cursor.execute(statement)
            cursor.execute(f"PRAGMA application_id = {APPLICATION}")
            cursor.execute(f"PRAGMA user_version = {FORMAT}")
        elif owner != APPLICATION:
            raise CacheError(f"{path}: a database, but not a cache of ours; choose another file")
        elif known != FORMAT:
            raise CacheError(
                f"{path}: cache format {known}, this version reads {FORMAT}; choose another file"
            )


def _key(endpoint: str, key: str) -> str:
    return hashlib.sha256(f"{endpoint}\n{key}".encode()).hexdigest()
