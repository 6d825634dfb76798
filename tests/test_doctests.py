"""Every worked example in a docstring runs, over the installed modules."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

PACKAGES = ["ragas_judge.judge", "ragas_judge.prompts", "ragas_judge.metrics", "ragas_judge.runs"]


def modules() -> list[str]:
    names = []
    for package in PACKAGES:
        folder = Path(importlib.import_module(package).__file__ or "").parent
        names.append(package)
        names += [
            f"{package}.{module.name}"
            for module in pkgutil.iter_modules([str(folder)])
            if module.name != "__main__"
        ]
    return names


@pytest.mark.parametrize("name", modules())
def test_examples_of(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0


def test_the_formulas_have_examples() -> None:
    for metric in ("faithfulness", "context_recall", "context_precision", "answer_relevancy"):
        module = importlib.import_module(f"ragas_judge.metrics._{metric}")
        assert doctest.testmod(module).attempted > 0
