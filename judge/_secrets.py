"""Keys are never shown: services echo them in the messages of their errors."""

from __future__ import annotations

import base64
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
_NAMES_ONE = re.compile(
    r"(?i)(?:key|token|secret|passw(?:or)?d|passphrase|authorization|credentials?|cookie)$"
)
_NO_KEYS = {
    *("prompt_cache_key", "bos_token", "eos_token", "pad_token", "stop_token", "unk_token"),
}
"""Parameters that are none, whatever their names look like."""
_HOLDERS = (
    *("client", "async_client", "root_async_client", "embeddings", "llm", "langchain_llm"),
    *("generator", "_client"),
)
"""Where models, embeddings and clients keep the client that they wrap."""
_SENT = (
    *("_custom_headers", "_custom_query", "default_headers", "default_query"),
    *("_headers", "_params", "_cookies", "extra_headers", "extra_query"),
)
"""Where they keep what goes with each request: any of it may be a key."""
_PUBLIC = re.compile(r"(?i)(?:accept(?:-.*)?|connection|content-type|user-agent|x-stainless-.*)$")
"""Headers that hold none."""
_DEPTH = 4


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
    yield from _sent(attributes)
    signing = getattr(attributes.get("_auth"), "__dict__", None)  # an HTTP client's
    yield from _sent({"_headers": signing})
    if isinstance(more := attributes.get("model_kwargs"), Mapping):  # LangChain's
        yield from _named_so(more)
        yield from _sent(more)
    yield from _in_url(str(getattr(holder, "base_url", None) or ""))
    for name in _HOLDERS:
        yield from _keys(attributes.get(name), depth - 1)


def _named_so(values: Mapping[Any, Any]) -> Iterator[str]:
    for name, value in values.items():
        text = _plain(value)
        if text and (text is not value or _NAMES_ONE.search(str(name))):
            yield _SCHEME.sub("", text)


def _sent(holder: Mapping[Any, Any]) -> Iterator[str]:
    """All values of headers, queries and cookies; of a cookie's header each of its values."""
    for values in map(holder.get, _SENT):
        if not isinstance(values, Mapping):
            continue
        for name, value in values.items():
            text = _plain(value)
            if text and not _PUBLIC.match(str(name)):
                yield _SCHEME.sub("", text)
                yield from (part.partition("=")[2].strip() for part in text.split(";"))


def _in_url(url: str) -> Iterator[str]:
    """User, password and query of an address, and what is sent for user and password."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    if user or password:
        yield base64.b64encode(f"{user}:{password}".encode()).decode()
    yield from (password or user, *(value for _, value in parse_qsl(parts.query)))


def keys_among(parameters: Any, path: str = "") -> list[str]:
    """Names of parameters, however deep, that look like a key's and hold a text.

    >>> keys_among({"extra_body": {"api_key": "k", "top_k": 1}, "max_tokens": 9})
    ['extra_body.api_key']
    """
    if isinstance(parameters, list | tuple):
        return [name for each in parameters for name in keys_among(each, path)]
    if not isinstance(parameters, Mapping):
        return []
    found: list[str] = []
    for name, value in parameters.items():
        whole, held = f"{path}{name}", value if isinstance(value, list | tuple) else [value]
        named_so = _NAMES_ONE.search(str(name)) and name not in _NO_KEYS
        if named_so and any(map(_plain, held)):
            found.append(whole)
        else:
            found += keys_among(value, f"{whole}.")
    return found


def account_of(client: Any) -> int:
    """A number by which the account behind a client can be told from others in this process."""
    found = (getattr(client, name, None) for name in ("api_key", "_azure_ad_token"))
    return hash(tuple(map(_plain, found)))


def _plain(value: Any) -> str | None:
    """A string, also one that its class hides."""
    reveal: Callable[[], Any] | None = getattr(value, "get_secret_value", None)
    value = reveal() if reveal is not None else value
    return value if isinstance(value, str) else None
