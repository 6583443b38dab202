"""How compiled code calls an exported function: by its symbol, as machine code that is linked later."""

import inspect
from typing import Any

from llvmlite import ir
from numba.core import cgutils, typing
from numba.extending import intrinsic

from pointsman.engine.jit.compiling.lowering import parse_signature


def called_by_symbol(function: Any) -> Any:
    """What compiled code calls in the place of an exported function."""

    def codegen(context: Any, builder: Any, called: Any, args: Any) -> Any:
        kind = ir.FunctionType(context.get_value_type(called.return_type), map(context.get_value_type, called.args))
        outside = cgutils.get_or_insert_function(builder.module, kind, f"{function.__module__}.{function.__name__}")
        return builder.call(outside, args)

    def typed(typingctx: Any, *args: Any) -> Any:
        wanted = parse_signature(function.signature)
        return typing.signature(wanted.return_type, *wanted.args), codegen

    context = inspect.Parameter("typingctx", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = [context, *inspect.signature(function).parameters.values()]
    typed.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    typed.__name__, typed.__module__ = function.__name__, function.__module__
    made: Any = intrinsic(typed)
    made.py_func, made.signature, made.releases_gil = function, function.signature, function.releases_gil
    return made
