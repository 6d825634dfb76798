"""The error tree: documented, one root, and fit to travel between processes."""

from __future__ import annotations

import copy
import email.utils
import functools
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import httpx
import langchain_core.exceptions
import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragas_judge.judge import errors, foreign_errors
from ragas_judge.judge._foreign_table import NOT_OF_THE_SERVICE, TABLE
from ragas_judge.judge.foreign_errors import (
    named,
    ours_for,
    retry_after,
    told_in,
    translate,
)
from ragas_judge.prompts import errors as prompt_errors

CLASSES = [cls for name in errors.__all__ if inspect.isclass(cls := getattr(errors, name))]
SAMPLES = [
    errors.InputError("row 3, column 'response': not a text"),
    errors.JudgeRateLimitError("slow down", status=429, retry_after=2.0),
    errors.UnreadableReplyError("no JSON", raw="sorry"),
    errors.IncompleteVerdictsError(["2", "5"], 5, raw="{}"),
    prompt_errors.MissingVariableError("p", ["items"], "missing"),
]


@pytest.mark.parametrize("cls", CLASSES)
def test_every_error_has_the_root_the_suffix_and_a_place_in_the_drawn_tree(cls: type) -> None:
    assert issubclass(cls, errors.EvaluatorError)
    assert cls.__name__.endswith("Error")
    assert errors.__doc__ is not None
    assert cls.__name__ in errors.__doc__


@pytest.mark.parametrize("error", SAMPLES)
def test_errors_survive_copying_as_between_processes(error: errors.EvaluatorError) -> None:
    twin = copy.copy(error)  # by __reduce__, as a worker hands an error back
    assert type(twin) is type(error)
    assert str(twin) == str(error)
    assert twin.__dict__ == error.__dict__


def status_errors() -> list[type[openai.APIStatusError]]:
    return [
        cls
        for cls in list(vars(openai).values())
        if inspect.isclass(cls) and issubclass(cls, openai.APIStatusError)
    ]


@pytest.mark.parametrize("cls", status_errors())
def test_every_status_error_of_openai_is_translated(cls: type[openai.APIStatusError]) -> None:
    request = httpx.Request("POST", "http://judge.test/v1/chat/completions")
    response = httpx.Response(getattr(cls, "status_code", 418), request=request)
    raised = cls.__new__(cls)  # some have a constructor of their own
    openai.APIStatusError.__init__(raised, "no", response=response, body=None)
    error = translate(raised, "http://judge.test/v1")
    assert isinstance(error, errors.JudgeError)
    assert "http://judge.test/v1: HTTP" in str(error)
    assert error.status == response.status_code


PACKAGES = {"openai": openai, "httpx": httpx}
MODULES = ("langchain_core.exceptions", "instructor.core.exceptions")
LARGE = re.compile(r"\.(types|resources|cli|_main|__main__)\b")
"""Modules that define no error of a client's: of thousands of types, or of a command line."""


@functools.cache
def classes_of(home: str) -> frozenset[type[BaseException]]:
    """All classes of errors that a package defines, or offers in a module of errors."""
    package = home.split(".")[0]
    if home not in PACKAGES:
        found = inspect.getmembers(importlib.import_module(home), inspect.isclass)
        classes = {cls for _, cls in found if issubclass(cls, BaseException)}
    else:
        for module in pkgutil.walk_packages(PACKAGES[home].__path__, f"{home}."):
            if not LARGE.search(module.name):
                importlib.import_module(module.name)
        classes = set(descendants(BaseException))
    return frozenset(cls for cls in classes if cls.__module__.split(".")[0] == package)


def descendants(cls: type[BaseException]) -> Iterator[type[BaseException]]:
    for each in type.__subclasses__(cls):
        yield each
        yield from descendants(each)


def lost(home: str) -> list[str]:
    """Those that the table does not lead to, and that are not told to be none of ours."""
    found = (cls for cls in classes_of(home) if ours_for(cls.__new__(cls)) is None)
    return [name for name in map(named, found) if name not in foreign_errors.NOT_OF_THE_SERVICE]


@pytest.mark.parametrize("home", [*PACKAGES, *MODULES])
def test_every_foreign_error_is_in_the_table_or_told_to_be_none_of_ours(home: str) -> None:
    assert len(classes_of(home)) >= 10
    assert lost(home) == []


@pytest.mark.parametrize(
    ("home", "name"),
    [
        ("openai", "openai.WebSocketQueueFullError"),  # its base is told to be none of ours
        ("httpx", "httpx.StreamClosed"),
        ("langchain_core.exceptions", "langchain_core.TracerException"),
        ("instructor.core.exceptions", "instructor.ModeError"),
    ],
)
def test_an_error_that_nobody_has_thought_of_is_found(
    home: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(foreign_errors, "NOT_OF_THE_SERVICE", NOT_OF_THE_SERVICE - {name})
    assert lost(home) == [name]


@pytest.mark.parametrize("name", [*TABLE, *sorted(NOT_OF_THE_SERVICE)])
def test_no_name_in_the_table_is_out_of_date(name: str) -> None:
    for home in (*PACKAGES, *MODULES):
        if home.split(".")[0] == name.split(".")[0]:
            assert name in {named(cls) for cls in classes_of(home)}


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (openai.APITimeoutError(httpx.Request("POST", "http://x")), errors.JudgeTimeoutError),
        (httpx.ReadTimeout("slow"), errors.JudgeTimeoutError),
        (httpx.ConnectTimeout("nobody"), errors.JudgeUnreachableError),
        (httpx.ConnectError("refused"), errors.JudgeUnreachableError),
        (httpx.ReadError("reset"), errors.JudgeUnreachableError),
        (httpx.DecodingError("garbled"), errors.JudgeUnavailableError),
        (ConnectionResetError("reset"), errors.JudgeUnreachableError),
        (TimeoutError("slow"), errors.JudgeTimeoutError),
        (langchain_core.exceptions.ModelRateLimitError("busy"), errors.JudgeRateLimitError),
        (langchain_core.exceptions.ModelAPIError("down"), errors.JudgeUnavailableError),
        (langchain_core.exceptions.ContextOverflowError("long"), errors.JudgeRequestError),
    ],
)
def test_errors_without_a_status_are_told_by_class(
    raised: Exception, expected: type[errors.JudgeError]
) -> None:
    error = translate(raised, "http://judge.test/v1")
    assert type(error) is expected
    assert str(error).startswith("http://judge.test/v1: ")
    assert error.__cause__ is raised


@pytest.mark.parametrize(
    ("cause", "expected"),
    [
        (httpx.ConnectTimeout("no route"), errors.JudgeUnreachableError),
        (httpx.PoolTimeout("all in use"), errors.JudgeTimeoutError),
        (httpx.ReadTimeout("slow"), errors.JudgeTimeoutError),
        (httpx.UnsupportedProtocol("no http://"), errors.JudgeRequestError),
        (httpx.TooManyRedirects("in circles"), errors.JudgeRequestError),
        (RuntimeError("of no package"), errors.JudgeUnreachableError),
    ],
)
def test_the_error_below_says_more_than_no_connection(
    cause: Exception, expected: type[errors.JudgeError]
) -> None:
    slow = isinstance(cause, httpx.TimeoutException)
    cls = openai.APITimeoutError if slow else openai.APIConnectionError
    error = cls(request=httpx.Request("POST", "http://x"))
    error.__cause__ = cause
    told = translate(error, "http://x/v1")
    assert type(told) is expected
    assert str(told).endswith(f"({cause})")


def status_error(
    status: int, said: str = "no", headers: Any = None, body: Any = None
) -> openai.APIStatusError:
    request = httpx.Request("POST", "http://judge.test/v1")
    response = httpx.Response(status, request=request, headers=headers)
    return openai.APIStatusError(said, response=response, body=body)


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (400, errors.JudgeRequestError),
        (401, errors.JudgeAuthError),
        (402, errors.JudgeQuotaError),
        (403, errors.JudgeAuthError),
        (408, errors.JudgeUnavailableError),
        (409, errors.JudgeUnavailableError),
        (413, errors.JudgeRequestError),
        (429, errors.JudgeRateLimitError),
        (503, errors.JudgeUnavailableError),
        (529, errors.JudgeUnavailableError),
    ],
)
def test_a_status_goes_before_the_class(status: int, expected: type[errors.JudgeError]) -> None:
    error = translate(status_error(status, headers={"retry-after": "3"}), "x")
    assert type(error) is expected
    assert (error.status, error.retry_after) == (status, 3.0)


@pytest.mark.parametrize(
    "error",
    [
        status_error(429, body={"code": "insufficient_quota"}),
        status_error(429, body={"type": "insufficient_quota"}),
        status_error(429, "Error code: 429 - {'error': {'code': 'billing_hard_limit_reached'}}"),
        status_error(402),
        status_error(400, "Your credit balance is too low to access the API."),
        langchain_core.exceptions.ModelRateLimitError("insufficient_quota: see your plan"),
    ],
)
def test_quota_is_told_from_rate(error: Exception) -> None:
    assert type(translate(error, "x")) is errors.JudgeQuotaError


@pytest.mark.parametrize(
    ("endpoint", "hint"),
    [
        ("http://judge.test", "does the address end in /v1?"),
        ("http://judge.test/v1", "is the model's name right?"),
        ("http://judge.test/v1/", "is the model's name right?"),
        ("http://azure.test/openai", "is the model's name right?"),
        ("http://azure.test/openai/deployments/judge", "is the model's name right?"),
    ],
)
def test_what_is_not_found_comes_with_a_hint(endpoint: str, hint: str) -> None:
    assert str(translate(status_error(404), endpoint)).endswith(f"({hint})")


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:01:00 -0000"}, 0.0),
        ({"retry-after": "Mon, 01 Jan 0001 00:00:00 -0000"}, 0.0),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after-ms": "soon", "retry-after": "2"}, 2.0),
        ({}, None),
    ],
)
def test_the_wait_asked_for_in_its_forms(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


def test_a_date_without_a_zone_is_utc() -> None:
    assert retry_after({"retry-after": "Thu, 01 Jan 1970 00:01:00 -0000"}, now=20.0) == 40.0


@given(st.text() | st.floats().map(str) | st.datetimes().map(email.utils.format_datetime))
def test_whatever_the_header_says_the_wait_is_a_number_or_none(value: str) -> None:
    for name in ("retry-after", "retry-after-ms"):
        seconds = retry_after({name: value})
        assert seconds is None or 0 <= seconds < float("inf")


@pytest.mark.parametrize(
    ("error", "expected", "status"),
    [
        ({"message": "model is loading"}, errors.JudgeUnavailableError, None),
        ({"message": "slow down", "code": 429}, errors.JudgeRateLimitError, 429),
        ({"message": "too long", "code": 400}, errors.JudgeRequestError, 400),
        ({"message": "too long", "code": 413}, errors.JudgeRequestError, 413),
        ({"message": "too busy", "code": 503}, errors.JudgeUnavailableError, 503),
        ({"message": "too busy", "code": 529}, errors.JudgeUnavailableError, 529),
        ({"message": "no", "code": 200}, errors.JudgeUnavailableError, None),
        ({"message": "no", "code": "insufficient_quota"}, errors.JudgeQuotaError, None),
        ({"message": "insufficient_quota", "code": 429}, errors.JudgeQuotaError, 429),
        ({"message": "slow down", "code": "429"}, errors.JudgeRateLimitError, 429),
        ({"message": "no", "code": "rate_limit_exceeded"}, errors.JudgeRateLimitError, None),
        (
            {"message": "no", "code": None, "type": "RATE_LIMIT_ERROR"},
            errors.JudgeRateLimitError,
            None,
        ),
        (
            {"message": "no", "code": "invalid_api_key", "type": "invalid_request_error"},
            errors.JudgeAuthError,
            None,
        ),
        ({"message": "no", "code": ["429"], "type": 7}, errors.JudgeUnavailableError, None),
        ({"message": "no", "code": "4290"}, errors.JudgeUnavailableError, None),
        ("a word", errors.JudgeUnavailableError, None),
        ("rate_limit_exceeded", errors.JudgeRateLimitError, None),
        ("insufficient_quota", errors.JudgeQuotaError, None),
    ],
)
def test_an_error_inside_a_reply_of_status_200(
    error: Any, expected: type[errors.JudgeError], status: int | None
) -> None:
    told = told_in(SimpleNamespace(error=error), "x")
    assert type(told) is expected
    assert told.status == status
    assert str(told) == f"x: {error['message'] if isinstance(error, dict) else error}"


def test_a_reply_without_an_error_is_none() -> None:
    assert told_in(SimpleNamespace(error=None), "x") is None
    assert told_in([], "x") is None


def test_a_foreign_message_is_one_line_and_not_long() -> None:
    told = str(translate(status_error(500, "a\n b\t" + "c" * 999), "x"))
    assert told == f"x: HTTP 500: a b {'c' * 296}"


@pytest.mark.parametrize(
    ("page", "seen"),
    [
        ("<!DOCTYPE html>\n<html><head><title>\n Busy &lt;1&gt;\n</title></head>...", "Busy <1>"),
        ("\n<HTML><body>" + "x" * 999, "<HTML><body>" + "x" * 88),
        ("<html><title></title>" + "x" * 999, "<html><title></title>" + "x" * 79),
    ],
)
def test_of_a_page_the_title_is_shown_or_its_beginning(page: str, seen: str) -> None:
    assert str(translate(status_error(503, page), "x")) == f"x: HTTP 503: {seen}"


def test_a_key_in_a_title_is_not_shown() -> None:
    page = "<html><title>no a&amp;planted&amp;key</title></html>"
    assert foreign_errors.shown(page, ["a&planted&key"]) == "no ***"


def test_the_original_is_kept_as_the_cause_unless_it_shows_a_key() -> None:
    clean = status_error(500, "no")
    assert translate(clean, "x", ["a-planted-key"]).__cause__ is clean
    below = status_error(500, "no")
    below.__cause__ = ValueError("header a-planted-key")
    assert translate(below, "x", ["a-planted-key"]).__cause__ is None
