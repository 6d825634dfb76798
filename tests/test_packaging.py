"""What is installed: names, versions, files, and nothing where it does not belong."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from importlib.metadata import distribution, entry_points
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import pytest

import ragas_judge

if TYPE_CHECKING:
    from importlib.metadata import Distribution

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("judge", "prompts", "metrics", "runs")
NOT_WANTED_EARLY = (
    "datasets",
    "httpx",
    "instructor",
    "langchain",
    "langchain_community",
    "langchain_core",
    "langchain_openai",
    "numpy",
    "openai",
    "pandas",
    "ragas",
    "scipy",
)


@pytest.fixture(scope="module")
def installed() -> Distribution:
    return distribution("ragas-judge")


@pytest.fixture(scope="module")
def project() -> Any:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def run(code: str, folder: Path) -> str:
    """What a fresh interpreter prints that was started in a folder."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_name_licence_and_version(installed: Distribution, project: Any) -> None:
    assert installed.metadata["Name"] == "ragas-judge"
    assert installed.metadata["License-Expression"] == "Apache-2.0"
    assert installed.metadata["Requires-Python"] == ">=3.11"
    assert installed.version == project["version"]


def test_the_changelog_speaks_of_this_version(installed: Distribution) -> None:
    """Its newest heading names it: ``[Unreleased] - 0.1.0``, then ``[0.1.0] - 2026-12-01``."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## .*$", text, re.MULTILINE)
    assert newest, "CHANGELOG.md has no heading"
    assert installed.version in re.findall(r"\d+\.\d+\.\d+", newest[0]), newest[0]


def test_the_bounds_that_make_a_working_set(installed: Distribution) -> None:
    needed = {re.split(r"[^\w-]", line)[0]: line for line in installed.requires or ()}
    assert "<0.4.2" in needed["langchain-community"]
    assert "<0.5" in needed["ragas"]
    assert ">=0.4.3" in needed["ragas"]
    assert ">=1.11" in needed["instructor"]
    assert ">=2" in needed["openai"]


def test_the_command_is_installed() -> None:
    (command,) = entry_points(group="console_scripts", name="ragas-judge")
    assert command.value == "ragas_judge.runs.cli:main"
    assert callable(command.load())


def test_nothing_but_our_namespace_is_installed() -> None:
    """An editable install lists no files, so the wheel's own view is asked for: its packages."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    packages = settings["tool"]["setuptools"]["packages"]
    assert all(name.startswith("ragas_judge.") for name in packages)
    folders = {path.parent for name in PACKAGES for path in (ROOT / name).rglob("*.py")}
    listed = {ROOT.joinpath(*name.split(".")[1:]) for name in packages}
    assert listed == folders, "a package in pyproject.toml is not there, or one is not listed"


def test_the_file_list_of_the_distribution(installed: Distribution) -> None:
    tops = {PurePosixPath(file).parts[0] for file in installed.files or ()}
    ours = {top for top in tops if top not in ("..", "__pycache__") and ".dist-info" not in top}
    assert not ours & set(PACKAGES)
    assert ours == {"ragas_judge"} or all(top.startswith("__editable__") for top in ours), ours


def test_the_namespace_has_no_init() -> None:
    assert getattr(ragas_judge, "__file__", None) is None
    assert not any(Path(folder, "__init__.py").exists() for folder in ragas_judge.__path__)


def test_the_installed_package_is_tested_not_the_working_folder() -> None:
    assert str(ROOT) not in sys.path
    for name in PACKAGES:
        (folder,) = __import__(f"ragas_judge.{name}", fromlist=["_"]).__path__
        assert Path(folder) != ROOT / name


def data_files(folder: Path) -> dict[str, bytes]:
    suffixes = {".json", ".toml", ".txt"}
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.suffix in suffixes
    }


def test_the_prompts_are_installed() -> None:
    import ragas_judge.prompts

    (folder,) = ragas_judge.prompts.__path__
    wanted = data_files(ROOT / "prompts")
    assert any(name.endswith("system.txt") for name in wanted)
    assert data_files(Path(folder)) == wanted


@pytest.mark.parametrize("name", PACKAGES)
def test_the_types_are_installed(name: str) -> None:
    (folder,) = __import__(f"ragas_judge.{name}", fromlist=["_"]).__path__
    assert Path(folder, "py.typed").is_file()


def test_modules_of_the_user_shadow_nothing(tmp_path: Path) -> None:
    for name in PACKAGES:
        (tmp_path / f"{name}.py").write_text(f"raise RuntimeError('own {name}')", encoding="utf-8")
    (tmp_path / "prompts.py").unlink()
    (tmp_path / "prompts").mkdir()
    own = tmp_path / "prompts" / "__init__.py"
    own.write_text("raise RuntimeError('own prompts')", encoding="utf-8")
    code = """
import ragas_judge.judge, ragas_judge.prompts, ragas_judge.metrics, ragas_judge.runs
from ragas_judge.metrics import Faithfulness
print(Faithfulness.__name__, ragas_judge.prompts.load_prompt("claim_extraction").ref.id)
"""
    assert run(code, tmp_path).split() == ["Faithfulness", "claim_extraction"]


@pytest.mark.parametrize("name", ["judge", "prompts", "metrics"])
def test_importing_loads_nothing_heavy(name: str, tmp_path: Path) -> None:
    code = f"import json, sys, ragas_judge.{name}; print(json.dumps(sorted(sys.modules)))"
    loaded = json.loads(run(code, tmp_path))
    heavy = [module for module in NOT_WANTED_EARLY if module in loaded]
    assert not heavy, f"import ragas_judge.{name} loads {heavy}"
