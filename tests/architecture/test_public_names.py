"""Public names of packages: loaded when they are used, never hidden by a module, known to type checkers."""

import ast
import pkgutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import pointsman

PACKAGE = Path(pointsman.__file__).parent
LAZY = [
    ".".join(("pointsman", *file.relative_to(PACKAGE).parent.parts))
    for file in sorted(PACKAGE.rglob("__init__.py"))
    if "lazy_names(" in file.read_text(encoding="utf-8")
]
"""Packages that load their public names on demand."""


def opened(package: str) -> ModuleType:
    if package.startswith("pointsman.learn"):
        pytest.importorskip("gymnasium", reason="gymnasium is not installed (extra [rl])")
    return import_module(package)


def test_some_packages_are_lazy() -> None:
    assert {"pointsman", "pointsman.cluster", "pointsman.learn.environments", "pointsman.report"} <= set(LAZY)


@pytest.mark.parametrize("package", LAZY)
def test_no_public_name_is_also_a_module(package: str) -> None:
    """Importing `package.name` as a module would put it in the place of the function for the rest of the process."""
    found = opened(package)
    modules = {module.name for module in pkgutil.iter_modules(found.__path__)}
    assert modules.isdisjoint(found.__all__)
    assert all(getattr(found, name) is not None for name in found.__all__)
    assert set(found.__all__) <= set(dir(found))


@pytest.mark.parametrize("package", LAZY)
def test_type_checkers_are_told_of_each_public_name(package: str) -> None:
    found = opened(package)
    source = Path(found.__file__ or "").read_text(encoding="utf-8")
    (block,) = (node for node in ast.parse(source).body if isinstance(node, ast.If) and is_typing(node))
    told = {alias.name: node.module for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert set(told) == set(found.__all__) - {"__version__"}
    for name, module in told.items():
        assert getattr(import_module(module or ""), name) is getattr(found, name)


def is_typing(node: ast.If) -> bool:
    return ast.unparse(node.test) == "TYPE_CHECKING"


@pytest.mark.parametrize("package", LAZY)
def test_no_module_is_loaded_for_a_name_that_is_not_used(package: str) -> None:
    code = (
        f"import sys, {package} as package\n"
        "assert 'polars' not in sys.modules\n"
        "try:\n    package.nonsense\n"
        "except AttributeError as error:\n    print(error)\n"
        "assert 'polars' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == f"module '{package}' has no attribute 'nonsense'\n", done.stderr
