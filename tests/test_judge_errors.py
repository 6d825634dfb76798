"""The error tree: documented, one root, and fit to travel between processes."""

from __future__ import annotations

import copy
import inspect

import httpx
import openai
import pytest

from ragas_judge.judge import errors
from ragas_judge.judge._openai_errors import TABLE, translate
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


def test_every_base_error_of_openai_is_in_the_table() -> None:
    for name, cls in list(vars(openai).items()):
        if inspect.isclass(cls) and issubclass(cls, openai.APIError):
            assert any(issubclass(cls, known) for known in TABLE), name


def test_a_table_row_stands_before_its_bases() -> None:
    rows = list(TABLE)
    for position, cls in enumerate(rows):
        assert not any(issubclass(cls, earlier) for earlier in rows[:position]), cls


def test_quota_is_told_from_rate() -> None:
    request = httpx.Request("POST", "http://judge.test/v1")
    response = httpx.Response(429, request=request, headers={"retry-after": "3"})
    body = {"code": "insufficient_quota"}
    quota = openai.RateLimitError("no money", response=response, body=body)
    assert isinstance(translate(quota, "x"), errors.JudgeQuotaError)
    rate = translate(openai.RateLimitError("slow", response=response, body=None), "x")
    assert isinstance(rate, errors.JudgeRateLimitError)
    assert rate.retry_after == 3.0
