"""Transports over ragas' own model classes, for all that cannot be unwrapped to a client.

Both call the method below ragas' retries (``agenerate_text``, ``agenerate``), so that a request
is tried by one policy only: ours.
"""

from __future__ import annotations

import asyncio
import copy
import json
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from ..prompts import Message
from .errors import SetupError
from .langchain_transport import (
    prompt_value,
    result_reply,
    service_errors,
    status_of,
    tell,
    usage_of,
)
from .openai_transport import reply_state
from .types import Reply, ReplyState, Request, Transport

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SYSTEM_PROMPT = "system_prompt"
"""Sampling parameter under which a user's own system prompt travels: it alters replies, so it
must be part of the request and of its key."""

PLAIN_SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}}
"""For a request without a schema: these models answer in objects only."""

TYPES: Mapping[str, Any] = {"string": str, "boolean": bool, "integer": int, "number": float}


class SystemPromptTransport:
    """Puts the system prompt that a user gave to ragas before our own, in one system message.

    Theirs comes first: our rules about form and untrusted text have the last word, and many
    servers take a single system message only.
    """

    def __init__(self, inner: Transport) -> None:
        """Send through ``inner``."""
        self.inner, self.endpoint = inner, inner.endpoint

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


class RagasTransport:
    """Any ``BaseRagasLLM`` that is not a LangChain wrapper: LlamaIndex, Haystack, a user's own.

    Of the sampling parameters only the temperature can be handed over; others are reported as
    dropped. The reply is asked for in words alone.
    """

    def __init__(self, llm: Any) -> None:
        """Keep the object; it is only called, never written to."""
        self._llm = llm
        self.endpoint = f"ragas {type(llm).__name__}"

    async def send(self, request: Request) -> Reply:
        """Send one request once, as n=1."""
        generate = self._llm.agenerate_text
        if request.repetition and self._llm.cache is not None:
            # Votes repeat a question on purpose; ragas' cache would answer from memory.
            cached = vars(self._llm).get("agenerate_text")
            generate = getattr(cached, "__wrapped__", generate)
        temperature = request.sampling.get("temperature")
        dropped = tuple(sorted(name for name in request.sampling if name != "temperature"))
        try:
            result = await generate(prompt_value(request.messages), n=1, temperature=temperature)
        except service_errors() as error:
            raise tell(error, self.endpoint) from error
        reply = result_reply(result, self.endpoint, dropped=dropped)
        if reply.finish is None and reply.text and not self._llm.is_finished(result):
            return replace(reply, state=ReplyState.LENGTH)
        return reply


class RagasStructuredTransport:
    """ragas' structured models over a client that is not OpenAI's: LiteLLM, Anthropic, Google.

    Args:
        llm: an ``InstructorBaseRagasLLM``. It is left as it is.
        adjustable: it is one of ragas' own two classes, so a shallow copy for each request
            can carry that request's parameters and system message. Otherwise everything goes
            into the prompt and no parameter can be handed over.
        hidden: arguments for the client that are not part of a request.
    """

    def __init__(
        self, llm: Any, *, adjustable: bool = False, hidden: Mapping[str, Any] | None = None
    ) -> None:
        """Keep the object."""
        self._llm, self._adjustable, self._hidden = llm, adjustable, dict(hidden or {})
        provider = getattr(llm, "provider", "")
        self.endpoint = f"ragas {type(llm).__name__} {provider}".strip()

    async def send(self, request: Request) -> Reply:
        """Send one request once."""
        from instructor.core.exceptions import IncompleteOutputException, InstructorRetryException
        from pydantic import ValidationError

        llm, prompt = self._prepare(request)
        model = reply_model(json.dumps(request.schema or PLAIN_SCHEMA))
        dropped = () if self._adjustable else tuple(sorted(request.sampling))
        try:
            if getattr(llm, "is_async", True):
                value = await llm.agenerate(prompt, model)
            else:
                value = await asyncio.to_thread(llm.generate, prompt, model)
        except IncompleteOutputException as error:
            return raw_reply(error.last_completion, ReplyState.LENGTH, dropped)
        except InstructorRetryException as error:
            return self._unparsed(error, dropped)
        except ValidationError:
            return Reply("", ReplyState.EMPTY, dropped=dropped)
        except service_errors() as error:
            raise tell(error, self.endpoint) from error
        reply = raw_reply(getattr(value, "_raw_response", None), None, dropped)
        text = value.model_dump_json(by_alias=True)
        if request.schema is None:
            text = json.loads(text)["text"]
        rung = "json_schema" if request.schema else "text"
        return replace(reply, text=text, state=reply_state(reply.finish, text), rung=rung)

    def _prepare(self, request: Request) -> tuple[Any, str]:
        """The model to call, with this request's parameters, and the prompt as one text."""
        messages = request.messages
        if not self._adjustable:
            return self._llm, flat(messages)
        llm = copy.copy(self._llm)
        for method in ("generate", "agenerate"):
            vars(llm).pop(method, None)  # ragas' cache around the original's bound method
        llm.model_args = {**self._hidden, **request.sampling}
        llm.system_prompt = None
        if messages and messages[0].role == "system":
            llm.system_prompt, messages = messages[0].content, messages[1:]
        return llm, flat(messages)

    def _unparsed(self, error: Any, dropped: tuple[str, ...]) -> Reply:
        """The reply that Instructor could not validate: our own reader tries it next.

        Raises:
            JudgeError: there is no reply because the service failed.
            InstructorRetryException: it failed of something else.
        """
        if error.failed_attempts:
            return raw_reply(error.failed_attempts[-1].completion, None, dropped)
        cause = error.__cause__
        if isinstance(cause, service_errors()) or isinstance(status_of(cause), int):
            raise tell(cause, self.endpoint) from error
        raise error


def flat(messages: Sequence[Message]) -> str:
    """Several messages as one prompt: each but a single one under the name of its role.

    >>> print(flat([Message("user", "2+2?"), Message("assistant", "4"), Message("user", "3+3?")]))
    User: 2+2?
    <BLANKLINE>
    Assistant: 4
    <BLANKLINE>
    User: 3+3?
    """
    if len(messages) == 1:
        return messages[0].content
    return "\n\n".join(f"{role.capitalize()}: {content}" for role, content in messages)


def raw_reply(completion: Any, state: ReplyState | None, dropped: tuple[str, ...]) -> Reply:
    """Read a provider's own response object, of OpenAI's, Anthropic's or Google's shape."""
    choice = next(iter(getattr(completion, "choices", None) or ()), None)
    candidate = next(iter(getattr(completion, "candidates", None) or ()), None)
    finish = (
        getattr(choice, "finish_reason", None)
        or getattr(completion, "stop_reason", None)
        or getattr(candidate, "finish_reason", None)
    )
    finish = getattr(finish, "name", finish)
    finish = str(finish) if finish is not None else None
    text = _raw_text(completion, choice)
    name = getattr(completion, "model", None) or getattr(completion, "model_version", None)
    usage = getattr(completion, "usage", None) or getattr(completion, "usage_metadata", None)
    return Reply(
        text=text,
        state=state or reply_state(finish, text),
        finish=finish,
        usage=usage_of(usage),
        model=name if isinstance(name, str) else None,
        dropped=dropped,
    )


def _raw_text(completion: Any, choice: Any) -> str:
    message = getattr(choice, "message", None)
    if message is not None:
        calls = getattr(message, "tool_calls", None) or ()
        arguments = [call.function.arguments for call in calls]
        return str(getattr(message, "content", None) or next(iter(arguments), ""))
    blocks = getattr(completion, "content", None)
    if isinstance(blocks, list):
        inputs = [block.input for block in blocks if getattr(block, "type", "") == "tool_use"]
        if inputs:
            return json.dumps(inputs[0], ensure_ascii=False)
        return "".join(getattr(block, "text", None) or "" for block in blocks)
    text = getattr(completion, "text", None)
    return text if isinstance(text, str) else ""


@lru_cache(maxsize=256)
def reply_model(schema: str) -> type[Any]:
    """A pydantic model for a JSON schema of the simple kind that our prompts use.

    Args:
        schema: JSON text of an object schema; all its properties are required. Equal texts
            give the same class, so that a schema with many equal items stays short.

    Raises:
        SetupError: the schema uses something else.
    """
    from pydantic import Field, create_model

    data = json.loads(schema)
    # Ids such as "1" are not names in Python: they are aliases of made-up ones.
    fields: dict[str, Any] = {
        f"field_{number}": (_type_of(inner), Field(alias=name))
        for number, (name, inner) in enumerate(data["properties"].items(), 1)
    }
    model: type[Any] = create_model("Reply", **fields)
    return model


def _type_of(schema: Mapping[str, Any]) -> Any:
    if "enum" in schema:
        return Literal[tuple(schema["enum"])]
    kind = schema.get("type")
    if kind == "object":
        return reply_model(json.dumps(schema))
    if kind == "array":
        return list[_type_of(schema["items"])]  # type: ignore[misc]
    if not isinstance(kind, str) or kind not in TYPES:
        raise SetupError(f"a reply's schema may not use type {kind!r} with this model")
    return TYPES[kind]
