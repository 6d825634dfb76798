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


class Language(StrEnum):
    """Which prompt pack."""

    EN = "en"
    ZH = "zh"
    AUTO = "auto"


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
Concurrency = Annotated[int, typer.Option("--concurrency", min=1, help="Calls at once.")]
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
