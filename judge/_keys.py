"""Which id does a part of a reply answer for? Ids may be decorated, and stand in a list.

Where all ids asked are numbers, ``"[1]"``, ``"1."``, ``"Claim 1"`` and ``"第1条"`` mean ``"1"``.
An entry of a list must name its id (``{"id": 1, "verdict": …}``); places in a list mean
nothing, because entries may be missing or in another order.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Any

from ._lenient import Open, Pairs

MOST_WRAPPERS = 3
"""Objects around the answers (``{"result": {"verdicts": {…}}}``) that are looked through."""

_DECORATED = re.compile(
    r"(?:(?:claim|sentence|item|question|verdict|answer|number|no|id|key"
    r"|第|陈述|句子|问题|结论|编号|序号)(?:-|[\s_.:#]*))?"
    r"[#\[(【]?\s*0*([0-9]{1,6})\s*[\])】]?[.:)、]?(?:条|句|个|项|号)?(?:陈述)?",
    re.IGNORECASE,
)
_NAMES = {
    *("id", "no", "num", "number", "index", "item", "key", "编号", "序号"),
    *("claim", "claim_id", "claim_number", "sentence", "sentence_id", "sentence_number"),
}
"""Keys that name an entry's id. "context" is none: an answer may say which context decides."""

Pair = tuple[str, Any]


class Keys:
    """The ids asked for, and the ways a reply may write them.

    >>> keys = Keys(["1", "2"])
    >>> keys.id_of("Claim_2"), keys.id_of("claim -1"), keys.id_of("context 1")
    ('2', 'claim -1', 'context 1')
    """

    def __init__(self, ids: Sequence[str]) -> None:
        """Keep the ids; only those that are all numbers may be decorated."""
        self._ids = frozenset(ids)
        self.numbers = all(re.fullmatch("[0-9]+", item_id) for item_id in ids)

    def id_of(self, key: str) -> str:
        """The id that a key means; a key that means none, as it is."""
        key = key.strip()
        if key in self._ids or not self.numbers or len(key) > 30:
            return key
        found = _DECORATED.fullmatch(unicodedata.normalize("NFKC", key))
        return found[1] if found else key

    def is_id(self, key: str) -> bool:
        """Is it an id, asked for or not?"""
        key = self.id_of(key)
        return key in self._ids or (self.numbers and re.fullmatch("[0-9]+", key) is not None)

    def pairs(self, value: Any, wrappers: int = MOST_WRAPPERS) -> list[Pair]:
        """All (id, answer) of a value, or none when no id asked for is among them.

        What an answer or a stranger holds is never looked into. Several wrapped objects that
        answer are taken together, so that they must agree.
        """
        own = self._own(value)
        if own or not isinstance(value, Pairs):
            return own
        label = self._labelled(value)
        if label is not None:
            return self._asked([label])
        if not wrappers:
            return []
        inner = [item for key, item in value if not self.is_id(key)]
        return [pair for item in inner for pair in self.pairs(item, wrappers - 1)]

    def kept(self, chain: Sequence[Open]) -> list[Pair]:
        """The pairs of a cut value that were complete, those of the outermost that answers.

        An entry of a list, or an answer, that was being written counts as not there.
        """
        for part in chain:
            own = self._own(part.value)
            if own:
                return own
            if not isinstance(part.value, Pairs) or self.is_id(part.key) or self.pairs(part.value):
                return []
        return []

    def bare(self, value: Any) -> bool:
        """Is it an object that names no id at all?"""
        return (
            isinstance(value, Pairs)
            and not any(self.is_id(key) for key, _ in value)
            and not self._label(value)[0]
        )

    def _own(self, value: Any) -> list[Pair]:
        if isinstance(value, Pairs):
            return self._asked([(self.id_of(key), item) for key, item in value])
        if isinstance(value, list):
            return self._asked([pair for entry in value for pair in self._entry(entry)])
        return []

    def _entry(self, entry: Any) -> list[Pair]:
        if not isinstance(entry, Pairs):
            return []
        if any(self.is_id(key) for key, _ in entry):
            return [(self.id_of(key), item) for key, item in entry]
        label = self._labelled(entry)
        return [] if label is None else [label]

    def _labelled(self, entry: Pairs) -> Pair | None:
        """An object that names its id, as (id, the rest); one that names two is none."""
        named, rest = self._label(entry)
        return (named.pop(), rest) if len(named) == 1 else None

    def _label(self, entry: Pairs) -> tuple[set[str], Pairs]:
        named: set[str] = set()
        rest = Pairs()
        for key, value in entry:
            if key.strip().lower() in _NAMES and self._names_id(value):
                named.add(self.id_of(str(value)))
            else:
                rest.append((key, value))
        return named, rest

    def _names_id(self, value: Any) -> bool:
        is_number = isinstance(value, int) and not isinstance(value, bool)
        return (is_number or isinstance(value, str)) and self.is_id(str(value))

    def _asked(self, pairs: list[Pair]) -> list[Pair]:
        return pairs if any(key in self._ids for key, _ in pairs) else []
