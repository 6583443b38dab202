"""What lies damaged in the folder of compiled code is made anew; a folder without room is named."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pointsman.engine.jit.ahead import load_unit, units_of
from pointsman.engine.jit.loading import build_folder

JOBS = "submit_s,gpus,duration_s\n0,1,10\n"


def simulate(home: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    (folder / "jobs.csv").write_text(JOBS)
    command = ["-m", "pointsman", "-q", "simulate", "jobs.csv", "--cluster", "1x1", "--policy", "fifo"]
    environment = {**os.environ, "POINTSMAN_HOME": str(home)}
    return subprocess.run([sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True)


def test_damaged_code_is_made_anew(tmp_path: Path) -> None:
    loaded = [Path(str(load_unit(unit).__file__)).stem for unit in units_of("pointsman.policies.classical.fifo")]
    build = tmp_path / "home" / "compiled" / build_folder().name
    for folder in (build.parent.parent, build.parent):
        folder.mkdir(0o700)  # whatever the umask: one that others may write to is refused
    shutil.copytree(build_folder(), build, ignore=shutil.ignore_patterns("hooks_*", "user_*"))
    hooks, loop = (next(name for name in loaded if name.startswith(kind)) for kind in ("hooks_fifo_", "main_loop_"))
    for file in build_folder().rglob(f"{hooks}.*"):  # there may be others, of earlier versions
        shutil.copy2(file, build / file.relative_to(build_folder()))
    damaged = [file for name in (hooks, loop) for file in (build / "__pycache__").glob(f"{name}.*.nbc")]
    assert len(damaged) == 3  # an event, a decision, the loop
    for file in damaged:
        file.write_bytes(file.read_bytes()[:1000])
    done = simulate(tmp_path / "home", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    (build / f"{hooks}.py").write_text("")
    assert simulate(tmp_path / "home", tmp_path).returncode == 0


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0 or not Path("/dev/shm").is_dir(), reason="needs to mount a small file system")
def test_a_folder_without_room_is_named(tmp_path: Path) -> None:
    full = tmp_path / "full"
    full.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=100k", "none", str(full)], capture_output=True).returncode:
        pytest.skip("cannot mount here")
    try:
        done = simulate(full, tmp_path)
    finally:
        subprocess.run(["umount", str(full)], check=True)
    assert done.returncode == 1
    assert str(full) in done.stderr and "POINTSMAN_HOME names another folder" in done.stderr
    assert "Traceback" not in done.stderr
