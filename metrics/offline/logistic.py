"""A fitted logistic regression: names and numbers from a JSON file, and four lines to apply it.

    probability = 1 / (1 + exp(-(intercept + sum of weight * value)))

The file is made by ``benchmarks/fit_offline.py``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

FILE = "coefficients.json"


@dataclass(frozen=True)
class Logistic:
    """One fitted model.

    Attributes:
        intercept: of the sum.
        weights: by name of feature; features that are not named here do not count.
    """

    intercept: float
    weights: Mapping[str, float]

    def probability(self, values: Mapping[str, float]) -> float:
        """The probability for one set of features, between 0 and 1.

        Raises:
            KeyError: a feature is missing.

        >>> round(Logistic(-1.0, {"cover": 2.0}).probability({"cover": 0.9, "length": 7}), 3)
        0.69
        """
        total = self.intercept
        total += sum(weight * values[name] for name, weight in self.weights.items())
        return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, total))))


@cache
def fitted(name: str) -> Logistic:
    """A model of the shipped file: ``"support en"``, ``"support zh"`` or ``"usefulness"``.

    Raises:
        KeyError: there is none of that name.
    """
    shipped = json.loads(files(__package__).joinpath(FILE).read_text("utf-8"))
    model = shipped["models"][name]
    return Logistic(model["intercept"], model["weights"])
