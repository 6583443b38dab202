"""A policy class in a Python file of the user's: imported, or only read."""

import ast
import importlib.util
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pointsman.errors import UsageError
from pointsman.inputs.file_name import names_file


def imported_class(path: str, name: str) -> type[Any]:
    """The class of this name, for which the file is run.

    Raises:
        UsageError: there is no such file or class, or it cannot be imported.
    """
    file = _file(path)
    module_name = "pointsman_user_" + re.sub(r"\W", "_", str(file.resolve()))
    spec = importlib.util.spec_from_file_location(module_name, file)
    if spec is None:
        raise UsageError(f"{path}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    try:  # from its source: Python's bytecode of before would do for an edit of the same second and size
        exec(compile(file.read_bytes(), str(spec.origin), "exec"), vars(module))
    except Exception as error:
        raise UsageError(f"{path}: cannot be imported: {type(error).__name__}: {error}") from error
    found = getattr(module, name, None)
    if not isinstance(found, type):
        raise _no_class(path, name, [k for k, v in vars(module).items() if _is_own(v, module_name)])
    return found


def read_class(path: str, name: str) -> type[Any]:
    """A class that declares what the one of this name does in plain values, and takes any parameter; no code runs.

    Raises:
        UsageError: there is no such file or class, or the file is no Python.
    """
    try:
        body = ast.parse(_file(path).read_bytes(), filename=path).body
    except (SyntaxError, ValueError, RecursionError, MemoryError, OSError) as error:
        raise UsageError(f"{path}: cannot be imported: {type(error).__name__}: {error}") from None
    found = next((node for node in body if isinstance(node, ast.ClassDef) and node.name == name), None)
    if found is None and name not in {each for node in body for each in _names(node)}:
        raise _no_class(path, name, [node.name for node in body if isinstance(node, ast.ClassDef)])
    declared = {} if found is None else dict(_plain_values(found))
    methods: dict[str, Any] = {"__init__": lambda self, **_: None, "decide": lambda self, view: None}
    return type(name, (), {"name": name, "needs": "none", **declared, **methods})


def _file(path: str) -> Path:
    file = Path(path)
    if not names_file(file):
        raise UsageError(f"{path}: no such file (name your own policy as FILE.py:CLASS)")
    return file


def _is_own(value: Any, module_name: str) -> bool:
    return isinstance(value, type) and value.__module__ == module_name


def _no_class(path: str, name: str, classes: list[str]) -> UsageError:
    return UsageError(f"{path}: has no class {name!r} (it has {', '.join(classes) or 'none'})")


def _names(node: ast.stmt) -> Iterator[str]:
    """Names that a statement of a module gives to something, which may be a class from elsewhere."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.alias):
            yield (inner.asname or inner.name).partition(".")[0]
        elif isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
            yield inner.id


def _plain_values(found: ast.ClassDef) -> Iterator[tuple[str, Any]]:
    """Yield name and value of the attributes that a class body sets to a constant, such as ``needs = "none"``."""
    for node in found.body:
        if not isinstance(node, ast.Assign | ast.AnnAssign) or not isinstance(node.value, ast.Constant):
            continue
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            if isinstance(target, ast.Name) and not target.id.startswith("__"):
                yield target.id, node.value.value
