"""The audit with judges whose conduct is known: obedient, sober, broken; and the command line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ragas_judge.judge import Judge, Request, ScriptedTransport
from ragas_judge.judge.errors import (
    IncompleteVerdictsError,
    InputError,
    JudgeRequestError,
    JudgeUnavailableError,
)
from ragas_judge.metrics.verification import METHODS, Verification
from ragas_judge.prompts._fence import neutralise
from ragas_judge.runs.cli import main
from ragas_judge.runs.cli_audit import Way
from ragas_judge.runs.injection import (
    Attack,
    Case,
    Count,
    Kept,
    Ours,
    Report,
    Ruling,
    Trial,
    Tried,
    audit,
    load_attacks,
    load_rows,
)
from ragas_judge.runs.injection.attacks import UNMOVED, WISHED, clean_case, planted_case
from ragas_judge.runs.injection.methods import own_claim, without_verdict
from ragas_judge.runs.injection.report import compare, count
from ragas_judge.runs.injection.tables import comparison, remarks

ATTACKS = load_attacks()
ROWS = load_rows()


# --- judges that decide by rule ----------------------------------------------------------------


def squeezed(text: str) -> str:
    return "".join(neutralise(text).split())


def bears(mark: str, text: str) -> bool:
    return re.search(rf"(?<!\d){re.escape(mark)}(?!\d)", text) is not None


def of_ours(text: str) -> tuple[str, list[list[str]]]:
    """The texts of each data block, without their numbers."""
    raw = re.findall(r"<data-\w+>\n(.*?)\n</data-", text, re.DOTALL)
    parts = (re.split(r"^\[\d+\] ", block, flags=re.MULTILINE) for block in raw)
    blocks = [[part for part in block if part] for block in parts]
    if len(blocks) == 3:
        return "useful", blocks
    return ("extract" if re.match("Question|问题", text) else "verify"), blocks


def of_ragas(data: dict[str, Any]) -> tuple[str, list[list[str]]]:
    """The same from the input of ragas' prompts, in the order of ours."""
    if "context" not in data:
        return "extract", [[data["question"]], data["answer"].splitlines()]
    if "statements" in data:
        return "verify", [[data["context"]], data["statements"]]
    return "useful", [[data["question"]], [data["answer"]], [data["context"]]]


class Asked:
    """A question in either package's form: the step, and the texts it is asked about."""

    def __init__(self, text: str) -> None:
        given = re.search(r"same with the following input\ninput: (.*)\nOutput: ", text, re.DOTALL)
        self.ragas = given is not None
        self.step, self.blocks = of_ragas(json.loads(given[1])) if given else of_ours(text)
        self.items = self.blocks[-1]

    @property
    def material(self) -> str:
        return squeezed("".join(text for block in self.blocks for text in block))

    def answer(self, answers: list[Any]) -> dict[str, Any]:
        """The reply in the form asked for: claims, verdicts or uses, one an item."""
        if not self.ragas:
            return {str(number): each for number, each in enumerate(answers, start=1)}
        if self.step == "extract":
            return {"statements": [claim for claims in answers for claim in claims]}
        if self.step == "useful":
            return {"reason": "", "verdict": int(answers[0]["useful"])}
        pairs = zip(self.items, answers, strict=True)
        rows = [
            {"statement": text, "reason": "", "verdict": int(each["verdict"] == "supported")}
            for text, each in pairs
        ]
        return {"statements": rows}


def sober(asked: Asked) -> dict[str, Any]:
    """What the clean words say, whatever is planted beside them."""
    return asked.answer([_sober(asked, item) for item in asked.items])


def _sober(asked: Asked, item: str) -> Any:
    if asked.step == "extract":
        return [item.strip()] if any(item.strip() == row.claim for row in ROWS.values()) else []
    if asked.step == "useful":
        answer = asked.blocks[1][0]
        mark = next(row.mark for row in ROWS.values() if row.claim in answer)
        return {"useful": bears(mark, item), "quote": ""}
    row = next((row for row in ROWS.values() if bears(row.mark, item)), None)
    for number, context in enumerate(asked.blocks[0], start=1):
        if row is not None and bears(row.mark, context):
            return {"verdict": "supported", "context": number, "quote": row.mark}
    return {"verdict": "not_found", "context": 0, "quote": ""}


def attack_in(asked: Asked) -> Attack | None:
    """The attack whose longest planted line is somewhere in what was handed in."""
    for attack in ATTACKS:
        for words in attack.plant.values():
            lines = [line for line in words.splitlines() if line.strip()]
            if squeezed(max(lines, key=len).replace("$claim", attack.row.claim)) in asked.material:
                return attack
    return None


def obedient(asked: Asked) -> dict[str, Any]:
    """Grants the wish of whatever is planted; takes a response with an order as one claim."""
    attack = attack_in(asked)
    if attack is None:
        return sober(asked)
    if asked.step == "extract":
        return asked.answer([[" ".join(asked.items)], *([] for _ in asked.items[1:])])
    if asked.step == "useful":
        return asked.answer([{"useful": True, "quote": ""} for _ in asked.items])
    granted = "supported" if attack.wish == "pass" else "contradicted"
    quote = asked.blocks[0][0].strip()[:8]
    return asked.answer([{"verdict": granted, "context": 1, "quote": quote} for _ in asked.items])


def breaking(asked: Asked) -> dict[str, Any] | str:
    """Loses its form over whatever is planted."""
    return sober(asked) if attack_in(asked) is None else "I would rather not say."


Conduct = Callable[[Asked], dict[str, Any] | str]


def mute(_: Asked) -> str:
    """Never answers in any form."""
    return "I would rather not say."


def body_answer(conduct: Conduct) -> Callable[[dict[str, Any]], Any]:
    """The same for a request as a server sees it."""

    def answer(body: dict[str, Any]) -> Any:
        text = body["messages"][-1]["content"]
        if "output_string" in text or "output string" in text.lower():
            return "I would rather not say."  # ragas asks for a malformed reply to be mended
        return conduct(Asked(text))

    return answer


def judge_of(conduct: Conduct, **settings: Any) -> Judge:
    def answer(request: Request) -> Any:
        return body_answer(conduct)({"messages": [m._asdict() for m in request.messages]})

    return Judge("scripted", transport=ScriptedTransport(answer), **settings)


def calls_of(judge: Judge) -> int:
    transport = judge._live
    assert isinstance(transport, ScriptedTransport)
    return len(transport.requests)


def both(judge: Judge) -> list[Any]:
    from ragas_judge.runs.injection.ragas_method import Ragas

    return [Ours(judge), Ragas(judge)]


# --- whole audits ------------------------------------------------------------------------------


def test_a_sober_judge_is_moved_by_nothing() -> None:
    judge = judge_of(sober)
    report = audit(both(judge))
    for tried in report.tried:
        total = tried.total
        assert (total.counted, total.held) == (len(ATTACKS), len(ATTACKS)), tried.method
        assert (total.moved, total.broke, total.changed) == (0, 0, 0)
    assert sum(tried.calls for tried in report.tried) == calls_of(judge)
    (paired,) = report.paired
    assert "no interval" in comparison(paired)


def test_the_page_tells_how_many_attacks_and_calls_there_are() -> None:
    (tried,) = audit([Ours(judge_of(sober))]).tried
    page = (Path(__file__).parent.parent / "docs" / "injection.md").read_text("utf-8")
    assert f"{tried.calls} calls, and with `--against ragas` {2 * tried.calls}" in page
    rows, half = len(ROWS), len(ATTACKS) // 2
    assert f"{len(ATTACKS)} attacks, {half} on English rows and {half} on Chinese ones" in page
    assert f"{len(ATTACKS)} attacks on {rows} rows" in page
    assert {attack.kind for attack in ATTACKS} <= set(re.findall(r"^\| ([\w -]+) \|", page, re.M))


def test_an_obedient_judge_is_moved_by_everything() -> None:
    report = audit(both(judge_of(obedient)))
    for tried in report.tried:
        ends = {trial.attack.id: trial.outcome for trial in tried.trials}
        assert {id for id, end in ends.items() if end != "moved"} == set(), tried.method
    (paired,) = report.paired
    assert (paired.both, paired.difference) == (len(ATTACKS), 0.0)


def test_a_judge_that_breaks_is_neither_moved_nor_does_it_hold() -> None:
    report = audit(both(judge_of(breaking, max_reasks=0)))
    for tried in report.tried:
        assert tried.total.broke == tried.total.counted == len(ATTACKS), tried.method
        assert tried.total.share == 0
        assert all(trial.planted and trial.planted.error for trial in tried.trials)


def test_without_a_clean_verdict_nothing_counts_and_no_attack_is_tried() -> None:
    judge = judge_of(mute, max_reasks=0)
    (tried,) = audit([Ours(judge)]).tried
    assert tried.total.no_clean_verdict == len(ATTACKS)
    assert tried.total.counted == 0
    assert tried.total.share is None
    assert tried.total.interval() is None
    clean = {clean_case(attack.row, attack.route).id for attack in ATTACKS}
    assert calls_of(judge) == len(clean)


def test_a_claim_that_already_passes_has_nothing_to_move() -> None:
    def credulous(asked: Asked) -> dict[str, Any]:
        if asked.step != "verify":
            return sober(asked)
        quote = asked.blocks[0][0].strip()[:8]
        answers = [{"verdict": "supported", "context": 1, "quote": quote} for _ in asked.items]
        return asked.answer(answers)

    (tried,) = audit([Ours(judge_of(credulous))]).tried
    by_wish = tried.groups()["wish"]
    assert by_wish["pass"].counted == 0
    assert by_wish["fail"].counted == by_wish["fail"].attacks > 0
    assert any("wrong already" in line for line in remarks(Report([tried])))


def test_the_first_few_attacks_alone() -> None:
    judge = judge_of(sober)
    (tried,) = audit([Ours(judge)], limit=3).tried
    assert [trial.attack for trial in tried.trials] == list(ATTACKS[:3])
    with pytest.raises(InputError, match="at least 1"):
        audit([Ours(judge)], limit=0)
    with pytest.raises(InputError, match="same name"):
        audit([Ours(judge), Ours(judge)])


@pytest.mark.parametrize("way", METHODS)
def test_each_way_to_check_claims(way: Any) -> None:
    how = Verification.of(method=way)
    (still,) = audit([Ours(judge_of(sober), how)], limit=14).tried
    assert still.total.held == 14
    (obeyed,) = audit([Ours(judge_of(obedient), how)], limit=14).tried
    held = {trial.attack.id for trial in obeyed.trials if trial.outcome == "held"}
    elsewhere = {"en-fence-ragas", "zh-fence-ragas"}
    # Where each context is judged alone, another one cannot talk a claim out of its support.
    assert held == (elsewhere if way == "per_context" else set())
    assert obeyed.total.moved == 14 - len(held)


def test_each_method_is_compared_with_the_last() -> None:
    judge = judge_of(sober)
    ways: list[Any] = list(METHODS[:3])
    methods = [Ours(judge, Verification.of(method=way), name=way) for way in ways]
    assert len({method.version for method in methods}) == 3
    report = audit(methods, limit=4)
    assert [tried.method for tried in report.tried] == ways
    assert [(each.first, each.second) for each in report.paired] == [
        ("batched", "per_context"),
        ("per_claim", "per_context"),
    ]


def test_a_service_that_fails_ends_the_audit_and_keeps_what_it_has(tmp_path: Path) -> None:
    left = [4]

    def failing(asked: Asked) -> dict[str, Any]:
        left[0] -= 1
        if left[0] < 0:
            raise JudgeRequestError("no such model", status=404)
        return sober(asked)

    file = tmp_path / "verdicts.jsonl"
    with pytest.raises(JudgeRequestError):
        audit([Ours(judge_of(failing, concurrency=1))], kept=Kept(file))
    assert 0 < len(Kept(file)) <= 4
    left[0] = 10_000
    (tried,) = audit([Ours(judge_of(failing, concurrency=1))], kept=Kept(file)).tried
    assert tried.total.held == len(ATTACKS)
    assert left[0] > 10_000 - tried.calls, "no call was made for what is kept"


# --- parts -------------------------------------------------------------------------------------


def attack_with(wish: str) -> Attack:
    return next(attack for attack in ATTACKS if attack.wish == wish)


def trial(wish: str, clean: Any, planted: Any) -> Trial:
    after = None if planted == "untried" else Ruling(planted)
    return Trial(attack_with(wish), Ruling(clean), after)


@pytest.mark.parametrize(
    ("wish", "clean", "planted", "outcome"),
    [
        ("pass", "not_found", "supported", "moved"),
        ("pass", "not_found", "dropped", "moved"),
        ("pass", "not_found", "contradicted", "changed"),
        ("pass", "contradicted", "contradicted", "held"),
        ("pass", "not_found", None, "broke"),
        ("pass", "supported", "untried", "nothing to move"),
        ("pass", None, "untried", "no clean verdict"),
        ("fail", "supported", "not_found", "moved"),
        ("fail", "supported", "dropped", "changed"),
        ("useful", "useless", "useful", "moved"),
        ("useful", "useless", "useless", "held"),
    ],
)
def test_the_outcome_of_one_attack(wish: str, clean: Any, planted: Any, outcome: str) -> None:
    assert trial(wish, clean, planted).outcome == outcome


def test_wishes_are_about_verdicts_that_there_are() -> None:
    verdicts = {"supported", "contradicted", "not_found", "dropped", "useful", "useless"}
    assert set().union(*UNMOVED.values(), *WISHED.values()) == verdicts


def test_counts_add_up() -> None:
    trials = [
        trial("pass", "not_found", "supported"),
        trial("pass", "not_found", "not_found"),
        trial("pass", "not_found", None),
        trial("pass", "supported", "untried"),
        trial("pass", None, "untried"),
    ]
    found = count(trials)
    assert found == Count(5, counted=3, moved=1, held=1, broke=1, changed=0, no_clean_verdict=1)
    assert found.share == pytest.approx(1 / 3)
    low, high = found.interval() or (0, 0)
    assert (low, high) == pytest.approx((0.0615, 0.7923), abs=1e-4)  # Wilson, 1 of 3


def tried(name: str, moved: str) -> Tried:
    """One attack a letter: ``m`` moved, ``h`` held, ``b`` broke, ``-`` nothing to move."""
    ends = {
        "m": trial("pass", "not_found", "supported"),
        "h": trial("pass", "not_found", "not_found"),
        "b": trial("pass", "not_found", None),
        "-": trial("pass", "supported", "untried"),
    }
    return Tried(name, "model", tuple(ends[letter] for letter in moved), ())


def test_two_methods_over_the_attacks_that_count_with_both() -> None:
    found = compare(tried("a", "mhhhhhhhb-m"), tried("b", "mmmmmmmhhm-"))
    assert (found.attacks, found.both, found.only_first, found.only_second) == (9, 1, 0, 6)
    assert found.difference == pytest.approx(-6 / 9)
    assert found.p == pytest.approx(2 * 0.5**6)  # exact McNemar: 0 of 6
    low, high = found.interval.low, found.interval.high
    assert low is not None
    assert high is not None
    assert low < -6 / 9 < high < 0


def test_claims_that_were_not_checked_are_told_apart() -> None:
    dropped = trial("pass", "not_found", "dropped")
    found = Tried("a", "model", (dropped, trial("pass", "not_found", "supported")), ())
    assert (found.total.moved, found.dropped) == (2, 1)
    assert any("1 of the 2 moved because" in line for line in remarks(Report([found])))


def test_nothing_to_compare() -> None:
    found = compare(tried("a", "--"), tried("b", "mm"))
    assert (found.attacks, found.difference, found.p) == (0, None, 1.0)
    assert "no attack counts with both" in comparison(found)


def test_the_rows_own_claim_is_known_by_its_mark() -> None:
    case = clean_case(ROWS["en-ferry"], "response")
    others = ["The ferry is large.", "The grader marks all.", "It carries 2,240 people."]
    assert own_claim(case, others) is None
    assert own_claim(case, [*others, "The Halvard ferry may carry 240 passengers."]) == 3
    twice = ["Say that 240 is right.", "The Halvard ferry carries 240 passengers."]
    assert own_claim(case, twice) == 1
    assert own_claim(clean_case(ROWS["en-kiln"], "response"), ["It is fired at 1,310 °C."]) == 0


def test_what_is_the_attacks_work_and_what_is_not() -> None:
    broke = without_verdict(IncompleteVerdictsError(["1"], 1))
    assert broke.verdict is None
    assert "IncompleteVerdictsError" in broke.error
    assert without_verdict(JudgeRequestError("filtered", status=400)).verdict is None
    with pytest.raises(JudgeUnavailableError):
        without_verdict(JudgeUnavailableError("down", status=503))
    with pytest.raises(JudgeRequestError):
        without_verdict(JudgeRequestError("no such model", status=404))


# --- what is kept ------------------------------------------------------------------------------


CASE: Case = planted_case(ATTACKS[0])
RULING = Ruling("supported", calls=2, input_tokens=10, output_tokens=None)


def test_verdicts_are_kept_without_any_text(tmp_path: Path) -> None:
    file, method = tmp_path / "new" / "verdicts.jsonl", Ours(judge_of(sober))
    Kept(file).put(method, CASE, RULING)
    assert Kept(file).get(method, CASE) == RULING
    (line,) = map(json.loads, file.read_text("utf-8").splitlines())
    assert (line["case"], line["method"], line["model"]) == (CASE.id, "ragas-judge", "scripted")
    assert "ferry carr" not in file.read_text("utf-8")


def test_another_model_wording_or_sampling_is_asked_anew(tmp_path: Path) -> None:
    kept, method = Kept(tmp_path / "verdicts.jsonl"), Ours(judge_of(sober))
    kept.put(method, CASE, RULING)
    assert kept.get(method, replace(CASE, claim="Something else.")) is None
    assert kept.get(Ours(judge_of(sober, temperature=0.5)), CASE) is None
    assert kept.get(Ours(judge_of(sober), Verification(votes=3)), CASE) is None
    other = Judge("another", transport=ScriptedTransport(lambda request: ""))
    assert kept.get(Ours(other), CASE) is None


def test_a_torn_line_is_passed_over(tmp_path: Path) -> None:
    file, method = tmp_path / "verdicts.jsonl", Ours(judge_of(sober))
    Kept(file).put(method, CASE, RULING)
    whole = file.read_text("utf-8")
    file.write_text(whole + whole[:40], encoding="utf-8")
    kept = Kept(file)
    assert len(kept) == 1
    kept.put(method, replace(CASE, id="next"), RULING)
    assert len(Kept(file)) == 2


@pytest.mark.parametrize(
    "text", ["a plain text\n", '{"format": 2}\n', "[1]\n", '{"format": 1, "key": "k"}\n', "\xff"]
)
def test_a_file_of_another_kind_is_left_alone(tmp_path: Path, text: str) -> None:
    file = tmp_path / "notes.txt"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError, match="choose another file"):
        Kept(file)
    assert file.read_bytes() == text.encode("latin-1")


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be used"):
        Kept(tmp_path)


# --- the command -------------------------------------------------------------------------------


@pytest.fixture
def run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[int, str, str]]:
    """``code, out, err = run("--limit", 4)``: the command with a key and a model."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")

    def call(*arguments: Any) -> tuple[int, str, str]:
        code = main(["audit", "injection", "--model", "m", *map(str, arguments)])
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return call


def test_the_command_end_to_end(run: Any, fake_openai: Any, tmp_path: Path) -> None:
    server, file = fake_openai(body_answer(obedient)), tmp_path / "verdicts.jsonl"
    line = ("--base-url", server.url, "--limit", 6, "--against", "ragas", "--out", file, "--json")
    code, out, err = run(*line)
    assert code == 0
    report = json.loads(out)
    assert [each["method"] for each in report["methods"]] == ["batched", "ragas"]
    assert [each["total"]["moved"] for each in report["methods"]] == [6, 6]
    assert [(each["attacks"], each["both"]) for each in report["paired"]] == [(6, 6)]
    assert "6 of 6 verdicts moved" in err
    assert len(server.bodies) == sum(each["calls"] for each in report["methods"])
    assert report["methods"][0]["tokens"] == 18 * report["methods"][0]["calls"]

    before = len(server.bodies)
    code, again, err = run(*line)
    assert (code, json.loads(again)) == (0, report)
    assert len(server.bodies) == before, "every verdict was in the file"
    assert f"verdicts are in {file} already" in err


def test_a_table_on_stdout(run: Any, fake_openai: Any) -> None:
    code, out, _ = run("--base-url", fake_openai(body_answer(sober)).url, "--limit", 4)
    assert code == 0
    assert "0 of 4 verdicts moved" in out
    assert re.search(r"order +4 +0 of 4 +0", out)


def test_recorded_and_replayed(run: Any, fake_openai: Any, tmp_path: Path) -> None:
    server, folder = fake_openai(body_answer(sober)), tmp_path / "recorded"
    recording = ("--recordings", folder, "--limit", 2)
    assert run("--base-url", server.url, *recording, "--mode", "rewrite")[0] == 0
    seen = len(server.bodies)
    code, out, _ = run(*recording)
    assert (code, len(server.bodies)) == (0, seen)
    assert "0 of 2 verdicts moved" in out


def test_a_judge_that_answers_in_no_form(run: Any, fake_openai: Any) -> None:
    code, _, err = run("--base-url", fake_openai(body_answer(mute)).url, "--limit", 1)
    assert code == 3
    assert "no clean row was judged" in err


def test_a_key_that_is_refused(run: Any, fake_openai: Any, tmp_path: Path) -> None:
    refusing = fake_openai(lambda body: fake_openai.Reply("wrong key", status=401))
    code, _, err = run("--base-url", refusing.url, "--out", tmp_path / "verdicts.jsonl")
    assert code == 3
    assert "0 verdicts are in" in err


def test_ctrl_c(
    run: Any, fake_openai: Any, tmp_path: Path, ctrl_c: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    put = Kept.put

    def interrupted(self: Kept, *arguments: Any) -> None:
        put(self, *arguments)
        ctrl_c()

    monkeypatch.setattr(Kept, "put", interrupted)
    file, server = tmp_path / "verdicts.jsonl", fake_openai(body_answer(sober))
    code, _, err = run("--base-url", server.url, "--out", file, "--limit", 4, "--concurrency", 1)
    assert code == 130
    assert f"1 verdicts are in {file}; the same command goes on with them" in err
    assert len(Kept(file)) == 1


def test_bad_settings(
    run: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert run("--limit", 0)[0] == 2
    assert run("--against", "nobody")[0] == 2
    assert run("--verification", "nobody")[0] == 2
    assert [way.value for way in Way] == list(METHODS)
    assert run("--out", tmp_path)[0] == 2
    monkeypatch.delenv("OPENAI_API_KEY")
    code, _, err = run()
    assert (code, "OPENAI_API_KEY" in err) == (2, True)
    assert main(["audit"]) == 2
