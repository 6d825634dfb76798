"""Ask about numbered items until each has its answer, within a budget of re-asks.

Re-asking is a new request (the missing ids only, and one line that says what was wrong), so
it is counted apart from retrying. A reply cut at the length limit halves the batch,
and both halves are asked for anew.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from ..prompts import Prompt, PromptRef, reask_note
from .accounting import settle
from .errors import FilteredReplyError, IncompleteVerdictsError, TruncatedReplyError
from .types import Reply, ReplyState

T = TypeVar("T")


@dataclass(frozen=True)
class Call:
    """One call that was paid for, for evidence and cost.

    Attributes:
        key: SHA-256 of the request.
        attempts: tries it took, the first included.
        reask: 0 for the first question, then 1, 2, …
    """

    prompt: PromptRef
    key: str
    reply: Reply
    attempts: int = 1
    reask: int = 0


@dataclass(frozen=True)
class Question(Generic[T]):
    """A prompt, the items it is asked about, and how one answer is parsed."""

    prompt: Prompt
    items: Mapping[str, str]
    parse: Callable[[Any], T]
    shared: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""
    repetition: int = 0


@dataclass
class Answers(Generic[T]):
    """Answers by id, the calls they took, and what was noticed on the way."""

    by_id: dict[str, T] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


AskOnce = Callable[[Question[Any], Sequence[str], str, int], Awaitable[Call]]
"""(question, ids, note, reask number) -> one call."""


async def ask_items(
    question: Question[T], once: AskOnce, max_reasks: int, answers: Answers[T]
) -> Answers[T]:
    """Ask until every item is answered.

    Args:
        question: the prompt and its items.
        once: makes one call.
        max_reasks: further questions allowed in all.
        answers: filled as replies come in, so that calls and notes are there even when it
            ends in an error.

    Returns:
        ``answers``, complete and in the order of the items.

    Raises:
        IncompleteVerdictsError: items are left after ``max_reasks`` further questions.
        TruncatedReplyError: the answer for one single item exceeds the length limit.
        FilteredReplyError: a content filter stopped a reply.
    """
    batches = [(tuple(question.items), question.note)] if question.items else []
    reasks, last = 0, ""
    while batches:
        ids, note = batches.pop(0)
        call = await once(question, ids, note, reasks)
        answers.calls.append(call)
        last = call.reply.text
        if call.reply.state is ReplyState.FILTERED:
            raise FilteredReplyError("the service's content filter stopped the reply", raw=last)
        if call.reply.state is ReplyState.LENGTH and len(ids) > 1:
            half = len(ids) // 2
            batches[:0] = [(ids[:half], note), (ids[half:], note)]
            answers.notes.append(f"reply cut at the length limit: asked for {len(ids)} in halves")
            continue
        account = settle(last, ids, question.parse)
        answers.by_id.update(account.answers)
        answers.notes += [f"dropped an answer for unknown id {key!r}" for key in account.strangers]
        if not account.missing:
            continue
        if call.reply.state is ReplyState.LENGTH:
            raise TruncatedReplyError(f"item {ids[0]}: reply cut at the length limit", raw=last)
        answers.notes += [f"asked again: {problem}" for problem in account.problems]
        if reasks >= max_reasks:
            raise IncompleteVerdictsError(_open(question, answers), len(question.items), raw=last)
        reasks += 1
        problem = "; ".join(account.problems)
        if reasks > 1:  # the same words again would get the same reply again
            problem = f"({reasks}) {problem}"
        batches.insert(0, (account.missing, _note(question, account.missing, problem)))
    answers.by_id = {item_id: answers.by_id[item_id] for item_id in question.items}
    return answers


def _open(question: Question[T], answers: Answers[T]) -> list[str]:
    return [item_id for item_id in question.items if item_id not in answers.by_id]


def _note(question: Question[T], ids: Sequence[str], problem: str) -> str:
    language = question.prompt.language
    note = reask_note("invalid", language, problem=problem, ids=list(ids))
    return f"{question.note}\n\n{note}".strip()
