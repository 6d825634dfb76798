"""``ragas-judge audit``: what the judge itself can be talked into."""

import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import cli_options as options
from .cli_say import say
from .exits import JUDGE

if TYPE_CHECKING:
    from ..judge import Judge
    from .injection import Kept, Method, Report

audit_app = typer.Typer(rich_markup_mode=None, help="Test the judge itself.")


class Other(StrEnum):
    """What to compare with."""

    RAGAS = "ragas"


class Way(StrEnum):
    """How claims are checked."""

    BATCHED = "batched"
    PER_CLAIM = "per_claim"
    PER_CONTEXT = "per_context"
    PROBABILITY = "probability"


Limit = Annotated[int | None, typer.Option("--limit", min=1, help="Only so many attacks.")]
Against = Annotated[
    Other | None,
    typer.Option(
        "--against",
        help="The same attacks through ragas' own prompts, too.",
        show_default=False,
    ),
]
Verification = Annotated[
    list[Way] | None,
    typer.Option(
        "--verification",
        help="How claims are checked; several times for several; else the metrics' own way.",
        show_default=False,
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="FILE",
        help="Keeps each verdict as a JSON line; the same command goes on with them.",
        show_default=False,
    ),
]


@audit_app.command("injection")
def injection_command(
    *,
    model: options.Model = None,
    base_url: options.BaseUrl = None,
    api_key_env: options.ApiKeyEnv = "OPENAI_API_KEY",
    recordings: options.RecordingsDir = None,
    mode: options.RecordingsMode = None,
    limit: Limit = None,
    verification: Verification = None,
    against: Against = None,
    out: Out = None,
    concurrency: options.Concurrency = None,
    rpm: options.Rpm = None,
    tpm: options.Tpm = None,
    temperature: options.Temperature = None,
    max_tokens: options.MaxTokens = None,
    seed: options.Seed = None,
    as_json: options.Json = False,
    debug: options.Debug = False,
) -> int:
    """Plant orders and forged verdicts in answers and contexts; tell which verdicts move."""
    from .cli_judge import JudgeOptions, make_judge

    judge = make_judge(
        JudgeOptions(
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
        )
    )
    judge.check()  # before ragas is loaded
    report = _audit(judge, list(dict.fromkeys(verification or [])), against, limit, out)
    _show(report, as_json=as_json)
    return _verdict(report)


def _audit(
    judge: "Judge", ways: list[Way], against: Other | None, limit: int | None, out: Path | None
) -> "Report":
    """Run it; when it ends early, say what is kept."""
    from ..judge.errors import EvaluatorError
    from .injection import Kept, audit

    kept = Kept(out)
    if len(kept):
        print(f"{len(kept)} verdicts are in {out} already", file=sys.stderr)
    try:
        return audit(_methods(judge, ways, against), limit=limit, kept=kept, progress=True)
    except (EvaluatorError, KeyboardInterrupt):
        _tell_kept(kept)
        raise


def _methods(judge: "Judge", ways: list[Way], against: Other | None) -> "list[Method]":
    """Ours in each way, and last what they are compared with."""
    from ..metrics.verification import DEFAULT, Verification
    from .injection import Ours

    hows = [Verification.of(method=way.value) for way in ways] or [DEFAULT]
    methods: list[Method] = [Ours(judge, how, name=how.method) for how in hows]
    if against is not None:
        from .injection.ragas_method import Ragas

        methods.append(Ragas(judge))
    return methods


def _tell_kept(kept: "Kept") -> None:
    said = "nothing is kept; name a file with --out"
    if kept.path is not None:
        said = f"{len(kept)} verdicts are in {kept.path}; the same command goes on with them"
    print(f"ragas-judge: ended early; {said}", file=sys.stderr)


def _show(report: "Report", *, as_json: bool) -> None:
    """The table on stdout; with ``--json`` the report there and the table on stderr."""
    from rich.console import Console

    from .injection.tables import remarks, report_table

    console = Console(stderr=as_json)
    console.print(report_table(report))
    for remark in remarks(report):
        say(console, remark)
    if as_json:
        print(json.dumps(report.to_dict(), ensure_ascii=False, allow_nan=False))


def _verdict(report: "Report") -> int:
    """0, whatever moved; the judge's code when no clean row at all got a verdict."""
    trials = [trial for each in report.tried for trial in each.trials]
    if any(trial.clean.verdict is not None for trial in trials):
        return 0
    said = f"no clean row was judged; the first: {trials[0].clean.error}"
    print(f"ragas-judge: error: {said}", file=sys.stderr)
    return JUDGE
