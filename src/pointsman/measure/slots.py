"""Where jobs run: GPUs by their names, and cores of this machine."""

import os
import re
from typing import Final

from pointsman.errors import UsageError
from pointsman.measure.process import Slot

CPU: Final = "cpu"
_CUDA: Final = re.compile(r"cuda(:[0-9]{1,3})?")


def slots_of(devices: str, cores: int | None) -> list[Slot]:
    """A slot for each device; of ``cpu`` as many as there are cores for, which take `cores` each (1).

    Raises:
        UsageError: there is no such device, or there are too few cores.
    """
    names = [name.strip() for name in devices.split(",")]
    if names == [CPU]:
        return _core_slots(cores or 1)
    for name in names:
        if not _CUDA.fullmatch(name):
            raise UsageError(
                f"--device {devices}: {name!r} is no device (cpu, cuda, cuda:1, or cuda:0,cuda:1 of a node)"
            )
    if cores:
        raise UsageError(f"--cores goes with --device {CPU}")
    found = [Slot(name if ":" in name else f"{name}:0") for name in names]
    if len(set(found)) < len(found):
        raise UsageError(f"--device {devices}: a device is named twice")
    return found


def one_slot(device: str, cores: int | None) -> Slot:
    """The slot of what has one device: the first of ``cpu``, or the one GPU that is named.

    Raises:
        UsageError: as `slots_of`, or several are named.
    """
    slots = slots_of(device, cores)
    if len(slots) > 1 and slots[0].device != CPU:
        raise UsageError(f"--device {device}: several devices are for 'measure node'; name one")
    return slots[0]


def _core_slots(cores: int) -> list[Slot]:
    if not hasattr(os, "sched_getaffinity"):
        return [Slot(CPU)]
    own = sorted(os.sched_getaffinity(0))
    if cores > len(own):
        raise UsageError(f"--cores {cores}: this process may use {len(own)}")
    return [Slot(CPU, tuple(own[i : i + cores])) for i in range(0, len(own) - cores + 1, cores)]
