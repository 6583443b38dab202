"""Where ξ is from: Gavel's two tables disagree, and most models were never measured beside others."""

import tempfile
from functools import cache
from pathlib import Path

from benchmarks.pair_data import SOURCES, load
from pointsman.speed.interference.file import interference_yaml
from pointsman.speed.interference.fit import figures_of
from pointsman.speed.interference.slow_downs import shipped

ORACLE = "oracle.yaml"


@cache
def oracle_file(data: Path) -> str:
    """Gavel's other table as a file for `interference`, as ``python -m benchmarks pairs --oracle`` writes it."""
    figures = figures_of(load(SOURCES[1], data / "profiles").pairs())
    path = Path(tempfile.mkdtemp(prefix="pointsman-")) / ORACLE
    path.write_text(interference_yaml("oracle", "Gavel: its oracle table", figures, shipped().stand_ins))
    return str(path)


def sources(data: Path) -> dict[str, str]:
    """What `interference` is to be, by what it is called in tables."""
    named = {"table": "table", "Gavel's other table": oracle_file(data), "law": "law"}
    return named | {name: f"table:{name}" for name in ("sensitive", "insensitive")}
