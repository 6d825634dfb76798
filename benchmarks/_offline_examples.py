"""Labelled rows as examples for the offline judge: a label and named features each."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from ragas_judge.judge import EmbeddedE5
from ragas_judge.metrics.offline import usefulness
from ragas_judge.metrics.offline.deciding import texts_needed
from ragas_judge.metrics.offline.features import Comparison, features, is_chinese
from ragas_judge.metrics.offline.material import Material, dot
from ragas_judge.metrics.offline.phrases import states_something
from ragas_judge.metrics.offline.steps import stand_ins
from ragas_judge.metrics.offline.words import tokens
from ragas_judge.metrics.sentences import split_sentences

COMMON = 20
"""A question that so many rows share is an instruction, and joins nothing."""


@dataclass(frozen=True)
class Example:
    """One labelled thing: its set, the item it came from, its model and its features."""

    name: str
    group: str
    model: str
    label: int
    values: dict[str, float]
    cover: float
    whole: str = ""
    """For parts of one row: which row, so that they can be put together."""


def set_name(file: Path) -> str:
    return file.name.removesuffix(".jsonl").removesuffix(".dev")


def groups(rows: Sequence[dict[str, Any]]) -> list[str]:
    """For each row of all sets one name, shared by rows that a context or a question joins."""
    asked_by = Counter(row.get("user_input") for row in rows)
    parent: dict[str, str] = {}

    def root(key: str) -> str:
        while parent.setdefault(key, key) != key:
            key = parent[key]
        return key

    keys = []
    for row in rows:
        asked = (row.get("labels") or {}).get("question") or row.get("user_input")
        shared = [f"c {text}" for text in row.get("retrieved_contexts") or ()]
        if asked and asked_by[asked] < COMMON:
            shared.append(f"q {asked}")
        for key in shared[1:]:
            parent[root(key)] = root(shared[0])
        keys.append(shared[0])
    return [hashlib.sha256(root(key).encode()).hexdigest()[:12] for key in keys]


class Vectors(dict[str, list[float]]):
    """Vectors by text, kept in a file of numbers and hashes between runs."""

    def __init__(self, file: Path | None) -> None:
        super().__init__()
        self.file, self.kept = file, dict[str, list[float]]()
        if file and file.is_file():
            with np.load(file) as stored:
                self.kept = dict(zip(stored["keys"], stored["vectors"].tolist(), strict=True))

    def need(self, texts: Iterable[str]) -> Vectors:
        hashes = {text: hashlib.sha256(text.encode()).hexdigest() for text in texts}
        new = [text for text, key in hashes.items() if key not in self.kept]
        for text, vector in zip(new, asyncio.run(EmbeddedE5().embed(new)), strict=True):
            self.kept[hashes[text]] = vector
        self.clear()
        self.update({text: self.kept[key] for text, key in hashes.items()})
        return self

    def save(self) -> None:
        if self.file and self.kept:
            np.savez(self.file, keys=list(self.kept), vectors=list(self.kept.values()))


def plain_cover(claim: str, contexts: Sequence[str]) -> float:
    """The trivial rule: share of the claim's words (of Chinese: pairs) in the contexts."""

    def parts(text: str) -> set[str]:
        keys = [(token.key, token.han) for token in tokens(text)]
        pairs = {a + b for (a, x), (b, y) in pairwise(keys) if x and y}
        return pairs | {key for key, han in keys if not han}

    wanted = parts(claim)
    return len(wanted & set().union(*map(parts, contexts))) / max(1, len(wanted))


def claims_of(row: dict[str, Any]) -> list[tuple[str, int]]:
    """The claims of a row and their labels; of a response each sentence has the whole's label."""
    labels = row.get("labels") or {}
    if row.get("claim"):
        return [(row["claim"], int(row["label"]))]
    if "supported" in labels:
        return list(zip(labels["reference_sentences"], map(int, labels["supported"]), strict=True))
    sentences = split_sentences(row["response"], row["lang"])
    stating = [sentence for sentence in sentences if states_something(sentence)] or sentences
    return [(sentence, int(row["label"])) for sentence in stating]


def read(files: Sequence[Path], vectors: Vectors) -> list[Example]:
    sets = [(file, [json.loads(x) for x in file.read_text("utf-8").splitlines()]) for file in files]
    names = iter(groups([row for _, rows in sets for row in rows]))
    found = []
    for file, rows in sets:
        has_reference = all(row.get("reference") for row in rows)
        for row, group in zip(rows, names, strict=False):
            if "relevant" in (row.get("labels") or {}):
                found += context_examples(file, row, group, vectors, has_reference)
            else:
                found += claim_examples(file, row, group, vectors)
        vectors.save()
    return found


def claim_examples(file: Path, row: dict[str, Any], group: str, vectors: Vectors) -> list[Example]:
    contexts = row["retrieved_contexts"]
    material = Material(dict(enumerate(contexts, start=1)), row["lang"])
    claims = claims_of(row)
    vectors.need(texts_needed([claim for claim, _ in claims], material))
    found = []
    for claim, label in claims:
        comparison = Comparison.of(claim, row.get("user_input") or "", material, vectors)
        values = features(comparison, vectors)
        model = "support zh" if is_chinese(claim) else "support en"
        cover = plain_cover(claim, contexts)
        found.append(Example(set_name(file), group, model, label, values, cover, row["id"]))
    return found


def context_examples(
    file: Path, row: dict[str, Any], group: str, vectors: Vectors, has_reference: bool
) -> list[Example]:
    question = row["user_input"]
    answer = row["reference"] if has_reference else ""
    texts = row["retrieved_contexts"]
    contexts = [Material({1: text}, row["lang"]) for text in texts]
    vectors.need(usefulness.texts_needed(question, answer, contexts))
    values = usefulness.usefulness_features(question, answer, contexts, vectors)
    return [
        Example(set_name(file), group, "usefulness", label, each, plain_cover(question, [text]))
        for label, each, text in zip(row["labels"]["relevant"], values, texts, strict=True)
    ]


def pairs_told_apart(file: Path, vectors: Vectors) -> list[bool]:
    """Of pairs of responses: is the mean cosine of the better one's stand-ins the higher?"""
    right = []
    for row in (json.loads(line) for line in file.read_text("utf-8").splitlines()):
        texts = [stand_ins(response, row["lang"]) for response in row["responses"]]
        vectors.need([row["user_input"], *texts[0], *texts[1]])
        asked = vectors[row["user_input"]]
        means = [sum(dot(asked, vectors[text]) for text in each) / len(each) for each in texts]
        right.append((means[1] > means[0]) == bool(row["label"]))
    vectors.save()
    return right
