"""GPU types that need no declaration in a cluster file.

Bandwidth is what one GPU can send to the others of its node, one direction (half of the "bidirectional" figure of a
data sheet). Source: the makers' product data sheets, recalled and not looked up; PCIe counts as 12 GB/s for
generation 3 x16, 24 GB/s for generation 4 and 48 GB/s for generation 5, a little below the wire speed. A product with
several memory sizes has one entry, with the size that is most common in clusters. Users who know better state
``gpu_types`` and ``interconnect`` in the file, which win.
"""

from typing import Final, NamedTuple

from pointsman.inputs.gpu_names import known_name

DEFAULT_GPU_TYPE: Final = "v100"
"""What a shorthand without ``gpu=`` is made of: the type for which most profiles were published."""


class GpuModel(NamedTuple):
    """Memory of one GPU and how it reaches the others of its node."""

    memory: str
    interconnect: str
    bandwidth: str


_PCIE3, _PCIE4, _PCIE5 = ("pcie", "12 GB/s"), ("pcie", "24 GB/s"), ("pcie", "48 GB/s")

GPU_MODELS: Final[dict[str, GpuModel]] = {
    "k40": GpuModel("12 GiB", *_PCIE3),
    "k80": GpuModel("12 GiB", *_PCIE3),
    "m40": GpuModel("12 GiB", *_PCIE3),
    "m60": GpuModel("8 GiB", *_PCIE3),
    "p4": GpuModel("8 GiB", *_PCIE3),
    "p40": GpuModel("24 GiB", *_PCIE3),
    "p100": GpuModel("16 GiB", *_PCIE3),
    "gtx1080": GpuModel("8 GiB", *_PCIE3),
    "gtx1080ti": GpuModel("11 GiB", *_PCIE3),
    "titanx": GpuModel("12 GiB", *_PCIE3),
    "titanxp": GpuModel("12 GiB", *_PCIE3),
    "titanv": GpuModel("12 GiB", *_PCIE3),
    "titanrtx": GpuModel("24 GiB", *_PCIE3),
    "v100": GpuModel("32 GiB", "nvlink", "150 GB/s"),
    "v100m16": GpuModel("16 GiB", "nvlink", "150 GB/s"),
    "v100m32": GpuModel("32 GiB", "nvlink", "150 GB/s"),
    "t4": GpuModel("16 GiB", *_PCIE3),
    "rtx2080": GpuModel("8 GiB", *_PCIE3),
    "rtx2080ti": GpuModel("11 GiB", *_PCIE3),
    "rtx3070": GpuModel("8 GiB", *_PCIE4),
    "rtx3080": GpuModel("10 GiB", *_PCIE4),
    "rtx3090": GpuModel("24 GiB", *_PCIE4),
    "rtx4080": GpuModel("16 GiB", *_PCIE4),
    "rtx4090": GpuModel("24 GiB", *_PCIE4),
    "rtx5090": GpuModel("32 GiB", *_PCIE5),
    "rtx5000": GpuModel("16 GiB", *_PCIE3),
    "rtx6000": GpuModel("24 GiB", *_PCIE3),
    "rtx8000": GpuModel("48 GiB", *_PCIE3),
    "rtx5000ada": GpuModel("32 GiB", *_PCIE4),
    "rtx6000ada": GpuModel("48 GiB", *_PCIE4),
    "rtxpro6000": GpuModel("96 GiB", *_PCIE5),
    "a4000": GpuModel("16 GiB", *_PCIE4),
    "a4500": GpuModel("20 GiB", *_PCIE4),
    "a5000": GpuModel("24 GiB", *_PCIE4),
    "a6000": GpuModel("48 GiB", *_PCIE4),
    "a2": GpuModel("16 GiB", *_PCIE4),
    "a10": GpuModel("24 GiB", *_PCIE4),
    "a10g": GpuModel("24 GiB", *_PCIE4),
    "a16": GpuModel("16 GiB", *_PCIE4),
    "a30": GpuModel("24 GiB", *_PCIE4),
    "a40": GpuModel("48 GiB", *_PCIE4),
    "a100": GpuModel("80 GiB", "nvlink", "300 GB/s"),
    "a800": GpuModel("80 GiB", "nvlink", "200 GB/s"),
    "l2": GpuModel("24 GiB", *_PCIE4),
    "l4": GpuModel("24 GiB", *_PCIE4),
    "l20": GpuModel("48 GiB", *_PCIE4),
    "l40": GpuModel("48 GiB", *_PCIE4),
    "l40s": GpuModel("48 GiB", *_PCIE4),
    "h20": GpuModel("96 GiB", "nvlink", "450 GB/s"),
    "h100": GpuModel("80 GiB", "nvlink", "450 GB/s"),
    "h800": GpuModel("80 GiB", "nvlink", "200 GB/s"),
    "h200": GpuModel("141 GiB", "nvlink", "450 GB/s"),
    "gh200": GpuModel("96 GiB", "nvlink", "450 GB/s"),
    "b200": GpuModel("180 GiB", "nvlink", "900 GB/s"),
    "gb200": GpuModel("186 GiB", "nvlink", "900 GB/s"),
    "b300": GpuModel("288 GiB", "nvlink", "900 GB/s"),
    "gb300": GpuModel("288 GiB", "nvlink", "900 GB/s"),
    "mi50": GpuModel("32 GiB", "xgmi", "92 GB/s"),
    "mi100": GpuModel("32 GiB", "xgmi", "138 GB/s"),
    "mi210": GpuModel("64 GiB", "xgmi", "100 GB/s"),
    "mi250": GpuModel("64 GiB", "xgmi", "100 GB/s"),
    "mi250x": GpuModel("64 GiB", "xgmi", "100 GB/s"),
    "mi300a": GpuModel("128 GiB", "xgmi", "384 GB/s"),
    "mi300x": GpuModel("192 GiB", "xgmi", "448 GB/s"),
    "mi308x": GpuModel("192 GiB", "xgmi", "448 GB/s"),
    "mi325x": GpuModel("256 GiB", "xgmi", "448 GB/s"),
    "mi350x": GpuModel("288 GiB", "xgmi", "538 GB/s"),
    "mi355x": GpuModel("288 GiB", "xgmi", "538 GB/s"),
    "gaudi": GpuModel("32 GiB", "other", "88 GB/s"),
    "gaudi2": GpuModel("96 GiB", "other", "263 GB/s"),
    "gaudi3": GpuModel("128 GiB", "other", "525 GB/s"),
    "ascend310p": GpuModel("24 GiB", *_PCIE4),
    "ascend910": GpuModel("32 GiB", "other", "45 GB/s"),
    "ascend910b": GpuModel("64 GiB", "other", "196 GB/s"),
    "ascend910c": GpuModel("128 GiB", "other", "392 GB/s"),
    "tpu-v2": GpuModel("16 GiB", "other", "62 GB/s"),
    "tpu-v3": GpuModel("32 GiB", "other", "82 GB/s"),
    "tpu-v4": GpuModel("32 GiB", "other", "150 GB/s"),
    "tpu-v5e": GpuModel("16 GiB", "other", "100 GB/s"),
    "tpu-v5p": GpuModel("95 GiB", "other", "300 GB/s"),
    "tpu-v6e": GpuModel("32 GiB", "other", "224 GB/s"),
    "tpu-v7": GpuModel("192 GiB", "other", "600 GB/s"),
    "trainium": GpuModel("32 GiB", "other", "192 GB/s"),
    "trainium2": GpuModel("96 GiB", "other", "512 GB/s"),
    "trainium3": GpuModel("144 GiB", "other", "1280 GB/s"),
    "inferentia": GpuModel("8 GiB", *_PCIE3),
    "inferentia2": GpuModel("32 GiB", "other", "96 GB/s"),
    "flex170": GpuModel("16 GiB", *_PCIE4),
    "max1100": GpuModel("48 GiB", *_PCIE5),
    "max1550": GpuModel("128 GiB", "other", "159 GB/s"),
}
"""By the names of `inputs/gpu_names.py`, in their order."""


def known_gpu(gpu_type: str) -> GpuModel | None:
    """The catalogue's entry for ``gpu_type``, however it is spelled (``V100``, ``NVIDIA-H100-80GB-HBM3``)."""
    return GPU_MODELS.get(known_name(gpu_type) or "")
