"""What stands behind a score: claims, verdicts, quotes, questions, calls. Plain frozen data.

Numbers of sentences and contexts count from 1, as in the prompts; offsets count characters
from 0 in the context as it was handed in, end exclusive.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from ..judge import Call, Usage
from ..judge.types import total
from ..prompts import PromptRef

Verdict = Literal["supported", "contradicted", "not_found"]


@dataclass(frozen=True)
class Quote:
    """Words of a context that decide a verdict.

    Attributes:
        context: number of the context.
        text: the words as the judge gave them.
        start, end: where they stand in that context; None when they do not stand there.
    """

    context: int
    text: str
    start: int | None = None
    end: int | None = None

    @property
    def verified(self) -> bool:
        """Do the words stand in the context?"""
        return self.start is not None


@dataclass(frozen=True)
class Claim:
    """One fact that a text states, and the sentence it came from.

    Attributes:
        sentence: as it was shown to the judge; a row of a table, a heading or a block of code
            counts as one, too.
        sentence_number: its number in the text, from 1.
        start, end: where it stands in the text, end exclusive; None when that is not known.
        invented: words and numbers of the claim that stand neither in the text nor in the
            question. They are shown; the score is not changed by them.
    """

    text: str
    sentence: str
    sentence_number: int
    start: int | None = None
    end: int | None = None
    invented: tuple[str, ...] = ()


@dataclass(frozen=True)
class ClaimVerdict:
    """What the contexts say about one claim.

    Attributes:
        quote: the deciding words; None for ``not_found``.
        verified: the quote stands in a context; True where there is none.
        probability: of "supported", 0 to 1: by the judge's log probabilities, else the share of
            its votes; None where there are neither.
        votes: what each vote said, where there was more than one.
    """

    claim: Claim
    verdict: Verdict
    quote: Quote | None = None
    probability: float | None = None
    votes: tuple[Verdict, ...] = ()

    @property
    def verified(self) -> bool:
        """False when the deciding words could not be found in any context."""
        return self.quote is None or self.quote.verified


@dataclass(frozen=True)
class ContextVerdict:
    """Whether one context was worth retrieving."""

    context: int
    useful: bool
    quote: Quote | None = None

    @property
    def verified(self) -> bool:
        """False when the judge quoted words that do not stand in this context."""
        return self.quote is None or self.quote.verified


@dataclass(frozen=True)
class GeneratedQuestion:
    """A question written back from the answer, and how near it is to the one asked.

    Attributes:
        similarity: cosine to the question asked, from -1 to 1; None when not compared.
        language: by its script; empty when not compared.
    """

    text: str
    noncommittal: bool
    similarity: float | None = None
    language: str = ""


@dataclass(frozen=True)
class Evidence:
    """Everything behind one score.

    Attributes:
        metric: its name.
        judge: the model's name; ``endpoint`` where it was asked.
        embedder: name of the embedder, where one was used.
        language: the prompt pack.
        options: the metric's options that bear on the value.
        embedded_tokens: tokens of the texts that a service embedded; 0 when none was asked,
            None when it did not say.
        tags: short marks of degenerate cases, such as ``noncommittal``.
        notes: what was noticed on the way, such as answers that were asked for again.
    """

    metric: str = ""
    judge: str = ""
    endpoint: str = ""
    embedder: str = ""
    language: str = ""
    options: tuple[tuple[str, Any], ...] = ()
    claims: tuple[ClaimVerdict, ...] = ()
    contexts: tuple[ContextVerdict, ...] = ()
    questions: tuple[GeneratedQuestion, ...] = ()
    calls: tuple[Call, ...] = ()
    embedded_tokens: int | None = 0
    tags: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def but(self, **changes: Any) -> Evidence:
        """A copy with some fields replaced."""
        return replace(self, **changes)

    @property
    def tokens(self) -> Usage:
        """Tokens of all calls; None where the service did not count one of them."""
        usages = [call.reply.usage for call in self.calls]
        return Usage(total(u.input for u in usages), total(u.output for u in usages))

    @property
    def prompts(self) -> tuple[PromptRef, ...]:
        """The prompts used, each once, in the order of first use."""
        return tuple(dict.fromkeys(call.prompt for call in self.calls))

    @property
    def graded(self) -> float | None:
        """Mean probability that a claim is supported, beside the hard score; None if unknown."""
        known = [v.probability for v in self.claims if v.probability is not None]
        return sum(known) / len(known) if known and len(known) == len(self.claims) else None

    @property
    def unverified(self) -> int:
        """How many verdicts rest on a quote that stands in no context."""
        return sum(not verdict.verified for verdict in self._verdicts())

    def _verdicts(self) -> tuple[ClaimVerdict | ContextVerdict, ...]:
        return (*self.claims, *self.contexts)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON data."""
        data = asdict(self)
        data["options"] = dict(self.options)
        data["graded"] = self.graded
        data["tokens"] = asdict(self.tokens)
        data["prompts"] = [asdict(prompt) for prompt in self.prompts]
        given = (*data["claims"], *data["contexts"])
        for plain, verdict in zip(given, self._verdicts(), strict=True):
            plain["verified"] = verdict.verified
        return data


NO_EVIDENCE = Evidence()
