"""A judge as ragas' own LLM, and its embedder as ragas' own embeddings.

ragas' metrics then gain what a judge has: retries by class of error, limits, cache, recordings
and accounting. Importing this module loads ragas; ``Judge.as_ragas_llm`` does it when called.

Unlike ragas' own wrappers:

- Each sample is a request of its own (n=1, ``repetition`` 0, 1, …), because a service may
  ignore ``n``. There are as many samples as were asked for, or there is an error.
- Parameters travel with each request; nothing is written to the judge.
- ragas' retries and ragas' cache do not come on top.
- A reply that was cut, filtered or is empty is an error, also in ``agenerate_text``, whose
  callers in ragas do not look.
"""

from __future__ import annotations

import asyncio
import copy
import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from langchain_core.callbacks import AsyncCallbackManager
from ragas.cost import CostCallbackHandler
from ragas.embeddings.base import BaseRagasEmbedding, BaseRagasEmbeddings
from ragas.llms.base import BaseRagasLLM
from ragas.run_config import RunConfig

from . import telemetry  # noqa: F401  # ragas reports each use unless told not to
from ._ragas_results import Answered, chat, check, llm_result, reseeded
from .embedders import EmbeddedE5, Embedder, adopt_embedder
from .errors import EvaluatorError
from .loops import run_sync
from .retry import warn_if_tight
from .types import ReplyState, Request, Usage

if TYPE_CHECKING:
    from langchain_core.callbacks import Callbacks
    from langchain_core.messages import BaseMessage
    from langchain_core.outputs import LLMResult
    from langchain_core.prompt_values import PromptValue

    from .judge import Judge

log = logging.getLogger("ragas_judge")


def ragas_llm(judge: Judge) -> JudgeLLM:
    """The judge as a ``BaseRagasLLM``, for ragas' own metrics.

    >>> import asyncio
    >>> from langchain_core.prompt_values import StringPromptValue
    >>> from ragas_judge.judge import Judge, ScriptedTransport
    >>> llm = ragas_llm(Judge("scripted", transport=ScriptedTransport(lambda request: "hello")))
    >>> asyncio.run(llm.generate(StringPromptValue(text="say hello"))).generations[0][0].text
    'hello'
    """
    return JudgeLLM(judge)


def ragas_embeddings(judge: Judge, embedder: Any = None) -> JudgeEmbeddings:
    """An embedder as ragas' embeddings, recorded where the judge records.

    Args:
        judge: whose recordings, cache and budget are used.
        embedder: as for ``adopt_embedder``; None takes the judge's own, else the embedded one.

    Raises:
        SetupError: ``embedder`` is not understood, or has no name to record it by.

    >>> from ragas_judge.judge import Judge, ScriptedTransport
    >>> judge = Judge("scripted", transport=ScriptedTransport(lambda request: ""))
    >>> def lengths(texts): return [[float(len(text))] for text in texts]
    >>> ragas_embeddings(judge, lengths).embed_documents(["a", "bcd"])
    [[1.0], [3.0]]
    """
    given = judge.embedder if embedder is None else adopt_embedder(embedder)
    return JudgeEmbeddings(judge, judge.recorded(given or EmbeddedE5()))


class JudgeLLM(BaseRagasLLM):
    """Asks a judge in ragas' name.

    The temperature of a request is what the metric passes, else the judge's own. Several
    samples at the judge's temperature 0 would all be the same, so they get the one that ragas
    takes for several (0.3). For the same reason a seed counts up from sample to sample.

    Copies, deep ones too, share the judge: it never changes, and its limits hold for all.

    Attributes:
        judge: who is asked.
    """

    def __init__(self, judge: Judge) -> None:
        """Nothing is asked yet."""
        super().__init__(multiple_completion_supported=True)
        self.judge = judge
        self._told_of_usage = False

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.judge!r})"

    def __eq__(self, other: object) -> bool:
        """Equal with the same judge; ragas would compare run configs alone."""
        return isinstance(other, JudgeLLM) and other.judge is self.judge

    def __hash__(self) -> int:
        return hash(id(self.judge))

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return copy.copy(self)

    def set_run_config(self, run_config: RunConfig) -> None:
        """Take note of ragas' settings; of these, its time limit for a row and metric holds.

        Warns when a single try of the judge's may outlast that limit.
        """
        if run_config is self.run_config:
            return  # ragas sets it anew for each metric: one warning is enough
        self.run_config = run_config
        if run_config.timeout is not None and not self.judge.is_replay:
            warn_if_tight(self.judge.retry, run_config.timeout)

    def is_finished(self, response: LLMResult) -> bool:
        """Did every reply come to its own end?"""
        replies = [each for batch in response.generations for each in batch]
        states = {(each.generation_info or {}).get("state") for each in replies}
        return states <= {None, ReplyState.COMPLETE}

    async def agenerate_text(
        self,
        prompt: PromptValue,
        n: int = 1,
        temperature: float | None = None,
        stop: list[str] | None = None,
        callbacks: Callbacks = None,
    ) -> LLMResult:
        """Ask for ``n`` samples at once; each is a run of its own for LangChain's callbacks.

        Args:
            prompt: text, or a chat of system, user and assistant.
            n: samples.
            temperature: goes before the judge's own; None: see the class.
            stop: strings at which the model is to stop; sent as a sampling parameter.
            callbacks: LangChain's.

        Returns:
            Exactly ``n`` generations, in one list, in order.

        Raises:
            TruncatedReplyError: a reply was cut at the length limit. It holds what arrived,
                which ragas' own ``LLMDidNotFinishException`` would lose.
            FilteredReplyError: a content filter stopped a reply.
            UnreadableReplyError: a reply is empty.
            InputError: the prompt holds more than text.
            JudgeError, RecordingError, BudgetError, CacheError: as for ``Judge.ask``.
        """
        messages, manager = prompt.to_messages(), AsyncCallbackManager.configure(callbacks)
        requests = self._requests(messages, n, temperature, stop)
        samples = await asyncio.gather(
            *(self._sample(request, messages, manager) for request in requests),
            return_exceptions=True,  # the others are paid for: let them be recorded and counted
        )
        answered: list[Answered] = []
        for sample in samples:
            if isinstance(sample, BaseException):
                raise sample
            answered.append(sample)
        return llm_result(answered, self.judge.model)

    generate = agenerate_text  # ragas' own would retry around it

    def generate_text(
        self,
        prompt: PromptValue,
        n: int = 1,
        temperature: float | None = None,
        stop: list[str] | None = None,
        callbacks: Callbacks = None,
    ) -> LLMResult:
        """``agenerate_text`` for synchronous code, also inside a running event loop."""
        return run_sync(self.agenerate_text(prompt, n, temperature, stop, callbacks))

    def _requests(
        self,
        messages: Sequence[BaseMessage],
        n: int,
        temperature: float | None,
        stop: Sequence[str] | None,
    ) -> list[Request]:
        """One request a sample, each with parameters of its own."""
        sampling: dict[str, Any] = dict(self.judge.sampling)
        if temperature is None and n > 1 and sampling.get("temperature") == 0:
            temperature = self.get_temperature(n)
        if temperature is not None:
            sampling["temperature"] = temperature
        if stop:
            sampling["stop"] = list(stop)
        request = self.judge.request(chat(messages))
        return [
            replace(request, sampling=reseeded(sampling, number), repetition=number)
            for number in range(n)
        ]

    async def _sample(
        self, request: Request, messages: list[BaseMessage], manager: AsyncCallbackManager
    ) -> Answered:
        """One reply. One that cannot be used ends its run as well: its tokens were paid for."""
        (run,) = await manager.on_chat_model_start(
            {"name": type(self).__name__},
            [messages],
            invocation_params={"model": request.model, **request.sampling},
        )
        try:
            reply, attempts = await self.judge.ask(request)
        except EvaluatorError as error:
            await run.on_llm_error(error)
            raise
        self._check_usage(reply.usage_now(attempts), manager)
        await run.on_llm_end(llm_result([(reply, attempts)], request.model))
        check(reply)
        return reply, attempts

    def _check_usage(self, usage: Usage, manager: AsyncCallbackManager) -> None:
        """Warn once when ragas counts tokens and the service does not: ragas takes that as 0."""
        counting = any(isinstance(each, CostCallbackHandler) for each in manager.handlers)
        if counting and None in (usage.input, usage.output) and not self._told_of_usage:
            self._told_of_usage = True
            said = "%s does not say how many tokens a reply took: ragas' totals lack them"
            log.warning(said, self.judge.endpoint)


class JudgeEmbeddings(BaseRagasEmbeddings, BaseRagasEmbedding):
    """An embedder in both of ragas' shapes, and still an ``Embedder``.

    Where the shapes differ, ``embed_text`` and ``embed_texts`` are the newer one's, that is
    synchronous: wherever ragas awaits the older one's it looks for ``aembed_text`` first.
    ``ragas.evaluate(embeddings=…)`` wraps it, like everything of LangChain's kind, in a class
    that adds ragas' retries to some metrics; ``SemanticSimilarity(embeddings=…)`` does not.

    Attributes:
        name: the embedder's.
        embedder: who makes the vectors.
        is_async: for ragas, which asks before it takes ``aembed_text``.
    """

    is_async = True

    def __init__(self, judge: Judge, embedder: Embedder) -> None:
        """Nothing is embedded yet."""
        super().__init__()
        self.name, self.embedder = embedder.name, embedder
        self.run_config = RunConfig()
        self._judge = judge

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return copy.copy(self)

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector a text, in order. Raises what ``Judge.embed`` does."""
        return (await self._judge.embed(self.embedder, texts))[0] if texts else []

    async def aembed_documents(self, texts: list[str], **_: Any) -> list[list[float]]:
        """One vector a text, in order."""
        return await self.embed(texts)

    async def aembed_query(self, text: str, **_: Any) -> list[float]:
        """The vector of one text."""
        return (await self.embed([text]))[0]

    def embed_documents(self, texts: list[str], **_: Any) -> list[list[float]]:
        """``aembed_documents`` for synchronous code, also inside a running event loop."""
        return run_sync(self.embed(texts))

    def embed_query(self, text: str, **_: Any) -> list[float]:
        """``aembed_query`` for synchronous code, also inside a running event loop."""
        return self.embed_documents([text])[0]

    aembed_texts = aembed_documents
    aembed_text = aembed_query
    embed_texts = embed_documents  # type: ignore[assignment]  # ragas' shapes differ
    embed_text = embed_query  # type: ignore[assignment]  # ragas' shapes differ
