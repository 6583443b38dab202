"""An object's name tells what it is compiled from: what changes machine code changes the name, nothing else does."""

import enum
import importlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pointsman.engine.jit import digests
from pointsman.engine.jit.compile import ARGUMENTS, exported
from pointsman.engine.jit.digests import digest_of
from pointsman.engine.jit.units import functions_of
from pointsman.engine.state.records import State
from pointsman.engine.state.state_pointer import open_state

HELPER = '''
"""A module."""
import numpy as np
from tests.digested.values import (
    LIMITS,
)
from tests.digested import values
import functools
import math
from typing import NamedTuple

SCALE = 3
TABLE = np.array([1.0, 2.0])

def unused(x):
    return x

def deep(x, by=2):
    """Says something."""
    return x * by  # as it is

class Pair(NamedTuple):
    least: int
    most: int

PAIR = Pair(1, 2)

@functools.wraps(math.floor)
def wrapper(x):
    return x + 4

def words(x):
    "first"
    return x == "first"

def helper(x):
    return deep(x) * SCALE + LIMITS[0] + values.OFFSET + TABLE[0] + PAIR.most + Pair(3, x).least + wrapper(words(x))
'''
VALUES = "LIMITS = (1, 2)\nOFFSET = 5\nOTHER = 6\n"
UNIT = """
from pointsman.engine.jit.compile import ARGUMENTS, exported
from tests.digested.helper import helper

@exported("float64(int64)")
def other(x):
    return x

@exported("float64(int64)")
def called(x):
    return helper(x) + other(x)
"""


@pytest.fixture
def digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """The digest of `called` where these words of its sources are replaced, as if they were of the package."""
    import tests

    monkeypatch.setattr(digests, "_PACKAGE", "tests")

    (tmp_path / "digested").mkdir()
    monkeypatch.setattr(tests, "__path__", [*tests.__path__, str(tmp_path)])

    def of(**replaced: tuple[str, str]) -> str:
        for name, text in {"helper": HELPER, "values": VALUES, "unit": UNIT}.items():
            old, new = replaced.get(name, ("", ""))
            assert old in text
            (tmp_path / "digested" / f"{name}.py").write_text(text.replace(old, new, 1) if old else text)
        for name in [each for each in sys.modules if each.startswith("tests.digested")]:
            del sys.modules[name]
        importlib.invalidate_caches()
        sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
        try:
            return digest_of("unit.called", functions_of("tests.digested.unit")["called"]).digest
        finally:
            sys.dont_write_bytecode = before

    return of


CHANGES = {
    "a helper below a helper": {"helper": ("x * by", "x - by")},
    "a default": {"helper": ("by=2", "by=3")},
    "a constant": {"helper": ("SCALE = 3", "SCALE = 4")},
    "a constant of another module, imported over several lines": {"values": ("(1, 2)", "(1, 3)")},
    "a constant by its module": {"values": ("OFFSET = 5", "OFFSET = 7")},
    "the order of names of a tuple": {"helper": ("least: int\n    most: int", "most: int\n    least: int")},
    "a function that says to be another": {"helper": ("x + 4", "x + 5")},
    "a constant that the docstring is, too": {
        "helper": ('"first"\n    return x == "first"', '"1"\n    return x == "1"')
    },
    "a table": {"helper": ("[1.0, 2.0]", "[1.0, 2.5]")},
    "the type of a constant": {"helper": ("SCALE = 3", "SCALE = 3.0")},
    "its signature": {"unit": ('"float64(int64)")\ndef called', '"float64(int32)")\ndef called')},
    "whether it holds the GIL": {"unit": (")\ndef called", ", releases_gil=True)\ndef called")},
    "the signature of what it calls": {"unit": ('"float64(int64)")\ndef other', '"float64(float64)")\ndef other')},
}
NO_CHANGES = {
    "a comment": {"helper": ("# as it is", "# as it was")},
    "a docstring": {"helper": ("Says something.", "Says something else.")},
    "the docstring of its module": {"helper": ("A module.", "Another.")},
    "lines": {"helper": ("SCALE = 3", "\n\nSCALE = 3")},
    "a function that it does not call": {"helper": ("return x\n", "return x + 1\n")},
    "a constant that it does not name": {"values": ("OTHER = 6", "OTHER = 8")},
    "what an exported function does that it calls": {"unit": ("return x\n", "return x + 1\n")},
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_is_compiled_in_changes_the_digest(what: str, digest: Callable[..., str]) -> None:
    assert digest() != digest(**CHANGES[what])
    assert digest() == digest(), "and taken back costs nothing"


@pytest.mark.parametrize("what", NO_CHANGES)
def test_what_is_not_compiled_in_does_not(what: str, digest: Callable[..., str]) -> None:
    assert digest() == digest(**NO_CHANGES[what])


@pytest.mark.parametrize("what", [*CHANGES, *(what for what in NO_CHANGES if "helper" in NO_CHANGES[what])])
def test_all_of_a_file_of_a_user_counts(what: str, digest: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    """It may hold what nobody sees from outside, such as options of Numba's own decorators."""
    monkeypatch.setattr(digests, "_PACKAGE", "pointsman")
    assert digest() == digest() != digest(**(CHANGES | NO_CHANGES)[what])


def itself(x: int) -> int:
    return itself(x - 1)


def one(x: int) -> int:
    return another(x - 1)


def another(x: int) -> int:
    return one(x)


@pytest.mark.parametrize("helper", [itself, one])
def test_what_calls_itself_is_refused(helper: Callable[[int], int]) -> None:
    def function(x: int) -> int:
        return helper(x)

    with pytest.raises(TypeError, match="calls itself, which compiled code cannot do"):
        digest_of("unit.function", exported("int64(int64)")(function))


class Something:
    """Nobody knows what is in it."""


SOMETHING = Something()


def uses_something(x: int) -> int:
    return x if SOMETHING else 0


def test_what_cannot_be_read_raises() -> None:
    function = exported("int64(int64)")(uses_something)
    with pytest.raises(TypeError, match="compiled code uses SOMETHING, a Something, whose content cannot be told"):
        digest_of("unit.function", function)


def closes_over(value: object) -> str:
    def function(x: int) -> object:
        return value

    return digest_of("unit.function", exported("int64(int64)")(function)).digest


def test_what_a_function_closes_over_counts() -> None:
    assert closes_over(1) == closes_over(1) != closes_over(2)
    assert closes_over((1, "a", 2.5)) != closes_over((1, "a", 2.0))
    assert closes_over({"a": 1}) != closes_over({"a": 2})


def test_a_word_for_a_value_does_not_hide_it() -> None:
    def level(value: int) -> enum.Enum:
        Level = enum.Enum("Level", {"A": value})
        Level.__repr__ = Level.__str__ = lambda self: "A"  # type: ignore[method-assign]
        return Level["A"]

    assert closes_over(level(1)) == closes_over(level(1)) != closes_over(level(2))
    with np.printoptions(precision=3):
        records = [np.array([(x,)], [("x", "f8")])[0] for x in (1.00001, 1.00002)]
        assert closes_over(records[0]) != closes_over(records[1])


def test_what_a_long_function_names_by_its_module_counts() -> None:
    """Python has other instructions between for names beyond the first 256."""
    names = "".join(f"    x = abs(x) + n{i}\n" for i in range(300))
    scope = {"POINTSMAN": np}
    exec(f"def function(x):\n    if x > 0:\n        return POINTSMAN.pi\n{names}    return POINTSMAN.e\n", scope)
    named = [name for name, _ in digests._list_named(scope["function"].__code__, scope)]
    assert "POINTSMAN.pi" in named and "POINTSMAN.e" in named and "POINTSMAN" not in named


def test_compilers_and_processor_count(monkeypatch: pytest.MonkeyPatch) -> None:
    made_with = digests.made_with.__wrapped__
    assert made_with() == made_with()
    before = made_with()
    with monkeypatch.context() as patch:
        patch.setattr(digests, "target", lambda: "another")
        assert made_with() != before
    with monkeypatch.context() as patch:
        patch.setattr(digests.importlib.metadata, "version", lambda name: "9.9")
        assert made_with() != before


def looks_at_nothing(S: State) -> int:
    return 1


def of_state(address: int) -> int:
    return open_state(address).g[0].now


def test_records_count_where_a_state_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    def found() -> tuple[str, str, str]:
        digests._layout.cache_clear()
        digests._content_once.cache_clear()
        looks, takes, neither = (
            exported(signature)(type(of_state)(function.__code__, function.__globals__))
            for signature, function in [
                ("int64(int64)", of_state),
                ("int64(State)", looks_at_nothing),
                ("int64(int64)", looks_at_nothing),
            ]
        )
        return tuple(digest_of("unit.function", each).digest for each in (looks, takes, neither))

    before = found()
    with monkeypatch.context() as patch:
        patch.setitem(ARGUMENTS, "State", (*ARGUMENTS["State"], {"more": (np.dtype("i8"), 1)}))
        after = found()
    assert found() == before
    assert [a == b for a, b in zip(before, after, strict=True)] == [False, False, True]


def test_the_process_that_compiles_finds_the_same_digests() -> None:
    """Else it would keep what it compiles under a name that nobody looks for."""
    code = """
import os, sys
if "POINTSMAN_COMPILING" in os.environ:
    import pointsman.engine.jit.compiling.emit
from pointsman.engine.jit.digests import digest_of
from pointsman.engine.jit.units import functions_of, symbol_of
for unit in sys.argv[1:]:
    for name, function in functions_of(unit).items():
        print(unit, name, digest_of(symbol_of(unit, name), function).digest)
"""
    from pointsman.whole_core import all_units
    from tests.engine.jit.compiled import environment

    units = all_units()
    plain, compiling = (
        subprocess.run(
            [sys.executable, "-c", code, *units], env=environment(**own), capture_output=True, text=True, check=True
        ).stdout
        for own in ({}, {"POINTSMAN_COMPILING": "1"})
    )
    assert plain == compiling
    assert len(plain.splitlines()) > 100
