"""Helpers that are compiled into what calls them, and kept: each is the one that is meant, and counts in the digest."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from pointsman.engine.jit.build import known
from pointsman.engine.jit.loaded import unit
from pointsman.engine.jit.mode import AS_PYTHON
from pointsman.engine.jit.store import object_file
from tests.engine.jit.compiled import environment

ALIKE = f"{__package__}.named_alike"
EXPECTED = {"alike": 6015, "wrapped": 49, "generated": 25, "given": 21}
compiled = pytest.mark.skipif(AS_PYTHON, reason="nothing is compiled")


def found() -> dict[str, int]:
    calls = f"print({{name: getattr(unit({ALIKE!r}), name)(5) for name in {[*EXPECTED]}}})"
    code = f"from pointsman.engine.jit.loaded import unit; {calls}"
    done = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True)
    assert done.stdout, done.stderr
    return ast.literal_eval(done.stdout)


@pytest.mark.slow
@compiled
def test_functions_of_one_name_are_not_taken_for_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor where a process has compiled them, and another one compiles what calls them."""
    assert {name: getattr(unit(ALIKE), name)(5) for name in EXPECTED} == EXPECTED
    monkeypatch.setenv("POINTSMAN_HOME", str(tmp_path / "home"))
    assert found() == EXPECTED
    for each in known(ALIKE).values():
        object_file(each.digest).unlink()
    assert found() == EXPECTED


MET = """
import sys
from pointsman.engine.jit import digests
from pointsman.engine.jit.compiling.emit import helper, parse_signature
from pointsman.engine.jit.units import functions_of

met = set()

def content(function, before, plain=digests._content):
    met.add((function.__module__, function.__qualname__))
    return plain(function, before)

def below(library):
    for each in library.calls():
        yield each.helper.module, each.helper.name
        yield from below(each)

digests._content = content
for unit in sys.argv[1:]:
    for function in functions_of(unit).values():
        met.clear()
        digests._content_once.cache_clear()
        digests.digest_of("symbol", function)
        walked = frozenset(met)
        body, arguments = helper(function.py_func, forceinline=True), parse_signature(function.signature).args
        body.compile(arguments)
        inside = set(below(body.overloads[arguments].library))
        by_source = {each for each in inside if "COMPILING" in vars(sys.modules[each[0]])}
        print(len(inside), inside - walked - by_source or "")
"""


@compiled
def test_all_that_is_compiled_in_was_met_by_the_walk() -> None:
    """What Numba put into an exported function is compared with what its digest was made of."""
    units = ["pointsman.engine.actions.verbs", "pointsman.engine.actions.eviction"]
    env = environment(POINTSMAN_COMPILING="1")
    done = subprocess.run([sys.executable, "-c", MET, *units], env=env, capture_output=True, text=True)
    sizes = [int(line) for line in done.stdout.splitlines()]
    assert len(sizes) == 2 and min(sizes) > 20, done.stderr
