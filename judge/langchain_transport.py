"""Transport over a LangChain model: parameters travel with each request, never on the model.

For models of the OpenAI family (``ChatOpenAI``, ``AzureChatOpenAI`` and what derives from them)
the same learnt ladder is used as for ``OpenAITransport``. Any other model gets plain messages
and nothing else, because it may refuse a parameter that it does not know.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ._completions import completion_reply, reply_state, usage_of
from ._openai_clients import CallersClients, check_was_sendable
from ._openai_params import RUNGS, learnt_for
from ._secrets import keys_of, redact
from ._unread import KINDS, is_unread, tell
from .errors import JudgeError, JudgeUnavailableError
from .foreign_errors import service_errors
from .openai_transport import STALE_LIMIT, from_ended_loop
from .probabilities import tokens_of
from .threads import in_thread
from .types import Reply, ReplyState, Request

if TYPE_CHECKING:
    from langchain_core.outputs import LLMResult
    from langchain_core.prompt_values import PromptValue

    from ..prompts import Message

OURS = frozenset(("model", "messages", "stream", "stream_options", "n", "response_format"))
"""Parameters that this transport sets itself, whatever a model's ``model_kwargs`` say."""

FINISH_KEYS = ("finish_reason", "stop_reason", "done_reason", "stopReason", "finishReason")
FINISH_WORDS = {"max_output_tokens": "length"}
"""Words that ``reply_state`` does not know: OpenAI's Responses API."""


class LangChainTransport:
    """Sends requests through a LangChain model's own asynchronous interface.

    Args:
        model: a chat model or an old completion-style one. It is left as it is. Of an OpenAI
            model a shallow copy is used, with the SDK's retries off (ours count) and without
            the parameters in ``sampling``, so that those of the request are all there are.
        sampling: the sampling parameters that the model carries, as ``adopt`` reads them.
    """

    def __init__(self, model: Any, sampling: Mapping[str, Any] | None = None) -> None:
        """Nothing is connected yet."""
        self._sampling = dict(sampling or {})
        self._is_openai = is_openai_family(model)
        self._is_synchronous = runs_in_the_default_pool(model)
        self._model = _bare_copy(model, self._sampling) if self._is_openai else model
        self._clients = CallersClients(model.root_async_client) if self._is_openai else None
        named = f"LangChain {type(model).__name__}"
        self.endpoint = self._clients.endpoint if self._clients else named
        self._learnt = learnt_for(self.endpoint, str(getattr(model, "model_name", "")), {})
        self._renames_limit = _renames_the_limit(model)
        self._known = _known_parameters(model) if self._is_openai else frozenset()

    async def send(self, request: Request) -> Reply:
        """Send one request once; a refused parameter is left out and the request sent anew."""
        import openai

        prompt, stale = prompt_value(request.messages), 0
        model = self._model_here(cached=not request.repetition)
        while True:
            rung = RUNGS[self._learnt.rung] if request.schema and self._is_openai else "text"
            sent, dropped = self._params(request), self._dropped(request)
            try:
                result = await self._generate(model, prompt, sent)
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                said = redact(error.message, self._keys())
                again = partial(self._params, request)
                if not self._learnt.goes_on(said, error.param, sent, again):
                    told = self._told(error)
                    raise told from told.__cause__
            except _may_hold_a_reply() as error:
                if from_ended_loop(error) and stale < STALE_LIMIT:
                    stale += 1
                    continue
                return self._cut(error, rung, dropped)
            else:
                return result_reply(result, self.endpoint, rung=rung, dropped=dropped)

    def _model_here(self, *, cached: bool) -> Any:
        """The model, with connections of this event loop.

        Votes repeat a question on purpose; a LangChain cache would answer from memory.
        """
        update: dict[str, Any] = {} if cached else {"cache": False}
        if self._clients is not None:
            root = self._clients.here()
            update |= {"root_async_client": root, "async_client": root.chat.completions}
        return self._model.model_copy(update=update) if update else self._model

    async def _generate(self, model: Any, prompt: PromptValue, params: dict[str, Any]) -> Any:
        if self._is_synchronous:  # LangChain would run it in asyncio's own threads
            return await in_thread(model.generate_prompt, [prompt], **params)
        # What LangChain would rename or the SDK refuse goes into the body as it is.
        body = {name: value for name, value in params.items() if name not in self._known}
        if body:
            rest = {name: value for name, value in params.items() if name in self._known}
            params = {**rest, "extra_body": {**(params.get("extra_body") or {}), **body}}
        return await model.agenerate_prompt([prompt], **params)

    def _params(self, request: Request) -> dict[str, Any]:
        """What the service will be sent."""
        if not self._is_openai:
            return {}
        sampling = dict(request.sampling)
        if self._renames_limit and "max_tokens" in sampling:
            sampling["max_completion_tokens"] = sampling.pop("max_tokens")
        return self._learnt.apply(sampling, request.schema)

    def _dropped(self, request: Request) -> tuple[str, ...]:
        """Sampling parameters of the request that do not apply to its reply."""
        if self._is_openai:
            return self._learnt.dropped(request.sampling)
        own, asked = self._sampling, request.sampling.items()
        return tuple(sorted(name for name, value in asked if own.get(name) != value))

    def _cut(self, error: Exception, rung: str, dropped: tuple[str, ...]) -> Reply:
        """The reply inside an error: the OpenAI SDK raises when a reply is cut or filtered.

        Raises:
            JudgeError: the error tells of the service.
            Exception: the error itself, when it tells of neither.
        """
        import openai

        if isinstance(error, openai.LengthFinishReasonError):
            return completion_reply(error.completion, rung, dropped, self.endpoint, self._keys())
        filtered = isinstance(error, openai.ContentFilterFinishReasonError)
        # AzureChatOpenAI's own words, where no response format is asked for.
        if filtered or (isinstance(error, ValueError) and "content filter" in str(error)):
            return Reply("", ReplyState.FILTERED, "content_filter", rung=rung, dropped=dropped)
        check_was_sendable(error)
        # LangChain's own words about what it cannot send, as the service might refuse it.
        refused = self._is_openai and isinstance(error, ValueError | TypeError)
        if refused or is_unread(error) or isinstance(error, service_errors()):
            told = self._told(error)
            raise told from told.__cause__
        raise error

    def _told(self, error: Exception) -> JudgeError:
        return tell(error, self.endpoint, self._keys())

    def _keys(self) -> list[str]:
        return keys_of(self._model_here(cached=True))

    @property
    def account(self) -> int | None:
        """Tells this key's account from others in this process; None: not known."""
        return None if self._clients is None else self._clients.account

    async def aclose(self) -> None:
        """Close the connections opened on the running loop; those of the model stay."""
        if self._clients is not None:
            await self._clients.aclose()

    def __repr__(self) -> str:
        """Name the endpoint; no key is shown."""
        return f"LangChainTransport({self.endpoint!r})"


def _may_hold_a_reply() -> tuple[type[Exception], ...]:
    import openai

    return (*service_errors(), openai.OpenAIError, RuntimeError, *KINDS)


def is_openai_family(model: Any) -> bool:
    """Does the model speak to an OpenAI client that takes parameters by the call?"""
    family = loaded("langchain_openai.chat_models.base", "BaseChatOpenAI")
    return (
        family is not None
        and isinstance(model, family)
        and hasattr(getattr(model, "root_async_client", None), "with_options")
    )


def _renames_the_limit(model: Any) -> bool:
    """Does the model send ``max_tokens`` as ``max_completion_tokens``, whatever it is told?"""
    module = "langchain_openai.chat_models"
    names = (("base", "ChatOpenAI"), ("azure", "AzureChatOpenAI"))
    found = (loaded(f"{module}.{part}", name) for part, name in names)
    return isinstance(model, tuple(cls for cls in found if cls is not None))


def _known_parameters(model: Any) -> frozenset[str]:
    """What the model and the SDK below it take by the call, and send under the same name."""
    from openai.resources.chat.completions import AsyncCompletions

    known = {*inspect.signature(AsyncCompletions.create).parameters, *type(model).model_fields}
    return frozenset(known - {"max_tokens"} if _renames_the_limit(model) else known)


_PARTS = {
    "BaseChatModel": "chat_models",
    "SimpleChatModel": "chat_models",
    "BaseLLM": "llms",
    "LLM": "llms",
}


def runs_in_the_default_pool(model: Any) -> bool:
    """Has a LangChain model a synchronous way only?

    LangChain runs that one in asyncio's own threads, where a call that hangs can be neither
    given up nor left behind when the program ends.

    >>> runs_in_the_default_pool(object())
    False
    """
    module = "langchain_core.language_models"
    bases = [loaded(f"{module}.{part}", name) for name, part in _PARTS.items()]
    return hasattr(model, "_agenerate") and all(
        getattr(type(model), method, None) in {getattr(base, method, None) for base in bases}
        for method in ("_agenerate", "_acall")
    )


def _bare_copy(model: Any, sampling: Mapping[str, Any]) -> Any:
    kept = {
        name: value
        for name, value in model.model_kwargs.items()
        if name not in sampling and name not in OURS
    }
    own = {name: None for name in sampling if name in type(model).model_fields}
    return model.model_copy(update={**own, "n": None, "model_kwargs": kept})


def prompt_value(messages: Sequence[Message]) -> PromptValue:
    """The messages as LangChain's chat prompt; completion-style models flatten it themselves."""
    from langchain_core.messages import convert_to_messages
    from langchain_core.prompt_values import ChatPromptValue

    return ChatPromptValue(messages=convert_to_messages([(role, text) for role, text in messages]))


def result_reply(
    result: LLMResult, endpoint: str, *, rung: str = "text", dropped: tuple[str, ...] = ()
) -> Reply:
    """Read text, finish, usage and model of an ``LLMResult``, wherever its maker put them.

    Raises:
        JudgeUnavailableError: there is no generation in it.
    """
    if not result.generations or not result.generations[0]:
        raise JudgeUnavailableError(f"{endpoint}: a reply without generations")
    generation: Any = result.generations[0][0]
    message = getattr(generation, "message", None)
    facts = {
        **(result.llm_output or {}),
        **(getattr(message, "response_metadata", None) or {}),
        **(generation.generation_info or {}),
    }
    finish = next((str(facts[key]) for key in FINISH_KEYS if facts.get(key) is not None), None)
    details = facts.get("incomplete_details")
    cut = details.get("reason") if isinstance(details, Mapping) else None
    if cut:
        finish = FINISH_WORDS.get(str(cut), str(cut))
    refusal = (getattr(message, "additional_kwargs", None) or {}).get("refusal")
    if refusal and not generation.text:
        finish = "refusal"
    name = facts.get("model_name") or facts.get("model")
    return Reply(
        text=generation.text,
        state=reply_state(finish, generation.text),
        finish=finish,
        usage=usage_of(_counts(facts, message)),
        model=str(name) if name else None,
        rung=rung,
        dropped=dropped,
        tokens=tokens_of(facts.get("logprobs")),
    )


def _counts(facts: Mapping[str, Any], message: Any) -> Any:
    """Where the tokens are told. LangChain's own count has 0 for what OpenAI did not tell."""
    told = facts.get("token_usage")
    if isinstance(told, Mapping) and "prompt_tokens" in told:
        return told
    return getattr(message, "usage_metadata", None) or told or facts.get("usage")


def loaded(module: str, name: str) -> type[Any] | None:
    """A class, if its module has been imported: no object can be of it otherwise."""
    found = getattr(sys.modules.get(module), name, None)
    return found if isinstance(found, type) else None
