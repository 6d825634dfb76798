"""The judge of a measurement: slow calls are waited for."""

from __future__ import annotations

import argparse
import os

from ragas_judge.judge import Judge, RetryPolicy
from ragas_judge.judge.errors import SetupError


def patient_judge(options: argparse.Namespace, *, asks: bool = True) -> Judge:
    """The model that the options name.

    Patience is off: a second try beside a slow first one would spoil the times.

    Args:
        options: judge, base_url, api_key_env, temperature, max_tokens, concurrency, cache, timeout.
        asks: False where nobody is to be asked: then it needs no key and opens no cache.

    Raises:
        SetupError: there is no key.
    """
    key = os.environ.get(options.api_key_env)
    if asks and not key:
        name = options.api_key_env
        raise SetupError(f"{name} is not set; set it (to any text for a server without keys)")
    return Judge(
        options.judge,
        base_url=options.base_url,
        api_key=key or None,
        temperature=options.temperature,
        max_tokens=options.max_tokens,
        concurrency=options.concurrency,
        cache=options.cache if asks else None,
        retry=RetryPolicy(
            attempt_timeout=options.timeout, budget=3 * options.timeout, patience=None
        ),
    )
