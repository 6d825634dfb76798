"""Errors of the openai package, told in our own classes: one table."""

from __future__ import annotations

import email.utils
import time
from collections.abc import Mapping

import httpx
import openai

from .errors import (
    JudgeAuthError,
    JudgeError,
    JudgeQuotaError,
    JudgeRateLimitError,
    JudgeRequestError,
    JudgeTimeoutError,
    JudgeUnavailableError,
    JudgeUnreachableError,
)

TABLE: dict[type[Exception], type[JudgeError]] = {
    openai.APITimeoutError: JudgeTimeoutError,
    openai.APIConnectionError: JudgeUnreachableError,
    openai.AuthenticationError: JudgeAuthError,
    openai.PermissionDeniedError: JudgeAuthError,
    openai.RateLimitError: JudgeRateLimitError,
    openai.InternalServerError: JudgeUnavailableError,
    openai.APIStatusError: JudgeRequestError,
    openai.APIError: JudgeRequestError,
    httpx.TimeoutException: JudgeTimeoutError,
    httpx.TransportError: JudgeUnreachableError,
}
"""First match wins, so a class stands before its bases."""

QUOTA_CODES = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active")


def translate(error: Exception, endpoint: str) -> JudgeError:
    """Our error for one of the openai package's; the text is one line with the endpoint."""
    cls = next(ours for theirs, ours in TABLE.items() if isinstance(error, theirs))
    status, code, wait = None, None, None
    if isinstance(error, openai.APIStatusError):
        status, code = error.status_code, error.code
        wait = retry_after(error.response.headers)
        if status in (408, 409) or status >= 500:
            cls = JudgeUnavailableError
    if cls is JudgeRateLimitError and code in QUOTA_CODES:
        cls = JudgeQuotaError
    said = str(getattr(error, "message", "") or error)
    if isinstance(error, openai.APIConnectionError) and error.__cause__ is not None:
        said = f"{said} ({error.__cause__})"  # "Connection error." alone does not help
    said = " ".join(said.split())[:300]
    what = f"{endpoint}: HTTP {status}: {said}" if status else f"{endpoint}: {said}"
    return cls(what, status=status, retry_after=wait)


def retry_after(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Seconds to wait, from ``retry-after-ms``, ``retry-after`` in seconds or as a date.

    >>> retry_after({"retry-after-ms": "1500"}), retry_after({"retry-after": "2"})
    (1.5, 2.0)
    >>> retry_after({"retry-after": "Thu, 01 Jan 1970 00:01:00 GMT"}, now=20.0)
    40.0
    >>> retry_after({"retry-after": "soon"}) is None
    True
    """
    try:
        return max(0.0, float(headers["retry-after-ms"]) / 1000)
    except (KeyError, ValueError):
        pass
    value = headers.get("retry-after")
    if value is None:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        date = email.utils.parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(0.0, date.timestamp() - (time.time() if now is None else now))
