"""OpenAI clients of our own, one for each event loop: connections cannot outlive theirs."""

from __future__ import annotations

import asyncio
import contextlib
import os
import ssl
import weakref
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


class Clients:
    """Makes the client for the event loop that is running; nothing is connected before.

    Args:
        base_url: as the openai package reads it (``OPENAI_BASE_URL``) when None.
        api_key: as the openai package reads it (``OPENAI_API_KEY``) when None.
    """

    def __init__(self, *, base_url: str | None = None, api_key: str | None = None) -> None:
        """Keep the settings."""
        self._settings = {"base_url": base_url, "api_key": api_key}
        self._by_loop: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Open] = (
            weakref.WeakKeyDictionary()
        )
        url = base_url or os.environ.get("OPENAI_BASE_URL")
        self.endpoint = public_url(url or DEFAULT_URL)

    def __repr__(self) -> str:
        """Name the endpoint; no key is shown."""
        return f"Clients({self.endpoint!r})"

    def __getstate__(self) -> dict[str, Any]:
        """Without connections: they belong to this process."""
        return {**self.__dict__, "_by_loop": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _by_loop=weakref.WeakKeyDictionary())

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
                # The SDK's own would close itself on whatever event loop is running when it is
                # collected, which need not be the one that its connections belong to.
                http_client=openai.DefaultAsyncHttpxClient(verify=certificates()),
                **self._settings,  # type: ignore[arg-type]
            )
            client.api_key.encode("ascii")
            return client
        except UnicodeEncodeError as error:
            raise SetupError("the API key holds a character that no key can hold") from error
        except openai.OpenAIError as error:
            said = "no API key: set OPENAI_API_KEY or pass api_key= (any text for a local server)"
            raise SetupError(said) from error

    def here(self) -> Any:
        """The client of the running event loop."""
        loop = asyncio.get_running_loop()
        if loop not in self._by_loop:
            self._by_loop[loop] = Open(self.new())
        return self._by_loop[loop].client

    async def aclose(self) -> None:
        """Close the connections opened on the running loop."""
        opened = self._by_loop.pop(asyncio.get_running_loop(), None)
        if opened is not None:
            await opened.client.close()


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


class PerLoop:
    """A caller's asynchronous client, with connections of its own on each event loop.

    A client keeps connections; one that was opened on a loop that has ended still takes a
    request, and only then fails: the request would be sent, and paid, twice. A caller's own
    HTTP client (a proxy, certificates) is kept as it is.

    Args:
        client: an ``AsyncOpenAI`` or Azure client; it is left as it is.
    """

    def __init__(self, client: Any) -> None:
        """Nothing is connected yet."""
        self._client = client.with_options(max_retries=0)
        self._by_loop: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Open] = (
            weakref.WeakKeyDictionary()
        )
        # The SDK's and LangChain's default HTTP clients have names of this form.
        self._is_default = type(client._client).__name__.endswith("AsyncHttpxClientWrapper")

    def __getstate__(self) -> dict[str, Any]:
        """Without connections: they belong to this process."""
        return {**self.__dict__, "_by_loop": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _by_loop=weakref.WeakKeyDictionary())

    def here(self) -> Any:
        """The client for the running event loop."""
        if not self._is_default:
            return self._client
        loop = asyncio.get_running_loop()
        if loop not in self._by_loop:
            import openai

            http_client = openai.DefaultAsyncHttpxClient(verify=certificates())
            self._by_loop[loop] = Open(self._client.with_options(http_client=http_client))
        return self._by_loop[loop].client

    async def aclose(self) -> None:
        """Close the connections opened on the running loop."""
        opened = self._by_loop.pop(asyncio.get_running_loop(), None)
        if opened is not None:
            await opened.client.close()


def public_url(url: str) -> str:
    """A URL fit to be shown and stored: without user, password, query and fragment.

    >>> public_url("https://me:secret@judge.test:8000/v1?api_key=abc")
    'https://judge.test:8000/v1'
    """
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
