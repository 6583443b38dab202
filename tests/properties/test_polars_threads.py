"""Figures are the same to the last bit, however many threads Polars has: by itself it has one for each core."""

import os
import subprocess
import sys

SCRIPT = """
import dataclasses, hashlib, pathlib, tempfile
import numpy as np, polars as pl
from pointsman.sums import in_groups, mean, total, total_of
from pointsman.workload.summary import summary
from pointsman.workload.writers.write import write_workload
from tests.golden.runs import RUNS
import pointsman

assert pl.thread_pool_size() == int({threads})
draw = np.random.default_rng(1)
whole = pl.DataFrame({{"kind": draw.integers(0, 9, 300_000), "s": 1e3 * draw.random(300_000)}})
some = whole.filter(pl.col("kind") < 8)
jobs = {{"submit_s": np.arange(300_000.0), "gpus": 1 + whole["kind"], "duration_s": 1 + whole["s"]}}
log = pointsman.Workload.of(pl.DataFrame(jobs))
in_chunks = pl.concat(log.jobs.iter_slices(-(-300_000 // {threads})), rechunk=False)  # as joins leave them
part = dataclasses.replace(log, jobs=in_chunks)
with tempfile.TemporaryDirectory() as folder:
    write_workload(part, f"{{folder}}/part.parquet")
    print(hashlib.sha256(pathlib.Path(folder, "part.parquet").read_bytes()).hexdigest(), summary(part))
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
    assert printed(16) == one
