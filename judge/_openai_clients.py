"""OpenAI clients, one for each event loop."""

from __future__ import annotations

import asyncio
import contextlib
import os
import ssl
import weakref
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator
from functools import cache
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from .errors import SetupError

DEFAULT_URL = "https://api.openai.com/v1"


@cache
def certificates() -> ssl.SSLContext:
    """The authorities that are trusted, read once: that takes a tenth of a second."""
    import httpx

    return httpx.create_ssl_context()


class Open:
    """A client whose connections are closed when the running event loop comes to its end.

    ``asyncio.run`` ends the asynchronous generators of its loop before it closes it; there is
    no other sign by which one could know (``ragas.evaluate`` runs a loop of its own).
    """

    def __init__(self, client: Any) -> None:
        """Register with the running loop."""
        self.client = client
        self._keeper = _closing(client)
        with contextlib.suppress(StopIteration):  # up to its ``yield``; nothing is awaited there
            self._keeper.__anext__().send(None)


async def _closing(client: Any) -> AsyncGenerator[None, None]:
    try:
        yield
    finally:
        await client.close()


class PerLoop(ABC):
    """Clients with connections of their own on each event loop: they cannot outlive it."""

    def __init__(self) -> None:
        """Nothing is connected yet."""
        self._by_loop: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Open] = (
            weakref.WeakKeyDictionary()
        )

    @abstractmethod
    def new(self) -> Any:
        """A client that has no connections yet."""

    def here(self) -> Any:
        """The client for the running event loop."""
        loop = asyncio.get_running_loop()
        if loop not in self._by_loop:
            self._by_loop[loop] = Open(self.new())
        return self._by_loop[loop].client

    async def aclose(self) -> None:
        """Close the connections opened on the running loop."""
        opened = self._by_loop.pop(asyncio.get_running_loop(), None)
        if opened is not None:
            await opened.client.close()

    def __getstate__(self) -> dict[str, Any]:
        """Without connections: they belong to this process."""
        return {**self.__dict__, "_by_loop": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _by_loop=weakref.WeakKeyDictionary())


class OwnClients(PerLoop):
    """Clients made here.

    Args:
        base_url: as the openai package reads it (``OPENAI_BASE_URL``) when None.
        api_key: as the openai package reads it (``OPENAI_API_KEY``) when None.

    Raises:
        SetupError: the address is none.
    """

    def __init__(self, *, base_url: str | None = None, api_key: str | None = None) -> None:
        """Keep the settings."""
        super().__init__()
        self._settings = {"base_url": base_url, "api_key": api_key}
        url = base_url or os.environ.get("OPENAI_BASE_URL") or DEFAULT_URL
        self.endpoint = checked_url(url)

    def __repr__(self) -> str:
        """Name the endpoint; no key is shown."""
        return f"OwnClients({self.endpoint!r})"

    @property
    def account(self) -> int:
        """Tells this key's account from others in this process."""
        return hash(self._settings["api_key"] or os.environ.get("OPENAI_API_KEY"))

    def new(self) -> Any:
        """A client with the SDK's retries off: ours count.

        Raises:
            SetupError: there is no key, or none that can be sent.
        """
        import openai

        try:
            client = openai.AsyncOpenAI(
                max_retries=0,
                http_client=_http_client(),
                **self._settings,  # type: ignore[arg-type]
            )
        except openai.OpenAIError as error:
            said = "no API key: set OPENAI_API_KEY or pass api_key= (any text for a local server)"
            raise SetupError(said) from error
        if not (client.api_key.isascii() and client.api_key.isprintable()):
            raise SetupError(
                "the API key holds a character that no key can hold, such as a line break at its"
                " end"
            )
        return client


class CallersClients(PerLoop):
    """A caller's asynchronous client, without its connections.

    One that was opened on a loop that has ended still takes a request, and only then fails:
    the request would be sent, and paid, twice. A caller's own HTTP client (a proxy,
    certificates) is kept as it is.

    Args:
        client: an ``AsyncOpenAI`` or Azure client; it is left as it is.
    """

    def __init__(self, client: Any) -> None:
        """Nothing is connected yet."""
        super().__init__()
        self._client = client.with_options(max_retries=0)
        # The SDK's and LangChain's default HTTP clients have names of this form.
        self._is_default = type(client._client).__name__.endswith("AsyncHttpxClientWrapper")

    def new(self) -> Any:
        """The caller's client over connections of its own."""
        return self._client.with_options(http_client=_http_client())

    def here(self) -> Any:
        """The client for the running event loop."""
        return super().here() if self._is_default else self._client


def _http_client() -> Any:
    """Not the SDK's own default.

    That one would close itself, when it is collected, on whatever event loop is running then,
    which need not be the one that its connections belong to.
    """
    import openai

    return openai.DefaultAsyncHttpxClient(verify=certificates())


def checked_url(url: str) -> str:
    """An address, fit to be shown.

    Raises:
        SetupError: it is none.

    >>> checked_url("localhost:8000/v1")
    Traceback (most recent call last):
    ...
    ragas_judge.judge.errors.SetupError: base_url is not an address such as \
http://127.0.0.1:8000/v1
    """
    try:
        parts = urlsplit(url.strip())
        found = parts.scheme in ("http", "https") and bool(parts.hostname)
        _ = parts.port  # refuses what is no number
    except ValueError:
        found = False
    if not found:
        # The text given is not shown: where its parts cannot be told, a key may be among them.
        raise SetupError("base_url is not an address such as http://127.0.0.1:8000/v1")
    return public_url(url.strip())


def public_url(url: str) -> str:
    """A URL fit to be shown and stored: without user, password, query and fragment.

    >>> public_url("https://me:secret@judge.test:8000/v1?api_key=abc")
    'https://judge.test:8000/v1'
    """
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
