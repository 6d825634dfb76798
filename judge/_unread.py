"""Errors that come up while a reply is read: the service has answered, but not with a reply.

The client packages raise plain Python errors then. Python's own reader of JSON refuses a number
of 5000 digits and brackets 100,000 deep; LangChain trips over a choice without a message. The
same errors from anywhere else are mistakes, and must not be taken for a service that is busy.
"""

from __future__ import annotations

import traceback
from collections.abc import Collection, Mapping
from types import SimpleNamespace
from typing import Any

from ._completions import BEGINNING
from .errors import JudgeError, JudgeUnavailableError
from .foreign_errors import kept_cause, ours_for, shown, told_in, translate

READERS = {
    ("json.decoder", "decode"),
    ("openai._response", "parse"),
    ("openai._legacy_response", "parse"),
    ("langchain_openai.chat_models.base", "_create_chat_result"),
    ("langchain_openai.chat_models.base", "_combine_llm_outputs"),
    ("langchain_openai.chat_models.base", "_construct_lc_result_from_responses_api"),
}
"""Functions that read a reply once it is there: module and name. One that is renamed makes an
unreadable reply a plain error again; tests over the real packages show that."""

KINDS = (ValueError, TypeError, AttributeError, LookupError, RecursionError)
"""What they are."""


def is_unread(error: BaseException) -> bool:
    """Did the error come up while a reply was read?

    >>> import json
    >>> try:
    ...     json.loads("9" * 5000)
    ... except ValueError as error:
    ...     is_unread(error), is_unread(ValueError())
    (True, False)
    """
    frames = (frame for frame, _ in traceback.walk_tb(error.__traceback__))
    return any((f.f_globals.get("__name__"), f.f_code.co_name) in READERS for f in frames)


def tell(error: BaseException, endpoint: str, secrets: Collection[str | None] = ()) -> JudgeError:
    """Our error for a client package's, whether it came up before, in or after the reading."""
    return (_told_of if is_unread(error) else translate)(error, endpoint, secrets)


def _told_of(
    error: BaseException, endpoint: str, secrets: Collection[str | None] = ()
) -> JudgeError:
    """Our error for one that came up while a reply was read; its text is one line.

    It tells what the service said, where the reply holds an error of the service's.
    """
    if ours_for(error) is not None:
        return translate(error, endpoint, secrets)
    said = error.args[0] if error.args else None  # LangChain raises the service's as a mapping
    if not isinstance(said, Mapping):
        said = _error_in_body(error)
    told = told_in(SimpleNamespace(error=said), endpoint, secrets) or JudgeUnavailableError(
        f"{endpoint}: a reply that cannot be read ({shown(str(error), secrets)[:BEGINNING]})"
    )
    told.__cause__ = kept_cause(error, secrets)
    return told


def _error_in_body(error: BaseException) -> Any:
    """What the body that could not be read tells as its error; LangChain keeps the response."""
    response = getattr(error, "response", None)
    try:
        body = response.json() if response is not None else None
    except (ValueError, RecursionError):
        return None
    return body.get("error") if isinstance(body, Mapping) else None
