"""Whether stops of random length raise preemptions: ``python -m benchmarks.thrash --data FOLDER [--jobs N]``.

A policy that thinks that GPUs come free later than they do, or earlier, might preempt more for it. Each log is run by a
daemon on a simulated cluster whose stops take 5 s, or 5 s or 60 s on average, exponentially distributed.
"""

import argparse
import asyncio
import csv
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Final

from benchmarks.shadow_play import Play, logs
from pointsman.live.backends.shadow import Delays, always, exponential

POLICIES: Final = ("srtf", "tiresias", "dally", "gittins")
STOPS: Final = {"5 s": always(5_000), "5 s on average": exponential(5_000), "60 s on average": exponential(60_000)}
_COUNT: Final = "SELECT count(*) FROM attempts WHERE cause = 'preempt'"


def main() -> None:
    """Print a row for each log and policy, as CSV: preemptions by length of stops."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=2000)
    options = parser.parse_args()
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["log", "policy", *STOPS])
    for name, log in logs(options.data, options.jobs):
        for policy in POLICIES:
            counts = []
            for stop in STOPS.values():
                with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
                    play = Play(log, policy, Path(folder), replace(Delays(), stop=stop))
                    asyncio.run(play.run())
                    counts.append(play.daemon.store.connection.execute(_COUNT).fetchone()[0])
                    play.daemon.close()
            writer.writerow([name, policy, *counts])
            sys.stdout.flush()


if __name__ == "__main__":
    main()
