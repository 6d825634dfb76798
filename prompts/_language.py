"""Which language pack fits a sample: decided by script, so that no model is asked.

A language detector would be a heavy dependency for a choice between two scripts; the
share of Han characters among the letters decides.
"""

import re

_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_KANA = re.compile(r"[\u3040-\u30ff]")
_WORD = re.compile(r"[^\W\d_]+")

HAN_SHARE = 0.5
"""Least share of Han characters among the units for a text to count as Chinese."""


def detect_language(*texts: str) -> str:
    """Return ``"zh"`` or ``"en"``, the prompt pack for these texts.

    A Han character counts as one unit and so does a word of any other script, since one
    Han character carries about as much as a word. Text with Japanese kana, or without any
    letter, gets the English pack.

    >>> detect_language("灯塔有多高？", "灯塔高 23.5 米，由 Hask & Co 建造。")
    'zh'
    >>> detect_language("How tall is the tower called 灯塔?")
    'en'
    """
    text = " ".join(texts)
    if _KANA.search(text):
        return "en"
    han = len(_HAN.findall(text))
    words = len(_WORD.findall(_HAN.sub(" ", text)))
    return "zh" if han and han / (han + words) >= HAN_SHARE else "en"
