"""The client layer: everything between a prompt and a checked reply.

Importing it loads neither ragas nor langchain, openai, httpx or numpy.
"""

import logging

from .budget import Budget
from .cache import Cache
from .embedders import EmbeddedE5, Embedder, OpenAIEmbedder, adopt_embedder
from .items import Answers, Call, Question
from .judge import Judge
from .limits import Limits
from .loops import run_sync
from .recordings import RecordingMode, Recordings
from .retry import RetryPolicy
from .scripted import ScriptedTransport
from .types import Reply, ReplyState, Request, Transport, Usage

logging.getLogger("ragas_judge").addHandler(logging.NullHandler())  # quiet unless asked

__all__ = [
    "Answers",
    "Budget",
    "Cache",
    "Call",
    "EmbeddedE5",
    "Embedder",
    "Judge",
    "Limits",
    "OpenAIEmbedder",
    "Question",
    "RecordingMode",
    "Recordings",
    "Reply",
    "ReplyState",
    "Request",
    "RetryPolicy",
    "ScriptedTransport",
    "Transport",
    "Usage",
    "adopt_embedder",
    "run_sync",
]
