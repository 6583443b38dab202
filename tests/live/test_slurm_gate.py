"""The script of the guide that sends all jobs to the gate, run by a real Slurm."""

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest

from tests.cli.command import pointsman

from .slurm_cluster import SlurmCluster, slurm_cluster

NOBODY = 65534
GUIDE = Path(__file__).parents[2] / "docs/guides/slurm.md"
FAULTY = """
function slurm_job_submit(job, partitions, uid) return nil + 1 end
function slurm_job_modify(job, record, partitions, uid) return slurm.SUCCESS end
return slurm
"""


@pytest.fixture
def slurm() -> Iterator[SlurmCluster]:
    found = re.search(r"```text\n(function slurm_job_submit.*?return slurm\n)```", GUIDE.read_text(), re.DOTALL)
    assert found is not None
    with slurm_cluster(1) as cluster:
        folder = Path(re.search(r"PluginDir\s*= (\S+)", cluster.call("scontrol", "show", "config"))[1])  # ty: ignore
        if not (folder / "job_submit_lua.so").exists():
            pytest.skip(f"Slurm's plugin for job_submit.lua is not in {folder}")
        (cluster.folder / "job_submit.lua").write_text(found[1])
        cluster.rewrite(lambda text: text.replace("GresTypes", "JobSubmitPlugins=lua\nGresTypes"))
        yield cluster


def call(slurm: SlurmCluster, *command: str) -> tuple[int, str]:
    """The exit code and the output of a command of a user without rights."""
    done = subprocess.run(
        command, env=slurm.environment, cwd="/", user=NOBODY, group=NOBODY, capture_output=True, text=True, timeout=60
    )
    return done.returncode, done.stdout + done.stderr


def findings(slurm: SlurmCluster) -> str:
    with patch.dict(os.environ, PATH=slurm.path, SLURM_CONF=slurm.environment["SLURM_CONF"]):
        return pointsman("live", "check", "--backend", "slurm", "--act").stdout


def test_jobs_wait_at_the_gate_however_they_are_submitted(slurm: SlurmCluster) -> None:
    for options in ((), ("--partition=gpu",), ("--partition=gpu,inbox",), ("--partition=inbox",)):
        job = call(slurm, "sbatch", "--parsable", "--output=/dev/null", *options, "--wrap=sleep 60")[1].strip()
        assert slurm.call("squeue", "--noheader", f"--jobs={job}", "--format=%P %T") == "inbox PENDING", options
    for partitions in ("gpu", "gpu,inbox"):
        code, said = call(slurm, "scontrol", "update", f"JobId={job}", f"Partition={partitions}")
        assert code == 1 and "Access/permission denied" in said
    assert call(slurm, "scontrol", "update", f"JobId={job}", "TimeLimit=5") == (0, "")
    slurm.call("scontrol", "update", f"JobId={job}", "Partition=gpu")
    assert "ok: job_submit.lua sends jobs from partition gpu to the gate" in findings(slurm)


def test_an_error_in_the_script_is_seen_by_the_check(slurm: SlurmCluster) -> None:
    script = slurm.folder / "job_submit.lua"
    written_s = script.stat().st_mtime
    script.write_text(FAULTY)
    os.utime(script, (written_s + 1, written_s + 1))  # Slurm compares whole seconds
    assert "users submit to the gate themselves (sbatch -p inbox): job_submit.lua leaves jobs in" in findings(slurm)
