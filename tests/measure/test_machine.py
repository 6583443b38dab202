"""What a row says of the machine."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pointsman.measure.machine import clock_mhz, find_slice, machine_of, sharing_mode
from pointsman.measure.messages import Device
from pointsman.measure.process import Slot

H100 = "NVIDIA H100 80GB HBM3"
A100, GPU, SLICE = (
    "NVIDIA A100-SXM4-40GB",
    "fcf41002-68b6-5900-d7d1-74026173bb44",
    "e07a497d-1bb6-5a42-b670-1c33bf55ab6e",
)
LISTING = f"""\
GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-5c89852c-d268-c3f3-1b07-005d5ae1dc3f)
  MIG 1g.5gb      Device  0: (UUID: MIG-3eb1c2a0-1b01-5a8f-9e77-05fa7c9be3a5)
GPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-{GPU})
  MIG 3g.20gb     Device  0: (UUID: MIG-{SLICE})
  MIG 1g.5gb+me   Device  1: (UUID: MIG-0c757cd7-e942-5726-a0b8-0e8fb7067135)
"""
"""What ``nvidia-smi -L`` of driver 470 and later prints."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where a control daemon of MPS would listen."""
    return tmp_path / "mps"


def mode(folder: Path, slice_: str = "", **more: str) -> str:
    return sharing_mode(slice_, {"CUDA_MPS_PIPE_DIRECTORY": str(folder), **more})


def daemon(folder: Path, pid: int | None) -> None:
    folder.mkdir()
    os.mkfifo(folder / "control")
    if pid is not None:
        (folder / "nvidia-cuda-mps-control.pid").write_text(str(pid))


def test_without_a_daemon_processes_take_turns(folder: Path) -> None:
    assert mode(folder) == "time slicing"


def test_a_daemon_that_runs_is_mps(folder: Path) -> None:
    daemon(folder, os.getpid())
    assert mode(folder) == "mps"
    assert mode(folder, CUDA_MPS_ACTIVE_THREAD_PERCENTAGE="50") == "mps 50 %"


def test_a_daemon_out_of_sight_is_mps(folder: Path) -> None:
    daemon(folder, None)
    assert mode(folder) == "mps"


def test_a_daemon_that_is_gone_is_none(folder: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    daemon(folder, gone.pid)
    assert mode(folder) == "time slicing"


def test_a_slice_is_named(folder: Path) -> None:
    assert mode(folder, "3g.40gb") == "mig 3g.40gb, time slicing"


@pytest.mark.parametrize(
    ("name", "uuid", "listing", "found"),
    [
        (A100, GPU, LISTING, (GPU, "")),
        (A100, SLICE, LISTING, (GPU, "3g.20gb")),
        (A100, "0c757cd7-e942-5726-a0b8-0e8fb7067135", LISTING, (GPU, "1g.5gb+me")),
        (f"{A100} MIG 3g.20gb", GPU, LISTING, (GPU, "3g.20gb")),  # it is listed by the UUID of its GPU
        (f"{A100} MIG 3g.20gb", GPU, "", (GPU, "3g.20gb")),
        (H100, GPU, "", (GPU, "")),
    ],
)
def test_a_slice_is_found_in_the_listing_or_by_its_name(
    name: str, uuid: str, listing: str, found: tuple[str, str]
) -> None:
    assert find_slice(Device(name, uuid, ""), listing) == found


NVIDIA_SMI = f"""#!/bin/sh
case "$*" in
    -L) printf '%s' '{LISTING}' ;;
    "--query-gpu=driver_version --format=csv,noheader,nounits --id=GPU-{GPU}") echo 535.104.05 ;;
    "--query-gpu=clocks.sm --format=csv,noheader,nounits --id=GPU-{GPU}") echo "$CLOCK" ;;
    *) echo "No devices were found"; exit 6 ;;
esac
"""


def test_what_the_tool_of_the_driver_prints_is_in_the_row(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "nvidia-smi").write_text(NVIDIA_SMI)
    (tmp_path / "nvidia-smi").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("CUDA_MPS_PIPE_DIRECTORY", str(folder))
    daemon(folder, os.getpid())
    slot = Slot("cuda:0")
    machine = machine_of(Device(A100, SLICE, "torch 2"), slot, None)
    assert machine == ("a100", A100, "535.104.05", "torch 2", "mig 3g.20gb, mps", GPU)
    for said, clock in (("1410", "1410"), ("[N/A]", ""), ("", "")):
        monkeypatch.setenv("CLOCK", said)
        assert clock_mhz(machine, slot) == clock
    monkeypatch.setenv("PATH", str(folder))
    assert (machine_of(Device(A100, SLICE, ""), slot, None).driver, clock_mhz(machine, slot)) == ("", "")


def test_a_gpu_is_called_as_in_the_catalogue_unless_the_user_says_otherwise() -> None:
    device = Device(H100, "", "torch 2")
    assert machine_of(device, Slot("cuda:0"), None).gpu_type == "h100"
    assert machine_of(device, Slot("cuda:0"), "h100-pcie").gpu_type == "h100-pcie"


def test_a_cpu_says_its_cores_and_its_kernel() -> None:
    machine = machine_of(Device("a processor", "", "torch 2"), Slot("cpu", (0, 1)), None)
    assert (machine.gpu_type, machine.mode) == ("cpu", "cpu, 2 cores")
    assert os.uname().release in machine.driver
    assert machine.about() == {
        "device": "a processor", "driver": machine.driver, "versions": "torch 2", "mode": "cpu, 2 cores",
    }  # fmt: skip
    assert clock_mhz(machine, Slot("cpu", (0,))).isdecimal() or not Path("/proc/cpuinfo").exists()
