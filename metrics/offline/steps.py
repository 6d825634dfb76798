"""The steps of the metrics without an LLM: the same methods and results as ``Steps``, no calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...judge import EmbeddedE5, Embedder
from ...judge.embedders import embed_counted
from ...prompts import detect_language
from ..evidence import Claim, ClaimVerdict, ContextVerdict, GeneratedQuestion
from ..sentences import split_sentences, split_units
from ..steps import Steps
from ..verification import DEFAULT, Verification
from . import usefulness
from .deciding import THRESHOLD, Support, decide, texts_needed
from .judge import OfflineJudge
from .material import Material
from .phrases import is_noncommittal, states_something

STATING = ("prose", "item", "row")
"""Kinds of units that can be claims; headings and code are left out."""


@dataclass(frozen=True)
class OfflineSteps(Steps):
    """The offline judge for one row.

    ``calls`` stays empty, and the deadline is without effect: nothing here waits for anybody.
    Each of the notes begins with ``offline``.
    """

    _vectors: dict[str, list[float]] = field(default_factory=dict, repr=False)
    _asked: list[str] = field(default_factory=list, repr=False)

    async def extract_claims(self, question: str, text: str) -> list[Claim]:
        """The sentences of a text that state something, each as one claim.

        Greetings, questions and refusals are left out, headings and code, too.
        """
        self._asked[:] = [question]
        units = [unit for unit in split_units(text, self.language) if unit.kind != "layout"]
        claims = [
            Claim(unit.text, unit.text, number, unit.start, unit.end)
            for number, unit in enumerate(units, start=1)
            if unit.kind in STATING and states_something(unit.text)
        ]
        if left := len(units) - len(claims):
            self.notes.append(f"offline: {left} of {len(units)} sentences state nothing")
        return claims

    async def verify_claims(
        self,
        claims: Sequence[Claim],
        contexts: Mapping[int, str],
        how: Verification = DEFAULT,
    ) -> list[ClaimVerdict]:
        """One verdict a claim, in order, with its probability; the quote is the nearest passage.

        Args:
            claims: what to check.
            contexts: by number.
            how: only its threshold counts here.
        """
        texts = [claim.text for claim in claims]
        question = self._asked[0] if self._asked else ""
        decided = await self._decide(texts, question, contexts)
        if decided is None:
            return [ClaimVerdict(claim, "not_found") for claim in claims]
        for number, support in enumerate(decided, start=1):
            self.notes.extend(f"offline: claim {number}: {found}" for found in support.findings)
        return [
            _verdict(claim, support, how.threshold)
            for claim, support in zip(claims, decided, strict=True)
        ]

    async def _decide(
        self, claims: Sequence[str], question: str, contexts: Mapping[int, str]
    ) -> list[Support] | None:
        material = Material(contexts, self.language)
        if not material.sentences:
            return None
        await self._embed_once(texts_needed(claims, material))
        return [decide(claim, question, material, self._vectors) for claim in claims]

    async def _embed_once(self, texts: Sequence[str]) -> None:
        """See to it that each text has its vector of the embedded embedder."""
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if new:
            self._vectors.update(zip(new, await _E5.embed(new), strict=True))

    async def judge_contexts(
        self, question: str, answer: str, contexts: Mapping[int, str]
    ) -> list[ContextVerdict]:
        """Whether each context helps to arrive at ``answer``, in the order given."""
        alone = {n: Material({n: text}, self.language) for n, text in contexts.items()}
        alone = {number: material for number, material in alone.items() if material.sentences}
        await self._embed_once(usefulness.texts_needed(question, answer, list(alone.values())))
        asked = usefulness.together(question, answer)
        found = usefulness.usefulness(question, answer, list(alone.values()), self._vectors)
        verdicts = {number: ContextVerdict(number, useful=False) for number in contexts}
        for number, probability in zip(alone, found, strict=True):
            if probability > THRESHOLD:
                nearest = alone[number].nearest(asked, self._vectors)
                verdicts[number] = ContextVerdict(number, True, nearest.quote())
        return list(verdicts.values())

    async def write_questions(self, answer: str, count: int) -> list[GeneratedQuestion]:
        """What stands in for questions: the answer and its sentences; none can be written.

        Args:
            answer: the response.
            count: without effect.
        """
        noncommittal = is_noncommittal(answer, self.language)
        self.notes.append("offline: the question is compared with the response itself")
        return [GeneratedQuestion(text, noncommittal) for text in stand_ins(answer, self.language)]

    async def embed(self, embedder: Embedder, texts: Sequence[str]) -> list[list[float]]:
        """One vector a text, in order."""
        vectors, tokens = await embed_counted(embedder, texts)
        if not isinstance(embedder, EmbeddedE5):
            self.embedded.append(tokens)
        return vectors


_E5 = EmbeddedE5()


def _verdict(claim: Claim, support: Support, threshold: float) -> ClaimVerdict:
    verdict = support.verdict(threshold)
    quote = None if verdict == "not_found" else support.nearest
    return ClaimVerdict(claim, verdict, quote, support.probability)


def stand_ins(answer: str, language: str) -> list[str]:
    """What is compared with the question: the answer, and each of its sentences.

    >>> stand_ins("It is old. It is grey.", "en")
    ['It is old. It is grey.', 'It is old.', 'It is grey.']
    """
    return list(dict.fromkeys((answer.strip(), *split_sentences(answer, language))))


async def support(
    claims: Mapping[str, str], contexts: Mapping[int, str], language: str | None = None
) -> dict[str, ClaimVerdict]:
    """Decide claims offline, outside of a metric; for a cascade.

    Args:
        claims: texts by name.
        contexts: by number.
        language: ``"en"`` or ``"zh"``; None: by the script of the claims.

    Returns:
        A verdict for each name, with its probability; ``not_found`` and None without contexts.
    """
    steps = OfflineSteps(OfflineJudge(), language or detect_language(*claims.values()))
    given = [Claim(text, text, number) for number, text in enumerate(claims.values(), start=1)]
    verdicts = await steps.verify_claims(given, contexts)
    return dict(zip(claims, verdicts, strict=True))
