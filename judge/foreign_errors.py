"""Errors of other packages, told in our own classes, by the table in ``_foreign_table``.

An HTTP status, where there is one, goes before the class.
"""

from __future__ import annotations

import datetime
import email.utils
import html
import json
import re
import sys
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from ._foreign_table import CODES, NOT_OF_THE_SERVICE, ROOTS, SAME, TABLE
from ._secrets import redact
from .errors import (
    EvaluatorError,
    JudgeAuthError,
    JudgeError,
    JudgeQuotaError,
    JudgeRateLimitError,
    JudgeRequestError,
    JudgeUnavailableError,
)

QUOTA = (
    "insufficient_quota",
    "billing_hard_limit_reached",
    "billing_not_active",
    "credit balance is too low",  # Anthropic, with status 400
)
"""How services say that an account has no money or quota left."""
SAID = 300
"""Characters of a foreign message that are kept."""
OF_A_PAGE = 100
"""The same of a page of HTML, which gateways send."""
_STATUS = re.compile("[45][0-9]{2}")
_PAGE = re.compile(r"\s*<(?:!doctype|html|head|body|title|!--)", re.IGNORECASE)
_TITLE = re.compile(r"<title[^>]*>\s*([^<]*[^<\s])", re.IGNORECASE)


def ours_for(error: BaseException) -> type[EvaluatorError] | None:
    """Our class for a foreign error, by its classes alone; None: it is not of a service.

    >>> ours_for(ConnectionResetError()).__name__, ours_for(KeyError())
    ('JudgeUnreachableError', None)
    """
    for each in type(error).__mro__:
        name = named(each)
        if name in NOT_OF_THE_SERVICE:
            return None
        if name in TABLE:
            return TABLE[name]
    return None


def named(cls: type) -> str:
    """A class by its package and name, as in the table."""
    package = cls.__module__.split(".")[0]
    return f"{SAME.get(package, package)}.{cls.__name__}"


def service_errors() -> tuple[type[Exception], ...]:
    """Classes of errors that tell of the service, of all client packages loaded so far."""
    found = (getattr(sys.modules.get(module), name, None) for module, name in ROOTS.items())
    return (TimeoutError, ConnectionError, *(each for each in found if isinstance(each, type)))


def translate(
    error: BaseException, endpoint: str, secrets: Collection[str | None] = ()
) -> JudgeError:
    """Our error for a client package's; its text is one line with the endpoint.

    ``__cause__`` is the original, except where its text held a key: it would show it.

    Args:
        error: what the client raised.
        endpoint: where it was sent.
        secrets: keys that must not be shown.
    """
    status = status_of(error)
    cls = by_status(status) if status else (_by_transport(error) or ours_for(error))
    if cls is None or not issubclass(cls, JudgeError):
        cls = JudgeRequestError
    if _quota(error, status):
        cls = JudgeQuotaError
    said = shown(_said(error), secrets) or type(error).__name__
    prefix = f"{endpoint}: HTTP {status}" if status else endpoint
    found = cls(
        f"{prefix}: {said}{_hint(status, endpoint)}",
        status=status,
        retry_after=retry_after(_headers(error)),
    )
    found.__cause__ = kept_cause(error, secrets)
    return found


def kept_cause(error: BaseException, secrets: Collection[str | None] = ()) -> BaseException | None:
    """The error itself, unless a traceback of it would show a key."""
    whole = "\n".join(map(str, _chain(error)))
    return error if redact(whole, secrets) == whole else None


def told_in(body: Any, endpoint: str, secrets: Collection[str | None] = ()) -> JudgeError | None:
    """Our error for one that a service put into a reply of status 200; None: there is none.

    >>> from types import SimpleNamespace
    >>> told = told_in(SimpleNamespace(error={"message": "slow down", "code": 429}), "x")
    >>> told, told.status
    (JudgeRateLimitError('x: slow down'), 429)
    """
    error = getattr(body, "error", None)
    if not error:
        return None
    details = error if isinstance(error, Mapping) else {"code": error}
    codes = [details.get(name) for name in ("code", "status", "type")]
    status = next((int(str(each)) for each in codes if _STATUS.fullmatch(str(each))), None)
    cls = by_status(status) if status else _by_code(codes)
    if any(word in str(error) for word in QUOTA):
        cls = JudgeQuotaError
    said = shown(str(details.get("message") or error), secrets)
    return cls(f"{endpoint}: {said}", status=status)


def _by_code(codes: Iterable[Any]) -> type[JudgeError]:
    known = (CODES.get(each.lower()) for each in codes if isinstance(each, str))
    return next(filter(None, known), JudgeUnavailableError)


def shown(text: str, secrets: Collection[str | None] = ()) -> str:
    """A foreign text fit for a message: one line, not long, without keys; a page by its title.

    >>> shown("<html><head><title>Busy &amp; slow</title></head><body>...</body></html>")
    'Busy & slow'
    """
    longest = SAID
    if _PAGE.match(text):
        title = _TITLE.search(text)
        text, longest = html.unescape(title[1]) if title else text, OF_A_PAGE
    return redact(" ".join(text.split()), secrets)[:longest]


def status_of(error: BaseException | None) -> int | None:
    """The HTTP status that a client package's error tells of."""
    own = (getattr(error, "status_code", None), getattr(error, "code", None))
    found = (*own, getattr(getattr(error, "response", None), "status_code", None))
    return next((each for each in found if isinstance(each, int) and each >= 400), None)


def by_status(status: int) -> type[JudgeError]:
    """The class of error for an HTTP status of 400 and above.

    >>> by_status(529).__name__
    'JudgeUnavailableError'
    """
    if status in (401, 403):
        return JudgeAuthError
    if status == 402:
        return JudgeQuotaError
    if status == 429:
        return JudgeRateLimitError
    if status in (408, 409) or status >= 500:
        return JudgeUnavailableError
    return JudgeRequestError


def _said(error: BaseException) -> str:
    message = getattr(error, "message", None)
    said = message if isinstance(message, str) and message else str(error)
    if isinstance(error, json.JSONDecodeError | UnicodeDecodeError):
        return f"the reply is not JSON ({said})"
    cause = str(error.__cause__ or "")
    if cause and any(cls.__name__ == "APIConnectionError" for cls in type(error).__mro__):
        return f"{said} ({cause})"  # "Connection error." alone does not help
    return said


def _headers(error: BaseException) -> Mapping[str, str]:
    headers = getattr(getattr(error, "response", None), "headers", None)
    return headers if isinstance(headers, Mapping) else {}


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """The error and all that a traceback would print with it."""
    while error is not None:
        yield error
        hidden = error.__suppress_context__
        error = error.__cause__ or (None if hidden else error.__context__)


def _by_transport(error: BaseException) -> type[EvaluatorError] | None:
    """Our class for the HTTP client's error below a package's own, which says less.

    A timeout before there was a connection, for one, means that nobody is there.
    """
    cause: BaseException | None = error
    while cause is not None:
        if named(type(cause)).startswith("httpx."):
            return ours_for(cause)
        cause = cause.__cause__
    return None


def _quota(error: BaseException, status: int | None) -> bool:
    """No money left, which services tell in several ways."""
    if status not in (None, 400, 402, 403, 429):
        return False
    told = (getattr(error, "code", None), getattr(error, "type", None), _said(error))
    return status == 402 or any(word in str(each) for each in told for word in QUOTA)


def _hint(status: int | None, endpoint: str) -> str:
    if status != 404 or "://" not in endpoint:
        return ""
    whole = endpoint.rstrip("/").endswith("/v1") or "/openai/" in f"{endpoint}/"  # Azure's
    return " (is the model's name right?)" if whole else " (does the address end in /v1?)"


def retry_after(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Seconds to wait, from ``retry-after-ms``, ``retry-after`` in seconds or as a date.

    >>> retry_after({"retry-after-ms": "1500"}), retry_after({"retry-after": "2"})
    (1.5, 2.0)
    >>> retry_after({"retry-after": "Thu, 01 Jan 1970 00:01:00 GMT"}, now=20.0)
    40.0
    >>> retry_after({"retry-after": "soon"}) is None
    True
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    if value is None or seconds is not None:
        return seconds
    try:
        date = email.utils.parsedate_to_datetime(value)
    except ValueError:
        return None
    if date.tzinfo is None:  # "-0000": the time is UTC, whatever the sender's zone is
        date = date.replace(tzinfo=datetime.UTC)
    return max(0.0, date.timestamp() - (time.time() if now is None else now))


def _number(value: Any) -> float | None:
    """Not below 0; None for what is no finite number."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return max(0.0, number) if number - number == 0 else None
