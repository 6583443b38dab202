"""How fast the engine is beside an earlier version: ``python -m benchmarks.since REVISION [--overheads realistic]``.

Both versions simulate the same jobs in turn (A, B, B, A) on this machine, so it may be busy. A row is a policy at a
load: the earlier version's time divided by the present one's, as median and range; above 1 the present one is faster.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Final

MEASURE: Final = """
import json, sys
import pointsman
from benchmarks.workloads import mixture
times = {}
for load in (0.9, 1.05) if sys.argv[1] == "none" else (1.05,):
    jobs = mixture(200_000, 6_400, load)
    for policy in sys.argv[2:]:
        options = {"estimate": "oracle"} if policy == "easy" else {}
        run = lambda: pointsman.simulate(
            jobs, "800x8", policy, overheads=sys.argv[1], oversized="drop", log=False, **options
        ).info["engine_s"]
        times[f"{policy} {load}"] = min(run() for _ in range(3))
print(json.dumps(times))
"""
POLICIES: Final[Mapping[str, tuple[str, ...]]] = {
    "none": ("fifo", "sjf", "fifo-backfill", "sjf-backfill", "easy", "srtf", "las", "tiresias"),
    "realistic": ("fifo-backfill", "dally", "tiresias", "las", "srtf"),
}
"""`gittins` decides otherwise since then, so its times are not compared."""


def measured(checkout: Path, overheads: str) -> dict[str, float]:
    """Seconds of the engine, by policy and load."""
    paths = {"PYTHONPATH": f"{checkout / 'src'}:{checkout}"}
    command = [sys.executable, "-c", MEASURE, overheads, *POLICIES[overheads]]
    done = subprocess.run(command, cwd=checkout, env={**os.environ, **paths}, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    """Print a row for each policy and load, as CSV."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("revision")
    parser.add_argument("--overheads", choices=POLICIES, default="none")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    here = Path(__file__).parents[1]
    ratios: defaultdict[str, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        before = Path(folder) / "before"
        subprocess.run(["git", "clone", "-q", str(here), str(before)], check=True)
        subprocess.run(["git", "-C", str(before), "checkout", "-q", options.revision], check=True)
        for checkout in (before, here):
            measured(checkout, options.overheads)  # compiles
        for number in range(options.rounds):
            order = (before, here) if number % 2 == 0 else (here, before)
            found = {checkout: measured(checkout, options.overheads) for checkout in order}
            for name, seconds in found[here].items():
                ratios[name].append(found[before][name] / seconds)
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["policy_and_load", "ratio", "least", "most"])
    writer.writerows([name, *(f"{f(values):.3f}" for f in (median, min, max))] for name, values in ratios.items())


if __name__ == "__main__":
    main()
