"""The pace of calls: the window against simulated services, and the queue in front of one."""

from __future__ import annotations

import asyncio
import heapq
import math
import random
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from ragas_judge.judge import Judge, Limits, RetryPolicy, ScriptedTransport, errors
from ragas_judge.judge.foreign_errors import told_in
from ragas_judge.judge.limits import Window
from ragas_judge.judge.loops import run_sync
from ragas_judge.judge.service import REMEMBERED, Service, service_of
from ragas_judge.judge.turns import Turns

# --- the window, in simulated time -------------------------------------------------------------

Takes = Callable[[float, int], bool]
"""(now, calls under way at the service) -> does it take one more?"""


@dataclass
class Simulation:
    """Workers that each make one call after another through one window; no time passes."""

    window: Window
    takes: Takes
    workers: int = 64
    calls: int = 900
    latency: float = 1.0
    retry_after: float = 1.0
    seed: int = 0
    now: float = 0.0
    refused: int = 0
    answered: int = 0
    _events: list[tuple[float, int, str, int, float]] = field(default_factory=list)
    _count: int = 0

    def run(self) -> Simulation:
        dice = random.Random(self.seed)
        queue, left, under_way, at_service = self.workers, self.calls - self.workers, 0, 0
        while True:
            while queue and under_way < max(1, int(self.window.width)):
                queue, under_way = queue - 1, under_way + 1
                taken = self.takes(self.now, at_service)
                at_service += taken
                seconds = self.latency * (1 + 0.2 * dice.random()) if taken else 0.003
                self._later(seconds, "answered" if taken else "refused", under_way)
            if not self._events:
                return self
            self.now, _, what, level, sent = heapq.heappop(self._events)
            if what == "again":
                queue += 1
                continue
            full = queue > 0 or under_way >= int(self.window.width)
            under_way -= 1
            if what == "refused":
                self.refused += 1
                self.window.refused(under_way)
                self._later(self.retry_after, "again", 0)
                continue
            at_service, self.answered = at_service - 1, self.answered + 1
            self.window.answered(level, full=full, seconds=self.now - sent)
            if left:
                queue, left = queue + 1, left - 1

    def _later(self, seconds: float, what: str, level: int) -> None:
        self._count += 1
        heapq.heappush(self._events, (self.now + seconds, self._count, what, level, self.now))

    @property
    def share_refused(self) -> float:
        return self.refused / (self.refused + self.answered)


def at_most(count: int) -> Takes:
    return lambda now, under_way: under_way < count


def per_minute(count: float) -> Takes:
    """A token bucket that holds one second's worth."""
    level, last = count / 60, 0.0

    def takes(now: float, under_way: int) -> bool:
        nonlocal level, last
        level, last = min(count / 60, level + (now - last) * count / 60), now
        if level < 1:
            return False
        level -= 1
        return True

    return takes


def some(share: float, seed: int) -> Takes:
    dice = random.Random(seed)
    return lambda now, under_way: dice.random() >= share


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    ("takes", "latency", "ideal"),
    [
        (lambda: at_most(16), 1.0, 900 * 1.1 / 16),
        (lambda: per_minute(600), 1.0, 90.0),
        (lambda: per_minute(600), 0.1, 90.0),
    ],
    ids=["16 at once", "600 a minute", "600 a minute, fast replies"],
)
def test_a_limit_is_found_at_the_cost_of_few_refusals(
    takes: Callable[[], Takes], latency: float, ideal: float, seed: int
) -> None:
    run = Simulation(Window(Limits()), takes(), latency=latency, seed=seed).run()
    assert run.answered == 900
    assert run.share_refused <= 0.05
    assert run.now <= 1.2 * ideal


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("concurrency", [None, 16])
def test_refusals_that_come_at_any_pace_do_not_slow_it_down(
    concurrency: int | None, seed: int
) -> None:
    window = Window(Limits(concurrency))
    run = Simulation(window, some(0.1, seed), workers=16, seed=seed).run()
    assert run.now <= 2 * 900 * 1.1 / 16


def test_without_refusals_it_opens_to_the_widest_within_a_few_rounds() -> None:
    run = Simulation(Window(Limits()), at_most(1000)).run()
    assert run.window.width == run.window.ceiling == 64
    assert run.now <= 900 * 1.1 / 64 + 12


def test_it_does_not_widen_when_replies_only_get_slower() -> None:
    window, now = Window(Limits()), 0
    for _ in range(300):  # a server with one slot: each call waits for all before it
        now = int(window.width)
        window.answered(now, full=True, seconds=float(now))
    assert now <= 12


def test_a_number_that_is_set_is_the_start_and_the_widest() -> None:
    window = Window(Limits(concurrency=5))
    assert window.width == 1
    for _ in range(20):
        window.answered(5, full=True, seconds=1.0)
        assert window.width == 5


def test_a_window_that_is_not_used_does_not_grow() -> None:
    window = Window(Limits())
    for _ in range(50):
        window.answered(1, full=False, seconds=1.0)
    assert window.width == 4


@pytest.mark.parametrize(
    "limits",
    [{"concurrency": 0}, {"concurrency": 2.5}, {"rpm": 0}, {"tpm": -1}, {"rpm": math.nan}],
)
def test_limits_that_make_no_sense(limits: dict[str, Any]) -> None:
    with pytest.raises(errors.SetupError, match=next(iter(limits))):
        Limits(**limits)


# --- the queue ----------------------------------------------------------------------------------


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def opened(limits: Limits, clock: Callable[[], float] | None = None) -> Turns:
    """A queue whose service has answered once."""
    turns = Turns(limits, clock or Clock())
    turns.leave(await turns.take(), answered=True)
    return turns


def test_the_first_call_goes_alone() -> None:
    async def scenario() -> None:
        turns = Turns(Limits(concurrency=8), Clock())
        first = await turns.take()
        others = [asyncio.create_task(turns.take()) for _ in range(8)]
        await settle()
        assert not any(task.done() for task in others)
        turns.leave(first, answered=True)
        await settle()
        assert sum(task.done() for task in others) == 8

    asyncio.run(scenario())


def test_first_come_first_served() -> None:
    async def scenario() -> None:
        turns, order = await opened(Limits(concurrency=1)), []

        async def call(name: int) -> None:
            ticket = await turns.take()
            order.append(name)
            await settle()
            turns.leave(ticket, answered=True)

        await asyncio.gather(*map(call, range(6)))
        assert order == list(range(6))

    asyncio.run(scenario())


def test_a_call_that_is_cancelled_gives_its_place_to_the_next() -> None:
    async def scenario() -> None:
        turns = await opened(Limits(concurrency=1))
        held = await turns.take()
        waiting, next_one = asyncio.create_task(turns.take()), asyncio.create_task(turns.take())
        await settle()
        waiting.cancel()
        await settle()
        turns.leave(held, answered=True)
        await settle()
        assert next_one.done()
        # Cancelled in the very moment of its turn, before it could wake.
        late, last = asyncio.create_task(turns.take()), asyncio.create_task(turns.take())
        await settle()
        turns.leave(next_one.result(), answered=True)
        late.cancel()
        await settle()
        assert last.done()

    asyncio.run(scenario())


def test_one_pace_for_event_loops_on_several_threads() -> None:
    turns = Turns(Limits(concurrency=3))
    under_way, most, lock = 0, 0, threading.Lock()

    async def call() -> None:
        nonlocal under_way, most
        ticket = await turns.take()
        with lock:
            under_way += 1
            most = max(most, under_way)
        await settle()
        with lock:
            under_way -= 1
        turns.leave(ticket, answered=True)

    async def many() -> None:
        await asyncio.gather(*(call() for _ in range(40)))

    threads = [threading.Thread(target=lambda: asyncio.run(many())) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert 1 <= most <= 3


def test_a_loop_that_ended_while_it_waited_holds_nobody_up() -> None:
    turns = Turns(Limits(concurrency=1), Clock())

    async def abandon() -> None:
        turns.leave(await turns.take(), answered=True)
        held.append(await turns.take())
        task = asyncio.ensure_future(turns.take())
        await settle()
        task.remove_done_callback(task.cancel)  # type: ignore[arg-type]

    held: list[Any] = []
    loop = asyncio.new_event_loop()
    loop.run_until_complete(abandon())
    for task in asyncio.all_tasks(loop):
        task.cancel()
    loop.run_until_complete(asyncio.gather(*asyncio.all_tasks(loop), return_exceptions=True))
    loop.close()

    async def go_on() -> None:
        turns.leave(held[0], answered=True)
        await asyncio.wait_for(turns.take(), 10)

    asyncio.run(go_on())


def test_the_limit_holds_where_a_loop_is_running_already() -> None:
    turns = Turns(Limits(concurrency=2))
    under_way, most = 0, 0

    async def call() -> None:
        nonlocal under_way, most
        ticket = await turns.take()
        under_way += 1
        most = max(most, under_way)
        await settle()
        under_way -= 1
        turns.leave(ticket, answered=True)

    async def many() -> None:
        await asyncio.gather(*(call() for _ in range(30)))

    async def notebook() -> None:
        run_sync(many())

    asyncio.run(notebook())
    assert most == 2


def test_work_for_which_a_loop_stands_still_waits_for_no_call_of_that_loop() -> None:
    async def notebook() -> None:
        turns = await opened(Limits(concurrency=1))
        held = await turns.take()
        run_sync(asyncio.wait_for(turns.take(), 10))
        turns.leave(held, answered=True)

    asyncio.run(notebook())


def test_a_rest_ends_though_the_loop_on_which_it_began_has_ended() -> None:
    clock = Clock()
    turns = Turns(Limits(), clock)

    async def refused_then_cancelled() -> None:
        for _ in range(20):
            turns.leave(await turns.take(), refused=True)
        first = await turns.take()
        waiting = asyncio.create_task(turns.take())
        await settle()
        turns.leave(first, refused=True)
        waiting.cancel()
        await settle()

    async def go_on() -> None:
        task = asyncio.create_task(turns.take())
        await settle()
        clock.now += 11
        turns._look_again()
        await asyncio.wait_for(task, 10)

    asyncio.run(refused_then_cancelled())
    assert turns.window.width < 1
    asyncio.run(go_on())


@pytest.mark.parametrize(
    ("limits", "tokens", "delays"),
    [
        (Limits(concurrency=99, rpm=60), 0, [0.0, 0.0, 1.0, 2.0]),
        (Limits(concurrency=99, tpm=600), 10, [0.0, 0.0, 1.0, 2.0]),
    ],
)
def test_limits_by_the_minute_space_the_calls(
    limits: Limits, tokens: int, delays: list[float]
) -> None:
    async def scenario() -> None:
        clock = Clock()
        turns = Turns(limits, clock)
        turns.leave(await turns.take(tokens), answered=True)
        clock.now = 100.0  # the first one is long over
        tickets = [await turns.take(tokens) for _ in range(4)]
        assert [round(ticket.delay, 6) for ticket in tickets] == delays

    asyncio.run(scenario())


# --- the service --------------------------------------------------------------------------------

LASTING = [errors.JudgeAuthError, errors.JudgeQuotaError]


@pytest.mark.parametrize("kind", LASTING)
def test_what_would_fail_again_is_asked_once_for_all(kind: type[errors.JudgeError]) -> None:
    def refuse(_: Any) -> Any:
        raise kind("no", status=401)

    judge = Judge("m", transport=ScriptedTransport(refuse), concurrency=8)

    async def many() -> list[Any]:
        calls = (judge.ask(judge.request([("user", str(n))])) for n in range(30))
        return await asyncio.gather(*calls, return_exceptions=True)

    results = asyncio.run(many())
    assert {type(error) for error in results} == {kind}
    assert {str(error) for error in results} == {"no"}
    assert len(judge._live.requests) == 1  # type: ignore[attr-defined]


def test_a_service_that_is_not_there_is_given_up_within_the_connect_budget() -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    def refuse(_: Any) -> Any:
        raise errors.JudgeUnreachableError("connection refused")

    policy = RetryPolicy(attempts=1000, connect_budget=15, sleep=sleep)
    judge = Judge("m", transport=ScriptedTransport(refuse), retry=policy)

    async def many() -> list[Any]:
        calls = (judge.ask(judge.request([("user", str(n))])) for n in range(30))
        return await asyncio.gather(*calls, return_exceptions=True)

    assert all(isinstance(error, errors.JudgeUnreachableError) for error in asyncio.run(many()))
    assert sum(waits) <= 15
    assert len(judge._live.requests) == len(waits) + 1 <= 8  # type: ignore[attr-defined]


def test_one_text_that_is_refused_does_not_speak_for_the_others() -> None:
    def answer(request: Any) -> str:
        if "bad" in request.messages[0].content:
            raise errors.JudgeAuthError("blocked", status=403)
        return "fine"

    transport = ScriptedTransport(answer)
    judge = Judge("m", transport=transport)
    texts = ["a", "bad 1", "b", "bad 2", "bad 3", "bad 4", "c"]

    async def scenario() -> list[Any]:
        asked = [judge.ask(judge.request([("user", text)])) for text in texts]
        return [(await asyncio.gather(one, return_exceptions=True))[0] for one in asked]

    found = asyncio.run(scenario())
    fine = [text for text, each in zip(texts, found, strict=True) if isinstance(each, tuple)]
    assert fine == ["a", "b"]  # three in a row speak for the next
    assert len(transport.requests) == 6


def test_trouble_is_forgotten_after_a_while_and_with_the_first_reply() -> None:
    async def scenario() -> None:
        clock = Clock()
        service = Service(clock=clock)
        service.note_failure(errors.JudgeQuotaError("empty"))
        with pytest.raises(errors.JudgeQuotaError) as caught:
            await service.turn()
        assert caught.value.remembered
        service.note_failure(caught.value)  # what was not asked proves nothing new
        clock.now += REMEMBERED + 1
        turn = await service.turn()
        turn.answered()
        turn.end()
        (await service.turn()).end()

    asyncio.run(scenario())


@pytest.mark.parametrize("code", [429, 503, 529])
def test_an_overload_told_in_a_reply_of_status_200_narrows_the_window(code: int) -> None:
    async def scenario() -> None:
        service = Service(Limits())
        service.turns.window.open()
        error = told_in(SimpleNamespace(error={"message": "busy", "code": code}), "x")
        assert error is not None
        turn = await service.turn()
        before = service.turns.window.width
        turn.failed(error)
        turn.end()
        assert service.turns.window.width < before

    asyncio.run(scenario())


def test_judges_of_one_address_model_and_limits_share_what_is_known() -> None:
    class At:
        def __init__(self, endpoint: str, account: str = "") -> None:
            self.endpoint, self.account = endpoint, account

    url = "https://judge.test/v1"
    one = service_of(At(url), "m", Limits())
    assert service_of(At(url), "m", Limits()) is one
    others = [
        service_of(At(url), "other", Limits()),
        service_of(At("https://else.test/v1"), "m", Limits()),
        service_of(At(url, "another account"), "m", Limits()),
        service_of(At(url), "m", Limits(concurrency=3)),
    ]
    assert len({id(service) for service in (one, *others)}) == 5
    assert service_of(At("scripted"), "m", Limits()) is not service_of(
        At("scripted"), "m", Limits()
    )


def test_a_first_call_that_takes_its_time_does_not_hold_up_the_others_for_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ragas_judge.judge.turns.ALONE", 0.01)
    release = asyncio.Event()

    async def answer(request: Any) -> str:
        if request.messages[-1].content == "0":
            await release.wait()
        return "fine"

    judge = Judge("m", transport=ScriptedTransport(answer), concurrency=3)

    async def scenario() -> None:
        calls = [
            asyncio.create_task(judge.ask(judge.request([("user", str(number))])))
            for number in range(9)
        ]
        await asyncio.gather(*calls[1:])
        release.set()
        await calls[0]

    asyncio.run(scenario())


def test_a_first_call_that_fails_lets_no_other_go_before_it_is_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ragas_judge.judge.turns.ALONE", 0.0)
    asked: list[str] = []

    def answer(request: Any) -> str:
        asked.append(request.messages[-1].content)
        if len(asked) < 4:
            raise errors.JudgeUnavailableError("starting up")
        return "fine"

    async def sleep(_: float) -> None:
        await asyncio.sleep(0.001)

    judge = Judge("m", transport=ScriptedTransport(answer), retry=RetryPolicy(sleep=sleep))

    async def scenario() -> None:
        calls = (judge.ask(judge.request([("user", str(number))])) for number in range(6))
        await asyncio.gather(*calls)

    asyncio.run(scenario())
    assert asked[:4] == ["0"] * 4


@pytest.mark.parametrize(("least", "first"), [(0.0, 0.06), (0.1, 0.1)])
def test_a_call_that_hangs_is_given_up_early_and_then_with_twice_the_patience(
    monkeypatch: pytest.MonkeyPatch, least: float, first: float
) -> None:
    monkeypatch.setattr("ragas_judge.judge.service.LEAST_PATIENCE", least)
    clock, seen = Clock(), []

    async def answer(_: Any) -> str:
        from ragas_judge.judge.retry import ATTEMPT_SECONDS

        seen.append(ATTEMPT_SECONDS.get())
        clock.now += 0.02
        if len(seen) in (31, 32):
            await asyncio.Event().wait()
        return "fine"

    async def sleep(_: float) -> None:
        pass

    policy = RetryPolicy(attempt_timeout=60, patience=3, sleep=sleep)
    judge = Judge("m", transport=ScriptedTransport(answer), retry=policy)
    judge._line.__dict__["service"] = Service(clock=clock)

    async def some_calls() -> None:
        for number in range(31):
            await judge.ask(judge.request([("user", str(number))]))

    asyncio.run(some_calls())
    assert seen[0] == 60
    assert seen[30:] == [pytest.approx(first * factor) for factor in (1, 2, 4)]


def test_an_embedders_service_is_remembered_between_calls() -> None:
    calls = 0

    class Refusing:
        name, endpoint = "e", "http://embedder.test/v1"

        async def embed(self, texts: list[str]) -> list[list[float]]:
            nonlocal calls
            calls += 1
            raise errors.JudgeAuthError("no")

    judge = Judge("m", transport=ScriptedTransport(lambda _: ""), embeddings=Refusing())

    async def scenario() -> None:
        assert judge.embedder is not None
        for _ in range(3):
            with pytest.raises(errors.JudgeAuthError):
                await judge.embed(judge.embedder, ["x"])

    asyncio.run(scenario())
    assert calls == 1
