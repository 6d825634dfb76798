"""The fault server itself: it knows our prompts, its faults repeat, its limits hold."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest

from ragas_judge.judge import Judge, RetryPolicy
from ragas_judge.judge.items import Question
from ragas_judge.prompts import load_prompt

PROMPTS = ("claim_extraction", "claim_verification", "context_usefulness", "reverse_question")
CONTEXTS = {"1": "A crew of five sailed. The hull of the boat is larch.", "2": "Tea is served."}
CLAIMS = {"1": "The hull of the boat is larch.", "2": "The mast is oak.", "3": "Tea is served."}
FAULTS = {"http500": 0.1, "http429": 0.1, "truncated": 0.1, "short": 0.1, "longer": 0.1}
KEY = "sk-Planted-KEY"


def ask_items(
    url: str, prompt_id: str, items: dict[str, str], language: str = "en", **shared: Any
) -> Any:
    judge = Judge("mock", base_url=url, api_key="none")
    prompt = load_prompt(prompt_id, language=language)
    question = Question(prompt, items, lambda answer: answer, shared)
    return asyncio.run(judge.ask_items(question)).by_id


def body_of(prompt_id: str, items: dict[str, str], **shared: Any) -> dict[str, Any]:
    prompt = load_prompt(prompt_id)
    form = {"name": "reply", "strict": True, "schema": prompt.schema(list(items))}
    return {
        "model": "mock",
        "messages": [each._asdict() for each in prompt.messages({**shared, "items": items})],
        "response_format": {"type": "json_schema", "json_schema": form},
    }


VERIFICATION = body_of("claim_verification", CLAIMS, contexts=CONTEXTS)


def post(server: Any, body: Any = None, path: str = "/chat/completions") -> httpx.Response:
    body = VERIFICATION if body is None else body
    headers = {"authorization": f"Bearer {KEY}"}
    return httpx.post(f"{server.url}{path}", json=body, headers=headers, timeout=30)


def choice_of(response: httpx.Response) -> Any:
    assert response.status_code == 200, response.text
    return response.json()["choices"][0]


def verdicts_of(response: httpx.Response) -> dict[str, Any]:
    return dict(json.loads(choice_of(response)["message"]["content"]))


# --- judging --------------------------------------------------------------------------------


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("prompt_id", PROMPTS)
def test_our_prompts_are_recognised(fault_server: Any, prompt_id: str, language: str) -> None:
    server = fault_server()
    given = dict(load_prompt(prompt_id, language=language).examples[0]["input"])
    items = given.pop("items")
    answers = ask_items(server.url, prompt_id, items, language, **given)
    assert list(answers) == list(items)
    assert server.stats.kinds == {prompt_id: 1}  # at once: the answer needed no re-ask
    assert server.stats.requests == 1


def test_a_claim_is_supported_by_a_quote_that_stands_there(fault_server: Any) -> None:
    found = verdicts_of(post(fault_server()))
    assert [each["verdict"] for each in found.values()] == ["supported", "not_found", "supported"]
    assert found["1"]["quote"] == "The hull of the boat is larch."
    assert found["1"]["quote"] in CONTEXTS[str(found["1"]["context"])]
    assert found["3"]["context"] == 2


def test_the_other_rules(fault_server: Any) -> None:
    url = fault_server().url
    useful = ask_items(
        url, "context_usefulness", CONTEXTS, question="What wood?", answer="The hull is larch."
    )
    assert [each["useful"] for each in useful.values()] == [True, False]
    claims = ask_items(url, "claim_extraction", CLAIMS, question="What?", sentences=CLAIMS)
    assert claims == {number: [text] for number, text in CLAIMS.items()}
    asked = ask_items(url, "reverse_question", {"1": "", "2": ""}, answer="The hull is larch.")
    assert asked["1"]["question"] != asked["2"]["question"]


def test_tokens_are_quarters_of_the_characters(fault_server: Any) -> None:
    server = fault_server()
    reply = post(server, {"model": "mock", "messages": [{"role": "user", "content": "12345"}]})
    length = len(choice_of(reply)["message"]["content"])
    assert reply.json()["usage"]["prompt_tokens"] == 2
    assert reply.json()["usage"]["completion_tokens"] == -(-length // 4)


def test_another_schema_gets_a_value_that_fits(fault_server: Any) -> None:
    schema = {
        "type": "object",
        "properties": {
            "score": {"type": "integer"},
            "level": {"enum": ["low", "high"]},
            "reasons": {"type": "array", "items": {"type": "string"}, "minItems": 2},
        },
    }
    form = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    server = fault_server()
    body = {"model": "mock", "messages": [], "response_format": form}
    expected = {"score": 1, "level": "low", "reasons": ["text", "text"]}
    assert verdicts_of(post(server, body)) == expected
    assert choice_of(post(server, {"model": "mock", "messages": []}))["message"]["content"]
    assert server.stats.kinds == {"other": 2}


def test_equal_words_have_equal_vectors(fault_server: Any) -> None:
    texts = ["red sail", "sail red", "oak mast"]
    reply = post(fault_server(), {"model": "mock", "input": texts}, "/embeddings").json()
    first, second, third = (each["embedding"] for each in reply["data"])
    assert first == second != third


# --- faults ---------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [500, 503])
def test_statuses(fault_server: Any, status: int) -> None:
    server = fault_server(faults={f"http{status}": 1.0})
    reply = post(server)
    assert (reply.status_code, reply.json()["error"]["type"]) == (status, "server_error")
    assert server.stats.faults == {f"http{status}": 1}


@pytest.mark.parametrize(
    ("fault", "finish"), [("truncated", "stop"), ("length", "length")], ids=str
)
def test_a_text_cut_in_the_middle(fault_server: Any, fault: str, finish: str) -> None:
    server = fault_server()
    whole = choice_of(post(server))["message"]["content"]
    server.config.faults = {fault: 1.0}  # changed while it runs
    cut = choice_of(post(server))
    assert cut["finish_reason"] == finish
    assert cut["message"]["content"] == whole[: len(whole) // 2]


def test_nothing_but_a_reason(fault_server: Any) -> None:
    server = fault_server()
    found = {}
    for fault in ("empty", "filtered", "refusal"):
        server.config.faults = {fault: 1.0}
        choice = choice_of(post(server))
        assert choice["message"]["content"] == ""
        found[fault] = (choice["finish_reason"], bool(choice["message"]["refusal"]))
    assert found == {
        "empty": ("stop", False),
        "filtered": ("content_filter", False),
        "refusal": ("stop", True),
    }


def test_lists_of_verdicts_that_are_not_what_was_asked_for(fault_server: Any) -> None:
    server = fault_server()
    whole, found = verdicts_of(post(server)), {}
    for fault in ("short", "longer", "reordered"):
        server.config.faults = {fault: 1.0}
        found[fault] = verdicts_of(post(server))
    assert len(found["short"]) == 2
    assert found["short"].items() < whole.items()
    assert list(found["longer"]) == ["1", "2", "3", "4"]
    assert whole.items() < found["longer"].items()
    assert list(found["reordered"]) == ["3", "2", "1"]
    assert found["reordered"] == whole


def test_only_verdicts_come_in_wrong_lists(fault_server: Any) -> None:
    server = fault_server(faults={"short": 1.0})
    claims = body_of("claim_extraction", CLAIMS, question="What?", sentences=CLAIMS)
    assert len(verdicts_of(post(server, claims))) == 3
    assert not server.stats.faults


def test_a_call_that_hangs_ends_when_the_client_goes(fault_server: Any) -> None:
    server = fault_server(faults={"hang": 1.0})
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(f"{server.url}/chat/completions", json=VERIFICATION, timeout=0.2)
    server.wait_for(lambda: server.log[0].ended)
    assert (server.log[0].fault, server.log[0].status) == ("hang", 0)
    assert (server.stats.requests, sum(server.stats.status.values())) == (1, 0)


def drawn(server: Any, order: list[int]) -> dict[tuple[str, int], str | None]:
    """Twice the same 30 questions: what was done to each."""
    server.reset()
    bodies = [{**VERIFICATION, "seed": number} for number in order * 2]
    with httpx.Client() as client:
        for body in bodies:
            client.post(f"{server.url}/chat/completions", json=body)
    return {(seen.key, seen.occurrence): seen.fault for seen in server.log}


def test_faults_follow_from_seed_request_and_occurrence(fault_server: Any) -> None:
    server = fault_server(faults=FAULTS)
    order = list(range(30))
    first = drawn(server, order)
    assert drawn(server, order[::-1]) == first
    assert len(first) == 60
    assert set(first.values()) == {None, *FAULTS}
    again = {key for key, occurrence in first if first[key, 1] != first[key, 2]}
    assert again  # the second time another draw
    server.config.seed = 2
    assert drawn(server, order) != first


# --- limits and refusals --------------------------------------------------------------------


def test_so_many_calls_at_once_and_no_more(fault_server: Any) -> None:
    server = fault_server(faults={"hang": 1.0}, max_concurrency=2)

    async def three() -> httpx.Response:
        async with httpx.AsyncClient(base_url=server.url, timeout=30) as client:
            hung = [
                asyncio.create_task(client.post("/chat/completions", json=VERIFICATION))
                for _ in range(2)
            ]
            await asyncio.to_thread(server.wait_for, lambda: server.stats.faults["hang"] == 2)
            third = await client.post("/chat/completions", json=VERIFICATION)
            for each in hung:
                each.cancel()
            await asyncio.gather(*hung, return_exceptions=True)
            return third

    reply = asyncio.run(three())
    assert (reply.status_code, reply.headers["retry-after"]) == (429, "1")
    assert server.stats.faults["concurrency"] == 1
    assert server.stats.most_at_once == 3


@pytest.mark.parametrize("limit", ["rpm", "tpm"])
def test_calls_and_tokens_a_minute(fault_server: Any, limit: str) -> None:
    server = fault_server(**{limit: 1})
    assert [post(server).status_code for _ in range(3)] == [200, 429, 429]
    assert server.stats.faults == {limit: 2}
    assert [seen.fault for seen in server.log] == [None, limit, limit]
    server.reset()
    assert post(server).status_code == 200


def test_one_second_of_calls_at_once(fault_server: Any) -> None:
    server = fault_server(rpm=180)  # three a second
    assert [post(server).status_code for _ in range(3)] == [200] * 3


def test_waits_are_told_in_three_forms(fault_server: Any) -> None:
    server = fault_server(faults={"http429": 1.0}, retry_after=30)
    assert post(server).headers["retry-after"] == "30"
    server.config.form = "ms"
    assert post(server).headers["retry-after-ms"] == "30000"
    server.config.form = "date"
    until_then = parsedate_to_datetime(post(server).headers["retry-after"]).timestamp()
    assert 20 < until_then - time.time() <= 30


def test_a_wrong_key_is_echoed_as_it_came(fault_server: Any) -> None:
    reply = post(fault_server(always="401"))
    assert reply.status_code == 401
    assert KEY in reply.json()["error"]["message"]


def test_no_quota(fault_server: Any) -> None:
    reply = post(fault_server(always="quota"))
    assert (reply.status_code, reply.json()["error"]["code"]) == (429, "insufficient_quota")


@pytest.mark.parametrize(
    ("refused", "sent", "named"),
    [
        ("max_tokens", {"max_tokens": 5}, "max_tokens"),
        ("temperature+top_p", {"temperature": 0, "top_p": 1}, "temperature"),
        ("json_schema", {"response_format": {"type": "json_schema"}}, "response_format"),
        ("json_object", {"response_format": {"type": "json_object"}}, "response_format"),
    ],
)
def test_parameters_are_refused_where_they_are_sent(
    fault_server: Any, refused: str, sent: dict[str, Any], named: str
) -> None:
    server = fault_server(refuse={refused: "It is not supported."})
    plain = {"model": "mock", "messages": [], "temperature": 0}
    assert post(server, plain).status_code == 200
    reply = post(server, {**plain, **sent})
    assert reply.status_code == 400
    assert reply.json()["error"]["param"] == named
    assert reply.json()["error"]["message"] == "It is not supported."


# --- the server -----------------------------------------------------------------------------


def test_what_was_paid_is_counted_for_each_request(fault_server: Any) -> None:
    server = fault_server()
    other = {**VERIFICATION, "seed": 1}
    for body in (VERIFICATION, VERIFICATION, other):
        post(server, body)
    server.config.faults = {"http500": 1.0}
    post(server, other)
    times = server.stats.paid.values()
    server.wait_for(lambda: sum(map(len, times)) == 3)  # noted just after it was sent
    assert sorted(map(len, times)) == [1, 2]
    assert all(came <= sent <= time.time() for each in times for came, sent in each)


def test_the_log_tells_what_each_request_carried(fault_server: Any) -> None:
    server = fault_server()
    post(server, {**VERIFICATION, "n": 3, "temperature": 0.5})
    post(server, {"model": "mock", "input": "a"}, "/embeddings")
    first, second = server.log
    assert (first.kind, first.n, first.temperature) == ("claim_verification", 3, 0.5)
    assert first.schema is not None
    assert (second.kind, second.n, second.schema) == ("embeddings", None, None)
    assert first.came <= first.ended


def test_many_connections_at_once(fault_server: Any) -> None:
    server = fault_server(latency=0.05)

    async def all_of_them() -> list[str]:
        # retries off: each must be answered at the first try
        client = openai.AsyncOpenAI(base_url=server.url, api_key="none", max_retries=0)
        async with client:
            asked = (
                client.chat.completions.create(
                    model="mock", messages=[{"role": "user", "content": str(number)}]
                )
                for number in range(100)
            )
            return [reply.choices[0].finish_reason for reply in await asyncio.gather(*asked)]

    assert asyncio.run(all_of_them()) == ["stop"] * 100
    assert server.stats.status == {"200": 100}


def test_paths_and_bodies_it_does_not_know(fault_server: Any) -> None:
    server = fault_server()
    assert httpx.get(f"{server.url}/models").json()["data"][0]["id"] == "mock"
    assert post(server, path="/completions").status_code == 404
    url = f"{server.url}/chat/completions"
    assert httpx.post(url, content=b"{", timeout=30).status_code == 400


def test_a_judge_gets_through_all_faults_at_once(fault_server: Any) -> None:
    server = fault_server(faults=FAULTS, retry_after=0.01)
    judge = Judge("mock", base_url=server.url, api_key="none", retry=RetryPolicy(sleep=no_sleep))
    prompt = load_prompt("claim_verification")
    shared = {"contexts": CONTEXTS}

    async def ask() -> list[Any]:
        questions = (
            Question(prompt, {**CLAIMS, "4": f"Cargo {number}."}, lambda answer: answer, shared)
            for number in range(20)
        )
        return list(await asyncio.gather(*map(judge.ask_items, questions)))

    found = [answers.by_id for answers in asyncio.run(ask())]
    assert {tuple(each[i]["verdict"] for i in "1234") for each in found} == {
        ("supported", "not_found", "supported", "not_found")
    }
    assert sum(server.stats.faults.values()) > 3


async def no_sleep(_: float) -> None:
    """Waiting is not tested here."""


def test_as_a_process_of_its_own(fault_server: Any) -> None:
    fault_server()  # loads the module
    remote = sys.modules["fault_server"].RemoteServer
    script = [sys.executable, str(Path(__file__).with_name("fault_server.py")), "--latency", "0.01"]
    with subprocess.Popen(script, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            server = remote(process.stdout.readline().strip().removesuffix("/v1"))
            assert post(server).status_code == 200
            server.configure(faults={"http503": 1.0})
            assert post(server).status_code == 503
            stats = server.stats
        finally:
            process.terminate()
    assert (stats["requests"], stats["status"]) == (1, {"503": 1})  # from the new settings on
