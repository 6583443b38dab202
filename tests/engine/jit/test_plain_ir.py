"""What `jit.plain_ir` relies on of numba's inner classes: a unit over nested helpers is compiled, kept and loaded."""

import os
import subprocess
import sys
from pathlib import Path

import numba
import pytest
from pointsman.engine.jit.loading import load_beside

SOURCE = """
import numpy as np
from pointsman.engine.jit.compile import apart, cold, core, entry


@core
def twice(x):
    return 2 * x


@cold
def smaller(x, y):
    return min(twice(x), y)  # of numba's own library


@core
def both(x, y):
    return smaller(x, y) + smaller(y, x) + twice(y)


@entry("int64(int64, int64)")
def total(x, y):
    return both(x, y) + twice(np.int64(1))


@apart("int64(int64, int64, int64)")
def by_address(x, y, z):
    return both(x, y) + z
"""
SCRIPT = """
import ctypes, importlib.util, sys
spec = importlib.util.spec_from_file_location("nested", sys.argv[1])
nested = importlib.util.module_from_spec(spec)
sys.modules["nested"] = nested
spec.loader.exec_module(nested)
by_address = ctypes.CFUNCTYPE(*[ctypes.c_int64] * 4)(nested.by_address.address)
print(nested.total(3, 5), by_address(3, 5, 100))
print(sum(nested.total.stats.cache_hits.values()), nested.by_address.cache_hits)
helpers = nested.both.overloads.values()
native = [made.library.get_pointer_to_function(made.fndesc.llvm_func_name) for made in helpers]
print(len(helpers), not any(native))
"""
pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")


def in_a_process(source: Path) -> list[str]:
    src = str(Path(__file__).parents[3] / "src")
    env = {**os.environ, "PYTHONPATH": src}
    done = subprocess.run([sys.executable, "-c", SCRIPT, str(source)], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_unit_over_nested_helpers_is_compiled_kept_and_loaded_in_a_new_process(tmp_path: Path) -> None:
    source = tmp_path / "nested.py"
    source.write_text(SOURCE)
    assert in_a_process(source) == ["20 118", "0 0", "1 True"]
    assert in_a_process(source) == ["20 118", "1 1", "0 True"], "what is on disk needs no helper compiled"


@pytest.mark.parametrize("name", ["start_or_evict", "instant"])
def test_what_is_inside_a_unit_is_named_after_it(name: str) -> None:
    """LLVM looks for a function of a name in all units, and would find the private copy in this one."""
    unit = load_beside(name).serve
    names = [each.name for each in unit._library._get_module_for_linking().functions if not each.is_declaration]
    assert unit._wrapper_name in names and len(names) > 1
    assert [each for each in names if not each.startswith(unit._wrapper_name)] == []
