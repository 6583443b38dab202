"""``python -m benchmarks.placement``: the table of placers on held-out workloads.
``--schedulers``: what it costs to divide the cluster among several, in percent of mean JCT above one.

Figures are else percent of mean JCT below the best of LB, Tetris and LIF; *bound*: no job waits or is slowed.
"""

import argparse
import tempfile
import time
from pathlib import Path

from benchmarks.placement.cell import BLIND, SERVERS, cluster, mean_jct_s, on_topology, run, workload
from pointsman import Workload

POLICIES = (*BLIND, "random-place", "packed", "packed-lif", "packed-patience", "scorer")
CELLS = [(sizes, load) for sizes in ("philly", "1-8", "1-16") for load in (0.7, 0.9)]
HELD_OUT = (1, 2, 3)
"""Seeds of workloads."""
DIVIDED, PER_RACK = (4, 8), 4
"""Numbers of schedulers, and servers to a rack, so that all have as many."""


def table(on: str, servers: int, jobs: int) -> None:
    """Print a line for each cell."""
    for sizes, load in CELLS:
        held_out = [workload(sizes, load, jobs, seed, servers) for seed in HELD_OUT]
        means = {
            policy: sum(mean_jct_s(run(w, on, policy)) for w in held_out) for policy in (*POLICIES, "fifo-backfill")
        }
        means["bound"] = sum(float(w.jobs["duration_s"].mean()) for w in held_out)
        best = min(means[policy] for policy in BLIND)
        print(sizes, load, {name: round(100 * (1 - mean / best), 1) for name, mean in means.items()}, flush=True)


def divided(on: str, servers: int, jobs: int) -> None:
    """Print a line for each policy and load."""
    for load in (0.7, 0.9):
        held_out = [workload("philly", load, jobs, seed, servers) for seed in HELD_OUT]
        for policy in POLICIES:
            means = {
                (schedulers, forward): sum(
                    mean_jct_s(run(w, on, policy, seed=seed, params={"schedulers": schedulers, "forward": forward}))
                    for w, seed in zip(held_out, HELD_OUT, strict=True)
                )
                for schedulers in (1, *DIVIDED)
                for forward in ((False, True) if schedulers > 1 else (False,))
            }
            one = means.pop((1, False))
            more = {
                f"{schedulers}{', forwarding' if forward else ''}": round(100 * (mean / one - 1), 1)
                for (schedulers, forward), mean in means.items()
            }
            print(policy, load, more, flush=True)


def speed(on: str, servers: int, jobs: int) -> None:
    """Print how many jobs are placed in a second of one core, and what that leaves for placement alone."""
    held_out = workload("philly", 0.7, jobs, HELD_OUT[0], servers)
    base_s = 0.0
    for policy in ("fifo-backfill", *POLICIES):
        run(held_out, on, policy)
        cpu_s = min(_cpu_s(held_out, on, policy) for _ in range(7))
        base_s = base_s or cpu_s
        beyond = f", {jobs / (cpu_s - base_s):,.0f}/s beyond fifo-backfill" if cpu_s > base_s else ""
        print(f"{policy}: {jobs / cpu_s:,.0f} jobs/s with the whole simulation{beyond}")


def _cpu_s(jobs: Workload, on: str, policy: str) -> float:
    began = time.process_time()
    run(jobs, on, policy)
    return time.process_time() - began


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=3000)
    parser.add_argument("--topology", help="of the cluster, such as bcube:11x1; a fat tree of 64 servers if left out")
    parser.add_argument("--schedulers", action="store_true", help="measure divided clusters instead")
    parser.add_argument("--speed", action="store_true", help="measure speed instead")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        on, servers = cluster(Path(folder), per_rack=PER_RACK if given.schedulers else 3), SERVERS
        if given.topology:
            on, servers = on_topology(Path(folder), given.topology)
        if given.speed:
            speed(on, servers, given.jobs)
            return
        if given.schedulers:
            divided(on, servers, given.jobs)
            return
        table(on, servers, given.jobs)


if __name__ == "__main__":
    main()
