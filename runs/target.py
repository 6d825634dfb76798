"""Where a run's results go, and what keeps its replies on the way there."""

from __future__ import annotations

import copy
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..judge import Cache
from ..judge.errors import InputError
from .dataset import dataset_hash
from .journal import journal
from .manifest import Plan, build_manifest, headlines_of
from .store import is_partial, read_manifest, write_run

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    from ..judge import Budget, Judge
    from .journal import Journal
    from .runner import Result
    from .summary import Headline


@dataclass(frozen=True)
class Target:
    """Where results go."""

    plan: Plan
    out: str | os.PathLike[str] | None
    overwrite: bool

    def whole(
        self, results: Sequence[Result]
    ) -> tuple[Sequence[Headline], dict[str, Any], Path | None]:
        """Headlines and manifest of a run, written where that was asked for."""
        headlines = headlines_of(self.plan, results)
        manifest = build_manifest(self.plan, results, headlines)
        path = None
        if self.out is not None:
            path = write_run(self.out, manifest, results, overwrite=self.overwrite)
        return headlines, manifest, path

    def partial(self, results: Sequence[Result], reason: str) -> Path | None:
        """Write what there is, in row and metric order, if any call in it was answered."""
        if self.out is None or not any(r.outcome.evidence.calls for r in results):
            return None
        rank = {row.id: number for number, row in enumerate(self.plan.rows)}
        order = {metric.name: number for number, metric in enumerate(self.plan.metrics)}
        ordered = sorted(results, key=lambda r: (rank[r.row], order[r.metric]))
        headlines = headlines_of(self.plan, ordered)
        stopped = " ".join(reason.split())
        manifest = build_manifest(self.plan, ordered, headlines, stopped=stopped)
        return write_run(self.out, manifest, ordered, overwrite=self.overwrite)


def check_same_dataset(out: str | os.PathLike[str], plan: Plan) -> None:
    """A partial run is replaced without being asked only by a run of the same rows.

    Raises:
        InputError: it is a partial run of another dataset.
    """
    folder = Path(out)
    manifest = read_manifest(folder) if is_partial(folder) else None
    if manifest is None:
        return
    if manifest.get("dataset", {}).get("sha256") != dataset_hash(plan.rows):
        raise InputError(
            f"{folder}: holds a partial run of another dataset; choose another folder or"
            " overwrite it"
        )


@contextmanager
def keeping(
    plan: Plan,
    *,
    cache: Cache | str | os.PathLike[str] | None,
    budget: Budget | None,
    out: str | os.PathLike[str] | None,
) -> Iterator[tuple[Plan, Journal | None]]:
    """The plan with judges that keep their replies: in ``cache``, else in a journal."""
    if cache is not None:
        with ExitStack() as opened:
            if not isinstance(cache, Cache):
                cache = opened.enter_context(closing(Cache(cache)))
            yield _with(plan, cache, budget), None
        return
    pays = any(not judge.is_replay and judge.cache is None for judge in plan.judges)
    with journal(out if pays else None) as kept:
        yield _with(plan, kept.cache if kept else None, budget), kept


def _with(plan: Plan, cache: Cache | None, budget: Budget | None) -> Plan:
    """The plan with copies of its metrics, whose judges have this cache and budget."""
    judges: dict[Judge, Judge] = {
        judge: judge.completed(cache=cache, budget=budget) for judge in plan.judges
    }
    metrics = []
    for metric in plan.metrics:
        bound = copy.copy(metric)
        bound.llm = judges[metric.llm]
        metrics.append(bound)
    shared = plan.judge and judges.get(plan.judge, plan.judge)
    return replace(plan, metrics=metrics, judge=shared)
