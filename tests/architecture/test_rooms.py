"""The layout that ``docs/architecture.md`` describes: few rooms, small folders, no import cycles, no policy by name,
and tests in the rooms of what they test.
"""

import ast
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

import pointsman
from pointsman.policies.registry import BUILT_IN
from pointsman.workload.readers.formats import READERS

PACKAGE = Path(pointsman.__file__).parent
MOST_ROOMS, MOST_FILES = 16, 16
MANY = ("cli", "readers")
"""Folders with one file a command or a format, however many there are."""
MAY_NAME_POLICIES = ("policies", "learn", "suite", "cli", "workload")
"""The last for trace formats of the same name."""
TESTS = Path(__file__).parents[1]
PROJECT = tomllib.loads((TESTS.parent / "pyproject.toml").read_text(encoding="utf-8"))
MAY_NAME_HIGHER_ROOMS = {
    "pointsman.policies.registry": "policies by name, learned ones among them",
    "pointsman.engine.jit.units": "compiled code of higher rooms, by the modules that have it",
}
"""Registries that load late what they name, so that a command starts quickly."""
ACROSS_ROOMS = {
    "against_oracle": "random instances in the engine and in the oracle",
    "architecture": "imports, sizes and names of all rooms",
    "benchmarks": "the programs of `benchmarks/`",
    "docs": "links and commands of the pages",
    "end_to_end": "real logs, from the file to the figures",
    "examples": "the programs of `examples/`",
    "free": "runs in which starting and stopping jobs is free",
    "fuzz": "damaged inputs of everything that is read",
    "golden": "recorded runs, to the byte",
    "mutation": "what the tests do not notice",
    "oracle": "the second simulator, and its own tests",
    "packaging": "what is built, installed without the repository",
    "properties": "whole runs, checked from their plan logs alone",
    "workload/sacct_exports": "exports of Slurm sites whose truth is known, for readers and commands",
}
"""Folders of tests that are no room of the package."""
MODULES = {
    ".".join(("pointsman", *file.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__"): file
    for file in sorted(PACKAGE.rglob("*.py"))
}


@cache
def nodes_of(file: Path) -> list[ast.AST]:
    """Every node of its syntax tree, which is parsed once for all tests."""
    return list(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))


@cache
def imported(file: Path) -> set[str]:
    """Modules of ours that `file` imports, inside functions and for type checking too."""
    found = set()
    for node in nodes_of(file):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("pointsman"):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            found |= {name if name in MODULES else node.module for name in names}
    return found


@cache
def named(file: Path) -> set[str]:
    """Modules of ours that `file` names in strings: they are loaded late, where `lint-imports` does not see it. But not
    where a policy says in which module its hooks are, which has its class imported: it is a name of compiled code.
    """
    nodes = nodes_of(file)
    hooks = {n.value for n in nodes if isinstance(n, ast.AnnAssign) and ast.unparse(n.target) == "hooks"}
    constants = (n.value for n in nodes if isinstance(n, ast.Constant) and n not in hooks)
    modules = {text.partition(":")[0] for text in constants if isinstance(text, str)}
    return modules & set(MODULES) - {"pointsman"}


def layers() -> Iterator[list[list[str]]]:
    """The rooms of each contract that orders them, the highest first."""
    for contract in PROJECT["tool"]["importlinter"]["contracts"]:
        if contract["type"] == "layers":
            (parent,) = contract.get("containers", ["pointsman"])
            yield [
                [f"{parent}.{room.strip().removeprefix(f'{parent}.')}" for room in row.split("|")]
                for row in contract["layers"]
            ]


def is_above(module: str, other: str) -> bool:
    """Whether a contract puts the room of one module above that of another."""
    return any(-1 < level(module, order) < level(other, order) for order in layers())


def level(module: str, order: list[list[str]]) -> int:
    """How far down its room is; -1: it is in none of these."""
    found = (k for k, row in enumerate(order) if any(f"{module}.".startswith(f"{room}.") for room in row))
    return next(found, -1)


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


@pytest.mark.parametrize("parent", [PACKAGE, PACKAGE / "engine"], ids=lambda path: path.name)
def test_every_room_is_on_the_map(parent: Path) -> None:
    page = (TESTS.parent / "docs/architecture.md").read_text(encoding="utf-8")
    rooms = [path.name for path in parent.iterdir() if (path / "__init__.py").exists()]
    assert [room for room in rooms if f"| `{room}` |" not in page] == []


def test_no_folder_is_crowded() -> None:
    files = Counter(file.parent for file in MODULES.values() if file.parent.name not in MANY)
    assert {str(folder.relative_to(PACKAGE)): n for folder, n in files.items() if n > MOST_FILES} == {}


def test_no_module_imports_itself_by_way_of_others() -> None:
    edges = {module: imported(file) for module, file in MODULES.items()}
    assert [module for module in MODULES if module in reachable(module, edges)] == []


def test_no_module_names_one_that_it_may_not_import() -> None:
    """A name in a string hides an import: `engine` would know `report`, and `lint-imports` would not see it."""
    edges = {each: imported(file) for each, file in MODULES.items()}
    names = [(module, other) for module, file in MODULES.items() for other in named(file) - {module}]
    assert len(names) > 10
    for module, other in names:
        if module not in MAY_NAME_HIGHER_ROOMS:
            assert module.startswith(f"{other}.") or module not in reachable(other, edges), (module, other)
            assert not is_above(other, module), (module, other)


def test_registries_that_name_higher_rooms_do_so() -> None:
    for module in MAY_NAME_HIGHER_ROOMS:
        assert any(is_above(other, module) for other in named(MODULES[module]))


def folders_of_tests() -> list[str]:
    """Those that Python files lie in, and all above them."""
    found = {file.relative_to(TESTS).parent for file in TESTS.rglob("*.py")}
    return sorted({path.as_posix() for folder in found for path in (folder, *folder.parents)} - {"."})


def is_room(folder: str) -> bool:
    return any((PACKAGE / path).exists() for path in (f"{folder}/__init__.py", f"{folder}.py"))


@pytest.mark.parametrize("folder", [folder for folder in folders_of_tests() if folder not in ACROSS_ROOMS])
def test_tests_lie_in_the_room_of_what_they_test(folder: str) -> None:
    assert is_room(folder)


def test_tests_across_rooms_are_where_the_list_says() -> None:
    assert set(ACROSS_ROOMS) <= set(folders_of_tests())
    assert [folder for folder in ACROSS_ROOMS if is_room(folder)] == []


def test_no_test_lies_outside_all_rooms() -> None:
    assert [file.name for file in TESTS.glob("*.py") if file.name not in ("__init__.py", "conftest.py")] == []


def words(nodes: list[ast.AST]) -> set[str]:
    """Strings in the code, but for the defaults of arguments."""
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef)]
    defaults = {id(default) for f in functions for default in (*f.args.defaults, *f.args.kw_defaults)}
    constants = [n for n in nodes if isinstance(n, ast.Constant) and id(n) not in defaults]
    return {n.value for n in constants if isinstance(n.value, str)}


@pytest.mark.parametrize("module", [m for m, f in MODULES.items() if not set(MAY_NAME_POLICIES) & set(f.parts)])
def test_no_policy_is_named_outside_its_room(module: str) -> None:
    names = {form for name in BUILT_IN for form in (name, name.replace("-", "_"))}
    assert words(nodes_of(MODULES[module])) & names == set()


@pytest.mark.parametrize("module", [m for m, f in MODULES.items() if "policies" in f.parts and "learn" not in f.parts])
def test_a_policy_reads_of_profiles_what_it_is_told(module: str) -> None:
    """``S.told_rates`` and the like, not the tables by which jobs run."""
    read = {n.attr for n in nodes_of(MODULES[module]) if isinstance(n, ast.Attribute)}
    assert read & {"rates", "goodputs", "slowdowns"} == set()


def reaching(nodes: Iterable[ast.AST]) -> list[str]:
    """Private attributes of a view that the code reads."""
    attributes = [node for node in nodes if isinstance(node, ast.Attribute) and node.attr.startswith("_")]
    return [ast.unparse(node) for node in attributes if ast.unparse(node.value).endswith("view")]


def test_what_a_policy_needs_of_a_view_is_public() -> None:
    outside = {module: file for module, file in MODULES.items() if not module.startswith("pointsman.engine.")}
    found = {module: reaching(nodes_of(file)) for module, file in outside.items()}
    assert {module: reached for module, reached in found.items() if reached} == {}
    assert reaching(ast.walk(ast.parse("self.view._state.g"))) == ["self.view._state"]


@pytest.mark.parametrize("name", READERS)
def test_a_trace_format_imports_one_module(name: str) -> None:
    """But for the columns' limits, and modules of its own."""
    readers = "pointsman.workload.readers"
    allowed = {f"{readers}.sdk", f"{readers}.native", "pointsman.workload.columns"}
    own = {module for module in MODULES if module.startswith(f"{readers}.{name}_")}
    assert imported(MODULES[f"{readers}.{name}"]) <= allowed | own
