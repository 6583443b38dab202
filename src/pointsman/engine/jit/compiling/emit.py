"""Machine code made ahead of time, in a process of its own: ``python -m pointsman.engine.jit.compiling.emit UNIT ...``.

Nothing that is compiled here runs here. Each exported function becomes an object of its own, with all helpers below it
inside; what it calls of other exported functions, of libm and of Python is left to whoever loads it.
"""

import functools
import gc
import os
import sys
import threading
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context, parent_process
from typing import Any, TextIO

from llvmlite import binding, ir
from numba.core import config, types

from pointsman.engine.jit.compile import MAKERS
from pointsman.engine.jit.compiling.called import called_by_symbol
from pointsman.engine.jit.compiling.kept_helpers import helper
from pointsman.engine.jit.compiling.lowering import modules_below, parse_signature
from pointsman.engine.jit.compiling.python_calls import Wrapper
from pointsman.engine.jit.digests import digest_of
from pointsman.engine.jit.mistakes import SAID
from pointsman.engine.jit.store import Object, read_object, write_object
from pointsman.engine.jit.target import target
from pointsman.engine.jit.units import functions_of, symbol_of
from pointsman.errors import RunError

_OF_C = {
    *("memset", "memcpy", "memmove"),
    *("exp", "exp2", "expm1", "log", "log1p", "log2", "log10", "pow", "sqrt", "cbrt", "hypot", "fmod"),
    *("ceil", "floor", "rint", "trunc", "round", "sin", "cos", "tan", "asin", "acos", "atan", "atan2"),
    *("sinh", "cosh", "tanh", "erf", "erfc", "lgamma", "tgamma"),
}
"""What every process has of C's libraries."""
_ADDRESSES = "numba.dynamic.globals"
"""What Numba calls constants that are addresses of this process, which nothing reads in the end."""


def emit(symbol: str, function: Any) -> Object:
    """The object of an exported function."""
    signature = parse_signature(function.signature)
    body = helper(getattr(function, "py_func", function), forceinline=True)
    body.compile(signature.args)
    result = body.overloads[signature.args]
    context, codegen = result.target_context, result.target_context.codegen()
    module = context.create_module(symbol)
    callee = _in_c(context, module, result, symbol, signature.return_type)
    Wrapper(context, module, callee, signature, releases_gil=function.releases_gil)
    linked = binding.parse_assembly(str(module))
    for below in modules_below([result.library], {}):
        linked.link_in(below, preserve=True)
    _keep_to_itself(linked, symbol)
    passes, builder = codegen._module_pass_manager()
    passes.run(linked, builder)
    linked.verify()
    if any(each.name.startswith(_ADDRESSES) for each in linked.global_variables):
        raise TypeError("compiled code uses a function of C or an array over 1 MB, whose address no other process has")
    expected = digest_of(symbol, function).calls
    return Object(symbol, _calls(linked, expected), _machine().emit_object(linked))


def _in_c(context: Any, module: Any, result: Any, symbol: str, answer: Any) -> Any:
    """The function `symbol` around Numba's own, with arguments and answer as C has them; of none the answer is 0."""
    none = ir.IntType(64)(0) if answer == types.none else None
    kinds = [context.get_value_type(kind) for kind in result.signature.args]
    kind = ir.FunctionType(none.type if none else context.get_value_type(answer), kinds)
    function = ir.Function(module, kind, symbol)
    function.attributes.add("noinline")  # its wrapper need not have it, too
    builder = ir.IRBuilder(function.append_basic_block())
    native = context.declare_function(module, result.fndesc)
    told = result.signature.return_type
    _, found = context.call_conv.call_function(builder, native, told, result.signature.args, function.args)
    builder.ret(none or context.cast(builder, found, told, answer))
    return function


def _keep_to_itself(module: Any, symbol: str) -> None:
    """Nothing of a module is seen from outside but the function `symbol` and its wrapper; and names that depend on what
    else the process has compiled are replaced.
    """
    inside = [each for each in module.functions if not each.is_declaration and not each.name.endswith(symbol)]
    for k, each in enumerate([*inside, *(each for each in module.global_variables if not each.is_declaration)]):
        if not each.name.startswith(_ADDRESSES):  # else LLVM would put in what they are
            each.linkage, each.name = "internal", f"{symbol}.{k}"


def _calls(module: Any, expected: tuple[str, ...]) -> tuple[str, ...]:
    """The exported functions that a module calls, of those `expected`.

    Raises:
        TypeError: something else is lacking that nobody who loads it has.
    """
    lacks = [f.name for f in module.functions if f.is_declaration and not f.name.startswith(("llvm.", "Py"))]
    if unknown := set(lacks) - {*expected, *_OF_C}:
        raise TypeError(f"it needs {min(unknown)}, and compiled code has no Python objects and no random numbers")
    return tuple(name for name in lacks if name in expected)


def _machine() -> Any:
    """What makes machine code that may lie anywhere in memory."""
    triple = binding.Target.from_triple(binding.get_process_triple())
    return triple.create_target_machine(cpu=target(), features="", opt=3, reloc="pic", codemodel="default")


def _make(work: tuple[str, str]) -> None:
    """Compile one function of a unit, unless its object is there."""
    unit, name = work
    function = functions_of(unit)[name]
    digest = digest_of(symbol_of(unit, name), function).digest
    if read_object(digest) is None:
        write_object(digest, emit(symbol_of(unit, name), function))


def _follow(progress: TextIO) -> None:
    """Keep nobody waiting for this process's progress who waits for its parent's, and end when its parent does."""
    progress.close()
    threading.Thread(target=_end_after, args=(parent_process(),), daemon=True).start()


def _end_after(process: Any) -> None:
    process.join()
    os._exit(1)


def main(units: Iterable[str], processes: int, progress: TextIO) -> None:
    """Compile the functions of these units, the largest first, on as many processors; tells `progress` how far it is.

    Raises:
        BrokenProcessPool: a process that compiled was ended, as by a system without memory.
    """
    found = [(unit, name, function) for unit in units for name, function in functions_of(unit).items()]
    sizes = {(unit, name): -digest_of(symbol_of(unit, name), function).size for unit, name, function in found}
    gc.disable()  # it finds next to nothing in what Numba makes, and takes a twelfth of the time
    with ProcessPoolExecutor(min(processes, len(found)), get_context("fork"), _follow, (progress,)) as pool:
        ahead = [pool.submit(_make, work) for work in sorted(sizes, key=sizes.__getitem__)]
        for done, made in enumerate(as_completed(ahead), 1):
            made.result()
            print(done / len(found), file=progress, flush=True)


MAKERS.update(
    core=functools.partial(helper, forceinline=True),
    cold=functools.partial(helper, forceinline=False),
    exported=called_by_symbol,
)

config._config_fname = ""  # options of Numba's in the folder at hand, which it reads even while it compiles
config.reload_config()

if __name__ == "__main__":
    progress = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what users' modules print
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        main(sys.argv[1:], cores, progress)
    except RunError as error:  # there is no room for an object
        print(error, file=sys.stderr)
        sys.exit(SAID)
    except BrokenProcessPool:
        print("a process that compiles was ended (is there too little memory?)", file=sys.stderr)
        sys.exit(SAID)
