"""An OpenAI-compatible server with faults and limits, for tests and benchmarks.

It judges by word overlap, so its answers to our prompts are the same for the same words, and a
score that differs from a run without faults is wrong. Faults are drawn by seed, request and how
often that request has come: the same whatever the order of arrival.

    with FaultServer(latency=1.0, faults={"http500": 0.05}) as server:
        Judge("mock", base_url=server.url, api_key="none")

    python tests/fault_server.py --port 8100 --latency 1     # as a process of its own
"""

from __future__ import annotations

import argparse
import asyncio
import email.utils
import hashlib
import json
import math
import re
import threading
import time
import urllib.request
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, Self

HTTP_FAULTS = ("http500", "http503", "http429", "hang")
TEXT_FAULTS = ("truncated", "length", "empty", "filtered", "refusal")
LIST_FAULTS = ("short", "longer", "reordered")
VERDICTS = ("claim_verification", "context_usefulness")
"""Prompts whose answers are lists of verdicts."""
KINDS = {
    frozenset({"verdict", "context", "quote"}): "claim_verification",
    frozenset({"useful", "quote"}): "context_usefulness",
    frozenset({"noncommittal", "question"}): "reverse_question",
}
"""What our prompts want for each number -> their ids; a list of texts is ``claim_extraction``."""
DIMENSIONS = 64
WORD = re.compile(r"[a-z0-9]{3,}|[\u4e00-\u9fff]")
BLOCK = re.compile(r"<data-(\w+)>\n(.*?)\n</data-\1>", re.DOTALL)
ITEM = re.compile(r"^\[(\d+)\] (.*?)(?=^\[\d+\] |\Z)", re.MULTILINE | re.DOTALL)


@dataclass
class Config:
    """All that can be set, also while it runs.

    Attributes:
        latency, embedding_latency: seconds.
        faults: share of the calls, by name.
        max_concurrency: calls at once, beyond which it answers 429.
        rpm, tpm: calls and tokens a minute, with one second's worth at once.
        retry_after: seconds that a 429 asks for; ``form``: ``seconds``, ``ms`` or ``date``.
        always: ``401``, ``403``, ``quota`` or None: the answer to everything.
        refuse: parameter -> message of the 400 that it brings; ``a+b``: where both are sent;
            ``json_schema`` and ``json_object`` are forms of ``response_format``.
    """

    latency: float = 0.0
    embedding_latency: float = 0.0
    faults: dict[str, float] = field(default_factory=dict)
    seed: int = 1
    max_concurrency: int = 0
    rpm: float = 0.0
    tpm: float = 0.0
    retry_after: float = 1.0
    form: str = "seconds"
    always: str | None = None
    refuse: dict[str, str] = field(default_factory=dict)


@dataclass
class Seen:
    """One request: what it was, and what became of it.

    Attributes:
        came, ended: ``time.time()``.
        kind: id of the prompt, ``embeddings``, or ``other``.
        status: 0 when it was never answered.
        fault: what was done to it, a limit included.
        key, occurrence: hash of the body, and how often it has come to be judged.
        schema: hash of the JSON schema it was sent with.
    """

    key: str
    came: float
    ended: float = 0.0
    kind: str = "other"
    status: int = 0
    fault: str | None = None
    occurrence: int = 0
    n: int | None = None
    temperature: float | None = None
    schema: str | None = None


@dataclass
class Bucket:
    """So many a minute, one second's worth at once; what is too large for that is owed."""

    level: float = math.inf
    filled: float = 0.0

    def take(self, cost: float, a_minute: float) -> bool:
        now, full = time.monotonic(), max(1.0, a_minute / 60)
        self.level = min(full, self.level + (now - self.filled) * a_minute / 60)
        self.filled = now
        if self.level < min(cost, full):
            return False
        self.level -= cost
        return True


@dataclass
class Stats:
    """What has come so far.

    Attributes:
        requests: how many; some may never be answered.
        status, faults, kinds: how many of each.
        paid: request -> when it had come and when a whole answer had been sent, each time.
    """

    requests: int = 0
    status: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    most_at_once: int = 0
    paid: defaultdict[str, list[tuple[float, float]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    bodies: list[dict[str, Any]] = field(default_factory=list)


Sent = tuple[int, dict[str, str], dict[str, Any]]


class FaultServer:
    """The server, on a thread of its own; a context manager that stops it."""

    def __init__(self, *, port: int = 0, keep_bodies: bool = False, **config: Any) -> None:
        self.config, self.stats, self._keep = Config(**config), Stats(), keep_bodies
        self.log: list[Seen] = []
        self._at_once, self._calls, self._tokens = 0, Bucket(), Bucket()
        self._times: Counter[str] = Counter()
        self._loop = asyncio.new_event_loop()
        self._ready, self._port = threading.Event(), port
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        self._ready.wait(30)

    @property
    def url(self) -> str:
        """The base URL for OpenAI clients."""
        return f"http://127.0.0.1:{self._port}/v1"

    def reset(self) -> None:
        """Forget what has come, the draws of faults included."""
        self.stats, self.log = Stats(), []
        self._calls, self._tokens = Bucket(), Bucket()
        self._times.clear()

    def wait_for(self, condition: Callable[[], Any]) -> None:
        """Let the server's thread go on until something is true of what it has noted."""
        with self._changed:
            assert self._changed.wait_for(condition, 60)

    def _tell(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(30)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    # --- HTTP ------------------------------------------------------------------------------

    def _run(self) -> None:
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        self._stop = asyncio.Event()
        server = await asyncio.start_server(self._connection, "127.0.0.1", self._port, backlog=512)
        self._port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()
        current = asyncio.current_task()
        tasks = [task for task in asyncio.all_tasks() if task is not current]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                first, *lines = head.split("\r\n")
                pairs = (line.partition(":") for line in lines)
                headers = {name.lower(): value.strip() for name, _, value in pairs}
                raw = await reader.readexactly(int(headers.get("content-length", 0)))
                path = first.split()[1].split("?")[0]
                seen = Seen(key_of(raw), time.time())
                status, more, data = await self._answer(path, headers, raw, seen, reader)
                if path not in ("/stats", "/config"):  # before a client can look
                    self.stats.status[str(status)] += 1
                    seen.status, seen.ended = status, time.time()
                await self._send(writer, status, more, data)
                if status == 200 and path.startswith("/v1/") and raw:
                    self.stats.paid[seen.key].append((seen.came, time.time()))
                    self._tell()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        except asyncio.CancelledError:  # the server stops
            pass
        finally:
            writer.close()

    async def _send(
        self, writer: asyncio.StreamWriter, status: int, more: dict[str, str], data: dict[str, Any]
    ) -> None:
        raw = json.dumps(data).encode()
        fields = {"content-type": "application/json", "content-length": len(raw), **more}
        rest = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        writer.write(f"HTTP/1.1 {status} x\r\n{rest}\r\n".encode() + raw)
        await writer.drain()

    async def _answer(
        self,
        path: str,
        headers: dict[str, str],
        raw: bytes,
        seen: Seen,
        reader: asyncio.StreamReader,
    ) -> Sent:
        if path == "/stats":
            names = ("requests", "status", "faults", "kinds", "most_at_once")
            return 200, {}, {name: getattr(self.stats, name) for name in names}
        if path == "/config":
            self.config = Config(**json.loads(raw))
            self.reset()
            return 200, {}, {}
        if path.endswith("/models"):
            return 200, {}, {"object": "list", "data": [{"id": "mock", "object": "model"}]}
        if not path.endswith(("/chat/completions", "/embeddings")):
            return 404, {}, trouble(f"Unknown path: {path}", "invalid_request_error")
        try:
            body = json.loads(raw)
        except ValueError:
            return 400, {}, trouble("The body is not JSON.", "invalid_request_error")
        self._note(body, seen)
        self._at_once += 1
        self.stats.most_at_once = max(self.stats.most_at_once, self._at_once)
        try:
            refused = self._refused(body, headers, seen)
            if refused is not None:
                return refused
            if path.endswith("/embeddings"):
                seen.kind = "embeddings"
                await asyncio.sleep(self.config.embedding_latency)
                return 200, {}, embeddings(body)
            return await self._chat(body, seen, reader)
        finally:
            self._at_once -= 1
            seen.ended = time.time()
            self._tell()

    def _note(self, body: dict[str, Any], seen: Seen) -> None:
        form = schema_of(body)
        seen.n, seen.temperature = body.get("n"), body.get("temperature")
        seen.schema = key_of(json.dumps(form, sort_keys=True).encode()) if form else None
        self.stats.requests += 1
        self.log.append(seen)
        if self._keep:
            self.stats.bodies.append(body)

    def _refused(self, body: dict[str, Any], headers: dict[str, str], seen: Seen) -> Sent | None:
        """The answer when it is a refusal whatever the question."""
        config = self.config
        if config.always in ("401", "403"):
            said = f"Incorrect API key provided: {headers.get('authorization')}"
            return int(config.always), {}, trouble(said, "invalid_request_error", "invalid_api_key")
        if config.always == "quota":
            said = "You exceeded your current quota, please check your plan."
            return 429, {}, trouble(said, "insufficient_quota", "insufficient_quota")
        sent = {*body, (body.get("response_format") or {}).get("type")}
        for name, said in config.refuse.items():
            if sent.issuperset(name.split("+")):
                named = "response_format" if name.startswith("json_") else name.split("+")[0]
                return 400, {}, trouble(said, "invalid_request_error", None, named)
        seen.fault = self._limit(body)
        if seen.fault is None:
            return None
        self.stats.faults[seen.fault] += 1
        return self._slow_down()

    def _limit(self, body: dict[str, Any]) -> str | None:
        """The limit that is exceeded, if any."""
        config = self.config
        if config.max_concurrency and self._at_once > config.max_concurrency:
            return "concurrency"
        if config.rpm and not self._calls.take(1, config.rpm):
            return "rpm"
        if config.tpm and not self._tokens.take(tokens_sent(body), config.tpm):
            return "tpm"
        return None

    def _slow_down(self) -> Sent:
        seconds, form = self.config.retry_after, self.config.form
        date = email.utils.formatdate(time.time() + seconds, usegmt=True)
        header = {
            "seconds": {"retry-after": f"{seconds:g}"},
            "ms": {"retry-after-ms": f"{seconds * 1000:g}"},
            "date": {"retry-after": date},
        }[form]
        return 429, header, trouble("Rate limit reached.", "requests", "rate_limit_exceeded")

    # --- judging ---------------------------------------------------------------------------

    async def _chat(self, body: dict[str, Any], seen: Seen, reader: asyncio.StreamReader) -> Sent:
        seen.kind, answer = judge(body)
        self.stats.kinds[seen.kind] += 1
        seen.fault = fault = self._draw(seen)
        if fault is not None:
            self.stats.faults[fault] += 1
            self._tell()
        if fault == "http429":
            return self._slow_down()
        if fault == "hang":
            await reader.read(1)  # until the client goes away
            raise ConnectionError
        await asyncio.sleep(self.config.latency)
        if fault in ("http500", "http503"):
            return int(fault[4:]), {}, trouble("The server had an error.", "server_error")
        data = completion(body, answer, fault, seen.key)
        self._tokens.level -= data["usage"]["completion_tokens"]
        return 200, {}, data

    def _draw(self, seen: Seen) -> str | None:
        self._times[seen.key] += 1
        seen.occurrence = self._times[seen.key]
        rest = share(self.config.seed, seen.key, seen.occurrence)
        for name in (*HTTP_FAULTS, *TEXT_FAULTS, *LIST_FAULTS):
            rest -= self.config.faults.get(name, 0.0)
            if rest < 0:
                return None if name in LIST_FAULTS and seen.kind not in VERDICTS else name
        return None


def completion(body: dict[str, Any], answer: Any, fault: str | None, key: str) -> dict[str, Any]:
    """A chat completion with its fault in it."""
    if isinstance(answer, dict) and fault in LIST_FAULTS:
        answer = break_list(answer, fault, key)
    text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
    finish, refusal = "stop", None
    if fault in ("truncated", "length"):
        text = text[: len(text) // 2]
        finish = "length" if fault == "length" else "stop"
    if fault in ("empty", "filtered", "refusal"):
        text = ""
        finish = "content_filter" if fault == "filtered" else "stop"
        refusal = "I can't help with that." if fault == "refusal" else None
    message = {"role": "assistant", "content": text, "refusal": refusal}
    count = body.get("n") or 1
    usage = {"prompt_tokens": tokens_sent(body), "completion_tokens": count * tokens(text)}
    return {
        "id": "x",
        "object": "chat.completion",
        "created": 0,
        "model": body["model"],
        "choices": [
            {"index": index, "message": message, "finish_reason": finish} for index in range(count)
        ],
        "usage": {**usage, "total_tokens": sum(usage.values())},
    }


def break_list(answer: dict[str, Any], fault: str, key: str) -> dict[str, Any]:
    """Verdicts short of one, with one too many, or in reverse order."""
    pairs = list(answer.items())
    if fault == "short":
        pairs.pop(int(key[:8], 16) % len(pairs))
    elif fault == "longer":
        pairs.append((str(max(map(int, answer)) + 1), pairs[0][1]))
    else:
        pairs.reverse()
    return dict(pairs)


def schema_of(body: dict[str, Any]) -> dict[str, Any]:
    """The JSON schema that a reply was asked to follow; empty when there is none."""
    form = (body.get("response_format") or {}).get("json_schema", {})
    return dict(form.get("schema", {}))


def kind_of(schema: dict[str, Any]) -> str:
    """Which of our prompts asks for this: told from what it wants for each number."""
    wanted = schema.get("properties", {})
    if not wanted or not all(name.isdigit() for name in wanted):
        return "other"
    item = next(iter(wanted.values()))
    if item.get("type") == "array":
        return "claim_extraction"
    return KINDS.get(frozenset(item.get("properties", {})), "other")


def judge(body: dict[str, Any]) -> tuple[str, Any]:
    """The kind of prompt and the answer to it."""
    schema = schema_of(body)
    kind, ids = kind_of(schema), list(schema.get("properties", {}))
    if kind == "other":
        return kind, made_up(schema) if schema else "A short answer."
    blocks = [text for _, text in BLOCK.findall(body["messages"][-1]["content"])]
    items = {number: text.strip() for number, text in ITEM.findall(blocks[-1])} if blocks else {}
    before = blocks[:-1]
    if kind == "claim_verification":
        contexts = dict(ITEM.findall(before[-1])) if before else {}
        return kind, {i: verdict(items.get(i, ""), contexts) for i in ids}
    if kind == "context_usefulness":
        reference = words(" ".join(before[1:] or before))
        return kind, {
            i: {"useful": cover(reference, words(items.get(i, ""))) >= 0.3, "quote": ""}
            for i in ids
        }
    if kind == "reverse_question":
        text = re.sub(r"[.。]", "", " ".join(blocks))
        asked = {i: " ".join(text.split()[int(i) :][:9]) for i in ids}
        return kind, {i: {"question": f"What of {asked[i]}?", "noncommittal": False} for i in ids}
    return kind, {i: [items.get(i, "")] for i in ids}


def made_up(schema: dict[str, Any]) -> Any:
    """A value that fits a schema; references between its parts are not followed."""
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return made_up(schema["anyOf"][0])
    if schema.get("type") == "object" or "properties" in schema:
        return {name: made_up(part) for name, part in schema.get("properties", {}).items()}
    if schema.get("type") == "array":
        return [made_up(schema.get("items", {})) for _ in range(schema.get("minItems", 1))]
    simple = {"integer": 1, "number": 1.0, "boolean": True, "null": None}
    return simple.get(schema.get("type", ""), "text")


def verdict(claim: str, contexts: dict[str, str]) -> dict[str, Any]:
    """Supported when a context holds four fifths of the claim's words."""
    asked = words(claim)
    best = max(contexts, key=lambda number: cover(asked, words(contexts[number])), default="0")
    if not contexts or cover(asked, words(contexts[best])) < 0.8:
        return {"verdict": "not_found", "context": 0, "quote": ""}
    sentences = re.split(r"(?<=[.。])\s*", contexts[best].strip())
    quote = max(sentences, key=lambda text: cover(asked, words(text)))
    return {"verdict": "supported", "context": int(best), "quote": quote}


def words(text: str) -> frozenset[str]:
    return frozenset(WORD.findall(text.lower()))


def cover(part: frozenset[str], whole: frozenset[str]) -> float:
    return len(part & whole) / len(part) if part else 0.0


def embeddings(body: dict[str, Any]) -> dict[str, Any]:
    """Counts of words by hash, as floats."""
    texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
    data = []
    for index, text in enumerate(texts):
        vector = [0.01] * DIMENSIONS
        for word in words(text):
            vector[int(hashlib.md5(word.encode()).hexdigest()[:8], 16) % DIMENSIONS] += 1.0
        data.append({"object": "embedding", "index": index, "embedding": vector})
    usage = {"prompt_tokens": tokens_sent(body), "total_tokens": tokens_sent(body)}
    return {"object": "list", "data": data, "model": body["model"], "usage": usage}


def tokens(text: str) -> int:
    return -(-len(text) // 4)


def tokens_sent(body: dict[str, Any]) -> int:
    """Tokens of a question, or of texts to embed."""
    if "messages" in body:
        return -(-sum(len(str(each["content"])) for each in body["messages"]) // 4)
    texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
    return sum(map(tokens, texts))


def trouble(
    message: str, kind: str, code: str | None = None, parameter: str | None = None
) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "code": code, "param": parameter}}


def key_of(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def share(*parts: Any) -> float:
    """A number from 0 to 1, the same for the same parts."""
    text = " ".join(map(str, parts))
    return int(hashlib.sha256(text.encode()).hexdigest()[:13], 16) / 16**13


class RemoteServer:
    """The same server as a process of its own, by its address."""

    def __init__(self, root: str) -> None:
        self.root, self.url = root, f"{root}/v1"

    def configure(self, **config: Any) -> None:
        """Set everything anew, and forget what has come."""
        data = json.dumps(asdict(Config(**config))).encode()
        urllib.request.urlopen(f"{self.root}/config", data=data).read()

    @property
    def stats(self) -> dict[str, Any]:
        return dict(json.load(urllib.request.urlopen(f"{self.root}/stats")))


def main() -> None:
    parser = argparse.ArgumentParser(description="OpenAI-compatible server with faults.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0)
    options = parser.parse_args()
    with FaultServer(port=options.port, latency=options.latency) as server:
        print(server.url, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
