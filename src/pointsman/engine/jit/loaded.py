"""Compiled functions in this process: from the library of the package, from objects, or as the Python that they are."""

import ctypes
import functools
import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from pointsman.engine.jit import built
from pointsman.engine.jit.mode import AS_PYTHON
from pointsman.engine.jit.units import functions_of, is_of_a_user, symbol_of, unit_of_symbol, wrapper_of

_LOADING = threading.RLock()
"""Held while machine code is loaded, so that no other thread sees half of it."""
_METHODS: list["_Method"] = []
"""What Python knows of builtin functions, which must live as long as they do."""
_CORE: dict[str, "Unit"] = {}
"""Units of this package that were loaded from objects."""
_FASTCALL = 0x80


class Unit(SimpleNamespace):
    """The functions of a unit, as Python calls them."""

    addresses: dict[str, int]
    """Where compiled code finds them."""


def units(*names: str) -> list[Unit]:
    """The functions of several units; what is not there is compiled side by side.

    Raises:
        CompileError: it does not compile. RunError: there is no compiler, or what the package came with is damaged.
    """
    with _LOADING:
        if AS_PYTHON:
            return [_as_python(name) for name in names]
        if new := [name for name in names if name not in _CORE and not built.is_shipped(name)]:
            from pointsman.engine.jit.build import prepare

            prepare(new)
        return [_unit(name) for name in names]


def unit(name: str) -> Unit:
    """The functions of one unit, as `units`."""
    return units(name)[0]


def address_of(symbol: str) -> int:
    """Where an exported function of a unit is, named as ``UNIT.FUNCTION``."""
    name, function = unit_of_symbol(symbol)
    return unit(name).addresses[function]


def _unit(name: str) -> Unit:
    if built.is_shipped(name):
        return _of_library(name)
    if name in _CORE:
        return _CORE[name]
    from pointsman.engine.jit.build import known

    found = _of_objects(name, tuple((key, each.digest) for key, each in known(name).items()))
    if not is_of_a_user(name):  # whose file may be edited while this process runs
        _CORE[name] = found
    return found


def _as_python(name: str) -> Unit:
    functions = functions_of(name)
    return Unit(**functions, addresses={key: id(each) for key, each in functions.items()})


@functools.cache
def _of_library(name: str) -> Unit:
    library = built.library()

    def find(symbol: str) -> int:
        return ctypes.cast(library[symbol], ctypes.c_void_p).value or 0

    return _found(name, built.table()["units"][name], find)


@functools.cache
def _of_objects(name: str, digests: tuple[tuple[str, str], ...]) -> Unit:
    linked = {key: _linked(digest) for key, digest in digests}

    def find(symbol: str) -> int:
        return linked[unit_of_symbol(symbol)[1]][symbol]

    return _found(name, [key for key, _ in digests], find)


@functools.cache
def _loader() -> Any:
    """LLVM's loader of objects. JITLink puts all sections of one into one place: what code refers to must be within
    2 GiB of it, however full the addresses of the process are.
    """
    from llvmlite import binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    machine = binding.Target.from_default_triple().create_target_machine()
    return binding.create_lljit_compiler(machine, use_jit_link=True)


@functools.cache
def _linked(digest: str) -> Any:
    """The addresses of an object's function and of its wrapper, by their symbols."""
    from llvmlite import binding

    from pointsman.engine.jit.store import take_object

    found = take_object(digest)
    builder = binding.JITLibraryBuilder().add_object_img(found.code).add_current_process()
    for symbol in found.calls:
        builder.import_symbol(symbol, _address(symbol))
    for symbol in (found.symbol, wrapper_of(found.symbol)):
        builder.export_symbol(symbol)
    return builder.link(_loader(), digest)


def _address(symbol: str) -> int:
    """Where a function is that an object calls."""
    from pointsman.engine.jit.build import known

    name, function = unit_of_symbol(symbol)
    if built.is_shipped(name):
        return _of_library(name).addresses[function]
    return _linked(known(name)[function].digest)[symbol]


class _Method(ctypes.Structure):
    """``PyMethodDef``, of Python's stable ABI."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("call", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def _found(name: str, functions: list[str], find: Callable[[str], int]) -> Unit:
    """A unit whose functions, and the wrappers by which Python calls them, are where `find` says."""
    symbols = {key: symbol_of(name, key) for key in functions}
    made = {key: _builtin(symbol, find(wrapper_of(symbol))) for key, symbol in symbols.items()}
    return Unit(**made, addresses={key: find(symbol) for key, symbol in symbols.items()})


def _builtin(symbol: str, address: int) -> Callable[..., Any]:
    """The builtin function whose code is at an address (METH_FASTCALL)."""
    method = _Method(symbol.encode(), address, _FASTCALL, None)
    _METHODS.append(method)
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
    return make(("PyCFunction_NewEx", ctypes.pythonapi))(ctypes.addressof(method), None, None)
