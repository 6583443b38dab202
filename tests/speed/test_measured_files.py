"""What ``pointsman measure`` writes into every row is passed over, and rows of failures are."""

from pathlib import Path

import pytest

from pointsman.errors import InputError
from pointsman.measure import node, pairs, step
from pointsman.speed import load_catalogue
from pointsman.speed.fitting.fit_document import profiles_yaml
from pointsman.speed.fitting.fit_law import fit_platform
from pointsman.speed.fitting.measurements import read_steps
from pointsman.speed.interference.learned.combinations import Combination, Server
from pointsman.speed.interference.learned.measured import observe_measured
from pointsman.speed.interference.learned.observations import Observations
from pointsman.speed.interference.pairs import read_pairs

CATALOGUE = load_catalogue()
ABOUT = {"precision": "bf16", "rounds": 5, "spread": 0.01, "device": "H100", "driver": "580", "mode": "mps"}


def written(path: Path, columns: tuple[str, ...], *rows: dict[str, object]) -> Path:
    lines = [",".join(str({**ABOUT, **row}.get(column, "")) for column in columns) for row in rows]
    path.write_text("\n".join([",".join(columns), *lines]) + "\n")
    return path


def step_row(batch: int, **more: object) -> dict[str, object]:
    return {"model": "ours", "gpu_type": "H100", "gpus": 1, "nodes": 1, "batch_per_gpu": batch, **more}


def test_steps_are_read_but_for_failures_and_parts(tmp_path: Path) -> None:
    path = written(
        tmp_path / "steps.csv", step.COLUMNS,
        step_row(8, step_s=0.1, parts=1, gradient_bytes=4e6, memory_bytes=1e9),
        step_row(8, step_s=0.2, parts=2, memory_bytes=6e8),
        step_row(64, parts=1, reason="out of memory"),
    )  # fmt: skip
    (found,) = read_steps(path, CATALOGUE)
    assert (found.line, found.batch_per_gpu, found.step_s, found.memory_bytes) == (2, 8, 0.1, 1e9)
    assert found.gradient_bytes == 4e6


def test_memory_that_was_measured_is_fitted(tmp_path: Path) -> None:
    rows = [step_row(b, step_s=0.01 + 0.001 * b, memory_bytes=2e9 + 3e7 * b) for b in (8, 16, 32)]
    steps = read_steps(written(tmp_path / "steps.csv", step.COLUMNS, *rows), CATALOGUE)
    text = profiles_yaml([fit_platform(steps)], steps, CATALOGUE, "here")
    (tmp_path / "ours.yaml").write_text(text)
    memory = load_catalogue(tmp_path / "ours.yaml").model("ours").memory
    assert memory.fixed_bytes == pytest.approx(1.07e9 + 2e9)
    assert memory.bytes_per_sample == pytest.approx(3e7)


def test_a_file_of_failures_says_so(tmp_path: Path) -> None:
    path = written(tmp_path / "steps.csv", step.COLUMNS, step_row(8, reason="hang: it"))
    with pytest.raises(InputError, match=r"steps\.csv:2: no measurements: every row has a reason why it failed"):
        read_steps(path, CATALOGUE)


def test_a_file_of_batches_in_parts_says_so(tmp_path: Path) -> None:
    path = written(tmp_path / "steps.csv", step.COLUMNS, step_row(8, step_s=1, parts=2))
    with pytest.raises(InputError, match="no step computes its batch at once"):
        read_steps(path, CATALOGUE)


def test_pairs_are_read(tmp_path: Path) -> None:
    both = {"gpu_type": "h100", "model_a": "bert", "model_b": "ours", "batch_a": 8, "parts_b": 1}
    times = {"alone_s_a": 0.1, "step_s_a": 0.2, "alone_s_b": 0.1, "step_s_b": 0.4}
    cut = {**both, **times, "parts_b": 2}
    path = written(tmp_path / "p.csv", pairs.COLUMNS, {**both, **times}, cut, {**both, "reason": "job b: hang"})
    (found,) = read_pairs(path, CATALOGUE)
    assert found[:3] == ("h100", "bert", "ours")
    with pytest.raises(InputError, match="no pair computes its batches at once"):
        read_pairs(written(tmp_path / "p.csv", pairs.COLUMNS, cut), CATALOGUE)


def node_row(model: str, others: str, step_s: float, **more: object) -> dict[str, object]:
    return {
        "gpu_type": "V100",
        "node_gpus": 4,
        "model": model,
        "others": others,
        "alone_s": 0.1,
        "step_s": step_s,
        **more,
    }


def test_combinations_on_a_node_are_read(tmp_path: Path) -> None:
    path = written(
        tmp_path / "n.csv", node.COLUMNS,
        node_row("BERT-base", "", 0.1),
        node_row("bert", "vgg16*1", 0.12),
        node_row("bert", "VGG-16*1", 0.18),
        node_row("bert", "wlm*1 + vgg16*2", 0.09),
        node_row("bert", "bert*3", 0.0, reason="killed"),
    )  # fmt: skip
    found: Observations = {}
    observe_measured(path, CATALOGUE, found)
    v100 = Server("v100", 4)
    assert set(found) == {
        (v100, Combination("bert", 1, ())),
        (v100, Combination("bert", 1, (("vgg16", 1),))),
        (v100, Combination("bert", 1, (("vgg16", 2), ("wlm", 1)))),
    }
    pair = found[v100, Combination("bert", 1, (("vgg16", 1),))]
    assert pair.slow_down == pytest.approx((1.2 * 1.8) ** 0.5)
    assert found[v100, Combination("bert", 1, (("vgg16", 2), ("wlm", 1)))].slow_down == 1.0


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (node_row("bert", "vgg16", 0.1), r"n\.csv:2: '1 beside vgg16' is no combination"),
        (node_row("bert", "vgg17*1", 0.1), r"unknown model 'vgg17' \(did you mean 'vgg1"),
        (node_row("burt", "", 0.1), "unknown model 'burt'"),
        (node_row("bert", "vgg16*4", 0.1), "5 GPUs are held on a node of 4"),
        (node_row("bert", "", 200.0), "a step takes 2000 times as long as alone"),
        (node_row("bert", "", 0.0), "step_s is '0.0'"),
        (node_row("bert", "", 0.1, gpu_type="x1"), "unknown GPU type 'x1'"),
    ],
)
def test_a_wrong_combination_has_line_cause_and_fix(tmp_path: Path, row: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        observe_measured(written(tmp_path / "n.csv", node.COLUMNS, row), CATALOGUE, {})


def test_a_misspelt_column_is_still_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "p.csv", (*pairs.COLUMNS, "batch_c"), {"gpu_type": "h100"})
    with pytest.raises(InputError, match="unknown column 'batch_c'"):
        read_pairs(path, CATALOGUE)


@pytest.mark.parametrize("column", ["device", "driver", "mode", "precision"])
def test_rows_of_one_gpu_type_were_measured_in_one_environment(tmp_path: Path, column: str) -> None:
    """Rows that do not say it fit to any, and other GPU types have their own."""
    rows = [step_row(8, step_s=0.1), step_row(16, step_s=0.2, **{column: ""})]
    other = step_row(8, step_s=0.3, **{column: "other"})
    assert (
        len(read_steps(written(tmp_path / "s.csv", step.COLUMNS, *rows, other | {"gpu_type": "V100"}), CATALOGUE)) == 3
    )
    with pytest.raises(
        InputError, match=rf"s\.csv:4: {column} is 'other' here and '.*' on line 2 .rows of one GPU type"
    ):
        read_steps(written(tmp_path / "s.csv", step.COLUMNS, *rows, other), CATALOGUE)


def test_pairs_of_two_sharing_modes_are_not_fitted_as_one(tmp_path: Path) -> None:
    times = {"alone_s_a": 0.1, "alone_s_b": 0.1, "step_s_a": 0.2, "step_s_b": 0.2}
    row = {"gpu_type": "H100", "model_a": "bert", "model_b": "ncf", **times}
    with pytest.raises(InputError, match="mode is 'time slicing' here and 'mps' on line 2"):
        read_pairs(written(tmp_path / "p.csv", pairs.COLUMNS, row, row | {"mode": "time slicing"}), CATALOGUE)
