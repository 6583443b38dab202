"""The pages of the documentation, as a test reads them: blocks of code, and what is said about them in comments."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FOR_CONTRIBUTORS = [ROOT / name for name in ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")]
"""Pages whose code is not run: it sets up environments and runs these tests."""

_FENCE = re.compile(
    r"^(?:<!-- file: (?P<file>\S+) -->\n)?(?P<indent> *)```(?P<language>\w*)\n(?P<text>.*?)^(?P=indent)```$",
    re.M | re.S,
)


@dataclass(frozen=True)
class Block:
    """A fenced block of code."""

    page: Path
    line: int
    language: str
    text: str
    file: str | None
    """The file that is shown, as a comment above the block says: ``<!-- file: PATH -->``."""

    @property
    def where(self) -> str:
        return f"{name(self.page)}:{self.line}"


@dataclass(frozen=True)
class Command:
    """A line after ``$``, and the lines that are shown as its output."""

    where: str
    words: tuple[str, ...]
    shown: tuple[str, ...]
    target: str | None
    """The file that standard output goes to."""


def name(page: Path) -> str:
    """The path of `page` from the root."""
    return str(page.relative_to(ROOT))


def blocks(page: Path) -> Iterator[Block]:
    """Every block of `page`, in order."""
    text = page.read_text(encoding="utf-8")
    for found in _FENCE.finditer(text):
        line = text.count("\n", 0, found.start("language")) + 1
        yield Block(page, line, found["language"], found["text"], found["file"])


def commands(block: Block) -> Iterator[Command]:
    """The commands of a console block (after ``$``), or of a sh block (each line)."""
    text = block.text if block.language == "console" else re.sub("^", "$ ", block.text.rstrip(), flags=re.M)
    for part in re.split(r"^\$ ", text.replace("\\\n", " "), flags=re.M)[1:]:
        typed, *shown = part.rstrip("\n").split("\n")
        words = shlex.split(typed, comments=True)
        target = None
        if ">" in words:
            at = words.index(">")
            words, target = words[:at], words[at + 1]
        yield Command(f"{block.where}: $ {typed}", tuple(words), tuple(shown), target)


def shows(shown: tuple[str, ...], printed: str) -> bool:
    """Whether `printed` is what a page shows: a line ``...`` stands for any lines, columns at the right may be left
    out, and widths of gaps do not matter.
    """
    lines = [r"(?s:.*)" if line == "..." else re.escape(_gaps(line)) + r"(?: .*)?" for line in shown]
    return re.fullmatch(r"\n".join(lines) + r"\n*", _gaps(printed)) is not None


def _gaps(text: str) -> str:
    return "\n".join(re.sub(r" +", " ", line).rstrip() for line in text.split("\n"))
