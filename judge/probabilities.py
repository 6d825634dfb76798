"""How sure the model was of one word of its reply, where the service gives log probabilities.

The written word is the likeliest one; how likely it was says more (0.51 and 0.99 are written the
same). The alternatives at the place of the word are read, those that begin one of the words asked
for are added up, and the sums are set in proportion.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from .types import Reply, Token

ASK = {"logprobs": True, "top_logprobs": 10}
"""Sampling parameters that ask for them."""
ENOUGH = 0.5
"""Least probability that the words asked for must have together."""
_MARKS = "\"'`*.:,!({[ \t\r\n▁Ġ"
"""What may stand before a word, within its token or before it."""


def tokens_of(logprobs: Any) -> tuple[Token, ...]:
    """The tokens of a reply, from OpenAI's ``logprobs`` as an object or a mapping.

    None where any of them lacks its text or the logarithm.

    >>> said = {"token": "Yes", "logprob": -0.1, "top_logprobs": [{"token": "No", "logprob": -3}]}
    >>> tokens_of({"content": [said]})
    (Token(text='Yes', logprob=-0.1, others=(('No', -3.0),)),)
    >>> tokens_of({"content": [{"token": "Yes"}]})
    ()
    """
    try:
        return tuple(
            Token(*_pair(each), tuple(map(_pair, _of(each, "top_logprobs") or ())))
            for each in _of(logprobs, "content") or ()
        )
    except (TypeError, OverflowError):  # some services send other data under these names
        return ()


def _pair(token: Any) -> tuple[str, float]:
    text, logprob = _of(token, "token"), _of(token, "logprob")
    is_one = isinstance(logprob, int | float) and not isinstance(logprob, bool) and logprob < 1
    if not (isinstance(text, str) and is_one):  # not NaN, either
        raise TypeError
    return text, float(logprob)


def _of(data: Any, name: str) -> Any:
    return data.get(name) if isinstance(data, Mapping) else getattr(data, name, None)


def word_probabilities(
    reply: Reply, item_id: str, words: Mapping[str, str]
) -> dict[str, float] | None:
    """The probability of each meaning that the answer to one item could have had.

    Args:
        reply: a JSON object of item numbers and words, or one bare word.
        item_id: which item; for a bare word it does not matter.
        words: each word that could stand there, in lower case, and its meaning.

    Returns:
        Meaning -> probability, adding up to 1. None: the service gave no alternatives with log
        probabilities, or something else than these words was likelier.

    >>> tokens = (Token("Yes", -0.36, (("Yes", -0.36), ("No", -1.2))),)
    >>> found = word_probabilities(Reply("Yes", tokens=tokens), "1", {"yes": "yes", "no": "no"})
    >>> {meaning: round(share, 2) for meaning, share in found.items()}
    {'yes': 0.7, 'no': 0.3}
    """
    token = _token_at(reply.tokens, item_id)
    if token is None or not token.others:
        return None
    sums = dict.fromkeys(words.values(), 0.0)
    seen = dict(token.others) | {token.text: token.logprob}
    for text, logprob in seen.items():
        meaning = _meaning(text, words)
        if meaning is not None:
            sums[meaning] += math.exp(logprob)
    whole = math.fsum(sums.values())
    if whole < ENOUGH:
        return None
    return {meaning: share / whole for meaning, share in sums.items()}


def _meaning(text: str, words: Mapping[str, str]) -> str | None:
    """What a token says that is one of the words, or begins just one of them."""
    start = text.strip(_MARKS).lower()
    if start in words:
        return words[start]
    begun = {meaning for word, meaning in words.items() if start and word.startswith(start)}
    return begun.pop() if len(begun) == 1 else None


def _token_at(tokens: Sequence[Token], item_id: str) -> Token | None:
    """The token in which the item's word begins."""
    text = "".join(token.text for token in tokens)
    key = list(re.finditer(rf"[\"']{re.escape(item_id)}[\"']\s*:\s*", text))
    place = key[-1].end() if key else 0
    while place < len(text) and text[place] in _MARKS:
        place += 1
    end = 0
    for token in tokens:
        end += len(token.text)
        if place < end:
            return token
    return None
