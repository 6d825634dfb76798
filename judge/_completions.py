"""Chat completions, read: text, end and usage, or an error where a reply is none.

What comes with status 200 need not be a completion: gateways send pages, and some services
lists, ``null`` or half a reply. None of that may end a run, so it is told as "unavailable".
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from .errors import JudgeUnavailableError
from .foreign_errors import shown, told_in
from .probabilities import tokens_of
from .types import Reply, ReplyState, Usage

FINISHES: Mapping[str, ReplyState] = {
    "stop": ReplyState.COMPLETE,
    "eos": ReplyState.COMPLETE,
    "eos_token": ReplyState.COMPLETE,
    "end_turn": ReplyState.COMPLETE,
    "stop_sequence": ReplyState.COMPLETE,
    "tool_calls": ReplyState.COMPLETE,
    "length": ReplyState.LENGTH,
    "max_tokens": ReplyState.LENGTH,
    "model_length": ReplyState.LENGTH,
    "content_filter": ReplyState.FILTERED,
    "safety": ReplyState.FILTERED,
    "refusal": ReplyState.FILTERED,
    "recitation": ReplyState.FILTERED,
}
"""Providers' words for how a reply ended, in lower case; an unknown word counts as complete
and the reader decides."""

COUNTS = (
    ("input_tokens", "prompt_tokens", "prompt_token_count"),
    ("output_tokens", "completion_tokens", "candidates_token_count"),
)
"""Names of the two counts of a usage."""

BEGINNING = 100
"""Characters of a reply that is none which are shown."""


def reply_state(finish: str | None, text: str) -> ReplyState:
    """Map a finish reason and a text to one of the four states.

    >>> reply_state("MAX_TOKENS", "{}"), reply_state("stop", " ")
    (<ReplyState.LENGTH: 'length'>, <ReplyState.EMPTY: 'empty'>)
    """
    state = FINISHES.get((finish or "").lower(), ReplyState.COMPLETE)
    if state is ReplyState.COMPLETE and not text.strip():
        return ReplyState.EMPTY
    return state


def usage_of(counts: Any) -> Usage:
    """Tokens from a mapping or an object, by any of the names that services use.

    What is no whole number of at least 0 is not known.

    >>> usage_of({"prompt_tokens": 3, "completion_tokens": "2"}), usage_of(None)
    (Usage(input=3, output=None), Usage(input=None, output=None))
    """
    read = counts.get if isinstance(counts, Mapping) else lambda name: getattr(counts, name, None)
    return Usage(*(next(filter(_is_count, map(read, names)), None) for names in COUNTS))


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def completion_reply(
    completion: Any,
    rung: str,
    dropped: tuple[str, ...],
    endpoint: str,
    secrets: Collection[str | None] = (),
) -> Reply:
    """Our reply for a chat completion.

    Raises:
        JudgeError: it holds an error.
        JudgeUnavailableError: it is no chat completion.
    """
    told = told_in(completion, endpoint, secrets)
    if told is not None:
        raise told
    choices = getattr(completion, "choices", None)
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = getattr(choice, "message", None)
    finish = _word(getattr(choice, "finish_reason", None))
    text = _text(message, finish)
    if text is None:
        raise JudgeUnavailableError(
            f"{endpoint}: a reply that is no chat completion (is it an OpenAI-compatible server?):"
            f" {shown(_plain(completion), secrets)[:BEGINNING] or 'nothing'}"
        )
    if getattr(message, "refusal", None) and not text:
        finish = "refusal"
    name = getattr(completion, "model", None)
    return Reply(
        text=text,
        state=reply_state(finish, text),
        finish=finish,
        usage=usage_of(getattr(completion, "usage", None)),
        model=name if isinstance(name, str) else None,
        rung=rung,
        dropped=dropped,
        tokens=tokens_of(getattr(choice, "logprobs", None)),
    )


def _word(finish: Any) -> str | None:
    return None if finish is None else str(finish)


def _text(message: Any, finish: str | None) -> str | None:
    """The text of a message, which may come in parts; None for what is no message."""
    if message is None and reply_state(finish, "") is ReplyState.FILTERED:
        return ""  # some services leave out what they have filtered
    content = getattr(message, "content", False)
    if content is None or isinstance(content, str):
        return content or ""
    return "".join(map(_part, content)) if isinstance(content, list) else None


def _part(part: Any) -> str:
    text = part.get("text") if isinstance(part, Mapping) else part
    return text if isinstance(text, str) else ""


def _plain(completion: Any) -> str:
    """What came, as text; the SDK's own objects show much that did not."""
    to_dict = getattr(completion, "to_dict", None)
    return str(completion if to_dict is None else to_dict(warnings=False))
