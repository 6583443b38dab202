"""Threads of one process may run simulations side by side, from the first on."""

import subprocess
import sys

THREADS = """
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
import polars as pl
import pointsman
from tests.free import simulate

sys.setswitchinterval(1e-5)
jobs = pointsman.Workload.of(pl.DataFrame({"submit_s": [0.0, 0.0, 1.0], "gpus": [1, 4, 2], "duration_s": [9.0] * 3}))
ready = Barrier(8)

def run(_):
    ready.wait()
    return simulate(jobs, "1x4", "srtf").jobs["end_s"].to_list()

with ThreadPoolExecutor(8) as threads:
    assert list(threads.map(run, range(8))) == [[9.0, 19.0, 10.0]] * 8
"""


def test_compiled_code_is_loaded_once() -> None:
    done = subprocess.run([sys.executable, "-c", THREADS], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
