"""``python -m benchmarks [NAME ...]``: measure, compare with ``budgets.yaml``; exit 4 if a budget is broken."""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measures import Measure, judge, remember
from benchmarks.speed_page import record, write_pages

BROKEN = 4
CONTENDED_JOBS = 200_000
NAMES = (
    "generator",
    "stopping",
    "throughput",
    "prototype",
    "contended",
    "latency",
    "scaling",
    "environments",
    "end_to_end",
    "cold",
)


def _measures(name: str, options: argparse.Namespace) -> Iterator[Measure]:
    if name == "generator":
        from benchmarks.generator_fit import generator

        yield from generator(options.data)
    elif name == "throughput":
        from benchmarks.throughput import POLICIES, throughput

        yield from throughput(options.jobs, tuple(options.policy or POLICIES))
    elif name == "stopping":
        from benchmarks.stopping import stopping

        yield from stopping(options.jobs)
    elif name == "prototype":
        from benchmarks.prototype import prototype

        yield from prototype(options.jobs, options.data.parent / "prototype")
    elif name == "contended":
        from benchmarks.contended import contended

        yield from contended(min(options.jobs, CONTENDED_JOBS))
    elif name == "latency":
        from benchmarks.latency import latency

        yield from latency(options.jobs)
    elif name == "end_to_end":
        from benchmarks.end_to_end import end_to_end

        yield from end_to_end(options.jobs)
    elif name == "cold":
        from benchmarks.cold import POLICIES as COMPILED
        from benchmarks.cold import cold

        yield from cold(tuple(options.policy or COMPILED))
    elif name == "environments":
        from benchmarks.environments import environments

        yield from environments()
    else:
        from benchmarks.scaling import scaling

        yield from scaling(options.jobs)


def main() -> int:
    """Run the benchmarks named on the command line, or all.

    `profiles` and `pairs` make pages; `benchmarks.results` makes others.
    """
    if sys.argv[1:2] == ["profiles"]:
        from benchmarks.profile_fit import main as profiles

        return profiles(sys.argv[2:])
    if sys.argv[1:2] == ["pairs"]:
        from benchmarks.pairs import main as pairs

        return pairs(sys.argv[2:])
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("name", nargs="*", help=f"of {', '.join(NAMES)}; by default all", default=[])
    parser.add_argument("--jobs", type=int, default=1_000_000, help="jobs of the largest runs")
    parser.add_argument("--policy", action="append", help="only these policies (throughput, cold)")
    parser.add_argument(
        "--data", type=Path, default=Path("../shared/data"), help="where traces/ is (generator); beside it prototype/"
    )
    parser.add_argument(
        "--record", action="store_true", help="write this run to budgets.yaml and docs/results/speed.md"
    )
    options = parser.parse_args()
    unknown = set(options.name) - set(NAMES)
    if unknown:
        parser.error(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    unbroken = True
    for name in options.name or NAMES:
        measures, holds = judge(_measures(name, options))
        unbroken &= holds
        if options.record:
            remember(measures)
            if name != "generator":  # the page is of speed
                record(measures)
    if options.record:
        write_pages()
    return 0 if unbroken else BROKEN


if __name__ == "__main__":
    sys.exit(main())
