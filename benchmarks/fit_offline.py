"""Fit the offline judge's coefficients to labelled rows, and measure it by cross-validation.

    python benchmarks/fit_offline.py DATA.jsonl… [--unseen DATA.jsonl…] [--apart NAME…] [--write]

Rows are JSON objects, one a line, with `lang`, `retrieved_contexts` and, by kind:

    claim support     `claim`, `label` (1 supported, 0 not), perhaps `user_input`
    usefulness        `user_input`, `labels.relevant` (one 0/1 a context), perhaps `reference`
    responses         `user_input`, `response`, `label` (1: all of it is supported)
    recall            `labels.reference_sentences`, `labels.supported` (one 0/1 a sentence)
    --pairs           `user_input`, `responses` (two), `label` (which is the more relevant)

A set is one file. Rows that share a context or a question stay on one side of every split. Sets
after `--unseen` are only measured. Sets named by `--apart` are fitted like the others but left out
of the means. `--write` stores the coefficients, numbers and names only, in the package.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from _offline_examples import Example, Vectors, pairs_told_apart, read
from numpy.typing import NDArray
from scipy.optimize import minimize

from ragas_judge.metrics.offline import logistic
from ragas_judge.metrics.offline.deciding import support_probability
from ragas_judge.metrics.offline.usefulness import NAMES as USEFULNESS

Array = NDArray[np.float64]
MODELS: dict[str, Sequence[str]] = {
    "support en": (
        "letters", "pieced", "lower_case", "numbers_missing", "names_missing", "denial",
    ),
    "support zh": (
        "likeness", "numbers_missing", "denies", "similarity", "denial",
    ),
    "usefulness": USEFULNESS,
}  # fmt: skip
PENALTY = 1.0
"""Of squared weights, over standardised features."""
WEIGHT = 80.0
"""Each set counts as so many examples, whatever its size."""
FOLDS, REPEATS = 5, 10


# --- fitting ---------------------------------------------------------------------------------


def fit(rows: Sequence[Example], names: Sequence[str]) -> logistic.Logistic:
    """Penalised logistic regression; weights are given for features as they are."""
    values = np.array([[row.values[name] for name in names] for row in rows])
    labels = np.array([row.label for row in rows], dtype=float)
    sizes: dict[str, int] = defaultdict(int)
    for row in rows:
        sizes[row.name] += 1
    weights = np.array([WEIGHT / sizes[row.name] for row in rows])
    middle, spread = values.mean(0), values.std(0)
    spread[spread < 1e-9] = 1.0
    scaled = np.column_stack([np.ones(len(rows)), (values - middle) / spread])
    penalty = np.array([0.0, *[PENALTY] * len(names)])

    def loss(beta: Array) -> tuple[float, Array]:
        odds = scaled @ beta
        wrong = weights * (np.logaddexp(0, odds) - labels * odds)
        slope = scaled.T @ (weights * (1 / (1 + np.exp(-odds)) - labels))
        return float(wrong.sum() + penalty @ beta**2 / 2), slope + penalty * beta

    beta = minimize(loss, np.zeros(scaled.shape[1]), jac=True, method="L-BFGS-B").x
    slopes = beta[1:] / spread
    return logistic.Logistic(
        float(beta[0] - slopes @ middle), dict(zip(names, map(float, slopes), strict=True))
    )


def probability(row: Example, model: logistic.Logistic) -> float:
    if row.model == "usefulness":
        return model.probability(row.values)
    return support_probability(row.values, model=model)


def tuned(rows: Sequence[Example]) -> float:
    """The threshold on plain cover with the best balanced accuracy."""
    values = sorted({row.cover for row in rows})
    middles = [(a + b) / 2 for a, b in pairwise(values)]
    return max([-1.0, *middles], key=lambda t: balanced([(r.label, r.cover > t) for r in rows])[0])


def balanced(pairs: Sequence[tuple[int, bool]]) -> tuple[float, float]:
    """Balanced accuracy of (label, said yes), and half of its 95% interval."""
    shares, spread = [], 0.0
    for label in (1, 0):
        right = [said == bool(label) for given, said in pairs if given == label]
        share = sum(right) / len(right) if right else math.nan
        shares.append(share)
        spread += share * (1 - share) / max(1, len(right))
    return sum(shares) / 2, 1.96 * math.sqrt(spread) / 2


def cross_validated(rows: Sequence[Example], model: str, seed: int) -> dict[str, Any]:
    """Per set the (label, model, baseline) of each example, from folds it was not fitted on."""
    random = np.random.default_rng(seed)
    items = sorted({row.group for row in rows})
    random.shuffle(items)
    fold = {item: number % FOLDS for number, item in enumerate(items)}
    said = defaultdict(list)
    for number in range(FOLDS):
        train = [row for row in rows if fold[row.group] != number]
        fitted = fit(train, MODELS[model])
        limit = {name: tuned([r for r in train if r.name == name]) for name in _sets(train)}
        for row in rows:
            if fold[row.group] == number:
                yes = probability(row, fitted) > 0.5
                said[row.name].append((row.label, yes, row.cover > limit[row.name]))
    return said


def left_out(rows: Sequence[Example], model: str) -> dict[str, Any]:
    """The same, each set judged by a fit to the other sets alone."""
    said = {}
    for name in _sets(rows):
        train = [row for row in rows if row.name != name]
        if not train:
            continue
        fitted, limit = fit(train, MODELS[model]), tuned(train)
        said[name] = [
            (row.label, probability(row, fitted) > 0.5, row.cover > limit)
            for row in rows
            if row.name == name
        ]
    return said


def _sets(rows: Sequence[Example]) -> list[str]:
    return list(dict.fromkeys(row.name for row in rows))


# --- reporting -------------------------------------------------------------------------------


def report(rows: Sequence[Example], model: str, apart: Sequence[str]) -> None:
    runs = [cross_validated(rows, model, seed) for seed in range(REPEATS)]
    alone = left_out(rows, model)
    print(f"\n{model}: balanced accuracy, {REPEATS} x {FOLDS} folds by source item")
    print(f"{'set':28}{'n':>5}{'offline':>18}{'cover, tuned':>18}{'set left out':>18}{'cover':>9}")
    means = []
    for name in _sets(rows):
        every = [triple for run in runs for triple in run[name]]
        count = len(every) // REPEATS
        cells = [_cell(every, column, REPEATS) for column in (1, 2)]
        cells += [_cell(alone[name], column, 1) for column in (1, 2)] if name in alone else []
        if not any(mark in name for mark in apart):
            means.append([cell[0] for cell in cells])
        shown = [f"{value:.3f} ±{half:.3f}" for value, half in cells]
        last = f"{cells[3][0]:9.3f}" if len(cells) > 3 else ""
        print(f"{name:28}{count:5}" + "".join(f"{text:>18}" for text in shown[:3]) + last)
    if len(means) > 1:
        columns = [f"{sum(column) / len(means):.3f}" for column in zip(*means, strict=False)]
        print(f"{'mean' + (' without the sets apart' if apart else ''):33}" + "".join(
            f"{text:>18}" for text in columns
        ))  # fmt: skip


def _cell(triples: Sequence[Any], column: int, repeats: int) -> tuple[float, float]:
    value, half = balanced([(triple[0], triple[column]) for triple in triples])
    return value, half * math.sqrt(repeats)  # repeats add no rows


def measure(rows: Sequence[Example], models: dict[str, logistic.Logistic]) -> None:
    """Sets that were not fitted: parts by themselves, and whole rows where the label is theirs."""
    print(
        f"\nunseen sets: balanced accuracy\n{'set':28}{'n':>5}{'offline':>18}{'cover, tuned':>18}"
    )
    for name in _sets(rows):
        mine = [row for row in rows if row.name == name]
        if name.startswith("resp"):
            mine = [_weakest(mine, whole, models) for whole in dict.fromkeys(r.whole for r in mine)]
        said = [(row.label, probability(row, models[row.model]) > 0.5) for row in mine]
        limit = tuned(mine)
        cells = [balanced(said), balanced([(row.label, row.cover > limit) for row in mine])]
        shown = "".join(f"{f'{value:.3f} ±{half:.3f}':>18}" for value, half in cells)
        print(f"{name:28}{len(mine):5}{shown}")
    print("(cover: its threshold is tuned on the very rows, so it is flattered)")


def _weakest(rows: Sequence[Example], whole: str, models: dict[str, logistic.Logistic]) -> Example:
    """A response is supported if its least supported sentence is."""
    parts = [row for row in rows if row.whole == whole]
    return min(parts, key=lambda row: probability(row, models[row.model]))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", nargs="+", type=Path)
    parser.add_argument("--unseen", nargs="*", default=[], type=Path, help="sets not to fit")
    parser.add_argument("--pairs", nargs="*", default=[], type=Path, help="pairs of responses")
    parser.add_argument("--apart", nargs="*", default=[], help="parts of names of sets")
    parser.add_argument("--vectors", type=Path, help="an .npz file that keeps the vectors")
    parser.add_argument("--write", action="store_true", help="store the coefficients")
    options = parser.parse_args()
    vectors = Vectors(options.vectors)
    rows = read(options.data, vectors)
    fitted: dict[str, logistic.Logistic] = {}
    for model, names in MODELS.items():
        if mine := [row for row in rows if row.model == model]:
            report(mine, model, options.apart)
            fitted[model] = fit(mine, names)
    if options.unseen:
        measure(read(options.unseen, vectors), fitted)
    for file in options.pairs:
        right = pairs_told_apart(file, vectors)
        share = sum(right) / len(right)
        half = 1.96 * math.sqrt(share * (1 - share) / len(right))
        print(f"{file.name}: {share:.3f} ±{half:.3f} of {len(right)} pairs told apart")
    if options.write:
        write(fitted)


def write(fitted: dict[str, logistic.Logistic]) -> None:
    models = {
        name: {
            "intercept": round(model.intercept, 4),
            "weights": {key: round(weight, 4) for key, weight in model.weights.items()},
        }
        for name, model in fitted.items()
    }
    folder = Path(__file__).resolve().parent.parent / "metrics" / "offline"
    text = json.dumps({"format": 1, "models": models}, indent=1, ensure_ascii=False)
    (folder / logistic.FILE).write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()
