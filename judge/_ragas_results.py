"""Messages and replies, translated between LangChain's shapes and ours, for ragas' sake."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, convert_to_openai_messages
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, LLMResult

from .errors import (
    FilteredReplyError,
    InputError,
    TruncatedReplyError,
    UnreadableReplyError,
)
from .types import Reply, ReplyState, Usage, total

ROLES = ("system", "user", "assistant")

Answered = tuple[Reply, int]
"""A reply and the number of tries it took: 0 when it was in the cache."""


def chat(messages: Sequence[BaseMessage]) -> list[tuple[str, str]]:
    """LangChain's messages as (role, text).

    Raises:
        InputError: an image, a tool call, or a role that a judge does not know.

    >>> from langchain_core.messages import HumanMessage, SystemMessage
    >>> chat([SystemMessage("Be brief."), HumanMessage("Hello")])
    [('system', 'Be brief.'), ('user', 'Hello')]
    """
    found = []
    for message in convert_to_openai_messages(messages):
        role, content = message["role"], message["content"]
        if role not in ROLES or not isinstance(content, str) or "tool_calls" in message:
            raise InputError(
                f"a prompt with a {role} message of more than text: the judge takes text from"
                f" {', '.join(ROLES)} only, no images and no tool calls"
            )
        found.append((role, content))
    return found


def check(reply: Reply) -> None:
    """Raise the error that tells why a reply cannot be used, if it cannot.

    Raises:
        TruncatedReplyError, FilteredReplyError, UnreadableReplyError: with the text as it came.
    """
    if reply.state is ReplyState.LENGTH:
        raise TruncatedReplyError("reply cut at the length limit: raise max_tokens", raw=reply.text)
    if reply.state is ReplyState.FILTERED:
        raise FilteredReplyError("the service's content filter stopped the reply", raw=reply.text)
    if reply.state is ReplyState.EMPTY:
        raise UnreadableReplyError("the reply is empty", raw=reply.text)


def llm_result(answered: Sequence[Answered], model: str) -> LLMResult:
    """Replies as LangChain has them: one generation each, their tokens added up.

    Args:
        answered: replies, and how many tries each took.
        model: the name to give where the service gave none.
    """
    named = next((reply.model for reply, _ in answered if reply.model), model)
    counts = token_counts([reply.usage_now(tries) for reply, tries in answered])
    output = {"model_name": named, **({"token_usage": counts} if counts else {})}
    return LLMResult(generations=[[_generation(*each) for each in answered]], llm_output=output)


def token_counts(usages: Sequence[Usage]) -> dict[str, int]:
    """Tokens added up under OpenAI's names; a count that any of them lacks is left out.

    >>> token_counts([Usage(3, 2), Usage(4, None)]), token_counts([Usage(3, 2)])["total_tokens"]
    ({'prompt_tokens': 7}, 5)
    """
    sums = {
        "prompt_tokens": total(usage.input for usage in usages),
        "completion_tokens": total(usage.output for usage in usages),
    }
    known = {name: count for name, count in sums.items() if count is not None}
    return {**known, "total_tokens": sum(known.values())} if len(known) == 2 else known


def _generation(reply: Reply, attempts: int) -> ChatGeneration:
    usage, counts = reply.usage_now(attempts), None
    if usage.input is not None and usage.output is not None:
        counts = UsageMetadata(
            input_tokens=usage.input,
            output_tokens=usage.output,
            total_tokens=usage.input + usage.output,
        )
    facts = {"finish_reason": reply.finish, "state": reply.state.value, "attempts": attempts}
    message = AIMessage(reply.text, usage_metadata=counts, response_metadata=facts)
    return ChatGeneration(message=message, generation_info=facts)


def reseeded(sampling: dict[str, Any], number: int) -> dict[str, Any]:
    """The parameters of one sample of several: with one seed, all would be answered alike.

    >>> reseeded({"seed": 7}, 2), reseeded({"top_p": 1.0}, 2)
    ({'seed': 9}, {'top_p': 1.0})
    """
    seed = sampling.get("seed")
    return {**sampling, "seed": seed + number} if number and isinstance(seed, int) else sampling
