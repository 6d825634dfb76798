"""Nothing is sent anywhere but to the judge: no connection and no name look-up in replay,
and in live mode only to the judge's address. ragas' own telemetry is included.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent

GUARD = """
import json, socket, sys, warnings
warnings.simplefilter("ignore")
contacts = []
real_connect, real_connect_ex = socket.socket.connect, socket.socket.connect_ex

def note(kind, address):
    contacts.append([kind, str(address[0]) if isinstance(address, tuple) else str(address)])

def connect(self, address):
    if self.family in (socket.AF_INET, socket.AF_INET6):
        note("connect", address)
    return real_connect(self, address)

def connect_ex(self, address):
    if self.family in (socket.AF_INET, socket.AF_INET6):
        note("connect", address)
    return real_connect_ex(self, address)

socket.socket.connect, socket.socket.connect_ex = connect, connect_ex
for name in ("getaddrinfo", "gethostbyname", "gethostbyname_ex", "getnameinfo", "gethostbyaddr"):
    def guarded(*args, _real=getattr(socket, name), **kwargs):
        note("look-up", args)
        return _real(*args, **kwargs)
    setattr(socket, name, guarded)
"""

REPORT = """
import atexit
from ragas._analytics import _analytics_batcher
_analytics_batcher.flush()
print("CONTACTS", json.dumps(contacts))
"""

SETS = "fixtures/quickstart/dataset.jsonl"
EVALUATE = f"""
from datasets import Dataset
from ragas import evaluate
import ragas.metrics.base
from ragas_judge.judge import Judge
from ragas_judge.metrics import AnswerRelevancy, ContextPrecision, ContextRecall, Faithfulness

rows = [json.loads(line) for line in open({SETS!r}, encoding="utf-8")][:4]
judge = JUDGE
metrics = [cls(judge) for cls in (Faithfulness, ContextRecall, ContextPrecision, AnswerRelevancy)]
result = evaluate(Dataset.from_list(rows), metrics=metrics, show_progress=False)
assert all(score == score for row in result.scores for score in row.values()), result.scores
"""


def contacts_of(code: str, **environment: str) -> list[list[str]]:
    """Run code under the guard; what it contacted."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(GUARD + code + REPORT)],
        cwd=ROOT,
        env={**{k: v for k, v in os.environ.items() if k != "RAGAS_DO_NOT_TRACK"}, **environment},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    line = next(line for line in done.stdout.splitlines() if line.startswith("CONTACTS "))
    found: list[list[str]] = json.loads(line.removeprefix("CONTACTS "))
    return found


def test_replay_contacts_nobody() -> None:
    code = EVALUATE.replace("JUDGE", 'Judge.replay("fixtures/recordings/quickstart")')
    assert contacts_of(code) == []


@pytest.mark.parametrize("first", ["", "import ragas\n"], ids=["ours first", "ragas first"])
def test_live_contacts_only_the_judge(first: str, fake_openai: Any) -> None:
    def reply(body: dict[str, Any]) -> dict[str, Any]:
        schema = body["response_format"]["json_schema"]["schema"]["properties"]
        made: dict[str, Any] = {"array": ["A claim."]}
        answer = {
            "verdict": "supported",
            "context": 1,
            "quote": "x",
            "useful": True,
            "noncommittal": False,
            "question": "What is it?",
        }
        return {key: made.get(item["type"], answer) for key, item in schema.items()}

    server = fake_openai(reply)
    judge = f'Judge("any", base_url={server.url!r}, api_key="none")'
    found = contacts_of(first + EVALUATE.replace("JUDGE", judge))
    assert found != []
    assert {address for kind, address in found if kind == "connect"} == {"127.0.0.1"}
    assert all("127.0.0.1" in address for _, address in found)


def test_a_users_own_choice_about_telemetry_is_kept() -> None:
    code = "import os\nimport ragas_judge.metrics.base\nchosen = os.environ['RAGAS_DO_NOT_TRACK']\n"
    assert (
        contacts_of(f"{code}assert chosen == 'maybe', chosen\n", RAGAS_DO_NOT_TRACK="maybe") == []
    )


def test_the_guard_sees_contacts(fake_openai: Any) -> None:
    server = fake_openai(lambda body: "")
    port = server.url.split(":")[2].split("/")[0]
    code = f"import ragas\nsocket.create_connection(('127.0.0.1', {port})).close()\n"
    found = contacts_of(code)
    assert ["connect", "127.0.0.1"] in found
    assert any(kind == "look-up" for kind, _ in found)
