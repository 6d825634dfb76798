"""The lock of released prompt files: file -> SHA-256.

    python -m ragas_judge.prompts.lock           # check; exit 1 and name the files that changed
    python -m ragas_judge.prompts.lock --write DIR   # add new files to DIR/LOCK.json (maintainers)

A file that is in the lock never changes; a change of wording is a new version folder.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

from .errors import PromptChangedError

ROOT = Path(__file__).parent
LOCK = "LOCK.json"


def digests(root: Path = ROOT) -> dict[str, str]:
    """SHA-256 of every prompt file below ``root``, by its path."""
    files = sorted(path for path in root.glob("*/v*/**/*") if path.is_file())
    return {
        path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
    }


def check(root: Path = ROOT) -> None:
    """Compare the files with the lock.

    Raises:
        PromptChangedError: a locked file was changed or removed, or a file is not locked.
    """
    locked = json.loads((root / LOCK).read_text(encoding="utf-8"))
    found = digests(root)
    differing = sorted(
        name for name in locked.keys() | found.keys() if locked.get(name) != found.get(name)
    )
    if differing:
        raise PromptChangedError(
            f"prompt files differ from {LOCK}: {', '.join(differing)};"
            " a released prompt never changes, put new wording into a new version folder"
        )


def write(root: Path) -> None:
    """Add the files that are not locked yet.

    Raises:
        PromptChangedError: a locked file was changed or removed.
    """
    path = root / LOCK
    locked = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    merged = {**digests(root), **locked}
    path.write_text(json.dumps(merged, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    check(root)


def main(arguments: list[str]) -> int:
    """Check or write; the exit code."""
    try:
        if arguments[:1] == ["--write"]:
            write(Path(arguments[1]))
        else:
            check()
    except PromptChangedError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
