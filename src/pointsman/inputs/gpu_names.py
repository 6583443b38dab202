"""One name of a GPU type, however a site, a driver or a vendor writes it, and the share of a GPU that a slice is."""

import re
from functools import lru_cache
from typing import Final

NAMES: Final = (
    "k80", "m40", "p4", "p40", "p100", "gtx1080ti", "titanxp", "titanrtx", "v100", "v100m16", "v100m32", "t4",
    "rtx2080ti", "rtx3090", "rtx4090", "rtx5090", "rtx6000", "rtx8000", "rtx6000ada", "rtxpro6000", "a5000", "a6000",
    "a2", "a10", "a10g", "a16", "a30", "a40", "a100", "a800", "l4", "l20", "l40", "l40s", "h20", "h100", "h800", "h200",
    "gh200", "b200", "gb200", "b300", "gb300", "mi100", "mi210", "mi250", "mi250x", "mi300a", "mi300x", "mi325x",
    "mi355x", "gaudi", "gaudi2", "gaudi3", "ascend910", "ascend910b", "tpu-v4", "tpu-v5e", "tpu-v5p", "tpu-v6e",
    "trainium", "trainium2", "inferentia", "inferentia2", "max1550",
)  # fmt: skip
"""The names of the catalogue, of which all others are spellings."""

_SPELLINGS: Final = {
    "1080ti": "gtx1080ti", "2080ti": "rtx2080ti", "3090": "rtx3090", "4090": "rtx4090", "5090": "rtx5090",
    "quadrortx6000": "rtx6000", "quadrortx8000": "rtx8000", "rtx6000adageneration": "rtx6000ada", "v100s": "v100",
    "rtxa5000": "a5000", "rtxa6000": "a6000", "tpuv4": "tpu-v4", "tpuv5e": "tpu-v5e", "tpuv5lite": "tpu-v5e",
    "tpuv5litepodslice": "tpu-v5e", "tpuv5p": "tpu-v5p", "tpuv6e": "tpu-v6e", "trn1": "trainium", "trn2": "trainium2",
    "inf1": "inferentia", "inf2": "inferentia2", "hl205": "gaudi", "hl225": "gaudi2", "hl325": "gaudi3",
}  # fmt: skip
"""What else they are called, in lower case, without what is between the words."""
_KNOWN: Final = {re.sub(r"[^a-z0-9]", "", name): name for name in NAMES} | _SPELLINGS
_LONGEST: Final = 4
"""Words of a spelling."""
_PROFILE: Final = re.compile(
    r"(?:(?P<compute>[1-7])c\.)?(?P<slices>[1-7])g(?:\.[0-9]+gb)?(?:\+[a-z.]+)?", re.IGNORECASE
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
    return _PROFILE.sub("", text.strip().casefold()).strip("-_. :")


def slice_milli(text: str) -> int | None:
    """Thousandths of a GPU that the MIG profile in a resource's or product's name is; None if it names none.

    ``1g.5gb`` is 142: rounded down, so that seven of them fit on one GPU. The share is that of compute slices.
    """
    for word in re.split(r"mig-|[_:/\s]|-(?=[0-9][cg])", text.casefold()):
        found = _PROFILE.fullmatch(word)
        if found:
            return WHOLE * int(found["compute"] or found["slices"]) // SLICES_OF_A_GPU
    return None
