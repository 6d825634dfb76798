"""Imports go one way: prompts <- judge <- metrics <- runs."""

from __future__ import annotations

import ast
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LAYERS = ["prompts", "judge", "metrics", "runs"]


def imported(file: Path) -> set[str]:
    """The folders that a module imports from, relatively or by name."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            parts = (node.module or "").split(".")
            if node.level == 2:
                found.add(parts[0])
            elif parts[0] == "ragas_judge":
                found.update(parts[1:2])
        elif isinstance(node, ast.Import):
            names = [alias.name.split(".") for alias in node.names]
            found.update(name[1] for name in names if name[0] == "ragas_judge" and name[1:])
    return found


@pytest.mark.parametrize("layer", LAYERS)
def test_no_layer_imports_from_above(layer: str) -> None:
    above = set(LAYERS[LAYERS.index(layer) + 1 :])
    for file in (ROOT / layer).glob("*.py"):
        assert not imported(file) & above, file.name


def test_each_layer_uses_the_one_below() -> None:
    for below, layer in pairwise(LAYERS):
        used = set().union(*(imported(file) for file in (ROOT / layer).glob("*.py")))
        assert below in used
