"""Evaluate a dataset: check it, run it, keep it.

    result = evaluate("data.jsonl", judge=Judge("gpt-4.1-mini"), out="runs/first")

Whatever can be wrong beforehand is found before the first call is made.
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..judge import run_sync
from ..judge.errors import InputError, RecordingError
from ..judge.limits import MOST
from ..metrics.offline.judge import judge_of
from ..metrics.outcomes import Failed
from .check import check_rows
from .choose import bind_metrics, check_metrics
from .dataset import load_dataset
from .errors import RunStopped
from .manifest import Plan, scores_of
from .runner import Result, run_metrics
from .store import check_target
from .target import Target, check_same_dataset, keeping

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from ..judge import Budget, Cache
    from .summary import Headline


@dataclass(frozen=True)
class RunResult:
    """What a run found.

    Attributes:
        headlines: one a metric, in the order asked for.
        results: one for each row and metric, in that order; each outcome holds its evidence.
        manifest: models, prompts, versions, tokens, as in ``manifest.json``.
        path: the run folder; None when none was asked for.
    """

    headlines: Sequence[Headline]
    results: Sequence[Result]
    manifest: Mapping[str, Any]
    path: Path | None = None

    def scores(self) -> list[dict[str, Any]]:
        """The lines of ``scores.jsonl`` as mappings."""
        return scores_of(self.results)


def evaluate(
    dataset: Any,
    metrics: Iterable[Any] | None = None,
    judge: Any = None,
    *,
    out: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    limit: int | None = None,
    language: str | None = None,
    concurrency: int | None = None,
    cache: Cache | str | os.PathLike[str] | None = None,
    budget: Budget | None = None,
    progress: bool = False,
) -> RunResult:
    """``aevaluate`` for synchronous code, with the same arguments.

    It works where an event loop is running already, too, such as in a notebook.
    """
    return run_sync(
        aevaluate(
            dataset,
            metrics,
            judge,
            out=out,
            overwrite=overwrite,
            limit=limit,
            language=language,
            concurrency=concurrency,
            cache=cache,
            budget=budget,
            progress=progress,
        )
    )


async def aevaluate(
    dataset: Any,
    metrics: Iterable[Any] | None = None,
    judge: Any = None,
    *,
    out: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    limit: int | None = None,
    language: str | None = None,
    concurrency: int | None = None,
    cache: Cache | str | os.PathLike[str] | None = None,
    budget: Budget | None = None,
    progress: bool = False,
) -> RunResult:
    """Score a dataset with some metrics.

    Everything that can be wrong beforehand is looked for before the first call: the metrics'
    names, the run folder, every row of the dataset, the judge's key.

    Replies are kept as they come, in ``cache`` or else in a journal beside ``out`` until the
    run is whole: after a crash or an interrupt the same call goes on with them.

    Args:
        dataset: anything ``load_dataset`` takes.
        metrics: names, or objects such as ``Faithfulness(no_claims=1)``; the four when None.
        judge: a ``Judge``, anything ``ragas.evaluate(llm=…)`` takes, or ``"offline"``, for the
            metrics that have none of their own. Objects are copied, never written to.
        out: the run folder to write; see ``store``.
        overwrite: replace an earlier run there. A run that ended early needs no leave.
        limit: score only so many rows from the top; all are checked.
        language: prompt pack (``"en"``, ``"zh"``) of metrics given by name; None: by each row.
        concurrency: rows times metrics under way at once; None: enough to keep the judge busy.
        cache: for the judges that have none of their own: a ``Cache``, or its file.
        budget: for the judges that have none of their own.
        progress: show how far it has come on stderr.

    Raises:
        InputError, SetupError: something is wrong with the arguments; nothing was asked.
        RunStopped: an error that every row would meet, or the budget is used up; where rows
            were scored and paid for, the partial run is in ``out``, marked as not complete.
    """
    chosen = check_metrics(metrics)
    if limit is not None and limit < 1:
        raise InputError(f"limit is at least 1, not {limit}")
    if out is not None:
        check_target(out, overwrite=overwrite)
    rows = load_dataset(dataset)
    shared = None if judge is None else judge_of(judge)
    bound = bind_metrics(chosen, shared, language=language)
    check_rows(rows, bound)
    plan = Plan(rows[:limit], bound, shared, dataset, limit)
    for one in plan.judges:
        one.check()
    if out is not None and not overwrite:
        check_same_dataset(out, plan)
    with keeping(plan, cache=cache, budget=budget, out=out) as (kept, journal):
        if progress and journal is not None and journal.kept:
            print(f"going on with {journal.kept} replies of an earlier run", file=sys.stderr)
        result = await _run(kept, Target(kept, out, overwrite), concurrency, progress)
        if journal is not None:
            journal.done = not any(isinstance(r.outcome, Failed) for r in result.results)
        return result


async def _run(plan: Plan, target: Target, concurrency: int | None, progress: bool) -> RunResult:
    """Run the plan; a run that ends early is kept as far as it came."""
    from .progress import Progress

    width = concurrency if concurrency is not None else _width(plan)
    total = len(plan.rows) * len(plan.metrics)
    so_far: list[Result] = []
    with Progress(total) if progress else nullcontext() as shown:

        def note(result: Result) -> None:
            so_far.append(result)
            if shown is not None:
                shown.advance(failed=isinstance(result.outcome, Failed))

        try:
            results = await run_metrics(plan.rows, plan.metrics, concurrency=width, on_result=note)
        except RunStopped as stop:
            # A recording that is missing costs nothing to look for again: nothing to keep.
            kept = not isinstance(stop.error, RecordingError)
            path = target.partial(stop.results, str(stop.error)) if kept else None
            raise RunStopped(stop.error, stop.results, stop.total, path) from stop.error
        except asyncio.CancelledError as cancelled:
            path = target.partial(so_far, "interrupted")
            if path is not None:
                cancelled.add_note(f"the partial run is in {path}; the same command goes on")
            raise
    headlines, manifest, path = target.whole(results)
    return RunResult(headlines, results, manifest, path)


def _width(plan: Plan) -> int:
    """Twice what the judges can have under way: some wait between two tries meanwhile."""
    return 2 * max(judge.limits.concurrency or MOST for judge in plan.judges)
