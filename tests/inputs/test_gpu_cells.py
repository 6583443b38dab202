"""Cells that say how many GPUs of which type, as sites write them."""

import pytest

from pointsman.inputs.gpu_cells import gpu_entries

SAID = {
    "8": [(8, "", 1000)],
    "8.0": [(8, "", 1000)],
    "0": [],
    "gpu": [(1, "", 1000)],
    "gpu:4": [(4, "", 1000)],
    "gpu=4": [(4, "", 1000)],
    "gpu:4(IDX:0-3)": [(4, "", 1000)],
    "gres:gpu:4": [(4, "", 1000)],
    "gpu:a100": [(1, "a100", 1000)],
    "gpu:a100:2(IDX:0-1)": [(2, "a100", 1000)],
    "gpu:a100:2(S:0-1),shard:32": [(2, "a100", 1000), (32, "", None)],
    "gpu:2,nic:1": [(2, "", 1000)],
    "craynetwork:4,gpu:mi250x:8": [(8, "mi250x", 1000)],
    "gpu:3090:4": [(4, "rtx3090", 1000)],
    "billing=64,cpu=64,gres/gpu=8,gres/gpu:a100=8,node=1": [(8, "a100", 1000)],
    "gres/gpu=3,gres/gpu:a100=2": [(2, "a100", 1000), (1, "", 1000)],
    "gres/gpu:a100=2,gres/gpu:h100=2,gres/gpu=4": [(2, "a100", 1000), (2, "h100", 1000)],
    "cpu=8,mem=4G,node=1": [],
    "gres/gpumem=80G,gres/gpuutil=30": [],
    "1=8,2=64000,4=1,5=64,1001=2,1002=2": [(2, "", 1000)],
    "gres/gpu=1,gres/gpu:a100_3g.20gb=1": [(1, "a100", 428)],
    "gpu:1g.10gb:2": [(2, "", 142)],
    "gpu:a100:4,gpu:a100_1g.5gb:7": [(4, "a100", 1000), (7, "a100", 142)],
    "2x A100": [(2, "a100", 1000)],
    "A100 x 2": [(2, "a100", 1000)],
    "1xH100": [(1, "h100", 1000)],
    "nvidia-a100-80gb x 8": [(8, "a100", 1000)],
    "(null)": [],
    "N/A": [],
}


@pytest.mark.parametrize("cell", SAID)
def test_a_cell_names_gpus_their_type_and_their_share(cell: str) -> None:
    entries = gpu_entries(cell)
    assert entries is not None
    assert [entry[:3] for entry in entries] == SAID[cell]


@pytest.mark.parametrize("cell", ["soon", "4.5", "-1", "two", "1,5", "gres/gpu=four", "cpu=4,gres/gpu=x"])
def test_what_cannot_be_read_is_not_taken_for_none(cell: str) -> None:
    assert gpu_entries(cell) is None
