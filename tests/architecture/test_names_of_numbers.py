"""Numbers of a policy have names (ADR 27): no code reads one by its position."""

import re
from pathlib import Path

import pytest

import pointsman

PACKAGE = Path(pointsman.__file__).parent
REPOSITORY = Path(__file__).parents[2]
POSITION = re.compile(r"\bS\.(?:params|memory)\b|\bstate\.(?:params|memory)\[|\.s[0-3]\b|\[[\"']s[0-3][\"']\]")
MECHANISM = ("engine/state/named.py", "engine/state/records.py")
FILES = [
    *(file for file in sorted(PACKAGE.rglob("*.py")) if file.relative_to(PACKAGE).as_posix() not in MECHANISM),
    *sorted((REPOSITORY / "benchmarks").rglob("*.py")),
    *sorted((REPOSITORY / "examples").rglob("*.py")),
    REPOSITORY / "docs/guides/compiled-policies.md",
]
ARRAYS = ("state.params[:] = parameters_of(policy)", "new.state.memory[: len(memory)] = memory")
"""Lines that copy a whole array."""


def positions(text: str) -> list[str]:
    """The lines that read a number by its position."""
    return [line.strip() for line in text.splitlines() if POSITION.search(line) and line.strip() not in ARRAYS]


def test_no_number_is_read_by_its_position() -> None:
    found = {str(file): lines for file in FILES if (lines := positions(file.read_text(encoding="utf-8")))}
    assert found == {}, "declare it in a record (docs/guides/compiled-policies.md#your-numbers-have-names)"


@pytest.mark.parametrize(
    "line",
    ["x = S.params[7]", "M = S.memory", "S.jobs[j].s2 = 1.0", 'job["s0"]', "S.nodes[n].s0 += 1", "state.memory[BEGIN]"],
)
def test_one_that_comes_back_is_found(line: str) -> None:
    assert positions(f"    {line}\n") == [line]
