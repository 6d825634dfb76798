"""Recorded replies: a folder of JSON files, one interaction a file.

    <folder>/recordings.json                 format, model, parameters, free notes
    <folder>/<prompt id>/<key>.json          one request and its reply

The file name is the start of the request's SHA-256 key, which covers everything that can alter
the reply: model, messages, schema, sampling, prompt and repetition. Where the model was served
is not part of it, so that a recording can be replayed without the server's address. No key and
no header is ever written.
"""

from __future__ import annotations

import difflib
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from .errors import RecordingError, RecordingFormatError, RecordingMissingError, SetupError
from .types import Reply, Request, Transport

FORMAT = 1


class RecordingMode(StrEnum):
    """What to do with recordings."""

    OFF = "off"
    REPLAY = "replay"
    MISSING = "missing"
    REWRITE = "rewrite"


class Recordings:
    """A folder of recorded replies.

    Args:
        path: the folder; made when the first reply is recorded.
        mode: ``replay`` answers from the folder alone, and a request that is not there is an
            error; ``missing`` records what is not there; ``rewrite`` records everything anew;
            ``off`` ignores the folder.

    Raises:
        SetupError: an unknown mode, or nothing to replay in the folder.
        RecordingFormatError: the folder's ``recordings.json`` is of another format.
    """

    def __init__(self, path: str | os.PathLike[str], mode: str = "replay") -> None:
        """Read the folder's header; replies are read when asked for."""
        self.path = Path(path)
        try:
            self.mode = RecordingMode(mode)
        except ValueError:
            modes = ", ".join(RecordingMode)
            raise SetupError(f"unknown recordings mode {mode!r}; choose one of {modes}") from None
        self.header: dict[str, Any] = {}
        header = self.path / "recordings.json"
        if self.mode is not RecordingMode.OFF and header.is_file():
            self.header = _header(header)
        if self.mode in (RecordingMode.MISSING, RecordingMode.REWRITE):
            self._check_writable()
        if self.mode is RecordingMode.REPLAY and not self.header:
            raise SetupError(f"no recordings in {self.path}: there is no {header.name}")
        self._used: set[Path] = set()

    def _check_writable(self) -> None:
        """Before the first reply is paid for."""
        known = next(path for path in (self.path, *self.path.absolute().parents) if path.exists())
        if not known.is_dir() or not os.access(known, os.W_OK):
            raise SetupError(f"cannot record into {self.path}: {known} is no folder to write to")

    def describe(self, **facts: Any) -> None:
        """Write the folder's header: model, parameters, and what else is worth knowing."""
        self.header = {"format": FORMAT, **self.header, **facts}
        write_entry(self.path / "recordings.json", self.header)

    def wrap(self, live: Transport | None, sampling: Mapping[str, Any] | None = None) -> Transport:
        """The transport that stands in for ``live`` in this mode.

        Args:
            live: what asks the model.
            sampling: the judge's own parameters, for the folder's header; single requests may
                have others. None: those of each request.
        """
        if self.mode is RecordingMode.REPLAY:
            return ReplayTransport(self)
        if live is None:
            raise SetupError(f"recordings mode {self.mode} needs a judge to ask")
        return live if self.mode is RecordingMode.OFF else RecordTransport(self, live, sampling)

    def file(self, request: Request) -> Path:
        """Where this request's reply is, or would be, recorded."""
        folder = request.prompt.id if request.prompt else "other"
        return self.path / folder / f"{request.key()[:20]}.json"

    def find(self, request: Request) -> Reply | None:
        """The recorded reply to a request, or None.

        Raises:
            RecordingFormatError: the file is not a recording of a known format.
        """
        file = self.file(request)
        if not file.is_file():
            return None
        self.mark_used(file)
        entry = read_entry(file)
        if entry.get("key") != request.key():
            raise RecordingFormatError(f"{file}: not the reply to this request; delete it")
        try:
            return Reply.from_dict(entry["reply"])
        except (KeyError, TypeError, ValueError) as error:
            raise RecordingFormatError(f"{file}: not a recorded reply: {error!r}") from error

    def save(
        self, request: Request, reply: Reply, sampling: Mapping[str, Any] | None = None
    ) -> None:
        """Record a reply: written whole or not at all. ``sampling`` as in ``wrap``."""
        self._note_judge(request.model, request.sampling if sampling is None else sampling)
        file = self.file(request)
        self.mark_used(file)
        entry = {
            "format": FORMAT,
            "key": request.key(),
            "recorded": datetime.now(UTC).date().isoformat(),
            "request": request.canonical(),
            "reply": reply.to_dict(),
        }
        write_entry(file, entry)

    def check_judge(self, model: str, sampling: Mapping[str, Any]) -> None:
        """One folder, one judge: its header must be true of every reply in it.

        Raises:
            SetupError: replies are to be added to those of another judge.
        """
        noted = (self.header.get("model"), self.header.get("sampling"))
        adds = self.header and self.mode is RecordingMode.MISSING
        if adds and noted != (model, dict(sampling)):
            raise SetupError(
                f"{self.path} holds replies of {noted[0]!r} with {noted[1]}, not of {model!r} with"
                f" {dict(sampling)}: record into another folder, or with mode 'rewrite'"
            )

    def _note_judge(self, model: str, sampling: Mapping[str, Any]) -> None:
        self.check_judge(model, sampling)
        judge = {"model": model, "sampling": dict(sampling)}
        if any(self.header.get(name) != value for name, value in judge.items()):
            self.header = {}  # what was noted of another judge is not true of this one
            self.describe(**judge)

    def mark_used(self, file: Path) -> None:
        """Count a file as served or written."""
        self._used.add(file)

    def unused(self) -> list[Path]:
        """Recorded files that this object has neither served nor written, sorted."""
        return sorted(set(self._files()) - self._used)

    def explain_miss(self, request: Request) -> str:
        """One line: what was asked for, the nearest recording, and how they differ."""
        asked = request.canonical()
        prompt = request.prompt.id if request.prompt else "other"
        nearest = self._nearest(asked, prompt)
        if nearest is None:
            found = f"no recording of prompt {prompt!r} there"
        else:
            file, differing = nearest
            found = f"nearest is {file.name}, which differs in {', '.join(differing)}"
        return (
            f"{self.path}: no recording {self.file(request).name} of prompt {prompt!r}; {found};"
            " mode 'missing' with a live judge records it, best into a folder of your own"
        )

    def _nearest(self, asked: Mapping[str, Any], prompt: str) -> tuple[Path, list[str]] | None:
        best: tuple[float, Path, list[str]] | None = None
        for file in self._files(prompt):
            try:
                known = read_entry(file).get("request", {})
            except RecordingFormatError:
                continue  # a damaged neighbour is not what was asked for
            differing = [name for name in asked if _differs(name, asked, known)]
            last = (str(asked["messages"][-1:]), str(known.get("messages", [])[-1:]))
            alike = difflib.SequenceMatcher(None, *last).quick_ratio() - len(differing)
            if best is None or alike > best[0]:
                best = (alike, file, [_difference(name, asked, known) for name in differing])
        return best[1:] if best else None

    def _files(self, prompt: str = "*") -> Iterator[Path]:
        return self.path.glob(f"{prompt}/*.json")


class ReplayTransport:
    """Answers from recordings alone; opens no connection."""

    def __init__(self, recordings: Recordings) -> None:
        """Replay from this folder."""
        self.recordings, self.endpoint = recordings, f"recordings {recordings.path}"

    async def send(self, request: Request) -> Reply:
        """The recorded reply.

        Raises:
            RecordingMissingError: there is none; the text shows the nearest one.
        """
        reply = self.recordings.find(request)
        if reply is None:
            raise RecordingMissingError(self.recordings.explain_miss(request))
        return reply


class RecordTransport:
    """Asks the live transport and keeps what it answers."""

    def __init__(
        self, recordings: Recordings, live: Transport, sampling: Mapping[str, Any] | None = None
    ) -> None:
        """Record ``live`` into this folder."""
        self.recordings, self.live, self.endpoint = recordings, live, live.endpoint
        self._sampling = sampling

    async def send(self, request: Request) -> Reply:
        """The recorded reply where the mode allows, else a fresh one that is then recorded."""
        reply = self.known(request)
        if reply is None:
            reply = await self.live.send(request)
            self.keep(request, reply)
        return reply

    def keep(self, request: Request, reply: Reply) -> None:
        """Record a reply.

        Raises:
            RecordingError: it cannot be written.
        """
        self.recordings.save(request, reply, self._sampling)

    def known(self, request: Request) -> Reply | None:
        """The recorded reply, where the mode asks for it and it is there."""
        return (
            self.recordings.find(request) if self.recordings.mode is RecordingMode.MISSING else None
        )


def _differs(name: str, asked: Mapping[str, Any], known: Mapping[str, Any]) -> bool:
    return json.dumps(asked[name]) != json.dumps(known.get(name))


def _difference(name: str, asked: Mapping[str, Any], known: Mapping[str, Any]) -> str:
    """A field that differs, with its values where they are short."""
    new, old = json.dumps(asked[name]), json.dumps(known.get(name))
    return f"{name} ({old} recorded, {new} asked)" if len(new) + len(old) < 120 else name


def read_entry(file: Path) -> dict[str, Any]:
    """A file of the recordings.

    Raises:
        RecordingFormatError: it cannot be read, or is of another format.
    """
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise RecordingFormatError(f"{file}: cannot be read as JSON: {error}") from error
    found = data.get("format") if isinstance(data, dict) else None
    if found != FORMAT:
        raise RecordingFormatError(
            f"{file}: recording format {found!r}, this version reads {FORMAT}; record it anew"
        )
    return dict(data)


def write_entry(file: Path, data: Mapping[str, Any]) -> None:
    """Write a file whole or not at all.

    Raises:
        RecordingError: the file system refuses.
    """
    text = json.dumps(data, ensure_ascii=False, indent=1) + "\n"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=file.parent, prefix=".") as folder:
            part = Path(folder) / file.name
            # Half a surrogate pair, which a reply may hold, is kept as its JSON escape.
            part.write_text(text, encoding="utf-8", errors="backslashreplace")
            part.replace(file)
    except OSError as error:
        raise RecordingError(f"{file}: cannot be written: {error}") from error


def _header(file: Path) -> dict[str, Any]:
    data = read_entry(file)
    if not isinstance(data.get("model"), str) or not isinstance(data.get("sampling"), dict):
        raise RecordingFormatError(f"{file}: names no model (a text) or no sampling (an object)")
    return data
