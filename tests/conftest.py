"""Fixtures shared by all tests."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import threading
from collections import OrderedDict
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

settings.register_profile("patient", deadline=None)  # a busy machine is no failure
settings.load_profile("patient")


def load_beside(name: str) -> ModuleType:
    """A helper module of this folder, by path: the folder is not a package."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


class FakeOpenAIStarter:
    """Starts fake OpenAI servers that stop with the test; ``Reply`` is their ``FakeReply``."""

    def __init__(self, stack: ExitStack) -> None:
        module = sys.modules.get("fake_openai") or load_beside("fake_openai")
        self.Reply: Any = module.FakeReply
        self.embedding: Any = module.embedding
        self._server, self._stack = module.FakeOpenAI, stack

    def __call__(self, answer: Any = None, **options: Any) -> Any:
        return self._stack.enter_context(self._server(answer, **options))


@pytest.fixture
def fake_openai() -> Iterator[FakeOpenAIStarter]:
    """``server = fake_openai(lambda body: {...})``, then ``server.url``, ``server.bodies``."""
    with ExitStack() as stack:
        yield FakeOpenAIStarter(stack)


@pytest.fixture
def fault_server() -> Iterator[Any]:
    """``server = fault_server(faults={"http500": 0.1})``: see ``tests/fault_server.py``."""
    module = sys.modules.get("fault_server") or load_beside("fault_server")
    with ExitStack() as stack:
        yield lambda **config: stack.enter_context(module.FaultServer(**config))


@pytest.fixture(scope="session")
def scripted() -> Any:
    """The module ``scripted_judge``: ``make_judge``, ``answer_well``, ``only``, …"""
    return sys.modules.get("scripted_judge") or load_beside("scripted_judge")


@pytest.fixture
def run_script(tmp_path: Path) -> Any:
    """``run_script(code, base_url)``: run a script in a process of its own, as a user would.

    It runs in an empty folder with a link to ``fixtures``; the API address is ``base_url``.
    Returns the finished process; a script that fails fails the test.
    """

    def run(code: str, base_url: str) -> subprocess.CompletedProcess[str]:
        (tmp_path / "script.py").write_text(code, encoding="utf-8")
        (tmp_path / "fixtures").symlink_to(Path(__file__).parent.parent / "fixtures")
        done = subprocess.run(
            [sys.executable, "script.py"],
            cwd=tmp_path,
            env={
                **os.environ,
                "OPENAI_API_KEY": "none",
                "OPENAI_BASE_URL": base_url,
                "PYTHONWARNINGS": "ignore",
            },
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        return done

    return run


@pytest.fixture
def ctrl_c() -> Iterator[Any]:
    """``ctrl_c()`` interrupts this process, also where it was started with interrupts ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield lambda: signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
    signal.signal(signal.SIGINT, before)


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees the keys and addresses of whoever runs it."""
    # What is learnt of a server is kept by its port, and ports come round again.
    monkeypatch.setattr("ragas_judge.judge._openai_params._known", OrderedDict())
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.delenv(name, raising=False)
