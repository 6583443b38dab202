"""Compiled code goes stale with every source that is in it, however that is imported."""

import os
import subprocess
import sys
from pathlib import Path

import numba
import pytest
from pointsman.engine.jit.loading import core_sources
from pointsman.engine.jit.sources import PACKAGE, imports, outside_the_engine

ROOT = Path(__file__).parents[3]
MOVING = PACKAGE / "policies" / "parts" / "moving.py"


@pytest.mark.parametrize(
    "line",
    [
        "from pointsman.policies.parts.moving import misplaced",
        "from pointsman.policies.parts.moving import misplaced as m  # why",
        "from pointsman.policies.parts.moving import (\n    improve_places,\n    misplaced,\n)",
        "from pointsman.policies.parts import moving",
        "from pointsman.policies.parts import levels, moving as m",
        "import pointsman.policies.parts.moving",
        "import os, pointsman.policies.parts.moving as m",
        "def f():\n    from pointsman.policies.parts import moving",
    ],
)
def test_a_module_is_found_however_it_is_imported(line: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(f"import math\nimport numpy as np\n{line}\n")
    assert MOVING in imports(tmp_path / "mine.py")


def test_relative_imports_are_found() -> None:
    """`engine.units` has none; so one is looked at as if it stood beside Dally."""
    beside = PACKAGE / "policies" / "dally" / "zz_test.py"
    beside.write_text("from ..parts.moving import misplaced\nfrom . import delay\nfrom .tuner import learn\n")
    try:
        assert imports(beside)[0] == MOVING
        assert {PACKAGE / "policies" / "dally" / name for name in ("delay.py", "tuner.py")} <= set(imports(beside))
    finally:
        beside.unlink()


def test_what_a_policy_imports_is_followed_but_not_into_the_engine() -> None:
    found = outside_the_engine([PACKAGE / "policies" / "dally" / "dally.py"])
    assert {MOVING, PACKAGE / "policies" / "sdk.py", PACKAGE / "policies" / "dally" / "tuner.py"} <= set(found)
    assert [path for path in found if path.is_relative_to(PACKAGE / "engine")] == []


def test_constants_that_the_core_imports_are_of_the_core() -> None:
    core = {path.relative_to(PACKAGE).as_posix() for path in core_sources()}
    assert {"engine/run/stops.py", "engine/run/loop/event_kinds.py", "engine/state/invariants.py", "types.py"} <= core
    assert "engine/units/main_loop.py" not in core, "units have digests of their own"


POLICY = """
from typing import ClassVar
from mine_order import SIGN
from pointsman.policies.sdk import OK, PENDING, CompiledPolicy, State, core, enqueue, first_waiting, start

class Mine(CompiledPolicy):
    name: ClassVar[str] = "mine"
    needs: ClassVar[str] = "none"
    hooks: ClassVar[str] = __file__

@core
def on_event(S: State, kind: int, j: int) -> None:
    if j >= 0 and S.jobs[j].state == PENDING and S.jobs[j].bucket < 0:
        enqueue(S, j, SIGN * S.jobs[j].submit, 0.0)

@core
def on_run(S: State, j: int) -> None:
    pass

@core
def decide(S: State) -> None:
    while True:
        j = first_waiting(S)
        if j < 0 or start(S, j, OK) != OK:
            return
"""
RUN = """
import polars as pl, pointsman
jobs = pl.DataFrame({"submit_s": [0.0, 1.0, 2.0], "gpus": 1, "duration_s": 10.0})
result = pointsman.simulate(pointsman.Workload.of(jobs), "1x1", "mine.py:Mine", overheads="none")
print(result.jobs["start_s"].to_list())
"""


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
def test_a_users_policy_goes_stale_with_another_file_of_the_users(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(POLICY)
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(tmp_path)])}
    for sign, starts in (("1.0", "[0.0, 10.0, 20.0]"), ("-1.0", "[0.0, 20.0, 10.0]")):
        (tmp_path / "mine_order.py").write_text(f"SIGN = {sign}\n")
        done = subprocess.run([sys.executable, "-c", RUN], cwd=tmp_path, env=env, capture_output=True, text=True)
        assert done.stdout.strip() == starts, done.stderr


EDITED = """
import pathlib, mine_order
pathlib.Path("mine_order.py").write_text(pathlib.Path("mine_order.py").read_text().replace("+ 1.0", "- 1.0"))
"""
ORDER = """
from pointsman.policies.sdk import core

@core
def signed(x: float) -> float:
    return (0.0 + 1.0) * x
"""


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
def test_what_is_edited_before_it_is_compiled_is_not_taken_for_what_was_imported(tmp_path: Path) -> None:
    """The first process has imported the file before it was edited, the second one has not. Python writes no bytecode,
    for it would take that of a file of the same second and size for the new one's.
    """
    policy = POLICY.replace("SIGN * S.jobs[j].submit", "signed(S.jobs[j].submit)").replace("SIGN", "signed")
    (tmp_path / "mine.py").write_text(policy)
    (tmp_path / "mine_order.py").write_text(f"{ORDER}# {tmp_path}\n")  # so that nothing is kept of it
    path = os.pathsep.join([str(ROOT / "src"), str(tmp_path)])
    env = os.environ | {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    for code, starts in ((EDITED + RUN, "[0.0, 10.0, 20.0]"), (RUN, "[0.0, 20.0, 10.0]")):
        done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=env, capture_output=True, text=True)
        assert done.stdout.strip() == starts, done.stderr
