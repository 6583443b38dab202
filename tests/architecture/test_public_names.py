"""What a package offers by name cannot be hidden by a module of that name."""

import pkgutil
from importlib import import_module

import pytest


@pytest.mark.parametrize("package", ["", ".workload", ".cluster", ".speed", ".report"])
def test_no_public_name_is_also_a_module(package: str) -> None:
    """Importing `package.name` as a module would put it in the place of the function for the rest of the process."""
    found = import_module(f"pointsman{package}")
    modules = {module.name for module in pkgutil.iter_modules(found.__path__)}
    assert modules.isdisjoint(found.__all__)
    assert all(getattr(found, name) is not None for name in found.__all__)
    assert set(found.__all__) <= set(dir(found))
