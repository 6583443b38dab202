"""The same inputs and seed give the same bytes: in two processes, with the JIT on and off, with log and audit."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import pointsman
from tests.free import simulate

SRC = Path(pointsman.__file__).parents[1]
TWO_THREADS = {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2", "POLARS_MAX_THREADS": "2"}
POLICIES = [
    *("fifo", "sjf", "fifo-backfill", "sjf-backfill", "easy", "srtf", "tiresias", "las", "rounds(srtf, 60)"),
    *("tiresias-skew", "gandiva", "dally", "gittins", "multifactor", "kueue"),
]
CASES = """
import hashlib, json, sys
import numpy as np, polars as pl
import pointsman
from pointsman.engine.setup.overheads import Overheads

def jobs(n, seed):
    draw = np.random.default_rng(seed)
    return pointsman.Workload.of(pl.DataFrame({
        "submit_s": np.sort(draw.integers(0, 600, n)).astype(float),
        "gpus": draw.choice([1, 1, 2, 3, 4, 6, 8], n),
        "duration_s": draw.integers(0, 200, n).astype(float),
        "priority": draw.choice([0, 0, 1], n),
        "model": draw.choice(["resnet50", "bert", "inception_bn"], n),
    }))

def digest(result):
    whole = hashlib.sha256()
    for frame in (result.jobs, result.events, result.series):
        for column in frame:
            whole.update(column.name.encode() + str(column.to_list()).encode())
    return whole.hexdigest()

costs = Overheads(start_s=2, stop_s=3, restore_s=1, lost_s=2, checkpoint_every_s=10, start_fail_rate=0.05)
down = [(100.0, "1", "DOWN"), (150.0, "1", "UP"), (200.0, "0", "DRAIN"), (260.0, "0", "UP")]
found = {}
for policy in sys.argv[1:]:
    rough = {"overheads": costs, "node_events": down, "estimate": None}
    crowded = {**rough, "node_interference": "table:kappa=13"}
    for name, more in {"plain": {}, "rough": rough, "crowded": crowded}.items():
        found[f"{policy} {name}"] = digest(pointsman.simulate(jobs(10, 3), "2x4/rack=1+1x3", policy, seed=7, **more))
others = {
    "sjf-bsbf": {},
    "pick-place": {"rate_model": "tree", "params": {"picker": "random", "gpus": "random"}},
    "pick-place-sjf": {"rate_model": "tree", "params": {"gpus": "anchor"}},
    "packed-lif": {"node_interference": "table"},
    "scorer": {"node_interference": "table", "contention": "duty-cycle"},
}
for policy, more in others.items():
    found[policy] = digest(pointsman.simulate(jobs(9, 4), "4x2/rack=2,gpu=v100", policy, seed=7, **more))
found["64 GPUs a node"] = digest(pointsman.simulate(jobs(30, 3), "2x64", "fifo"))  # every bit of a word
print(json.dumps(found))
"""


def digests(**environment: str) -> dict[str, str]:
    """What CASES finds in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", CASES, *POLICIES],
        env={**os.environ, "PYTHONPATH": str(SRC), **environment},
        capture_output=True,
        text=True,
        timeout=540,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


def test_processes_hash_seeds_threads_and_the_jit_agree() -> None:
    first = digests(PYTHONHASHSEED="1")
    assert len(first) == 3 * len(POLICIES) + 6
    assert first == digests(PYTHONHASHSEED="2", NUMBA_DISABLE_JIT="1", **TWO_THREADS)


def rows(n: int) -> pointsman.Workload:
    """n jobs at once, of which a slot for each is needed."""
    return pointsman.Workload.of(
        pl.DataFrame(
            {
                "submit_s": [0.0] * n,
                "gpus": [1 + i % 3 for i in range(n)],
                "duration_s": [1.0 + i % 7 for i in range(n)],
            }
        )
    )


@pytest.mark.parametrize("policy", ["fifo", "easy", "srtf"])
def test_log_audit_and_growth_change_nothing(policy: str) -> None:
    few = rows(300)
    plain = simulate(few, "4x4", policy).jobs
    assert simulate(few, "4x4", policy, log=False).jobs.equals(plain)
    assert simulate(few, "4x4", policy, audit=True).jobs.equals(plain)
    many = simulate(rows(20_000), "4x4", policy)  # more jobs than the first slots, more log than one buffer
    starts = many.events.filter(pl.col("kind") == "START")
    assert starts["seq"].is_sorted()
    last = starts.filter(pl.col("attempt") == pl.col("attempt").max().over("row"))
    assert last["gpus"].sum() == many.jobs["gpus"].sum()


def test_written_parquet_is_identical(tmp_path: Path) -> None:
    for name in ("a", "b"):
        pointsman.write_run(tmp_path / name, simulate(rows(50), "4x4", "srtf"), figures=False)
    for file in ("jobs.parquet", "events.parquet", "series.parquet"):
        first, second = (hashlib.sha256((tmp_path / name / file).read_bytes()).hexdigest() for name in ("a", "b"))
        assert first == second
