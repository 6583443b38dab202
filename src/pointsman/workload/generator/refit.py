"""Make the shipped profiles anew: ``python -m pointsman.workload.generator.refit ../shared/data``."""

import sys
from pathlib import Path

import polars as pl

from pointsman.workload.generator.fit import fit_profile, render
from pointsman.workload.generator.helios import helios
from pointsman.workload.generator.profile import Profile

PHILLY_START_H = 10 + 30 / 60 + 41 / 3600
"""The log begins on Monday, 2017-09-04, at 10:30:41."""
PHILLY_LEAD_IN_DAYS = 20
"""Before 2017-09-24 the log has only the few jobs that were still running when it was collected."""
PHILLY_STATUS = {
    "jobs": {"COMPLETED": 0.604, "CANCELLED": 0.09, "FAILED": 0.305},
    "gpu_time": {"COMPLETED": 0.321, "CANCELLED": 0.294, "FAILED": 0.386},
}
"""Shares of each status in the original log (AcmeTrace's summary); the copy fitted here has no status."""
ITP_START_H = 72.0
"""Collected from Thursday, 2021-03-04; the hour is not published."""


def philly(data: Path) -> Profile:
    """Fitted to the derived copy of Microsoft Philly in `data`."""
    source = "Microsoft Philly 2017 as in the Pollux artifact (82,247 jobs; data CC-BY 4.0)"
    return fit_profile(
        _log(data / "traces" / "philly_2017.csv.gz"),
        "philly",
        source,
        start_hour_of_week=PHILLY_START_H,
        lead_in_days=PHILLY_LEAD_IN_DAYS,
        status=PHILLY_STATUS,
    )


def itp(data: Path) -> Profile:
    """Fitted to the seven ITP clusters in `data`, pooled."""
    source = "Microsoft ITP 2021, seven clusters pooled (51,245 jobs; MIT)"
    return fit_profile(_log(data / "traces" / "ms_itp_2021.csv.gz"), "itp", source, start_hour_of_week=ITP_START_H)


def _log(path: Path) -> pl.DataFrame:
    return pl.read_csv(path).rename({"vc": "queue"})


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    for profile in (philly(folder), itp(folder), helios()):
        Path(__file__).with_name(f"{profile.name}.yaml").write_text(render(profile), encoding="utf-8")
