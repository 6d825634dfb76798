"""Texts cut into units: nothing lost, nothing cut that belongs together."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragas_judge.metrics.blocks import find_blocks
from ragas_judge.metrics.sentences import Unit, split_sentences, split_units

CUTS = {
    "decimals and units": ("It costs 4.50 marlets. It weighs 1,000.5 kg.", 2),
    "a number at the end": ("It was built in 1931. Its hull is larch.", 2),
    "times": ("It sails at 7:30 p.m. daily. It rests on Sundays.", 2),
    "titles": ("Dr. Reel met Mrs. Vane. They sailed.", 2),
    "abbreviations before numbers": ("It takes approx. 5 minutes. See No. 5 and Sec. 3.2.", 2),
    "versions and names of files": ("Install v1.2.3 of app.py. Then start it.", 2),
    "an ellipsis within": ("Wait... what is it? It is late.", 2),
    "a quoted sentence": ('"It is late. We go," said Tamsin. She left.', 2),
    "who asks, after the quotation": ("“Where is it?” Tamsin asked. Nobody knew.", 2),
    "a quotation after a colon": ('He said: "Stop. Now." Then he left.', 2),
    "parentheses": ("The bell (it is loud. Very loud.) rings at noon. It is old.", 2),
    "steps in a line": ("Do this: 1. Open the valve. 2. Close it.", 2),
    "bold": ("**It is free.** Children pay nothing.", 2),
    "code in a line": ("Call `a.b. c` first. Then stop.", 2),
    "signs": ("It is great! 😀 It is new. 😀", 2),
    "unbalanced quotation marks": ("The 5'10\" plank is wet. It “dries. Soon.", 3),
}
ZH_CUTS = {
    "without blanks": ("水温为85℃。时间是多久？三分钟！", 3),
    "numbers of sections": ("第3.2节规定用水4.5升。另见第4节。", 2),
    "full-width digits": ("票价３．５元。儿童免票。", 2),
    "a quotation": ("他说：“好。走吧。”然后走了。", 2),
    "who asks, after the quotation": ("“在哪里？”她问。没有人知道。", 2),
    "no frame": ("他说：“好。”问题解决了。", 2),
    "corner brackets": ("牌子写着「慢。小心。」。门关着。", 2),
    "an ellipsis": ("他等了很久……然后走了。再见。", 2),
    "semicolons": ("它有三色：红；蓝；绿。", 1),
    "English inside": ("他用Python 3.11写的。见No. 5条款。", 2),
    "initials": ("U.S. 的船到了。它很大。", 2),
    "bold": ("**免费。**儿童不用付费。", 2),
    "English sentences": ("水温为85℃。Then go. Dr. Who came.", 3),
}


@pytest.mark.parametrize(("text", "count"), CUTS.values(), ids=CUTS.keys())
def test_english_is_cut_at_the_ends_of_sentences(text: str, count: int) -> None:
    assert len(split_sentences(text, "en")) == count


@pytest.mark.parametrize(("text", "count"), ZH_CUTS.values(), ids=ZH_CUTS.keys())
def test_chinese_is_cut_at_the_ends_of_sentences(text: str, count: int) -> None:
    assert len(split_sentences(text, "zh")) == count


# --- blocks ------------------------------------------------------------------------------


def shown(text: str, language: str = "en") -> list[str]:
    return [unit.text for unit in split_units(text, language) if unit.kind != "layout"]


def test_list_items_stand_alone_and_bring_their_further_lines() -> None:
    text = (
        "Fares:\n- adults pay\n  4.50\n* children:\n    1. under six 0\n    2. others 2.00\n- dogs"
    )
    assert shown(text) == [
        "Fares:",
        "- adults pay 4.50",
        "* children:",
        "1. under six 0",
        "2. others 2.00",
        "- dogs",
    ]


def test_a_list_item_of_two_sentences_is_two() -> None:
    assert shown("1. Open the valve. Wait.\n2. Close it.") == [
        "1. Open the valve.",
        "Wait.",
        "2. Close it.",
    ]


def test_what_follows_a_list_is_no_part_of_its_last_item() -> None:
    assert shown("- red\n- blue\nAll boats are new.")[-1] == "All boats are new."


@pytest.mark.parametrize(
    "text", ["1、成人4元\n2、儿童2元", "（一）成人\n（二）儿童", "① 成人\n② 儿童", "• 成人\n• 儿童"]
)
def test_chinese_marks_of_lists_begin_a_unit(text: str) -> None:
    assert shown(text, "zh") == text.split("\n")


def test_a_row_of_a_table_carries_the_names_of_its_columns() -> None:
    text = "| Ticket | Price |\n|---|---:|\n| adult | 4.50 marlets |\n| dog | |\nAll for one day."
    units = split_units(text, "en")
    assert [(unit.kind, unit.text) for unit in units[2:]] == [
        ("row", "Ticket: adult; Price: 4.50 marlets"),
        ("row", "Ticket: dog"),
        ("prose", "All for one day."),
    ]
    assert [unit.kind for unit in units[:2]] == ["layout", "layout"]
    assert text[units[2].start : units[2].end] == "| adult | 4.50 marlets |"


def test_a_chinese_table_has_chinese_marks() -> None:
    assert shown("|票种|价格|\n|---|---|\n|成人|4.50元|", "zh") == ["票种：成人；价格：4.50元"]


def test_bars_without_a_rule_are_lines() -> None:
    assert shown("| zone | price |\n| A | 3 |") == ["| zone | price |", "| A | 3 |"]


@pytest.mark.parametrize("code", ["```sh\nset fee 4.50\n\nstart. now\n```", "a = 1.\nb = f(a)"])
def test_a_block_of_code_is_one_unit(code: str) -> None:
    block = code if "```" in code else "    " + code.replace("\n", "\n    ")
    text = f"Run this:\n\n{block}\n\nThen wait."
    units = split_units(text, "en")
    assert [unit.kind for unit in units] == ["prose", "code", "prose"]
    assert text[units[1].start : units[1].end] == units[1].text == block.strip()


def test_indented_prose_is_no_code() -> None:
    text = "It sails daily.\n\n    It is grey. It is old."
    assert shown(text) == ["It sails daily.", "It is grey.", "It is old."]


def test_headings_and_quotations_and_rules() -> None:
    text = "## Opening hours\nDaily.\n\n---\n\n> It is closed\n> on Sundays.\n\n***"
    assert [(unit.kind, unit.text) for unit in split_units(text, "en")] == [
        ("heading", "## Opening hours"),
        ("prose", "Daily."),
        ("layout", "---"),
        ("prose", "> It is closed"),
        ("prose", "> on Sundays."),
        ("layout", "***"),
    ]


def test_marks_alone_are_not_asked_about_but_a_sign_is() -> None:
    assert split_sentences("...\n\n!?\n\n✅", "en") == ["✅"]


# --- lines -------------------------------------------------------------------------------

WRAPPED = (
    "The ferry from Pellin Quay to Harth Landing costs\n"
    "4.50 marlets on weekdays, while the funicular to\n"
    "Upper Vane costs 2 marlets. Both sail until 9 p.m.\n"
    "on every day."
)
WRAPPED_ZH = "\n".join(
    [
        "公共制茶机安装于一九六二年，由渔民会捐赠给本村使",
        "用，使用者须先到服务台登记。鲜叶须摊晾三小时后才",
        "能入机。",
    ]
)


def test_lines_that_were_wrapped_are_joined() -> None:
    assert shown(WRAPPED) == [
        "The ferry from Pellin Quay to Harth Landing costs 4.50 marlets on weekdays, while the"
        " funicular to Upper Vane costs 2 marlets.",
        "Both sail until 9 p.m. on every day.",
    ]
    assert shown(WRAPPED_ZH, "zh") == [
        "公共制茶机安装于一九六二年，由渔民会捐赠给本村使用，使用者须先到服务台登记。",
        "鲜叶须摊晾三小时后才能入机。",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "adults 4.50\nchildren 2.00\ndogs 1.00",
        "Monday: from nine until half past five in the evening\nTuesday: closed the whole day",
        "Is it open on Sundays, as the old board has it?\nnobody knows",
        "The ferry takes twenty-five minutes to Harth Landing  \nand the funicular takes nine",
        "The fares for the ferry and for the funicular are:\nadults 4.50",
    ],
)
def test_lines_that_were_not_wrapped_stand_alone(text: str) -> None:
    assert split_sentences(text, "en") == [line.strip() for line in text.split("\n")]


def test_a_sentence_of_two_lines_is_returned_as_it_stands() -> None:
    assert split_sentences(WRAPPED, "en")[1] == "Both sail until 9 p.m.\non every day."


# --- nothing is lost ---------------------------------------------------------------------

PIECES = st.sampled_from([
    "\n", "\n\n", "\r\n", "    ", "\t", "- ", "1. ", "> ", "# ", "```", "|", "|-|-|", "|a|b|\n",
    "---", "“", "”", '"', "**", ". ", "。", "……", "…", "p.m. ", "No. 5", "word ", "Reel ", "３．５",
    "字", "渡船", "\u2028", "\x0b", "\u3000", "\0", "(", "）", "https://a.b/c", "😀", "\u0301",
])  # fmt: skip
UNHURRIED = settings(deadline=None)  # the first example loads the parser
TEXTS = st.one_of(st.text(max_size=80), st.lists(PIECES, max_size=40).map("".join))


def letters(text: str) -> str:
    return "".join(text.split())


@pytest.mark.parametrize("language", ["en", "zh"])
@UNHURRIED
@given(text=TEXTS)
def test_every_character_is_in_one_unit_in_order(language: str, text: str) -> None:
    units = split_units(text, language)
    ends = [0, *(unit.end for unit in units)]
    starts = [*(unit.start for unit in units), len(text)]
    assert all(unit.start < unit.end for unit in units)
    assert all(end <= start for end, start in zip(ends, starts, strict=True))
    gaps = [text[end:start] for end, start in zip(ends, starts, strict=True)]
    assert letters("".join(gaps)) == ""


@pytest.mark.parametrize("language", ["en", "zh"])
@UNHURRIED
@given(text=TEXTS)
def test_a_unit_shows_what_stands_there(language: str, text: str) -> None:
    def same(unit: Unit) -> bool:
        there = text[unit.start : unit.end]
        if unit.kind == "row":
            return all(letters(part) for part in unit.text.split())
        # Marks of a quotation before a wrapped line are not shown.
        return letters(unit.text) == letters(there) or "\n>" in there.replace("\r", "\n").replace(
            " ", ""
        )

    assert all(same(unit) for unit in split_units(text, language))


@UNHURRIED
@given(text=TEXTS)
def test_each_line_is_in_one_block(text: str) -> None:
    blocks = find_blocks(text)
    lines = [line for block in blocks for line in block.lines]
    assert [line.start for line in lines] == sorted({line.start for line in lines})
    assert all(line.start <= line.content < line.end for line in lines)
    assert letters("".join(text[line.start : line.end] for line in lines)) == letters(text)
