"""Public names of a package, each loaded when it is first used, so that importing the package is quick."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(package: str, modules: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The ``__getattr__`` and ``__dir__`` of a package with an ``__all__``.

    A type checker cannot see these names: the package imports them under ``TYPE_CHECKING`` as well.

    Args:
        package: the package's ``__name__``.
        modules: for each name, the module below the package that defines it.
    """

    def get(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{modules[name]}"), name)

    def names() -> list[str]:
        return list(sys.modules[package].__all__)

    return get, names
