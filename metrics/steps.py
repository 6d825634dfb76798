"""The steps that metrics share, each of which asks the judge about numbered items.

Take a text apart into claims, check claims, judge contexts, write questions back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from ..judge import Answers, Call, Embedder, Judge, Question
from ..judge.errors import ReplyError
from ..prompts import load_prompt, reask_note
from .evidence import Claim, ClaimVerdict, ContextVerdict, GeneratedQuestion
from .quotes import locate
from .replies import VerdictAnswer, parse_claims, parse_question, parse_useful, parse_verdict
from .sentences import source_sentence, split_sentences

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
        """The claims a text makes, each with its sentence. No sentence, no call."""
        sentences = _numbered(split_sentences(text, self.language))
        if not sentences:
            return []
        prompt = load_prompt("claim_extraction", language=self.language)
        shared = {"question": question, "sentences": sentences}
        answers = await self._ask(Question(prompt, sentences, parse_claims, shared))
        by_number = {int(number): sentence for number, sentence in sentences.items()}
        claims = []
        for named, texts in answers.items():
            for claim in texts:
                number = source_sentence(claim, int(named), by_number)
                claims.append(Claim(claim, by_number[number], number))
        return claims

    async def verify_claims(
        self, claims: Sequence[Claim], contexts: Mapping[int, str]
    ) -> list[ClaimVerdict]:
        """One verdict a claim, in order, its quote looked up in the contexts.

        A claim whose quote stands in no context goes back once; if it still does not, the
        verdict is kept and marked unverified. Without contexts every claim is ``not_found``
        and nothing is asked.
        """
        if not contexts or not claims:
            return [ClaimVerdict(claim, "not_found") for claim in claims]
        items = _numbered([claim.text for claim in claims])
        verdicts = await self._verify(items, contexts)
        doubtful = {
            number: items[number] for number, found in verdicts.items() if not found.verified
        }
        if doubtful:
            self.notes.append(f"quote not found, asked again: claim {', '.join(doubtful)}")
            note = reask_note("quote", self.language)
            try:
                verdicts |= await self._verify(doubtful, contexts, note)
            except ReplyError as error:
                self.notes.append(f"verdicts kept as they were: {error}")
        return [
            ClaimVerdict(claim, found.verdict, found.quote)
            for claim, found in zip(claims, verdicts.values(), strict=True)
        ]

    async def _verify(
        self, items: Mapping[str, str], contexts: Mapping[int, str], note: str = ""
    ) -> dict[str, ClaimVerdict]:
        prompt = load_prompt("claim_verification", language=self.language)
        shared = {"contexts": {str(number): text for number, text in contexts.items()}}
        answers = await self._ask(Question(prompt, items, parse_verdict, shared, note))
        return {number: _verdict(answer, contexts) for number, answer in answers.items()}

    async def judge_contexts(
        self, question: str, answer: str, contexts: Mapping[int, str]
    ) -> list[ContextVerdict]:
        """Whether each context helps to arrive at ``answer``, in the order given."""
        if not contexts:
            return []
        prompt = load_prompt("context_usefulness", language=self.language)
        items = {str(number): text for number, text in contexts.items()}
        shared = {"question": question, "answer": answer}
        answers = await self._ask(Question(prompt, items, parse_useful, shared))
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
        answers = await self._ask(Question(prompt, items, parse_question, {"answer": answer}))
        return [GeneratedQuestion(given.question, given.noncommittal) for given in answers.values()]

    async def embed(self, embedder: Embedder, texts: Sequence[str]) -> list[list[float]]:
        """One vector a text, in order."""
        vectors, usage = await self.judge.embed(embedder, texts, deadline=self.deadline)
        if usage is not None:
            self.embedded.append(usage.input)
        return vectors

    async def _ask(self, question: Question[T]) -> dict[str, T]:
        answers: Answers[T] = Answers(calls=self.calls, notes=self.notes)
        await self.judge.ask_items(question, answers, deadline=self.deadline)
        return answers.by_id


def _numbered(texts: Sequence[str]) -> dict[str, str]:
    return {str(number): text for number, text in enumerate(texts, start=1)}


def _verdict(answer: VerdictAnswer, contexts: Mapping[int, str]) -> ClaimVerdict:
    """The claim is put in by the caller; here only verdict and quote matter."""
    quote = (
        None if answer.verdict == "not_found" else locate(answer.quote, answer.context, contexts)
    )
    return ClaimVerdict(Claim("", "", 0), answer.verdict, quote)
