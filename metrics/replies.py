"""The form of one answer in each prompt's reply, read leniently where the meaning is plain.

A word counts only if it is one of those listed here, in any case and with or without a full
stop; numbers only as 1 and 0. All else is refused, and so the item is asked for again.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Strict,
    TypeAdapter,
    model_validator,
)

from .evidence import Verdict

_VERDICTS = {
    "supported": "supported", "support": "supported", "supports": "supported",
    "entailed": "supported", "yes": "supported", "true": "supported", "1": "supported",
    "支持": "supported", "是": "supported",
    "contradicted": "contradicted", "contradicts": "contradicted",
    "contradiction": "contradicted", "refuted": "contradicted", "矛盾": "contradicted",
    "notfound": "not_found", "unsupported": "not_found", "notsupported": "not_found",
    "notenoughinformation": "not_found", "no": "not_found", "false": "not_found",
    "0": "not_found", "不支持": "not_found", "否": "not_found", "未提及": "not_found",
    "未找到": "not_found", "信息不足": "not_found",
}  # fmt: skip
_BOOLEANS = {
    "yes": True, "true": True, "1": True, "是": True,
    "no": False, "false": False, "0": False, "否": False,
}  # fmt: skip
_USEFUL = {
    **_BOOLEANS, "useful": True, "有用": True,
    "notuseful": False, "useless": False, "无用": False,
}  # fmt: skip
_NO_CLAIMS = {
    *("none", "noclaim", "noclaims", "n/a", "null", "nil", "无", "没有", "无陈述"),
    *("noclaimismadeinthissentence", "noclaimsaremadeinthissentence"),
    *("therearenoclaimsinthissentence", "therearenoclaimsmadeinthissentence"),
    *("thissentencemakesnoclaim", "thissentencemakesnoclaims"),
    *("thissentencecontainsnoclaim", "thissentencecontainsnoclaims"),
}
"""Written as ``_word`` has them. A sentence counts only if it is about the sentence itself."""


def _word(value: Any) -> str | None:
    """A word in one spelling: "Not-Found." is "notfound". None for what is no word."""
    if not isinstance(value, str | bool | int):
        return None
    word = str(value).strip().lower()
    if not any(character.isdigit() for character in word):
        word = word.strip(" .。!！*`\"'“”")
    return re.sub(r"(?<=[a-z])[\s_-]+(?=[a-z])", "", word)


def _verdict(value: Any) -> Any:
    return _VERDICTS.get(_word(value) or "", value)


def _boolean(value: Any) -> Any:
    return _BOOLEANS.get(_word(value) or "", value)


def _useful(value: Any) -> Any:
    return _USEFUL.get(_word(value) or "", value)


def _keys(value: Any) -> Any:
    """An object with its keys in small letters; two that become one are refused."""
    if not isinstance(value, dict):
        return value
    named = {str(key).strip().lower(): item for key, item in value.items()}
    if len(named) < len(value):
        raise ValueError("a key stands twice in it")
    return named


def _text(value: Any) -> Any:
    return "" if value is None else value


def _number(value: Any) -> Any:
    """A context number; anything that holds none counts as "none named"."""
    digits = re.search(r"\d{1,6}", str(value))
    return int(digits[0]) if digits else 0


def _whole(text: str) -> str:
    text.encode()  # half a surrogate pair is a ValueError, so the item is asked for again
    return text


def _sendable(text: str) -> str:
    return _whole(text).strip()


def _claim(text: str) -> str:
    is_blank, says_something = not text.strip(), any(map(str.isalnum, text))
    if _word(text) in _NO_CLAIMS or not (is_blank or says_something):
        raise ValueError("no claim; a sentence without claims has an empty list")
    return _sendable(text)


Boolean = Annotated[bool, Strict(), BeforeValidator(_boolean)]
Useful = Annotated[bool, Strict(), BeforeValidator(_useful)]
Text = Annotated[str, BeforeValidator(_text), AfterValidator(_whole)]


class _Answer(BaseModel):
    """Further keys are ignored: a reason beside a verdict does no harm."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class VerdictAnswer(_Answer):
    """A verdict on one claim; only the verdict itself is required."""

    verdict: Annotated[Verdict, BeforeValidator(_verdict)]
    context: Annotated[int, BeforeValidator(_number)] = 0
    quote: Text = ""


class EvidenceAnswer(_Answer):
    """Words of a context; blank where none decide."""

    context: Annotated[int, BeforeValidator(_number)] = 0
    quote: Text


class UsefulAnswer(_Answer):
    """Whether one context is useful; the quote is optional."""

    useful: Useful
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

    A list, one claim alone, or an object with the key "claims". "None" or "-" is no claim, and
    not plainly an empty list either: it is refused.

    >>> parse_claims(["The hull is larch. ", ""])
    ['The hull is larch.']
    """
    value = _keys(value)
    if isinstance(value, dict) and "claims" in value:
        value = value["claims"]
    claims = [value] if isinstance(value, str) else _CLAIMS.validate_python(value)
    return [claim for claim in map(_claim, claims) if claim]


def parse_verdict(value: Any) -> VerdictAnswer:
    """A verdict, from an object or from the bare word.

    >>> parse_verdict("Yes").verdict, parse_verdict({"Verdict": "not found"}).verdict
    ('supported', 'not_found')
    """
    return VerdictAnswer.model_validate(_object(value, "verdict"))


def parse_evidence(value: Any) -> EvidenceAnswer:
    """The words that decide a claim, from an object or from the bare quote.

    >>> parse_evidence("made of larch").quote
    'made of larch'
    """
    return EvidenceAnswer.model_validate(_object(value, "quote"))


def parse_useful(value: Any) -> UsefulAnswer:
    """A usefulness verdict, from an object or from the bare word."""
    return UsefulAnswer.model_validate(_object(value, "useful"))


def parse_question(value: Any) -> QuestionAnswer:
    """A written-back question, from an object or from the bare text."""
    data = {"question": value} if isinstance(value, str) else _keys(value)
    return QuestionAnswer.model_validate(data)


def _object(value: Any, key: str) -> Any:
    return _keys(value) if isinstance(value, dict) else {key: value}
