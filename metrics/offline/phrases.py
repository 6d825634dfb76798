"""Sentences that state nothing: greetings, questions, refusals; by short lists in both languages.

A list catches the common wordings and misses the rest; it is kept short so that a reader can
see what it does. Each entry is matched at the beginning of a sentence unless noted.
"""

from __future__ import annotations

import re

from ..sentences import split_sentences

_GREETING = re.compile(
    r"(?:hello|hi|hey|dear|greetings|good (?:morning|afternoon|evening|day)|welcome|thanks?|sure"
    r"|of course|certainly|absolutely|(?:great|good) question|i hope (?:this|that)|i'm happy to"
    r"|i am happy to|i'd be happy to|let me know|feel free|please let me know|you're welcome"
    r"|here (?:is|are) (?:the|a|an|some|my) (?:answer|summary|list|information|details)"
    r"|(?:best|kind) regards|sincerely)\b"
    r"|你好|您好|大家好|早上好|下午好|晚上好|谢谢|感谢您|不客气|当然可以|好的[，,。!！]|希望(?:这|以上|对你|对您)"
    r"|如(?:果)?(?:有|还有)(?:任何|其他)|欢迎(?:随时|继续)",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"\b(?:i|we) (?:do not|don['’]t|did not|didn['’]t|cannot|can['’]t|could not|couldn['’]t)"
    r" (?:really |currently |simply )?"
    r"(?:know|say|tell|answer|find|determine|provide|help|assist"
    r"|have (?:any |enough |the |that |access)|give|confirm|locate|see)"
    r"|\b(?:i['’]m|i am|we are|we['’]re) (?:not sure|not certain|sorry|afraid|(?:un|not )able to)\b"
    r"|^\W*sorry\b|\bmy apologies\b|\bi apologi[sz]e\b"
    r"|\bas an ai\b"
    r"|\bno (?:relevant )?information (?:is |was )?(?:available|provided|given|found)\b"
    r"|\b(?:contexts?|passages?|documents?|texts?|sources?|information)"
    r" (?:provided |given |above )?(?:do|does|did)(?: not|n['’]t)"
    r" (?:mention|say|state|contain|provide|include|specify|give|tell)"
    r"|\b(?:is|are) not (?:mentioned|stated|specified|provided|given) in the"
    r" (?:provided |given )?(?:contexts?|passages?|documents?|texts?|sources?)"
    r"|\bit (?:is|'s) (?:unclear|not clear|not known|unknown|hard to say|impossible to say)\b"
    r"|\b(?:insufficient|not enough) (?:information|context|data)\b|\bunable to answer\b"
    r"|\bcannot be (?:answered|determined)\b"
    r"|我不知道|我不清楚|我不确定|我不太清楚|无法(?:回答|确定|判断|得知|提供|给出|找到|从)|不能(?:回答|确定|判断|提供)"
    r"|没有(?:提到|提及|提供|找到|说明|足够|相关(?:的)?(?:信息|内容|资料))|未(?:提到|提及|提供|找到|说明)"
    r"|抱歉|对不起|很遗憾|作为(?:一个|一名)?(?:人工智能|AI|语言模型)|信息不足|资料不足|不得而知|尚不清楚|难以(?:回答|确定|判断)",
    re.IGNORECASE,
)
_LEAD_IN = re.compile(r"^[\s\-–—*•#>\"“'‘(（]*(?:\d{1,2}[.)、]\s*)?")
SHORT = 12
"""A greeting with more words than this says something besides."""


def is_question(sentence: str) -> bool:
    """Does the sentence end in a question mark?

    >>> is_question("How tall is it?"), is_question("它有多高？"), is_question("It is tall.")
    (True, True, False)
    """
    return sentence.rstrip(" \"'”’)）」』").endswith(("?", "？"))


def is_greeting(sentence: str) -> bool:
    """Is it a greeting, a thank-you or a phrase of service?

    >>> [is_greeting(text) for text in ("Hello, and welcome!", "您好！", "Hello Lake is deep.")]
    [True, True, False]
    """
    start = _LEAD_IN.sub("", sentence)
    found = _GREETING.match(start)
    if not found or len(start.split()) > SHORT or len(start) > 12 * SHORT:
        return False
    return not re.search(r"\b(?:is|are|was|were|has|have)\b|是|为", start[found.end() :])


def is_refusal(sentence: str) -> bool:
    """Does it say that an answer is not known or not given?

    >>> is_refusal("I don't know who built it."), is_refusal("文中没有提到建造者。")
    (True, True)
    >>> is_refusal("Nobody knew the builder's name until 1931.")
    False
    """
    return bool(_REFUSAL.search(sentence))


def states_something(sentence: str) -> bool:
    """Is it a statement that can be checked? It holds a letter or a digit, and is none of these.

    >>> [states_something(s) for s in ("The hull is larch.", "Why larch?", "---", "Sure!")]
    [True, False, False, False]
    """
    return (
        any(character.isalnum() for character in sentence)
        and not is_question(sentence)
        and not is_greeting(sentence)
        and not is_refusal(sentence)
    )


def is_noncommittal(text: str, language: str) -> bool:
    """Does a response refuse, and state nothing besides?

    >>> is_noncommittal("I'm sorry. I don't know the answer.", "en")
    True
    >>> is_noncommittal("抱歉，我不知道。", "zh")
    True
    >>> is_noncommittal("I'm not sure, sorry. The tower is 23.5 m tall.", "en")
    False
    """
    sentences = split_sentences(text, language)
    return any(map(is_refusal, sentences)) and not any(map(states_something, sentences))
