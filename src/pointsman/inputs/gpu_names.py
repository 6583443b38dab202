"""One name of a GPU type, however a site, a driver or a vendor writes it, and the share of a GPU that a slice is."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

NAMES: Final = (
    "k40", "k80", "m40", "m60", "p4", "p40", "p100", "gtx1080", "gtx1080ti", "titanx", "titanxp", "titanv", "titanrtx",
    "v100", "v100m16", "v100m32", "t4", "rtx2080", "rtx2080ti", "rtx3070", "rtx3080", "rtx3090", "rtx4080", "rtx4090",
    "rtx5090", "rtx5000", "rtx6000", "rtx8000", "rtx5000ada", "rtx6000ada", "rtxpro6000", "a4000", "a4500", "a5000",
    "a6000", "a2", "a10", "a10g", "a16", "a30", "a40", "a100", "a800", "l2", "l4", "l20", "l40", "l40s", "h20", "h100",
    "h800", "h200", "gh200", "b200", "gb200", "b300", "gb300", "mi50", "mi100", "mi210", "mi250", "mi250x", "mi300a",
    "mi300x", "mi308x", "mi325x", "mi350x", "mi355x", "gaudi", "gaudi2", "gaudi3", "ascend310p", "ascend910",
    "ascend910b", "ascend910c", "tpu-v2", "tpu-v3", "tpu-v4", "tpu-v5e", "tpu-v5p", "tpu-v6e", "tpu-v7", "trainium",
    "trainium2", "trainium3", "inferentia", "inferentia2", "flex170", "max1100", "max1550",
)  # fmt: skip
"""The names of the catalogue, of which all others are spellings."""

_SPELLINGS: Final = {
    "1080": "gtx1080", "1080ti": "gtx1080ti", "2080": "rtx2080", "2080ti": "rtx2080ti", "3070": "rtx3070",
    "3080": "rtx3080", "3090": "rtx3090", "4080": "rtx4080", "4090": "rtx4090", "5090": "rtx5090",
    "geforce1080ti": "gtx1080ti", "quadrortx5000": "rtx5000", "quadrortx6000": "rtx6000", "quadrortx8000": "rtx8000",
    "ada5000": "rtx5000ada", "ada6000": "rtx6000ada", "rtxada5000": "rtx5000ada", "rtxada6000": "rtx6000ada",
    "5000ada": "rtx5000ada", "6000ada": "rtx6000ada", "a6000ada": "rtx6000ada", "rtx6000blackwell": "rtxpro6000",
    "pro6000": "rtxpro6000", "rtx6000pro": "rtxpro6000", "v100s": "v100", "a100x": "a100", "h100x": "h100",
    "rtxa4000": "a4000", "rtxa4500": "a4500", "rtxa5000": "a5000", "rtxa6000": "a6000", "grace200": "gh200",
    "gracehopper": "gh200", "mi300": "mi300x", "ascend910a": "ascend910", "ascend910pro": "ascend910",
    "ascend910b1": "ascend910b", "ascend910b2": "ascend910b", "ascend910b3": "ascend910b", "ascend910b4": "ascend910b",
    "ascend91093": "ascend910c", "ascend310p3": "ascend310p", "tpuv2": "tpu-v2", "tpuv3": "tpu-v3", "tpuv4": "tpu-v4",
    "tpuv5e": "tpu-v5e", "tpuv5lite": "tpu-v5e", "v5litepod": "tpu-v5e", "tpuv5p": "tpu-v5p", "tpuv6e": "tpu-v6e",
    "tpu7": "tpu-v7", "tpu7x": "tpu-v7", "trainium1": "trainium", "trn1": "trainium", "trn1n": "trainium",
    "trn2": "trainium2", "trn2u": "trainium2", "trn3": "trainium3", "inferentia1": "inferentia", "inf1": "inferentia",
    "inf2": "inferentia2", "hl205": "gaudi", "hl225": "gaudi2", "hl225b": "gaudi2", "hl225d": "gaudi2",
    "hl325": "gaudi3", "hl325l": "gaudi3", "hl328": "gaudi3", "gpuflex170": "flex170", "gpumax1550": "max1550",
}  # fmt: skip
"""What else they are called, in lower case, without what is between the words."""
_KNOWN: Final = {re.sub(r"[^a-z0-9]", "", name): name for name in NAMES} | _SPELLINGS
_LONGEST: Final = 4
"""Words of a spelling."""
_PROFILE: Final = re.compile(
    r"(?<![a-z0-9])(?:(?P<compute>[1-7])c\.)?(?P<slices>[1-7])g(?:\.[0-9]+gb)?(?:[+.][a-z.]+)?(?![a-z0-9])",
    re.IGNORECASE,
)
SLICES_OF_A_GPU: Final = 7
"""Compute slices into which NVIDIA's Multi-Instance GPU divides one."""
WHOLE: Final = 1000
"""Thousandths of a GPU."""


@lru_cache(maxsize=4096)
def known_name(text: str) -> str | None:
    """The catalogue's name of a GPU type, whatever is written around it; None if it has none.

    ``NVIDIA-A100-SXM4-80GB`` and ``nvidia_a100_3g.20gb`` are ``a100``. The longest spelling counts, so that
    ``RTX-6000-Ada`` is not ``rtx6000``.
    """
    words = re.findall(r"[a-z0-9]+", text.casefold())
    for length in range(min(_LONGEST, len(words)), 0, -1):
        for begin in range(len(words) - length + 1):
            name = _KNOWN.get("".join(words[begin : begin + length]))
            if name is not None:
                return name
    return None


def plain_name(text: str) -> str:
    """The catalogue's name, or else what is written, in lower case and without a MIG profile; empty of nothing."""
    known = known_name(text)
    if known is not None:
        return known
    return _PROFILE.sub("", text.strip().casefold()).removesuffix("-mig-").strip("-_. :")


def _letters(text: str) -> str:
    """Keeps the letters and digits of a plain name: ``zz-9`` and ``ZZ 9`` are one type, even in no catalogue."""
    return re.sub("[^a-z0-9]", "", plain_name(text))


def spelled(asked: str, names: Sequence[str]) -> list[int]:
    """Which of ``names`` the GPU type ``asked`` is: written alike, or else every spelling of the same type.

    A cluster that tells ``a100-40gb`` from ``a100-80gb`` keeps them apart for jobs that do so, too.
    """
    for form in (str, str.casefold, plain_name, _letters):
        wanted = form(asked.strip())
        found = [i for i, name in enumerate(names) if form(name) == wanted]
        if found:
            return found
    return []


def slice_milli(text: str) -> int | None:
    """Thousandths of a GPU that the MIG profile in a resource's or product's name is; None if it names none.

    ``1g.5gb`` is 142: rounded down, so that seven of them fit on one GPU. The share is that of compute slices.
    """
    for word in re.split(r"mig-|[_:/\s]|-(?=[0-9][cg])", text.casefold()):
        found = _PROFILE.fullmatch(word)
        if found:
            return WHOLE * int(found["compute"] or found["slices"]) // SLICES_OF_A_GPU
    return None
