"""benchmarks/accuracy.py as it is run, on rows of its own and a scripted judge."""

from __future__ import annotations

import asyncio
import doctest
import importlib
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from ragas_judge.judge import Judge, Reply, Request, RetryPolicy, ScriptedTransport, Usage
from ragas_judge.judge.errors import JudgeRequestError, JudgeUnreachableError
from ragas_judge.metrics import Faithfulness

BENCHMARKS = str(Path(__file__).resolve().parent.parent / "benchmarks")
sys.path.insert(0, BENCHMARKS)
accuracy: Any = importlib.import_module("accuracy")
agreement: Any = importlib.import_module("_agreement")
methods: Any = importlib.import_module("_methods")
ours: Any = importlib.import_module("_ours")
own: Any = importlib.import_module("_ragas_own")
verdict_file: Any = importlib.import_module("_verdict_file")
sys.path.remove(BENCHMARKS)

Answer = Callable[[Request], Any]

TRUE, FALSE = "The tower at Orrin is green.", "The tower at Orrin is square."
CONTEXT = "The tower at Orrin is green and its bell is loud."
NOISE = "A baker in Lund sells round loaves."
QUESTION = "What colour is the tower at Orrin?"
SETS: dict[str, list[dict[str, Any]]] = {
    "claim": [
        {"claim": claim, "retrieved_contexts": [CONTEXT, f"{NOISE} {n}"], "label": int(label)}
        for n in range(3)
        for claim, label in ((f"{TRUE} ({n})", True), (f"{FALSE} ({n})", False))
    ],
    "response": [
        {"user_input": QUESTION, "response": text, "retrieved_contexts": [CONTEXT], "label": label}
        for text, label in ((TRUE, 1), (f"{TRUE} {FALSE}", 0))
    ],
    "contexts": [
        {
            "user_input": QUESTION,
            "reference": "Green.",
            "retrieved_contexts": [NOISE, CONTEXT, NOISE],
            "labels": {"relevant": [0, 1, 0]},
        }
    ],
    "recall": [
        {
            "user_input": QUESTION,
            "reference": f"{TRUE} {FALSE}",
            "retrieved_contexts": [CONTEXT],
            "labels": {"reference_sentences": [TRUE, FALSE], "supported": [1, 0]},
        }
    ],
    "pair": [
        {"user_input": QUESTION, "responses": ["Bread is baked daily.", TRUE], "label": 1},
        {"user_input": QUESTION, "responses": [TRUE, "Bread is baked nightly."], "label": 0},
    ],
}
USAGE = Usage(100, 10)


def supported(text: str) -> bool:
    return "square" not in text


def answer_ours(request: Request, scripted: Any) -> dict[str, Any]:
    """Whatever is asked, by the words: "square" stands in no context."""
    items, asked = scripted.items_of(request), request.prompt.id if request.prompt else ""
    if asked == "reverse_question":
        on_topic = "tower" in request.messages[-1].content
        question = QUESTION if on_topic else "When is bread baked?"
        return {
            item_id: {"question": question, "noncommittal": False}
            for item_id in scripted.ids_of(request)
        }
    answers: dict[str, Callable[[str], Any]] = {
        "claim_extraction": lambda text: [text],
        "context_usefulness": lambda text: {"useful": "tower" in text, "quote": text},
    }
    verdict: Callable[[str], Any] = lambda text: (  # noqa: E731
        {"verdict": "supported", "context": 1, "quote": "The tower at Orrin is green"}
        if supported(text)
        else {"verdict": "not_found", "context": 0, "quote": ""}
    )
    return {item_id: answers.get(asked, verdict)(items[item_id]) for item_id in items}


def answer_ragas(request: Request) -> dict[str, Any]:
    """In the forms of ragas' prompts; the row's own text stands last in them."""
    asked = request.messages[-1].content
    given = json.loads(asked.split("input: ")[-1].rpartition("}")[0] + "}")
    if "statements" in given:
        return {
            "statements": [
                {"statement": text, "reason": "", "verdict": int(supported(text))}
                for text in given["statements"]
            ]
        }
    if set(given) == {"response"}:
        on_topic = "tower" in given["response"]
        question = QUESTION if on_topic else "When is bread baked?"
        return {"question": question, "noncommittal": 0}
    if "context" not in given:
        parts = [f"{part}." for part in given["answer"].split(".") if part.strip()]
        return {"statements": [part.strip() for part in parts]}
    if "classifications" in asked.split("EXAMPLES")[0]:
        parts = [f"{part}.".strip() for part in given["answer"].split(".") if part.strip()]
        return {
            "classifications": [
                {"statement": text, "reason": "", "attributed": int(supported(text))}
                for text in reversed(parts)
            ]
        }
    return {"reason": "", "verdict": int("tower" in given["context"])}


@pytest.fixture
def answer(scripted: Any) -> Answer:
    """Right answers to ours and to ragas' prompts, with usage."""

    def either(request: Request) -> Reply:
        data = answer_ragas(request) if request.schema is None else answer_ours(request, scripted)
        return Reply(json.dumps(data), usage=USAGE)

    return either


def embed(texts: list[str]) -> list[list[float]]:
    return [[float("tower" in text), float("tower" not in text)] for text in texts]


class Bench:
    """Runs the command on some sets with a judge that answers from a function."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
        self.folder, self.capsys = folder, capsys
        self.out = folder / "verdicts.jsonl"
        self.transport: Any = None
        self._patch = monkeypatch
        monkeypatch.setattr(agreement, "RESAMPLES", 200)

    def __call__(
        self, answer: Answer, *options: str, sets: Sequence[str] = tuple(SETS), code: int = 0
    ) -> Any:
        self.transport = ScriptedTransport(answer)

        def judge(_: Any) -> Judge:
            return Judge(
                "scripted",
                transport=self.transport,
                embeddings=embed,
                max_reasks=0,
                retry=RetryPolicy(attempts=1),
            )

        self._patch.setattr(accuracy, "make_judge", judge)
        paths = []
        for name in sets:
            paths.append(self.folder / f"{name}.jsonl")
            rows = (json.dumps(row) + "\n" for row in SETS[name])
            paths[-1].write_text("".join(rows), "utf-8")
        arguments = [*map(str, paths), "--judge", "scripted", "--out", str(self.out), *options]
        self.capsys.readouterr()
        assert accuracy.main([*arguments, "--json"]) == code
        told = self.capsys.readouterr()
        self.stderr = told.err
        return json.loads(told.out) if told.out else None

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.read_text("utf-8").splitlines()]


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> Bench:
    return Bench(tmp_path, monkeypatch, capsys)


def by_set(report: Any) -> dict[tuple[str, str], Any]:
    return {(entry["set"], entry["method"]): entry for entry in report["sets"]}


def test_all_aims_by_ours_and_by_ragas(bench: Bench, answer: Answer) -> None:
    report = bench(answer, "--method", "batched", "--method", "ragas")
    assert {entry["set"] for entry in report["sets"]} == set(SETS)
    for key, entry in by_set(report).items():
        assert entry["balanced_accuracy"] == 1, key
        assert entry["coverage"] == 1
        assert entry["value_off"] == pytest.approx(0, abs=1e-6) or entry["value_off"] is None
    assert report["open"] == 0
    assert all(entry["difference"] == 0 for entry in report["differences"])


def test_tokens_and_calls_are_shares_of_a_verdict(bench: Bench, answer: Answer) -> None:
    report = bench(answer, "--method", "batched", "--method", "ragas", sets=["contexts", "pair"])
    found = {key: (e["calls"], e["input"], e["output"]) for key, e in by_set(report).items()}
    assert found["contexts", "batched"] == pytest.approx((1 / 3, 100 / 3, 10 / 3))
    assert found["contexts", "ragas"] == (1, 100, 10)
    assert found["pair", "batched"] == (2, 200, 20)
    assert found["pair", "ragas"] == (6, 600, 60)  # three questions for each response


def test_unknown_tokens_stay_unknown(bench: Bench, answer: Answer) -> None:
    (entry,) = bench(lambda r: Reply(answer(r).text), "--method", "ragas", sets=["claim"])["sets"]
    assert (entry["input"], entry["output"], entry["calls"]) == (None, None, 1)


def test_a_second_run_asks_only_for_what_is_missing(bench: Bench, answer: Answer) -> None:
    bench(answer, "--limit", "2", sets=["claim"])
    assert len(bench.transport.requests) == 2
    report = bench(answer, sets=["claim", "response"])
    assert len(bench.transport.requests) == 4 + 2 * 2
    assert report == bench(answer, sets=["claim", "response"])
    assert bench.transport.requests == []


def test_printing_asks_nobody_and_says_what_is_open(bench: Bench, answer: Answer) -> None:
    bench(answer, "--limit", "2", sets=["claim"])
    report = bench(answer, "--print", sets=["claim"])
    assert bench.transport.requests == []
    assert (report["open"], report["sets"][0]["items"]) == (4, 2)


def test_the_file_holds_no_text_and_no_label(bench: Bench, answer: Answer) -> None:
    bench(answer, "--method", "batched", "--method", "ragas")
    said = bench.out.read_text("utf-8")
    for word in ("Orrin", "tower", "Green", "baker", "label", "gold"):
        assert word not in said
    assert {line["judge"] for line in bench.lines()} == {"scripted"}


def test_a_mended_label_costs_no_call(
    bench: Bench, answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert bench(answer, sets=["claim"])["sets"][0]["balanced_accuracy"] == 1
    mended = [row | {"label": 1 - row["label"]} for row in SETS["claim"]]
    monkeypatch.setitem(SETS, "claim", mended)
    assert bench(answer, sets=["claim"])["sets"][0]["balanced_accuracy"] == 0
    assert bench.transport.requests == []


def test_a_row_that_fails_lowers_coverage_and_is_asked_again_on_demand(
    bench: Bench, answer: Answer
) -> None:
    def refuse(request: Request) -> Any:
        if f"{FALSE} (1)" in request.messages[-1].content:
            raise JudgeRequestError("too long")
        return answer(request)

    for method in ("batched", "ragas"):
        options = ("--method", method)
        (entry,) = bench(refuse, *options, sets=["claim"])["sets"]
        assert entry["no_verdict"] == {"JudgeRequestError": 1}
        assert entry["balanced_accuracy"] == 1
        assert entry["coverage"] == pytest.approx(5 / 6)
        assert entry["none_as_wrong"] == pytest.approx((1 + 2 / 3) / 2)
        bench(answer, *options, sets=["claim"])
        assert bench.transport.requests == []
        (entry,) = bench(answer, *options, "--again", sets=["claim"])["sets"]
        assert len(bench.transport.requests) == 1
        assert (entry["coverage"], entry["no_verdict"]) == (1, {})


def test_replies_that_cannot_be_read_are_no_verdict(bench: Bench) -> None:
    options = ("--method", "batched", "--method", "ragas", "--limit", "1")
    report = bench(lambda _: "no idea", *options)
    assert all(entry["coverage"] == 0 for entry in report["sets"])
    reasons = {line["failed"] for line in bench.lines()}
    assert reasons <= {
        "IncompleteVerdictsError",
        "OutputParserException",
        "RagasOutputParserException",
    }
    assert all(entry["balanced_accuracy"] is None for entry in report["sets"])


def test_ragas_empty_list_is_no_verdict(bench: Bench) -> None:
    (entry,) = bench(lambda _: {"statements": []}, "--method", "ragas", sets=["claim"])["sets"]
    assert (entry["coverage"], entry["no_verdict"]) == (0, {"no statements": 6})


def test_a_response_without_claims_has_no_verdict(
    bench: Bench, answer: Answer, scripted: Any
) -> None:
    def claimless(request: Request) -> Any:
        extracts = request.prompt and request.prompt.id == "claim_extraction"
        return {key: [] for key in scripted.ids_of(request)} if extracts else answer(request)

    (entry,) = bench(claimless, sets=["response"])["sets"]
    assert (entry["coverage"], entry["no_verdict"]) == (0, {"no claims": 2})


def test_a_service_that_is_gone_ends_the_run_and_keeps_what_came(
    bench: Bench, answer: Answer
) -> None:
    answered = 0

    def leave(request: Request) -> Any:
        nonlocal answered
        answered += 1
        if answered > 2:
            raise JudgeUnreachableError("connection refused")
        return answer(request)

    report = bench(leave, "--concurrency", "1", sets=["claim"], code=3)
    assert "connection refused" in bench.stderr
    assert (len(bench.lines()), report["open"]) == (2, 4)
    bench(answer, sets=["claim"])
    assert len(bench.transport.requests) == 4


def test_an_interrupt_loses_nothing_that_was_answered(
    bench: Bench, answer: Answer, ctrl_c: Any
) -> None:
    answered = 0

    async def stop(request: Request) -> Any:
        nonlocal answered
        answered += 1
        if answered == 3:
            ctrl_c()
            await asyncio.sleep(60)
        return answer(request)

    report = bench(stop, "--concurrency", "1", sets=["claim"], code=130)
    assert (len(bench.lines()), report["open"]) == (2, 4)
    assert "interrupted" in bench.stderr


def test_a_line_that_was_cut_off_is_asked_for_again(bench: Bench, answer: Answer) -> None:
    bench(answer, sets=["claim"])
    whole = bench.out.read_bytes()
    bench.out.write_bytes(whole[:-20])
    bench(answer, "--print", sets=["claim"])
    assert bench.out.read_bytes() == whole[:-20]
    bench(answer, sets=["claim"])
    assert len(bench.transport.requests) == 1
    assert len(bench.lines()) == 6


@pytest.mark.parametrize("line", ["{}", "nonsense", '{"format": 99}', "[1]"])
def test_a_file_of_something_else_is_refused(bench: Bench, answer: Answer, line: str) -> None:
    bench.out.write_text(f"{line}\n", "utf-8")
    assert bench(answer, sets=["claim"], code=2) is None
    assert f"{bench.out}:1" in bench.stderr
    assert bench.out.read_text("utf-8") == f"{line}\n"


def test_verdicts_of_other_prompts_are_not_used(bench: Bench, answer: Answer) -> None:
    bench(answer, sets=["claim"])
    (prompt,) = bench.lines()[0]["prompts"]
    changed = bench.out.read_text("utf-8").replace(prompt, prompt[:-4] + "zzzz")
    bench.out.write_text(changed, "utf-8")
    report = bench(answer, sets=["claim"])
    assert len(bench.transport.requests) == 6
    assert report["stale"] == 6


def test_verdicts_of_another_model_or_temperature_are_others(bench: Bench, answer: Answer) -> None:
    bench(answer, sets=["claim"])
    for old, new in (('"scripted"', '"other"'), ("0.0", "0.7")):
        text = bench.out.read_text("utf-8")
        bench.out.write_text(text.replace(old, new), "utf-8")
        assert bench(answer, "--print", sets=["claim"])["open"] == 6
        bench.out.write_text(text, "utf-8")


def test_a_bad_data_file_is_one_line_and_exit_code_2(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text('{"claim": "x"}\n', "utf-8")
    assert accuracy.main([str(path), "--judge", "offline"]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"error: {path}:1: a row of no known form")
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--judge", "offline", "--method", "ragas"], "has the method offline alone"),
        (["--judge", "any", "--method", "vote"], "there are batched"),
        (["--judge", "any", "--method", "batched+votes=x"], "no option"),
        (["--judge", "any", "--method", "batched+tries=2"], "no option"),
        (["--judge", "any", "--method", "batched+quotes=loud"], "quotes is one of"),
        (["--judge", "any", "--method", "ragas+votes=3"], "without"),
        (["--judge", "any", "--baseline", "ragas"], "none of the methods"),
        (["--judge", "any"], "OPENAI_API_KEY is not set"),
    ],
)
def test_options_that_make_no_sense(
    options: list[str], said: str, tmp_path: Path, capsys: Any
) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in SETS["claim"]), "utf-8")
    assert accuracy.main([str(path), *options]) == 2
    assert said in capsys.readouterr().err


def test_the_key_and_the_address_are_the_judges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "secret")
    more = ["--base-url", "http://127.0.0.1:9/v1", "--api-key-env", "MY_KEY", "--max-tokens", "9"]
    options = accuracy.parser().parse_args(["x.jsonl", "--judge", "tiny", *more])
    judge = accuracy.make_judge(options)
    assert (judge.model, judge.endpoint) == ("tiny", "http://127.0.0.1:9/v1")
    assert judge.sampling == {"temperature": 0.0, "max_tokens": 9}


# --- methods -------------------------------------------------------------------------------------


def test_names_tell_all_options_that_bear_on_an_aim() -> None:
    method = methods.parse_method("per_claim+cascade=0.1:0.9+votes=3+quotes=none")
    assert method.label == "per_claim+quotes=none+votes=3+cascade=0.1:0.9"
    assert method.how.cascade == (0.1, 0.9)
    assert method.name("pair") == method.name("contexts") == "batched"
    assert methods.parse_method("per_context").name("contexts") == "per_context"
    assert methods.parse_method("probability").label == "probability+quotes=none"
    assert methods.parse_method(method.label) == method


def test_options_that_change_nothing_for_an_aim_are_not_asked_twice(
    bench: Bench, answer: Answer
) -> None:
    report = bench(
        answer, "--method", "batched", "--method", "batched+quotes=none", sets=["contexts"]
    )
    assert len(bench.transport.requests) == 1
    assert [entry["method"] for entry in report["sets"]] == ["batched"]


def test_contexts_one_by_one(bench: Bench, answer: Answer) -> None:
    (entry,) = bench(answer, "--method", "per_context", sets=["contexts"])["sets"]
    assert (entry["balanced_accuracy"], entry["calls"]) == (1, 1)


def test_the_way_of_checking_reaches_the_steps(
    bench: Bench, answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    async def verify(self: Any, claims: Any, contexts: Any, how: Any) -> list[Any]:
        seen.append((how, list(contexts.values())))
        return [Graded(claim, 0.9 if supported(claim.text) else 0.2) for claim in claims]

    monkeypatch.setattr(ours.Steps, "verify_claims", verify)
    (entry,) = bench(answer, "--method", "probability+quotes=nearest", sets=["claim"])["sets"]
    assert {(how.method, how.quotes) for how, _ in seen} == {("probability", "nearest")}
    assert (entry["auc"], entry["balanced_accuracy"]) == (1, 1)
    assert sorted(line["graded"] for line in bench.lines()) == [[0.2]] * 3 + [[0.9]] * 3


def test_offline_verdicts_are_the_same_beside_any_model(
    bench: Bench, answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    makes = ours.make_steps

    class Offline:
        calls: tuple[Any, ...] = ()

        async def verify_claims(self, claims: Any, contexts: Any, how: Any) -> list[Any]:
            return [Graded(claim, 0.8 if supported(claim.text) else 0.3) for claim in claims]

    monkeypatch.setattr(ours, "make_steps", lambda r, j: makes(r, j) if j else Offline())
    report = bench(answer, "--method", "offline", "--method", "batched", sets=["claim"])
    found = by_set(report)["claim", "offline"]
    assert (found["calls"], found["input"], found["auc"]) == (0, 0, 1)
    data = [str(bench.folder / "claim.jsonl"), "--out", str(bench.out), "--json"]
    monkeypatch.setattr(ours, "ask_ours", None)
    monkeypatch.setattr(accuracy, "make_judge", lambda _: None)
    assert accuracy.main([*data, "--judge", "offline"]) == 0
    (again,) = json.loads(bench.capsys.readouterr().out)["sets"]
    assert again == found


def test_a_response_gets_what_faithfulness_says(bench: Bench, answer: Answer) -> None:
    bench(answer, sets=["response"])
    found = sorted(line["graded"][0] for line in bench.lines())
    metric = Faithfulness(Judge("scripted", transport=ScriptedTransport(answer)))
    scores = [asyncio.run(metric.explain(row)).value for row in SETS["response"]]
    assert found == sorted(scores) == [0.5, 1.0]


def test_sentences_are_matched_with_the_statements_most_like_them() -> None:
    statements = ["Its bell was cast long ago.", "The tower is green"]
    assert own.aligned(["The tower is green.", "The bell was cast."], statements) == [1, 0]


class Graded:
    """A verdict as the steps give it, with a probability."""

    quote, verified = None, True

    def __init__(self, claim: Any, probability: float) -> None:
        self.claim, self.probability = claim, probability
        self.verdict = "supported" if probability > 0.5 else "not_found"


# --- tables --------------------------------------------------------------------------------------


def test_the_tables_name_methods_and_leave_empty_columns_out(
    bench: Bench, answer: Answer, capsys: Any
) -> None:
    bench(answer, "--method", "batched", "--method", "ragas", sets=["claim", "response"])
    data = [str(bench.folder / f"{name}.jsonl") for name in ("claim", "response")]
    options = ["--judge", "scripted", "--out", str(bench.out), "--print"]
    both = ["--method", "batched", "--method", "ragas"]
    assert accuracy.main([*data, *options, *both, "--markdown"]) == 0
    said = capsys.readouterr().out
    assert "| claim | H | ragas | 6 | 1.000 |" in said
    assert "value off" not in said
    assert said.count("AUC") == 1
    assert accuracy.main([*data, *options, *both]) == 0
    assert "paired differences" in capsys.readouterr().out


def test_differences_are_of_each_method_from_the_baseline(bench: Bench, answer: Answer) -> None:
    def gullible(request: Request) -> Any:
        if request.schema is None:  # ragas' prompts
            return {"statements": [{"statement": "x", "reason": "", "verdict": 1}]}
        return answer(request)

    report = bench(gullible, "--method", "batched", "--method", "ragas", sets=["claim"])
    (entry,) = report["differences"]
    assert (entry["method"], entry["baseline"]) == ("batched+quotes=after", "ragas")
    assert (entry["difference"], entry["items"]) == (0.5, 6)
    both = ("--method", "batched", "--method", "ragas", "--baseline", "batched")
    (entry,) = bench(gullible, *both, sets=["claim"])["differences"]
    assert (entry["method"], entry["difference"]) == ("ragas", -0.5)


@pytest.mark.parametrize(
    "name", ["_agreement", "_labelled", "_methods", "_ragas_own", "_shown", "_verdict_file"]
)
def test_examples_in_the_modules_run(name: str) -> None:
    found = doctest.testmod(sys.modules[name])
    assert found.attempted > 0
    assert found.failed == 0
