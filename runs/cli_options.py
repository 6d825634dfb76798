"""Options that commands share, each in one place."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Mode(StrEnum):
    """What to do with recordings."""

    REPLAY = "replay"
    MISSING = "missing"
    REWRITE = "rewrite"
    OFF = "off"


class JudgeKind(StrEnum):
    """Judges that are no model."""

    OFFLINE = "offline"


class Language(StrEnum):
    """Which prompt pack."""

    EN = "en"
    ZH = "zh"
    AUTO = "auto"

    @property
    def pack(self) -> str | None:
        """Name of the prompt pack; None: by the script of each row."""
        return None if self is Language.AUTO else self.value


Dataset = Annotated[
    Path,
    typer.Argument(
        metavar="DATASET",
        help=".jsonl, .json, .csv or .parquet, or a folder written by save_to_disk.",
        show_default=False,
    ),
]
Out = Annotated[
    Path, typer.Option("--out", metavar="RUN_DIR", help="Folder to write.", show_default=False)
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace an earlier run there.")]
Metrics = Annotated[
    list[str] | None,
    typer.Option("--metrics", metavar="NAMES", help="Comma-separated, or given several times."),
]
Limit = Annotated[int | None, typer.Option("--limit", min=1, help="Only so many rows.")]
Judge = Annotated[
    JudgeKind | None,
    typer.Option("--judge", help="Without a model and a key: features of the texts decide."),
]
Model = Annotated[str | None, typer.Option("--model", help="The judge's model.")]
BaseUrl = Annotated[
    str | None, typer.Option("--base-url", help="OpenAI-compatible server; else as openai reads.")
]
ApiKeyEnv = Annotated[
    str, typer.Option("--api-key-env", metavar="NAME", help="Environment variable with the key.")
]
RecordingsDir = Annotated[
    Path | None, typer.Option("--recordings", metavar="DIR", help="Recorded replies.")
]
RecordingsMode = Annotated[
    Mode | None,
    typer.Option("--mode", help="replay when --recordings is given, else off.", show_default=False),
]
PromptLanguage = Annotated[Language, typer.Option("--language", help="Prompt pack.")]
Concurrency = Annotated[
    int | None,
    typer.Option(
        "--concurrency", min=1, help="Calls at once; found out when not given.", show_default=False
    ),
]
Rpm = Annotated[
    float | None, typer.Option("--rpm", help="Requests a minute, at most.", show_default=False)
]
Tpm = Annotated[
    float | None, typer.Option("--tpm", help="Tokens a minute, at most.", show_default=False)
]
Cache = Annotated[
    Path | None,
    typer.Option(
        "--cache",
        metavar="FILE",
        help="Keeps replies for later runs, too; else they are kept until the run is whole.",
        show_default=False,
    ),
]
MaxTokensTotal = Annotated[
    int | None,
    typer.Option("--max-tokens-total", min=1, help="Stop the run there.", show_default=False),
]
MaxCost = Annotated[
    float | None,
    typer.Option("--max-cost", metavar="USD", help="Stop the run there.", show_default=False),
]
PriceFile = Annotated[
    Path | None,
    typer.Option("--prices", metavar="FILE", help="Prices of your own.", show_default=False),
]
Temperature = Annotated[float | None, typer.Option("--temperature", help="0 unless given.")]
MaxTokens = Annotated[int | None, typer.Option("--max-tokens", min=1, help="Limit of one reply.")]
Seed = Annotated[int | None, typer.Option("--seed", help="Sent when given.")]
Embeddings = Annotated[
    str | None,
    typer.Option(
        "--embeddings", metavar="NAME", help="Embedding model of a server; else the embedded one."
    ),
]
EmbeddingsUrl = Annotated[
    str | None, typer.Option("--embeddings-url", help="Its server; else --base-url.")
]
Json = Annotated[bool, typer.Option("--json", help="Machine-readable summary on stdout.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show tracebacks and log messages.")]


def metric_names(given: list[str] | None) -> list[str] | None:
    """The names in ``--metrics``; None when it was not given.

    Raises:
        InputError: it was given without a name.

    >>> metric_names(["faithfulness, context_recall"])
    ['faithfulness', 'context_recall']
    """
    from ..judge.errors import InputError

    if not given:
        return None
    names = [name.strip() for part in given for name in part.split(",") if name.strip()]
    if not names:
        raise InputError("--metrics names no metric; leave it out for all four")
    return names
