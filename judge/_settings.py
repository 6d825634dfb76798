"""What a judge may be told: its sampling parameters, checked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ._secrets import keys_among
from .errors import SetupError

OWN = frozenset(("model", "messages", "stream", "response_format", "n"))
"""Parameters that are never the caller's."""
OF_CLIENT = frozenset(("api_key", "extra_headers", "extra_query", "timeout"))
"""Arguments that belong to the client: as sampling parameters they would be recorded."""


def sampling_of(
    temperature: float | None, max_tokens: int | None, seed: int | None, extra: Mapping[str, Any]
) -> dict[str, Any]:
    """The sampling parameters of a judge; those that are None are not sent.

    Raises:
        SetupError: one makes no sense, or is not the caller's to set.

    >>> sampling_of(0.0, None, 7, {"top_k": 1})
    {'temperature': 0.0, 'seed': 7, 'top_k': 1}
    """
    if temperature is not None and not (math.isfinite(temperature) and temperature >= 0):
        raise SetupError(f"temperature is a number of at least 0, not {temperature!r}")
    if max_tokens is not None and (not isinstance(max_tokens, int) or max_tokens < 1):
        raise SetupError(f"max_tokens is a whole number of at least 1, not {max_tokens!r}")
    _check_extra(extra)
    named = {"temperature": temperature, "max_tokens": max_tokens, "seed": seed}
    return {**{name: value for name, value in named.items() if value is not None}, **extra}


def check_reasks(max_reasks: int) -> None:
    """Refuse a number of re-asks that makes no sense.

    Raises:
        SetupError: it is no whole number, or below 0.
    """
    if not isinstance(max_reasks, int) or max_reasks < 0:
        raise SetupError(f"max_reasks is a whole number of at least 0, not {max_reasks!r}")


def _check_extra(extra: Mapping[str, Any]) -> None:
    taken = sorted(OWN & set(extra))
    if taken:
        raise SetupError(f"extra= cannot hold {', '.join(taken)}: the judge sets them itself")
    hidden = sorted({*(OF_CLIENT & set(extra)), *keys_among(extra)})
    if hidden:
        raise SetupError(
            f"extra= cannot hold {', '.join(hidden)}: it would be recorded; pass a client= that"
            " carries it"
        )
