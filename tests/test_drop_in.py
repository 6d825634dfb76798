"""A script written for ragas runs with only its import line changed."""

from __future__ import annotations

from typing import Any

import pytest

SCRIPT = """
from datasets import Dataset
from ragas import evaluate
from ragas_judge.metrics import (
    context_precision,
    context_recall,
    faithfulness,
    answer_relevancy,
)

eval_data = {
    "question": ["什么是灯塔钟？", "How long is the crossing?"],
    "answer": ["灯塔钟是铜铸的钟。", "The crossing takes 25 minutes."],
    "contexts": [["灯塔钟是铜铸的钟。"], ["The crossing takes 25 minutes.", "Dogs travel free."]],
    "ground_truth": ["灯塔钟是铜铸的钟。", "The crossing takes 25 minutes."],
}
dataset = Dataset.from_dict(eval_data)
result = evaluate(
    dataset=dataset,
    metrics=[context_precision, context_recall, faithfulness, answer_relevancy],
)
print(result)
df = result.to_pandas()
print(df[["context_precision", "context_recall", "faithfulness", "answer_relevancy"]])
assert result["faithfulness"][0].evidence.language == "zh"
assert result["faithfulness"][0].evidence.judge == "gpt-4o-mini"
"""


def answer(body: dict[str, Any]) -> dict[str, Any]:
    """Valid answers: claims for sentences, supported, useful, committed."""
    schema = body["response_format"]["json_schema"]["schema"]["properties"]
    full = {
        "verdict": "supported",
        "context": 1,
        "quote": "",
        "useful": True,
        "question": "What is it?",
        "noncommittal": False,
    }
    made: dict[str, Any] = {}
    for item_id, item in schema.items():
        if item["type"] == "array":
            made[item_id] = ["A claim."]
        else:
            made[item_id] = {name: full[name] for name in item["properties"]}
    return made


def test_the_full_example(run_script: Any, fake_openai: Any) -> None:
    server = fake_openai(answer)
    done = run_script(SCRIPT, server.url)
    assert "'context_precision': 1.0000" in done.stdout
    assert "'faithfulness': 1.0000" in done.stdout
    paths = {seen.path for seen in server.seen}
    assert paths == {"/v1/chat/completions"}  # no embeddings are asked for: ours are embedded
    sent = server.bodies[0]
    assert sent["temperature"] == 0
    assert "top_p" not in sent  # ragas' own default, which the user has not set
    assert "max_tokens" not in sent


# --- every kind of model that ragas hands over ----------------------------------------------

ROW = {
    "user_input": "How long is the crossing?",
    "response": "It takes 25 minutes.",
    "retrieved_contexts": ["It takes 25 minutes."],
    "reference": "It takes 25 minutes.",
}


def langchain(url: str) -> Any:
    from langchain_openai import ChatOpenAI

    return ChatOpenAI(model="m", base_url=url, api_key="none")  # type: ignore[arg-type]


def wrapped(url: str) -> Any:
    from ragas.llms import LangchainLLMWrapper

    return LangchainLLMWrapper(langchain(url))


def factory(url: str) -> Any:
    from openai import OpenAI
    from ragas.llms import llm_factory

    return llm_factory("m", client=OpenAI(base_url=url, api_key="none"))


def async_factory(url: str) -> Any:
    from openai import AsyncOpenAI
    from ragas.llms import llm_factory

    return llm_factory("m", client=AsyncOpenAI(base_url=url, api_key="none"))


@pytest.mark.parametrize("make", [langchain, wrapped, factory, async_factory])
def test_the_four_metrics_with_each_model_of_ragas(make: Any, fake_openai: Any) -> None:
    from datasets import Dataset
    from ragas import evaluate

    from ragas_judge import metrics as package

    server = fake_openai(answer)
    llm = make(server.url)
    metrics = [getattr(package, name) for name in package.READY]
    for _ in range(2):  # a second evaluation: its event loop is another one
        result = evaluate(
            Dataset.from_list([ROW] * 3),
            metrics=metrics,
            llm=llm,
            show_progress=False,
            allow_nest_asyncio=False,
        )
        for row in result.scores:
            assert row["faithfulness"] == row["context_recall"] == row["context_precision"] == 1.0
            assert 0 < row["answer_relevancy"] <= 1.0
            assert row["faithfulness"].evidence.judge == "m"
    assert {body["temperature"] for body in server.bodies} == {0}
    assert {body.get("n", 1) for body in server.bodies} == {1}
    assert len(server.bodies) == 2 * 3 * 8  # six, and two questions for the quotes left empty
