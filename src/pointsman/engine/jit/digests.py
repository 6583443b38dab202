"""What an exported function is compiled from: its bytecode, and that of all it calls, and all values that they name.

Found by walking from the function to what it uses, so no import is parsed, and a comment, a docstring or a function
that is not compiled in changes nothing. What cannot be read raises: nothing is skipped. A user's modules can hold what
a walk does not see, such as options of Numba's own decorators: of these the files count, too.
"""

import builtins
import dis
import enum
import functools
import hashlib
import importlib.metadata
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from pointsman.engine.jit.compile import ARGUMENTS, is_exported
from pointsman.engine.jit.target import target

_COMPILERS = ("numba", "llvmlite", "numpy")
_ENGINE = "pointsman.engine"
_MAKERS = (
    *(f"{_ENGINE}.jit.{name}" for name in ("compile", "digests")),
    *(f"{_ENGINE}.jit.compiling.{name}" for name in ("called", "emit", "kept_helpers", "lowering", "python_calls")),
    *(f"{_ENGINE}.state.{name}" for name in ("jit_arrays", "jit_named", "layouts", "state_pointer", "views")),
)
"""Modules that all machine code is made with."""
_PLAIN = (bool, int, float, complex, str, bytes, type(None), np.dtype)
_PACKAGE = __name__.partition(".")[0]
_STANDARD = tuple(sysconfig.get_path(name) for name in ("stdlib", "platstdlib"))


class Content(NamedTuple):
    """What a function is compiled from."""

    digest: str
    calls: tuple[str, ...]
    """Symbols of exported functions that it calls, each compiled by itself."""
    size: int
    """About how large it is: bytes of bytecode, with all that is compiled into it."""


def digest_of(symbol: str, function: Any) -> Content:
    """What an exported function is compiled from, under its symbol.

    Raises:
        TypeError: it uses a value whose content cannot be told.
    """
    of_body = content_of(getattr(function, "py_func", function))
    walk = _Walk()
    walk.add(made_with(), symbol, function.signature, function.releases_gil, of_body.digest)
    walk.add(*(_layout(name) for name in ARGUMENTS if name in function.signature))
    return Content(walk.digest(), of_body.calls, of_body.size)


def content_of(function: FunctionType, met: "dict[FunctionType, Content] | None" = None) -> Content:
    """What any function is compiled from; of one of this package that holds nothing of others', found once.

    `met` has functions that the same walk has met before.

    Raises:
        TypeError: it uses a value whose content cannot be told, or calls itself.
    """
    if function.__closure__ is None and is_of_package(_home(function)):
        return _content_once(function)
    met = {} if met is None else met
    if function not in met:
        met[function] = _content(function, met)
    return met[function]


def _content(function: FunctionType, met: dict[FunctionType, Content]) -> Content:
    walk = _Walk(met)
    try:
        walk.function(function)
    except RecursionError:
        raise TypeError(f"{function.__qualname__} calls itself, which compiled code cannot do") from None
    return Content(walk.digest(), tuple(walk.calls), walk.size)


@functools.cache
def _content_once(function: FunctionType) -> Content:
    return _content(function, {})


@functools.cache
def made_with() -> str:
    """A digest of compilers and processor, which all machine code depends on."""
    told = [*map(importlib.metadata.version, _COMPILERS), f"{sys.version_info[:2]}", target()]
    return hashlib.sha256("\n".join([*told, *map(_source, _MAKERS)]).encode()).hexdigest()


def layouts() -> str:
    """Digests of what arguments of all types are laid out as."""
    return " ".join(map(_layout, ARGUMENTS))


@functools.cache
def _layout(argument: str) -> str:
    """A digest of the arrays and records behind an argument of this type."""
    walk = _Walk()
    walk.value(argument, ARGUMENTS[argument])
    return walk.digest()


@functools.cache
def _source(module: str) -> str:
    """A digest of the source of a module of this package."""
    package, *rest = module.split(".")
    path = Path(str(sys.modules[package].__file__)).parent.joinpath(*rest).with_suffix(".py")
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _file(function: FunctionType) -> str:
    """A digest of the file that a user's function is in; nothing where it is in none."""
    path = Path(function.__code__.co_filename)
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


class _Walk:
    """From one function to everything that is compiled into it."""

    def __init__(self, met: dict[FunctionType, Content] | None = None) -> None:
        """`met`: see `content_of`."""
        self._met = {} if met is None else met
        self._hash = hashlib.sha256()
        self.calls: dict[str, None] = {}
        self.size = 0

    def digest(self) -> str:
        """That of all that was added."""
        return self._hash.hexdigest()[:32]

    def add(self, *told: object) -> None:
        """Take these words into the digest."""
        for each in told:
            self._hash.update(f"{each}\0".encode())

    def function(self, function: FunctionType) -> None:
        """Add a function and what it uses."""
        self.add(function.__qualname__)
        if not is_of_package(_home(function)):
            self.add(_file(function))
        self._code(function.__code__, function.__doc__)
        for name, value in _used(function):
            self.value(name, value)

    def _code(self, code: CodeType, documented: str | None) -> None:
        self.size += len(code.co_code)
        self.add(code.co_code.hex(), code.co_names, code.co_varnames, code.co_freevars, code.co_argcount)
        for k, const in enumerate(code.co_consts):
            if isinstance(const, CodeType):
                self._code(const, None)
            elif k > 0 or const != documented or _loads_first(code):
                self.add(repr(const))

    def value(self, name: str, value: Any) -> None:
        """Add what a name stands for.

        Raises:
            TypeError: its content cannot be told.
        """
        home = value.__name__ if isinstance(value, ModuleType) else _home(value)
        if is_exported(value):
            self.calls[symbol := f"{value.__module__}.{value.__name__}"] = None
            self.add("calls", symbol, value.signature)
        elif hasattr(value, "compiled_from"):  # which is told in plain values
            self.value(name, value.compiled_from)
        elif isinstance(value, tuple | list | dict | frozenset):
            self._members(name, value)
        elif home in _MAKERS:
            self.add(name, layouts())
        elif is_of_package(home) and "COMPILING" in vars(sys.modules.get(home, builtins)):
            self.add(name, home, _source(home))  # another one is there where it is compiled
        elif isinstance(function := getattr(value, "py_func", value), FunctionType) and not _is_foreign(home):
            self._called(function)
        elif isinstance(value, enum.Enum):
            self.add(type(value).__name__, value.name)
            self.value(name, value.value)
        elif isinstance(value, _PLAIN):
            self.add(name, repr(value))
        elif isinstance(value, np.ndarray | np.generic):
            self.add(name, value.dtype, value.shape, value.tobytes().hex())
        elif isinstance(value, type) and hasattr(value, "_fields"):
            self.add(name, value.__name__, value._fields)
        elif _is_foreign(home) and " at 0x" not in (named := getattr(value, "__name__", repr(value))):
            self.add(name, home, named)
        else:
            raise TypeError(f"compiled code uses {name}, a {type(value).__name__}, whose content cannot be told")

    def _called(self, function: FunctionType) -> None:
        found = content_of(function, self._met)
        self.add(found.digest)
        self.calls |= dict.fromkeys(found.calls)
        self.size += found.size

    def _members(self, name: str, value: Any) -> None:
        self.add(name, type(value).__name__, getattr(value, "_fields", ""), len(value))
        for member in sorted(value.items()) if isinstance(value, dict) else value:
            self.value(name, member)


def _home(value: Any) -> str:
    """The name of the module that a function, a class or an object of Numba's around one is of."""
    defined = getattr(value, "_defn", getattr(value, "py_func", value))
    if isinstance(defined, FunctionType):  # one that wraps another has that one's `__module__`
        return defined.__globals__.get("__name__") or ""
    return getattr(defined, "__module__", None) or type(value).__module__


def is_of_package(module: str) -> bool:
    """Whether a module is of this package, and not a user's."""
    return module.partition(".")[0] == _PACKAGE


@functools.cache
def _is_foreign(module: str) -> bool:
    """Whether a module is Python's own or a compiler's, and so the same as long as their versions are."""
    top = module.partition(".")[0]
    if top in _COMPILERS:
        return True
    path = getattr(sys.modules.get(top), "__file__", None)
    return top in sys.stdlib_module_names and (path is None or path.startswith(_STANDARD))


def _loads_first(code: CodeType) -> bool:
    """Whether code names its first constant, which may be its docstring."""
    steps = zip(code.co_code[::2], code.co_code[1::2], strict=True)
    return any(argument == 0 and step in dis.hasconst for step, argument in steps)


def _used(function: FunctionType) -> list[tuple[str, Any]]:
    """The values from outside that a function names, with what they are called: also defaults and its closure's."""
    scope = {**vars(builtins), **function.__globals__}
    free = function.__code__.co_freevars
    scope |= {name: cell.cell_contents for name, cell in zip(free, function.__closure__ or (), strict=True)}
    defaults = [(f"default {k}", value) for k, value in enumerate(function.__defaults__ or ())]
    return [*defaults, *_list_named(function.__code__, scope)]


def _list_named(code: CodeType, scope: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    name, value = "", None
    for step in dis.get_instructions(code):
        if step.opname == "EXTENDED_ARG":
            continue
        if name and step.opname in ("LOAD_ATTR", "LOAD_METHOD") and isinstance(value, ModuleType | enum.EnumMeta):
            name, value = f"{name}.{step.argval}", getattr(value, step.argval)
            continue
        if name:
            yield name, value
        name = ""
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF") and step.argval in scope:
            name, value = step.argval, scope[step.argval]
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _list_named(const, scope)
