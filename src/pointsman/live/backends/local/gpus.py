"""The GPUs of this machine, as NVIDIA's management library (NVML) has them."""

from typing import Final

import pynvml

from pointsman.errors import UsageError
from pointsman.inputs.gpu_names import known_name
from pointsman.inputs.messages import quoted

_FIX: Final = "declare them with --cluster, such as --cluster 1x4/gpu=a100"


def this_machine() -> str:
    """A cluster of one node with this machine's GPUs, in the order of their places on the bus.

    Raises:
        UsageError: they are not known.
    """
    try:
        names = _names()
    except pynvml.NVMLError as error:
        raise UsageError(f"the GPUs of this machine are not known ({error}); {_FIX}") from None
    if not names:
        raise UsageError(f"this machine has no GPUs; {_FIX}")
    types = {known_name(name) or "" for name in names}
    if len(types) > 1 or types == {""}:
        found = ", ".join(map(quoted, dict.fromkeys(names)))
        raise UsageError(f"the GPUs of this machine are not of one known type: {found}; {_FIX}")
    return f"1x{len(names)}/gpu={types.pop()}"


def _names() -> list[str]:
    """The names of the GPUs, by index."""
    pynvml.nvmlInit()
    try:
        devices = [pynvml.nvmlDeviceGetHandleByIndex(index) for index in range(pynvml.nvmlDeviceGetCount())]
        return [pynvml.nvmlDeviceGetName(device) for device in devices]
    finally:
        pynvml.nvmlShutdown()
