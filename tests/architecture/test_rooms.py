"""The layout that ``docs/architecture.md`` describes: few rooms, small folders, no import cycles, no policy by name."""

import ast
from collections import Counter
from pathlib import Path

import pytest

import pointsman
from pointsman.policies.registry import BUILT_IN
from pointsman.workload.readers.formats import READERS

PACKAGE = Path(pointsman.__file__).parent
MOST_ROOMS, MOST_FILES = 15, 16
MANY = ("cli", "readers")
"""Folders with one file a command or a format, however many there are."""
MAY_NAME_POLICIES = ("policies", "learn", "suite", "cli", "workload")
"""The last for trace formats of the same name."""
MODULES = {
    ".".join(("pointsman", *file.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__"): file
    for file in sorted(PACKAGE.rglob("*.py"))
}


def imported(file: Path) -> set[str]:
    """Modules of ours that `file` imports, inside functions and for type checking too."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("pointsman"):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            found |= {name if name in MODULES else node.module for name in names}
    return found


def reachable(start: str, edges: dict[str, set[str]]) -> set[str]:
    seen: set[str] = set()
    ahead = [start]
    while ahead:
        for other in edges.get(ahead.pop(), set()) - seen:
            seen.add(other)
            ahead.append(other)
    return seen


def test_there_are_few_rooms() -> None:
    assert len([path for path in PACKAGE.iterdir() if (path / "__init__.py").exists()]) <= MOST_ROOMS


def test_no_folder_is_crowded() -> None:
    files = Counter(file.parent for file in MODULES.values() if file.parent.name not in MANY)
    assert {str(folder.relative_to(PACKAGE)): n for folder, n in files.items() if n > MOST_FILES} == {}


def test_no_module_imports_itself_by_way_of_others() -> None:
    edges = {module: imported(file) for module, file in MODULES.items()}
    assert [module for module in MODULES if module in reachable(module, edges)] == []


def words(tree: ast.Module) -> set[str]:
    """Strings in the code, but for the defaults of arguments."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    defaults = {id(default) for f in functions for default in (*f.args.defaults, *f.args.kw_defaults)}
    constants = [n for n in ast.walk(tree) if isinstance(n, ast.Constant) and id(n) not in defaults]
    return {n.value for n in constants if isinstance(n.value, str)}


@pytest.mark.parametrize("module", [m for m, f in MODULES.items() if not set(MAY_NAME_POLICIES) & set(f.parts)])
def test_no_policy_is_named_outside_its_room(module: str) -> None:
    names = {form for name in BUILT_IN for form in (name, name.replace("-", "_"))}
    assert words(ast.parse(MODULES[module].read_text(encoding="utf-8"))) & names == set()


@pytest.mark.parametrize("name", READERS)
def test_a_trace_format_imports_one_module(name: str) -> None:
    """But for the columns' limits, and modules of its own."""
    readers = "pointsman.workload.readers"
    allowed = {f"{readers}.sdk", f"{readers}.native", "pointsman.workload.columns"}
    own = {module for module in MODULES if module.startswith(f"{readers}.{name}_")}
    assert imported(MODULES[f"{readers}.{name}"]) <= allowed | own
