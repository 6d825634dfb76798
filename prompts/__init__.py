"""The words sent to the judge: versioned prompt folders, one pack a language.

>>> from ragas_judge.prompts import load_prompt
>>> load_prompt("claim_extraction", language="zh").ref.version
1
"""

from ._language import detect_language
from ._notes import reask_note
from ._prompt import LANGUAGES, Message, Prompt, PromptRef, load_prompt, prompt_ids

__all__ = [
    "LANGUAGES",
    "Message",
    "Prompt",
    "PromptRef",
    "detect_language",
    "load_prompt",
    "prompt_ids",
    "reask_note",
]
