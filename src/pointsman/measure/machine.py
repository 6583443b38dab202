"""What every row says of the machine: device, driver, versions, how the device is shared, and its clock."""

import os
import platform
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from pointsman.inputs.gpu_names import plain_name
from pointsman.inputs.messages import counted
from pointsman.measure.messages import Device
from pointsman.measure.process import Slot

_MPS_FOLDER: Final = "/tmp/nvidia-mps"
_GPU: Final = re.compile(r"\(UUID: GPU-([^)]+)\)")
_SLICE: Final = re.compile(r"MIG (\S+)(?:.*\(UUID: MIG-([^)]+)\))?")
_QUERY_S: Final = 10.0


class Machine(NamedTuple):
    """The part that stays the same."""

    gpu_type: str
    device: str
    driver: str
    versions: str
    mode: str
    uuid: str
    """UUID of the GPU, also where the device is a slice of it; empty on a CPU."""

    def about(self) -> dict[str, str]:
        """Its cells of a row."""
        return {"device": self.device, "driver": self.driver, "versions": self.versions, "mode": self.mode}


def machine_of(device: Device, slot: Slot, gpu_type: str | None) -> Machine:
    """What a job has seen of its device, and what is told beside it; `gpu_type` is the user's name for it, if any."""
    if slot.device == "cpu":
        mode = f"cpu, {counted(len(slot.cores), 'core')}" if slot.cores else "cpu"
        driver = f"{platform.system()} {platform.release()}"
        return Machine(gpu_type or "cpu", device.name, driver, device.versions, mode, "")
    gpu, slice_ = find_slice(device, _nvidia_smi("-L"))
    driver = _query("driver_version", gpu) or _query("driver_version")
    mode = sharing_mode(slice_, os.environ)
    return Machine(gpu_type or plain_name(device.name), device.name, driver, device.versions, mode, gpu)


def find_slice(device: Device, listing: str) -> tuple[str, str]:
    """The UUID of a device's GPU, and its MIG profile if it is a slice: of ``nvidia-smi -L``, or else of its name."""
    gpu = ""
    for line in listing.splitlines():
        if found := _GPU.search(line):
            gpu = found[1]
        elif (found := _SLICE.search(line)) and found[2] == device.uuid:
            return gpu, found[1]
    named = _SLICE.search(device.name)
    return device.uuid, named[1] if named else ""


def sharing_mode(slice_: str, environment: Mapping[str, str]) -> str:
    """How processes share a device: ``time slicing`` or ``mps``, and on which MIG slice (if any)."""
    folder = Path(environment.get("CUDA_MPS_PIPE_DIRECTORY", _MPS_FOLDER))
    mode = "mps" if _mps_runs(folder) else "time slicing"
    share = environment.get("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE")
    if mode == "mps" and share:
        mode += f" {share} %"
    return f"mig {slice_}, {mode}" if slice_ else mode


def _mps_runs(folder: Path) -> bool:
    """Whether a control daemon listens there; in a container its process is out of sight, and its pipe is not."""
    if not (folder / "control").exists():
        return False
    try:
        os.kill(int((folder / "nvidia-cuda-mps-control.pid").read_text()), 0)
    except ProcessLookupError:
        return False
    except (OSError, ValueError):
        return True
    return True


def clock_mhz(machine: Machine, slot: Slot) -> str:
    """How fast the device runs now; empty where that is not known."""
    if slot.device != "cpu":
        return _query("clocks.sm", machine.uuid)
    info = Path("/proc/cpuinfo")
    clocks = re.findall(r"cpu MHz\s*:\s*(\d+)", info.read_text()) if info.exists() else []
    core = slot.cores[0] if slot.cores else 0
    return clocks[core] if core < len(clocks) else ""


def _query(field: str, uuid: str = "") -> str:
    """One figure of the driver; empty where it has none, as ``[N/A]``."""
    one = [f"--id=GPU-{uuid}"] if uuid else []
    said = _nvidia_smi(f"--query-gpu={field}", "--format=csv,noheader,nounits", *one)
    first = (said.splitlines() or [""])[0].strip()
    return "" if first.startswith("[") else first


def _nvidia_smi(*words: str) -> str:
    """What the tool of the driver prints; nothing where there is none."""
    try:
        done = subprocess.run(["nvidia-smi", *words], capture_output=True, text=True, timeout=_QUERY_S, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout
