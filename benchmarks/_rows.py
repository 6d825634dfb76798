"""Made-up rows: five contexts of some eighty words, answers of four sentences, references of three.

The names mean nothing, so a sentence is supported exactly where it was put into a context.
"""

from __future__ import annotations

import random
from typing import Any

VERBS = ("carries", "stores", "repairs", "measures", "grows", "sells", "paints", "guards")
NOUNS = ("barrels", "lanterns", "ropes", "maps", "seeds", "bells", "stones", "wheels", "nets")
PLACES = ("harbour", "mill", "tower", "orchard", "quarry", "bridge", "market", "ferry", "kiln")
PADDING = (
    "The yearly record for {} adds nothing of note and ends with the seal of the {} office",
    "A traveller from {} described the road along the {} at length in a letter to the council",
    "Repairs near {} went on for a season, and the {} was closed on rainy days",
    "The list kept in {} names the same families as before, beside a drawing of the {}",
)


def make_rows(count: int, seed: int = 0) -> list[dict[str, Any]]:
    """So many rows, the same for the same seed."""
    dice = random.Random(seed)
    return [_row(number, dice) for number in range(count)]


def _row(number: int, dice: random.Random) -> dict[str, Any]:
    town = _name(dice)
    facts = [_fact(town, dice) for _ in range(9)]
    contexts = [_context(town, facts[3 * i : 3 * i + 3], dice) for i in range(3)]
    contexts += [
        _context(other, [_fact(other, dice)], dice) for other in (_name(dice), _name(dice))
    ]
    dice.shuffle(contexts)
    invented = [_fact(town, dice) for _ in range(4)]
    answer = [dice.choice(facts if dice.random() < 0.7 else invented) for _ in range(4)]
    reference = [dice.choice(facts if dice.random() < 0.8 else invented) for _ in range(3)]
    return {
        "id": f"row-{number}",
        "user_input": f"What is known of {town} and its {dice.choice(PLACES)}?",
        "response": " ".join(dict.fromkeys(answer)),
        "retrieved_contexts": contexts,
        "reference": " ".join(dict.fromkeys(reference)),
    }


def _name(dice: random.Random) -> str:
    return "".join(dice.choice("bdfgklmnprst") + dice.choice("aeiou") for _ in range(4)).title()


def _fact(town: str, dice: random.Random) -> str:
    what = f"{dice.choice(NOUNS)} of {_name(dice)} at the {dice.choice(PLACES)}"
    return f"{town} {dice.choice(VERBS)} {what} since {dice.randint(1200, 1990)}."


def _context(town: str, facts: list[str], dice: random.Random) -> str:
    sentences = list(facts)
    while sum(len(sentence.split()) for sentence in sentences) < 76:
        padding = dice.choice(PADDING).format(_name(dice), dice.choice(PLACES))
        sentences.insert(dice.randrange(len(sentences) + 1), f"{padding}.")
    return " ".join(sentences)
