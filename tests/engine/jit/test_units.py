"""Units of compiled code: named alike everywhere, all of them in a wheel, and known before any is compiled."""

import ast
from pathlib import Path

import pytest

import pointsman
from pointsman.engine.jit import units
from pointsman.engine.jit.build import known
from pointsman.engine.jit.policy_code import units_of
from pointsman.engine.jit.units import HOSTED_HOOKS, MAIN_LOOP, PYTHON_API, functions_of, hooks_unit, unit_of_symbol
from pointsman.policies.registry import BUILT_IN, get_policy
from pointsman.whole_core import all_units

SOURCES = Path(pointsman.__file__).parent


@pytest.mark.parametrize("policy", BUILT_IN)
def test_the_units_of_every_policy_are_in_a_wheel(policy: str) -> None:
    hooks = getattr(get_policy(policy).factory, "hooks", HOSTED_HOOKS)
    assert set(units_of(hooks)) <= set(all_units())


def test_a_policy_in_python_asks_questions() -> None:
    assert units_of(HOSTED_HOOKS) == [MAIN_LOOP, hooks_unit(HOSTED_HOOKS), PYTHON_API]


def test_every_unit_has_functions() -> None:
    assert not [unit for unit in all_units() if not functions_of(unit)]
    assert len(all_units()) == len(set(all_units())) > 60


def test_the_calls_of_a_unit_are_known_without_compiling_it() -> None:
    """`fifo` starts jobs, `srtf` evicts as well; each of these verbs is compiled once, and named by its symbol."""
    calls = {
        name: {symbol for facts in known(hooks_unit(get_policy(name).factory.hooks)).values() for symbol in facts.calls}
        for name in ("fifo", "srtf")
    }
    assert calls == {
        "fifo": {"pointsman.engine.actions.verbs.start"},
        "srtf": {"pointsman.engine.actions.eviction.start_or_evict"},
    }
    (symbol,) = calls["fifo"]
    unit, name = unit_of_symbol(symbol)
    assert functions_of(unit)[name].__module__ == unit


def test_every_module_with_exported_functions_is_in_a_wheel_or_called_by_one_that_is() -> None:
    """A unit that is forgotten in `all_units` would be missing only where there is no compiler."""
    there = {unit.partition(":")[0] for unit in all_units()}
    called = {
        unit_of_symbol(symbol)[0] for unit in all_units() for facts in known(unit).values() for symbol in facts.calls
    }
    marked = {path for path in SOURCES.rglob("*.py") if _exports(path)}
    modules = {".".join(path.relative_to(SOURCES.parent).with_suffix("").parts) for path in marked}
    assert modules == there | called


def _exports(path: Path) -> bool:
    calls = (each for each in ast.walk(ast.parse(path.read_bytes())) if isinstance(each, ast.Call))
    return any(isinstance(call.func, ast.Name) and call.func.id == "exported" for call in calls)


def test_names_of_units_are_names_of_modules() -> None:
    for name, unit in vars(units).items():
        if name.isupper() and isinstance(unit, str):
            assert SOURCES.parent.joinpath(*unit.split(".")).with_suffix(".py").is_file(), name
