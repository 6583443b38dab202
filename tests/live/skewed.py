"""Slurm's commands, as those of a controller whose clock is not this machine's, and is set now and then."""

import shutil
import sys
import time
from pathlib import Path

from .slurm_cluster import SlurmCluster

_SHIFTING = """\
#!{python} -IS
import re, subprocess, sys
steps = [tuple(map(int, line.split())) for line in open({steps!r})]
def shown(at):
    return at + [by for since, by in steps if since <= at or since == steps[0][0]][-1]
def meant(at):
    return ([at - by for _, by in steps if shown(at - by) == at] or [at - steps[-1][1]])[-1]
words = [re.sub("uts([0-9]+)", lambda found: f"uts{{meant(int(found[1]))}}", word) for word in sys.argv[1:]]
done = subprocess.run([{program!r}, *words], stdout=subprocess.PIPE)
sys.stdout.buffer.write(
    re.sub(rb"(?<![0-9])1[0-9]{{9}}(?![0-9])", lambda found: b"%d" % shown(int(found[0])), done.stdout)
)
sys.exit(done.returncode)
"""
"""Each time is printed as the controller's clock showed it when it came, and what is told is taken so."""


class SkewedCommands:
    """They are in `folder`, which belongs before the others in PATH."""

    def __init__(self, folder: Path, slurm: SlurmCluster, by_s: int = 0) -> None:
        folder.mkdir()
        self.folder, self._steps = folder, folder / "steps"
        self.step_to(by_s)
        for name in ("squeue", "scontrol", "sinfo", "sacct"):
            program = shutil.which(name, path=slurm.path)
            place = folder / name
            place.write_text(_SHIFTING.format(python=sys.executable, steps=str(self._steps), program=program))
            place.chmod(0o755)

    def step_to(self, by_s: int) -> None:
        """The controller's clock is so far ahead of ours from now on."""
        before = self._steps.read_text() if self._steps.exists() else ""
        new = self._steps.with_suffix(".new")
        new.write_text(f"{before}{round(time.time())} {by_s}\n")
        new.replace(self._steps)
