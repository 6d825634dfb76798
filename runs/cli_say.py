"""Lines of text on the screen."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def say(console: "Console", text: str, *, style: str | None = None) -> None:
    """Print a text as it is: a name in brackets is no markup, and a path is not broken."""
    console.print(text, style=style, markup=False, highlight=False, soft_wrap=True)
