"""Live transport: any OpenAI-compatible chat endpoint through the openai package.

The SDK's own retries are off (ours count), and every parameter travels with its request: no
attribute of a client handed in is ever written.
"""

from __future__ import annotations

import inspect
import json
from typing import TYPE_CHECKING, Any

from ._openai_clients import CallersClients, OwnClients, public_url
from ._openai_params import RUNGS, Learnt, learnt_for
from ._secrets import account_of, keys_of, redact
from .errors import JudgeError
from .foreign_errors import told_in, translate
from .retry import ATTEMPT_SECONDS
from .threads import in_thread
from .types import Reply, ReplyState, Request, Usage

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

FINISHES: Mapping[str, ReplyState] = {
    "stop": ReplyState.COMPLETE,
    "eos": ReplyState.COMPLETE,
    "eos_token": ReplyState.COMPLETE,
    "end_turn": ReplyState.COMPLETE,
    "stop_sequence": ReplyState.COMPLETE,
    "tool_calls": ReplyState.COMPLETE,
    "length": ReplyState.LENGTH,
    "max_tokens": ReplyState.LENGTH,
    "model_length": ReplyState.LENGTH,
    "content_filter": ReplyState.FILTERED,
    "safety": ReplyState.FILTERED,
    "refusal": ReplyState.FILTERED,
    "recitation": ReplyState.FILTERED,
}
"""Providers' words for how a reply ended, in lower case; an unknown word counts as complete
and the reader decides."""

STALE_LIMIT = 1000
"""Connections that one pool may hold: so many may be left over from event loops that ended."""


def reply_state(finish: str | None, text: str) -> ReplyState:
    """Map a finish reason and a text to one of the four states.

    >>> reply_state("MAX_TOKENS", "{}"), reply_state("stop", " ")
    (<ReplyState.LENGTH: 'length'>, <ReplyState.EMPTY: 'empty'>)
    """
    state = FINISHES.get((finish or "").lower(), ReplyState.COMPLETE)
    if state is ReplyState.COMPLETE and not text.strip():
        return ReplyState.EMPTY
    return state


class OpenAITransport:
    """Sends requests to ``/chat/completions``.

    Args:
        base_url: as the openai package reads it (``OPENAI_BASE_URL``) when None.
        api_key: as the openai package reads it (``OPENAI_API_KEY``) when None.
        client: a ready ``AsyncOpenAI``, ``OpenAI`` or Azure client to use instead. A
            synchronous one runs in a thread, so that it does not hold up the others.

    Its ``repr`` shows no key; a pickle of it holds the ``api_key`` that was given.
    """

    def __init__(
        self, *, base_url: str | None = None, api_key: str | None = None, client: Any = None
    ) -> None:
        """Nothing is connected yet."""
        self._clients = OwnClients(base_url=base_url, api_key=api_key)
        self._client = None if client is None else client.with_options(max_retries=0)
        asynchronous = hasattr(getattr(client, "_client", None), "aclose")
        self._per_loop = CallersClients(client) if asynchronous else None
        self._own: dict[str, Learnt] = {}
        given = client is not None
        self.endpoint = public_url(str(client.base_url)) if given else self._clients.endpoint

    def check(self) -> None:
        """Raise ``SetupError`` now when no client can be made (no key)."""
        if self._client is None:
            self._clients.new()

    async def send(self, request: Request) -> Reply:
        """Send one request once; a refused parameter is left out and the request sent anew."""
        import openai

        learnt = learnt_for(self.endpoint, request.model, self._own)

        def params() -> dict[str, Any]:
            return learnt.apply(request.sampling, request.schema)

        messages = [message._asdict() for message in request.messages]
        while True:
            rung, dropped = RUNGS[learnt.rung], learnt.dropped(request.sampling)
            sent = params()
            try:
                completion = await self._create(model=request.model, messages=messages, **sent)
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                said = redact(error.message, self._keys())
                if not learnt.goes_on(said, error.param, sent, params):
                    told = self._told(error)
                    raise told from told.__cause__
            except (openai.OpenAIError, json.JSONDecodeError, UnicodeDecodeError) as error:
                told = self._told(error)
                raise told from told.__cause__
            else:
                rung = rung if request.schema else "text"
                return completion_reply(completion, rung, dropped, self.endpoint, self._keys())

    def _told(self, error: Exception) -> JudgeError:
        return translate(error, self.endpoint, self._keys())

    def _keys(self) -> list[str]:
        return keys_of(self._client_here())

    @property
    def account(self) -> int:
        """Tells this key's account from others in this process."""
        return self._clients.account if self._client is None else account_of(self._client)

    def __repr__(self) -> str:
        """Name the endpoint; no key is shown."""
        return f"OpenAITransport({self.endpoint!r})"

    async def _create(self, **arguments: Any) -> Any:
        import openai

        client = self._client_here()
        create = client.chat.completions.create
        # What the SDK does not know (top_k of vLLM, say) goes into the body all the same.
        known = inspect.signature(create).parameters
        body = {name: arguments.pop(name) for name in list(arguments) if name not in known}
        if body:
            arguments["extra_body"] = {**arguments.get("extra_body", {}), **body}
        if not isinstance(client, openai.AsyncOpenAI):
            seconds = ATTEMPT_SECONDS.get()
            if seconds is not None:  # so that the thread ends, too
                arguments["timeout"] = max(seconds, 0.001)
            return await in_thread(create, **arguments)
        for _ in range(STALE_LIMIT):
            try:
                return await create(**arguments)
            except openai.APIConnectionError as error:
                if not from_ended_loop(error):
                    raise
        return await create(**arguments)

    def _client_here(self) -> Any:
        """The caller's client, or one of our own, for this event loop."""
        if self._per_loop is not None:
            return self._per_loop.here()
        return self._clients.here() if self._client is None else self._client

    async def aclose(self) -> None:
        """Close the connections opened on the running loop."""
        await (self._per_loop or self._clients).aclose()


def _joined(parts: Any) -> str:
    """The text of a content that came in parts."""
    return "".join(str(part.get("text", "")) for part in parts if isinstance(part, dict))


def completion_reply(
    completion: Any,
    rung: str,
    dropped: tuple[str, ...],
    endpoint: str,
    secrets: Collection[str | None] = (),
) -> Reply:
    """Our reply for a chat completion.

    Raises:
        JudgeError: it has no choices, or holds an error instead.
    """
    told = told_in(completion, endpoint, secrets)
    if told is not None:
        raise told
    if not getattr(completion, "choices", None) or completion.choices[0].message is None:
        raise JudgeError(f"{endpoint}: a reply without choices: not an OpenAI-compatible server?")
    choice = completion.choices[0]
    content = choice.message.content or ""
    text = content if isinstance(content, str) else _joined(content)
    finish = choice.finish_reason
    if getattr(choice.message, "refusal", None) and not text:
        finish = "refusal"
    usage = completion.usage
    return Reply(
        text=text,
        state=reply_state(finish, text),
        finish=finish,
        usage=Usage(usage.prompt_tokens, usage.completion_tokens) if usage else Usage(),
        model=completion.model,
        rung=rung,
        dropped=dropped,
    )


def from_ended_loop(error: BaseException) -> bool:
    """Was a pooled connection taken that had been opened on an event loop that has ended?

    A model may be used in one ``asyncio.run`` after another (each ``ragas.evaluate`` is one);
    a client keeps its connections. Nothing was sent, and the connection is now discarded.
    """
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, RuntimeError) and "loop is closed" in str(cause):
            return True
        cause = cause.__cause__
    return False
