"""``python -m tests.mutation --seed 1 --count 40``: draw mutants, run each, list those that survive."""

import argparse
import random
import sys
import tempfile
from functools import cache, partial
from pathlib import Path

from tests.mutation.points import KINDS, Point, all_points
from tests.mutation.quick import Baseline, copied, killed_by
from tests.mutation.rooms import room_of

PACKAGE = Path(__file__).parents[2] / "src" / "pointsman"


def drawn(points: list[Point], seed: int, count: int) -> list[Point]:
    """Of each kind as many, as far as there are."""
    draw = random.Random(seed)
    by_kind = {kind: [point for point in points if point.kind == kind] for kind in KINDS}
    for found in by_kind.values():
        draw.shuffle(found)
    chosen: list[Point] = []
    while len(chosen) < count and any(by_kind.values()):
        chosen += [found.pop() for found in by_kind.values() if found][: count - len(chosen)]
    return chosen


def main() -> int:
    """Exit code 1 if there are survivors."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="Random seed.")
    parser.add_argument("--count", type=int, default=40, help="Number of mutants.")
    parser.add_argument("--file", default="", help="Only files whose path contains this text.")
    parser.add_argument("--limit", type=float, default=60.0, metavar="S", help="Seconds for the tests of a mutant.")
    parser.add_argument("--first", type=int, default=1, metavar="N", help="Number of the mutant to begin with.")
    options = parser.parse_args()
    points = [point for point in all_points(PACKAGE) if options.file in point.file]
    mutants = drawn(points, options.seed, options.count)
    print(f"{len(mutants)} of {len(points)} mutants", flush=True)
    survivors = []
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        package = copied(PACKAGE, Path(folder))
        baseline_of = cache(partial(Baseline.of, package=PACKAGE))
        for number, point in list(enumerate(mutants, 1))[options.first - 1 :]:
            found = killed_by(point, package, baseline_of(room_of(point.file)), options.limit)
            told = point.told((PACKAGE / point.file).read_bytes())
            print(f"{number:3} {found or 'SURVIVED'}: {told}", flush=True)
            survivors += [] if found else [told]
    print(f"\n{len(survivors)} of {len(mutants)} survived", *survivors, sep="\n")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
