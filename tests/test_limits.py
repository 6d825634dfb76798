"""The size and shape that the code keeps: short files, short functions, one broad ``except``."""

from __future__ import annotations

import ast
import importlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("judge", "prompts", "metrics", "runs")

FILE_LINES = 400
FUNCTION_LINES = 60
SHORT_FUNCTION_LINES = 20
SHORT_FUNCTIONS = 0.85
MEDIAN_FUNCTION_LINES = 8
POSITIONAL_PARAMETERS = 5
BROAD_EXCEPTS = 1

UNSAFE_MODULES = {"cloudpickle", "dill", "jsonpickle", "marshal", "pickle", "shelve"}
UNSAFE_CALLS = {"eval", "exec"}

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Source:
    """A file of the project, read and parsed."""

    path: Path
    text: str
    tree: ast.Module

    def at(self, line: int, what: str) -> str:
        """One line of a message: where, then what."""
        return f"{self.path.relative_to(ROOT)}:{line}: {what}"

    def find(self, kind: type[ast.AST] | tuple[type[ast.AST], ...]) -> Iterator[ast.AST]:
        """All nodes of a kind, nested ones too."""
        return (node for node in ast.walk(self.tree) if isinstance(node, kind))


@cache
def sources() -> tuple[Source, ...]:
    """Every Python file of the four packages."""
    found = []
    for package in PACKAGES:
        paths = sorted((ROOT / package).rglob("*.py"))
        assert paths, f"{package}/ holds no Python file: is {ROOT} the repository?"
        for path in paths:
            text = path.read_text(encoding="utf-8")
            found.append(Source(path, text, ast.parse(text, str(path))))
    return tuple(found)


def functions() -> Iterator[tuple[Source, FunctionNode]]:
    """Every function and method, with its file."""
    for source in sources():
        for node in source.find((ast.FunctionDef, ast.AsyncFunctionDef)):
            assert isinstance(node, FunctionNode)
            yield source, node


def body_lines(function: FunctionNode) -> int:
    """Lines from the first statement after the docstring to the end."""
    body = function.body[1:] if ast.get_docstring(function, clean=False) else function.body
    if not body:
        return 0
    last = body[-1].end_lineno
    assert last is not None
    return last - body[0].lineno + 1


def positional(function: FunctionNode) -> list[str]:
    """Names of the parameters that can be given by position, but for self and cls."""
    names = [argument.arg for argument in function.args.posonlyargs + function.args.args]
    return names[1:] if names[:1] in (["self"], ["cls"]) else names


def is_broad(caught: ast.expr | None) -> bool:
    """Whether an ``except`` clause, or a ``suppress``, takes everything."""
    if isinstance(caught, ast.Tuple):
        return any(is_broad(item) for item in caught.elts)
    return caught is None or (
        isinstance(caught, ast.Name) and caught.id in ("Exception", "BaseException")
    )


def called(node: ast.Call) -> str:
    """The last name of what is called: ``suppress`` for ``contextlib.suppress(...)``."""
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def suppresses_all(node: ast.Call) -> bool:
    """Whether a call is ``suppress(Exception)``."""
    return called(node) == "suppress" and any(is_broad(argument) for argument in node.args)


def broad_excepts(source: Source) -> Iterator[str]:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ExceptHandler) and is_broad(node.type):
            yield source.at(node.lineno, "a broad except")
        if isinstance(node, ast.Call) and suppresses_all(node):
            yield source.at(node.lineno, "a broad suppress")


def imported(node: ast.AST) -> list[str]:
    """Names of the top-level modules that an import statement loads."""
    if isinstance(node, ast.Import):
        return [alias.name.split(".")[0] for alias in node.names]
    if isinstance(node, ast.ImportFrom) and not node.level:
        return [(node.module or "").split(".")[0]]
    return []


def unsafe(source: Source) -> Iterator[str]:
    for node in ast.walk(source.tree):
        for module in UNSAFE_MODULES.intersection(imported(node)):
            yield source.at(getattr(node, "lineno", 0), f"imports {module}")
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            for name in UNSAFE_CALLS.intersection([node.func.id]):
                yield source.at(node.lineno, f"calls {name}")


def none_of(offences: Iterable[str], rule: str) -> None:
    found = list(offences)
    assert not found, "\n".join([rule, *found])


def test_files_are_short() -> None:
    lengths = ((source, len(source.text.splitlines())) for source in sources())
    none_of(
        (source.at(n, f"{n} lines") for source, n in lengths if n > FILE_LINES),
        f"at most {FILE_LINES} lines a file:",
    )


def test_no_function_is_long() -> None:
    none_of(
        (
            source.at(node.lineno, f"{node.name} has {body_lines(node)} lines")
            for source, node in functions()
            if body_lines(node) > FUNCTION_LINES
        ),
        f"at most {FUNCTION_LINES} lines a function, docstring not counted:",
    )


def test_most_functions_are_short() -> None:
    longest = sorted(functions(), key=lambda item: -body_lines(item[1]))
    lengths = [body_lines(node) for _, node in longest]
    short = sum(n <= SHORT_FUNCTION_LINES for n in lengths) / len(lengths)
    told = "\n".join(
        source.at(node.lineno, f"{node.name} has {body_lines(node)} lines")
        for source, node in longest[:10]
    )
    assert median(lengths) <= MEDIAN_FUNCTION_LINES, f"median {median(lengths)}, longest:\n{told}"
    assert short >= SHORT_FUNCTIONS, f"{short:.0%} are short, longest:\n{told}"


def test_few_positional_parameters() -> None:
    none_of(
        (
            source.at(node.lineno, f"{node.name}({', '.join(positional(node))})")
            for source, node in functions()
            if len(positional(node)) > POSITIONAL_PARAMETERS
        ),
        f"at most {POSITIONAL_PARAMETERS} positional parameters, keywords for the rest:",
    )


def test_one_broad_except() -> None:
    found = [offence for source in sources() for offence in broad_excepts(source)]
    assert len(found) <= BROAD_EXCEPTS, "\n".join(found)


def test_nothing_runs_data_as_code() -> None:
    none_of((offence for source in sources() for offence in unsafe(source)), "not allowed here:")


@pytest.mark.parametrize("package", PACKAGES)
def test_types_are_published(package: str) -> None:
    assert (ROOT / package / "py.typed").is_file(), f"{package}/py.typed is missing"


def constants_classes_others(name: str) -> tuple[bool, bool, str]:
    """The order of ruff's RUF022."""
    return not name.isupper(), not name[0].isupper(), name


@pytest.mark.parametrize("package", PACKAGES)
def test_public_names_are_listed_in_order_and_there(package: str) -> None:
    module = importlib.import_module(f"ragas_judge.{package}")
    names = list(module.__all__)
    assert names == sorted(set(names), key=constants_classes_others), f"{package}/__init__.py"
    missing = [name for name in names if not hasattr(module, name)]
    assert not missing, f"{package}/__init__.py lists {missing}"


@pytest.mark.parametrize(
    ("code", "broad"),
    [
        ("try: f()\nexcept: g()", True),
        ("try: f()\nexcept (ValueError, Exception): g()", True),
        ("with contextlib.suppress(BaseException): f()", True),
        ("try: f()\nexcept ValueError: g()", False),
    ],
)
def test_a_broad_except_is_seen(code: str, broad: bool) -> None:
    source = Source(ROOT / "example.py", code, ast.parse(code))
    assert bool(list(broad_excepts(source))) is broad


@pytest.mark.parametrize(
    ("code", "seen"),
    [
        ("import pickle", True),
        ("from dill import dumps", True),
        ("eval('1')", True),
        ("from .pickle import own", False),
        ("model.eval()", False),
    ],
)
def test_unsafe_code_is_seen(code: str, seen: bool) -> None:
    source = Source(ROOT / "example.py", code, ast.parse(code))
    assert bool(list(unsafe(source))) is seen


def test_lengths_are_counted_without_the_docstring() -> None:
    code = 'def f(self, a, /, b, *, c):\n    """One.\n\n    Two.\n    """\n    a()\n\n    b()\n'
    (function,) = ast.parse(code).body
    assert isinstance(function, FunctionNode)
    assert body_lines(function) == 3
    assert positional(function) == ["a", "b"]
