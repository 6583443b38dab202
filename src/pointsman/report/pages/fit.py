"""Tables that fit the width of a page: which spaces may break, and how much room the rest needs."""

import re
from typing import Final

from pointsman.report.tables.tables import Table

UNIT: Final = re.compile(r"(?<=\d) (?=(?:%|d|h|min|s|times)(?!\w))")
"""Between a number and its unit."""
LONG: Final = 24
"""Words of more characters than this are broken anywhere."""
SENTENCE: Final = 60
"""A cell of more characters than this keeps a width in which it can be read."""
CHARACTER_EM: Final = 0.6
"""Width of a character, and of the space beside a cell (the template's padding), in font sizes."""
PADDING_EM: Final = 0.9


def glued(text: str) -> str:
    """The text with numbers and their units on one line."""
    return UNIT.sub("\N{NO-BREAK SPACE}", text)


def is_long(text: str) -> bool:
    """Whether there is a word so long that it must be broken."""
    return _longest_word(text) > LONG


def is_sentence(text: str) -> bool:
    """Whether it would be many lines in a narrow column."""
    return len(text) > SENTENCE


def needed_em(table: Table) -> float:
    """Least width of a table, in font sizes."""
    words = [min(LONG, max(map(_longest_word, column))) for column in zip(table.columns, *table.rows, strict=True)]
    return round(sum(words) * CHARACTER_EM + len(words) * PADDING_EM, 1)


def _longest_word(text: str) -> int:
    return max(map(len, glued(text).split(" ")))
