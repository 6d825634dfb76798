"""A scripted judge for metric tests: answers each prompt in its form, faults on request."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from ragas_judge.judge import Judge, Request, RetryPolicy, ScriptedTransport


def ids_of(request: Request) -> list[str]:
    assert request.schema is not None
    return list(request.schema["properties"])


def items_of(request: Request) -> dict[str, str]:
    """The numbered texts of the last data block of the question."""
    blocks = re.findall(r"<data-\w+>\n(.*?)\n</data-", request.messages[-1].content, re.DOTALL)
    return dict(re.findall(r"^\[(\d+)\] (.*)$", blocks[-1], re.MULTILINE))


def answer_well(request: Request) -> dict[str, Any]:
    """One claim a sentence; whatever is asked is supported, useful and committed."""
    prompt = request.prompt.id if request.prompt else ""
    items = items_of(request)
    first = re.search(r"^\[1\] (.*)$", request.messages[-1].content, re.MULTILINE)
    quote = first[1] if first else ""
    answers: Mapping[str, Callable[[str], Any]] = {
        "claim_extraction": lambda item_id: [items[item_id]],
        "claim_verification": lambda _: {"verdict": "supported", "context": 1, "quote": quote},
        "context_usefulness": lambda item_id: {"useful": True, "quote": items[item_id]},
        "reverse_question": lambda _: {"noncommittal": False, "question": "What is the question?"},
    }
    return {item_id: answers[prompt](item_id) for item_id in ids_of(request)}


def only(prompt: str, answer: Callable[[Request], Any]) -> Callable[[Request], Any]:
    """Answer one prompt with ``answer`` and the others well."""

    def either(request: Request) -> Any:
        asked = request.prompt.id if request.prompt else ""
        return answer(request) if asked == prompt else answer_well(request)

    return either


async def no_sleep(_: float) -> None:
    """Waiting is not tested here."""


def embed(texts: list[str]) -> list[list[float]]:
    """Every text points the same way."""
    return [[1.0, 0.0] for _ in texts]


def make_judge(answer: Callable[[Request], Any] = answer_well, **settings: Any) -> Judge:
    """A judge that answers from a function; its transport is ``judge._live``."""
    settings = {"embeddings": embed, "retry": RetryPolicy(sleep=no_sleep), **settings}
    return Judge("scripted", transport=ScriptedTransport(answer), **settings)


def requests_of(judge: Judge) -> list[Request]:
    transport = judge._live
    assert isinstance(transport, ScriptedTransport)
    return transport.requests
