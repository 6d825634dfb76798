"""Exit codes: 0 well, 2 the caller's input or settings, 3 the judge, 4 a limit, 130 interrupted."""

from __future__ import annotations

from .errors import RunStopped

INPUT = 2
JUDGE = 3
BUDGET = 4
INTERRUPTED = 130


def exit_code(error: Exception) -> int:
    """The exit code that says whose matter an error is; 0 for an error that is not ours.

    >>> from ragas_judge.judge.errors import InputError, JudgeAuthError
    >>> exit_code(InputError("row 3")), exit_code(JudgeAuthError("refused"))
    (2, 3)
    """
    # Here, since the command line reads the numbers before it needs a judge.
    from ..judge.errors import BudgetError, EmbeddingError, EvaluatorError, JudgeError, ReplyError

    if isinstance(error, RunStopped):
        return exit_code(error.error)
    if isinstance(error, JudgeError | ReplyError | EmbeddingError):
        return JUDGE
    if isinstance(error, BudgetError):
        return BUDGET
    return INPUT if isinstance(error, EvaluatorError) else 0
