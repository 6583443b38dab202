"""What is recorded of a run: the bytes of its Parquet files and its figures.

``python -m tests.golden.digests`` records the runs that have no digest yet; with ``--changed`` also those whose results
have changed, which it names; with ``--all`` every run, with every figure there is. Do so only where results are meant
to change, and say in the commit why. New figures of a summary change no digest.
"""

import hashlib
import json
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import polars as pl

import pointsman

from .runs import LEARNED, RUNS, Run

RECORDED = Path(__file__).parent / "digests.json"
MEASURED = ("engine_s", "decisions_per_s", "wall_s", "policy")
"""Figures that differ from run to run; the title of a policy holds the path of its checkpoint."""


def digest(run: Run) -> str:
    """Of the Parquet files of `run` and its figures."""
    result = run.simulate()
    whole = hashlib.sha256()
    with tempfile.TemporaryDirectory() as folder:
        written = pointsman.write_run(Path(folder) / "run", result, figures=False)
        for name in ("jobs", "events", "series"):
            whole.update((written / f"{name}.parquet").read_bytes())
    known = recorded()["figures"]
    figures = {name: value for name, value in pointsman.summarise(result).items() if name in known}
    whole.update(json.dumps(figures, sort_keys=True, default=str).encode())
    return whole.hexdigest()[:16]


def recorded() -> dict[str, Any]:
    """The digests that were recorded, by name of the run; under ``polars`` the version that wrote them, and under
    ``figures`` the names of the figures that count.
    """
    return json.loads(RECORDED.read_text(encoding="utf-8"))


def main(argv: list[str]) -> None:
    """Record the runs that have no digest, with ``--changed`` those that have another, with ``--all`` all and every
    figure there is; those that need PyTorch only where it is.
    """
    before = recorded()
    if "--all" in argv:
        names = {name for run in RUNS for name in pointsman.summarise(run.simulate())}
        before = {"figures": sorted(names - set(MEASURED))} | {run.name: before.get(run.name, "") for run in LEARNED}
        RECORDED.write_text(json.dumps(before), encoding="utf-8")
    found = {**before, "polars": pl.__version__}
    for run in (*RUNS, *(LEARNED if find_spec("torch") else ())):
        if argv or run.name not in before:
            found[run.name] = digest(run)
        if "--all" in argv or found[run.name] != before.get(run.name):
            print(f"{found[run.name]}  {run.name}", file=sys.stderr)
    RECORDED.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
