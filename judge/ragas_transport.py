"""Transports over ragas' own model classes, for all that cannot be unwrapped to a client.

Both call the method below ragas' retries (``agenerate_text``, ``agenerate``), so that a request
is tried by one policy only: ours.
"""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from ._completions import reply_state, usage_of
from ._openai_params import Learnt
from ._secrets import keys_of, redact
from .errors import SetupError
from .foreign_errors import service_errors, status_of, translate
from .langchain_transport import prompt_value, result_reply
from .threads import in_thread
from .types import Reply, ReplyState, Request

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..prompts import Message

PLAIN_SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}}
"""For a request without a schema: these models answer in objects only."""

TYPES: Mapping[str, Any] = {"string": str, "boolean": bool, "integer": int, "number": float}


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
            told = translate(error, self.endpoint, keys_of(self._llm))
            raise told from told.__cause__
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
        self._learnt = Learnt()
        provider = getattr(llm, "provider", "")
        self.endpoint = f"ragas {type(llm).__name__} {provider}".strip()

    async def send(self, request: Request) -> Reply:
        """Send one request once; a refused parameter is left out and the request sent anew."""
        from instructor.core.exceptions import IncompleteOutputException
        from pydantic import ValidationError

        model = reply_model(json.dumps(request.schema or PLAIN_SCHEMA))
        rung = "json_schema" if request.schema else "text"
        while True:
            params, dropped = self._params(request), self._dropped(request)
            try:
                value = await self._generate(request, params, model)
            except IncompleteOutputException as error:
                reply = raw_reply(error.last_completion, rung, dropped)
                return replace(reply, state=ReplyState.LENGTH)
            except ValidationError:
                return Reply("", ReplyState.EMPTY, rung=rung, dropped=dropped)
            except _failures() as error:
                completion = _unparsed(error)
                if completion is not None:
                    return raw_reply(completion, rung, dropped)
                if not self._goes_on(error, request, params):
                    told = self._told(error)
                    raise told from told.__cause__
            else:
                reply = raw_reply(getattr(value, "_raw_response", None), rung, dropped)
                text = value.model_dump_json(by_alias=True)
                if request.schema is None:
                    text = json.loads(text)["text"]
                return replace(reply, text=text, state=reply_state(reply.finish, text))

    def _params(self, request: Request) -> dict[str, Any]:
        return self._learnt.apply(request.sampling, None) if self._adjustable else {}

    def _dropped(self, request: Request) -> tuple[str, ...]:
        if self._adjustable:
            return self._learnt.dropped(request.sampling)
        return tuple(sorted(request.sampling))

    async def _generate(self, request: Request, params: Mapping[str, Any], model: Any) -> Any:
        llm, messages = self._llm, request.messages
        if self._adjustable:
            llm = copy.copy(llm)
            for method in ("generate", "agenerate"):
                vars(llm).pop(method, None)  # ragas' cache around the original's bound method
            llm.model_args = {**self._hidden, **params}
            llm.system_prompt = None
            if messages and messages[0].role == "system":
                llm.system_prompt, messages = messages[0].content, messages[1:]
        if getattr(llm, "is_async", True):
            return await llm.agenerate(flat(messages), model)
        return await in_thread(llm.generate, flat(messages), model)

    def _goes_on(self, error: BaseException, request: Request, sent: Mapping[str, Any]) -> bool:
        """Was a parameter refused, by the service or its client's signature, and is it known?"""
        cause = _cause(error)
        if not isinstance(cause, TypeError) and status_of(cause) not in (400, 422):
            return False
        said = redact(str(cause), keys_of(self._llm))
        param = getattr(cause, "param", None)
        return self._learnt.goes_on(said, param, sent, lambda: self._params(request))

    def _told(self, error: BaseException) -> BaseException:
        cause = _cause(error)
        known = isinstance(cause, service_errors()) or status_of(cause) is not None
        return translate(cause, self.endpoint, keys_of(self._llm)) if known else error


def _failures() -> tuple[type[Exception], ...]:
    from instructor.core.exceptions import InstructorRetryException

    return (InstructorRetryException, TypeError, *service_errors())


def _unparsed(error: BaseException) -> Any:
    """The response that Instructor could not validate: our own reader tries it next."""
    attempts = getattr(error, "failed_attempts", None)
    return attempts[-1].completion if attempts else getattr(error, "last_completion", None)


def _cause(error: BaseException) -> BaseException:
    """What lies below Instructor's wrapping: the client's own error."""
    from instructor.core.exceptions import InstructorRetryException
    from tenacity import RetryError

    while isinstance(error, InstructorRetryException | RetryError) and error.__cause__:
        error = error.__cause__
    return error


def flat(messages: Sequence[Message]) -> str:
    """Several messages as one prompt: each but a single one under the name of its role.

    >>> from ragas_judge.prompts import Message
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


def raw_reply(completion: Any, rung: str, dropped: tuple[str, ...]) -> Reply:
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
        state=reply_state(finish, text),
        finish=finish,
        usage=usage_of(usage),
        model=name if isinstance(name, str) else None,
        rung=rung,
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
def reply_model(schema: str, name: str = "Reply") -> type[Any]:
    """A pydantic model for a JSON schema of the simple kind that our prompts use.

    Args:
        schema: JSON text of an object schema; all its properties are required. Equal texts
            give the same class, so that a schema with many equal items stays short.
        name: the class's name; Instructor shows it to the model.

    Raises:
        SetupError: the schema uses something else.
    """
    from pydantic import Field, create_model

    data = json.loads(schema)
    # Ids such as "1" are not names in Python: they are aliases of made-up ones.
    fields: dict[str, Any] = {
        f"field_{number}": (_type_of(inner), Field(alias=key))
        for number, (key, inner) in enumerate(data["properties"].items(), 1)
    }
    model: type[Any] = create_model(name, **fields)
    return model


def _type_of(schema: Mapping[str, Any]) -> Any:
    if "enum" in schema:
        return Literal[tuple(schema["enum"])]
    kind = schema.get("type")
    if kind == "object":
        return reply_model(json.dumps(schema), "Item")
    if kind == "array":
        return list[_type_of(schema["items"])]  # type: ignore[misc]
    if not isinstance(kind, str) or kind not in TYPES:
        raise SetupError(f"a reply's schema may not use type {kind!r} with this model")
    return TYPES[kind]
