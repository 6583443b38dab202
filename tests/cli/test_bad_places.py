"""Where nothing can be written is noticed before any work: names too long, read-only folders, full disks."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pointsman.report.metrics.groups import LONGEST_NAME

from .conftest import Command

REPLAY = ("--cluster", "2x4", "--policy", "fifo")
LONG = "n" * 300
DEEP = "/".join(["d" * 200] * 19)

WRITERS = {
    "simulate": ("simulate", "jobs.csv", *REPLAY, "-o"),
    "compare": ("compare", "jobs.csv", *REPLAY, "-o"),
    "capacity": ("capacity", "jobs.csv", *REPLAY, "-o"),
    "suite": ("suite", "run", "--only", "seed=0", "-o"),
    "report": ("report", "there", "-o"),
    "figures": ("report", "there", "--figures"),
    "trace": ("trace", "generate", "--like", "philly", "--jobs", "5", "--cluster", "2x4", "-o"),
    "policy": ("policy", "new", "mine", "-o"),
    "pairs": ("profile", "pairs", "missing.csv", "-o"),
}
"""Commands that write, up to the place; what they read need not be there, for they look at the place first."""
FILES = {"trace": ".csv", "pairs": ".yaml"}


@pytest.mark.parametrize("verb", WRITERS)
@pytest.mark.parametrize("place", [LONG, f"{LONG}/out", DEEP], ids=["name", "folder", "path"])
def test_names_that_are_too_long(verb: str, place: str, command: Command, here: Path) -> None:
    done = command(*WRITERS[verb], place + FILES.get(verb, ""))
    assert done.code == 2, done.err
    assert "too long" in done.err or "choose a shorter one" in done.err
    assert len(done.err) < 400 and done.err.count("\n") == 1 and done.out == ""
    assert list(here.iterdir()) == []


@pytest.mark.parametrize("verb", ["simulate", "compare", "trace"])
def test_the_longest_name_there_is(verb: str, command: Command, jobs: str) -> None:
    """The hidden name that it has while it is written is shorter."""
    longest = "n" * (255 - len(FILES.get(verb, ""))) + FILES.get(verb, "")
    assert command(*WRITERS[verb], longest).code == 0
    assert command(*WRITERS[verb], longest, "--force").code == 0
    assert sorted(os.listdir()) == [jobs, longest]


def test_runs_with_long_names_have_short_folders(command: Command, jobs: str) -> None:
    name = "N" * 240
    text = f"class {name}:\n    needs = 'none'\n    name = '{{}}'\n    def decide(self, view):\n"
    text += "        for job in view.pending.tolist():\n            view.start(job)\n"
    for k in (1, 2):
        Path(f"own{k}.py").write_text(text.format(f"{name}{k}"))
    own = [word for k in (1, 2) for word in ("--policy", f"own{k}.py:{name}")]
    done = command("compare", jobs, "--cluster", "2x4", *own, "-o", "both")
    assert done.code == 0, done.err
    folders = os.listdir("both/runs")
    assert len(folders) == 2 and all(len(folder) < LONGEST_NAME + 20 for folder in folders)
    assert command("verify", "both").code == 0


@pytest.mark.parametrize("name", [LONG, f"{LONG}.yaml", f"{LONG}/x", "/".join([LONG] * 20)])
@pytest.mark.parametrize("flag", ["TRACE", "--overheads", "--profiles", "--cluster", "--policy", "-c"])
def test_names_of_what_is_read(flag: str, name: str, command: Command, jobs: str) -> None:
    name = f"{name}.py:Mine" if flag == "--policy" else name
    given = {"--cluster": "2x4", "--policy": "fifo"} | ({} if flag == "TRACE" else {flag: name})
    done = command("simulate", name if flag == "TRACE" else jobs, *(word for pair in given.items() for word in pair))
    assert done.code in (2, 3), done.err
    assert "bug in Pointsman" not in done.err and done.err.count("\n") == 1


@pytest.mark.parametrize("folder", ["/proc", "/sys"])
@pytest.mark.parametrize("verb", WRITERS)
def test_folders_where_even_root_can_write_nothing(verb: str, folder: str, command: Command) -> None:
    if not Path(folder).is_dir():
        pytest.skip(f"there is no {folder} here")
    done = command(*WRITERS[verb], f"{folder}/out{FILES.get(verb, '')}")
    assert (done.code, done.out) == (2, ""), done.err
    assert f"{folder}" in done.err and done.err.count("\n") == 1
    assert "rows read" not in done.err and "while it was written" not in done.err


def in_a_world(mount: str, *args: str) -> subprocess.CompletedProcess[str]:
    """The command where the folder ``disk`` is made what `mount` makes of it, for this process alone."""
    if shutil.which("unshare") is None:
        pytest.skip("there is no unshare here")
    command = f'{mount} || exit 99; exec "$@"'
    given = [sys.executable, "-m", "pointsman", *args]
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", command, "sh", *given], capture_output=True, text=True, timeout=300
    )
    if done.returncode == 99 or "unshare" in done.stderr:
        pytest.skip(f"nothing can be mounted here: {done.stderr:.80}")
    return done


WORLDS = {
    "full": (
        "mount -t tmpfs -o size=64k none disk && head -c 65536 /dev/zero >disk/rest",
        "No space left on device",
        1,
    ),
    "without inodes": ("mount -t tmpfs -o nr_inodes=1 none disk", "No space left on device", 1),
    "read-only": ("mount --bind disk disk && mount -o remount,bind,ro disk", "disk may not be written to", 2),
}


EVERY_DAY = {("simulate", "full"), ("trace", "read-only"), ("policy", "without inodes"), ("policy", "read-only")}


@pytest.mark.parametrize(
    ("verb", "world"),
    [
        pytest.param(verb, world, marks=[] if (verb, world) in EVERY_DAY else pytest.mark.slow)
        for verb in ("simulate", "trace", "policy")
        for world in WORLDS
    ],
)
def test_full_and_read_only_disks(verb: str, world: str, command: Command, jobs: str) -> None:
    Path("disk").mkdir()
    mount, said, code = WORLDS[world]
    done = in_a_world(mount, *WRITERS[verb], f"disk/out{FILES.get(verb, '')}")
    assert done.returncode == code, done.stderr
    assert done.stderr.count("\n") == 1 and done.stdout == "", "it comes before any work"
    assert said in done.stderr and "disk" in done.stderr


@pytest.mark.parametrize("kib", [100, pytest.param(300, marks=pytest.mark.slow)])
def test_a_disk_that_becomes_full_while_a_run_is_written(kib: int, command: Command) -> None:
    """There is some room, but not for all of it: nothing is left."""
    Path("disk").mkdir()
    many = ("trace", "generate", "--like", "philly", "--jobs", "20000", "--cluster", "2x4", "--load", "1")
    assert command(*many, "-o", "many.csv").code == 0
    look = 'set -- sh -c \'"$@"; code=$?; ls -A disk >left; exit $code\' sh "$@"'
    mount = f"mount -t tmpfs -o size={kib}k none disk && {look}"
    done = in_a_world(mount, "simulate", "many.csv", *REPLAY, "-o", "disk/out", "-q")
    assert done.returncode == 1 and done.stderr.count("\n") == 1, done.stderr
    assert "No space left on device while it was written, so its files were removed" in done.stderr
    assert Path("left").read_text() == ""
