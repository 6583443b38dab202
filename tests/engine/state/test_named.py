"""Numbers by name, in Python and in compiled code."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl
import pytest

import pointsman
from pointsman.api import RunOptions, open_simulation
from pointsman.cluster import load_cluster
from pointsman.engine.setup.parameters import derived, record_of
from pointsman.engine.state.layouts import OPEN
from pointsman.engine.state.named import OfJob, Record, flag, number, numbers, part, whole
from pointsman.policies.registry import get_policy
from pointsman.policies.sdk import CompiledPolicy, parameter

FILE = Path(__file__).with_name("named_policy.py")


def after_a_run(file: Path) -> tuple[Any, Any]:
    """The state after three jobs, and the class of the policy."""
    spec = get_policy(f"{file}:Named")
    policy = spec.make({})
    frame = {"submit_s": [0.0, 1.0, 2.0], "gpus": [1, 2, 2], "duration_s": [10.0, 10.0, 10.0]}
    jobs = pointsman.Workload.of(pl.DataFrame(frame))
    simulation = open_simulation(jobs, load_cluster("1x2"), spec, policy, RunOptions(overheads="none"))[0]
    simulation.run()
    return simulation.handle.state, type(policy)


def test_compiled_code_writes_where_names_are() -> None:
    state, policy = after_a_run(FILE)
    M = policy.memory(state.memory)
    cycles = int(M.rounds)
    assert cycles > 2
    assert M.long is True
    assert M.tuner.bins.array.tolist() == [[[0, 0]] * 3, [[0, 0], [0, 0], [cycles, 0.25 * cycles]]]
    assert M.tuner.seen.array.tolist() == [0, 0, 2 * cycles, 0]
    assert M.tuner.mask == 1 << 62
    assert M.classes.array[:, 0].tolist() == [i * cycles for i in range(9)]
    assert M.more.array.tolist() == [0, 0, 0.25 * cycles]
    assert M.grid[2, 4] == 10_500 + 2500 + 14
    assert M.grid[1, 0] == 5
    assert M.grid.array.sum() == M.grid[2, 4] + 5
    assert state.nodes["s0"].tolist() == [3 * cycles]
    assert state.gpus["s0"].tolist() == [0, 1.5 * cycles]


def test_swapped_declarations_and_no_compiler_change_nothing(tmp_path: Path) -> None:
    swapped = tmp_path / "named_policy.py"
    lines = FILE.read_text().splitlines()
    for one, other in (
        ('    rounds = whole("scheduling cycles")', '    tuner = part(Tuner, "a part")'),
        ('    count = whole("jobs")', '    sum_ms = number("of their waits", unit="ms")'),
        ('    seen = wholes(4, "by demand")', '    mask = bits("GPUs")'),
        ('    tries = whole("how often it was tried")', '    weight = number("half of that")'),
        ('    share: float = parameter(0.25, "a share")', '    many: int = parameter(7, "a number")'),
    ):
        i, k = lines.index(one), lines.index(other)
        lines[i], lines[k] = lines[k], lines[i]
    swapped.write_text("\n".join(lines) + "\n")
    state, policy = after_a_run(FILE)
    other_state, other = after_a_run(swapped)
    assert not np.array_equal(state.memory, other_state.memory)
    assert said(policy.memory(state.memory)) == said(other.memory(other_state.memory))
    script = (
        "from tests.engine.state.test_named import *\n"
        "state, policy = after_a_run(FILE)\n"
        "print(state.memory.tobytes().hex(), state.params.tobytes().hex(), state.jobs['s1'].tolist())\n"
    )
    repository = str(FILE.parents[3])
    env = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": f"{Path(pointsman.__file__).parents[1]}:{repository}"}
    done = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, timeout=300)
    expected = f"{state.memory.tobytes().hex()} {state.params.tobytes().hex()} {state.jobs['s1'].tolist()}\n"
    assert done.stdout == expected, done.stderr


def said(view: Any) -> dict[str, Any]:
    """All that a record has, by name."""
    found = {}
    for slot in view.layout.slots:
        value = getattr(view, slot.name)
        if isinstance(value, Record):
            value = said(value)
        elif slot.shape == () or slot.inner is None:
            value = getattr(value, "array", np.array(value)).tolist()
        else:
            value = [said(value[index]) for index in np.ndindex(value.shape)]
        found[slot.name] = value
    return dict(sorted(found.items()))


class Base(Record):
    """Three numbers."""

    first = whole("one")
    second = number("two")
    third = flag("three")


class More(Base):
    """Five."""

    fourth = numbers((2, 3), "six")
    fifth = part(Base, "three")


def test_a_record_begins_with_its_base() -> None:
    assert [(slot.name, slot.at) for slot in More.layout.slots] == [
        ("first", 0), ("second", 1), ("third", 2), ("fourth", 3), ("fifth", 9),
    ]  # fmt: skip
    made = More.zeros()
    assert made.shape == (12,)
    view = More(made)
    view.fifth.second, view.fourth[1, 2], view.third = 2.5, 7.0, True
    assert made.tolist() == [0, 0, 1, 0, 0, 0, 0, 0, 7, 0, 2.5, 0]
    assert [each.meaning for each in More.declarations()] == ["one", "two", "three", "six", "three"]


@pytest.mark.parametrize("index", [(0, 3), (2, 0), (-1, 0), 1])
def test_an_index_beyond_an_array_is_an_error(index: Any) -> None:
    with pytest.raises(IndexError, match="fourth"):
        More(More.zeros()).fourth[index]


def test_what_is_not_declared_is_an_error() -> None:
    with pytest.raises(AttributeError, match="More declares no 'sixth'"):
        More(More.zeros()).sixth = 1
    with pytest.raises(AttributeError, match="fourth is not one number"):
        More(More.zeros()).fourth = 1


def test_wrong_records_are_refused() -> None:
    with pytest.raises(TypeError, match="first is declared already in Base"):
        type("Twice", (Base,), {"first": number("again")})
    with pytest.raises(TypeError, match="room for 4"):
        type("Much", (OfJob,), {f"n{k}": number("one") for k in range(5)})
    with pytest.raises(TypeError, match="not one number"):
        type("Many", (OfJob,), {"several": numbers(2, "two")})
    with pytest.raises(TypeError, match="a sentence"):
        number("")
    with pytest.raises(TypeError, match="length of rest is not given"):
        type("Open", (Record,), {"rest": numbers(OPEN, "any")}).zeros()


class Slow(CompiledPolicy):
    """A policy."""

    name = "slow"
    needs = "none"
    hooks = "none"
    memory = Base
    wait_s: float = parameter(2.0, "a time", unit="s")


class Slower(Slow):
    """Another one."""

    memory = More
    times: int = parameter(3, "a factor")

    @derived
    def wait_ms(self) -> int:
        """The wait, so many times."""
        return 2000 * self.times


class Constant(Slower):
    """One whose wait is no parameter."""

    wait_ms: ClassVar[int] = 7


def test_parameters_of_a_base_come_first_and_may_be_derived() -> None:
    assert [slot.name for slot in record_of(Slower).layout.slots] == ["wait_ms", "times"]
    assert Slow(wait_s=0.5).parameters() == [500.0]
    assert Slower(times=4).parameters() == [8000.0, 4.0]
    assert Constant(times=4).parameters() == [7.0, 4.0]


def test_the_memory_of_a_subclass_begins_with_that_of_its_base() -> None:
    with pytest.raises(TypeError, match="memory is Record, which does not derive from More of its base"):
        type("Slowest", (Slower,), {"memory": Record, "__module__": __name__})


def test_two_bases_are_refused() -> None:
    other = type("Other", (CompiledPolicy,), {"__module__": __name__})
    with pytest.raises(TypeError, match="derives from several policies"):
        record_of(type("Both", (Slow, other), {"__module__": __name__}))
