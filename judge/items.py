"""Ask about numbered items until each has its answer, within a budget of re-asks.

Re-asking is a new request (the missing ids only, and one line that says what was wrong), so
it is counted apart from retrying. Of a reply cut at the length limit the complete answers
are kept, and the missing ones are asked for in halves. That is no re-ask: nothing was wrong
but the length. Each such step asks for fewer items, and one item that does not fit is an
error, so a question or a re-ask about ``n`` items takes fewer than ``2 n`` calls.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from ..prompts import Prompt, PromptRef, reask_note
from .accounting import Account, settle
from .errors import FilteredReplyError, IncompleteVerdictsError, TruncatedReplyError
from .types import Reply, ReplyState

T = TypeVar("T")
MOST_NOTES = 5


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
    sampling: Mapping[str, Any] = field(default_factory=dict)
    """Parameters of this question, beside those of the judge."""
    with_schema: bool = True


@dataclass
class Answers(Generic[T]):
    """Answers by id, the calls they took, and what was noticed on the way.

    Attributes:
        replies: the reply in which each id was answered.
    """

    by_id: dict[str, T] = field(default_factory=dict)
    replies: dict[str, Reply] = field(default_factory=dict)
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
    batches = [_Batch(tuple(question.items))] if question.items else []
    reasks = 0
    while batches:
        batch = batches.pop(0)
        call = await once(question, batch.ids, batch.note(question), reasks)
        answers.calls.append(call)
        raw, state = call.reply.text, call.reply.state
        if state is ReplyState.FILTERED:
            raise FilteredReplyError("the service's content filter stopped the reply", raw=raw)
        account = settle(raw, batch.ids, question.parse)
        answers.by_id.update(account.answers)
        answers.replies.update(dict.fromkeys(account.answers, call.reply))
        answers.notes += _dropped(account.strangers)
        if not account.missing:
            continue
        if state is ReplyState.LENGTH:
            if len(batch.ids) == 1:
                said = f"item {batch.ids[0]}: reply cut at the length limit"
                raise TruncatedReplyError(said, raw=raw)
            answers.notes.append(_what_is_kept(batch, account))
            batches[:0] = batch.halves(account.missing)
            continue
        answers.notes += [f"asked again: {problem}" for problem in account.problems]
        if reasks >= max_reasks:
            raise IncompleteVerdictsError(_open(question, answers), len(question.items), raw=raw)
        reasks += 1
        problem = "; ".join(account.problems)
        if reasks > 1:  # the same words again would get the same reply again
            problem = f"({reasks}) {problem}"
        batches.insert(0, _Batch(account.missing, problem))
    answers.by_id = {item_id: answers.by_id[item_id] for item_id in question.items}
    return answers


@dataclass(frozen=True)
class _Batch:
    """Ids to ask for in one call, and what was wrong with the last reply about them."""

    ids: tuple[str, ...]
    problem: str = ""

    def note(self, question: Question[Any]) -> str:
        if not self.problem:
            return question.note
        language = question.prompt.language
        note = reask_note("invalid", language, problem=self.problem, ids=list(self.ids))
        return f"{question.note}\n\n{note}".strip()

    def halves(self, missing: tuple[str, ...]) -> list[_Batch]:
        half = len(missing) // 2
        parts = (missing[:half], missing[half:])
        return [_Batch(part, self.problem) for part in parts if part]


def _what_is_kept(batch: _Batch, account: Account[Any]) -> str:
    asked, missing = len(batch.ids), len(account.missing)
    halves = " in halves" if missing > 1 else ""
    return (
        f"reply cut at the length limit: {asked - missing} of {asked} answers kept,"
        f" asked for {missing}{halves}"
    )


def _dropped(strangers: Sequence[str]) -> list[str]:
    """One note each, a few at the most: a reply may hold thousands."""
    notes = [f"dropped an answer for unknown id {key[:40]!r}" for key in strangers[:MOST_NOTES]]
    more = len(strangers) - len(notes)
    return [*notes, f"dropped answers for {more} more unknown ids"] if more else notes


def _open(question: Question[T], answers: Answers[T]) -> list[str]:
    return [item_id for item_id in question.items if item_id not in answers.by_id]
