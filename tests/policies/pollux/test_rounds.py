"""Pollux in processes of its own: the same bytes with the JIT and without, and each round watched from inside."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import pointsman

SRC = Path(pointsman.__file__).parents[1]
CASES = """
import hashlib, json, sys
import numpy as np, polars as pl
import pytest

import pointsman
from pointsman.engine.setup.overheads import Overheads

def jobs(n, seed):
    draw = np.random.default_rng(seed)
    return pointsman.Workload.of(pl.DataFrame({
        "submit_s": np.sort(draw.integers(0, 600, n)).astype(float),
        "gpus": draw.choice([1, 1, 2, 3, 4, 6], n),
        "duration_s": draw.integers(0, 900, n).astype(float),
        "model": [None if x == "none" else x for x in draw.choice(["resnet18", "bert", "ncf", "none"], n)],
    }))

def digest(result):
    whole = hashlib.sha256()
    for frame in (result.jobs, result.events, result.series):
        for column in frame:
            whole.update(column.name.encode() + str(column.to_list()).encode())
    return whole.hexdigest()
"""
DIGESTS = """
costs = Overheads(start_s=5, stop_s=2, restore_s=3, lost_s=2)
down = [(100.0, "1", "DOWN"), (250.0, "1", "UP"), (300.0, "0", "DRAIN"), (500.0, "0", "UP")]
for cluster in ("2x4/gpu=t4", "2x2/gpu=t4+1x4/gpu=v100"):
    for options in ({}, {"overheads": costs, "node_events": down}):
        print(digest(pointsman.simulate(jobs(6, 3), cluster, "pollux", **({"oversized": "clamp"} | options))))
"""
WATCHED = """
from pointsman.policies.pollux import pollux
from pointsman.policies.pollux.packing import fitness_of_plan, planned_locality
from pointsman.policies.pollux.search import fitness_of_now, kept, line, may_change

carry_out, rounds = pollux._carry_out, []

def watched(S):
    now, planned, wanted = fitness_of_now(S), fitness_of_plan(S), {}
    j = S.buckets[line(S)].first
    while j >= 0:
        if may_change(S, j):
            gpus = int(kept(S, j).gpus)
            wanted[j] = (gpus, int(planned_locality(S, j)) if gpus else None)
        j = S.jobs[j].later
    carry_out(S)
    got = {j: (int(S.jobs[j].gpus), int(S.jobs[j].locality) if S.jobs[j].gpus else None) for j in wanted}
    assert planned > now, "the plan is no fitter"
    assert got == wanted, f"planned {wanted}, carried out {got}"
    rounds.append(len(wanted))

pollux._carry_out = watched
for seed in range(2):
    costs = Overheads(start_s=5.0)
    pointsman.simulate(jobs(7, seed), "3x2/gpu=t4", "pollux", overheads=costs, oversized="clamp", audit=True)
print(len(rounds), max(rounds))
"""


def said(script: str, **environment: str) -> str:
    """What the script prints in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", CASES + script],
        env={**os.environ, "PYTHONPATH": str(SRC), **environment},
        capture_output=True,
        text=True,
        timeout=540,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.mark.slow
def test_processes_and_hash_seeds_agree_and_so_do_runs_with_the_jit_and_without() -> None:
    first = said(DIGESTS, PYTHONHASHSEED="1")
    assert first == said(DIGESTS, PYTHONHASHSEED="2") == said(DIGESTS, NUMBA_DISABLE_JIT="1")
    assert len(set(first.split())) == 4


def test_what_is_carried_out_is_the_plan_and_fitter_than_before() -> None:
    rounds, together = (int(n) for n in said(WATCHED, NUMBA_DISABLE_JIT="1").split())
    assert rounds > 10 and together > 3
