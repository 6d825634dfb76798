"""OpenTelemetry spans with the names of its semantic conventions for generative AI.

Only where ``opentelemetry-api`` is installed (the extra ``otel``); else nothing happens. A
span is sent nowhere unless the program has set a tracer provider up. No text of a request or a
reply is in a span.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cache
from importlib.metadata import version
from typing import Any
from urllib.parse import urlsplit

from .types import Reply, Request, Usage

PROVIDERS = {
    "api.openai.com": "openai",
    "openai.azure.com": "azure.ai.openai",
    "api.anthropic.com": "anthropic",
    "api.deepseek.com": "deepseek",
    "api.groq.com": "groq",
    "api.mistral.ai": "mistral_ai",
    "api.perplexity.ai": "perplexity",
    "api.x.ai": "x_ai",
    "generativelanguage.googleapis.com": "gcp.gemini",
}
"""By the end of the host's name; any other host stands for itself."""

REQUEST_PARAMETERS = {
    "frequency_penalty": "frequency_penalty",
    "max_completion_tokens": "max_tokens",
    "max_tokens": "max_tokens",
    "presence_penalty": "presence_penalty",
    "seed": "seed",
    "stop": "stop_sequences",
    "temperature": "temperature",
    "top_k": "top_k",
    "top_p": "top_p",
}
"""Sampling parameters that have a name in the conventions."""


@cache
def _tracer() -> Any:
    try:
        from opentelemetry import trace
    except ImportError:
        return None
    return trace.get_tracer("ragas_judge", version("ragas-judge"))


@contextmanager
def _span(name: str, attributes: Mapping[str, Any], *, client: bool = False) -> Iterator[Any]:
    """A span, or None where there are none; an error that passes through is noted on it."""
    tracer = _tracer()
    if tracer is None:
        yield None
        return
    from opentelemetry.trace import SpanKind, Status, StatusCode

    def note(kind: type[BaseException] | None, error: object, trace: object) -> None:
        if kind is not None:
            span.set_attribute("error.type", kind.__qualname__)
            span.set_status(Status(StatusCode.ERROR))

    with ExitStack() as stack:
        span = stack.enter_context(
            tracer.start_as_current_span(
                name,
                kind=SpanKind.CLIENT if client else SpanKind.INTERNAL,
                attributes=attributes,
                # The message of an error may quote a reply, so its class alone is noted.
                record_exception=False,
                set_status_on_exception=False,
            )
        )
        stack.push(note)
        yield span


@contextmanager
def call_span(request: Request, endpoint: str) -> Iterator[Callable[[Reply, int], None]]:
    """A span ``chat <model>`` around one call, its retries and its cache look-up."""
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": request.model,
        "gen_ai.output.type": "json" if request.schema is not None else "text",
        **_server(endpoint),
        **_parameters(request.sampling),
        **({"ragas_judge.prompt": request.prompt.id} if request.prompt else {}),
    }
    with _span(f"chat {request.model}", attributes, client=True) as span:

        def done(reply: Reply, tries: int) -> None:
            if span is None:
                return
            span.set_attribute("ragas_judge.tries", tries)
            span.set_attribute("gen_ai.response.finish_reasons", [reply.finish or reply.state])
            if reply.model:
                span.set_attribute("gen_ai.response.model", reply.model)
            _set_usage(span, reply.usage_now(tries))

        yield done


@contextmanager
def embedding_span(model: str, endpoint: str) -> Iterator[Callable[[Usage], None]]:
    """A span ``embeddings <model>`` around one batch of texts."""
    attributes = {
        "gen_ai.operation.name": "embeddings",
        "gen_ai.request.model": model,
        **_server(endpoint),
    }
    with _span(f"embeddings {model}", attributes, client=True) as span:
        yield lambda usage: _set_usage(span, usage)


@contextmanager
def score_span(metric: str) -> Iterator[Callable[[Any], None]]:
    """A span ``evaluate <metric>`` around one row; its result is an event on it."""
    name = {"gen_ai.evaluation.name": metric}
    with _span(f"evaluate {metric}", name) as span:

        def done(outcome: Any) -> None:
            if span is None:
                return
            result = {**name, "gen_ai.evaluation.score.label": outcome.status}
            if outcome.value is not None:
                result["gen_ai.evaluation.score.value"] = outcome.value
            error = getattr(outcome, "error", None)
            if error is not None:
                result["error.type"] = type(error).__qualname__
            span.set_attributes(result)
            span.add_event("gen_ai.evaluation.result", result)

        yield done


def _set_usage(span: Any, usage: Usage) -> None:
    if span is None:
        return
    if usage.input is not None:
        span.set_attribute("gen_ai.usage.input_tokens", usage.input)
    if usage.output is not None:
        span.set_attribute("gen_ai.usage.output_tokens", usage.output)


def _server(endpoint: str) -> dict[str, Any]:
    """Provider, host and port of an address; the name of a client that has none."""
    parts = urlsplit(endpoint) if "://" in endpoint else None
    if parts is None or not parts.hostname:
        return {"gen_ai.provider.name": endpoint}
    host = parts.hostname
    provider = next((name for end, name in PROVIDERS.items() if host.endswith(end)), host)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return {"gen_ai.provider.name": provider, "server.address": host, "server.port": port}


def _parameters(sampling: Mapping[str, Any]) -> dict[str, Any]:
    found = {
        f"gen_ai.request.{theirs}": sampling[ours]
        for ours, theirs in REQUEST_PARAMETERS.items()
        if ours in sampling
    }
    stop = found.get("gen_ai.request.stop_sequences")
    if isinstance(stop, str):
        found["gen_ai.request.stop_sequences"] = [stop]
    return {name: value for name, value in found.items() if _is_plain(value)}


def _is_plain(value: Any) -> bool:
    items = value if isinstance(value, list | tuple) else [value]
    return all(isinstance(item, str | int | float | bool) for item in items)
