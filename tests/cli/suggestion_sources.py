"""Every string of the package that names a command or an option of ours to its reader, found in the source."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pointsman

PACKAGE = Path(pointsman.__file__).parent
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]*[a-z]")
COMMAND = re.compile(r"pointsman ([a-z]+)(?: ([a-z]+))?")
SUGGESTS = re.compile(rf"{FLAG.pattern}|pointsman [a-z]+|(?<![\w-])-o\b")
NO_MESSAGES = ("Option", "Argument", "Typer")
"""Calls whose strings declare options and describe them in the help."""


class Message(NamedTuple):
    """A string of the source."""

    place: str
    parts: tuple[str, ...]
    """What stands between the values that are put in."""

    @property
    def text(self) -> str:
        """The string, with `{}` for values."""
        return "{}".join(self.parts)

    def pattern(self) -> re.Pattern[str]:
        """What the message is like when it is printed, however its lines are broken."""
        return re.compile(r"\s*.*?".join(re.escape(part) for part in self.parts), re.DOTALL)


@cache
def messages() -> list[Message]:
    """All strings that suggest something, but for docstrings and the declarations of options."""
    return [message for file in sorted(PACKAGE.rglob("*.py")) for message in _of_file(file)]


def _of_file(file: Path) -> Iterator[Message]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    passed_over = set(_no_messages(tree))
    for node in ast.walk(tree):
        if id(node) in passed_over:
            continue
        if isinstance(node, ast.JoinedStr):
            passed_over |= {id(part) for part in node.values}
        parts = _parts(node)
        text = "{}".join(parts)
        if parts and SUGGESTS.search(text) and " " in text.strip():  # one word is an option's own name
            yield Message(f"{file.relative_to(PACKAGE)}:{node.lineno}", parts)  # ty: ignore


def _parts(node: ast.AST) -> tuple[str, ...]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return tuple(re.split(r"{[a-z]+}", node.value))
    if isinstance(node, ast.JoinedStr):
        plain = [part.value if isinstance(part, ast.Constant) else "\0" for part in node.values]
        return tuple("".join(map(str, plain)).split("\0"))
    return ()


def _no_messages(tree: ast.Module) -> Iterator[int]:
    """Nodes that no message is in: docstrings, and what options say of themselves."""
    for node in ast.walk(tree):
        declares = isinstance(node, ast.Call) and getattr(node.func, "attr", "") in NO_MESSAGES
        if declares or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            yield from (id(part) for part in ast.walk(node))
