"""What a program can see of a run: the log, OpenTelemetry spans, ragas' callbacks."""

from __future__ import annotations

import asyncio
import logging
import sys
from typing import Any

import pytest
import ragas
from datasets import Dataset
from langchain_core.callbacks import BaseCallbackHandler
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from ragas_judge.judge import Judge, Reply, RetryPolicy, ScriptedTransport, Usage, spans
from ragas_judge.judge.errors import JudgeAuthError, JudgeUnavailableError
from ragas_judge.metrics import AnswerRelevancy, ContextPrecision, Faithfulness

SECRET = "the-hull-of-the-secret-boat"
ROW = {
    "user_input": f"Which wood is {SECRET} made of?",
    "response": f"{SECRET} is larch.",
    "retrieved_contexts": [f"{SECRET} is larch."],
}


def explain(metric: Any, row: Any = ROW) -> Any:
    return asyncio.run(metric.explain(row))


# --- OpenTelemetry ------------------------------------------------------------------------------


@pytest.fixture
def exported(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(spans, "_tracer", lambda: provider.get_tracer("test"))
    return exporter


def test_a_row_is_a_span_and_its_calls_are_spans_in_it(exported: Any, scripted: Any) -> None:
    def answer(request: Any) -> Reply:
        import json

        text = json.dumps(scripted.answer_well(request))
        return Reply(text, finish="stop", usage=Usage(31, 7), model="m-2026")

    transport = ScriptedTransport(answer)
    transport.endpoint = "https://api.openai.com/v1"
    judge = Judge("m", transport=transport, max_tokens=99, seed=5, extra={"stop": "END"})
    outcome = explain(Faithfulness(judge))
    extraction, verification, row = exported.get_finished_spans()
    assert [span.name for span in (extraction, verification)] == ["chat m", "chat m"]
    assert (row.name, row.kind, row.parent) == ("evaluate faithfulness", SpanKind.INTERNAL, None)
    assert verification.parent.span_id == extraction.parent.span_id == row.context.span_id
    assert verification.kind is SpanKind.CLIENT
    assert dict(verification.attributes) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "m",
        "gen_ai.request.temperature": 0.0,
        "gen_ai.request.max_tokens": 99,
        "gen_ai.request.seed": 5,
        "gen_ai.request.stop_sequences": ("END",),
        "gen_ai.output.type": "json",
        "gen_ai.response.model": "m-2026",
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.usage.input_tokens": 31,
        "gen_ai.usage.output_tokens": 7,
        "server.address": "api.openai.com",
        "server.port": 443,
        "ragas_judge.prompt": "claim_verification",
        "ragas_judge.tries": 1,
    }
    result = {
        "gen_ai.evaluation.name": "faithfulness",
        "gen_ai.evaluation.score.label": "scored",
        "gen_ai.evaluation.score.value": float(outcome),
    }
    assert dict(row.attributes) == result
    assert [(event.name, dict(event.attributes)) for event in row.events] == [
        ("gen_ai.evaluation.result", result)
    ]


def test_embeddings_are_spans_too(exported: Any, scripted: Any) -> None:
    explain(AnswerRelevancy(scripted.make_judge()))
    names = [span.name for span in exported.get_finished_spans()]
    assert names[0] == "chat scripted"
    assert names[1].startswith("embeddings ")
    assert names[2] == "evaluate answer_relevancy"


def test_failures_are_marked_and_no_text_is_in_any_span(exported: Any, scripted: Any) -> None:
    def refuse(_: Any) -> Any:
        raise JudgeAuthError(f"{SECRET} is not a key")

    explain(Faithfulness(scripted.make_judge()))
    explain(Faithfulness(scripted.make_judge(refuse)))
    finished = exported.get_finished_spans()
    assert SECRET not in "".join(span.to_json() for span in finished)
    call, row = finished[-2:]
    assert call.status.status_code is StatusCode.ERROR
    assert call.attributes["error.type"] == "JudgeAuthError"
    assert row.attributes["error.type"] == "JudgeAuthError"
    assert row.attributes["gen_ai.evaluation.score.label"] == "failed"
    assert "gen_ai.evaluation.score.value" not in row.attributes


@pytest.mark.parametrize(
    ("endpoint", "provider"),
    [
        ("https://me.openai.azure.com/openai", "azure.ai.openai"),
        ("http://127.0.0.1:8080/v1", "127.0.0.1"),
        ("LangChain ChatAnthropic", "LangChain ChatAnthropic"),
    ],
)
def test_the_provider_is_told_by_the_host(exported: Any, endpoint: str, provider: str) -> None:
    transport = ScriptedTransport(lambda _: "x")
    transport.endpoint = endpoint
    judge = Judge("m", transport=transport)
    asyncio.run(judge.ask(judge.request([("user", "x")])))
    assert exported.get_finished_spans()[0].attributes["gen_ai.provider.name"] == provider


def test_without_the_package_nothing_happens(
    monkeypatch: pytest.MonkeyPatch, scripted: Any
) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    spans._tracer.cache_clear()
    try:
        assert explain(Faithfulness(scripted.make_judge())) == 1.0
        assert spans._tracer() is None
    finally:
        spans._tracer.cache_clear()


# --- the log ------------------------------------------------------------------------------------


def test_one_logger_that_is_quiet_unless_asked() -> None:
    log = logging.getLogger("ragas_judge")
    assert any(isinstance(handler, logging.NullHandler) for handler in log.handlers)
    ours = [name for name in logging.root.manager.loggerDict if name.startswith("ragas_judge.")]
    assert ours == []


def test_each_call_and_each_retry_is_a_line_without_text(
    caplog: pytest.LogCaptureFixture, scripted: Any
) -> None:
    trouble = iter([JudgeUnavailableError("down for a moment")])

    def answer(request: Any) -> Any:
        for error in trouble:
            raise error
        return scripted.answer_well(request)

    caplog.set_level(logging.DEBUG, logger="ragas_judge")
    explain(Faithfulness(scripted.make_judge(answer)))
    lines = [(record.levelname, record.getMessage()) for record in caplog.records]
    assert [level for level, _ in lines] == ["INFO", "DEBUG", "DEBUG"]
    assert lines[0][1].startswith("try 1 failed, the next comes in ")
    assert "claim_extraction: complete after 2 tries" in lines[1][1]
    assert SECRET not in str(lines)


# --- callbacks ----------------------------------------------------------------------------------


class Heard(BaseCallbackHandler):
    """Starts and ends, in order, with the name of what they are about."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self._names: dict[Any, str] = {}

    def on_chain_start(self, serialized: Any, inputs: Any, *, run_id: Any, **more: Any) -> None:
        self._names[run_id] = more.get("name") or serialized["name"]
        self.events.append(f"{self._names[run_id]} begins")

    def on_chain_end(self, outputs: Any, *, run_id: Any, **more: Any) -> None:
        self.events.append(f"{self._names[run_id]} ends")

    def on_chain_error(self, error: BaseException, *, run_id: Any, **more: Any) -> None:
        self.events.append(f"{self._names[run_id]} fails")


def heard(*metrics: Any) -> list[str]:
    handler = Heard()
    ragas.evaluate(
        Dataset.from_list([ROW]), list(metrics), callbacks=[handler], show_progress=False
    )
    about = ("faithfulness", "context_precision", "claim", "context_usefulness")
    return [event for event in handler.events if event.startswith(about)]


def test_callbacks_hear_of_each_metric_and_call_when_it_happens(scripted: Any) -> None:
    assert heard(Faithfulness(scripted.make_judge())) == [
        "faithfulness begins",
        "claim_extraction begins",
        "claim_extraction ends",
        "claim_verification begins",
        "claim_verification ends",
        "faithfulness ends",
    ]


def test_callbacks_hear_of_calls_that_fail(scripted: Any) -> None:
    def refuse(_: Any) -> Any:
        raise JudgeAuthError("no")

    judge = scripted.make_judge(refuse, retry=RetryPolicy(attempts=1))
    assert heard(ContextPrecision(judge)) == [
        "context_precision begins",
        "context_usefulness begins",
        "context_usefulness fails",
        "context_precision ends",  # with the NaN that carries the failure
    ]


def test_calls_of_metrics_at_once_are_told_to_their_own_metric(scripted: Any) -> None:
    judge = scripted.make_judge(concurrency=4)
    events = heard(Faithfulness(judge), ContextPrecision(judge))
    assert sorted(events) == sorted([
        *(f"{name} {what}" for name in ("faithfulness", "claim_extraction", "claim_verification",
          "context_precision", "context_usefulness") for what in ("begins", "ends")),
    ])  # fmt: skip
