"""The form of one answer in each prompt's reply, read leniently where the meaning is plain."""

from __future__ import annotations

import re
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    TypeAdapter,
    model_validator,
)

from .evidence import Verdict

_VERDICTS = {
    "supported": "supported", "support": "supported", "yes": "supported", "true": "supported",
    "1": "supported", "entailed": "supported",
    "contradicted": "contradicted", "contradiction": "contradicted", "refuted": "contradicted",
    "notfound": "not_found", "unsupported": "not_found", "no": "not_found",
    "false": "not_found", "0": "not_found",
    "notsupported": "not_found", "notenoughinformation": "not_found",
}  # fmt: skip
_BOOLEANS = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}


def _verdict(value: Any) -> Any:
    if not isinstance(value, str | bool | int):
        return value
    word = re.sub(r"(?<=[a-z])[\s_-]+(?=[a-z])", "", str(value).strip().lower())
    return _VERDICTS.get(word, value)


def _boolean(value: Any) -> Any:
    return _BOOLEANS.get(str(value).strip().lower(), value)


def _text(value: Any) -> Any:
    return "" if value is None else value


def _number(value: Any) -> Any:
    """A context number; anything that holds none counts as "none named"."""
    digits = re.search(r"\d{1,6}", str(value))
    return int(digits[0]) if digits else 0


def _sendable(text: str) -> str:
    text.encode()  # half a surrogate pair is a ValueError, so the item is asked for again
    return text.strip()


Boolean = Annotated[bool, BeforeValidator(_boolean)]
Text = Annotated[str, BeforeValidator(_text)]


class _Answer(BaseModel):
    """Further keys are ignored: a reason beside a verdict does no harm."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class VerdictAnswer(_Answer):
    """A verdict on one claim; only the verdict itself is required."""

    verdict: Annotated[Verdict, BeforeValidator(_verdict)]
    context: Annotated[int, BeforeValidator(_number)] = 0
    quote: Text = ""


class UsefulAnswer(_Answer):
    """Whether one context is useful; the quote is optional."""

    useful: Boolean
    quote: Text = ""


class QuestionAnswer(_Answer):
    """One question written back from an answer; a noncommittal one may lack it."""

    question: Annotated[str, AfterValidator(_sendable)]
    noncommittal: Boolean = False

    @model_validator(mode="after")
    def _asks(self) -> Self:
        if not (self.question or self.noncommittal):
            raise ValueError("question: blank")
        return self


_CLAIMS: TypeAdapter[list[str]] = TypeAdapter(list[str])


def parse_claims(value: Any) -> list[str]:
    """The claims of one sentence, blank ones left out.

    >>> parse_claims(["The hull is larch. ", ""])
    ['The hull is larch.']
    """
    claims = [value] if isinstance(value, str) else _CLAIMS.validate_python(value)
    return [claim for claim in map(_sendable, claims) if claim]


def parse_verdict(value: Any) -> VerdictAnswer:
    """A verdict, from an object or from the bare word.

    >>> parse_verdict("Yes").verdict, parse_verdict({"verdict": "not found"}).verdict
    ('supported', 'not_found')
    """
    return VerdictAnswer.model_validate(
        {"verdict": value} if not isinstance(value, dict) else value
    )


def parse_useful(value: Any) -> UsefulAnswer:
    """A usefulness verdict, from an object or from the bare word."""
    return UsefulAnswer.model_validate({"useful": value} if not isinstance(value, dict) else value)


def parse_question(value: Any) -> QuestionAnswer:
    """A written-back question, from an object or from the bare text."""
    data = {"question": value} if isinstance(value, str) else value
    return QuestionAnswer.model_validate(data)
