"""What `jit.plain_ir` relies on of numba's inner classes: a unit over nested helpers is compiled, kept and loaded."""

import os
import subprocess
import sys
from pathlib import Path

import numba
import pytest

SOURCE = """
import numpy as np
from pointsman.engine.jit.compile import apart, cold, core, entry


@core
def twice(x):
    return 2 * x


@cold
def smaller(x, y):
    return min(twice(x), y)  # of numba's own library


@cold
def tangle(x, y):  # too long to be inlined
    total = 0
    for i in range(x):
        for k in range(i, y):
            if (i * x + k * y) % 7 == 3:
                total += (x ^ k) * y - i
            else:
                total ^= (k + i) * (k + x)
    return total


@core
def both(x, y):
    return smaller(x, y) + smaller(y, x) + twice(y)


@entry("int64(int64, int64)")
def total(x, y):
    return both(x, y) + twice(np.int64(1))


@entry("int64(int64)")
def tangled(x):
    return tangle(x, 7) + tangle(7, x) - tangle(x, x)


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
unit, helper = nested.tangled.overloads, nested.tangle.overloads
inside = {function.name for made in unit.values() for function in made.library._final_module.functions}
print(any("tangle" in name for name in inside), any(made.fndesc.mangled_name in inside for made in helper.values()))
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
    *made, names = in_a_process(source)
    assert made == ["20 118", "0 0", "1 True"]
    assert names == "True False", "LLVM looks for a function of a name in all units, and would find that inside"
    assert in_a_process(source)[:3] == ["20 118", "1 1", "0 True"], "what is on disk needs no helper compiled"
