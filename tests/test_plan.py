"""The forecast of calls, tokens and cost, against what then happens; and ``ragas-judge plan``."""

from __future__ import annotations

import importlib.util
import json
import re
import socket
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragas_judge.judge import Judge, OpenAIEmbedder, Question, ScriptedTransport
from ragas_judge.judge.errors import InputError, SetupError
from ragas_judge.judge.prices import Prices
from ragas_judge.metrics import AnswerRelevancy, Evidence, Faithfulness, JudgedMetric, Score
from ragas_judge.metrics.quotes import find_quote
from ragas_judge.prompts import Prompt
from ragas_judge.runs import evaluate
from ragas_judge.runs.cli import main
from ragas_judge.runs.planning import Forecast, MetricForecast, plan
from ragas_judge.runs.typical import TEXT, instance, passage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "cost.md"
QUICKSTART = ROOT / "fixtures" / "quickstart" / "dataset.jsonl"
ROWS: list[dict[str, Any]] = [
    {
        "user_input": "When was the Aldmoor lighthouse built and who runs it today?",
        "response": (
            "The Aldmoor lighthouse was built in 1871 by the harbour board, which also paid for the"
            " keeper's cottage. It has been run by a charity since 1998. Visitors may climb the"
            " tower on Sundays between April and October."
        ),
        "reference": (
            "It was built in 1871 by the harbour board and has been run by the Friends of Aldmoor,"
            " a charity, since 1998."
        ),
        "retrieved_contexts": [
            "The harbour board built the Aldmoor lighthouse in 1871 after two ships were lost on"
            " the reef in a single winter. The board also paid for a cottage for the keeper, which"
            " still stands at the foot of the tower and is let to holidaymakers in summer.",
            "Since 1998 the lighthouse has been run by the Friends of Aldmoor, a charity with some"
            " three hundred members. They open the tower to visitors on Sundays from April to"
            " October and use the money to repair the lantern room.",
            "Aldmoor is a village of nine hundred people. Its economy rests on crab fishing, and"
            " a ferry to the outer islands leaves from the old pier twice a week.",
        ],
    },
    {
        "user_input": "How should the dough for Tessin flat bread rest?",
        "response": "It rests for two hours at room temperature, covered with a damp cloth.",
        "reference": "The dough rests for two hours, covered with a damp cloth.",
        "retrieved_contexts": [
            "Knead the dough for ten minutes until it no longer sticks to the bowl. Cover it with a"
            " damp cloth and let it rest at room temperature for two hours; it should double in"
            " size. Then divide it into eight pieces and roll each out as thin as a coin.",
            "Tessin flat bread is eaten with goat's cheese and pickled plums at harvest time.",
        ],
    },
    {
        "user_input": "What does the warranty of the Quorin pump cover, and for how long?",
        "response": (
            "The warranty covers the motor and the seals for five years. Damage by frost is not"
            " covered, and neither are filters, because they wear out with use. To make a claim,"
            " customers need the receipt and the serial number from the type plate."
        ),
        "reference": (
            "Motor and seals are covered for five years. Frost damage and filters are excluded."
        ),
        "retrieved_contexts": [
            "Quorin gives a warranty of five years on the motor and the seals of its pumps. The"
            " warranty starts on the day of purchase and can be transferred to a later owner.",
            "Excluded from the warranty are damage by frost, use of the pump with salt water, and"
            " parts that wear out in normal use, such as filters and brushes.",
            "For a claim please have the receipt at hand, and the serial number, which you will"
            " find on the type plate under the motor housing.",
            "The pump must be emptied before winter. Open the drain screw and let the water run"
            " out, then store the pump in a dry room where the temperature stays above zero.",
        ],
    },
]
NUMBER = re.compile(r"^\[(\d+)\] (.*)$", re.MULTILINE)


def words(text: str) -> set[str]:
    return {word for word in re.findall(r"[a-z0-9]+", text.lower()) if len(word) > 3}


def nearest(text: str, contexts: dict[str, str]) -> tuple[str, str, int]:
    """The context and its sentence that share most words with a text, and how many."""
    found = [
        (len(words(text) & words(sentence)), number, sentence)
        for number, context in contexts.items()
        for sentence in re.split(r"(?<=\.) ", context)
    ]
    shared, number, sentence = max(found)
    return number, sentence, shared


def real_reply(body: dict[str, Any], *, quote: str | None = None) -> dict[str, Any]:
    """The replies of a judge that reads: it splits at "and", and quotes the nearest sentence."""
    schema = body["response_format"]["json_schema"]["schema"]["properties"]
    blocks = [
        dict(NUMBER.findall(block)) or {"": block}
        for block in re.findall(
            r"<data-\w+>\n(.*?)\n</data-", body["messages"][-1]["content"], re.DOTALL
        )
    ]
    items, reply = blocks[-1], {}
    for key, schema_of_one in schema.items():
        kind = str(schema_of_one)
        if "verdict" in kind:
            number, sentence, shared = nearest(items[key], blocks[0])
            verdict = "supported" if shared > 1 else "not_found"
            said = (quote or sentence) if shared > 1 else ""
            reply[key] = {"verdict": verdict, "context": int(number), "quote": said}
        elif "useful" in kind:
            _, sentence, shared = nearest(blocks[1][""], {key: items[key]})
            reply[key] = {"useful": shared > 1, "quote": sentence if shared > 1 else ""}
        elif "noncommittal" in kind:
            about = " ".join(blocks[0][""].split()[: 5 + int(key)])
            reply[key] = {"noncommittal": False, "question": f"What is said of {about}?"}
        else:
            parts = re.split(r",? and (?=\w+ \w+ \w+)", items[key])
            subject = " ".join(parts[0].split()[:3])
            reply[key] = [parts[0], *(f"{subject} {part}" for part in parts[1:])]
    return reply


def chars4(text: str) -> int:
    return (len(text) + 3) // 4


class Counted:
    """A server's answers with their usage: characters / 4 of what arrived and of the reply."""

    def __init__(self, reply_type: Any, **options: Any) -> None:
        self.reply_type, self.options = reply_type, options
        self.calls = self.tokens = 0

    def __call__(self, body: dict[str, Any]) -> Any:
        text = json.dumps(real_reply(body, **self.options))
        schema = json.dumps(body["response_format"]["json_schema"]["schema"])
        sent = chars4(schema) + sum(chars4(m["content"]) + 4 for m in body["messages"])
        self.calls += 1
        self.tokens += sent + chars4(text)
        usage = {"prompt_tokens": sent, "completion_tokens": chars4(text)}
        return self.reply_type(text, usage={**usage, "total_tokens": sum(usage.values())})


def happens(fake_openai: Any, **options: Any) -> tuple[Counted, Forecast]:
    """Evaluate ``ROWS`` with a server, after a forecast; what the server counted, and that."""
    counted = Counted(fake_openai.Reply, **options)
    url = fake_openai(counted).url
    embedder = OpenAIEmbedder("vectors", base_url=url, api_key="none")
    judge = Judge("some-model", base_url=url, api_key="none", embeddings=embedder)
    forecast = plan(ROWS, judge=judge)
    assert counted.calls == 0
    result = evaluate(ROWS, judge=judge)
    assert all(found.outcome.status == "scored" for found in result.results)
    return counted, forecast


def test_calls_and_tokens_are_within_15_percent_of_what_then_happens(fake_openai: Any) -> None:
    counted, forecast = happens(fake_openai)
    total = forecast.total
    assert total.calls == pytest.approx(counted.calls, rel=0.15)
    assert total.input_tokens + total.output_tokens == pytest.approx(counted.tokens, rel=0.15)


def test_what_is_asked_again_is_not_in_the_forecast(fake_openai: Any) -> None:
    """It also shows that the comparison above can fail."""
    counted, forecast = happens(fake_openai, quote="words that stand nowhere")
    assert forecast.total.calls < 0.85 * counted.calls
    assert forecast.total.input_tokens + forecast.total.output_tokens < 0.85 * counted.tokens


def of(forecast: Forecast, metric: str) -> MetricForecast:
    return next(each for each in forecast.metrics if each.metric == metric)


def test_each_metric_makes_its_own_calls() -> None:
    forecast = plan(ROWS, judge="gpt-4.1-mini")
    calls = {each.metric: each.amount.calls for each in forecast.metrics}
    assert calls == {
        "faithfulness": 6,  # claims, then verdicts
        "context_recall": 6,
        "context_precision": 3,
        "answer_relevancy": 3,
    }
    assert forecast.rows == 3
    assert not any(each.failed for each in forecast.metrics)


def test_the_total_is_the_sum_of_the_metrics() -> None:
    forecast = plan(ROWS, judge="gpt-4.1-mini", embeddings="text-embedding-3-small")
    for name in ("calls", "input_tokens", "output_tokens", "embedding_tokens", "schema_tokens"):
        parts = [getattr(each.amount, name) for each in forecast.metrics]
        assert getattr(forecast.total, name) == sum(parts) > 0
    costs = [each.amount.cost for each in forecast.metrics]
    assert forecast.total.cost == pytest.approx(sum(cost or 0.0 for cost in costs))


def test_cost_is_tokens_times_the_price_of_the_model() -> None:
    total = plan(ROWS, ["context_recall"], "gpt-4.1-mini-2025-04-14").total
    expected = (total.input_tokens * 0.40 + total.output_tokens * 1.60) / 1e6
    assert total.cost == pytest.approx(expected)


@pytest.mark.parametrize("judge", [None, "a-model-of-mine"])
def test_an_unknown_price_is_unknown_and_never_zero(judge: str | None) -> None:
    forecast = plan(ROWS, ["faithfulness"], judge)
    assert forecast.total.cost is None
    assert forecast.total.input_tokens > 0
    assert forecast.metrics[0].unpriced == ((judge,) if judge else ())


def test_both_packs_of_prompts_are_answered_well_enough() -> None:
    forecast = plan(QUICKSTART)
    assert [(each.failed, each.first_failure) for each in forecast.metrics] == [(0, "")] * 4
    claims = of(forecast, "faithfulness")
    assert claims.amount.calls == 47  # one row has no context: its claims need no verdict


def test_rows_without_calls_cost_nothing_and_say_why() -> None:
    rows: list[dict[str, Any]] = [
        {**ROWS[0], "response": " "},
        {**ROWS[1], "response": None, "reference": None},
        {**ROWS[2], "retrieved_contexts": []},
    ]
    forecast = plan(rows, judge="gpt-4.1")
    faithfulness, recall = of(forecast, "faithfulness"), of(forecast, "context_recall")
    assert faithfulness.free == 2
    assert faithfulness.unscored == {"empty response": 2}
    assert faithfulness.amount.calls == 1
    assert recall.free == 2  # no reference; and no context, which makes it 0
    assert recall.unscored == {"no reference": 1}
    assert recall.amount.calls == 2


def test_limit_and_language_are_as_for_evaluate() -> None:
    one = plan(ROWS, ["faithfulness"], "gpt-4.1", limit=1)
    assert (one.rows, one.total.calls) == (1, 2)
    assert plan(ROWS, ["faithfulness"], language="zh").total != plan(ROWS, ["faithfulness"]).total
    with pytest.raises(InputError, match="limit is at least 1"):
        plan(ROWS, limit=0)


def test_bad_rows_are_told_in_the_words_of_evaluate() -> None:
    rows = [{**ROWS[0], "retrieved_contexts": "one text"}, *ROWS[1:]]
    with pytest.raises(InputError) as planned:
        plan(rows, limit=1)
    with pytest.raises(InputError) as evaluated:
        evaluate(rows, judge=Judge("m", transport=ScriptedTransport(lambda _: "")), limit=1)
    assert str(planned.value) == str(evaluated.value)
    with pytest.raises(InputError, match="did you mean 'faithfulness'"):
        plan(ROWS, ["faithfulnes"])


def test_nothing_is_connected_or_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    plan(ROWS, limit=1)  # whatever is loaded the first time

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("a connection")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.chdir(tmp_path)
    judge = Judge("gpt-4.1", base_url="http://127.0.0.1:9/v1", api_key="none")
    assert plan(ROWS, judge=judge).total.calls == 18
    assert list(tmp_path.iterdir()) == []


# --- metrics as objects ---------------------------------------------------------------------


def test_an_object_keeps_its_judge_and_is_priced_by_it() -> None:
    def never(_: Any) -> str:
        raise AssertionError("the judge was asked")

    own = Judge("gpt-4.1", transport=ScriptedTransport(never))
    metric = Faithfulness(own, name="mine")
    before = dict(vars(metric))
    forecast = plan(ROWS, [metric, "faithfulness"], "gpt-4.1-mini")
    assert vars(metric) == before
    assert [each.model for each in forecast.metrics] == ["gpt-4.1", "gpt-4.1-mini"]
    dear, cheap = (each.amount for each in forecast.metrics)
    assert dear.input_tokens == cheap.input_tokens
    assert dear.cost == pytest.approx(5 * (cheap.cost or 0.0))


def vectors(texts: Sequence[str]) -> list[list[float]]:
    raise AssertionError(f"asked for {len(texts)} vectors")


def test_the_embedder_of_the_metric_goes_before_that_of_the_judge() -> None:
    metric = AnswerRelevancy(embeddings=vectors)
    forecast = plan(ROWS, [metric], "gpt-4.1", embeddings="text-embedding-3-small").metrics[0]
    assert forecast.embedder.endswith("vectors")
    assert forecast.unpriced == (forecast.embedder,)
    assert forecast.amount.cost is None


def test_embeddings_that_are_given_go_before_those_of_the_judge() -> None:
    judge = Judge("gpt-4.1", api_key="none", embeddings=vectors)
    of_the_judge = plan(ROWS, ["answer_relevancy"], judge).metrics[0]
    assert of_the_judge.embedder.endswith("vectors")
    name = "text-embedding-3-small"
    assert plan(ROWS, ["answer_relevancy"], judge, embeddings=name).metrics[0].embedder == name


def test_embeddings_of_a_service_are_counted_and_priced() -> None:
    embedded = plan(ROWS, ["answer_relevancy"], "gpt-4.1").total
    assert (embedded.embedding_calls, embedded.embedding_tokens) == (0, 0)
    served = plan(ROWS, ["answer_relevancy"], "gpt-4.1", embeddings="text-embedding-3-small").total
    assert served.embedding_calls == 3
    assert served.embedding_tokens > 3 * 10
    more = (served.cost or 0.0) - (embedded.cost or 0.0)
    assert more == pytest.approx(served.embedding_tokens * 0.02 / 1e6)


class Politeness(JudgedMetric):
    """A metric with a prompt of its own."""

    metric_name = "politeness"
    columns = needed = frozenset({"response"})
    prompt = Prompt(
        id="politeness",
        version=1,
        language="en",
        variables=("items",),
        system="Say how polite each text is.",
        user="{{ fence(items) }}",
        examples=({"input": {"items": {"1": "Go!"}}, "output": {"1": {"grade": 1, "why": "x"}}},),
        item_schema={"type": "object", "properties": {"grade": {"type": "integer"}}},
    )

    async def _score(self, sample: Any, steps: Any, run: Any) -> Any:
        items = {"1": sample.response or "", "2": "again"}
        question = Question(self.prompt, items, lambda value: float(value["grade"]))
        answers = await run.judge.ask_items(question)
        return Score(sum(answers.by_id.values()) / 2, Evidence())


class Impossible(Politeness):
    """No reply is good enough."""

    async def _score(self, sample: Any, steps: Any, run: Any) -> Any:
        def refuse(value: Any) -> None:
            raise ValueError("not good enough")

        return await run.judge.ask_items(Question(self.prompt, {"1": "x"}, refuse))


def test_a_metric_of_ones_own_is_covered() -> None:
    forecast = plan(ROWS, [Politeness()], "gpt-4.1").metrics[0]
    assert (forecast.amount.calls, forecast.failed, forecast.free) == (3, 0, 0)
    assert forecast.amount.output_tokens < 150


class WithoutExample(Politeness):
    """All that is known of a reply is its schema."""

    prompt = replace(Politeness.prompt, examples=())


def test_a_prompt_without_an_example_is_answered_by_its_schema() -> None:
    forecast = plan(ROWS, [WithoutExample()], "gpt-4.1").metrics[0]
    assert (forecast.amount.calls, forecast.failed) == (3, 0)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"enum": ["b", "a"]}, "b"),
        ({"const": 7}, 7),
        ({"type": "boolean"}, True),
        ({"type": ["number", "null"], "minimum": 0.5}, 0.5),
        ({"type": "null"}, None),
        ({"type": "array", "items": {"type": "integer"}, "minItems": 2}, [0, 0]),
        ({"anyOf": [{"type": "integer", "minimum": 3}, {"type": "null"}]}, 3),
        ({"properties": {"a": {"default": "x"}, "b": {"examples": [1]}}}, {"a": "x", "b": 1}),
        ({"type": "string"}, TEXT),
        ({}, TEXT),
    ],
)
def test_an_instance_is_what_its_schema_allows(schema: dict[str, Any], value: Any) -> None:
    assert instance(schema) == value


def test_replies_that_cannot_be_made_up_are_told() -> None:
    forecast = plan(ROWS, [Impossible()], "gpt-4.1").metrics[0]
    assert forecast.failed == 3
    assert "IncompleteVerdictsError" in forecast.first_failure


@given(st.text(min_size=1).filter(lambda text: any(c.isalnum() for c in text)), st.integers(1, 60))
def test_a_made_up_quote_stands_in_its_context(text: str, size: int) -> None:
    text = " ".join(text.split())
    found = passage(text, size)
    assert text.startswith(found)
    assert find_quote(found, text) is not None or find_quote(text, text) is None


# --- the command line -----------------------------------------------------------------------


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """``code, out, err = run(QUICKSTART, "--limit", 2)``."""

    def call(*arguments: Any) -> tuple[int, str, str]:
        code = main(["plan", *map(str, arguments)])
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return call


def line(out: str, name: str) -> list[str]:
    return next(text.split() for text in out.splitlines() if text.strip().startswith(name))


def test_the_table_has_a_line_a_metric_and_the_total(run: Any) -> None:
    code, out, err = run(QUICKSTART, "--model", "gpt-4.1-mini", "--limit", 3)
    assert (code, err) == (0, "")
    total = plan(QUICKSTART, judge="gpt-4.1-mini", limit=3).total
    cells = [f"{total.calls}", f"{total.input_tokens:,}", f"{total.output_tokens:,}"]
    assert line(out, "total") == ["total", *cells, f"{total.cost:.4f}"]
    assert len(line(out, "faithfulness")) == 5
    assert "estimate for 3 rows" in out
    assert "asked again" in out
    assert Prices.load().origin in out


def test_an_unknown_price_prints_unknown(run: Any) -> None:
    code, out, _ = run(QUICKSTART, "--model", "mine", "--metrics", "faithfulness", "--limit", 1)
    assert code == 0
    assert line(out, "total")[-1] == line(out, "faithfulness")[-1] == "unknown"
    assert "no price is known for mine" in out
    assert "--prices" in out


def test_without_a_model_only_tokens_are_known(run: Any) -> None:
    code, out, _ = run(QUICKSTART, "--metrics", "faithfulness", "--limit", 1)
    assert code == 0
    assert line(out, "total")[-1] == "unknown"
    assert "--model" in out


def test_prices_of_ones_own(run: Any, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('[x.models]\n"mine" = { input = 1000, output = 0 }', encoding="utf-8")
    arguments = (QUICKSTART, "--model", "mine", "--metrics", "faithfulness", "--limit", 1)
    code, out, _ = run(*arguments, "--prices", file, "--json")
    total = json.loads(out)["total"]
    assert code == 0
    assert total["cost"] == pytest.approx(total["input_tokens"] / 1000)
    file.write_text('[x.models]\n"mine" = { input = -1 }', encoding="utf-8")
    code, out, err = run(*arguments, "--prices", file)
    assert (code, out) == (2, "")
    assert err.startswith(f"ragas-judge: error: {file}: model 'mine': input is a number")


def test_json_is_on_stdout_alone(run: Any) -> None:
    code, out, err = run(
        QUICKSTART, "--model", "gpt-4.1", "--embeddings", "text-embedding-3-small", "--json"
    )
    assert code == 0
    data = json.loads(out)
    assert data["rows"] == 24
    assert data["total"]["embedding_calls"] == 24
    assert [each["metric"] for each in data["metrics"]][:2] == ["faithfulness", "context_recall"]
    assert "embedded" in err
    assert "total" in err


def test_the_page_shows_what_the_command_prints(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    _, out, _ = run("fixtures/quickstart/dataset.jsonl", "--model", "gpt-4.1-mini")
    page = [text.rstrip() for text in PAGE.read_text("utf-8").splitlines()]
    assert [text.rstrip() for text in out.splitlines() if text.rstrip() not in page] == []


def test_the_page_says_how_far_off_the_forecast_was() -> None:
    spec = importlib.util.spec_from_file_location("forecast", ROOT / "benchmarks" / "forecast.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    page = PAGE.read_text("utf-8")
    for table in (module.token_table(), module.forecast_table()):
        assert "\n".join(table) in page, (
            "run benchmarks/forecast.py and put its output into the page"
        )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--metrics", "faithfulnes"], "did you mean 'faithfulness'"),
        (["--metrics", ","], "names no metric"),
        (["--prices", "none.toml"], "none.toml: cannot be read"),
        (["--limit", "0"], "limit"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(run: Any, arguments: list[str], said: str) -> None:
    code, out, err = run(QUICKSTART, *arguments)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert said in err


def test_a_bad_dataset_is_the_error_that_evaluate_gives(
    run: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    file = tmp_path / "data.jsonl"
    file.write_text('{"question": "When?"}\n', encoding="utf-8")
    code, _, err = run(file)
    out = tmp_path / "run"
    assert main(["evaluate", str(file), "--model", "m", "--out", str(out)]) == code == 2
    assert capsys.readouterr().err == err


def test_a_metric_that_cannot_be_bound_is_told() -> None:
    with pytest.raises(SetupError):
        plan(ROWS, [Faithfulness(llm=object())])
