"""SRTF and Tiresias against a published measurement: ``python -m benchmarks.classical.published cluster_trace.csv``.

Zhao et al., Multi-Resource Interleaving for Deep Learning Training (Muri), SIGCOMM 2022, ran 400 jobs on 8 nodes of 8
V100 and published the jobs and what came of them: ``cluster_exp/trace-data/cluster_trace.csv`` (times in milliseconds)
and ``cluster_exp/results/{SRTF,tiresias}/result.out`` of github.com/Rivendile/Muri at f95ea75. Their scheduler decides
every 360 s; their Tiresias has the thresholds 3,250 and 7,200 GPU-s and no promotion, which are the defaults here.
"""

import argparse
import sys
from pathlib import Path

import polars as pl

from pointsman.api import simulate
from pointsman.report.summary import summarise
from pointsman.workload import Workload

PUBLISHED = {
    "rounds(srtf, 360)": {"jct_mean_s": 249140.176953, "jct_p99_s": 2723588.792933, "makespan_s": 4156633.262890},
    "rounds(tiresias, 360)": {"jct_mean_s": 336533.171665, "jct_p99_s": 2812808.288529, "makespan_s": 3959796.871355},
}
WITHIN = 0.15
MISSED = 4


def main() -> int:
    """Print published and simulated figures; 4 if a mean JCT is further off than the limit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace", type=Path)
    workload = _jobs(parser.parse_args().trace)
    worst = 0.0
    for policy, published in PUBLISHED.items():
        found = summarise(simulate(workload, "8x8", policy, overheads="none", log=False))
        for name, value in published.items():
            print(
                f"{policy:24}{name:12}{value:14,.0f} published{found[name]:14,.0f} here{found[name] / value - 1:+8.1%}"
            )
        worst = max(worst, abs(found["jct_mean_s"] / published["jct_mean_s"] - 1))
    return 0 if worst <= WITHIN else MISSED


def _jobs(trace: Path) -> Workload:
    milliseconds = pl.read_csv(trace).select("num_gpu", "submit_time", "duration")
    seconds = pl.col("submit_time", "duration") / 1000
    jobs = milliseconds.with_columns(seconds).rename(
        {"num_gpu": "gpus", "submit_time": "submit_s", "duration": "duration_s"}
    )
    return Workload.of(jobs, source=str(trace))


if __name__ == "__main__":
    sys.exit(main())
