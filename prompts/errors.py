"""The root of every error of this package, and the errors of prompt files.

The tree as a whole is drawn in ``ragas_judge.judge.errors``.
"""


class EvaluatorError(Exception):
    """Anything that goes wrong in ragas-judge; its text is one line for a person."""


class PromptError(EvaluatorError):
    """A prompt file is missing, malformed or not the one that was released."""


class MissingVariableError(PromptError):
    """A prompt was rendered without one of its variables, or with one it does not know."""

    def __init__(self, prompt_id: str, names: list[str], problem: str) -> None:
        """Name the prompt and the variables that are missing or unknown."""
        super().__init__(f"prompt {prompt_id}: {problem} variable(s): {', '.join(names)}")
        self.prompt_id, self.names, self.problem = prompt_id, names, problem

    def __reduce__(self) -> tuple[type, tuple[str, list[str], str]]:
        """Pickle by the constructor's own arguments."""
        return type(self), (self.prompt_id, self.names, self.problem)


class PromptChangedError(PromptError):
    """A released prompt file is not what the lock file says."""
