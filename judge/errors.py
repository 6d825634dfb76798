"""Every error of ragas-judge, grouped by who can mend it.

EvaluatorError
├── InputError                    the caller's data: names row, column and what to do
├── PromptError                   prompt files (defined in ragas_judge.prompts.errors)
│   ├── MissingVariableError
│   └── PromptChangedError
├── SetupError                    the caller's settings: no model, no key, a package missing
├── JudgeError                    the service behind the judge
│   ├── JudgeAuthError            key refused
│   ├── JudgeQuotaError           the account has no money or quota left
│   ├── JudgeRequestError         the service refuses the request as it is
│   ├── JudgeRateLimitError       (retried) too many requests
│   ├── JudgeUnavailableError     (retried) 5xx, or what came is no reply
│   ├── JudgeUnreachableError     (retried) no connection
│   └── JudgeTimeoutError         (retried) no reply in time
├── ReplyError                    what the model said
│   ├── TruncatedReplyError       stopped at the length limit
│   ├── FilteredReplyError        stopped by a content filter
│   ├── UnreadableReplyError      empty, or no JSON object of the asked form in it
│   └── IncompleteVerdictsError   some items have no verdict after all re-asks
├── BudgetError                   the caller's own limit of tokens or money is reached
├── CacheError                    the cache file cannot be used
├── EmbeddingError                vectors of no length, no direction or the wrong number
└── RecordingError                recordings on disk
    ├── RecordingMissingError     replay: this request was not recorded
    └── RecordingFormatError      a file is not a recording of a known format
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..prompts.errors import (
    EvaluatorError,
    MissingVariableError,
    PromptChangedError,
    PromptError,
)

__all__ = [
    "BudgetError",
    "CacheError",
    "EmbeddingError",
    "EvaluatorError",
    "FilteredReplyError",
    "IncompleteVerdictsError",
    "InputError",
    "JudgeAuthError",
    "JudgeError",
    "JudgeQuotaError",
    "JudgeRateLimitError",
    "JudgeRequestError",
    "JudgeTimeoutError",
    "JudgeUnavailableError",
    "JudgeUnreachableError",
    "MissingVariableError",
    "PromptChangedError",
    "PromptError",
    "RecordingError",
    "RecordingFormatError",
    "RecordingMissingError",
    "ReplyError",
    "SetupError",
    "TruncatedReplyError",
    "UnreadableReplyError",
]


class InputError(EvaluatorError):
    """The data handed in is not usable; the text names row and column."""


class SetupError(EvaluatorError):
    """A setting is missing or wrong, before any call was made."""


class JudgeError(EvaluatorError):
    """The service behind the judge did not answer as asked.

    Attributes:
        status: HTTP status where there was one.
        retry_after: seconds the service asked to wait, where it did.
        remembered: no call was made: one a moment ago had ended like this.
    """

    remembered = False

    def __init__(
        self, message: str, *, status: int | None = None, retry_after: float | None = None
    ) -> None:
        """Keep the status and the wait the service asked for."""
        super().__init__(message)
        self.status, self.retry_after = status, retry_after

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle with the attributes."""
        return _rebuild, (type(self), self.args, self.__dict__)


class JudgeAuthError(JudgeError):
    """The key is missing or refused."""


class JudgeQuotaError(JudgeError):
    """The account has no quota left: waiting does not help."""


class JudgeRequestError(JudgeError):
    """The service refuses this request; the same one would be refused again."""


class JudgeRateLimitError(JudgeError):
    """Too many requests at once."""


class JudgeUnavailableError(JudgeError):
    """The service failed on its side (5xx), or what it sent is no reply."""


class JudgeUnreachableError(JudgeError):
    """No connection to the service."""


class JudgeTimeoutError(JudgeError):
    """No reply within the time allowed."""


class ReplyError(EvaluatorError):
    """The model replied, but the reply cannot be used.

    Attributes:
        raw: the reply's text as it came.
    """

    def __init__(self, message: str, *, raw: str = "") -> None:
        """Keep the raw reply."""
        super().__init__(message)
        self.raw = raw

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle with the attributes."""
        return _rebuild, (type(self), self.args, self.__dict__)


class TruncatedReplyError(ReplyError):
    """The reply was cut at the length limit."""


class FilteredReplyError(ReplyError):
    """A content filter stopped the reply."""


class UnreadableReplyError(ReplyError):
    """The reply is empty, or holds no JSON object of the form asked for."""


class IncompleteVerdictsError(ReplyError):
    """Items without a usable answer are left after all re-asks."""

    def __init__(self, missing: Sequence[str], total: int, *, raw: str = "") -> None:
        """Name the ids that are missing."""
        said = f"; the last reply began {raw[:60]!r}" if len(missing) == total else ""
        super().__init__(
            f"incomplete verdicts: {total - len(missing)} of {total} items answered,"
            f" missing {', '.join(missing)}{said}",
            raw=raw,
        )
        self.missing, self.total = tuple(missing), total


class BudgetError(EvaluatorError):
    """Going on could exceed the limit of tokens or money that the caller has set."""


class CacheError(EvaluatorError):
    """A cache file is not one of ours, or the disk refuses."""


class EmbeddingError(EvaluatorError):
    """The embedder returned vectors that cannot be compared."""


class RecordingError(EvaluatorError):
    """Something about recordings on disk."""


class RecordingMissingError(RecordingError):
    """Replay was asked for a request that is not among the recordings."""


class RecordingFormatError(RecordingError):
    """A file among the recordings is not one of a format known here."""


def _rebuild(cls: type[EvaluatorError], args: tuple[Any, ...], state: dict[str, Any]) -> Any:
    error = cls.__new__(cls)
    error.args = args
    error.__dict__.update(state)
    return error
