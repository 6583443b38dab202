"""The device of a job, as its process sees it."""

import ctypes
import os
import platform
import re
import resource
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pointsman.errors import UsageError
from pointsman.measure.messages import Device

_KIB = 1024


class OnCpu:
    """A device without a queue of its own."""

    def wait(self) -> None:
        """Steps are over when they return."""

    def forget_peak(self) -> None:
        """From now on the most memory is counted anew, where Linux can do that."""
        if os.access("/proc/self/clear_refs", os.W_OK):
            Path("/proc/self/clear_refs").write_text("5")

    def peak_bytes(self) -> int:
        """The most memory that was resident."""
        status = Path("/proc/self/status")
        found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text()) if status.exists() else None
        return int(found[1]) * _KIB if found else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _KIB

    def release(self) -> None:
        """Give the system back what the C library keeps of freed memory, or it counts as the next training's."""
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim:
            trim(0)

    def describe(self) -> Device:
        """Its name and versions."""
        return Device(_cpu_name(), "", _versions())


class OnCuda(OnCpu):
    """A GPU, or a slice of one."""

    def __init__(self, name: str) -> None:
        """UsageError: there is no such GPU."""
        import torch

        if torch.cuda.device_count() <= torch.device(name).index:
            count = torch.cuda.device_count()
            fix = "" if count else "; --device cpu measures on cores of this machine"
            raise UsageError(f"--device {name}: PyTorch {torch.__version__} sees {count} GPUs here{fix}")
        self.name, self.torch = name, torch
        torch.cuda.set_device(name)
        self.wait()

    def wait(self) -> None:
        self.torch.cuda.synchronize()

    def forget_peak(self) -> None:
        self.torch.cuda.reset_peak_memory_stats()

    def peak_bytes(self) -> int:
        return self.torch.cuda.max_memory_allocated()

    def release(self) -> None:
        self.torch.cuda.empty_cache()

    def describe(self) -> Device:
        seen: Any = self.torch.cuda.get_device_properties(self.name)
        cudnn = self.torch.backends.cudnn.version()
        return Device(seen.name, str(seen.uuid), f"{_versions()} cuda {self.torch.version.cuda} cudnn {cudnn}")


def _versions() -> str:
    try:
        return f"python {platform.python_version()} torch {version('torch')}"
    except PackageNotFoundError:
        return f"python {platform.python_version()}"


def _cpu_name() -> str:
    """The model of the processor, or else its architecture."""
    info = Path("/proc/cpuinfo")
    found = re.search(r"model name\s*:\s*(.+)", info.read_text()) if info.exists() else None
    return found[1].strip() if found else f"{sys.platform} {platform.machine()}"
