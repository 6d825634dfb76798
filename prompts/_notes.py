"""The short notes that a question carries when it is asked again."""

from __future__ import annotations

from typing import Any

from ._prompt import ROOT, _template
from .errors import PromptError

REASK_VERSION = 1


def reask_note(kind: str, language: str, **values: Any) -> str:
    """Render the note of one kind (``invalid`` or ``quote``).

    >>> reask_note("invalid", "en", problem="key 2 is missing", ids=["2"]).splitlines()[-1]
    'Reply again with one JSON object holding exactly these keys: 2'
    """
    path = ROOT / "reask" / f"v{REASK_VERSION}" / language / f"{kind}.txt"
    if not path.is_file():
        raise PromptError(f"no re-ask note {kind!r} in language {language!r}")
    return str(_template(path.read_text(encoding="utf-8")).render(values)).strip()
