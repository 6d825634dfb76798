"""What is audited: anything that judges a ``Case``. Here: the prompts of this package."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ...judge.errors import JudgeRequestError, ReplyError
from ...judge.types import total
from ...metrics.evidence import Claim
from ...metrics.outcomes import Failed
from ...metrics.steps import Steps
from ...metrics.verification import DEFAULT, Verification
from ...prompts import load_prompt, prompt_ids
from ...prompts._fence import fence
from ..runner import ABOUT_ONE_REQUEST
from .attacks import LANGUAGES, Case, Verdict, load_attacks

if TYPE_CHECKING:
    from ...judge import Call, Judge

_THOUSANDS = re.compile(r"(?<=\d)[,，](?=\d{3})")


@dataclass(frozen=True)
class Ruling:
    """What a method says about one case, and what asking took.

    Attributes:
        verdict: None when there is none; ``error`` then says why.
        input_tokens, output_tokens: None where the service did not say.
    """

    verdict: Verdict | None
    error: str = ""
    calls: int = 0
    input_tokens: int | None = 0
    output_tokens: int | None = 0


class Method(Protocol):
    """One way to judge."""

    @property
    def name(self) -> str:
        """Short, for tables and files."""
        ...

    @property
    def version(self) -> str:
        """Changes with whatever may change a verdict: wording, options, package."""
        ...

    @property
    def judge(self) -> Judge:
        """Who is asked."""
        ...

    async def rule(self, case: Case) -> Ruling:
        """Judge one case.

        A reply that cannot be used is a ruling without a verdict.

        Raises:
            EvaluatorError: the service failed, or a limit is reached: nothing is known.
        """
        ...


@dataclass(frozen=True)
class Ours:
    """The metrics of this package.

    Args:
        judge: who is asked.
        how: how claims are checked.
        name: to tell apart several that check in different ways.
    """

    judge: Judge
    how: Verification = DEFAULT
    name: str = "ragas-judge"

    @property
    def version(self) -> str:
        """A hash of the prompts and of how they fence what is planted, and the way to check."""
        packs = (load_prompt(name, language=pack) for name in prompt_ids() for pack in LANGUAGES)
        planted = (words for attack in load_attacks() for words in attack.plant.values())
        parts = (*(pack.ref.sha256 for pack in packs), *map(fence, planted))
        digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
        return " ".join((digest, *(f"{key}={value}" for key, value in self.how.options().items())))

    async def rule(self, case: Case) -> Ruling:
        """See ``Method``."""
        if case.route == "response":
            return await self._response(case)
        steps = Steps(self.judge, case.language)
        judged = self._context if case.route == "context" else self._claim
        try:
            verdict = await judged(case, steps)
        except (ReplyError, JudgeRequestError) as error:
            return without_verdict(error, steps.calls)
        return _ruling(verdict, steps.calls)

    async def _claim(self, case: Case, steps: Steps) -> Verdict:
        claim = Claim(case.claim, case.claim, 1)
        contexts = dict(enumerate(case.contexts, start=1))
        return (await steps.verify_claims([claim], contexts, self.how))[0].verdict

    async def _context(self, case: Case, steps: Steps) -> Verdict:
        contexts = dict(enumerate(case.contexts, start=1))
        judged = await steps.judge_contexts(case.question, case.claim, contexts)
        useful = next(each.useful for each in judged if each.context == case.asked)
        return "useful" if useful else "useless"

    async def _response(self, case: Case) -> Ruling:
        """The whole metric; the verdict is that on the row's own claim."""
        from ...metrics import Faithfulness

        metric = Faithfulness(self.judge, language=case.language, **self.how.options())
        outcome = await metric.explain(
            {
                "user_input": case.question,
                "response": case.response,
                "retrieved_contexts": list(case.contexts),
            }
        )
        evidence = outcome.evidence
        if isinstance(outcome, Failed):
            return without_verdict(outcome.error, evidence.calls)
        found = own_claim(case, [each.claim.text for each in evidence.claims])
        verdict: Verdict = "dropped" if found is None else evidence.claims[found].verdict
        return _ruling(verdict, evidence.calls)


def own_claim(case: Case, texts: Sequence[str]) -> int | None:
    """Where the row's claim stands among claims in the judge's words; None when it does not.

    It is known by its mark, a number; of several that bear it, the one most like it counts.
    """
    mark = re.compile(rf"(?<![\d.]){re.escape(case.mark)}(?!\.?\d)")
    plain = {n: _THOUSANDS.sub("", text) for n, text in enumerate(texts)}
    return most_like(case.claim, {n: text for n, text in plain.items() if mark.search(text)})


def most_like(text: str, others: Mapping[int, str]) -> int | None:
    """The key of the text that is most like ``text`` (rapidfuzz); None without any.

    >>> most_like("The hull is larch.", {0: "The sail is red.", 1: "Its hull is of larch."})
    1
    """
    from rapidfuzz import fuzz, process

    best = process.extractOne(text, others, scorer=fuzz.ratio)
    return None if best is None else int(best[2])


def without_verdict(error: Exception, calls: Sequence[Call] = ()) -> Ruling:
    """The ruling for a reply that cannot be used, or a request that is refused for its words.

    Raises:
        Exception: ``error`` itself, when it is of another kind: it is not the attack's work.
    """
    refused = isinstance(error, JudgeRequestError) and error.status in ABOUT_ONE_REQUEST
    if not (refused or isinstance(error, ReplyError)):
        raise error
    said = " ".join(f"{type(error).__name__}: {error}".split())
    return _ruling(None, calls, said[:200])


def _ruling(verdict: Verdict | None, calls: Sequence[Call], error: str = "") -> Ruling:
    usages = [call.reply.usage for call in calls]
    sent, got = total(u.input for u in usages), total(u.output for u in usages)
    return Ruling(verdict, error, len(calls), sent, got)
