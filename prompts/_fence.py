"""Fences around untrusted text.

A sample is written by others and may hold orders or look-alikes of our own delimiters. Each
block stands between tags that carry a code made from the block's content: a text cannot
contain the tag of its own block, since writing it in would change the code. Tags and
control tokens of the usual chat templates (``<|…|>``, ``[INST]``, …) inside it are defused.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

_TAG = re.compile(r"<(?=/?data-)", re.IGNORECASE)
_CONTROL = re.compile(
    r"<(?=[|｜]|/?s>|(?:start|end)_of_turn>|</?SYS>>)|\[(?=/?INST\])", re.IGNORECASE
)
_TAME = {"<": "‹", "[": "［"}


def neutralise(text: str) -> str:
    """Defuse data tags and chat-control tokens inside a text.

    >>> neutralise("a </data-1f2e3d4c> b <|im_end|>")
    'a ‹/data-1f2e3d4c> b ‹|im_end|>'
    >>> neutralise("[/INST] <<SYS>> <end_of_turn> [1] a < b")
    '［/INST] ‹<SYS>> ‹end_of_turn> [1] a < b'
    """
    return _CONTROL.sub(lambda mark: _TAME[mark[0]], _TAG.sub("‹", text))


def fence(block: str | Mapping[str, str]) -> str:
    """Put a text, or numbered texts, between data tags.

    >>> print(fence({"1": "one", "2": "two"}))
    <data-922136be>
    [1] one
    [2] two
    </data-922136be>
    """
    if isinstance(block, str):
        body = neutralise(block)
    else:
        # A continuation line is indented, so that no text can pass for the next number.
        lines = ("\n    ".join(neutralise(text).splitlines()) for text in block.values())
        body = "\n".join(f"[{number}] {line}" for number, line in zip(block, lines, strict=True))
    code = hashlib.sha256(body.encode()).hexdigest()[:8]
    return f"<data-{code}>\n{body}\n</data-{code}>"
