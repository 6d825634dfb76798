"""The plug-in: a metric of ours as ragas sees it, and the three ways to call it.

    await metric.explain(sample)      -> Score | Unscored | Failed, with evidence
    await metric.ascore(**columns)    -> ragas' MetricResult (value None when unscored)
    ragas.evaluate(…, [metric])       -> a float with ``.evidence``, NaN when not scored

All three run the same ``Run``: judge, embedder and options bound at one moment.
"""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from ..judge import telemetry  # noqa: F401  # before ragas: it reads the switch once

from ragas.metrics.base import (  # isort: skip
    MetricOutputType,
    MetricType,
    MetricWithLLM,
    SingleTurnMetric,
)

from ..judge import EmbeddedE5, Embedder, Judge, adopt_embedder, run_sync
from ..judge.errors import InputError, SetupError
from ..judge.retry import warn_if_tight
from ..prompts import LANGUAGES
from .lending import Lendable, caller_is_ragas, dataset_under_validation, lent_to
from .offline.judge import judge_of
from .outcomes import Failed, NotScored, Outcome, Score, for_ragas
from .run import Run
from .sample import Sample
from .steps import Steps
from .tracing import traced

if TYPE_CHECKING:
    from ragas.metrics.result import MetricResult
    from ragas.run_config import RunConfig

log = logging.getLogger("ragas_judge")


class _Default:
    """Stands for "the judge's embedder, else the embedded one".

    Not None, since ragas fills a None with an OpenAI embedder of its own.
    """

    def __repr__(self) -> str:
        return "DEFAULT_EMBEDDINGS"


DEFAULT_EMBEDDINGS = _Default()
_EMBEDDED = EmbeddedE5()


class JudgedMetric(MetricWithLLM, SingleTurnMetric):
    """Base of the metrics here: a ragas ``MetricWithLLM`` that scores one turn.

    Args:
        llm: a ``Judge``, anything ``ragas.evaluate(llm=…)`` takes, or ``"offline"`` for the
            judge without a model. None: ragas' own.
        name: column name in results; the metric's usual name when None.
        language: prompt pack (``"en"``, ``"zh"``); None: by the script of each row.
        on_failure: ``"mark"`` returns a NaN that carries the reason, ``"raise"`` raises the
            error inside ``ragas.evaluate``.

    Raises:
        SetupError: an option is not one of those offered.
    """

    metric_name: ClassVar[str]
    columns: ClassVar[frozenset[str]]
    """The columns the metric reads."""
    needed: ClassVar[frozenset[str]]
    """Those of them without which no row can be scored."""

    llm = Lendable()
    _own_llm: Any

    def __init_subclass__(cls, **options: Any) -> None:
        """A metric of one's own says its name and the columns it reads."""
        super().__init_subclass__(**options)
        if getattr(cls._score, "__isabstractmethod__", False):
            return  # a base of metrics
        for name in ("metric_name", "columns", "needed"):
            if not hasattr(cls, name):
                raise TypeError(f"{cls.__name__} needs a class attribute {name}; see docs")

    def __init__(
        self,
        llm: Any = None,
        *,
        name: str | None = None,
        language: str | None = None,
        on_failure: Literal["mark", "raise"] = "mark",
    ) -> None:
        """Keep the settings; nothing is loaded or connected."""
        if language is not None and language not in LANGUAGES:
            raise SetupError(f"no prompts in language {language!r}; there are {LANGUAGES}")
        if on_failure not in ("mark", "raise"):
            raise SetupError(f"on_failure is 'mark' or 'raise', not {on_failure!r}")
        self.name = name or self.metric_name
        self.language, self.on_failure = language, on_failure
        self.output_type = MetricOutputType.CONTINUOUS
        # Optional to ragas, which would stop the whole run when row 0 lacks one.
        optional = {f"{column}:optional" for column in self.columns}
        self._required_columns = {MetricType.SINGLE_TURN: optional}
        self.llm = llm
        self._adopted: tuple[Any, Judge] | None = None

    def __repr__(self) -> str:
        """Name the metric and its own judge."""
        return f"{type(self).__name__}(name={self.name!r}, llm={self.llm!r})"

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    # --- what a metric defines -----------------------------------------------------------

    @abstractmethod
    async def _score(self, sample: Sample, steps: Steps, run: Run) -> Outcome:
        """Score one row with ``steps``; calls and notes are added to the evidence later."""

    def _options(self) -> dict[str, Any]:
        """The options that bear on the value, for the evidence."""
        return {"language": self.language}

    # --- three ways to call it -----------------------------------------------------------

    async def explain(self, sample: Any) -> Outcome:
        """Score one sample and keep the evidence.

        Args:
            sample: a ragas ``SingleTurnSample`` or a mapping of columns, old names too.
        """
        return await self._bind(lent={}).explain(sample)

    async def ascore(self, **columns: Any) -> MetricResult:
        """Score columns under ragas' newer convention.

        Returns:
            ragas' ``MetricResult``: ``value`` is None and ``reason`` says why when there is no
            score; ``traces`` holds the input and the evidence.
        """
        from ragas.metrics.result import MetricResult

        outcome = await self.explain(columns)
        traces = {"input": columns, "output": outcome.evidence.to_dict()}
        return MetricResult(outcome.value, outcome.reason or summary(outcome), traces)

    def score(self, **columns: Any) -> MetricResult:
        """``ascore`` for synchronous code."""
        return run_sync(self.ascore(**columns))

    # --- what ragas calls ----------------------------------------------------------------

    def init(self, run_config: RunConfig) -> None:
        """Called by ragas before the first row.

        Raises:
            SetupError: the judge could not make a single call (no key, no model).
        """
        lent = lent_to(self) if caller_is_ragas() else {}
        llm = lent.get("llm") or self._own_llm
        if llm is None:
            raise SetupError(f"{self.name} has no judge: pass llm= to it or to ragas.evaluate")
        if lent.get("llm") is not None:
            lent["llm"] = judge_of(lent["llm"])
        judge: Judge = self._bind(lent).judge  # type: ignore[assignment]
        judge.check()
        if not judge.is_replay:
            warn_if_tight(judge.retry, run_config.timeout)

    @property
    def required_columns(self) -> dict[str, set[str]]:
        """As ragas reads it: none, so that one incomplete row does not stop a run.

        Raises:
            InputError: ragas is checking a dataset in which no row has a needed column.
        """
        dataset = dataset_under_validation()
        if dataset is not None:
            check_columns(self.name, self.needed, [s.get_features() for s in dataset])
        return super().required_columns

    @required_columns.setter
    def required_columns(self, value: Any) -> None:
        self._required_columns = value

    @property
    def single_turn_ascore(self) -> Callable[..., Coroutine[Any, Any, Score | NotScored]]:
        """A function bound to the judge of this moment; ragas reads it once a row."""
        run = self._bind(lent_to(self) if caller_is_ragas() else {})

        async def score(
            sample: Any,
            callbacks: Any = None,
            timeout: float | None = None,  # noqa: ASYNC109  # ragas passes it
        ) -> Score | NotScored:
            return await traced(self, sample, callbacks, self._marked(run, sample, timeout))

        return score

    def single_turn_score(self, sample: Any, callbacks: Any = None) -> Score | NotScored:
        """Score one sample from synchronous code."""
        return run_sync(self.single_turn_ascore(sample, callbacks))

    async def _single_turn_ascore(self, sample: Any, callbacks: Any) -> Score | NotScored:
        return await self._marked(self._bind({}), sample, None)

    async def _marked(self, run: Run, sample: Any, seconds: float | None) -> Score | NotScored:
        outcome = await run.explain(sample, seconds)
        if isinstance(outcome, Failed):
            log.warning("%s: %s", self.name, outcome.reason)
            if self.on_failure == "raise":
                raise outcome.error
        return for_ragas(outcome)

    # --- binding -------------------------------------------------------------------------

    def _bind(self, lent: Mapping[str, Any]) -> Run:
        judge = lent.get("llm") or self._own_judge()
        embedder = self.embedder_for(judge, lent.get("embeddings"))
        return Run(self, judge, embedder, self._options())

    def _own_judge(self) -> Judge | None:
        """The judge of the caller's own model; adopted once for each model assigned."""
        llm = self._own_llm
        if llm is None:
            return None
        if self._adopted is None or self._adopted[0] is not llm:
            self._adopted = (llm, judge_of(llm))
        return self._adopted[1]

    def embedder_for(self, judge: Judge | None, lent: Any = None) -> Embedder:
        """The embedder that the metric uses with a judge.

        Bound at construction, else lent, else the judge's, else the embedded one.

        Args:
            judge: its recordings hold for the vectors, too.
            lent: what ``ragas.evaluate(embeddings=…)`` was given; see ``adopt_embedder``.

        Raises:
            SetupError: what is bound or lent is no embedder.
        """
        own = getattr(self, "_own_embeddings", None)
        if own is None or own is DEFAULT_EMBEDDINGS:
            own = lent
        if own is None:
            return (judge.embedder if judge else None) or _EMBEDDED
        embedder = adopt_embedder(own)
        return judge.recorded(embedder) if judge else embedder


def check_columns(metric: str, needed: frozenset[str], rows: list[list[str]]) -> None:
    """Does any row hold each needed column?

    Args:
        metric: its name.
        needed: the columns it cannot do without.
        rows: for each row the names of the columns that are not None.

    Raises:
        InputError: a column that is in no row at all.
    """
    present = {name for row in rows for name in row}
    missing = sorted(needed - present)
    if missing:
        raise InputError(
            f"metric {metric} needs column {', '.join(map(repr, missing))}, which no row has;"
            f" the dataset's columns are {', '.join(sorted(present)) or 'none'}"
        )


def summary(outcome: Outcome) -> str:
    """One line of evidence for a score: what was counted."""
    evidence = outcome.evidence
    if evidence.claims:
        bad = [v for v in evidence.claims if v.verdict != "supported"]
        named = "; ".join(f"{v.verdict}: {v.claim.text}" for v in bad[:5])
        counted = f"{len(evidence.claims) - len(bad)} of {len(evidence.claims)} claims supported"
        return f"{counted}; {named}" if named else counted
    if evidence.contexts:
        useful = [str(v.context) for v in evidence.contexts if v.useful]
        return f"useful contexts: {', '.join(useful) or 'none'} of {len(evidence.contexts)}"
    if evidence.questions:
        return "; ".join(q.text for q in evidence.questions)
    return ", ".join(evidence.tags)
