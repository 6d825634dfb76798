"""Keys are never shown: services echo them in the messages of their errors."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

MARK = "***"
SHORTEST = 8
"""A shorter key, such as ``none``, is an ordinary word."""
_LOOKS_LIKE_ONE = re.compile(
    r"(?i)\b(bearer\s+)(?!(?:or|and|is|in|tokens?|auth\w*|scheme|header|format)\b)\S+"
    r"|\b(?:sk|pk|rk)-[\w*.-]{8,}"
    r"|\beyJ[\w-]{8,}(?:\.[\w-]+)*"
)
"""After "Bearer", unless that is part of a sentence; OpenAI's form; a JSON Web Token."""
_SCHEME = re.compile(r"(?i)^\s*(?:bearer|basic|token)\s+")
_NAMES_ONE = re.compile(r"(?i)(?:key|token|secret|password|authorization)$")
_HOLDERS = (
    *("client", "async_client", "root_async_client", "embeddings", "llm", "langchain_llm"),
    "generator",
)
"""Where models, embeddings and clients keep the client that they wrap."""
_MAPPINGS = ("_custom_headers", "_custom_query", "default_headers", "default_query")
_DEPTH = 3


def redact(text: str, secrets: Collection[str | None] = ()) -> str:
    """A text without the keys given, whole or in part, and without what looks like one.

    >>> redact("Incorrect API key provided: abcdefghij-0123456789", ["abcdefghij-0123456789"])
    'Incorrect API key provided: ***'
    >>> redact("key abcdefghij… is not known; header Bearer xyz", ["abcdefghij-0123456789"])
    'key ***… is not known; header Bearer ***'
    >>> redact("none of the models; bearer authentication is missing", ["none"])
    'none of the models; bearer authentication is missing'
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
        if secret[:SHORTEST] not in text and secret[-SHORTEST:] not in text:
            return text
        text = text.replace(secret[:length], MARK).replace(secret[-length:], MARK)
    return text


def keys_of(holder: Any) -> list[str]:
    """The keys inside a client, or inside a model or embeddings around one.

    Those that a function fetches for each call are known once they have been fetched.
    """
    found = dict.fromkeys(_keys(holder, _DEPTH))
    return sorted(found, key=len, reverse=True)  # a part of one may be another


def _keys(holder: Any, depth: int) -> Iterator[str]:
    attributes = getattr(holder, "__dict__", None)
    if depth == 0 or not isinstance(attributes, Mapping):
        return
    yield from _named_so(attributes)
    for name in _MAPPINGS:
        if isinstance(inner := attributes.get(name), Mapping):
            yield from _named_so(inner)
    yield from _in_url(str(getattr(holder, "base_url", None) or ""))
    for name in _HOLDERS:
        yield from _keys(attributes.get(name), depth - 1)


def _named_so(values: Mapping[Any, Any]) -> Iterator[str]:
    for name, value in values.items():
        text = _plain(value)
        if text and (text is not value or _NAMES_ONE.search(str(name))):
            yield _SCHEME.sub("", text)


def _in_url(url: str) -> Iterator[str]:
    try:
        parts = urlsplit(url)
    except ValueError:
        return
    yield from (unquote(parts.password or ""), *(value for _, value in parse_qsl(parts.query)))


def account_of(client: Any) -> int:
    """A number by which the account behind a client can be told from others in this process."""
    found = (getattr(client, name, None) for name in ("api_key", "_azure_ad_token"))
    return hash(tuple(map(_plain, found)))


def _plain(value: Any) -> str | None:
    """A string, also one that its class hides."""
    reveal: Callable[[], Any] | None = getattr(value, "get_secret_value", None)
    value = reveal() if reveal is not None else value
    return value if isinstance(value, str) else None
