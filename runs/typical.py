"""What a judge typically replies to a request, made up from the request alone.

Only the size of a reply matters, and that it has the form asked for: a claim for each sentence
or two, all of them supported, every second context useful, quotes that do stand in a context.
Whatever else is asked, the prompt's own first example is repeated, or an instance of the schema.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import cycle, islice
from typing import Any

from ..judge import Request
from ..judge.tokens import estimate_tokens

CLAIM_TOKENS = 15
"""Of a sentence for one claim: a longer one states several facts."""
REPEATED = 1.25
"""Claims of one sentence are longer together than the sentence: each names its subject."""
QUOTE_TOKENS = 16
"""Of a context for the words that make it useful."""
TEXT = "as much text as a short sentence has"
"""Where a schema asks for a text and nothing is known of it."""
_BLOCK = re.compile(r"<data-(\w+)>\n(.*?)\n</data-\1>", re.DOTALL)
_NUMBER = re.compile(r"^\[([^\]\n]+)\] ", re.MULTILINE)
_CJK = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"

Items = Mapping[str, str]


def typical_reply(request: Request) -> str:
    """The text of a plausible reply.

    >>> from ragas_judge.prompts import load_prompt
    >>> prompt = load_prompt("claim_extraction")
    >>> items = {"1": "It sails daily."}
    >>> asked = {"question": "When?", "sentences": items, "items": items}
    >>> typical_reply(Request("any", prompt.messages(asked), prompt.schema(items), {}, prompt.ref))
    '{"1": ["It sails daily."]}'
    """
    names = list((request.schema or {}).get("properties", ()))
    if not names:
        return _whole(request)
    prompt = request.prompt.id if request.prompt else ""
    blocks = [match[2] for match in _BLOCK.finditer(request.messages[-1].content)]
    items = numbered(blocks[-1]) if blocks else {}
    if prompt in _ANSWERS and set(names) <= set(items):
        chosen = {name: items[name] for name in names}
        answers = _ANSWERS[prompt](chosen, blocks)
    else:
        answers = _like_example(request, names)
    return json.dumps(answers, ensure_ascii=False)


def numbered(block: str) -> dict[str, str]:
    r"""The numbered texts of a data block, without the indents of their further lines.

    >>> numbered("[1] one\n    more\n[2] two")
    {'1': 'one\nmore', '2': 'two'}
    """
    parts = _NUMBER.split(block)
    texts = (text.removesuffix("\n").replace("\n    ", "\n") for text in parts[2::2])
    return dict(zip(parts[1::2], texts, strict=True))


def claims_of(sentence: str) -> list[str]:
    """Texts of the size of the sentence's claims.

    >>> claims_of("It sails daily.")
    ['It sails daily.']
    >>> len(claims_of("The ferry was built in 1931 by the Hask yard, carries 140 passengers, and "
    ...     "sails every forty minutes from Pellin Quay."))
    2
    """
    count = max(1, round(estimate_tokens(sentence) / CLAIM_TOKENS))
    if count == 1:
        return [sentence]
    size = round(len(sentence) / count * REPEATED)
    starts = (round(i * (len(sentence) - size) / (count - 1)) for i in range(count))
    return [sentence[start : start + size] for start in starts]


def passage(text: str, size: int) -> str:
    """The beginning of a text, about ``size`` characters, to the end of a word.

    >>> passage("The ferry sails every forty minutes.", 12)
    'The ferry sails'
    >>> passage("渡船每四十分钟一班。", 4)
    '渡船每四'
    """
    begin = re.compile(rf".*?\w.{{{max(0, size - 1)},}}?(?=[\s{_CJK}]|$)", re.DOTALL)
    found = begin.match(text.strip())
    return found[0] if found else text


def _claims(items: Items, blocks: Sequence[str]) -> dict[str, Any]:
    return {name: claims_of(sentence) for name, sentence in items.items()}


def _verdicts(items: Items, blocks: Sequence[str]) -> dict[str, Any]:
    """All supported, by a quote about as long as the claim."""
    number, context = next(iter(numbered(blocks[0]).items()))
    return {
        name: {
            "verdict": "supported",
            "context": int(number),
            "quote": passage(context, len(claim)),
        }
        for name, claim in items.items()
    }


def _useful(items: Items, blocks: Sequence[str]) -> dict[str, Any]:
    """Every second one, by a quote about as long as a sentence."""
    return {
        name: {"useful": not rank % 2, "quote": "" if rank % 2 else _some(text)}
        for rank, (name, text) in enumerate(items.items())
    }


def _some(text: str) -> str:
    """The first ``QUOTE_TOKENS`` of a text."""
    tokens = max(1, estimate_tokens(text))
    return passage(text, min(len(text), round(len(text) * QUOTE_TOKENS / tokens)))


_ANSWERS: Mapping[str, Callable[[Items, Sequence[str]], dict[str, Any]]] = {
    "claim_extraction": _claims,
    "claim_verification": _verdicts,
    "context_usefulness": _useful,
}


def _like_example(request: Request, names: Sequence[str]) -> dict[str, Any]:
    """The answers of the prompt's first example, over and over; else what the schema allows."""
    schemas = (request.schema or {})["properties"]
    example = _example(request)
    try:
        known = json.loads(example or "")
    except ValueError:
        known = None
    if not isinstance(known, dict) or not known:
        return {name: instance(schemas[name]) for name in names}
    others = islice(cycle(known.values()), len(names))
    return {name: known.get(name, other) for name, other in zip(names, others, strict=True)}


def _whole(request: Request) -> str:
    """A reply that need not have certain keys."""
    example = _example(request)
    if example is not None:
        return example
    return TEXT if request.schema is None else json.dumps(instance(request.schema))


def _example(request: Request) -> str | None:
    """What the judge says in the prompt's first example."""
    replies = (each.content for each in request.messages if each.role == "assistant")
    return next(replies, None)


def instance(schema: Mapping[str, Any]) -> Any:
    """A plain value that a JSON schema allows; references are not followed.

    >>> instance({"type": "object", "properties": {"score": {"type": "integer", "minimum": 1}}})
    {'score': 1}
    """
    for key in ("enum", "examples"):
        if schema.get(key):
            return schema[key][0]
    if "const" in schema or "default" in schema:
        return schema.get("const", schema.get("default"))
    for key in ("anyOf", "oneOf", "allOf"):
        if schema.get(key):
            return instance(schema[key][0])
    return _of_type(schema)


def _of_type(schema: Mapping[str, Any]) -> Any:
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object" or "properties" in schema:
        return {name: instance(each) for name, each in schema.get("properties", {}).items()}
    if kind == "array":
        return [instance(schema.get("items") or {})] * max(1, schema.get("minItems", 1))
    if kind in ("integer", "number"):
        return schema.get("minimum", 0)
    return {"boolean": True, "null": None}.get(str(kind), TEXT)
