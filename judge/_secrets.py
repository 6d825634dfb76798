"""Keys are never shown: services echo them in the messages of their errors."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import Any
from urllib.parse import quote

MARK = "***"
SHORTEST = 8
"""A shorter key, such as ``none``, is an ordinary word."""
_LOOKS_LIKE_ONE = re.compile(r"(?i)\b(bearer\s+)\S+|\b(?:sk|pk|rk)-[\w*.-]{8,}")


def redact(text: str, secrets: Collection[str | None] = ()) -> str:
    """A text without the keys given, whole or in part, and without what looks like one.

    >>> redact("Incorrect API key provided: abcdefghij-0123456789", ["abcdefghij-0123456789"])
    'Incorrect API key provided: ***'
    >>> redact("key abcdefghij… is not known; header Bearer xyz", ["abcdefghij-0123456789"])
    'key ***… is not known; header Bearer ***'
    >>> redact("none of the models", ["none"])
    'none of the models'
    """
    for secret in secrets:
        for form in {secret or "", quote(secret or "", safe="")}:
            text = _without(text, form)
    return _LOOKS_LIKE_ONE.sub(lambda found: f"{found[1] or ''}{MARK}", text)


def _without(text: str, secret: str) -> str:
    """Without the secret, its beginnings and its ends of eight characters and more."""
    if len(secret) < SHORTEST:
        return text
    text = text.replace(secret, MARK)
    for length in range(len(secret) - 1, SHORTEST - 1, -1):
        text = text.replace(secret[:length], MARK).replace(secret[-length:], MARK)
    return text


def keys_of(client: Any) -> list[str]:
    """The keys that an OpenAI client holds; those that it fetches for each call are not known."""
    found = (getattr(client, name, None) for name in ("api_key", "_azure_ad_token"))
    return [key for key in map(_plain, found) if key]


def account_of(client: Any) -> int:
    """A number by which the account behind a client can be told from others in this process."""
    return hash(tuple(keys_of(client)))


def _plain(value: Any) -> str | None:
    reveal: Callable[[], Any] | None = getattr(value, "get_secret_value", None)
    value = reveal() if reveal is not None else value
    return value if isinstance(value, str) else None
