"""Figures are the same to the last bit, however many threads Polars has: by itself it has one for each core."""

import os
import subprocess
import sys

SCRIPT = """
import numpy as np, polars as pl
from pointsman.sums import in_groups, mean, total, total_of
from tests.golden.runs import RUNS
import pointsman

assert pl.thread_pool_size() == int({threads})
draw = np.random.default_rng(1)
whole = pl.DataFrame({{"kind": draw.integers(0, 9, 300_000), "s": 1e3 * draw.random(300_000)}})
some = whole.filter(pl.col("kind") < 8)
print(total(some["s"]), mean(some["s"]), total_of(some, pl.col("s") * pl.col("kind") * 1.1))
print(in_groups(some, ["kind"], "s").select(pl.col("s").list.mean()).to_series().to_list())
run = next(run for run in RUNS if "rack=20" in str(run.options))
print(pointsman.summarise(run.simulate())["tree"])
"""


def printed(threads: int) -> str:
    environment = {**os.environ, "POLARS_MAX_THREADS": str(threads)}
    command = [sys.executable, "-c", SCRIPT.format(threads=threads)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_figures_do_not_depend_on_how_many_there_are() -> None:
    one = printed(1)
    assert len(one) > 500
    assert printed(3) == one
