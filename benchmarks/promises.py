"""How many promised starts come true: ``python -m benchmarks.promises --data FOLDER [--policy NAME] [--jobs N]``.

Logs are run by a daemon on a simulated cluster, which forgets nothing and errs never, as fast as it goes. Once in an
hour of that cluster it foretells when its jobs will start, from what it has seen of the log so far.
"""

import argparse
import asyncio
import csv
import math
import sys
import tempfile
from itertools import chain
from pathlib import Path
from typing import Any, Final

from benchmarks.shadow_play import Play, busier_logs, logs
from pointsman.live.daemon.forecaster import Forecaster
from pointsman.workload import Workload

POLICIES: Final = ("fifo-backfill", "multifactor", "gittins")
EVERY_MS: Final = 3_600_000
_CAME: Final = """
SELECT made_ms, early_ms, likely_ms, late_ms, started_ms FROM promises JOIN attempts ON attempts.job = promises.job
AND attempt = 1 WHERE started_ms IS NOT NULL
"""


async def promised(log: Workload, policy: str, folder: Path) -> list[Any]:
    """Promises to jobs of a log that have started."""
    play = Play(log, policy, folder)
    forecaster = Forecaster(play.daemon)
    foretold_ms = 0

    async def after_turn() -> None:
        nonlocal foretold_ms
        if play.clock.at_ms >= foretold_ms and forecaster.unpromised():
            await forecaster.foretell()
            foretold_ms = play.clock.at_ms + EVERY_MS

    await play.run(after_turn)
    forecaster.close()
    came = play.daemon.store.connection.execute(_CAME).fetchall()
    play.daemon.close()
    return came


def figures(came: list[Any]) -> dict[str, Any]:
    """How many came true, and how wide the ranges were."""
    kept = [row["early_ms"] <= row["started_ms"] <= (row["late_ms"] or math.inf) for row in came]
    waits_h = sorted((row["started_ms"] - row["made_ms"]) / 3.6e6 for row in came)
    widths_h = sorted(((row["late_ms"] or math.inf) - row["early_ms"]) / 3.6e6 for row in came)
    errors_h = sorted(abs((row["likely_ms"] or math.inf) - row["started_ms"]) / 3.6e6 for row in came)
    middle = len(came) // 2
    return {
        "promised": len(came), "kept_ratio": sum(kept) / max(1, len(kept)),
        "too_late_ratio": sum(r["started_ms"] > (r["late_ms"] or math.inf) for r in came) / max(1, len(came)),
        "wait_median_h": waits_h[middle] if came else None, "width_median_h": widths_h[middle] if came else None,
        "error_median_h": errors_h[middle] if came else None,
    }  # fmt: skip


def main() -> None:
    """Print a row for each log and policy, as CSV."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=2000)
    parser.add_argument("--policy", action="append")
    options = parser.parse_args()
    writer = csv.writer(sys.stdout, lineterminator="\n")
    heads: list[str] = []
    for name, log in chain(logs(options.data, options.jobs), busier_logs(options.data, options.jobs)):
        for policy in options.policy or POLICIES:
            with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
                came = asyncio.run(promised(log, policy, Path(folder)))
            row = {"log": name, "policy": policy, "jobs": log.jobs.height, **figures(came)}
            if not heads:
                writer.writerow(heads := [*row])
            writer.writerow(row.values())
            sys.stdout.flush()


if __name__ == "__main__":
    main()
