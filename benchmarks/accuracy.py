"""How far a judge agrees with people: methods compared on labelled rows.

    python benchmarks/accuracy.py mine.jsonl --judge offline
    python benchmarks/accuracy.py mine.jsonl --judge gpt-4.1-mini \\
        --method probability --method per_claim+quotes=none --method ragas --out verdicts.jsonl

DATA are JSON lines; docs/labels.md has the fields, the methods and what each column means. A run
with --out goes on where the last one stood, and prints from the file once everything is asked.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import _shown
from _labelled import Row, plan, read_sets
from _measured import measure
from _methods import Asked, Method, parse_method
from _ours import ask_ours
from _patient import patient_judge
from _ragas_own import ask_ragas
from _verdict_file import Key, Verdicts

from ragas_judge.judge import Judge
from ragas_judge.judge.errors import EvaluatorError, SetupError
from ragas_judge.judge.loops import together
from ragas_judge.runs.exits import INTERRUPTED, exit_code
from ragas_judge.runs.progress import Progress

OFFLINE = "offline"
Question = tuple[Row, Method]


@dataclass(frozen=True)
class Comparison:
    """What is asked of whom.

    Attributes:
        sets: the rows of each set in the order in which they are asked about.
        judge: None: the offline judge alone.
        baseline: the method that the others are compared with.
    """

    sets: Mapping[str, Sequence[Row]]
    rows: Sequence[Row]
    methods: Sequence[Method]
    baseline: Method
    judge: Judge | None
    verdicts: Verdicts

    def key(self, row: Row, method: Method) -> Key:
        """Where the verdict stands."""
        if self.judge is None:
            return Key.of(row, method, OFFLINE, {})
        return Key.of(row, method, self.judge.model, self.judge.sampling)

    def missing(self, *, again: bool) -> list[Question]:
        """What is not answered; with ``again`` also what failed."""
        questions = {self.key(row, m): (row, m) for row in self.rows for m in self.methods}
        known = self.verdicts.known
        return [
            question
            for key, question in questions.items()
            if key not in known or (again and known[key].failed)
        ]

    def measure(self) -> dict[str, Any]:
        """All numbers of the verdicts known so far."""
        known = self.verdicts.known
        numbers = measure(
            list(self.sets.values()),
            self.methods,
            lambda method, row: known.get(self.key(row, method)),
            self.baseline,
        )
        judge = {"judge": OFFLINE, "sampling": {}}
        if self.judge is not None:
            judge = {"judge": self.judge.model, "sampling": dict(self.judge.sampling)}
        return judge | {"stale": self.verdicts.stale} | numbers


# --- asking --------------------------------------------------------------------------------------


async def ask(row: Row, method: Method, judge: Judge | None) -> Asked:
    """Let a method judge a row."""
    if method.kind != "ragas":
        return await ask_ours(row, method, None if method.kind == OFFLINE else judge)
    assert judge is not None
    return await ask_ragas(row, judge)


async def ask_all(
    questions: Sequence[Question],
    judge: Judge | None,
    keep: Callable[[Question, Asked], None],
    at_once: int,
) -> None:
    """Ask in the order given, so many rows at once; each answer is kept as it comes."""
    waiting = iter(questions)

    async def work() -> None:
        for row, method in waiting:
            keep((row, method), await ask(row, method, judge))

    try:
        await together(work() for _ in range(at_once))
    finally:
        if judge is not None:
            await judge.aclose()


def answer(comparison: Comparison, questions: Sequence[Question], at_once: int) -> None:
    """Ask and keep.

    Raises:
        EvaluatorError: nobody answers; what was answered before is kept.
        KeyboardInterrupt: the same.
    """
    if comparison.judge is not None:
        comparison.judge.check()
    with Progress(len(questions)) as progress:

        def keep(question: Question, asked: Asked) -> None:
            comparison.verdicts.keep(comparison.key(*question), asked)
            progress.advance(failed=bool(asked.failed))

        asyncio.run(ask_all(questions, comparison.judge, keep, at_once))


# --- the command line ----------------------------------------------------------------------------


def make_judge(options: argparse.Namespace) -> Judge | None:
    """The model that is named; None for the offline judge."""
    return None if options.judge == OFFLINE else patient_judge(options, asks=not options.print)


def compare(options: argparse.Namespace) -> Comparison:
    """What the options ask for."""
    offline = options.judge == OFFLINE
    named = options.method or [OFFLINE if offline else "batched"]
    methods = list(dict.fromkeys(map(parse_method, named)))
    if offline and any(method.kind != OFFLINE for method in methods):
        raise SetupError("--judge offline has the method offline alone; name a model for others")
    baseline = parse_method(options.baseline) if options.baseline else methods[-1]
    if baseline not in methods:
        raise SetupError(f"--baseline {options.baseline} is none of the methods")
    sets = read_sets(options.data)
    rows = plan(sets, options.limit)
    return Comparison(
        {name: [row for row in rows if row.set == name] for name in sets},
        rows,
        methods,
        baseline,
        make_judge(options),
        Verdicts.read(options.out),
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask what is missing, print what there is; the exit code."""
    warnings.simplefilter("ignore")
    logging.getLogger("ragas").setLevel(logging.CRITICAL)  # what it warns of is in the table
    options = parser().parse_args(arguments)
    stopped, code = "", 0
    try:
        comparison = compare(options)
        questions = [] if options.print else comparison.missing(again=options.again)
        if questions:
            try:
                answer(comparison, questions, options.concurrency)
            except KeyboardInterrupt:
                stopped, code = "interrupted", INTERRUPTED
            except EvaluatorError as error:
                stopped, code = f"error: {error}", exit_code(error)
        show(comparison.measure(), options)
    except EvaluatorError as error:
        stopped, code = f"error: {error}", exit_code(error)
    if stopped:
        print(stopped, file=sys.stderr)
    return code


def show(report: dict[str, Any], options: argparse.Namespace) -> None:
    """Print the tables in the form asked for."""
    if options.json:
        print(json.dumps(report, ensure_ascii=False, indent=1))
    elif options.markdown:
        print(_shown.markdown(report))
    else:
        _shown.show(report)


def parser() -> argparse.ArgumentParser:
    """The options."""
    made = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = made.add_argument
    add("data", nargs="+", type=Path, metavar="DATA", help="labelled rows, .jsonl")
    add("--judge", required=True, metavar="offline|MODEL")
    add("--base-url", metavar="URL", help="OpenAI-compatible server; else as openai reads")
    add("--api-key-env", default="OPENAI_API_KEY", metavar="NAME", help="variable with the key")
    add("--method", action="append", metavar="M", help="give several to compare them")
    add("--baseline", metavar="M", help="the method that others are compared with: the last one")
    add("--limit", type=at_least_one, metavar="N", help="so many rows a set, of all labels")
    add("--out", type=Path, metavar="FILE", help="keeps the verdicts; a second run goes on")
    add("--again", action="store_true", help="ask rows that failed once more")
    add("--print", action="store_true", help="ask nobody, print what --out holds")
    add("--cache", type=Path, metavar="FILE", help="keeps every reply: half a row is not lost")
    add("--concurrency", type=at_least_one, default=4, metavar="N", help="rows, calls at once: 4")
    add("--temperature", type=float, default=0.0)
    add("--max-tokens", type=at_least_one, metavar="N", help="limit of one reply")
    add("--timeout", type=float, default=600.0, metavar="SECONDS", help="for one call: 600")
    form = made.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="numbers on stdout")
    form.add_argument("--markdown", action="store_true")
    return made


def at_least_one(text: str) -> int:
    """A whole number from 1."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return number


if __name__ == "__main__":
    sys.exit(main())
