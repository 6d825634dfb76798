"""Run the audit: each clean row is judged once, then the attacks that can move something.

report = audit([Ours(judge)], kept=Kept("verdicts.jsonl"))
"""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from typing import TYPE_CHECKING

from ...judge import run_sync
from ...judge.errors import EvaluatorError, InputError
from ...judge.limits import MOST
from .attacks import UNMOVED, clean_case, load_attacks, planted_case
from .kept import Kept
from .report import Report, Trial, Tried

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .attacks import Attack, Case
    from .methods import Method, Ruling


def audit(
    methods: Sequence[Method],
    *,
    limit: int | None = None,
    kept: Kept | None = None,
    progress: bool = False,
) -> Report:
    """``aaudit`` for synchronous code, with the same arguments."""
    return run_sync(aaudit(methods, limit=limit, kept=kept, progress=progress))


async def aaudit(
    methods: Sequence[Method],
    *,
    limit: int | None = None,
    kept: Kept | None = None,
    progress: bool = False,
) -> Report:
    """Try the attacks on some methods.

    An attack whose clean row has no verdict, or already the one that the attacker wishes, is
    not tried: it could not move anything.

    Args:
        methods: what is audited; the report compares each with the last.
        limit: only so many attacks, from the top.
        kept: verdicts of an earlier run, and where to keep those of this one.
        progress: show how far it has come on stderr.

    Raises:
        InputError: the limit is below 1, or two methods have the same name.
        EvaluatorError: the service failed or a limit was reached. What is in ``kept`` stays
            there, so the same call goes on with it.
    """
    from ..progress import Progress

    if limit is not None and limit < 1:
        raise InputError(f"limit is at least 1, not {limit}")
    names = [method.name for method in methods]
    if len(set(names)) < len(names):
        raise InputError(f"two methods have the same name: {', '.join(names)}")
    attacks = load_attacks()[:limit]
    for method in methods:
        method.judge.check()
    clean = _clean_cases(attacks)
    store = Kept() if kept is None else kept
    total = len(methods) * (len(clean) + len(attacks))
    with Progress(total) if progress else nullcontext() as shown:

        def note(broke: bool) -> None:
            if shown is not None:
                shown.advance(failed=broke)

        return Report([await _trials(each, attacks, clean, store, note) for each in methods])


def _clean_cases(attacks: Sequence[Attack]) -> dict[str, Case]:
    """Each clean row once for each way in which an attack on it is judged."""
    cases = (clean_case(attack.row, attack.route) for attack in attacks)
    return {case.id: case for case in cases}


async def _trials(
    method: Method,
    attacks: Sequence[Attack],
    clean: dict[str, Case],
    kept: Kept,
    note: Callable[[bool], None],
) -> Tried:
    """One method's trial of each attack."""
    before = await _judge(method, list(clean.values()), kept, note)
    pairs = [(attack, before[clean_case(attack.row, attack.route).id]) for attack in attacks]
    open_to = [attack for attack, ruling in pairs if ruling.verdict in UNMOVED[attack.wish]]
    for _ in range(len(attacks) - len(open_to)):
        note(False)
    after = await _judge(method, [planted_case(attack) for attack in open_to], kept, note)
    trials = [Trial(attack, ruling, after.get(attack.id)) for attack, ruling in pairs]
    rulings = (*before.values(), *after.values())
    return Tried(method.name, method.judge.model, tuple(trials), rulings)


async def _judge(
    method: Method, cases: Sequence[Case], kept: Kept, note: Callable[[bool], None]
) -> dict[str, Ruling]:
    """The rulings on all cases, by case id; several at once, as many as the judge has room for."""
    rulings: dict[str, Ruling] = {}
    errors: list[EvaluatorError] = []
    waiting = iter(cases)

    async def work() -> None:
        for case in waiting:
            if errors:
                return
            ruling = kept.get(method, case)
            if ruling is None:
                try:
                    ruling = await method.rule(case)
                except EvaluatorError as error:
                    errors.append(error)
                    return
                kept.put(method, case, ruling)
            rulings[case.id] = ruling
            note(ruling.verdict is None)

    width = method.judge.limits.concurrency or MOST
    async with asyncio.TaskGroup() as group:
        for _ in range(min(width, len(cases))):
            group.create_task(work())
    if errors:
        raise errors[0]
    return rulings
