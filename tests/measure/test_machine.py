"""What a row says of the machine."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pointsman.measure.machine import clock_mhz, machine_of, sharing_mode
from pointsman.measure.messages import Device
from pointsman.measure.process import Slot

H100 = "NVIDIA H100 80GB HBM3"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where a control daemon of MPS would listen."""
    return tmp_path / "mps"


def mode(folder: Path, device: str = H100, **more: str) -> str:
    return sharing_mode(device, {"CUDA_MPS_PIPE_DIRECTORY": str(folder), **more})


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
    assert mode(folder, f"{H100} MIG 3g.40gb") == "mig 3g.40gb, time slicing"


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
