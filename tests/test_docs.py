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
    """Right answers to the examples' rows, by a rule that is enough for them.

    A claim is a sentence; it is contradicted when it has a number that no context has; a context
    is useful when it has a number.
    """
    schema = body["response_format"]["json_schema"]["schema"]["properties"]
    asked = body["messages"][-1]["content"]
    blocks = [
        dict(re.findall(r"^\[(\d+)\] (.*)$", block, re.MULTILINE))
        for block in re.findall(r"<data-\w+>\n(.*?)\n</data-", asked, re.DOTALL)
    ]
    items = blocks[-1]
    return {key: _answer(item, items.get(key, ""), blocks) for key, item in schema.items()}


def _answer(schema: dict[str, Any], text: str, blocks: list[dict[str, str]]) -> Any:
    if schema["type"] == "array":
        return [text]
    if "useful" in schema["properties"]:
        useful = bool(re.search(r"\d", text))
        return {"useful": useful, "quote": text if useful else ""}
    if "question" in schema["properties"]:
        return {"noncommittal": False, "question": "How many are there?"}
    context = blocks[0]["1"]
    known = set(re.findall(r"\d+", context)) >= set(re.findall(r"\d+", text))
    verdict = "supported" if known else "contradicted"
    return {"verdict": verdict, "context": 1, "quote": context}


@pytest.mark.parametrize(("code", "printed"), blocks())
def test_example(code: str, printed: str | None, run_script: Any, fake_openai: Any) -> None:
    done = run_script(code, fake_openai(reply).url)
    if printed is not None:
        assert done.stdout == printed


def test_the_examples_were_found() -> None:
    assert len(blocks()) >= 6
