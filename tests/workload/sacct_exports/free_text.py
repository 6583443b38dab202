"""What users type into job names and comments: quotes, odd bytes, and what is worse."""

from typing import Final

from hypothesis import strategies as st

DELIMITERS: Final = ("|", "\t", ";", "|#", "::", "§", "@@", "^")
"""What `sacct --delimiter` is given."""
ODD_BYTES: Final = ("tr\udce9m", "\udcff\udcfe", "\udc80")
"""Bytes that are not UTF-8, as Python's surrogateescape has them."""
_QUOTES: Final = ('"', '""', "'", '"wand"b', 'bash -c "x"', "`ls`", '\\"', "\\", '"open quote', '","')
_WORDS: Final = ("train", "lr=1", "a,b", "%x_%j", "$HOME/run.sh", "{1}", "[0]", "None", "Unknown", "#", " ", "=")
_UNICODE: Final = ("été", "模型", "🚀", "e\u0301", "\u2028", "\x85", "\x0b", "\x0c", "\x1c", "\x1b[1m", "\ufeff")
_BREAKS: Final = ("\n", "\r\n", "\n\n", "\r", "a\nb", "echo a &&\necho goodbye")
_ANY: Final = st.text(st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="|;#:@^§\x00"), max_size=3)
_PLAIN: Final = st.one_of(*map(st.sampled_from, (_QUOTES, _WORDS, _UNICODE, ODD_BYTES)), _ANY)

plain = st.lists(_PLAIN, max_size=3).map("".join)
"""Text that separates nothing, whatever the delimiter."""
delimited = st.tuples(plain, st.sampled_from(DELIMITERS), plain).map("".join)
"""Text that holds what may be the delimiter."""
broken = st.tuples(plain, st.sampled_from(_BREAKS), plain).map("".join)
"""Text of more than one line."""
