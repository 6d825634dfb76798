"""Live transport: any OpenAI-compatible chat endpoint through the openai package.

The SDK's own retries are off (ours count), and every parameter travels with its request: no
attribute of a client handed in is ever written.
"""

from __future__ import annotations

import inspect
from typing import Any

from ._completions import completion_reply
from ._openai_clients import CallersClients, OwnClients, PerLoop, check_was_sendable
from ._openai_params import RUNGS, Learnt, learnt_for
from ._secrets import keys_of, redact
from ._unread import is_unread, tell
from .errors import JudgeError
from .retry import ATTEMPT_SECONDS
from .threads import in_thread
from .types import Reply, Request

STALE_LIMIT = 1000
"""Connections that one pool may hold: so many may be left over from event loops that ended."""


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
        self._clients: PerLoop = (
            OwnClients(base_url=base_url, api_key=api_key)
            if client is None
            else CallersClients(client)
        )
        self.endpoint = self._clients.endpoint
        self._own: dict[str, Learnt] = {}

    def check(self) -> None:
        """Raise ``SetupError`` now when no client can be made (no key)."""
        self._clients.check()

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
            except (openai.OpenAIError, ValueError, RecursionError) as error:
                check_was_sendable(error)
                if not (isinstance(error, openai.OpenAIError) or is_unread(error)):
                    raise
                told = self._told(error)
                raise told from told.__cause__
            else:
                rung = rung if request.schema else "text"
                return completion_reply(completion, rung, dropped, self.endpoint, self._keys())

    def _told(self, error: Exception) -> JudgeError:
        return tell(error, self.endpoint, self._keys())

    def _keys(self) -> list[str]:
        return keys_of(self._clients.here())

    @property
    def account(self) -> int:
        """Tells this key's account from others in this process."""
        return self._clients.account

    def __repr__(self) -> str:
        """Name the endpoint; no key is shown."""
        return f"OpenAITransport({self.endpoint!r})"

    async def _create(self, **arguments: Any) -> Any:
        import openai

        client = self._clients.here()
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

    async def aclose(self) -> None:
        """Close the connections opened on the running loop."""
        await self._clients.aclose()


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
