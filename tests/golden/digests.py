"""What is recorded of a run: the bytes of its Parquet files and its figures.

``cd tests; python -m golden.digests`` records anew. Do so only where results are meant to change, and say in the commit
why.
"""

import hashlib
import json
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

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
    figures = {name: value for name, value in pointsman.summarise(result).items() if name not in MEASURED}
    whole.update(json.dumps(figures, sort_keys=True, default=str).encode())
    return whole.hexdigest()[:16]


def recorded() -> dict[str, str]:
    """The digests that were recorded, by name of the run; and under ``polars`` the version that wrote them."""
    return json.loads(RECORDED.read_text(encoding="utf-8"))


def main() -> None:
    """Record all runs anew; those that need PyTorch only where it is, else as they were."""
    runs = [*RUNS, *(LEARNED if find_spec("torch") else ())]
    before = recorded() if RECORDED.exists() else {}
    found = {run.name: before.get(run.name, "") for run in LEARNED}
    for run in runs:
        found[run.name] = digest(run)
        if found[run.name] != before.get(run.name):
            print(f"{found[run.name]}  {run.name}", file=sys.stderr)
    text = json.dumps({"polars": pl.__version__, **found}, indent=1, sort_keys=True)
    RECORDED.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
