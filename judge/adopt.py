"""Whatever ``ragas.evaluate(llm=…)`` takes, as a transport: read, and never written to.

| handed over | what carries the requests |
|---|---|
| LangChain model, wrapped by ragas or not | ``LangChainTransport`` |
| ``llm_factory`` over an OpenAI or Azure client | ``OpenAITransport`` over that client |
| ``llm_factory`` over any other client | ``RagasStructuredTransport`` |
| any other ``BaseRagasLLM`` | ``RagasTransport`` |

A subclass of a ragas class with a generating method of its own is called through that method.
Caches of ragas' are not asked where its class is unwrapped: recordings take their place.

Neither ragas nor LangChain is imported: an object can only be of their classes when they are
loaded already.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from . import telemetry  # noqa: F401  # ragas' models report each call unless told not to
from ._secrets import keys_among
from .errors import SetupError
from .langchain_transport import OURS, LangChainTransport, is_openai_family, loaded
from .openai_transport import OpenAITransport
from .ragas_transport import RagasStructuredTransport, RagasTransport
from .system_prompt import SYSTEM_PROMPT, SystemPromptTransport
from .types import Transport

Adopted = tuple[str, Transport, dict[str, Any]]
"""Model name, transport, and the sampling parameters that its requests carry."""

SAMPLING = (
    "temperature",
    "top_p",
    "top_k",
    "max_tokens",
    "seed",
    "stop",
    "presence_penalty",
    "frequency_penalty",
    "logit_bias",
    "logprobs",
    "top_logprobs",
    "reasoning_effort",
    "reasoning",
    "verbosity",
    "extra_body",
)
"""Attributes of LangChain models that can alter a reply."""

NAMES = ("model_name", "model", "deployment_name", "azure_deployment", "model_id")
INNER = ("langchain_llm", "llm", "generator")
"""Where ragas' wrappers keep the model they wrap."""

CLIENT_OPTIONS = {
    "extra_headers": "default_headers",
    "extra_query": "default_query",
    "timeout": "timeout",
}
"""Arguments of a call that belong to the client, and the client's names for them."""

HIDDEN = OURS | {
    *CLIENT_OPTIONS,
    *("callbacks", "tags", "metadata", "run_name", "run_id", "user"),
    *("response_model", "max_retries", "context", "strict", "hooks", "token_budget"),
    *("cache", "cache_ttl", "cache_namespace", "validation_context"),
}
"""Never part of a request: ours to set, or without influence on a reply. A header may hold a
key, which must not get into a recording."""

NEEDS_MAX_TOKENS = ("anthropic",)
"""Providers whose interface refuses a request without a length limit."""


def adopt(llm: Any) -> Adopted:
    """Find the way to the model behind ``llm``.

    Returns:
        The model's name, a transport, and the sampling parameters: the user's own where
        there are any, else temperature 0 where it can be set.

    Raises:
        SetupError: ``llm`` is of no kind that ragas takes.
    """
    if _is_langchain(llm):
        return _langchain(llm)
    if _is(llm, "ragas.llms.base", "InstructorBaseRagasLLM"):
        return _structured(llm)
    if _is(llm, "ragas.llms.base", "BaseRagasLLM"):
        return _ragas(llm)
    raise SetupError(
        f"llm of type {type(llm).__module__}.{type(llm).__qualname__} is not understood: pass a"
        " Judge, a LangChain model, what ragas' llm_factory returns, or another BaseRagasLLM"
        " (for an OpenAI client: Judge(model, client=client))"
    )


def _is_langchain(value: Any) -> bool:
    """A LangChain model, or what its ``bind`` makes."""
    model = getattr(_binding(value), "bound", value)
    return _is(model, "langchain_core.language_models.base", "BaseLanguageModel")


def _binding(value: Any) -> Any:
    return value if _is(value, "langchain_core.runnables.base", "RunnableBinding") else None


def _unbound(model: Any) -> tuple[Any, dict[str, Any]]:
    """The model itself, and the sampling parameters that are bound to it.

    Raises:
        SetupError: something is bound that a request of ours cannot carry.
    """
    binding = _binding(model)
    if binding is None:
        return model, {}
    model, bound = binding.bound, binding.kwargs.items()
    takes_any = is_openai_family(model)
    sampling = {n: v for n, v in bound if n in SAMPLING and is_json(v) and takes_any}
    others = sorted(set(binding.kwargs) - set(sampling))
    others += [name for name in ("config", "config_factories") if getattr(binding, name)]
    if others:
        raise SetupError(
            f"{type(model).__name__} comes with {', '.join(others)} bound to it, which cannot be"
            " part of a request: pass the model without"
        )
    return model, sampling


def _langchain(given: Any, *, bypass_temperature: bool = False) -> Adopted:
    model, bound = _unbound(given)
    sampling = _without_keys({**sampling_of(model), **bound}, model)
    transport = LangChainTransport(model, sampling)
    if is_openai_family(model) and not bypass_temperature:
        sampling.setdefault("temperature", 0.0)
    return model_name(model), transport, sampling


def _without_keys(sampling: dict[str, Any], model: Any) -> dict[str, Any]:
    """Sampling parameters that can be recorded.

    Raises:
        SetupError: a key is among those that each request of ours would carry.
    """
    if not is_openai_family(model):  # it sends its own itself
        return {name: value for name, value in sampling.items() if not keys_among({name: value})}
    _refuse_keys(sampling, type(model).__name__)
    return sampling


def _refuse_keys(sampling: Mapping[str, Any], owner: str) -> None:
    found = keys_among(sampling)
    if found:
        raise SetupError(
            f"{owner} carries {', '.join(found)}: it would be recorded; give it to the client"
            " instead, as api_key= or among default_headers="
        )


def _ragas(llm: Any) -> Adopted:
    bypass = bool(getattr(llm, "bypass_temperature", False))
    if _is_plain(llm, "LangchainLLMWrapper", "agenerate_text"):
        inner = llm.langchain_llm
        if not _is_langchain(inner):
            raise SetupError(
                f"LangchainLLMWrapper around {type(inner).__qualname__}: it must hold a"
                " LangChain model, not a chain"
            )
        return _langchain(inner, bypass_temperature=bypass)
    return model_name(llm), RagasTransport(llm), {} if bypass else {"temperature": 0.0}


def _structured(llm: Any) -> Adopted:
    ours = _is_plain(llm, "InstructorLLM", "agenerate")
    if not ours and not _is_plain(
        llm, "LiteLLMStructuredLLM", "agenerate", module="ragas.llms.litellm_llm"
    ):
        return model_name(llm), RagasStructuredTransport(llm), {}
    client = openai_client(llm.client)
    hidden = HIDDEN if client is not None else _hidden(llm)
    sampling = {
        name: value
        for name, value in llm.model_args.items()
        if name not in hidden and value is not None and is_json(value)
    }
    if client is not None:
        _refuse_keys(sampling, type(llm).__name__)
    if ours:
        needed = client is None and llm.provider.lower() in NEEDS_MAX_TOKENS
        for name, value in _ragas_defaults().items():
            if sampling.get(name) == value and not (needed and name == "max_tokens"):
                sampling.pop(name, None)
    sampling.setdefault("temperature", 0.0)
    if llm.system_prompt:
        sampling[SYSTEM_PROMPT] = llm.system_prompt
    inner = _over_ragas(llm) if client is None else _over_client(client, llm.model_args)
    return model_name(llm), SystemPromptTransport(inner), sampling


def _ragas_defaults() -> dict[str, Any]:
    """What ragas fills in where a user said nothing: temperature, top_p, max_tokens."""
    arguments = loaded("ragas.llms.base", "InstructorModelArgs")
    return {} if arguments is None else dict(arguments().model_dump())


def _over_client(client: Any, arguments: Mapping[str, Any]) -> Transport:
    options = {new: arguments[old] for old, new in CLIENT_OPTIONS.items() if arguments.get(old)}
    return OpenAITransport(client=client.with_options(**options) if options else client)


def _hidden(llm: Any) -> frozenset[str]:
    """What a model of ragas' sends and we do not record: keys, too."""
    arguments = llm.model_args.items()
    return HIDDEN.union(name for name, value in arguments if keys_among({name: value}))


def _over_ragas(llm: Any) -> Transport:
    names = _hidden(llm) - OURS
    hidden = {name: value for name, value in llm.model_args.items() if name in names}
    if _is(llm.client, "instructor", "Instructor") or _is(
        llm.client, "instructor", "AsyncInstructor"
    ):
        hidden["max_retries"] = 0  # re-asking is ours to do, and to count
    return RagasStructuredTransport(llm, adjustable=True, hidden=hidden)


def openai_client(holder: Any) -> Any:
    """The OpenAI client inside an Instructor client, or None.

    Instructor keeps it as ``client``; one that was made by hand around a patched method may
    hold it in the closure of ``create_fn`` only.
    """
    for candidate in _candidates(holder):
        if _is(candidate, "openai", "OpenAI") or _is(candidate, "openai", "AsyncOpenAI"):
            return candidate
    return None


def _candidates(holder: Any) -> Iterator[Any]:
    yield holder
    yield getattr(holder, "client", None)
    create = getattr(holder, "create_fn", None)
    for cell in getattr(create, "__closure__", None) or ():
        try:
            content = cell.cell_contents
        except ValueError:  # a cell that was never filled
            continue
        yield content
        yield getattr(getattr(content, "__self__", None), "_client", None)
        yield (getattr(content, "keywords", None) or {}).get("client")


def sampling_of(model: Any) -> dict[str, Any]:
    """The sampling parameters that a LangChain model carries, read and not changed."""
    extra = getattr(model, "model_kwargs", None)
    found = {name: getattr(model, name, None) for name in SAMPLING}
    if isinstance(extra, Mapping):
        found |= {name: value for name, value in extra.items() if name not in HIDDEN}
    return {name: value for name, value in found.items() if value is not None and is_json(value)}


def is_json(value: Any) -> bool:
    """Can the value be part of a request, that is: be written as JSON?"""
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return False
    return True


def model_name(model: Any) -> str:
    """The name of the model, else of the class that stands for it."""
    for holder in (model, *(getattr(model, name, None) for name in INNER)):
        for name in NAMES:
            found = getattr(holder, name, None)
            if isinstance(found, str) and found:
                return found
    return type(model).__name__


def _is(value: Any, module: str, name: str) -> bool:
    cls = loaded(module, name)
    return cls is not None and isinstance(value, cls)


def _is_plain(llm: Any, name: str, method: str, *, module: str = "ragas.llms.base") -> bool:
    """Is it of this ragas class, or of a subclass that leaves ``method`` as it is?"""
    cls = loaded(module, name)
    if cls is None or not isinstance(llm, cls):
        return False
    return getattr(type(llm), method) is getattr(cls, method)
