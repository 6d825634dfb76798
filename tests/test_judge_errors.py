"""The error tree: documented, one root, and fit to travel between processes."""

from __future__ import annotations

import copy
import inspect
from typing import Any

import httpx
import instructor.core.exceptions
import langchain_core.exceptions
import openai
import pytest

from ragas_judge.judge import errors
from ragas_judge.judge.foreign_errors import (
    NOT_OF_THE_SERVICE,
    TABLE,
    named,
    retry_after,
    translate,
)
from ragas_judge.prompts import errors as prompt_errors

CLASSES = [cls for name in errors.__all__ if inspect.isclass(cls := getattr(errors, name))]
SAMPLES = [
    errors.InputError("row 3, column 'response': not a text"),
    errors.JudgeRateLimitError("slow down", status=429, retry_after=2.0),
    errors.UnsupportedParameterError("no seed", parameter="seed", status=400),
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


def classes_of(*modules: Any) -> set[type[BaseException]]:
    """All classes of errors that a package defines in these modules."""
    package = modules[0].__name__.split(".")[0]
    return {
        cls
        for module in modules
        for _, cls in inspect.getmembers(module, inspect.isclass)
        if issubclass(cls, BaseException) and cls.__module__.split(".")[0] == package
    }


KNOWN_PACKAGES = {
    "openai": (openai, openai._exceptions),
    "httpx": (httpx,),
    "langchain_core": (langchain_core.exceptions,),
    "instructor": (instructor.core.exceptions,),
}


@pytest.mark.parametrize("package", KNOWN_PACKAGES)
def test_every_error_of_a_package_is_in_the_table_or_told_to_be_none_of_ours(package: str) -> None:
    found = classes_of(*KNOWN_PACKAGES[package])
    assert len(found) >= 10
    lost = [
        cls.__name__
        for cls in found
        if not {named(each) for each in cls.__mro__} & {*TABLE, *NOT_OF_THE_SERVICE}
    ]
    assert lost == []


@pytest.mark.parametrize("name", [*TABLE, *sorted(NOT_OF_THE_SERVICE)])
def test_no_name_in_the_table_is_out_of_date(name: str) -> None:
    package, _, cls = name.partition(".")
    if package in KNOWN_PACKAGES:
        assert cls in {each.__name__ for each in classes_of(*KNOWN_PACKAGES[package])}


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


def test_a_timeout_that_never_connected_is_nobody_there() -> None:
    error = openai.APITimeoutError(httpx.Request("POST", "http://x"))
    error.__cause__ = httpx.ConnectTimeout("no route")
    assert type(translate(error, "http://x/v1")) is errors.JudgeUnreachableError


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
    ],
)
def test_quota_is_told_from_rate(error: openai.APIStatusError) -> None:
    assert type(translate(error, "x")) is errors.JudgeQuotaError


@pytest.mark.parametrize(
    ("endpoint", "hint"),
    [
        ("http://judge.test", "does the address end in /v1?"),
        ("http://judge.test/v1", "is the model's name right?"),
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
        ({"retry-after": "nan"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after-ms": "soon", "retry-after": "2"}, 2.0),
        ({}, None),
    ],
)
def test_the_wait_asked_for_in_its_forms(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds
