"""ragas' own metrics over a judge: their scores, and what the judge adds to them."""

from __future__ import annotations

import asyncio
import copy
import json
import logging
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import ragas
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.prompt_values import ChatPromptValue, StringPromptValue
from ragas import EvaluationDataset, RunConfig
from ragas.cost import TokenUsage, get_token_usage_for_openai
from ragas.embeddings.base import BaseRagasEmbedding, BaseRagasEmbeddings
from ragas.llms.base import BaseRagasLLM
from ragas.metrics import (
    AspectCritic,
    FactualCorrectness,
    Faithfulness,
    LLMContextPrecisionWithReference,
    LLMContextRecall,
    ResponseRelevancy,
    RubricsScore,
    SemanticSimilarity,
)

from ragas_judge.judge import (
    Judge,
    Recordings,
    Reply,
    ReplyState,
    Request,
    RetryPolicy,
    ScriptedTransport,
    Usage,
    adopt_embedder,
)
from ragas_judge.judge._ragas_results import chat, token_counts
from ragas_judge.judge.as_ragas import ragas_embeddings, ragas_llm
from ragas_judge.judge.errors import (
    FilteredReplyError,
    InputError,
    JudgeAuthError,
    JudgeRateLimitError,
    JudgeRequestError,
    JudgeUnavailableError,
    TruncatedReplyError,
    UnreadableReplyError,
)

ROWS = [
    {
        "user_input": "How long is the crossing?",
        "response": "The crossing takes 25 minutes. Dogs travel free.",
        "retrieved_contexts": ["The ferry is blue.", "The crossing takes 25 minutes."],
        "reference": "The crossing takes 25 minutes. The ferry leaves at noon.",
    },
    {
        "user_input": "What does a ticket cost?",
        "response": "A ticket costs 4 euros.",
        "retrieved_contexts": ["A ticket costs 4 euros."],
        "reference": "A ticket costs 4 euros.",
    },
]
SCORES = [
    {
        "faithfulness": 0.5,  # the dogs are in no context
        "context_recall": 0.5,  # nor is noon
        "llm_context_precision_with_reference": 0.5,  # useful is the second context only
        "answer_relevancy": 0.8,  # the mean of the three cosines below
        "factual_correctness(mode=f1)": 0.5,  # one claim of two each way
        "names_a_price": 0,
        "domain_specific_rubrics": 2,
    },
    {
        "faithfulness": 1.0,
        "context_recall": 1.0,
        "llm_context_precision_with_reference": 1.0,
        "answer_relevancy": 0.8,
        "factual_correctness(mode=f1)": 1.0,
        "names_a_price": 1,
        "domain_specific_rubrics": 1,
    },
]
QUESTIONS = ["First question?", "Second question?", "Third question?"]
VECTORS = {"First question?": [1.0, 0.0], "Second question?": [0.6, 0.8], "Third question?": [4, 3]}
HELLO = StringPromptValue(text="hello")


def embed(texts: list[str]) -> list[list[float]]:
    """Vectors whose cosines with a row's question are 1, 0.6 and 0.8."""
    return [VECTORS.get(text, [1.0, 0.0]) for text in texts]


def metrics() -> list[Any]:
    return [
        Faithfulness(),
        LLMContextRecall(),
        LLMContextPrecisionWithReference(),
        ResponseRelevancy(),
        FactualCorrectness(),
        AspectCritic(name="names_a_price", definition="Does the response name a price?"),
        RubricsScore(),
    ]


def sentences(text: str) -> list[str]:
    return re.findall(r"[^.]+\.", text.replace(". ", "."))


def form(prompt: str) -> str:
    """The name of the object that one of ragas' prompts asks for."""
    found = re.findall(r'"title": "(\w+)", "type": "object"}Do not use', prompt)
    assert len(found) == 1
    return str(found[0])


def answer(prompt: str, sample: int) -> dict[str, Any]:
    """Right answers to ragas' prompts: what stands in a text word by word is supported by it."""
    row = json.loads(re.split(r"\n[Ii]nput: ", prompt)[-1].removesuffix("Output: "))

    def claims(text: str, context: str) -> list[dict[str, Any]]:
        return [
            {"statement": each, "reason": "", "verdict": int(each in context)}
            for each in sentences(text)
        ]

    answers: dict[str, Callable[[], dict[str, Any]]] = {
        "StatementGeneratorOutput": lambda: {"statements": sentences(row["answer"])},
        "NLIStatementOutput": lambda: {
            "statements": claims(" ".join(row["statements"]), row["context"])
        },
        "ContextRecallClassifications": lambda: {
            "classifications": [
                {**each, "attributed": each["verdict"]}
                for each in claims(row["answer"], row["context"])
            ]
        },
        "Verification": lambda: {"reason": "", "verdict": int(row["context"] in row["answer"])},
        "ResponseRelevanceOutput": lambda: {"question": QUESTIONS[sample], "noncommittal": 0},
        "ClaimDecompositionOutput": lambda: {"claims": sentences(row["response"])},
        "AspectCriticOutput": lambda: {"reason": "", "verdict": int("euros" in row["response"])},
        "ScoreFeedback": lambda: {"feedback": "", "score": len(sentences(row["response"]))},
    }
    return answers[form(prompt)]()


def well(request: Request) -> Any:
    return answer(request.messages[-1].content, request.repetition)


async def no_sleep(_: float) -> None:
    """Waiting is not tested here."""


def scripted(reply: Callable[[Request], Any] = well, **settings: Any) -> Judge:
    settings = {"embeddings": embed, "retry": RetryPolicy(sleep=no_sleep), **settings}
    return Judge("scripted", transport=ScriptedTransport(reply), **settings)


def seen(judge: Judge) -> list[Request]:
    transport = judge._live
    assert isinstance(transport, ScriptedTransport)
    return transport.requests


def evaluate(judge: Judge, wanted: list[Any], **more: Any) -> Any:
    return ragas.evaluate(
        EvaluationDataset.from_list(more.pop("rows", ROWS)),
        wanted,
        llm=ragas_llm(judge),
        embeddings=ragas_embeddings(judge),
        show_progress=False,
        allow_nest_asyncio=False,
        **{"raise_exceptions": True, **more},
    )


def generate(judge: Judge, n: int = 1, prompt: Any = HELLO, **more: Any) -> Any:
    return asyncio.run(ragas_llm(judge).generate(prompt, n, **more))


def expected(scores: list[dict[str, float]]) -> list[Any]:
    return [pytest.approx(row) for row in scores]


# --- ragas' metrics --------------------------------------------------------------------------


def test_ragas_metrics_score_what_the_answers_imply_and_the_judge_stays_as_it_was() -> None:
    judge = scripted(seed=7)
    before = (dict(vars(judge)), judge.sampling, judge.retry, judge.endpoint)
    assert evaluate(judge, metrics()).scores == expected(SCORES)
    assert before == (dict(vars(judge)), judge.sampling, judge.retry, judge.endpoint)


def test_a_second_evaluation_on_another_event_loop_over_http(fake_openai: Any) -> None:
    server = fake_openai(lambda body: answer(body["messages"][-1]["content"], 0))
    judge = Judge("m", base_url=server.url, api_key="none", embeddings=embed)
    wanted = [Faithfulness(), LLMContextRecall()]
    for _ in range(2):
        scores = evaluate(judge, wanted).scores
        assert [row["faithfulness"] for row in scores] == [0.5, 1.0]
        assert [row["context_recall"] for row in scores] == [0.5, 1.0]
    assert len(server.bodies) == 2 * 2 * 3


def test_each_request_leaves_with_its_own_temperature_and_never_more_than_one_sample(
    fake_openai: Any,
) -> None:
    server = fake_openai(lambda body: answer(body["messages"][-1]["content"], 1))
    judge = Judge("m", base_url=server.url, api_key="none", embeddings=embed)
    wanted = [Faithfulness(), ResponseRelevancy(), LLMContextPrecisionWithReference()]
    evaluate(judge, wanted, rows=ROWS * 3)
    sent = [(form(body["messages"][-1]["content"]), body) for body in server.bodies]
    assert {body["temperature"] for name, body in sent if name != "ResponseRelevanceOutput"} == {0}
    several = [body for name, body in sent if name == "ResponseRelevanceOutput"]
    assert len(several) == 6 * 3
    assert {body["temperature"] for body in several} == {0.3}
    assert {body.get("n", 1) for _, body in sent} == {1}


def test_two_evaluations_at_once_keep_their_judges_apart() -> None:
    def verdict(value: int) -> Callable[[Request], Any]:
        async def reply(request: Request) -> Any:
            await asyncio.sleep(0)
            good = well(request)
            for each in good["statements"] if "NLI" in form(request.messages[-1].content) else ():
                each["verdict"] = value
            return good

        return reply

    async def both() -> Any:
        return await asyncio.gather(
            *(
                ragas.aevaluate(
                    EvaluationDataset.from_list(ROWS),
                    [Faithfulness()],
                    llm=ragas_llm(judge),
                    show_progress=False,
                    raise_exceptions=True,
                )
                for judge in judges
            )
        )

    judges = [scripted(verdict(1)), scripted(verdict(0))]
    yes, no = asyncio.run(both())
    assert yes["faithfulness"] == [1.0, 1.0]
    assert no["faithfulness"] == [0.0, 0.0]
    assert [len(seen(judge)) for judge in judges] == [4, 4]


# --- samples and parameters ------------------------------------------------------------------


def test_three_samples_are_three_requests_in_order() -> None:
    judge = scripted(lambda request: f"sample {request.repetition}")
    (samples,) = generate(judge, 3).generations
    assert [each.text for each in samples] == ["sample 0", "sample 1", "sample 2"]
    assert len({request.key() for request in seen(judge)}) == 3


@pytest.mark.parametrize(
    ("own", "n", "asked", "sent"),
    [
        (0.0, 1, None, 0.0),  # the judge's own
        (0.0, 3, None, 0.3),  # ragas' own for several samples
        (0.7, 3, None, 0.7),
        (None, 3, None, None),
        (0.7, 1, 0.1, 0.1),  # what a metric asks for goes before
        (0.7, 3, 0.0, 0.0),
    ],
)
def test_the_temperature_of_a_request(
    own: float | None, n: int, asked: float | None, sent: float | None
) -> None:
    judge = scripted(lambda request: "hello", temperature=own)
    generate(judge, n, temperature=asked)
    assert [request.sampling.get("temperature") for request in seen(judge)] == [sent] * n


def test_a_seed_counts_up_so_that_samples_differ() -> None:
    judge = scripted(lambda request: "hello", seed=7, temperature=0.5)
    generate(judge, 3)
    assert [request.sampling["seed"] for request in seen(judge)] == [7, 8, 9]


def test_stop_strings_travel_with_the_request() -> None:
    judge = scripted(lambda request: "hello")
    generate(judge, stop=["\n"])
    generate(judge)
    assert [request.sampling.get("stop") for request in seen(judge)] == [["\n"], None]


def test_one_failed_sample_fails_the_call_and_the_others_are_recorded(tmp_path: Path) -> None:
    async def reply(request: Request) -> str:
        if request.repetition == 1:
            raise JudgeRequestError("no", status=400)
        for _ in range(50):  # still under way when the other one fails
            await asyncio.sleep(0)
        return "hello"

    judge = scripted(reply, temperature=0.5, recordings=Recordings(tmp_path / "r", "missing"))
    with pytest.raises(JudgeRequestError):
        generate(judge, 3)
    assert len(list((tmp_path / "r" / "other").glob("*.json"))) == 2


# --- prompts ---------------------------------------------------------------------------------


def test_a_chat_keeps_its_roles() -> None:
    judge = scripted(lambda request: "hello")
    messages = [
        SystemMessage("Be brief."),
        HumanMessage("Hello"),
        AIMessage("Hi"),
        HumanMessage("?"),
    ]
    generate(judge, prompt=ChatPromptValue(messages=messages))
    assert [tuple(message) for message in seen(judge)[0].messages] == [
        ("system", "Be brief."),
        ("user", "Hello"),
        ("assistant", "Hi"),
        ("user", "?"),
    ]


IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
CALL = {"name": "look", "args": {}, "id": "1", "type": "tool_call"}


@pytest.mark.parametrize(
    "message",
    [
        HumanMessage([{"type": "text", "text": "What is this?"}, IMAGE]),
        ToolMessage("42", tool_call_id="1"),
        AIMessage("", tool_calls=[CALL]),
    ],
)
def test_what_is_not_text_is_refused_and_not_left_out(message: Any) -> None:
    judge = scripted()
    with pytest.raises(InputError, match="takes text"):
        generate(judge, prompt=ChatPromptValue(messages=[message]))
    assert not seen(judge)


def test_text_in_parts_is_joined() -> None:
    parts = HumanMessage([{"type": "text", "text": "one"}, {"type": "text", "text": "two"}])
    assert chat([parts]) == [("user", "one\ntwo")]


# --- replies that cannot be used -------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "error"),
    [
        (ReplyState.LENGTH, TruncatedReplyError),
        (ReplyState.FILTERED, FilteredReplyError),
        (ReplyState.EMPTY, UnreadableReplyError),
    ],
)
@pytest.mark.parametrize("method", ["generate", "agenerate_text"])
def test_an_unusable_reply_is_an_error_with_its_text(
    method: str, state: ReplyState, error: type[Exception]
) -> None:
    judge = scripted(lambda request: Reply('{"statements": [', state))
    with pytest.raises(error) as caught:
        asyncio.run(getattr(ragas_llm(judge), method)(HELLO))
    assert caught.value.raw == '{"statements": ['  # type: ignore[attr-defined]
    assert len(seen(judge)) == 1


@pytest.mark.parametrize("finish", ["length", "content_filter"])
def test_a_cut_or_filtered_reply_costs_its_row_and_no_repair(fake_openai: Any, finish: str) -> None:
    def reply(body: dict[str, Any]) -> Any:
        prompt = body["messages"][-1]["content"]
        content = answer(prompt, 0)
        cut = "euros" in prompt and form(prompt) == "NLIStatementOutput"
        return fake_openai.Reply(content, finish=finish if cut else "stop")

    server = fake_openai(reply)
    judge = Judge("m", base_url=server.url, api_key="none", embeddings=embed)
    first, second = evaluate(judge, [Faithfulness()], raise_exceptions=False)["faithfulness"]
    assert first == 0.5
    assert math.isnan(second)
    assert len(server.bodies) == 4


# --- retries ---------------------------------------------------------------------------------


def test_a_refusal_is_retried_once_by_the_judge(fake_openai: Any) -> None:
    refused: list[str] = []

    def reply(body: dict[str, Any]) -> Any:
        prompt = body["messages"][-1]["content"]
        if not refused:
            refused.append(prompt)
            return fake_openai.Reply("slow down", status=429, headers={"retry-after": "0"})
        return answer(prompt, 0)

    server = fake_openai(reply)
    retry = RetryPolicy(sleep=no_sleep)
    judge = Judge("m", base_url=server.url, api_key="none", embeddings=embed, retry=retry)
    assert evaluate(judge, [Faithfulness()])["faithfulness"] == [0.5, 1.0]
    assert len(server.bodies) == 4 + 1


def test_ragas_does_not_try_again_after_the_judge_gave_up() -> None:
    def reply(request: Request) -> str:
        raise JudgeUnavailableError("down", status=500)

    judge = scripted(reply, retry=RetryPolicy(attempts=2, sleep=no_sleep))
    with pytest.raises(JudgeUnavailableError):
        evaluate(judge, [Faithfulness()], rows=ROWS[:1])
    assert len(seen(judge)) == 2


def test_the_result_tells_the_number_of_tries() -> None:
    replies = iter([JudgeRateLimitError("slow down", status=429), None])

    def reply(request: Request) -> str:
        error = next(replies)
        if error is not None:
            raise error
        return "hello"

    ((sample,),) = generate(scripted(reply)).generations
    assert sample.generation_info["attempts"] == 2


# --- recordings ------------------------------------------------------------------------------


@pytest.mark.parametrize("temperature", [0.0, 0.5])
def test_recorded_once_and_replayed_with_the_same_scores(
    tmp_path: Path, temperature: float
) -> None:
    folder = tmp_path / "recordings"
    recording = scripted(temperature=temperature, recordings=Recordings(folder, "missing"))
    live = evaluate(recording, metrics()).scores
    asked = len(seen(recording))
    assert evaluate(recording, metrics()).scores == live
    assert len(seen(recording)) == asked
    replayed = Judge.replay(folder, embeddings=embed, transport=ScriptedTransport(well))
    assert evaluate(replayed, metrics()).scores == live == expected(SCORES)
    assert seen(replayed) == []
    assert replayed.recordings is not None
    assert replayed.recordings.unused() == []


def test_what_is_in_the_cache_is_neither_asked_nor_counted_again(tmp_path: Path) -> None:
    def reply(request: Request) -> Reply:
        return Reply(json.dumps(well(request)), usage=Usage(3, 2))

    judge = scripted(reply, cache=tmp_path / "cache.db")
    parser = {"token_usage_parser": get_token_usage_for_openai}
    first = evaluate(judge, metrics(), **parser)
    asked = len(seen(judge))
    second = evaluate(judge, metrics(), **parser)
    assert first.scores == second.scores == expected(SCORES)
    assert len(seen(judge)) == asked
    assert first.total_tokens().input_tokens == 3 * asked
    assert second.total_tokens() == TokenUsage(input_tokens=0, output_tokens=0, model="scripted")


# --- usage and callbacks ---------------------------------------------------------------------


def test_ragas_counts_the_tokens_of_every_sample(fake_openai: Any) -> None:
    server = fake_openai(lambda body: answer(body["messages"][-1]["content"], 1))
    judge = Judge("m", base_url=server.url, api_key="none", embeddings=embed)
    result = evaluate(
        judge, [Faithfulness(), ResponseRelevancy()], token_usage_parser=get_token_usage_for_openai
    )
    calls = 2 * 2 + 2 * 3
    total = TokenUsage(input_tokens=11 * calls, output_tokens=7 * calls, model="fake-model")
    assert result.total_tokens() == total
    assert result.total_cost(cost_per_input_token=1, cost_per_output_token=2) == 25 * calls


def test_a_result_adds_up_its_samples() -> None:
    result = generate(scripted(lambda request: Reply("hello", usage=Usage(3, 2))), 2)
    usage = {"prompt_tokens": 6, "completion_tokens": 4, "total_tokens": 10}
    assert result.llm_output == {"model_name": "scripted", "token_usage": usage}
    assert [each.message.usage_metadata["total_tokens"] for each in result.generations[0]] == [5, 5]


def test_unknown_usage_is_left_out() -> None:
    result = generate(scripted(lambda request: Reply("hello", usage=Usage(3, None))))
    assert result.llm_output == {"model_name": "scripted", "token_usage": {"prompt_tokens": 3}}
    assert result.generations[0][0].message.usage_metadata is None


def test_unknown_usage_is_told_once_where_ragas_counts_it_as_none(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING, "ragas_judge"):
        evaluate(scripted(), [Faithfulness()])
        assert "tokens" not in caplog.text
        evaluate(scripted(), [Faithfulness()], token_usage_parser=get_token_usage_for_openai)
    assert caplog.text.count("scripted does not say how many tokens a reply took") == 1


counts = st.none() | st.integers(0, 10**6)


@given(st.lists(st.builds(Usage, counts, counts), min_size=1))
def test_a_sum_is_there_when_every_part_is(usages: list[Usage]) -> None:
    found = token_counts(usages)
    names = ("prompt_tokens", "completion_tokens")
    parts = ([usage.input for usage in usages], [usage.output for usage in usages])
    for name, part in zip(names, parts, strict=True):
        known = [count for count in part if count is not None]
        assert found.get(name) == (sum(known) if len(known) == len(part) else None)
    both = [found[name] for name in names if name in found]
    assert found.get("total_tokens") == (sum(both) if len(both) == 2 else None)


class Listener(BaseCallbackHandler):
    def __init__(self) -> None:
        self.events: list[tuple[str, Any]] = []

    def on_chat_model_start(self, serialized: Any, messages: Any, **more: Any) -> None:
        self.events.append(("start", more["invocation_params"]["temperature"]))

    def on_llm_end(self, response: Any, **more: Any) -> None:
        self.events.append(("end", response.llm_output["token_usage"]["total_tokens"]))

    def on_llm_error(self, error: BaseException, **more: Any) -> None:
        self.events.append(("error", type(error)))


def test_callbacks_hear_of_each_sample() -> None:
    listener = Listener()
    judge = scripted(lambda request: Reply("hello", usage=Usage(3, 2)))
    generate(judge, 2, callbacks=[listener])
    assert sorted(listener.events) == [("end", 5), ("end", 5), ("start", 0.3), ("start", 0.3)]


def test_calls_hang_below_ragas_own_runs() -> None:
    parents: list[Any] = []

    class Parents(BaseCallbackHandler):
        def on_chat_model_start(self, *_: Any, parent_run_id: Any = None, **more: Any) -> None:
            parents.append(parent_run_id)

    evaluate(scripted(), [Faithfulness()], callbacks=[Parents()])
    assert len(parents) == len(set(parents)) == 4  # one a prompt
    assert None not in parents


def test_callbacks_hear_of_an_error() -> None:
    def reply(request: Request) -> str:
        raise JudgeAuthError("no")

    listener = Listener()
    with pytest.raises(JudgeAuthError):
        generate(scripted(reply), callbacks=[listener])
    assert listener.events == [("start", 0.0), ("error", JudgeAuthError)]


def test_the_tokens_of_a_cut_reply_are_counted() -> None:
    listener = Listener()
    judge = scripted(lambda request: Reply("hel", ReplyState.LENGTH, usage=Usage(3, 2)))
    with pytest.raises(TruncatedReplyError):
        generate(judge, callbacks=[listener])
    assert listener.events == [("start", 0.0), ("end", 5)]


# --- the objects that ragas holds ------------------------------------------------------------


def test_a_try_that_outlasts_ragas_limit_is_told_once() -> None:
    judge = scripted(retry=RetryPolicy(attempt_timeout=60))
    evaluate(judge, metrics()[:3], run_config=RunConfig(timeout=60))  # warnings are errors here
    with pytest.warns(UserWarning, match="one try may take 60 s") as told:
        evaluate(judge, metrics()[:3], run_config=RunConfig(timeout=59))
    assert len([each for each in told if "one try" in str(each.message)]) == 1


@pytest.mark.parametrize("twin_of", [copy.copy, copy.deepcopy])
def test_copies_share_the_judge_and_keep_their_own_run_config(twin_of: Any) -> None:
    judge = scripted(lambda request: "hello")
    llm, embeddings = ragas_llm(judge), ragas_embeddings(judge)
    twin, other = twin_of(llm), twin_of(embeddings)
    assert twin == llm
    assert twin.judge is judge
    twin.set_run_config(RunConfig(timeout=500))
    other.set_run_config(RunConfig(timeout=500))
    assert llm.run_config.timeout == embeddings.run_config.timeout == 180
    assert asyncio.run(twin.generate(HELLO)).generations[0][0].text == "hello"
    assert other.embed_query("x") == [1.0, 0.0]


def test_models_of_two_judges_are_not_equal() -> None:
    first, second = ragas_llm(scripted()), ragas_llm(scripted())
    assert first != second
    assert len({first, second, copy.copy(first)}) == 2


def test_a_cut_reply_is_not_finished() -> None:
    llm = ragas_llm(scripted(lambda request: "hello"))
    result = asyncio.run(llm.generate(HELLO))
    assert llm.is_finished(result)
    result.generations[0][0].generation_info["state"] = "length"
    assert not llm.is_finished(result)


def test_synchronous_doors_inside_a_running_loop() -> None:
    judge = scripted(lambda request: "hello")

    async def inside() -> tuple[str, list[float]]:
        result = ragas_llm(judge).generate_text(HELLO)
        return result.generations[0][0].text, ragas_embeddings(judge).embed_query("x")

    assert asyncio.run(inside()) == ("hello", [1.0, 0.0])


# --- embeddings ------------------------------------------------------------------------------


def test_embeddings_in_both_of_ragas_shapes() -> None:
    embeddings = ragas_embeddings(scripted(), lambda texts: [[float(len(t))] for t in texts])
    assert isinstance(embeddings, BaseRagasEmbeddings | BaseRagasEmbedding)
    assert embeddings.embed_text("ab") == embeddings.embed_query("ab") == [2.0]
    assert embeddings.embed_texts(["a", "ab"]) == embeddings.embed_documents(["a", "ab"])

    async def later() -> Any:
        one = [await embeddings.aembed_text("ab"), await embeddings.aembed_query("ab")]
        many = [await embeddings.aembed_texts(["ab"]), await embeddings.aembed_documents(["ab"])]
        return one, many, await embeddings.aembed_texts([])

    assert asyncio.run(later()) == ([[2.0], [2.0]], [[[2.0]], [[2.0]]], [])


def test_vectors_are_recorded_under_the_embedder_s_name(tmp_path: Path) -> None:
    judge = scripted(recordings=Recordings(tmp_path / "r", "missing"))
    embeddings = ragas_embeddings(judge)
    embeddings.embed_documents(["a", "b"])
    (file,) = (tmp_path / "r" / "embedding").glob("*.json")
    assert json.loads(file.read_text("utf-8"))["embedder"] == embeddings.name
    assert adopt_embedder(embeddings) is embeddings.embedder


def test_a_metric_that_embeds_both_texts_takes_them() -> None:
    metric = SemanticSimilarity(embeddings=ragas_embeddings(scripted()))
    assert evaluate(scripted(), [metric])["semantic_similarity"] == pytest.approx([1.0, 1.0])


class Addressed:
    """An embedder behind an address, which is not done at once."""

    name, endpoint = "addressed", "http://embedder.test/v1"

    async def embed(self, texts: Any) -> list[list[float]]:
        for _ in range(50):
            await asyncio.sleep(0)
        return embed(list(texts))


@pytest.mark.timeout(60, method="thread")  # a deadlock holds up the main thread
def test_a_synchronous_call_does_not_wait_for_the_loop_that_it_holds_up() -> None:
    embeddings = ragas_embeddings(scripted(), Addressed())

    async def inside() -> list[float]:
        earlier = asyncio.create_task(embeddings.aembed_query("First question?"))
        await asyncio.sleep(0)  # it is under way, and takes the only place in the queue
        vector = embeddings.embed_query("Second question?")
        assert await earlier == [1.0, 0.0]
        return vector

    assert asyncio.run(inside()) == [0.6, 0.8]


def test_the_judge_s_own_methods_give_these_objects() -> None:
    judge = scripted(lambda request: "hello")
    llm = judge.as_ragas_llm()
    assert isinstance(llm, BaseRagasLLM)
    assert llm == ragas_llm(judge)
    assert judge.as_ragas_embeddings().embed_query("x") == [1.0, 0.0]


def test_our_own_metrics_find_the_judge_inside() -> None:
    judge = scripted()
    assert Judge.of(ragas_llm(judge)) is judge
