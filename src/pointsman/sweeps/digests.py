"""What determines a run, in a digest: two runs with the same one have the same result from the same code."""

import hashlib
import json
import platform
from collections.abc import Iterable
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from pointsman.cluster import Cluster
from pointsman.engine.jit.built import maker
from pointsman.experiment import CellSpec
from pointsman.parallel.file_bundle import digests
from pointsman.sweeps.runs import Run
from pointsman.version import source_digest
from pointsman.workload import Workload

COMPUTE = ("numpy", "polars")
"""Packages whose versions may change results, beside what makes the machine code."""


def digest_of(*parts: Any) -> str:
    """SHA-256 of plain data and of the files that it names.

    Beside a policy's own file all Python files in its folder count, for it may import them.
    """
    named = digests(parts)
    text = json.dumps([parts, named, _neighbours(named)], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def run_digest(workload: str, cluster: Cluster, spec: CellSpec, run: Run, *more: Any) -> str:
    """The digest of one run.

    Args:
        workload: the digest of its jobs.
        cluster: where they run.
        spec: every other option.
        run: policy and seed.
        more: what else is made of it.
    """
    options = spec.run_options(run.seed).model_dump(mode="json")
    where = spec.cluster, cluster.model_dump(mode="json")
    return digest_of(workload, where, run.choice.model_dump(mode="json"), options, more)


def workload_digest(workload: Workload) -> str:
    """SHA-256 of the jobs and of what is said of their log, apart from the command that read it."""
    rows = hashlib.sha256(np.ascontiguousarray(workload.jobs.hash_rows(seed=0).to_numpy()).tobytes()).hexdigest()
    said = [
        rows,
        str(workload.jobs.schema),
        workload.quality.as_dict(),
        workload.provenance.as_dict() | {"command": ""},
    ]
    return hashlib.sha256(json.dumps(said, sort_keys=True, default=str).encode()).hexdigest()


def kept_name(digest: str) -> str:
    """What outlives the process is called that has this digest: other code may make something else of the same."""
    return hashlib.sha256(json.dumps([code_digest(), digest]).encode()).hexdigest()


@cache
def code_digest() -> list[str]:
    """What makes results of inputs: this package, Python and the packages that compute."""
    return [source_digest(), platform.python_version(), maker(), *(version(name) for name in COMPUTE)]


def _neighbours(files: Iterable[dict[str, str]]) -> list[dict[str, str]]:
    folders = {Path(file["path"]).parent for file in files if file["path"].endswith(".py")}
    return digests([str(path) for folder in sorted(folders) for path in sorted(folder.glob("*.py"))])
