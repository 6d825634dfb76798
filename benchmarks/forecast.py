"""How far off the forecast of `ragas-judge plan` is: against the recorded quickstart run.

    python benchmarks/forecast.py                        # Markdown, as in docs/cost.md
    python benchmarks/forecast.py --tiktoken o200k_base  # the token estimate against that tokenizer

The recorded counts are those of Qwen2.5's tokenizer. llama.cpp makes a grammar of the schema and
does not count it, so it is left out of the forecast here. tiktoken fetches its table when it is
first used.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path
from typing import Any

from ragas_judge.judge import Judge
from ragas_judge.judge.tokens import estimate_chat, estimate_tokens
from ragas_judge.runs import evaluate
from ragas_judge.runs.planning import plan

ROOT = Path(__file__).resolve().parent.parent
RECORDINGS = ROOT / "fixtures" / "recordings" / "quickstart"
DATASET = ROOT / "fixtures" / "quickstart" / "dataset.jsonl"
LANGUAGES = {"en": "English", "zh": "Chinese"}


def entries() -> list[dict[str, Any]]:
    """All recordings."""
    files = sorted(RECORDINGS.glob("*/*.json"))
    return [json.loads(file.read_text(encoding="utf-8")) for file in files]


def off(estimate: float, real: float) -> str:
    """The error of an estimate, in percent of what was real."""
    return f"{estimate / real - 1:+.1%}"


def token_table() -> list[str]:
    """The estimate of the recorded texts against the tokens that were counted."""
    sums: Counter[tuple[str, str, str]] = Counter()
    for entry in entries():
        language, usage = entry["request"]["prompt"]["language"], entry["reply"]["usage"]
        messages = [message["content"] for message in entry["request"]["messages"]]
        estimates = {"input": estimate_chat(messages)}
        estimates["output"] = estimate_tokens(entry["reply"]["text"])
        for side, estimate in estimates.items():
            sums[language, side, "estimated"] += estimate
            sums[language, side, "counted"] += usage[side]
    lines = ["| texts | counted | estimated | off |", "|---|---|---|---|"]
    for language, name in LANGUAGES.items():
        for side, what in (("input", "requests"), ("output", "replies")):
            real, estimate = sums[language, side, "counted"], sums[language, side, "estimated"]
            cells = f"{real:,} | {estimate:,} | {off(estimate, real)}"
            lines.append(f"| {name} {what} | {cells} |")
    return lines


def forecast_table() -> list[str]:
    """The forecast for the quickstart set against its recorded run."""
    rows = [json.loads(line) for line in DATASET.read_text(encoding="utf-8").splitlines()]
    lines = [
        "| rows | metric | calls | of them asked again | input tokens | output tokens |",
        "|---|---|---|---|---|---|",
    ]
    for language, name in LANGUAGES.items():
        some = [row for row in rows if row["language"] == language]
        results = evaluate(some, judge=Judge.replay(RECORDINGS)).results
        for each in plan(some).metrics:
            found = [r.outcome.evidence for r in results if r.metric == each.metric]
            calls = [call for evidence in found for call in evidence.calls]
            usages = [call.reply.usage for call in calls]
            asked = {(call.prompt.id, row) for row, e in enumerate(found) for call in e.calls}
            amount = each.amount
            cells = [
                pair(amount.calls, len(calls)),
                str(len(calls) - len(asked)),
                pair(
                    amount.input_tokens - amount.schema_tokens,
                    sum(usage.input or 0 for usage in usages),
                ),
                pair(amount.output_tokens, sum(usage.output or 0 for usage in usages)),
            ]
            lines.append(f"| {name} | {each.metric} | {' | '.join(cells)} |")
    return lines


def pair(estimate: int, real: int) -> str:
    """Forecast and real number, and how far the first is off."""
    return f"{estimate:,} / {real:,} ({off(estimate, real)})"


def markdown() -> str:
    """Both tables."""
    return "\n".join([*token_table(), "", *forecast_table()])


def with_tiktoken(encoding: str) -> str:
    """The estimate of the recorded texts, each once, against another tokenizer."""
    import tiktoken

    encoder = tiktoken.get_encoding(encoding)
    texts: dict[str, set[str]] = {language: set() for language in LANGUAGES}
    for entry in entries():
        request = entry["request"]
        contents = [message["content"] for message in request["messages"]]
        texts[request["prompt"]["language"]].update([*contents, entry["reply"]["text"]])
    lines = []
    for language, name in LANGUAGES.items():
        real = sum(len(encoder.encode(text, disallowed_special=())) for text in texts[language])
        estimate = sum(map(estimate_tokens, texts[language]))
        lines.append(f"{encoding}, {name}: {estimate:,} / {real:,} ({off(estimate, real)})")
    return "\n".join(lines)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tiktoken", metavar="ENCODING")
    encoding = parser.parse_args().tiktoken
    print(with_tiktoken(encoding) if encoding else markdown())


if __name__ == "__main__":
    main()
