"""benchmarks/extraction.py on answers of its own and a scripted judge."""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = str(Path(__file__).resolve().parent.parent / "benchmarks")
sys.path.insert(0, BENCHMARKS)
extraction: Any = importlib.import_module("extraction")
sys.path.remove(BENCHMARKS)

ANSWERS = [
    {"id": "a", "user_input": "What is the boat like?", "response": "It is red. It is old."},
    {"id": "b", "user_input": "船怎么样？", "response": "船是红的。"},
    {"id": "c", "user_input": "Anything else?", "response": " "},
]


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    file = tmp_path / "answers.jsonl"
    file.write_text("\n".join(json.dumps(row) for row in ANSWERS), "utf-8")
    return file


def by_repetition(request: Any) -> Any:
    """One claim more at each repetition for English; one of them of a word of its own."""
    if "船" in request.messages[-1].content:
        return {"1": ["船是红的。"]}
    more = [f"The boat is red, number {number}." for number in range(request.repetition)]
    return {"1": ["It is red.", *more], "2": ["The boat is made of oak.", "It is red."]}


def measured(scripted: Any, file: Path, answer: Any = by_repetition) -> dict[str, Any]:
    judge = scripted.make_judge(answer, max_reasks=0)
    found = asyncio.run(extraction.measure(judge, extraction.read_answers(file), 3))
    numbers: dict[str, Any] = extraction.report(found, {"repeats": 3})
    return numbers


def test_repetitions_are_requests_of_their_own_and_their_spread_is_measured(
    scripted: Any, answers: Path
) -> None:
    numbers = measured(scripted, answers)
    first, second = numbers["answers"]
    assert (first["id"], first["counts"], second["counts"]) == ("a", (3, 4, 5), (1, 1, 1))
    english, chinese = numbers["languages"]["en"], numbers["languages"]["zh"]
    assert english["claims"] == pytest.approx(4)
    assert english["claims a sentence"] == pytest.approx(2)
    assert (english["range"], english["same each time"]) == (2, 0)
    assert english["standard deviation"] == pytest.approx(1)
    assert (chinese["standard deviation"], chinese["same each time"]) == (0, 1)
    assert numbers["languages"]["all"]["answers"] == 2
    assert "| en | 1 | 0 | 2 | 4.00 | 2.00 | 1.00 | 2.00 | 0.0% |" in extraction.markdown(numbers)


def test_flagged_and_moved_claims_are_counted(scripted: Any, answers: Path) -> None:
    numbers = measured(
        scripted,
        answers,
        lambda request: (
            {"1": ["It is red."], "2": ["It is red.", "It is old oak."]}
            if "red" in request.messages[-1].content
            else {"1": []}
        ),
    )
    english = numbers["languages"]["en"]
    assert english["flagged"] == pytest.approx(1 / 3)
    assert english["moved"] == pytest.approx(1 / 3)
    assert numbers["languages"]["zh"]["flagged"] is None


def test_an_answer_that_cannot_be_taken_apart_is_counted_as_failed(
    scripted: Any, answers: Path
) -> None:
    numbers = measured(scripted, answers, lambda _: "no idea")
    assert numbers["languages"]["all"]["failed"] == 2
    assert "Error" in numbers["answers"][0]["failure"]
    assert "–" in extraction.markdown(numbers)


def test_the_command_prints_numbers_and_no_text(
    scripted: Any,
    answers: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(
        extraction, "patient_judge", lambda _: scripted.make_judge(by_repetition, max_reasks=0)
    )
    arguments = ["--judge", "any", "--answers", str(answers), "--limit", "1", "--json"]
    assert extraction.main(arguments) == 0
    printed = capsys.readouterr().out
    assert json.loads(printed)["repeats"] == 5
    assert "red" not in printed


def test_a_missing_key_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert extraction.main(["--judge", "any"]) == 2
    assert "OPENAI_API_KEY is not set" in capsys.readouterr().err


def test_the_quickstart_answers_are_the_default() -> None:
    found = extraction.read_answers(extraction.ANSWERS)
    assert {answer.language for answer in found} == {"en", "zh"}
    assert len(extraction.read_answers(extraction.ANSWERS, limit=2)) == 4
