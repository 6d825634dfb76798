"""A system prompt that a user gave to ragas, put before our own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..prompts import Message
from .types import Reply, Request, Transport, check_transport, close_transport

SYSTEM_PROMPT = "system_prompt"
"""Sampling parameter under which a user's own system prompt travels: it alters replies, so it
must be part of the request and of its key."""


class SystemPromptTransport:
    """Puts the system prompt that a user gave to ragas before our own, in one system message.

    Theirs comes first: our rules about form and untrusted text have the last word, and many
    servers take a single system message only.
    """

    def __init__(self, inner: Transport) -> None:
        """Send through ``inner``."""
        self.inner, self.endpoint = inner, inner.endpoint

    @property
    def account(self) -> int | None:
        """Tells the account behind it from others in this process; None: not known."""
        return getattr(self.inner, "account", None)

    def check(self) -> None:
        """Raise ``SetupError`` now if the first call could only fail."""
        check_transport(self.inner)

    async def aclose(self) -> None:
        """Close the connections opened on the running event loop."""
        await close_transport(self.inner)

    async def send(self, request: Request) -> Reply:
        """Send the request with its ``system_prompt`` moved into the messages."""
        sampling = dict(request.sampling)
        words = sampling.pop(SYSTEM_PROMPT, None)
        if words:
            messages = with_system(words, request.messages)
            request = replace(request, messages=messages, sampling=sampling)
        return await self.inner.send(request)


def with_system(words: str, messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages with ``words`` at the start of the system message.

    >>> with_system("Be brief.", [Message("user", "Hello")])[0]
    Message(role='system', content='Be brief.')
    """
    if messages and messages[0].role == "system":
        return (Message("system", f"{words}\n\n{messages[0].content}"), *messages[1:])
    return (Message("system", words), *messages)
