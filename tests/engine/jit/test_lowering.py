"""What is relied on of Numba's inner classes and of LLVM: functions over nested helpers, called in every way."""

import gc
import math
import os
import subprocess
import sys
from pathlib import Path
from threading import Thread
from time import sleep

import numpy as np
import pytest

from pointsman.engine.jit.build import known, prepare
from pointsman.engine.jit.loaded import Unit, unit
from pointsman.engine.jit.mode import AS_PYTHON
from pointsman.engine.jit.store import read_object
from pointsman.types import JobState
from pointsman.whole_core import all_units
from tests.engine.jit.compiled import environment

NESTED = f"{__package__}.nested"
compiled = pytest.mark.skipif(AS_PYTHON, reason="nothing is compiled")


@pytest.fixture
def nested() -> Unit:
    return unit(NESTED)


def test_helpers_are_inside_and_what_is_exported_is_called_by_its_symbol(nested: Unit) -> None:
    assert nested.total(3, 5) == 20
    assert nested.by_symbol(np.int64(3), 5, 100) == 120


def test_numbers_and_truth_values(nested: Unit) -> None:
    assert nested.power(1, 2) == nested.power(np.float64(1.0), 2) == math.exp(1) ** 2
    assert [bool(nested.runs(state)) for state in JobState] == [state is JobState.RUNNING for state in JobState]


def arrays() -> list[np.ndarray]:
    return [np.array([7, 8]), np.zeros((2, 3)), np.zeros(1, np.float32), np.zeros(4, np.int8)]


def test_arrays_are_written_in_place(nested: Unit) -> None:
    ints, floats, small, few = given = arrays()
    nested.fill(*given)
    assert floats.tolist() == [[7.0, 7.5, 8.0], [8.0, 8.5, 9.0]]
    assert (small[0], few[0]) == (7.5, 4)
    assert ints.tolist() == [7, 8]


@compiled
@pytest.mark.parametrize(
    ("place", "wrong"),
    [
        (0, np.zeros(2)),
        (0, np.zeros((2, 1), np.int64)),
        (0, np.zeros(2, np.uint64)),
        (1, np.zeros((2, 3), np.int64)),
        (2, np.zeros(1)),
        (3, [1, 2]),
        (0, 5),
    ],
)
def test_another_array_is_refused(nested: Unit, place: int, wrong: object) -> None:
    given: list[object] = [*arrays()]
    given[place] = wrong
    with pytest.raises(TypeError):
        nested.fill(*given)


@compiled
@pytest.mark.parametrize("wrong", [np.zeros((3, 2)).T, np.zeros((2, 6))[:, ::2]])
def test_an_array_that_is_not_contiguous_is_refused(nested: Unit, wrong: np.ndarray) -> None:
    ints, _, small, few = arrays()
    with pytest.raises((TypeError, ValueError, BufferError)):
        nested.fill(ints, wrong, small, few)


@compiled
def test_an_array_that_must_not_be_written_is_refused(nested: Unit) -> None:
    ints, floats, small, few = arrays()
    floats.flags.writeable = False
    with pytest.raises((ValueError, BufferError)):
        nested.fill(ints, floats, small, few)


@compiled
@pytest.mark.parametrize("given", [(), (1,), (1, 2, 3), ("1", 2), (1.5, 2), (1 << 70, 2)])
def test_other_arguments_are_refused(nested: Unit, given: tuple[object, ...]) -> None:
    with pytest.raises((TypeError, OverflowError)):
        nested.total(*given)


@compiled
def test_minus_one_is_a_number_like_others(nested: Unit) -> None:
    """Python's functions answer it where they fail, too."""
    assert nested.total(-1, -1) == -4
    assert nested.power(-1.0, -1) == 1 / math.exp(-1)


@compiled
def test_no_reference_is_lost(nested: Unit) -> None:
    given = arrays()
    before = [sys.getrefcount(each) for each in given]
    for _ in range(1000):
        nested.fill(*given)
        with pytest.raises(TypeError):
            nested.fill(given[0], given[1], given[1], given[3])
    gc.collect()
    assert [sys.getrefcount(each) for each in given] == before


@compiled
def test_what_an_object_lacks_is_known() -> None:
    """Whoever loads it has other exported functions, Python, and some of C's libraries; nothing of Numba."""
    made = {name: read_object(facts.digest) for name, facts in known(NESTED).items()}
    assert {name: each.calls for name, each in made.items() if each} == {
        name: (f"{NESTED}.total",) if name == "by_symbol" else () for name in made
    }
    assert not any(b"numba" in each.code or b"NRT" in each.code for each in made.values() if each)


BESIDE_NUMBA = f"""
import numba
numba.njit(lambda x: x + 1)(1)
from pointsman.engine.jit.loaded import unit
try:
    unit({NESTED!r}).total(1)
except TypeError:
    print(unit({NESTED!r}).total(3, 5))
"""


@compiled
def test_a_process_may_use_numba_itself() -> None:
    """It gives symbols of Python another sense, in the whole process."""
    prepare([NESTED])
    done = subprocess.run([sys.executable, "-c", BESIDE_NUMBA], env=environment(), capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "20\n", "")


FAR_APART = """
import mmap, sys
from pointsman.engine.jit.loaded import unit
from pointsman.whole_core import all_units
kept, refused = [], 0
for name in all_units():
    loaded = unit(name)
    kept.append(mmap.mmap(-1, 1 << 30))  # of addresses alone: nothing is written
    for function in loaded.addresses:
        try:
            getattr(loaded, function)()
        except TypeError:
            refused += 1
print(refused)
"""


@compiled
def test_code_and_its_constants_lie_close_together_however_full_the_addresses_are() -> None:
    """Else a call with other arguments than it has reads a constant from elsewhere and ends the process."""
    prepare(all_units())
    done = subprocess.run([sys.executable, "-c", FAR_APART], env=environment(), capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) > 100


BUILD = """
import sys
from pointsman.engine.jit.compiling.emit import main
main(sys.argv[2:], int(sys.argv[1]), sys.stdout)
"""
SMALL = {NESTED: 7, "pointsman.engine.rate_models.tree": 1}
LARGE = {
    "pointsman.engine.units.policy_hooks:pointsman.policies.classical.srtf": 3,
    "pointsman.engine.actions.verbs": 1,
}
"""Functions that are exported, by unit."""


def built_in(home: Path, processes: int, units: list[str]) -> dict[str, bytes]:
    home.mkdir(0o700)
    own = {"POINTSMAN_COMPILING": "1", "NUMBA_CPU_NAME": "x86-64-v2", "NUMBA_CPU_FEATURES": ""}
    env = environment(POINTSMAN_HOME=str(home), **own)
    subprocess.run(
        [sys.executable, "-c", BUILD, str(processes), *units], env=env, check=True, stdout=subprocess.DEVNULL
    )
    return {file.name: file.read_bytes() for file in (home / "compiled").glob("*.o")}


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="compiles for x86-64")
@pytest.mark.parametrize("units", [SMALL, SMALL | LARGE])
@pytest.mark.slow
def test_two_builds_are_equal_to_the_byte(units: dict[str, int], tmp_path: Path) -> None:
    """Whatever else the process compiles, in whatever order, in one process or several."""
    one = built_in(tmp_path / "one", 1, [*units])
    assert len(one) == sum(units.values())
    assert built_in(tmp_path / "other", 2, [*units][::-1]) == one


@compiled
@pytest.mark.parametrize(("function", "others_run"), [("keeps_the_gil", False), ("releases_the_gil", True)])
def test_other_threads_run_where_it_is_said(nested: Unit, function: str, others_run: bool) -> None:
    seen, going = [0], [True]

    def count() -> None:
        while going:
            seen[0] += 1
            sleep(0.001)

    thread = Thread(target=count)
    thread.start()
    try:
        found = []
        for _ in range(5):
            sleep(0.01)
            before = seen[0]
            getattr(nested, function)(100_000_000)
            found.append(seen[0] - before)
    finally:
        going.clear()
        thread.join()
    assert (min(found) > 3) == others_run, "a busy machine may let the other run before the call has begun"
