"""What faithfulness and context recall share: claims that are checked against contexts."""

from __future__ import annotations

from typing import Any

from .base import JudgedMetric
from .run import Run
from .verification import Method, Quotes, Verification


class ClaimMetric(JudgedMetric):
    """Base of the metrics that check claims.

    Args:
        llm, name, language, on_failure: as for ``JudgedMetric``.
        verification: how claims are checked: ``"batched"``, ``"per_claim"``,
            ``"per_context"`` or ``"probability"``; see ``Verification``.
        votes: how often each question is asked.
        quotes: where the deciding words come from; None: the method's usual way.
        threshold: probability above which a claim counts as supported.
        cascade: ``(low, high)``: claims that the offline judge is surer of than that are not
            sent to the model.

    Raises:
        SetupError: an option is not one of those offered, or two do not go together.
    """

    def __init__(
        self,
        llm: Any = None,
        *,
        verification: Method = "batched",
        votes: int = 1,
        quotes: Quotes | None = None,
        threshold: float = 0.5,
        cascade: tuple[float, float] | None = None,
        **settings: Any,
    ) -> None:
        """Keep the settings."""
        super().__init__(llm, **settings)
        self.verification = Verification.of(
            method=verification, votes=votes, quotes=quotes, threshold=threshold, cascade=cascade
        )

    def _options(self) -> dict[str, Any]:
        return {**super()._options(), **self.verification.options()}

    @staticmethod
    def _how(run: Run) -> Verification:
        """The way to check claims that was bound with the run."""
        return Verification.from_options(run.options)
