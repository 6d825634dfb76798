"""The values that pass through the seam: a frozen request in, a reply out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable

from ..prompts import Message, PromptRef


class ReplyState(StrEnum):
    """How a reply ended, whatever word the provider has for it."""

    COMPLETE = "complete"
    LENGTH = "length"
    FILTERED = "filtered"
    EMPTY = "empty"


@dataclass(frozen=True)
class Usage:
    """Tokens of one call as the service counted them; None where it did not say."""

    input: int | None = None
    output: int | None = None


@dataclass(frozen=True)
class Token:
    """One token of a reply.

    Attributes:
        logprob: natural logarithm of its probability.
        others: the likeliest tokens at this place with theirs, this one mostly among them.
    """

    text: str
    logprob: float
    others: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Request:
    """One question to one model, complete before anything is sent.

    ``sampling`` holds the parameters that can alter a reply (temperature, seed, …). What
    cannot (timeouts, retries, concurrency) is not part of a request. ``repetition`` tells
    apart repeated questions with the same words (votes).
    """

    model: str
    messages: tuple[Message, ...]
    schema: Mapping[str, Any] | None = None
    sampling: Mapping[str, Any] = field(default_factory=dict)
    prompt: PromptRef | None = None
    repetition: int = 0

    def canonical(self) -> dict[str, Any]:
        """The request as plain JSON data, the same for equal requests."""
        return {
            "model": self.model,
            "messages": [message._asdict() for message in self.messages],
            "schema": self.schema,
            "sampling": dict(self.sampling),
            "prompt": asdict(self.prompt) if self.prompt else None,
            "repetition": self.repetition,
        }

    def key(self) -> str:
        """SHA-256 of the canonical request, 64 hexadecimal digits.

        The order of a schema's properties counts: servers write replies in that order.
        """
        data = self.canonical()
        data["schema"] = json.dumps(self.schema, ensure_ascii=False)
        text = json.dumps(data, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Reply:
    """What came back.

    Attributes:
        text: the content as it came, never repaired.
        state: how it ended.
        finish: the provider's own word for that.
        usage: tokens as the service counted them.
        model: the name the service gave itself, where it did.
        rung: how the form was asked for: ``json_schema``, ``json_object`` or ``text``.
        dropped: parameters the service refused and the transport left out.
        tokens: the tokens of the text, where they were asked for (``logprobs``) and given.
    """

    text: str
    state: ReplyState = ReplyState.COMPLETE
    finish: str | None = None
    usage: Usage = Usage()
    model: str | None = None
    rung: str = "text"
    dropped: tuple[str, ...] = ()
    tokens: tuple[Token, ...] = ()

    def usage_now(self, tries: int) -> Usage:
        """The tokens it took now: none when it was in the cache (no try)."""
        return self.usage if tries else Usage(0, 0)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON data; without ``tokens`` where there are none."""
        data = asdict(self)
        if not self.tokens:
            del data["tokens"]
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Reply:
        """A reply from that data.

        Raises:
            KeyError, TypeError, ValueError: it is not that.
        """
        tokens = (
            Token(each["text"], each["logprob"], tuple((t, p) for t, p in each["others"]))
            for each in data.get("tokens", ())
        )
        return cls(
            **{
                **data,
                "state": ReplyState(data["state"]),
                "usage": Usage(**data["usage"]),
                "dropped": tuple(data["dropped"]),
                "tokens": tuple(tokens),
            }
        )


@runtime_checkable
class Transport(Protocol):
    """The one seam between this package and any model.

    A transport may offer more: ``account``, a number that tells the accounts of one address
    apart; ``check()``, which raises ``SetupError`` when no call could be made; ``aclose()``, a
    coroutine that closes what was opened on the running event loop.
    """

    endpoint: str
    """Where requests go, for the record: a base URL or a short name. No key in it."""

    async def send(self, request: Request) -> Reply:
        """Send one request once.

        Raises:
            JudgeError: the service did not answer; its class says whether to try again.
            RecordingError: replay has no answer.
        """
        ...


def check_transport(transport: Transport) -> None:
    """Let a transport tell whether its first call could only fail, where it can tell.

    Raises:
        SetupError: it could.
    """
    function = getattr(transport, "check", None)
    if function is not None:
        function()


async def close_transport(transport: Transport) -> None:
    """Close what a transport has opened on the running event loop, where it can."""
    function = getattr(transport, "aclose", None)
    if function is not None:
        await function()


def total(counts: Iterable[int | None]) -> int | None:
    """A sum of counts; None as soon as one of them is not known.

    >>> total([3, 4]), total([3, None]), total([])
    (7, None, 0)
    """
    known = list(counts)
    return None if None in known else sum(count for count in known if count is not None)
