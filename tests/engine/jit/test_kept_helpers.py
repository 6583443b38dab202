"""Helpers are typed and lowered once: other units, in other processes, find them on disk, unless a source changed."""

import os
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from pointsman.engine.jit import kept_helpers

UNIT = """
from pointsman.engine.index.bits import without_lowest
from pointsman.engine.index.free_gpus import lowest_bits
from pointsman.engine.jit.compile import entry


@entry("int64(int64, int64)")
def answer(mask, n):
    return {answer}
"""
SCRIPT = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location(sys.argv[1], f"{sys.argv[1]}.py")
unit = importlib.util.module_from_spec(spec)
sys.modules[sys.argv[1]] = unit
spec.loader.exec_module(unit)
helper = unit.lowest_bits
print(unit.answer(0b1011_0100, 2), sum(helper._cache_hits.values()), sum(helper._cache_misses.values()))
"""
pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")


def in_a_process(folder: Path, name: str, answer: str) -> str:
    """The answer of the unit, and how often its helper was found and not found on disk."""
    (folder / f"{name}.py").write_text(UNIT.format(answer=answer))
    (folder / "home").mkdir(0o700, exist_ok=True)
    src = str(Path(__file__).parents[3] / "src")
    env = {**os.environ, "PYTHONPATH": src, "POINTSMAN_HOME": str(folder / "home")}
    command = [sys.executable, "-c", SCRIPT, name]
    done = subprocess.run(command, env=env, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_another_unit_in_another_process_finds_a_helper_and_a_damaged_one_is_made_anew(tmp_path: Path) -> None:
    """The two lowest bits of 1011_0100 are 4 and 16."""
    assert in_a_process(tmp_path, "one", "lowest_bits(mask, n)") == "20 0 1"
    assert in_a_process(tmp_path, "two", "lowest_bits(without_lowest(mask), n) + 1") == "49 1 0"
    (kept,) = tmp_path.glob("home/compiled/*/helpers/lowest_bits_*")
    kept.write_bytes(kept.read_bytes()[:-1])
    assert in_a_process(tmp_path, "three", "lowest_bits(mask, n) + 2") == "22 0 1"


def test_a_helper_that_moved_with_its_module_is_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is kept of it names the helpers it calls by their modules, and its own calls may have moved with it."""
    monkeypatch.setattr(kept_helpers, "_sources", lambda module: "the same text")
    before, after = (kept_helpers.Helper(module, "f", ()) for module in ("pointsman.a", "pointsman.b"))
    assert kept_helpers._file_of(before) != kept_helpers._file_of(after)


@pytest.mark.parametrize("more", [0, 7])
def test_a_record_has_the_same_name_in_every_process(more: int) -> None:
    """However many types numba has met there before: two processes may compile one helper at once."""
    code = (
        "from numba import types\n"
        f"kept = [types.UniTuple(types.int64, 1000 + k) for k in range({more})]\n"
        "from pointsman.engine.state.jit_arrays import rows_type\n"
        "from pointsman.engine.state.records import LOG\n"
        "print(rows_type(LOG, 1).dtype.mangling_args)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    from pointsman.engine.state.jit_arrays import rows_type
    from pointsman.engine.state.records import LOG

    assert done.stdout.strip() == str(rows_type(LOG, 1).dtype.mangling_args)
