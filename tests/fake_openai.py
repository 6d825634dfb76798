"""A small OpenAI-compatible server in this process: 127.0.0.1, one thread a connection.

    with FakeOpenAI(lambda body: {"1": "yes"}) as server:
        client = openai.AsyncOpenAI(base_url=server.url, api_key="none")

It keeps every request it gets. ``answer(body)`` makes the content of a completion: a string
as it is, a mapping as JSON text, or a ``FakeReply`` to set anything else (status, headers, finish
reason, the whole body). Embeddings are numbers derived from the letters of a text.
"""

from __future__ import annotations

import base64
import json
import struct
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

DIMENSIONS = 8


@dataclass(frozen=True)
class FakeReply:
    """What the server sends back.

    ``body`` replaces everything the server would make up (bytes are sent as they are); with a
    status of 400 and above, ``content`` is the error's message, ``code`` and ``param`` its details.
    """

    content: str | Mapping[str, Any] = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    finish: str = "stop"
    code: str | None = None
    param: Any = None
    usage: Mapping[str, int] | None = field(
        default_factory=lambda: {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    )
    body: Any = None


@dataclass(frozen=True)
class Seen:
    """One request as the server got it."""

    path: str
    body: dict[str, Any]
    headers: dict[str, str]


Answer = FakeReply | str | Mapping[str, Any]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Keep quiet about a client that hung up."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class FakeOpenAI:
    """The server; a context manager that stops it.

    Args:
        answer: makes the reply to each chat completion; may block, to hold requests together.
        keep_alive: leave connections open between requests.
    """

    def __init__(
        self,
        answer: Callable[[dict[str, Any]], Answer] | None = None,
        *,
        keep_alive: bool = False,
    ) -> None:
        self.answer: Callable[[dict[str, Any]], Answer] = answer or (lambda body: "hello")
        self.seen: list[Seen] = []
        self.keep_alive = keep_alive
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )
        self._thread.start()

    @property
    def root(self) -> str:
        """The address without a path: Azure's endpoint."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def url(self) -> str:
        """The base URL for OpenAI clients."""
        return f"{self.root}/v1"

    @property
    def bodies(self) -> list[dict[str, Any]]:
        """Bodies of all requests, in order of arrival."""
        return [seen.body for seen in self.seen]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def _handler(fake: FakeOpenAI) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            fake.seen.append(Seen(self.path, body, dict(self.headers)))
            path = self.path.split("?")[0]
            if path.endswith("/chat/completions"):
                self._send(*_chat(body, _as_reply(fake.answer(body))))
            elif path.endswith("/responses"):
                self._send(*_response(_as_reply(fake.answer(body))))
            elif path.endswith("/embeddings"):
                self._send(200, {}, "application/json", _json(_embeddings(body)))
            else:
                self._send(404, {}, "application/json", _json({"error": {"message": path}}))

        def _send(self, status: int, headers: Mapping[str, str], kind: str, data: bytes) -> None:
            self.send_response(status)
            for name, value in {"content-type": kind, **headers}.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(data)))
            if not fake.keep_alive:
                self.send_header("connection", "close")
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            """Keep quiet."""

    return Handler


def _as_reply(answer: Answer) -> FakeReply:
    return answer if isinstance(answer, FakeReply) else FakeReply(answer)


Sent = tuple[int, Mapping[str, str], str, bytes]


def _chat(body: Mapping[str, Any], reply: FakeReply) -> Sent:
    text = _text(reply)
    if reply.body is not None or reply.status >= 400:
        return _given(reply)
    if body.get("stream"):
        return reply.status, reply.headers, "text/event-stream", b"".join(_events(text, reply))
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": text},
        "finish_reason": reply.finish,
    }
    data = _envelope("chat.completion", [choice], usage=reply.usage)
    return reply.status, reply.headers, "application/json", _json(data)


def _response(reply: FakeReply) -> Sent:
    """OpenAI's Responses interface; a finish of ``length`` is told in its own words."""
    if reply.body is not None or reply.status >= 400:
        return _given(reply)
    cut = reply.finish == "length"
    content = {"type": "output_text", "text": _text(reply), "annotations": []}
    message = {"type": "message", "id": "m", "role": "assistant", "content": [content]}
    data = {
        "id": "fake",
        "object": "response",
        "created_at": 0,
        "model": "fake-model",
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
        "output": [{**message, "status": "completed"}],
        "status": "incomplete" if cut else "completed",
        "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
        "usage": {
            "input_tokens": 11,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 7,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 18,
        },
    }
    return reply.status, reply.headers, "application/json", _json(data)


def _given(reply: FakeReply) -> Sent:
    """A body as it was given, or an error."""
    error = {"message": _text(reply), "type": "fake", "code": reply.code, "param": reply.param}
    body = {"error": error} if reply.body is None else reply.body
    return reply.status, reply.headers, "application/json", _json(body)


def _text(reply: FakeReply) -> str:
    content = reply.content
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)


def _events(text: str, reply: FakeReply) -> Iterator[bytes]:
    half = len(text) // 2
    parts: list[tuple[dict[str, Any], str | None]] = [
        ({"role": "assistant", "content": text[:half]}, None),
        ({"content": text[half:]}, None),
        ({}, reply.finish),
    ]
    for delta, finish in parts:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        yield b"data: " + _json(_envelope("chat.completion.chunk", [choice])) + b"\n\n"
    yield b"data: " + _json(_envelope("chat.completion.chunk", [], usage=reply.usage)) + b"\n\n"
    yield b"data: [DONE]\n\n"


def _envelope(kind: str, choices: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    head = {"id": "fake", "object": kind, "created": 0, "model": "fake-model"}
    return {**head, "choices": choices, **more}


def _embeddings(body: Mapping[str, Any]) -> dict[str, Any]:
    texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
    vectors: list[Any] = [embedding(str(text)) for text in texts]
    if body.get("encoding_format") == "base64":
        packed = [struct.pack(f"<{DIMENSIONS}f", *vector) for vector in vectors]
        vectors = [base64.b64encode(data).decode() for data in packed]
    data = [
        {"object": "embedding", "index": index, "embedding": vector}
        for index, vector in enumerate(vectors)
    ]
    usage = {"prompt_tokens": len(texts), "total_tokens": len(texts)}
    return {"object": "list", "data": data, "model": "fake-embedder", "usage": usage}


def embedding(text: str) -> list[float]:
    """Letter counts by code point modulo 8, plus one: equal texts lie together."""
    counts = [1.0] * DIMENSIONS
    for letter in text:
        counts[ord(letter) % DIMENSIONS] += 1.0
    return counts


def _json(data: Any) -> bytes:
    return data if isinstance(data, bytes) else json.dumps(data, ensure_ascii=False).encode()
