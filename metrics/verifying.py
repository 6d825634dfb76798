"""Check claims against contexts, in the way that ``Verification`` says.

sure ones by the offline judge, where a cascade is wanted
for each vote: the calls of the method  ->  one verdict a claim
the votes                               ->  the verdict given most often
the deciding words, where they did not come with the verdict
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ..judge.errors import ReplyError
from ..judge.items import Answers, Question
from ..judge.probabilities import ASK, word_probabilities
from ..prompts import load_prompt, reask_note
from .evidence import Claim, ClaimVerdict, Quote, Verdict
from .nearest import likeliest
from .quotes import locate
from .quoting import add_quotes
from .replies import VerdictAnswer, parse_verdict

if TYPE_CHECKING:
    from .steps import Steps
    from .verification import Verification

Texts = Mapping[str, str]
"""Number of a claim -> its text."""
Verdicts = dict[str, ClaimVerdict]
BEST_FIRST: tuple[Verdict, ...] = ("supported", "contradicted", "not_found")
JOINED = 3
"""Contexts that are looked at together when none of them supports a claim alone."""
VOTE_TEMPERATURE = 0.7
"""Of each vote after the first, where the judge has none: at 0 they would all be alike."""
YES_NO = {
    "yes": "supported", "true": "supported", "是": "supported", "支持": "supported",
    "no": "not_found", "false": "not_found", "否": "not_found", "不": "not_found",
}  # fmt: skip


async def verify(
    steps: Steps, claims: Sequence[Claim], contexts: Mapping[int, str], how: Verification
) -> list[ClaimVerdict]:
    """One verdict a claim, in order. Without contexts all are ``not_found``, unasked.

    Args:
        steps: judge, language, and where calls and notes are kept.
        claims: what to check.
        contexts: the contexts that hold any text, by their number.
        how: the method, its votes and where quotes come from.

    Raises:
        ReplyError: replies stay unusable or incomplete.
        JudgeError, RecordingError, BudgetError, CacheError: as for ``Judge.ask``.
    """
    if not contexts or not claims:
        return [ClaimVerdict(claim, "not_found") for claim in claims]
    checking = Checking(steps, contexts, how)
    texts = {str(number): claim.text for number, claim in enumerate(claims, start=1)}
    decided = await checking.sure(texts) if how.cascade else {}
    open_ones = {number: text for number, text in texts.items() if number not in decided}
    if open_ones:
        ballots = [await checking.vote(open_ones, number) for number in range(how.votes)]
        fresh = {number: majority([vote[number] for vote in ballots]) for number in open_ones}
        decided |= await add_quotes(steps, open_ones, fresh, contexts, how)
    return [
        replace(decided[number], claim=claim) for number, claim in zip(texts, claims, strict=True)
    ]


def majority(votes: Sequence[ClaimVerdict]) -> ClaimVerdict:
    """The verdict given most often; of two given equally often the worse one.

    Its probability is the mean of the votes' where each has one, else the share of votes for
    "supported"; a single vote without one has none.

    >>> yes, no = (ClaimVerdict(NO_CLAIM, verdict) for verdict in ("supported", "not_found"))
    >>> found = majority([yes, no, yes])
    >>> found.verdict, round(found.probability, 2), majority([yes, no]).verdict
    ('supported', 0.67, 'not_found')
    """
    if len(votes) == 1:
        return votes[0]
    counts = Counter(vote.verdict for vote in votes)
    winner = max(counts, key=lambda verdict: (counts[verdict], BEST_FIRST.index(verdict)))
    given = [vote.probability for vote in votes if vote.probability is not None]
    whole = given if len(given) == len(votes) else [v.verdict == "supported" for v in votes]
    first = next(
        (vote for vote in votes if vote.verdict == winner and vote.verified),
        next(vote for vote in votes if vote.verdict == winner),
    )
    verdicts = tuple(vote.verdict for vote in votes)
    return replace(first, probability=sum(whole) / len(whole), votes=verdicts)


NO_CLAIM = Claim("", "", 0)
"""Stands in a verdict until the claim is put in."""


@dataclass(frozen=True)
class Checking:
    """One row's claims on their way to verdicts."""

    steps: Steps
    contexts: Mapping[int, str]
    how: Verification

    # --- one vote ------------------------------------------------------------------------

    async def vote(self, texts: Texts, repetition: int) -> Verdicts:
        """One verdict a claim by the method."""
        if self.how.method == "batched":
            return await self._ask(self.steps, texts, self.contexts, repetition)
        if self.how.method == "per_context":
            return await self._per_context(texts, repetition)
        jobs = [
            partial(self._ask, texts={number: text}, contexts=self.contexts, repetition=repetition)
            for number, text in texts.items()
        ]
        parts = await self.steps.side_by_side(jobs)
        return {number: verdict for part in parts for number, verdict in part.items()}

    async def _per_context(self, texts: Texts, repetition: int) -> Verdicts:
        jobs = [
            partial(self._ask, texts=texts, contexts={number: text}, repetition=repetition)
            for number, text in self.contexts.items()
        ]
        parts = await self.steps.side_by_side(jobs)
        best = {number: min((part[number] for part in parts), key=_rank) for number in texts}
        left = {n: text for n, text in texts.items() if best[n].verdict != "supported"}
        if len(self.contexts) > 1 and left:
            best |= await self._joined(left, repetition, best)
        return best

    async def _joined(self, texts: Texts, repetition: int, best: Verdicts) -> Verdicts:
        """A second look at the likeliest contexts together: some claims need two."""
        jobs = [
            partial(
                self._ask,
                texts={number: text},
                contexts=likeliest(text, self.contexts, JOINED),
                repetition=repetition,
            )
            for number, text in texts.items()
        ]
        found = {n: v for part in await self.steps.side_by_side(jobs) for n, v in part.items()}
        return {number: min(found[number], best[number], key=_rank) for number in texts}

    # --- one call ------------------------------------------------------------------------

    async def _ask(
        self, steps: Steps, texts: Texts, contexts: Mapping[int, str], repetition: int
    ) -> Verdicts:
        """Ask about some claims and some contexts."""
        if self.how.quotes in ("after", "before"):
            return await self._with_quotes_asked(steps, texts, contexts, repetition)
        one_word = self.how.method == "probability"
        question: Question[VerdictAnswer] = Question(
            load_prompt("claim_word" if one_word else "claim_verdict", language=steps.language),
            texts,
            parse_verdict,
            _shared(contexts),
            repetition=repetition,
            sampling={**ASK, **self._sampling(repetition)},
            with_schema=not one_word,
        )
        answers = await steps.ask(question)
        return {number: self._weighed(answers, number) for number in texts}

    def _weighed(self, answers: Answers[VerdictAnswer], number: str) -> ClaimVerdict:
        """The verdict by its probability where the service gave it, else the written word."""
        said = answers.by_id[number].verdict
        found = word_probabilities(answers.replies[number], number, YES_NO)
        if found is None:
            return ClaimVerdict(NO_CLAIM, said)
        probability = found["supported"]
        verdict: Verdict = "supported" if probability > self.how.threshold else "not_found"
        return ClaimVerdict(NO_CLAIM, verdict, probability=probability)

    async def _with_quotes_asked(
        self, steps: Steps, texts: Texts, contexts: Mapping[int, str], repetition: int
    ) -> Verdicts:
        """Verdicts with quotes; a claim whose quote stands in no context goes back once."""
        verdicts = await self._quoted(steps, texts, contexts, repetition, "")
        doubtful = {number: texts[number] for number, v in verdicts.items() if not v.verified}
        if doubtful:
            steps.notes.append(f"quote not found, asked again: claim {', '.join(doubtful)}")
            note = reask_note("quote", steps.language)
            try:
                verdicts |= await self._quoted(steps, doubtful, contexts, repetition, note)
            except ReplyError as error:
                steps.notes.append(f"verdicts kept as they were: {error}")
        return verdicts

    async def _quoted(
        self,
        steps: Steps,
        texts: Texts,
        contexts: Mapping[int, str],
        repetition: int,
        note: str,
    ) -> Verdicts:
        first = "_quote_first" if self.how.quotes == "before" else ""
        question: Question[VerdictAnswer] = Question(
            load_prompt(f"claim_verification{first}", language=steps.language),
            texts,
            parse_verdict,
            _shared(contexts),
            note,
            repetition,
            self._sampling(repetition),
        )
        answers = await steps.ask(question)
        return {
            number: ClaimVerdict(NO_CLAIM, answer.verdict, _quote(answer, contexts))
            for number, answer in answers.by_id.items()
        }

    def _sampling(self, repetition: int) -> dict[str, Any]:
        """Votes need some chance in the replies."""
        own = self.steps.judge.sampling.get("temperature")
        return {"temperature": VOTE_TEMPERATURE} if repetition and not own else {}

    # --- without the model, and after it -------------------------------------------------

    async def sure(self, texts: Texts) -> Verdicts:
        """Those of which the offline judge is sure enough."""
        from .offline import support

        low, high = self.how.cascade or (0.0, 1.0)
        found = await support(texts, self.contexts, self.steps.language)
        return {
            number: verdict
            for number, verdict in found.items()
            if verdict.probability is not None and not low < verdict.probability < high
        }


def _rank(verdict: ClaimVerdict) -> int:
    return BEST_FIRST.index(verdict.verdict)


def _shared(contexts: Mapping[int, str]) -> dict[str, Any]:
    return {"contexts": {str(number): text for number, text in contexts.items()}}


def _quote(answer: VerdictAnswer, contexts: Mapping[int, str]) -> Quote | None:
    if answer.verdict == "not_found":
        return None
    return locate(answer.quote, answer.context, contexts)
