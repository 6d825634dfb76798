"""What a service has refused, remembered for each endpoint and model.

Never decided by a model's name: a parameter is left out or renamed, and the way of asking for
JSON goes one rung down, only after the service has refused it.
"""

from __future__ import annotations

import logging
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

RUNGS = ("json_schema", "json_object", "text")
LIMITS = ("max_tokens", "max_completion_tokens")
"""Two names of one parameter: a service that refuses the one may take the other."""
_WORD = re.compile(r"[A-Za-z_][\w.]*\w")
_UNSUPPORTED = re.compile(
    r"unsupported|not support|unknown|unrecogni[sz]ed|unexpected|not permitted|not allowed"
    r"|extra inputs|extra fields|invalid parameter|cannot both|only the default",
    re.IGNORECASE,
)
"""How services say that they do not know a parameter, or take it in no form but the default."""
_VALUE = re.compile(r"too |maximum|at most|at least|exceed|less than|greater than|between", re.I)
"""How they say that a value is out of range."""
_CANNOT_BOTH = re.compile(r"cannot both|not both|only one of|mutually exclusive", re.IGNORECASE)
_TOO_LONG = re.compile(r"exceed|too long|context length|maximum context", re.I)
_FORM = {"response_format", "json_schema", "grammar"}
log = logging.getLogger("ragas_judge")


@dataclass
class Learnt:
    """What one endpoint has refused for one model.

    Attributes:
        rung: how far down the ways of asking for JSON.
        refused: names of parameters, as they were sent.
        one_of_two: temperature and top_p are not taken together.
    """

    rung: int = 0
    refused: set[str] = field(default_factory=set)
    one_of_two: bool = False

    def apply(
        self, sampling: Mapping[str, Any], schema: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        """Request parameters as this service takes them.

        >>> Learnt(refused={"max_tokens", "seed"}).apply({"max_tokens": 9, "seed": 1}, None)
        {'max_completion_tokens': 9}
        """
        names = {name: self._taken_as(name, sampling) for name in sampling}
        params = {new: sampling[name] for name, new in names.items() if new is not None}
        form = response_format(schema, RUNGS[self.rung]) if schema is not None else None
        if form is not None:
            params["response_format"] = form
        return params

    def dropped(self, sampling: Mapping[str, Any]) -> tuple[str, ...]:
        """Which of these parameters are left out, in order of their names."""
        return tuple(sorted(name for name in sampling if self._taken_as(name, sampling) is None))

    def _taken_as(self, name: str, sampling: Mapping[str, Any]) -> str | None:
        both = name == "top_p" and "temperature" in sampling and "temperature" not in self.refused
        if both and self.one_of_two:
            return None  # the temperature is the one that was meant
        names = (name, *LIMITS) if name in LIMITS else (name,)
        return next((each for each in names if each not in self.refused), None)

    def goes_on(
        self,
        message: str,
        parameter: str | None,
        sent: Mapping[str, Any],
        again: Callable[[], Mapping[str, Any]],
    ) -> bool:
        """Take a refusal to heart: would the next try send something else?

        Args:
            message: what the service said, without keys.
            parameter: what it named, where it does.
            sent: the parameters that were sent.
            again: makes them anew. Another call may have learnt the same while this one was
                under way.
        """
        if again() != sent:
            return True
        named = refused_parameter(message, parameter, sent)
        if named is None or (named == "response_format" and self.rung == len(RUNGS) - 1):
            return False
        log.warning("%r is refused and will be changed or left out: %s", named, message[:200])
        if named == "response_format":
            self.rung += 1
        elif named == "top_p" and "temperature" in sent and _CANNOT_BOTH.search(message):
            self.one_of_two = True
        else:
            self.refused.add(named)
        return again() != sent


_known: OrderedDict[tuple[str, str], Learnt] = OrderedDict()
_lock = threading.Lock()
MOST_KNOWN = 1000
"""Endpoints and models that are remembered; those used longest ago go first."""


def learnt_for(endpoint: str, model: str, own: dict[str, Learnt]) -> Learnt:
    """What is known of a model: shared in this process where the endpoint is a URL.

    Args:
        endpoint: an address, or the name of a client.
        model: services differ by model.
        own: the caller's, for endpoints that are no address.
    """
    if "://" not in endpoint:
        return own.setdefault(model, Learnt())
    key = (endpoint.rstrip("/"), model)
    with _lock:
        found = _known.setdefault(key, Learnt())
        _known.move_to_end(key)
        while len(_known) > MOST_KNOWN:
            _known.popitem(last=False)
        return found


def refused_parameter(message: str, parameter: str | None, sent: Mapping[str, Any]) -> str | None:
    """Which of the parameters sent does a refusal name?

    >>> refused_parameter("Unsupported parameter: 'max_tokens'.", None, {"max_tokens": 9})
    'max_tokens'
    >>> long = "the prompt and the json_schema together exceed 4096 tokens"
    >>> refused_parameter(long, None, {"response_format": {}}) is None
    True
    >>> too_large = "'max_tokens' is too large: 9000. The maximum context length is 4096."
    >>> refused_parameter(too_large, "max_tokens", {"max_tokens": 9000}) is None
    True
    """
    parameter = parameter if isinstance(parameter, str) else None  # some send its place in a list
    words = [parameter or "", *_WORD.findall(message)]
    named = [part for word in words for part in word.split(".")]
    if "response_format" in sent and _FORM & set(named) and not _TOO_LONG.search(message):
        return "response_format"
    if _CANNOT_BOTH.search(message) and "top_p" in named and "top_p" in sent:
        return "top_p"
    told_apart = parameter is not None and not _VALUE.search(message)
    if not (told_apart or _UNSUPPORTED.search(message)):
        return None  # its value is refused, or something else
    return next((name for name in named if name in sent), None)


def response_format(schema: Mapping[str, Any], rung: str) -> dict[str, Any] | None:
    """The ``response_format`` of one rung of the ladder."""
    if rung == "json_schema":
        inner = {"name": "reply", "strict": True, "schema": dict(schema)}
        return {"type": "json_schema", "json_schema": inner}
    return {"type": "json_object"} if rung == "json_object" else None
