"""The one error that belongs to a run rather than to a row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..prompts.errors import EvaluatorError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from .runner import Result


class RunStopped(EvaluatorError):
    """A run ended early, because every further call would have ended the same way.

    Attributes:
        error: what stopped it.
        results: what was done before, in row and metric order; the one that failed included.
        total: how many results a whole run would have had.
        path: where the partial run was written, when it was.
    """

    def __init__(
        self,
        error: Exception,
        results: Sequence[Result],
        total: int,
        path: Path | None = None,
    ) -> None:
        """Say what stopped the run, how far it had come, and where that is kept."""
        scored = sum(result.outcome.status == "scored" for result in results)
        far = f" (stopped after {scored} of {total} scores" if scored else ""
        kept = f"; the partial run is in {path})" if path else ")" if far else ""
        super().__init__(f"{error}{far}{kept}")
        self.error, self.results, self.total, self.path = error, tuple(results), total, path

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by the constructor's own arguments."""
        return type(self), (self.error, self.results, self.total, self.path)
