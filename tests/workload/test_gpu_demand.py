"""What jobs ask for, of cells as sites write them."""

import polars as pl

from pointsman.workload.readers.gpu_demand import gpu_demand, gpu_demands


def test_whole_gpus_are_counted_and_types_joined() -> None:
    assert gpu_demand("cpu=8,gres/gpu=3,gres/gpu:a100=2,gres/gpu:h100=1") == (3, "a100+h100", None, None, None)


def test_slices_that_fit_on_one_gpu_are_a_share_of_it() -> None:
    assert gpu_demand("gres/gpu=1,gres/gpu:a100_3g.20gb=1") == (1, "a100", 0.428, None, None)
    assert gpu_demand("gpu:1g.10gb:7") == (1, None, 0.994, None, None)


def test_what_is_no_share_of_one_gpu_is_named_with_its_gpus() -> None:
    assert gpu_demand("gpu:1g.10gb:8") == (0, None, None, "8 gpu:1g.10gb", 1.136)
    assert gpu_demand("gpu:a100_1g.5gb:1,gpu:h100_3g.40gb:1").no_share == "1 gpu:a100_1g.5gb and 1 gpu:h100_3g.40gb"
    assert gpu_demand("gres/shard=4") == (0, None, None, "4 shard", 4.0)
    assert gpu_demand("gpu:a100:1,gpu:a100_1g.5gb:1") == (
        0, "a100", None, "1 gpu:a100 and 1 gpu:a100_1g.5gb", 1.142,
    )  # fmt: skip


def test_each_cell_has_its_row_and_a_strange_one_is_not_taken_for_no_gpu() -> None:
    cells = pl.Series(["billing=8,cpu=8,gres/gpu=4,mem=4G", None, "mem=9G,cpu=1", "soon", "1=8,1001=2", "2x A100", "8"])
    assert gpu_demands(cells)["gpus"].to_list() == [4, 0, 0, None, 2, 2, 8]


def test_long_lists_with_other_resources_between_are_read() -> None:
    cells = pl.Series([f"billing=8,cpu={i},gres/gpu={i % 8},mem={i}G" for i in range(50_000)])
    assert gpu_demands(cells)["gpus"].to_list() == [i % 8 for i in range(50_000)]
