"""Every Python example in README and docs runs, and prints what stands below it.

A ``python`` block followed by a ``text`` block must print exactly that text. All blocks of a
page run in one process each, in a folder that looks like the repository, with the API address
pointing at a server of this test.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"```python\n(.*?)```(?:\n+```text\n(.*?)```)?", re.DOTALL)


def blocks() -> list[Any]:
    found = []
    for page in PAGES:
        for number, match in enumerate(BLOCK.finditer(page.read_text("utf-8")), start=1):
            name = f"{page.relative_to(ROOT)}:{number}"
            found.append(pytest.param(match[1], match[2], id=name))
    return found


def reply(body: dict[str, Any]) -> dict[str, Any]:
    """A valid answer of every form our prompts ask for."""
    schema = body["response_format"]["json_schema"]["schema"]
    return {key: _value(item) for key, item in schema["properties"].items()}


def _value(schema: dict[str, Any]) -> Any:
    if schema["type"] == "array":
        return ["A claim."]
    if schema["type"] == "object":
        return {key: _value(item) for key, item in schema["properties"].items()}
    if "enum" in schema:
        return schema["enum"][0]
    return {"boolean": True, "integer": 1, "string": "words"}[schema["type"]]


@pytest.mark.parametrize(("code", "printed"), blocks())
def test_example(code: str, printed: str | None, run_script: Any, fake_openai: Any) -> None:
    done = run_script(code, fake_openai(reply).url)
    if printed is not None:
        assert done.stdout == printed


def test_the_examples_were_found() -> None:
    assert len(blocks()) >= 6
