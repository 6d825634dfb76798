"""``ragas-judge plan DATASET``: what an evaluation would cost. Nothing is sent."""

import json
from typing import TYPE_CHECKING

from . import cli_options as options
from .cli_say import say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.table import Table

    from .planning import Amount, Forecast, MetricForecast


def plan_command(
    dataset: options.Dataset,
    *,
    metrics: options.Metrics = None,
    model: options.Model = None,
    embeddings: options.Embeddings = None,
    prices: options.PriceFile = None,
    limit: options.Limit = None,
    language: options.PromptLanguage = options.Language.AUTO,
    as_json: options.Json = False,
    debug: options.Debug = False,
) -> int:
    """Forecast the calls, tokens and cost of an evaluation. Nothing is sent; no key is needed."""
    from ..judge.prices import Prices
    from .choose import check_metrics
    from .planning import plan

    names = options.metric_names(metrics)
    check_metrics(names)  # before ragas is loaded
    forecast = plan(
        dataset,
        names,
        model,
        embeddings=embeddings,
        prices=Prices.load(prices),
        limit=limit,
        language=language.pack,
    )
    _show(forecast, as_json=as_json)
    return 0


def _show(forecast: "Forecast", *, as_json: bool) -> None:
    """The table on stdout; with ``--json`` the forecast there and the table on stderr."""
    from rich.console import Console

    console = Console(stderr=as_json)
    console.print(forecast_table(forecast))
    for remark in remarks(forecast):
        say(console, remark)
    if as_json:
        print(json.dumps(forecast.to_dict(), ensure_ascii=False, allow_nan=False))


def forecast_table(forecast: "Forecast") -> "Table":
    """One line a metric, and the total."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    table.add_column("metric", no_wrap=True)
    embeds = forecast.total.embedding_calls > 0
    names = ["calls", "tokens in", "tokens out", *(["embedded"] if embeds else [])]
    for name in (*names, "USD"):
        table.add_column(name, justify="right", no_wrap=True)
    for each in forecast.metrics:
        table.add_row(each.metric, *_cells(each.amount, embeds=embeds))
    table.add_section()
    table.add_row("total", *_cells(forecast.total, embeds=embeds))
    return table


def _cells(amount: "Amount", *, embeds: bool) -> list[str]:
    numbers = [amount.calls, amount.input_tokens, amount.output_tokens]
    if embeds:
        numbers.append(amount.embedding_tokens)
    return [*(f"{number:,}" for number in numbers), money(amount.cost)]


def money(cost: float | None) -> str:
    """Dollars and cents, with more digits below one dollar; unknown stays unknown.

    >>> money(1234.567), money(0.0123456), money(0.0), money(None)
    ('1,234.57', '0.0123', '0', 'unknown')
    """
    if cost is None:
        return "unknown"
    if cost == 0:
        return "0"
    return f"{cost:,.2f}" if cost >= 1 else f"{cost:.4f}" if cost >= 0.0001 else "under 0.0001"


def remarks(forecast: "Forecast") -> "Iterator[str]":
    """What must not be overlooked, a line each."""
    for each in forecast.metrics:
        yield from _remarks_on(each, forecast.rows)
    unpriced = list(dict.fromkeys(name for each in forecast.metrics for name in each.unpriced))
    if unpriced:
        yield (
            f"note: no price is known for {', '.join(unpriced)}; write it into a file and name that"
            " with --prices"
        )
    if not all(each.model for each in forecast.metrics):
        yield "note: no model was named, so no cost is known; name one with --model"
    total = forecast.total
    if total.schema_tokens:
        yield (
            f"note: {total.schema_tokens:,} of the input tokens are schemas of replies, which"
            " servers such as llama.cpp and vLLM do not count"
        )
    rows = "1 row" if forecast.rows == 1 else f"{forecast.rows:,} rows"
    yield (
        f"An estimate for {rows}. Not included: questions asked again, retries, what a model thinks"
        f" before it replies, discounts. Prices: {forecast.prices}."
    )


def _remarks_on(each: "MetricForecast", rows: int) -> "Iterator[str]":
    if each.failed:
        yield (
            f"warning: {each.metric}: for {each.failed} of {rows} rows no usable reply could be"
            f" made up, so the forecast may be wrong; the first: {each.first_failure}"
        )
    if each.free:
        reasons = ", ".join(f"{count} {reason}" for reason, count in each.unscored.items())
        why = f" (not scored: {reasons})" if reasons else ""
        yield f"note: {each.metric}: no call for {each.free} of {rows} rows{why}"
