"""The same cases through ragas' own prompts, with the same model. Importing this loads ragas.

As in ragas' metrics: one call takes a response apart, one checks all its statements against the
joined contexts, and one judges one context. The prompts are those of English ragas, untouched:
it has no others until somebody has a model translate them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from ...judge import telemetry  # noqa: F401  # before ragas: it reads the switch once

from langchain_core.callbacks import AsyncCallbackHandler  # isort: skip
from ragas.exceptions import RagasOutputParserException  # isort: skip
from ragas.metrics._context_precision import QAC, ContextPrecisionPrompt  # isort: skip
from ragas.metrics._faithfulness import (  # isort: skip
    NLIStatementInput,
    NLIStatementPrompt,
    StatementGeneratorInput,
    StatementGeneratorPrompt,
)

from ...judge.errors import JudgeRequestError, ReplyError  # isort: skip
from .methods import Ruling, most_like, own_claim, without_verdict

if TYPE_CHECKING:
    from ...judge import Judge
    from .attacks import Case, Verdict


class _Meter(AsyncCallbackHandler):
    """Counts calls and tokens, those of ragas' own re-asking included."""

    def __init__(self) -> None:
        self.calls, self.tokens = 0, [0, 0]
        self.unknown = False

    async def on_chat_model_start(self, *_: Any, **__: Any) -> None:
        self.calls += 1

    async def on_llm_end(self, response: Any, **_: Any) -> None:
        usage = (response.llm_output or {}).get("token_usage", {})
        self.unknown = self.unknown or "total_tokens" not in usage
        self.tokens[0] += usage.get("prompt_tokens", 0)
        self.tokens[1] += usage.get("completion_tokens", 0)

    async def on_llm_error(self, *_: Any, **__: Any) -> None:
        self.unknown = True

    def ruling(self, verdict: Verdict | None, error: str = "") -> Ruling:
        sent, got = (None, None) if self.unknown else self.tokens
        return Ruling(verdict, error, self.calls, sent, got)


@dataclass(frozen=True)
class Ragas:
    """ragas' prompts, asked through ``Judge.as_ragas_llm``."""

    judge: Judge
    name: str = "ragas"

    @property
    def version(self) -> str:
        """That of ragas."""
        return version("ragas")

    async def rule(self, case: Case) -> Ruling:
        """See ``Method``."""
        meter = _Meter()
        asked = {"claim": self._claim, "response": self._response, "context": self._context}
        try:
            verdict = await asked[case.route](case, meter)
        except RagasOutputParserException as error:
            return meter.ruling(None, f"{type(error).__name__}: {error}")
        except (ReplyError, JudgeRequestError) as error:
            return meter.ruling(None, without_verdict(error).error)
        return meter.ruling(verdict, "" if verdict else "ragas returned no verdict")

    async def _claim(self, case: Case, meter: _Meter) -> Verdict | None:
        return await self._verify(case, [case.claim], 0, meter)

    async def _response(self, case: Case, meter: _Meter) -> Verdict | None:
        data = StatementGeneratorInput(question=case.question, answer=case.response)
        found = await self._ask(StatementGeneratorPrompt(), data, meter)
        own = own_claim(case, found.statements)
        return "dropped" if own is None else await self._verify(case, found.statements, own, meter)

    async def _verify(
        self, case: Case, statements: Sequence[str], own: int, meter: _Meter
    ) -> Verdict | None:
        """The verdict on statement number ``own``; ragas' replies name them by their words."""
        data = NLIStatementInput(context="\n".join(case.contexts), statements=list(statements))
        answers = (await self._ask(NLIStatementPrompt(), data, meter)).statements
        texts = dict(enumerate(answer.statement for answer in answers))
        named = most_like(statements[own], texts)
        if named is None:
            return None
        return "supported" if answers[named].verdict else "not_found"

    async def _context(self, case: Case, meter: _Meter) -> Verdict | None:
        data = QAC(question=case.question, context=case.contexts[case.asked - 1], answer=case.claim)
        answer = await self._ask(ContextPrecisionPrompt(), data, meter)
        return "useful" if answer.verdict else "useless"

    async def _ask(self, prompt: Any, data: Any, meter: _Meter) -> Any:
        llm = self.judge.as_ragas_llm()
        return await prompt.generate(llm=llm, data=data, callbacks=[meter])
