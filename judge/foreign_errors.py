"""Errors of other packages, told in our own classes: one table.

A class is named by its package and name, so that none of the packages is loaded for it. An HTTP
status, where there is one, goes before the class.
"""

from __future__ import annotations

import datetime
import email.utils
import json
import sys
import time
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from ._secrets import redact
from .errors import (
    EvaluatorError,
    FilteredReplyError,
    JudgeAuthError,
    JudgeError,
    JudgeQuotaError,
    JudgeRateLimitError,
    JudgeRequestError,
    JudgeTimeoutError,
    JudgeUnavailableError,
    JudgeUnreachableError,
    TruncatedReplyError,
    UnreadableReplyError,
)

TABLE: Mapping[str, type[EvaluatorError]] = {
    "openai.APITimeoutError": JudgeTimeoutError,
    "openai.APIConnectionError": JudgeUnreachableError,
    "openai.AuthenticationError": JudgeAuthError,
    "openai.PermissionDeniedError": JudgeAuthError,
    "openai.SubjectTokenProviderError": JudgeAuthError,
    "openai.RateLimitError": JudgeRateLimitError,
    "openai.ConflictError": JudgeUnavailableError,
    "openai.InternalServerError": JudgeUnavailableError,
    "openai.APIResponseValidationError": JudgeUnavailableError,
    "openai.APIError": JudgeRequestError,
    "openai.WebSocketConnectionClosedError": JudgeUnreachableError,
    "openai.LengthFinishReasonError": TruncatedReplyError,
    "openai.ContentFilterFinishReasonError": FilteredReplyError,
    "httpx.ConnectTimeout": JudgeUnreachableError,
    "httpx.TimeoutException": JudgeTimeoutError,
    "httpx.UnsupportedProtocol": JudgeRequestError,
    "httpx.TransportError": JudgeUnreachableError,
    "httpx.DecodingError": JudgeUnavailableError,
    "httpx.TooManyRedirects": JudgeRequestError,
    "httpx.HTTPError": JudgeRequestError,
    "httpx.InvalidURL": JudgeRequestError,
    "langchain_core.ModelTimeoutError": JudgeTimeoutError,
    "langchain_core.ModelConnectionError": JudgeUnreachableError,
    "langchain_core.ModelRateLimitError": JudgeRateLimitError,
    "langchain_core.ModelAPIError": JudgeUnavailableError,
    "langchain_core.ModelAuthenticationError": JudgeAuthError,
    "langchain_core.ModelPermissionDeniedError": JudgeAuthError,
    "langchain_core.ModelRefusalError": FilteredReplyError,
    "langchain_core.ModelError": JudgeRequestError,
    "langchain_core.OutputParserException": UnreadableReplyError,
    "instructor.IncompleteOutputException": TruncatedReplyError,
    "instructor.ResponseParsingError": UnreadableReplyError,
    "instructor.ValidationError": UnreadableReplyError,
    "instructor.AsyncValidationError": UnreadableReplyError,
    "instructor.InstructorRetryException": UnreadableReplyError,
    "instructor.ProviderError": JudgeRequestError,
    "anthropic.APITimeoutError": JudgeTimeoutError,
    "anthropic.APIConnectionError": JudgeUnreachableError,
    "anthropic.APIError": JudgeRequestError,
    "groq.APITimeoutError": JudgeTimeoutError,
    "groq.APIConnectionError": JudgeUnreachableError,
    "groq.APIError": JudgeRequestError,
    "google.APIError": JudgeRequestError,
    "ollama.ResponseError": JudgeRequestError,
    "builtins.TimeoutError": JudgeTimeoutError,
    "builtins.ConnectionError": JudgeUnreachableError,
    "builtins.UnicodeDecodeError": JudgeUnavailableError,
    "json.JSONDecodeError": JudgeUnavailableError,
}
"""Package and class -> our class. The most derived class that is named here decides."""

NOT_OF_THE_SERVICE = frozenset((
    "openai.OpenAIError", "openai.InvalidWebhookSignatureError", "openai.APIRemovedInV1",
    "openai.WebSocketQueueFullError", "openai._AmbiguousModuleClientUsageError",
    "openai.MissingDependencyError", "openai.MissingStreamClassError",
    "openai.MutuallyExclusiveAuthError", "openai.StreamAlreadyConsumed",
    "httpx.CookieConflict", "httpx.StreamError", "httpx.StreamClosed", "httpx.StreamConsumed",
    "httpx.RequestNotRead", "httpx.ResponseNotRead",
    "langchain_core.LangChainException", "langchain_core.TracerException",
    "instructor.InstructorError", "instructor.ClientError", "instructor.ConfigurationError",
    "instructor.ModeError", "instructor.MultimodalError",
))  # fmt: skip
"""Mistakes in how a client is used, and roots that say nothing. Each stands for itself alone,
not for the classes derived from it: a new one must be put here or into the table."""

ROOTS = {
    "openai": "APIError",
    "httpx": "HTTPError",
    "httpx2": "HTTPError",
    "langchain_core.exceptions": "ModelError",
    "anthropic": "APIError",
    "groq": "APIError",
    "google.genai.errors": "APIError",
    "ollama": "ResponseError",
}
"""Base classes by which client packages tell of the service, looked up where they are loaded."""

SAME = {"httpx2": "httpx"}
"""Packages with the classes of another."""

QUOTA = (
    "insufficient_quota",
    "billing_hard_limit_reached",
    "billing_not_active",
    "credit balance is too low",  # Anthropic, with status 400
)
SAID = 300
"""Characters of a foreign message that are kept."""


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
    whole = "\n".join(map(str, _chain(error)))
    found.__cause__ = error if redact(whole, secrets) == whole else None
    return found


def told_in(body: Any, endpoint: str, secrets: Collection[str | None] = ()) -> JudgeError | None:
    """Our error for one that a service put into a reply of status 200; None: there is none.

    >>> from types import SimpleNamespace
    >>> told_in(SimpleNamespace(error={"message": "slow down", "code": 429}), "x")
    JudgeRateLimitError('x: slow down')
    """
    error = getattr(body, "error", None)
    if not error:
        return None
    details = error if isinstance(error, Mapping) else {}
    status = details.get("code")
    cls: type[JudgeError] = JudgeUnavailableError
    if any(word in str(error) for word in QUOTA):
        cls = JudgeQuotaError
    elif isinstance(status, int) and status >= 400:
        cls = by_status(status)
    return cls(f"{endpoint}: {shown(str(details.get('message') or error), secrets)}")


def shown(text: str, secrets: Collection[str | None] = ()) -> str:
    """A foreign text fit for a message: one line, not long, without keys."""
    return redact(" ".join(text.split()), secrets)[:SAID]


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
