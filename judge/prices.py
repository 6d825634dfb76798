"""What a model's tokens cost: a small list that is shipped, and a file of the user's own.

    Prices.load().price("gpt-4.1-mini-2025-04-14")      -> that of gpt-4.1-mini
    Prices.load("my-prices.toml")                       its entries go before those shipped

Public lists are larger and newer, but they find a price by likeness of names; here a name is in
the list or its cost is unknown, and one readable file, which a user can correct, says all.
"""

from __future__ import annotations

import math
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from .errors import SetupError
from .types import Usage

SHIPPED = Path(__file__).with_name("prices.toml")
MILLION = 1_000_000
FIELDS = ("input", "output", "cached_input")
ROUTES = frozenset({
    "anthropic", "azure", "dashscope", "gemini", "google", "mistral", "mistralai", "models",
    "openai", "vertex_ai",
})  # fmt: skip
"""What may stand before a name, with a slash: who serves it, at the price of the maker's list."""
_DATED = re.compile(r"(?:-(?:\d{4}-\d\d-\d\d|\d{8}|\d{4}|\d{3}|latest)|@\d{8})$")
_CLASS = re.compile(r"^\w*embeddings?:")


@dataclass(frozen=True)
class Price:
    """US dollars for a million tokens.

    Attributes:
        model: the name in the list.
        input: for tokens of a request.
        output: for tokens of a reply; None for an embedding model.
        cached_input: for tokens of a request that the service had in its prompt cache; None
            where there is no such price.
    """

    model: str
    input: float
    output: float | None = None
    cached_input: float | None = None


@dataclass(frozen=True)
class Prices:
    """A list of prices.

    Attributes:
        by_model: name in small letters -> price.
        origin: which list that is and of what day, in words.

    >>> prices = Prices.load()
    >>> prices.price("openai/gpt-4.1-mini-2025-04-14").model
    'gpt-4.1-mini'
    >>> prices.cost("gpt-4.1-mini", Usage(1_000_000, 500_000))      # 0.40 + 1.60 / 2
    1.2
    >>> prices.cost("gpt-4.1-medium", Usage(10, 10)) is None
    True
    """

    by_model: Mapping[str, Price]
    origin: str

    @classmethod
    def load(cls, path: str | os.PathLike[str] | None = None) -> Prices:
        """The list that is shipped, with the entries of a file of the same form before them.

        Args:
            path: that file.

        Raises:
            SetupError: it is not there, not TOML, or an entry is wrong; the text names file,
                model and key.
        """
        shipped, day = _read(SHIPPED)
        origin = f"the list of {day} that is shipped"
        if path is None:
            return cls(shipped, origin)
        own, day = _read(Path(path))
        dated = f"{path} of {day}" if day else str(path)
        return cls({**shipped, **own}, f"{dated}, then {origin}")

    def price(self, model: str) -> Price | None:
        """The price of a model, or None when it is not known.

        The name as it is; then without what serves it (``openai/``) and without the date or
        ``latest`` at its end. Nothing else is cut off: another word in a name, such as ``mini``,
        is another model with a price of its own. Of an embedder that is named by its class, too
        (``OpenAIEmbeddings:…``), only the model counts.
        """
        name = _CLASS.sub("", model.strip().lower())
        route, slash, bare = name.rpartition("/")
        names = [name, bare] if slash and route in ROUTES else [name]
        names += [_DATED.sub("", each) for each in names]
        return next((self.by_model[each] for each in names if each in self.by_model), None)

    def cost(self, model: str, usage: Usage) -> float | None:
        """US dollars, or None when the price or the number of tokens is not known.

        What a service charges less for, such as tokens in its prompt cache, counts in full.

        Args:
            model: which was asked.
            usage: tokens of the request and the reply; for embeddings the output is 0.
        """
        price = self.price(model)
        if price is None or usage.input is None or usage.output is None:
            return None
        if price.output is None and usage.output:
            return None
        return (usage.input * price.input + usage.output * (price.output or 0.0)) / MILLION


def _read(path: Path) -> tuple[dict[str, Price], date | None]:
    """The entries of a file and its day."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise SetupError(f"{path}: cannot be read: {error.strerror}") from error
    except ValueError as error:  # not TOML, or not UTF-8
        raise SetupError(f"{path}: not a TOML file: {error}") from None
    day = data.pop("as_of", None)
    if day is not None and type(day) is not date:
        raise SetupError(f"{path}: as_of is a date such as 2026-11-30, not {day!r}")
    prices: dict[str, Price] = {}
    for provider, table in data.items():
        for model, entry in _models(path, provider, table).items():
            if model.lower() in prices:
                raise SetupError(f"{path}: model {model!r} stands there twice")
            prices[model.lower()] = _price(path, model, entry)
    return prices, day


def _models(path: Path, provider: str, table: Any) -> Mapping[str, Any]:
    """The models of one provider."""
    if not isinstance(table, dict) or not isinstance(table.get("models"), dict):
        raise SetupError(
            f"{path}: {provider!r} is not a provider with a table [{provider}.models]"
            ' of entries such as "gpt-4.1" = { input = 2.0, output = 8.0 }'
        )
    unknown = sorted(set(table) - {"source", "models"})
    if unknown:
        raise SetupError(f"{path}: provider {provider!r}: unknown key {unknown[0]!r}")
    models: Mapping[str, Any] = table["models"]
    return models


def _price(path: Path, model: str, entry: Any) -> Price:
    """One entry, checked."""
    place = f"{path}: model {model!r}"
    if not isinstance(entry, dict):
        raise SetupError(f"{place}: write an entry such as {{ input = 2.0, output = 8.0 }}")
    for key, value in entry.items():
        if key not in FIELDS:
            hint = "; put a name with a point in quotes" if isinstance(value, dict) else ""
            raise SetupError(f"{place}: unknown key {key!r}; known are {', '.join(FIELDS)}{hint}")
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not math.isfinite(value) or value < 0:
            raise SetupError(f"{place}: {key} is a number of dollars from 0 up, not {value!r}")
    if "input" not in entry:
        raise SetupError(f"{place}: no key 'input'")
    return Price(model.lower(), **{key: float(value) for key, value in entry.items()})
