"""A prompt is a folder of text files plus a small closed record.

    prompts/<id>/v<version>/prompt.toml        id, version, note, variables
    prompts/<id>/v<version>/item.json          JSON schema of the answer for one item
    prompts/<id>/v<version>/<language>/        system.txt, user.txt (jinja2), examples.json

Released files never change: ``LOCK.json`` holds the SHA-256 of each file, and a change
of wording means a new version folder.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

from ._fence import fence
from .errors import MissingVariableError, PromptError

ROOT = Path(__file__).parent
LANGUAGES = ("en", "zh")


class Message(NamedTuple):
    """One chat message."""

    role: str
    content: str


@dataclass(frozen=True)
class PromptRef:
    """Which words were used: recorded in every score and part of every request key."""

    id: str
    version: int
    language: str
    sha256: str


@dataclass(frozen=True)
class Prompt:
    """One prompt in one language. Everything sent is in ``messages`` and ``schema``."""

    id: str
    version: int
    language: str
    variables: tuple[str, ...]
    system: str
    user: str
    examples: tuple[Mapping[str, Any], ...]
    item_schema: Mapping[str, Any]
    note: str = field(default="", compare=False)

    @cached_property
    def ref(self) -> PromptRef:
        """The identity of these files' words: any change of them changes ``sha256``.

        Fences and re-ask notes are common to all prompts and not part of it.
        """
        parts = [self.system, self.user, self.examples, self.item_schema, self.variables]
        text = json.dumps(parts, ensure_ascii=False, sort_keys=True)
        return PromptRef(
            self.id, self.version, self.language, hashlib.sha256(text.encode()).hexdigest()
        )

    @cached_property
    def _static(self) -> tuple[Message, ...]:
        """Rules and worked examples.

        The same for every sample, so that a server can keep them in its prefix cache.
        """
        shots: list[Message] = []
        for example in self.examples:
            shots.append(Message("user", self._render(example["input"])))
            answer = json.dumps(example["output"], ensure_ascii=False)
            shots.append(Message("assistant", answer))
        return (Message("system", self.system), *shots)

    def messages(self, variables: Mapping[str, Any]) -> tuple[Message, ...]:
        """Render the chat for one sample.

        Args:
            variables: a value for each name in ``self.variables``; ``items`` is a mapping
                from id to text. Names beside those are refused.

        Raises:
            MissingVariableError: a variable is missing, or is not one of the prompt's.
        """
        return (*self._static, Message("user", self._render(variables)))

    def _render(self, variables: Mapping[str, Any]) -> str:
        missing = [name for name in self.variables if name not in variables]
        if missing:
            raise MissingVariableError(self.id, missing, "missing")
        unknown = [name for name in variables if name not in self.variables]
        if unknown:
            raise MissingVariableError(self.id, unknown, "unknown")
        return str(_template(self.user).render(variables)).strip()

    def schema(self, ids: Sequence[str]) -> dict[str, Any]:
        """JSON schema of a reply that must hold exactly these ids.

        An object with one required property an id is enforced by every server that
        enforces schemas at all, also by those that ignore ``minItems`` of a list.
        """
        return {
            "type": "object",
            "properties": {item_id: dict(self.item_schema) for item_id in ids},
            "required": list(ids),
            "additionalProperties": False,
        }


@cache
def _template(source: str) -> Any:
    from jinja2 import StrictUndefined
    from jinja2.sandbox import SandboxedEnvironment

    environment = SandboxedEnvironment(undefined=StrictUndefined, keep_trailing_newline=False)
    environment.globals["fence"] = fence
    return environment.from_string(source)


def prompt_ids() -> tuple[str, ...]:
    """Names of all shipped prompts, sorted."""
    return tuple(sorted(path.parent.parent.name for path in ROOT.glob("*/v1/prompt.toml")))


@cache
def load_prompt(prompt_id: str, *, version: int = 1, language: str = "en") -> Prompt:
    """Read a shipped prompt.

    Raises:
        PromptError: there is no such prompt, version or language, or a file is malformed.

    >>> load_prompt("claim_verification").variables
    ('contexts', 'items')
    """
    folder = ROOT / prompt_id / f"v{version}"
    pack = folder / language
    if not pack.is_dir():
        raise PromptError(
            f"no prompt {prompt_id} v{version} in language {language!r};"
            f" there are {', '.join(prompt_ids())} in {', '.join(LANGUAGES)}"
        )
    record = tomllib.loads((folder / "prompt.toml").read_text(encoding="utf-8"))
    unknown = set(record) - {"id", "version", "note", "variables"}
    if unknown or record.get("id") != prompt_id or record.get("version") != version:
        raise PromptError(f"{folder / 'prompt.toml'}: not the record of {prompt_id} v{version}")
    return Prompt(
        id=prompt_id,
        version=version,
        language=language,
        variables=tuple(record["variables"]),
        system=(pack / "system.txt").read_text(encoding="utf-8").strip(),
        user=(pack / "user.txt").read_text(encoding="utf-8").strip(),
        examples=tuple(json.loads((pack / "examples.json").read_text(encoding="utf-8"))),
        item_schema=json.loads((folder / "item.json").read_text(encoding="utf-8")),
        note=record.get("note", ""),
    )
