"""OpenAI clients of our own, one for each event loop: connections cannot outlive theirs."""

from __future__ import annotations

import asyncio
import os
import weakref
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from .errors import SetupError


DEFAULT_URL = "https://api.openai.com/v1"


class Clients:
    """Makes the client for the event loop that is running; nothing is connected before.

    Args:
        base_url: as the openai package reads it (``OPENAI_BASE_URL``) when None.
        api_key: as the openai package reads it (``OPENAI_API_KEY``) when None.
    """

    def __init__(self, *, base_url: str | None = None, api_key: str | None = None) -> None:
        """Keep the settings."""
        self._settings = {"base_url": base_url, "api_key": api_key}
        self._by_loop: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Any] = (
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
                http_client=openai.DefaultAsyncHttpxClient(),
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
            self._by_loop[loop] = self.new()
        return self._by_loop[loop]

    async def aclose(self) -> None:
        """Close the connections opened on the running loop."""
        client = self._by_loop.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.close()


def public_url(url: str) -> str:
    """A URL fit to be shown and stored: without user, password, query and fragment.

    >>> public_url("https://me:secret@judge.test:8000/v1?api_key=abc")
    'https://judge.test:8000/v1'
    """
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
