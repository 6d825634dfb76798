"""The command line. Commands parse, call the library and show; here errors become one line."""

from __future__ import annotations

import logging
import sys
import traceback
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from ..prompts.errors import EvaluatorError
from .cli_audit import audit_app
from .cli_evaluate import evaluate_command
from .cli_plan import plan_command
from .exits import INPUT, INTERRUPTED, exit_code

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

NAME = "ragas-judge"
USAGE_ERROR: type[Exception] = next(
    cls for cls in typer.BadParameter.__mro__ if cls.__name__ == "ClickException"
)
"""What a wrong command line raises: click's own class, which newer versions of typer carry."""

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
app.command("evaluate")(evaluate_command)
app.command("plan")(plan_command)
app.add_typer(audit_app, name="audit")


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(NAME, version(NAME))
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show it.")
    ] = False,
) -> None:
    """Score RAG answers with a judge; every score is right or marked, and shows its evidence."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code.

    0: all is well. 2: something is wrong with the input or the settings. 3: the judge is not
    there or does not answer usably. 4: a limit of tokens or money is reached. 130: interrupted.
    An error is one line on stderr; a traceback comes only with ``--debug``.

    Args:
        argv: the arguments; those of the process when None.
    """
    arguments = list(sys.argv[1:] if argv is None else argv) or ["--help"]
    debug = "--debug" in arguments
    try:
        with _quiet(debug):
            return app(arguments, prog_name=NAME, standalone_mode=False) or 0
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except USAGE_ERROR as error:
        return _fail(error.format_message(), INPUT)  # type: ignore[attr-defined]
    except OSError as error:  # a name too long, a full disk, a closed pipe
        if debug:
            traceback.print_exc()
        return _fail(str(error), INPUT)
    except EvaluatorError as error:
        if debug:
            traceback.print_exc()
        return _fail(str(error), exit_code(error))


def _fail(message: str, code: int) -> int:
    print(f"{NAME}: error: {' '.join(message.split())}", file=sys.stderr)
    return code


@contextmanager
def _quiet(debug: bool) -> Iterator[None]:
    """Keep other packages' log messages and warnings from the screen, unless debugging."""
    if debug:
        yield
        return
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
