"""The start of a policy of one's own: a file that runs, and a test that fails when it stops to."""

import re
from pathlib import Path

from pointsman.errors import UsageError
from pointsman.policies.registry import policy_names

POLICY = '''\
"""{title}: starts each job that fits, in order of submission. Describe here what yours does instead."""

from typing import Any

from pointsman.types import Reason


class {title}:
    """Plain Python; docs/guides/write-a-policy.md lists what a policy can see and do."""

    name = "{name}"
    needs = "none"  # of durations: "none", "estimate" or "oracle"

    def decide(self, view: Any) -> None:
        """Called after every event. `view.heads()` are the first waiting jobs, of each demand, that fit now."""
        queue, full = view.jobs["queue"], set()
        while heads := [job for job in view.heads() if queue[job] not in full]:
            if view.start(heads[0]) is not Reason.OK:
                full.add(queue[heads[0]])  # its queue is at its limit
'''

TEST = """\
import polars as pl
from {module} import {title}

import pointsman

JOBS = pl.DataFrame(
    {{
        "submit_s": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0],
        "gpus": [4, 8, 1, 2, 4, 8],
        "duration_s": [100.0, 50.0, 10.0, 20.0, 30.0, 40.0],
    }}
)


def test_every_job_is_completed_and_no_invariant_broken() -> None:
    result = pointsman.simulate(pointsman.Workload.of(JOBS), "2x4", {title}(), audit=True)
    assert set(result.jobs["state"]) == {{"COMPLETED"}}


def test_jobs_do_not_take_longer_than_under_fifo() -> None:
    workload = pointsman.Workload.of(JOBS)
    mine, fifo = (pointsman.simulate(workload, "2x4", policy).jobs["jct_s"].mean() for policy in ({title}(), "fifo"))
    assert mine <= fifo
"""


def class_name(name: str) -> str:
    """``MyPolicy`` of ``my-policy``."""
    return "".join(part.capitalize() for part in name.split("-"))


def scaffold(name: str, folder: Path) -> dict[Path, str]:
    """The files of a new policy called `name`, by their paths in `folder`.

    Raises:
        UsageError: no name for a policy, or that of another one.
    """
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise UsageError(f"{name!r} is no name for a policy: use small letters, digits and single hyphens: my-policy")
    if name in policy_names():
        raise UsageError(f"there is a policy {name!r} already; choose another name")
    module = name.replace("-", "_")
    words = {"name": name, "module": module, "title": class_name(name)}
    return {
        folder / f"{module}.py": POLICY.format(**words),
        folder / f"test_{module}.py": TEST.format(**words),
    }
