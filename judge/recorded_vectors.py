"""Recorded vectors, beside the recorded replies: one file a batch of texts.

Vectors of the embedded embedder are not recorded: they are computed anew wherever it runs.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from .embedders import EmbeddedE5, Embedder, checked, embed_counted, is_named
from .errors import RecordingMissingError, SetupError
from .recordings import FORMAT, RecordingMode, Recordings, read_entry, write_entry

FOLDER = "embedding"


class RecordedEmbedder:
    """Stands in for an embedder as the recordings' mode says."""

    def __init__(self, recordings: Recordings, live: Embedder) -> None:
        """Record, or replay instead of, ``live``."""
        self.name, self._recordings, self._live = live.name, recordings, live
        self.endpoint = str(getattr(live, "endpoint", ""))
        self.account = getattr(live, "account", None)

    @property
    def is_replay(self) -> bool:
        """Does it answer from recordings alone?"""
        return self._recordings.mode is RecordingMode.REPLAY

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """The vectors of ``embed_counted``."""
        return (await self.embed_counted(texts))[0]

    async def embed_counted(self, texts: Sequence[str]) -> tuple[list[list[float]], int | None]:
        """The recorded vectors where the mode allows, else fresh ones that are then recorded.

        Returns:
            The vectors, and the tokens they took: 0 when they were recorded, None: not known.

        Raises:
            RecordingMissingError: in replay, these texts were not recorded.
        """
        known = self.known(texts)
        if known is not None:
            return known, 0
        file = self._file(texts)
        if self.is_replay:
            raise RecordingMissingError(
                f"{self._recordings.path}: no recorded vectors {file.name} of {self.name} for"
                f" {len(texts)} texts; run again with mode 'missing' to record them"
            )
        vectors, tokens = await embed_counted(self._live, texts)
        entry = {"format": FORMAT, "embedder": self.name, "texts": list(texts), "vectors": vectors}
        write_entry(file, entry)
        self._recordings.mark_used(file)
        return vectors, tokens

    def known(self, texts: Sequence[str]) -> list[list[float]] | None:
        """The recorded vectors, where the mode asks for them and they are there."""
        file = self._file(texts)
        if self._recordings.mode is RecordingMode.REWRITE or not file.is_file():
            return None
        self._recordings.mark_used(file)
        return checked(read_entry(file)["vectors"], len(texts), self.name)

    def _file(self, texts: Sequence[str]) -> Path:
        text = json.dumps([self.name, list(texts)], ensure_ascii=False)
        key = hashlib.sha256(text.encode()).hexdigest()
        return self._recordings.path / FOLDER / f"{key[:20]}.json"


def recorded(embedder: Embedder, recordings: Recordings | None) -> Embedder:
    """The embedder as the recordings' mode has it.

    Raises:
        SetupError: the embedder has no name by which its vectors can be told from others'.
    """
    if recordings is None or recordings.mode is RecordingMode.OFF:
        return embedder
    if isinstance(embedder, EmbeddedE5 | RecordedEmbedder):
        return embedder
    if not is_named(embedder):
        raise SetupError(
            "vectors of a lambda or an inner function cannot be recorded: give a function of a"
            " module, or an object with a name and an embed method"
        )
    return RecordedEmbedder(recordings, embedder)
