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

from ._secrets import account_of
from .errors import SetupError

DEFAULT_URL = "https://api.openai.com/v1"
UNSENDABLE = (
    "the API key, or a header, holds a character that no key can hold, such as a line break at its"
    " end"
)


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

    def __init__(self, client: Any, owner: PerLoop) -> None:
        """Register with the running loop."""
        self.client = client
        self._keeper = _closing(client, weakref.ref(owner))
        with contextlib.suppress(StopIteration):  # up to its ``yield``; nothing is awaited there
            self._keeper.__anext__().send(None)

    async def aclose(self) -> None:
        """Close the connections before the loop ends."""
        await self._keeper.aclose()


async def _closing(client: Any, owner: weakref.ref[PerLoop]) -> AsyncGenerator[None, None]:
    try:
        yield
    finally:
        clients = owner()
        if clients is not None:
            clients.forget()
        await client.close()


class PerLoop(ABC):
    """Clients of one account, with connections of their own on each event loop.

    Connections cannot outlive the loop on which they were opened.

    Attributes:
        endpoint: the address, fit to be shown.
    """

    endpoint: str

    def __init__(self) -> None:
        """Nothing is connected yet."""
        self._by_loop: dict[asyncio.AbstractEventLoop, Open] = {}

    def __repr__(self) -> str:
        """Name the endpoint; no key is shown."""
        return f"{type(self).__name__}({self.endpoint!r})"

    @property
    @abstractmethod
    def account(self) -> int:
        """Tells this key's account from others in this process."""

    @abstractmethod
    def check(self) -> None:
        """Raise ``SetupError`` now when no client can be made."""

    @abstractmethod
    def new(self) -> Any:
        """A client that has no connections yet."""

    def here(self) -> Any:
        """The client for the running event loop."""
        loop = asyncio.get_running_loop()
        if loop not in self._by_loop:
            self._by_loop[loop] = Open(self.new(), self)
        return self._by_loop[loop].client

    async def aclose(self) -> None:
        """Close the connections opened on the running loop."""
        opened = self._by_loop.get(asyncio.get_running_loop())
        if opened is not None:
            await opened.aclose()

    def forget(self) -> None:
        """The running loop's client is being closed: keep neither."""
        self._by_loop.pop(asyncio.get_running_loop(), None)

    def __getstate__(self) -> dict[str, Any]:
        """Without connections: they belong to this process."""
        return {**self.__dict__, "_by_loop": {}}


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

    @property
    def account(self) -> int:
        """Tells this key's account from others in this process."""
        return hash(self._settings["api_key"] or os.environ.get("OPENAI_API_KEY"))

    def check(self) -> None:
        """Raise ``SetupError`` now when no client can be made (no key)."""
        self.new()

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
        check_key(client.api_key)
        return client


class CallersClients(PerLoop):
    """A caller's client; an asynchronous one without its connections.

    A connection that was opened on a loop that has ended still takes a request, and only then
    fails: the request would be sent, and paid, twice. A caller's own HTTP client (a proxy,
    certificates) is kept as it is, and so is a synchronous client.

    Args:
        client: an ``AsyncOpenAI``, ``OpenAI`` or Azure client; it is left as it is.

    Raises:
        SetupError: its key cannot be sent.
    """

    def __init__(self, client: Any) -> None:
        """Nothing is connected yet."""
        super().__init__()
        check_key(getattr(client, "api_key", None))
        self._client = client.with_options(max_retries=0)
        self.endpoint = public_url(str(client.base_url))
        # The SDK's and LangChain's default HTTP clients have names of this form.
        http = type(getattr(client, "_client", None)).__name__
        self._is_default = http.endswith("AsyncHttpxClientWrapper")

    @property
    def account(self) -> int:
        """Tells this key's account from others in this process."""
        return account_of(self._client)

    def check(self) -> None:
        """Nothing is made here that could fail."""

    def new(self) -> Any:
        """The caller's client over connections of its own."""
        return self._client.with_options(http_client=_http_client())

    def here(self) -> Any:
        """The client for the running event loop."""
        return super().here() if self._is_default else self._client


def check_key(key: Any) -> None:
    """Refuse a key that no header can carry; the client would show it in its own error.

    Raises:
        SetupError: it is one; its text does not show it.
    """
    if isinstance(key, str) and not (key.isascii() and key.isprintable()):
        raise SetupError(UNSENDABLE)


def check_was_sendable(error: BaseException) -> None:
    """The same for a key that a function has fetched, or a header: known by the client's error.

    Raises:
        SetupError: the error is about one.
    """
    if isinstance(error, UnicodeEncodeError) and error.encoding == "ascii":
        raise SetupError(UNSENDABLE) from None


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
