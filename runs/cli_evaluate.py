"""``ragas-judge evaluate DATASET --out RUN_DIR``."""

import json
import sys
from typing import TYPE_CHECKING

import typer

from . import cli_options as options
from .cli_say import say
from .exits import INTERRUPTED, JUDGE, exit_code

if TYPE_CHECKING:
    from rich.console import Console

    from ..judge import Judge
    from .evaluation import RunResult


def evaluate_command(
    dataset: options.Dataset,
    *,
    out: options.Out,
    metrics: options.Metrics = None,
    judge: options.Judge = None,
    model: options.Model = None,
    base_url: options.BaseUrl = None,
    api_key_env: options.ApiKeyEnv = "OPENAI_API_KEY",
    recordings: options.RecordingsDir = None,
    mode: options.RecordingsMode = None,
    limit: options.Limit = None,
    language: options.PromptLanguage = options.Language.AUTO,
    concurrency: options.Concurrency = None,
    rpm: options.Rpm = None,
    tpm: options.Tpm = None,
    cache: options.Cache = None,
    max_tokens_total: options.MaxTokensTotal = None,
    max_cost: options.MaxCost = None,
    prices: options.PriceFile = None,
    temperature: options.Temperature = None,
    max_tokens: options.MaxTokens = None,
    seed: options.Seed = None,
    embeddings: options.Embeddings = None,
    embeddings_url: options.EmbeddingsUrl = None,
    overwrite: options.Overwrite = False,
    as_json: options.Json = False,
    debug: options.Debug = False,
) -> int:
    """Score a dataset, show a summary, and write a run folder."""
    from .choose import check_metrics
    from .cli_judge import JudgeOptions, make_budget, make_judge

    names = options.metric_names(metrics)
    check_metrics(names)
    asked = make_judge(
        JudgeOptions(
            offline=judge is not None,
            model=model,
            base_url=base_url,
            api_key_env=api_key_env,
            recordings=recordings,
            mode=mode,
            concurrency=concurrency,
            rpm=rpm,
            tpm=tpm,
            temperature=temperature,
            max_tokens=max_tokens,
            seed=seed,
            embeddings=embeddings,
            embeddings_url=embeddings_url,
        )
    )
    result = _evaluate(
        asked,
        dataset=dataset,
        metrics=names,
        out=out,
        overwrite=overwrite,
        limit=limit,
        language=language.pack,
        cache=cache,
        budget=make_budget(max_tokens_total, max_cost, prices),
    )
    _show(result, as_json=as_json)
    _after(asked, full=limit is None and not names)
    return _verdict(result)


def _evaluate(judge: "Judge", **arguments: object) -> "RunResult":
    """Run it; an interrupt says what is kept."""
    from .evaluation import evaluate

    try:
        return evaluate(judge=judge, progress=True, **arguments)  # type: ignore[arg-type]
    except KeyboardInterrupt as interrupt:
        notes = getattr(interrupt.__context__, "__notes__", None) or ["nothing was written"]
        print(f"ragas-judge: interrupted; {'; '.join(notes)}", file=sys.stderr)
        raise typer.Exit(INTERRUPTED) from interrupt


def _show(result: "RunResult", *, as_json: bool) -> None:
    """The table on stdout; with ``--json`` the summary there and the table on stderr."""
    from .table import remarks, summary_table

    console = _console(stderr=as_json)
    console.print(summary_table(result.headlines, result.results))
    for remark in remarks(result.headlines, result.results):
        say(console, remark)
    say(console, f"{len(result.results)} results and their evidence are in {result.path}")
    if as_json:
        summary = {"run": str(result.path), **result.manifest}
        print(json.dumps(summary, ensure_ascii=False, allow_nan=False, default=str))


def _after(judge: "Judge", *, full: bool) -> None:
    """Tell of recordings that nobody asked for."""
    recordings = judge.recordings
    if recordings is None:
        return
    unused = recordings.unused() if full and recordings.mode == "replay" else []
    if unused:
        say(
            _console(stderr=True),
            f"{len(unused)} recordings in {recordings.path} were not used, such as"
            f" {unused[0].relative_to(recordings.path)}",
            style="dim",
        )


def _verdict(result: "RunResult") -> int:
    """0; where rows failed and none at all was scored, the code of the first failure."""
    from ..metrics.outcomes import Failed

    outcomes = [found.outcome for found in result.results]
    failures = [outcome for outcome in outcomes if isinstance(outcome, Failed)]
    judged = (outcome for outcome in outcomes if outcome.evidence.calls)
    if not failures or any(outcome.status == "scored" for outcome in judged):
        return 0
    print(f"ragas-judge: error: no row was scored; the first {failures[0].reason}", file=sys.stderr)
    return exit_code(failures[0].error) or JUDGE


def _console(*, stderr: bool) -> "Console":
    from rich.console import Console

    return Console(stderr=stderr)
