"""The judge that the options describe."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..judge import Budget, Judge, OpenAIEmbedder, Recordings
from ..judge.errors import SetupError
from ..judge.prices import Prices

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@dataclass(frozen=True)
class JudgeOptions:
    """What the command line says about the judge; None where it says nothing."""

    offline: bool = False
    model: str | None = None
    base_url: str | None = None
    api_key_env: str = "OPENAI_API_KEY"
    recordings: Path | None = None
    mode: str | None = None
    concurrency: int | None = None
    rpm: float | None = None
    tpm: float | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    embeddings: str | None = None
    embeddings_url: str | None = None


def make_judge(options: JudgeOptions) -> Judge:
    """The judge, with its key at hand unless it replays.

    In the modes ``replay`` and ``missing`` the model and the sampling parameters that the
    options leave open are those of the folder's ``recordings.json``, without which no
    recording would be found.

    Raises:
        SetupError: no model, no key, no recordings, or options that do not go together.
        RecordingFormatError: the recordings are of another format.
    """
    if options.offline:
        return _offline(options)
    recordings = _recordings(options)
    mode = str(recordings.mode) if recordings else "off"
    header = recordings.header if recordings and mode in ("replay", "missing") else {}
    model = options.model or header.get("model")
    if not model:
        said = f"{options.recordings}: recordings.json names no model" if header else "no model"
        raise SetupError(f"{said}; name the judge's model with --model")
    key = None if mode == "replay" else _key(options.api_key_env)
    sampling = _sampling(options, header.get("sampling"))
    return Judge(
        model,
        base_url=options.base_url,
        api_key=key,
        recordings=recordings,
        embeddings=_embedder(options, key),
        concurrency=options.concurrency,
        rpm=options.rpm,
        tpm=options.tpm,
        temperature=sampling.pop("temperature", None),
        max_tokens=sampling.pop("max_tokens", None),
        seed=sampling.pop("seed", None),
        extra=sampling,
    )


def _offline(options: JudgeOptions) -> Judge:
    from ..metrics.offline.judge import OfflineJudge

    if options.model or options.base_url or options.recordings:
        raise SetupError("--judge offline asks nobody: leave out --model, --base-url, --recordings")
    key = _key(options.api_key_env) if options.embeddings else None
    return OfflineJudge(_embedder(options, key))


def make_budget(tokens: int | None, cost: float | None, prices: Path | None) -> Budget | None:
    """The limit of a run, or None.

    Raises:
        SetupError: a limit that is not more than 0, or prices without a limit.
    """
    if tokens is None and cost is None:
        if prices is not None:
            raise SetupError("--prices is only needed with --max-cost")
        return None
    return Budget(tokens, cost, Prices.load(prices) if cost is not None else None)


def _recordings(options: JudgeOptions) -> Recordings | None:
    if options.recordings is None:
        if options.mode not in (None, "off"):
            raise SetupError(f"--mode {options.mode} needs --recordings DIR")
        return None
    return Recordings(options.recordings, mode=options.mode or "replay")


def _sampling(options: JudgeOptions, recorded: Mapping[str, Any] | None) -> dict[str, Any]:
    """Sampling parameters: as given, else as recorded, else temperature 0 alone."""
    given = {
        "temperature": options.temperature,
        "max_tokens": options.max_tokens,
        "seed": options.seed,
    }
    if options.temperature is not None and not math.isfinite(options.temperature):
        raise SetupError(f"--temperature is a number, not {options.temperature}")
    base = {"temperature": 0.0} if recorded is None else dict(recorded)
    return base | {name: value for name, value in given.items() if value is not None}


def _key(name: str) -> str:
    key = os.environ.get(name)
    if not key:
        raise SetupError(
            f"no API key: the environment variable {name} is not set; set it (to any text for a"
            " server without keys) or name another with --api-key-env"
        )
    return key


def _embedder(options: JudgeOptions, key: str | None) -> OpenAIEmbedder | None:
    if options.embeddings is None:
        if options.embeddings_url is not None:
            raise SetupError("--embeddings-url needs --embeddings NAME, the model to ask there")
        return None
    return OpenAIEmbedder(
        options.embeddings,
        base_url=options.embeddings_url or options.base_url,
        api_key=key,
    )
