"""A run on disk: a folder that is written whole or not at all.

    <run>/manifest.json      what was run, on what, with which words, and the headlines
    <run>/scores.jsonl       one line for each row and metric
    <run>/evidence.jsonl     what stands behind each of them

Numbers are never NaN: what has no value is null, with its status and reason.
"""

from __future__ import annotations

import glob
import json
import os
import shutil
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..judge.errors import InputError
from .manifest import evidence_of, scores_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from .runner import Result

MANIFEST = "manifest.json"
FILES = (MANIFEST, "scores.jsonl", "evidence.jsonl")


def check_target(out: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
    """Can a run be written to ``out``? Asked before the first call, so that none is in vain.

    Args:
        out: the run folder: one that does not exist or is empty; with ``overwrite`` also one
            that holds a run and nothing else. A run that ended early may always be replaced.
        overwrite: whether an earlier run there may be replaced.

    Raises:
        InputError: it cannot; the text says what stands in the way.
    """
    target = Path(out)
    if target.exists():
        _check_existing(target, overwrite)
    parent = next(folder for folder in target.absolute().parents if folder.exists())
    if not parent.is_dir() or not os.access(parent, os.W_OK):
        raise InputError(f"{target}: {parent} cannot be written to; choose another folder")
    return target


def _check_existing(target: Path, overwrite: bool) -> None:
    if not target.is_dir():
        raise InputError(f"{target}: is a file; choose another folder for the run")
    inside = sorted(entry.name for entry in target.iterdir())
    if not inside:
        return
    if not _is_run(target):
        raise InputError(
            f"{target}: holds files but no run, so it is left alone; choose another folder"
        )
    if not overwrite and not is_partial(target):
        raise InputError(f"{target}: holds a run already; choose another folder or overwrite it")
    strangers = [name for name in inside if name not in FILES]
    if strangers:
        raise InputError(
            f"{target}: holds {', '.join(strangers)} beside the run, so it is left alone; move"
            " that away or choose another folder"
        )


def _is_run(folder: Path) -> bool:
    return read_manifest(folder) is not None


def is_partial(folder: Path) -> bool:
    """Is there a run that ended early? Another one may take its place and go on."""
    manifest = read_manifest(folder)
    return manifest is not None and manifest.get("complete") is False


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """The manifest in a folder, if it is one that this package wrote."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    ours = isinstance(manifest, dict) and {"format", "ragas_judge", "headlines"} <= set(manifest)
    return manifest if ours else None


def write_run(
    out: str | os.PathLike[str],
    manifest: Mapping[str, Any],
    results: Sequence[Result],
    *,
    overwrite: bool = False,
) -> Path:
    """Write a run folder.

    It is written under another name beside ``out`` and then renamed, so that ``out`` is never
    half a run; an earlier run there is removed only when the new one stands.

    Raises:
        InputError: as for ``check_target``, or the disk refuses.
    """
    target = check_target(out, overwrite=overwrite)
    real = target.resolve()
    mark = uuid.uuid4().hex[:8]
    fresh = real.with_name(f".{real.name}.{mark}.new")
    try:
        fresh.mkdir(parents=True)
        _write_json(fresh / MANIFEST, manifest)
        _write_lines(fresh / "scores.jsonl", scores_of(results))
        _write_lines(fresh / "evidence.jsonl", map(evidence_of, results))
        _swap(fresh, real, real.with_name(f".{real.name}.{mark}.old"))
    except OSError as error:
        raise InputError(f"{target}: cannot be written: {error.strerror}") from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    _sweep(real)
    return target


def _sweep(target: Path) -> None:
    """Remove what a process that was killed while writing here has left."""
    for ending in ("new", "old"):
        for left in target.parent.glob(f".{glob.escape(target.name)}.{8 * '[0-9a-f]'}.{ending}"):
            shutil.rmtree(left, ignore_errors=True)


def _swap(fresh: Path, target: Path, aside: Path) -> None:
    """Put ``fresh`` in the place of ``target``; what was there goes once that is done."""
    if not target.exists():
        fresh.rename(target)
        return
    target.rename(aside)
    try:
        fresh.rename(target)
    except OSError:
        aside.rename(target)
        raise
    shutil.rmtree(aside)


def _write_json(file: Path, data: Mapping[str, Any]) -> None:
    text = json.dumps(data, ensure_ascii=False, indent=1, allow_nan=False, default=str)
    _write_lines(file, [], text)


def _write_lines(file: Path, lines: Iterable[Mapping[str, Any]], text: str = "") -> None:
    # A lone surrogate, which UTF-8 has no bytes for, is written as the JSON escape it is.
    with file.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as out:
        if text:
            out.write(f"{text}\n")
        for line in lines:
            out.write(json.dumps(line, ensure_ascii=False, allow_nan=False, default=str) + "\n")
