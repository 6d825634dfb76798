"""Recordings: four modes, whole files, honest misses, no secrets."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from ragas_judge.judge import (
    Budget,
    Judge,
    Recordings,
    Reply,
    ReplyState,
    Request,
    ScriptedTransport,
    Usage,
)
from ragas_judge.judge.errors import (
    RecordingError,
    RecordingFormatError,
    RecordingMissingError,
    SetupError,
)
from ragas_judge.prompts import Message, PromptRef

if TYPE_CHECKING:
    from pathlib import Path

PROMPT = PromptRef("claim_extraction", 1, "en", "0" * 64)
REQUEST = Request(
    "m",
    (Message("system", "rules"), Message("user", "text")),
    {"type": "object", "properties": {"2": {}, "1": {}}},
    {"temperature": 0.0},
    PROMPT,
)
REPLY = Reply("{}", ReplyState.COMPLETE, "stop", Usage(3, 4), "m-1", "json_schema", ("seed",))


def send(recordings: Recordings, live: ScriptedTransport | None, request: Request) -> Reply:
    return asyncio.run(recordings.wrap(live).send(request))


def counted(reply: Any = REPLY) -> ScriptedTransport:
    return ScriptedTransport(lambda _: reply)


def test_what_is_recorded_is_replayed_whole(tmp_path: Path) -> None:
    assert send(Recordings(tmp_path, "missing"), counted(), REQUEST) == REPLY
    assert send(Recordings(tmp_path), None, REQUEST) == REPLY


def test_missing_asks_only_for_what_is_not_there(tmp_path: Path) -> None:
    live = counted()
    for _ in range(2):
        send(Recordings(tmp_path, "missing"), live, REQUEST)
    assert len(live.requests) == 1


def test_rewrite_asks_always_and_replaces(tmp_path: Path) -> None:
    send(Recordings(tmp_path, "missing"), counted(), REQUEST)
    new = replace(REPLY, text="new")
    assert send(Recordings(tmp_path, "rewrite"), counted(new), REQUEST) == new
    assert send(Recordings(tmp_path), None, REQUEST) == new


def test_off_touches_nothing(tmp_path: Path) -> None:
    send(Recordings(tmp_path / "none", "off"), counted(), REQUEST)
    assert not (tmp_path / "none").exists()


CHANGES: list[dict[str, Any]] = [
    {"model": "n"},
    {"messages": (*REQUEST.messages[:1], Message("user", "other"))},
    {"schema": {"type": "object", "properties": {"1": {}, "2": {}}}},
    {"schema": None},
    {"sampling": {"temperature": 0.1}},
    {"sampling": {"temperature": 0.0, "seed": 1}},
    {"prompt": replace(PROMPT, sha256="1" * 64)},
    {"prompt": replace(PROMPT, version=2)},
    {"prompt": None},
    {"repetition": 1},
]


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_can_alter_a_reply_alters_the_key(change: dict[str, Any], tmp_path: Path) -> None:
    send(Recordings(tmp_path, "missing"), counted(), REQUEST)
    other = replace(REQUEST, **change)
    assert other.key() != REQUEST.key()
    with pytest.raises(RecordingMissingError):
        send(Recordings(tmp_path), None, other)


def test_a_miss_shows_the_nearest_recording_and_what_differs(tmp_path: Path) -> None:
    send(Recordings(tmp_path, "missing"), counted(), REQUEST)
    near = Recordings(tmp_path, "missing").file(REQUEST).name
    with pytest.raises(RecordingMissingError) as caught:
        send(Recordings(tmp_path), None, replace(REQUEST, model="other"))
    message = str(caught.value)
    assert f"nearest is {near}" in message
    assert 'model ("m" recorded, "other" asked)' in message
    assert "mode 'missing' with a live judge" in message
    assert "\n" not in message


def test_a_miss_without_neighbours_says_so(tmp_path: Path) -> None:
    Recordings(tmp_path, "missing").describe(model="m", sampling={})
    with pytest.raises(RecordingMissingError, match="no recording of prompt 'claim_extraction'"):
        send(Recordings(tmp_path), None, REQUEST)


def test_unused_files_are_reported(tmp_path: Path) -> None:
    other = replace(REQUEST, repetition=1)
    writer = Recordings(tmp_path, "missing")
    for request in (REQUEST, other):
        send(writer, counted(), request)
    assert writer.unused() == []
    reader = Recordings(tmp_path)
    send(reader, None, REQUEST)
    assert reader.unused() == [reader.file(other)]


def test_an_unknown_mode_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="'repaly'; choose one of off, replay, missing, rewrite"):
        Recordings(tmp_path, "repaly")


def test_replay_of_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="no recordings in"):
        Recordings(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"format": 99}', "recording format 99, this version reads 1"),
        ("[]", "recording format None"),
        ("{", "cannot be read as JSON"),
        ('{"format": 1}', "not the reply to this request"),
        (f'{{"format": 1, "key": "{REQUEST.key()}"}}', "not a recorded reply"),
    ],
)
def test_a_file_of_another_format_is_named(text: str, said: str, tmp_path: Path) -> None:
    writer = Recordings(tmp_path, "missing")
    send(writer, counted(), REQUEST)
    writer.file(REQUEST).write_text(text, encoding="utf-8")
    with pytest.raises(RecordingFormatError, match=said) as caught:
        send(Recordings(tmp_path), None, REQUEST)
    assert writer.file(REQUEST).name in str(caught.value)


def test_a_file_renamed_to_another_request_is_not_served(tmp_path: Path) -> None:
    writer = Recordings(tmp_path, "missing")
    send(writer, counted(), REQUEST)
    other = replace(REQUEST, repetition=1)
    writer.file(REQUEST).rename(writer.file(other))
    with pytest.raises(RecordingFormatError, match="not the reply to this request"):
        send(Recordings(tmp_path), None, other)


@pytest.mark.parametrize("mode", ["missing", "rewrite"])
def test_a_folder_that_cannot_be_is_told_before_the_first_call(mode: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(SetupError, match="is no folder to write to"):
            Recordings(path, mode)


def test_a_reply_that_cannot_be_recorded_is_counted_and_cached_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recordings = Recordings(tmp_path / "r", "missing")
    budget = Budget(max_tokens=1000)
    judge = Judge(
        "m", transport=counted(), recordings=recordings, cache=tmp_path / "c", budget=budget
    )

    def full(*_: Any) -> None:
        raise RecordingError("no space left")

    monkeypatch.setattr("ragas_judge.judge.recordings.write_entry", full)
    with pytest.raises(RecordingError):
        asyncio.run(judge.ask(judge.request([("user", "x")])))
    assert judge.cache is not None
    assert (budget.tokens, len(judge.cache)) == (7, 1)


def test_replies_of_another_judge_are_refused_before_the_first_call(tmp_path: Path) -> None:
    Recordings(tmp_path, "missing").describe(model="a", sampling={"temperature": 0.0})
    with pytest.raises(SetupError, match="holds replies of 'a'"):
        Judge("b", transport=counted(), recordings=Recordings(tmp_path, "missing"))


def test_half_a_surrogate_pair_in_a_reply_is_kept(tmp_path: Path) -> None:
    odd = replace(REPLY, text='{"1": "\ud83d"}')
    send(Recordings(tmp_path, "missing"), counted(odd), REQUEST)
    assert send(Recordings(tmp_path), None, REQUEST) == odd


def test_one_folder_holds_one_judge(tmp_path: Path) -> None:
    send(Recordings(tmp_path, "missing"), counted(), REQUEST)
    other = replace(REQUEST, model="n")
    with pytest.raises(SetupError, match="holds replies of 'm'"):
        send(Recordings(tmp_path, "missing"), counted(), other)
    send(Recordings(tmp_path, "rewrite"), counted(), other)
    assert Recordings(tmp_path).header["model"] == "n"


def test_no_key_or_address_is_written(tmp_path: Path, fake_openai: Any) -> None:
    server = fake_openai(lambda body: "{}")
    secret = "a-secret-that-must-not-be-written"
    judge = Judge(
        "m", base_url=server.url, api_key=secret, recordings=Recordings(tmp_path, "missing")
    )

    async def run() -> None:
        await judge.ask(judge.request([("user", "x")]))
        await judge.aclose()

    asyncio.run(run())
    files = [path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.json")]
    assert len(files) == 2
    assert not any(secret in text or "127.0.0.1" in text for text in files)
    assert json.loads(files[0])["format"] == 1
    assert list(tmp_path.rglob("*.tmp")) == []
