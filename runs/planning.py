"""What an evaluation will cost, before it is run: calls, tokens and money for each metric.

    forecast = plan("data.jsonl", judge="gpt-4.1-mini")
    forecast.total.calls, forecast.total.cost

The real metrics run over all rows with a made-up judge, which answers every request at once with
a reply of the usual size (``typical``). So metrics of a user's own are covered, rows that need no
call cost nothing, and no rule of a metric is written down twice. Nothing is sent or written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from ..judge import EmbeddedE5, Embedder, Judge, Usage, run_sync
from ..judge.errors import InputError
from ..judge.prices import Prices
from ..metrics.outcomes import Failed, Outcome, Unscored
from .check import check_rows
from .choose import bind_metrics, check_metrics
from .dataset import load_dataset
from .estimating import CountingEmbedder, EstimatingTransport

if TYPE_CHECKING:
    from .dataset import Row
    from .runner import Metric

UNNAMED = "(no model named)"


@dataclass(frozen=True)
class Amount:
    """How much of everything.

    Attributes:
        calls: requests to the judge.
        input_tokens: of all requests, their schemas included.
        schema_tokens: how many of those are schemas; servers that make the schema a grammar,
            such as llama.cpp and vLLM, do not count them.
        output_tokens: of all replies.
        embedding_calls, embedding_tokens: what an embeddings service is asked; 0 for the
            embedder that is embedded.
        cost: US dollars; None when the price of a model is not known.
    """

    calls: int = 0
    input_tokens: int = 0
    schema_tokens: int = 0
    output_tokens: int = 0
    embedding_calls: int = 0
    embedding_tokens: int = 0
    cost: float | None = 0.0


@dataclass(frozen=True)
class MetricForecast:
    """What one metric will take.

    Attributes:
        metric, model: their names; ``model`` is empty when none was given.
        embedder: the embeddings service it asks; empty when it asks none.
        amount: calls, tokens, cost.
        free: rows that need no call.
        unscored: why rows without a call get no score -> how many rows.
        unpriced: the models whose price is not known.
        failed: rows for which no usable replies could be made up, so that the forecast may be
            wrong; ``first_failure`` says why the first of them failed.
    """

    metric: str
    model: str
    embedder: str
    amount: Amount
    free: int = 0
    unscored: Mapping[str, int] = field(default_factory=dict)
    unpriced: tuple[str, ...] = ()
    failed: int = 0
    first_failure: str = ""


@dataclass(frozen=True)
class Forecast:
    """What an evaluation will take, re-asks and retries not included.

    Attributes:
        rows: how many rows are evaluated.
        metrics: one a metric, in the order asked for.
        prices: which price list was used, in words.
    """

    rows: int
    metrics: tuple[MetricForecast, ...]
    prices: str

    @property
    def total(self) -> Amount:
        """All metrics together; no cost when that of one is not known."""
        amounts = [asdict(each.amount) for each in self.metrics]
        costs = [amount.pop("cost") for amount in amounts]
        sums = {name: sum(amount[name] for amount in amounts) for name in amounts[0]}
        return Amount(**sums, cost=None if None in costs else sum(costs))

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain JSON data."""
        return {**asdict(self), "total": asdict(self.total)}


def plan(
    dataset: Any,
    metrics: Iterable[Any] | None = None,
    judge: Any = None,
    *,
    embeddings: Any = None,
    prices: Prices | None = None,
    limit: int | None = None,
    language: str | None = None,
) -> Forecast:
    """Forecast what ``evaluate`` with the same arguments would take. Nothing is sent.

    Args:
        dataset: as for ``evaluate``; all rows are checked.
        metrics: as for ``evaluate``.
        judge: the name of a model, or whatever ``evaluate`` takes; it is not asked. None: the
            cost of the metrics without a judge of their own is unknown.
        embeddings: the name of a service's embedding model, or whatever ``Judge`` takes; the
            judge's own when None, else the embedder that is embedded, which costs nothing.
        prices: the price list; the one that is shipped when None.
        limit: only so many rows from the top.
        language: prompt pack of metrics given by name; None: by each row.

    Raises:
        InputError, SetupError: something is wrong with the arguments, as for ``evaluate``.

    >>> row = {"user_input": "When?", "response": "At 9.", "retrieved_contexts": ["It sails at 9."]}
    >>> forecast = plan([row], ["faithfulness"], "gpt-4.1-mini")    # extract claims, verify them
    >>> forecast.total.calls, forecast.total.cost < 0.001
    (2, True)
    """
    chosen = check_metrics(metrics)
    if limit is not None and limit < 1:
        raise InputError(f"limit is at least 1, not {limit}")
    rows = load_dataset(dataset)
    if judge is None or isinstance(judge, str):
        judge = Judge(judge or UNNAMED, transport=EstimatingTransport())
    bound = bind_metrics(chosen, Judge.of(judge), language=language)
    check_rows(rows, bound)
    price_list = prices or Prices.load()
    found = run_sync(_forecasts(bound, rows[:limit], embeddings, price_list))
    return Forecast(len(rows[:limit]), found, price_list.origin)


async def _forecasts(
    metrics: Sequence[Metric], rows: Sequence[Row], embeddings: Any, prices: Prices
) -> tuple[MetricForecast, ...]:
    return tuple(
        [
            await _forecast(metric, rows, _embedder_name(metric, embeddings), prices)
            for metric in metrics
        ]
    )


async def _forecast(
    metric: Any, rows: Sequence[Row], embedder: str, prices: Prices
) -> MetricForecast:
    """Run one metric, which is a copy of the caller's, over the rows."""
    model, transport, counter = metric.llm.model, EstimatingTransport(), CountingEmbedder(embedder)
    metric.llm = Judge(model, transport=transport, embeddings=counter)
    if hasattr(metric, "embeddings"):
        metric.embeddings = counter
    free, unscored, failed = 0, Counter[str](), list[Failed]()
    for row in rows:
        before = transport.calls + counter.calls
        outcome: Outcome = await metric.explain(row.columns)
        if isinstance(outcome, Failed):
            failed.append(outcome)
        elif transport.calls + counter.calls == before:
            free += 1
            unscored.update([outcome.reason] if isinstance(outcome, Unscored) else [])
    amount, unpriced = _priced(transport, counter, model, prices)
    return MetricForecast(
        metric=metric.name,
        model="" if model == UNNAMED else model,
        embedder=embedder if counter.calls else "",
        amount=amount,
        free=free,
        unscored=dict(unscored),
        unpriced=unpriced,
        failed=len(failed),
        first_failure=failed[0].reason if failed else "",
    )


def _priced(
    transport: EstimatingTransport, counter: CountingEmbedder, model: str, prices: Prices
) -> tuple[Amount, tuple[str, ...]]:
    """What was counted, with its cost; and the models without a price that were asked."""
    vectors = counter if counter.name else CountingEmbedder("")  # the embedded one costs nothing
    bills = [(model, Usage(transport.input, transport.output))] if transport.calls else []
    if vectors.calls:
        bills.append((vectors.name, Usage(vectors.tokens, 0)))
    costs = [prices.cost(name, usage) for name, usage in bills]
    known = [cost for cost in costs if cost is not None]
    amount = Amount(
        calls=transport.calls,
        input_tokens=transport.input,
        schema_tokens=transport.schema,
        output_tokens=transport.output,
        embedding_calls=vectors.calls,
        embedding_tokens=vectors.tokens,
        cost=sum(known) if len(known) == len(costs) else None,
    )
    unpriced = (name for (name, _), cost in zip(bills, costs, strict=True) if cost is None)
    return amount, tuple(name for name in unpriced if name != UNNAMED)


def _embedder_name(metric: Any, given: Any) -> str:
    """Name of the embeddings service that the metric would ask; empty for the embedded one."""
    lent = CountingEmbedder(given) if isinstance(given, str) else given
    embedder: Embedder = metric.embedder_for(metric.llm, lent)
    return "" if isinstance(embedder, EmbeddedE5) else embedder.name
