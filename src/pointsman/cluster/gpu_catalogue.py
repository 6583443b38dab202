"""GPU types that need no declaration in a cluster file.

Bandwidth is what one GPU can send to the others of its node, one direction (half of the "bidirectional" figure of a
data sheet). Source: NVIDIA and AMD product data sheets, recalled and not looked up; PCIe counts as 12 GB/s for
generation 3 x16, 24 GB/s for generation 4 and 48 GB/s for generation 5, a little below the wire speed. Users who know
better states ``gpu_types`` and ``interconnect`` in the file, which win.
"""

from typing import Final, NamedTuple

DEFAULT_GPU_TYPE: Final = "v100"
"""What a shorthand without ``gpu=`` is made of: the type for which most profiles were published."""


class GpuModel(NamedTuple):
    """Memory of one GPU and how it reaches the others of its node."""

    memory: str
    interconnect: str
    bandwidth: str


_PCIE3, _PCIE4, _PCIE5 = ("pcie", "12 GB/s"), ("pcie", "24 GB/s"), ("pcie", "48 GB/s")

GPU_MODELS: Final[dict[str, GpuModel]] = {
    "k80": GpuModel("12 GiB", *_PCIE3),
    "m40": GpuModel("12 GiB", *_PCIE3),
    "p4": GpuModel("8 GiB", *_PCIE3),
    "p40": GpuModel("24 GiB", *_PCIE3),
    "p100": GpuModel("16 GiB", *_PCIE3),
    "gtx1080ti": GpuModel("11 GiB", *_PCIE3),
    "v100": GpuModel("32 GiB", "nvlink", "150 GB/s"),
    "v100m16": GpuModel("16 GiB", "nvlink", "150 GB/s"),
    "v100m32": GpuModel("32 GiB", "nvlink", "150 GB/s"),
    "t4": GpuModel("16 GiB", *_PCIE3),
    "rtx2080ti": GpuModel("11 GiB", *_PCIE3),
    "rtx6000": GpuModel("24 GiB", *_PCIE3),
    "rtx3090": GpuModel("24 GiB", *_PCIE4),
    "rtx4090": GpuModel("24 GiB", *_PCIE4),
    "a10": GpuModel("24 GiB", *_PCIE4),
    "a30": GpuModel("24 GiB", *_PCIE4),
    "a40": GpuModel("48 GiB", *_PCIE4),
    "l4": GpuModel("24 GiB", *_PCIE4),
    "l40s": GpuModel("48 GiB", *_PCIE4),
    "a100": GpuModel("80 GiB", "nvlink", "300 GB/s"),
    "a800": GpuModel("80 GiB", "nvlink", "200 GB/s"),
    "h100": GpuModel("80 GiB", "nvlink", "450 GB/s"),
    "h800": GpuModel("80 GiB", "nvlink", "200 GB/s"),
    "h200": GpuModel("141 GiB", "nvlink", "450 GB/s"),
    "b200": GpuModel("180 GiB", "nvlink", "900 GB/s"),
    "mi250x": GpuModel("64 GiB", "xgmi", "100 GB/s"),
    "mi300x": GpuModel("192 GiB", "xgmi", "448 GB/s"),
}


def known_gpu(gpu_type: str) -> GpuModel | None:
    """The catalogue's entry for ``gpu_type``, whatever its case (``V100`` is ``v100``)."""
    return GPU_MODELS.get(gpu_type.casefold())
