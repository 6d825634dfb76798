"""The command line, in this process: what it prints, its exit code, and what it leaves behind."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from ragas_judge.judge import Judge, Recordings, ScriptedTransport
from ragas_judge.runs import evaluate
from ragas_judge.runs.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from ragas_judge.judge import Request

ROWS: list[dict[str, Any]] = [
    {
        "id": f"r{number}",
        "question": f"Which wood is the hull of boat {number} made of?",
        "answer": f"The hull of boat {number} is larch.",
        "contexts": ["The hull is larch.", f"Sail {number} is red."],
        "ground_truth": "The hull is larch.",
    }
    for number in range(3)
]
CLAIMS = "faithfulness,context_recall,context_precision"
SAMPLING = {"temperature": 0.0, "max_tokens": 256, "seed": 3}


def answer_items(prompt: str, ids: list[str]) -> dict[str, Any]:
    each = {
        "claim_extraction": ["The hull is larch."],
        "claim_verification": {"verdict": "supported", "context": 1, "quote": "The hull is larch."},
        "context_usefulness": {"useful": True, "quote": ""},
        "reverse_question": {"question": "Which wood is the hull?", "noncommittal": False},
    }[prompt]
    return dict.fromkeys(ids, each)


def answer(request: Request) -> dict[str, Any]:
    assert request.prompt is not None
    assert request.schema is not None
    return answer_items(request.prompt.id, request.schema["required"])


def answer_body(body: dict[str, Any]) -> dict[str, Any]:
    """The same for a request as a server sees it; the form of one item tells the prompt."""
    schema = body["response_format"]["json_schema"]["schema"]
    item = json.dumps(next(iter(schema["properties"].values())))
    marks = {
        "verdict": "claim_verification",
        "useful": "context_usefulness",
        "noncommittal": "reverse_question",
    }
    prompt = next((name for mark, name in marks.items() if mark in item), "claim_extraction")
    return answer_items(prompt, schema["required"])


def write_dataset(path: Path, rows: list[Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


class Vectors:
    """An embedder under the name that ``EMBEDDINGS`` gives to a server's."""

    name = "letters"

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [[1.0, 1.0 / len(text)] for text in texts]


EMBEDDINGS = ("--embeddings", "letters", "--embeddings-url", "http://127.0.0.1/v1")


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Replies to every question about ``ROWS``, recorded from a scripted judge."""
    folder = tmp_path_factory.mktemp("recorded")
    judge = Judge(
        "scripted-1",
        transport=ScriptedTransport(answer),
        recordings=Recordings(folder, mode="rewrite"),
        embeddings=Vectors(),
        temperature=0.0,
        max_tokens=256,
        seed=3,
    )
    evaluate(ROWS, judge=judge)
    return folder


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    return write_dataset(tmp_path / "data.jsonl", ROWS)


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def no_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragas_judge.judge.retry._backoff", lambda state: 0.0)


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Callable[..., Any]]:
    """``code, out, err = run(dataset, "--limit", 2)``, written to ``tmp_path / "run"``."""

    def call(*arguments: Any) -> tuple[int, str, str]:
        argv = ["evaluate", *map(str, arguments), "--out", str(tmp_path / "run")]
        code = main(argv)
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    yield call


def error_line(err: str) -> str:
    """The one line of an error; nothing else may be on stderr but progress."""
    said = [line for line in err.splitlines() if not re.match(r" *\d+%  ", line)]
    assert len(said) == 1, err
    assert said[0].startswith("ragas-judge: error: ")
    return said[0]


def manifest_of(folder: Path) -> dict[str, Any]:
    manifest: dict[str, Any] = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    return manifest


# --- a run that works -------------------------------------------------------------------------


def test_replay_needs_no_key_no_model_and_no_sampling(
    run: Any, dataset: Path, recordings: Path, tmp_path: Path
) -> None:
    code, out, err = run(dataset, "--recordings", recordings, "--metrics", CLAIMS)
    assert code == 0
    for metric in CLAIMS.split(","):
        assert metric in out
    assert "3/3" in out
    assert "no interval: all scored rows have the same value" in out
    assert f"9 results and their evidence are in {tmp_path / 'run'}" in out
    assert "100%  9 of 9 scores" in err
    judge = manifest_of(tmp_path / "run")["judge"]
    assert judge["model"] == "scripted-1"
    assert judge["sampling"] == SAMPLING
    assert judge["recordings"]["mode"] == "replay"


def test_all_four_metrics_by_default(run: Any, dataset: Path, recordings: Path) -> None:
    code, out, err = run(dataset, "--recordings", recordings, *EMBEDDINGS)
    assert code == 0
    assert "answer_relevancy" in out
    assert "were not used" not in err


def test_recordings_that_a_full_replay_does_not_use_are_told(
    run: Any, tmp_path: Path, recordings: Path
) -> None:
    short = write_dataset(tmp_path / "short.jsonl", ROWS[:2])
    replay = (short, "--recordings", recordings, *EMBEDDINGS)
    code, _, err = run(*replay)
    assert code == 0
    assert "recordings in" in err
    assert "were not used, such as claim_extraction/" in err
    _, _, err = run(*replay, "--limit", 1, "--overwrite")
    assert "were not used" not in err


def test_json_alone_is_on_stdout(run: Any, dataset: Path, recordings: Path, tmp_path: Path) -> None:
    code, out, err = run(dataset, "--recordings", recordings, "--metrics", CLAIMS, "--json")
    summary = json.loads(out)
    assert code == 0
    assert summary["run"] == str(tmp_path / "run")
    assert summary["complete"] is True
    assert summary["headlines"]["faithfulness"]["mean"] == 1.0
    assert "context_precision" in err


def test_metrics_may_be_repeated_and_limited(
    run: Any, dataset: Path, recordings: Path, tmp_path: Path
) -> None:
    names = ("--metrics", "faithfulness, context_recall", "--metrics", "context_precision")
    code, _, _ = run(dataset, "--recordings", recordings, *names, "--limit", 2)
    lines = (tmp_path / "run" / "scores.jsonl").read_text(encoding="utf-8").splitlines()
    assert code == 0
    assert len(lines) == 6
    assert {"row", "metric", "status", "value", "reason"} <= set(json.loads(lines[0]))


def test_live_then_recorded_then_replayed(
    run: Any,
    dataset: Path,
    tmp_path: Path,
    fake_openai: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server, folder = fake_openai(answer_body), tmp_path / "recordings"
    monkeypatch.setenv("MY_KEY", "secret-key-1")
    live = ("--model", "m", "--base-url", server.url, "--api-key-env", "MY_KEY", "--seed", 3)
    record = (*live, "--recordings", folder, "--mode", "missing", "--metrics", "faithfulness")
    code, out, _ = run(dataset, *record)
    assert code == 0, out
    asked = len(server.bodies)
    assert asked == 6
    assert server.bodies[0]["seed"] == 3
    assert "Bearer secret-key-1" in server.seen[0].headers.values()
    manifest = manifest_of(tmp_path / "run")
    assert manifest["judge"]["endpoint"] == server.url
    assert manifest["tokens"] == {"input": 11 * asked, "output": 7 * asked, "embedded": 0}
    for file in tmp_path.rglob("*.json*"):
        assert "secret-key-1" not in file.read_text(encoding="utf-8")
    code, _, _ = run(dataset, "--recordings", folder, "--metrics", "faithfulness", "--overwrite")
    assert code == 0
    assert len(server.bodies) == asked
    anew = ("--model", "m2", *live[2:], "--recordings", folder, "--mode", "rewrite")
    code, _, _ = run(dataset, *anew, "--metrics", "faithfulness", "--overwrite")
    assert code == 0
    assert len(server.bodies) == 2 * asked
    assert json.loads((folder / "recordings.json").read_text(encoding="utf-8"))["model"] == "m2"


def test_embeddings_from_a_server(
    run: Any, dataset: Path, fake_openai: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    server = fake_openai(answer_body)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    live = ("--model", "m", "--base-url", server.url, "--embeddings", "letters")
    code, _, _ = run(dataset, *live, "--metrics", "answer_relevancy")
    assert code == 0
    assert [seen.path for seen in server.seen].count("/v1/embeddings") == 3
    assert manifest_of(tmp_path / "run")["embedder"] == "letters"


def test_language_chooses_the_prompt_pack(
    run: Any, dataset: Path, fake_openai: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    server = fake_openai(answer_body)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    live = ("--model", "m", "--base-url", server.url, "--language", "zh")
    code, _, _ = run(dataset, *live, "--metrics", "context_precision")
    assert code == 0
    prompts = manifest_of(tmp_path / "run")["metrics"][0]["prompts"]
    assert [prompt["language"] for prompt in prompts] == ["zh"]


# --- bad input: one line, exit code 2, nothing left -------------------------------------------


def bad_rows(**changes: Any) -> list[dict[str, Any]]:
    changed = {name: value for name, value in {**ROWS[1], **changes}.items() if value is not ...}
    return [ROWS[0], changed]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        pytest.param(
            [{"question": "q", "answr": "a", "contexts": ["c"]}],
            "metric faithfulness needs column 'response', which no row has",
            id="missing column",
        ),
        pytest.param(
            bad_rows(answer=42), "row 'r1' (DATA:2): column 'response' holds a int", id="type"
        ),
        pytest.param(
            bad_rows(contexts="['The hull is larch.']"),
            "row 'r1' (DATA:2): column 'retrieved_contexts' holds a list written out as text",
            id="stringified list",
        ),
        pytest.param(
            bad_rows(contexts=["c", None]),
            "row 'r1' (DATA:2): column 'retrieved_contexts', entry 2: a NoneType",
            id="list of other things",
        ),
        pytest.param(bad_rows(id="r0"), "rows DATA:1 and DATA:2 have the same id 'r0'", id="id"),
        pytest.param(bad_rows(id=...), "row 1 (DATA:2): no id", id="no id"),
        pytest.param([], "DATA: the dataset has no rows", id="empty dataset"),
        pytest.param(["a"], "DATA:1: a JSON str", id="not rows"),
    ],
)
def test_bad_dataset(
    run: Any, tmp_path: Path, recordings: Path, rows: list[Any], said: str
) -> None:
    data = write_dataset(tmp_path / "data.jsonl", rows)
    code, out, err = run(data, "--recordings", recordings, "--metrics", CLAIMS)
    assert code == 2
    assert said.replace("DATA", str(data)) in error_line(err)
    assert out == ""
    assert not (tmp_path / "run").exists()


def closed_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port: int = held.getsockname()[1]
        return port


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--metrics", "faithfulnes"], "unknown metric 'faithfulnes'; did you mean"),
        (["--metrics", "faithfulness,faithfulness"], "metric faithfulness is given twice"),
        ([], "no model; name the judge's model with --model"),
        (["--model", "m"], "no API key: the environment variable OPENAI_API_KEY is not set"),
        (["--model", "m", "--api-key-env", "MY_KEY"], "variable MY_KEY is not set"),
        (["--mode", "replay"], "--mode replay needs --recordings DIR"),
        (["--mode", "sometimes"], "Invalid value for '--mode'"),
        (["--limit", "0"], "Invalid value for '--limit'"),
        (["--bse-url", "x"], "No such option: --bse-url"),
        (["--recordings", "nowhere"], "no recordings in nowhere: there is no recordings.json"),
        (["--recordings", "nowhere", "--mode", "off"], "no model"),
    ],
)
def test_bad_settings(
    run: Any, tmp_path: Path, dataset: Path, arguments: list[str], said: str
) -> None:
    code, out, err = run(dataset, *arguments)
    assert code == 2
    assert said in error_line(err)
    assert out == ""
    assert not (tmp_path / "run").exists()


def test_embeddings_url_alone(run: Any, dataset: Path, recordings: Path, tmp_path: Path) -> None:
    code, _, err = run(dataset, "--recordings", recordings, "--embeddings-url", "http://x/v1")
    assert code == 2
    assert "--embeddings-url needs --embeddings NAME" in error_line(err)
    assert not (tmp_path / "run").exists()


def test_dataset_that_is_not_there(run: Any, tmp_path: Path, recordings: Path) -> None:
    code, _, err = run(tmp_path / "no.jsonl", "--recordings", recordings)
    assert code == 2
    assert f"{tmp_path / 'no.jsonl'}: no such file" in error_line(err)
    assert not (tmp_path / "run").exists()


def test_a_run_that_is_there_already(
    run: Any, dataset: Path, recordings: Path, tmp_path: Path
) -> None:
    replay = (dataset, "--recordings", recordings, "--metrics", "context_precision")
    assert run(*replay)[0] == 0
    before = manifest_of(tmp_path / "run")
    code, _, err = run(*replay)
    assert code == 2
    assert "holds a run already" in error_line(err)
    assert manifest_of(tmp_path / "run") == before
    assert run(*replay, "--overwrite")[0] == 0


def test_a_recording_that_is_missing(run: Any, tmp_path: Path, recordings: Path) -> None:
    other = [*ROWS, {**ROWS[0], "id": "new", "answer": "The hull is oak. It is old."}]
    data = write_dataset(tmp_path / "data.jsonl", other)
    code, _, err = run(data, "--recordings", recordings, "--metrics", "faithfulness")
    assert code == 2
    assert f"{recordings}: no recording " in error_line(err)
    assert "nearest is " in err
    assert not (tmp_path / "run").exists()


def test_another_model_than_was_recorded(
    run: Any, tmp_path: Path, dataset: Path, recordings: Path
) -> None:
    replay = (dataset, "--recordings", recordings, "--metrics", "faithfulness")
    code, _, err = run(*replay, "--model", "scripted-2")
    assert code == 2
    assert 'model ("scripted-1" recorded, "scripted-2" asked)' in error_line(err)
    assert not (tmp_path / "run").exists()


def test_a_recording_of_another_format(run: Any, tmp_path: Path, dataset: Path) -> None:
    folder = tmp_path / "recordings"
    folder.mkdir()
    (folder / "recordings.json").write_text('{"format": 9}', encoding="utf-8")
    code, _, err = run(dataset, "--recordings", folder)
    assert code == 2
    assert "recordings.json: recording format 9, this version reads 1" in error_line(err)
    (folder / "recordings.json").write_text('{"format": 1}', encoding="utf-8")
    code, _, err = run(dataset, "--recordings", folder)
    assert code == 2
    assert "recordings.json: names no model (a text) or no sampling (an object)" in error_line(err)
    assert not (tmp_path / "run").exists()


# --- the judge fails: exit code 3 -------------------------------------------------------------


@pytest.mark.usefixtures("no_wait")
def test_an_unreachable_server(
    run: Any, tmp_path: Path, dataset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    url = f"http://127.0.0.1:{closed_port()}/v1"
    code, out, err = run(dataset, "--model", "m", "--base-url", url)
    assert code == 3
    assert url in error_line(err)
    assert out == ""
    assert not (tmp_path / "run").exists()


def test_a_key_that_is_refused_after_some_scores(
    run: Any, tmp_path: Path, dataset: Path, fake_openai: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def twice(body: dict[str, Any]) -> Any:
        if len(server.bodies) > 3:
            return fake_openai.Reply("key withdrawn", status=401)
        return answer_body(body)

    server = fake_openai(twice)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    live = ("--model", "m", "--base-url", server.url, "--concurrency", 1)
    code, _, err = run(dataset, *live, "--metrics", "faithfulness")
    assert code == 3
    said = error_line(err)
    assert "key withdrawn" in said
    assert "(stopped after 1 of 3 scores; the partial run is in" in said
    manifest = manifest_of(tmp_path / "run")
    assert manifest["complete"] is False
    assert "key withdrawn" in manifest["stopped"]


def test_no_row_scored_at_all(
    run: Any, tmp_path: Path, dataset: Path, fake_openai: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = fake_openai(lambda body: "I would rather not say.")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    live = ("--model", "m", "--base-url", server.url)
    code, out, err = run(dataset, *live, "--metrics", "context_precision")
    assert code == 3
    assert "no row was scored; the first failed: IncompleteVerdictsError" in err
    assert "warning: context_precision: 3 of 3 rows failed" in out
    assert manifest_of(tmp_path / "run")["headlines"]["context_precision"]["failed"] == 3


def test_ctrl_c(
    ctrl_c: Any,
    run: Any,
    tmp_path: Path,
    dataset: Path,
    recordings: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    find, asked = Recordings.find, 0

    def interrupted(self: Recordings, request: Request) -> Any:
        nonlocal asked
        asked += 1
        if asked == 4:
            ctrl_c()
        return find(self, request)

    monkeypatch.setattr(Recordings, "find", interrupted)
    replay = (dataset, "--recordings", recordings, "--metrics", "faithfulness")
    code, _, err = run(*replay, "--concurrency", 1)
    assert code == 130
    assert f"ragas-judge: interrupted; the partial run is in {tmp_path / 'run'}" in err
    assert "Traceback" not in err
    assert manifest_of(tmp_path / "run")["stopped"] == "interrupted"


# --- the frame --------------------------------------------------------------------------------


def test_debug_shows_the_traceback_and_the_same_line(
    run: Any, tmp_path: Path, recordings: Path
) -> None:
    code, _, err = run(tmp_path / "no.jsonl", "--recordings", recordings, "--debug")
    assert code == 2
    assert "Traceback" in err
    assert err.splitlines()[-1].startswith("ragas-judge: error: ")


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("ragas-judge 0.")
    assert main([]) == 0
    assert "evaluate" in capsys.readouterr().out
    assert main(["evaluate", "--help"]) == 0
    assert "--api-key-env" in capsys.readouterr().out
    assert main(["evalute"]) == 2
    assert "No such command 'evalute'" in error_line(capsys.readouterr().err)
    assert main(["evaluate", "data.jsonl"]) == 2
    assert "Missing option '--out'" in error_line(capsys.readouterr().err)


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys; from ragas_judge.runs.cli import main; assert main(['--help']) == 0;"
        " heavy = {'ragas', 'openai', 'langchain_core', 'numpy', 'scipy', 'datasets', 'httpx',"
        " 'pydantic', 'rich.progress'};"
        " assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_the_package_loads_nothing_heavy_and_gives_its_names() -> None:
    code = (
        "import sys, ragas_judge.runs as runs;"
        " assert set(runs.__all__) <= set(dir(runs));"
        " runs.summarize; runs.load_dataset; runs.evaluate; runs.RunResult;"
        " assert not {'ragas', 'numpy', 'scipy', 'datasets'} & set(sys.modules);"
        " import ragas_judge.runs.evaluation; assert callable(runs.evaluate)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_module_as_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ragas_judge.runs", "--version"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout.startswith("ragas-judge 0.")


def test_inside_a_running_loop(run: Any, dataset: Path, recordings: Path) -> None:
    async def notebook() -> Any:
        return run(dataset, "--recordings", recordings, "--metrics", "context_precision")

    assert asyncio.run(notebook())[0] == 0
