"""Verbs that are compiled once, in units of their own, and called by their symbols: what calls one holds no copy of it.

A unit that calls a service is loaded after it, whether it was just compiled or found in the cache (`plain_ir`).
"""

import functools
import inspect
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def service(name: str, signature: str) -> Callable[[F], F]:
    """Compile a function of a state in the unit `name` (`loading.BESIDE`), where it is had as ``body_of``.

    `signature` is that of the unit, whose first argument is the state's address.
    """
    import numba

    def made(function: F) -> F:
        return function if numba.config.DISABLE_JIT else _called(name, signature, function)

    return made


def body_of(function: Any) -> Any:
    """What a service does, for its own unit."""
    return getattr(function, "body", function)


def services_of(functions: Iterable[Any]) -> set[str]:
    """The names of the services that these functions call, or what they call; none with the JIT off."""
    found: set[str] = set()
    seen: set[int] = set()
    ahead = list(functions)
    while ahead:
        function = ahead.pop()
        if id(function) in seen:
            continue
        seen.add(id(function))
        if hasattr(function, "service"):
            found.add(function.service)
        elif hasattr(function, "py_func"):
            names, scope = function.py_func.__code__.co_names, function.py_func.__globals__
            called = [scope[name] for name in names if name in scope]
            modules = [vars(each) for each in called if isinstance(each, ModuleType)]
            ahead += called + [module[name] for module in modules for name in names if name in module]
    return found


_PRETENDED: list[bool] = []


def pretend() -> None:
    """Compile in this process against services that are not there: its code is kept on disk, but must not be run."""
    _PRETENDED.append(True)


def provide(name: str) -> None:
    """Have the service there under its symbol."""
    from llvmlite import binding

    from pointsman.engine.jit.loading import load_beside

    if binding.address_of_symbol(_symbol(name)) is None:
        binding.add_symbol(_symbol(name), 1 if _PRETENDED else load_beside(name).serve.address)


def _symbol(name: str) -> str:
    return f"pointsman_service_{name}"


def _called(name: str, signature: str, function: Any) -> Any:
    from llvmlite import ir
    from numba.core import cgutils, sigutils, typing
    from numba.extending import intrinsic

    from pointsman.engine.jit.compile import cold

    (address, *others), answer = sigutils.normalize_signature(signature)
    load = functools.partial(provide, name)

    def codegen(context: Any, builder: Any, called: Any, args: Any) -> Any:
        kinds = [context.get_value_type(kind) for kind in (address, *others)]
        kind = ir.FunctionType(context.get_value_type(answer), kinds)
        context.active_code_library._reload_init.add(load)
        unit = cgutils.get_or_insert_function(builder.module, kind, _symbol(name))
        return builder.call(unit, [builder.ptrtoint(args[0], kinds[0]), *args[1:]])

    def typed(typingctx: Any, state: Any, *args: Any) -> Any:
        return typing.signature(answer, state, *others), codegen

    context = inspect.Parameter("typingctx", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = [context, *inspect.signature(function).parameters.values()]
    typed.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    typed.__name__ = function.__name__
    made = intrinsic(typed)
    made.body, made.py_func, made.service = cold(function), function, name
    return made
