"""The steps that metrics share, each of which asks the judge about numbered items.

Take a text apart into claims, check claims, judge contexts, write questions back.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

from ..judge import Answers, Call, Embedder, Judge, Question
from ..judge.loops import together
from ..prompts import load_prompt
from .evidence import Claim, ClaimVerdict, ContextVerdict, GeneratedQuestion
from .extraction import batches, notes, with_invented
from .quotes import locate
from .replies import parse_question, parse_useful
from .verification import DEFAULT, Verification
from .verifying import verify

T = TypeVar("T")


@dataclass(frozen=True)
class Steps:
    """The judge and the prompt pack for one row, and what asking took.

    Attributes:
        deadline: moment on ``time.monotonic`` after which no further try is begun.
        embedded: tokens of each batch of texts that a service embedded; None: it did not say.
        calls, notes: grow with each step, so that a row that fails half-way still shows what
            it cost.
    """

    judge: Judge
    language: str
    deadline: float | None = None
    calls: list[Call] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    embedded: list[int | None] = field(default_factory=list)

    async def extract_claims(self, question: str, text: str) -> list[Claim]:
        """The claims a text makes, each with its sentence; see ``extraction``."""
        parts = batches(text, self.language)
        questions = [batch.question(question, self.language) for batch in parts]
        jobs = [partial(Steps.ask, question=each) for each in questions]
        answers = await self.side_by_side(jobs)
        found = [batch.claims(said.by_id) for batch, said in zip(parts, answers, strict=True)]
        claims = with_invented([claim for some in found for claim in some], text, question)
        self.notes.extend(notes(claims))
        return claims

    async def verify_claims(
        self,
        claims: Sequence[Claim],
        contexts: Mapping[int, str],
        how: Verification = DEFAULT,
    ) -> list[ClaimVerdict]:
        """One verdict a claim, in order; see ``verifying.verify``."""
        return await verify(self, claims, contexts, how)

    async def judge_contexts(
        self, question: str, answer: str, contexts: Mapping[int, str]
    ) -> list[ContextVerdict]:
        """Whether each context helps to arrive at ``answer``, in the order given."""
        if not contexts:
            return []
        prompt = load_prompt("context_usefulness", language=self.language)
        items = {str(number): text for number, text in contexts.items()}
        shared = {"question": question, "answer": answer}
        answers = (await self.ask(Question(prompt, items, parse_useful, shared))).by_id
        verdicts = []
        for number, given in answers.items():
            here = int(number)
            quote = locate(given.quote, here, {here: contexts[here]}) if given.quote else None
            verdicts.append(ContextVerdict(here, given.useful, quote if given.useful else None))
        return verdicts

    async def write_questions(self, answer: str, count: int) -> list[GeneratedQuestion]:
        """``count`` questions that ``answer`` could be the reply to, in one call."""
        prompt = load_prompt("reverse_question", language=self.language)
        items = {str(number): "" for number in range(1, count + 1)}
        answers = await self.ask(Question(prompt, items, parse_question, {"answer": answer}))
        return [
            GeneratedQuestion(given.question, given.noncommittal)
            for given in answers.by_id.values()
        ]

    async def embed(self, embedder: Embedder, texts: Sequence[str]) -> list[list[float]]:
        """One vector a text, in order."""
        vectors, usage = await self.judge.embed(embedder, texts, deadline=self.deadline)
        if usage is not None:
            self.embedded.append(usage.input)
        return vectors

    async def ask(self, question: Question[T]) -> Answers[T]:
        """Ask until every item is answered; the calls are kept here."""
        answers: Answers[T] = Answers(calls=self.calls, notes=self.notes)
        return await self.judge.ask_items(question, answers, deadline=self.deadline)

    async def side_by_side(self, jobs: Sequence[Callable[[Steps], Awaitable[T]]]) -> list[T]:
        """Do several things at once; calls and notes stand in the order of the jobs.

        Also when one of them fails: then the others are given up.
        """
        parts = [replace(self, calls=[], notes=[], embedded=[]) for _ in jobs]
        try:
            return await together(job(part) for job, part in zip(jobs, parts, strict=True))
        finally:
            for part in parts:
                self.calls.extend(part.calls)
                self.notes.extend(part.notes)
                self.embedded.extend(part.embedded)
