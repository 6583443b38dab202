"""Jobs on different GPUs of one node by a learnt file (semantics.md §15), by hand and to the millisecond."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import pointsman
from pointsman.api import open_simulation
from pointsman.cluster import load_cluster
from pointsman.errors import UsageError
from pointsman.experiment import RunOptions
from pointsman.policies.registry import get_policy
from pointsman.report.summary import summarise
from tests.free import simulate

from .learnt_file import learnt_file
from .two_sockets import ends_ms, profile, run

IDLE = {name: profile(cores=0, mb_per_s=0) for name in ("a", "b", "c")}
TEXT = learnt_file("""\
    a:
      otherwise: {alone: 1.0, per_own_gpu: 1.0, beside: {b: {met: 1.25, per_gpu: 1.0}}}
      measured: {1 beside b*1: 1.5}
      predicted: {1 beside b*2: [2.0, 0.1]}
    b:
      otherwise: {alone: 0.8, per_own_gpu: 1.25, beside: {a: {met: 1.0, per_gpu: 2.0}}}
""")
"""A job of b of two GPUs takes 1.25 times as long as one of one GPU, and each GPU of a doubles that."""


def g(*gpus: int, node: int = 0) -> tuple[tuple[int, int], ...]:
    return tuple((node, gpu) for gpu in gpus)


def ends(folder: Path, jobs: list[Any], text: str = TEXT, **options: Any) -> list[int]:
    return ends_ms(made(folder, jobs, text, **options))


def made(folder: Path, jobs: list[Any], text: str = TEXT, **options: Any) -> Any:
    (folder / "learnt.yaml").write_text(text)
    return run(folder, jobs, IDLE, node_interference=str(folder / "learnt.yaml"), **options)


def test_a_combination_is_looked_up_and_others_go_by_the_law(tmp_path: Path) -> None:
    """a takes 1.5 times as long beside one GPU of b, and b, of which nothing is tabulated, twice::

              0                18  19
    GPU 0  a  |-----------------|         12 s of work
    GPU 3  b  |-----------------|--|      10: 9 by 18 s
    """
    assert ends(tmp_path, [("a", 12, g(0)), ("b", 10, g(3))]) == [18_000, 19_000]


def test_gpus_of_others_add_up_whichever_jobs_have_them(tmp_path: Path) -> None:
    """Beside two GPUs of b twice; beside three, by the law, 1.25 times. Rates are rounded, so that a ms is missing."""
    gang = [("a", 12, g(0)), ("b", 10, g(1, 3))]
    assert ends(tmp_path, gang) == [24_000, 24_501], "b takes 2.5 times as long, and 1.25 alone"
    assert ends(tmp_path, [("a", 12, g(0)), *[("b", 12, g(k)) for k in (1, 2)]])[0] == 24_000
    assert ends(tmp_path, [("a", 12, g(0)), *[("b", 12, g(k)) for k in (1, 2, 3)]])[0] == 15_001


def test_what_the_file_does_not_know_slows_nothing_and_is_not_slowed(tmp_path: Path) -> None:
    """c it does not know at all; of a it says nothing beside a."""
    result = made(tmp_path, [("a", 12, g(0)), ("a", 12, g(1)), ("c", 12, g(2)), (None, 12, g(3))])
    assert ends_ms(result) == [12_000] * 4
    said = [line for line in result.info["assumptions"] if "learnt.yaml: learnt from runs, drawn; 2 of 4 jobs" in line]
    assert len(said) == 1


def test_workers_on_the_same_gpu_slow_by_xi_alone(tmp_path: Path) -> None:
    """b has GPUs 0 and 1; a on GPU 0 is beside the second: 1.5 · 2 times as long. b's worst worker is on GPU 1."""
    jobs = [("a", 12, g(0)), ("b", 100, g(0, 1))]
    speeds = made(tmp_path, jobs, gpu_sharing=2, interference="2", log_speeds=True).speeds.filter(time_ms=0).sort("row")
    assert speeds["slowdown"].to_list() == [2.0, 2.0]
    assert speeds["computing_slowdown"].to_list() == [1.5, 2.5]


def test_a_gang_is_as_slow_as_on_its_worst_node(tmp_path: Path) -> None:
    jobs = [("a", 12, (*g(0), *g(0, node=1))), ("b", 12, g(1, node=1))]
    speeds = made(tmp_path, jobs, log_speeds=True).speeds.filter(time_ms=0).sort("row")
    assert speeds["computing_slowdown"].to_list() == [1.5, 2.0]


@pytest.mark.parametrize("model", ["rates", "tree:clamp=1,rack=0.1,node=0.1,gpu=0.01", "goodput", "iterations"])
def test_every_base_model_has_it(model: str, tmp_path: Path) -> None:
    assert ends(tmp_path, [("a", 12, g(0)), ("b", 10, g(3))], rate_model=model) == [18_000, 19_000]


def test_nodes_that_it_does_not_know_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no data about nodes of 4 x v100 \(only 8 x v100\)"):
        ends(tmp_path, [("a", 12, g(0))], TEXT.replace("gpus: 4", "gpus: 8"))


def test_without_models_it_is_of_no_use(tmp_path: Path) -> None:
    result = made(tmp_path, [(None, 12, g(0)), (None, 12, g(1))])
    assert ends_ms(result) == [12_000] * 2
    assert any("no job names a model, so none slows another" in line for line in result.info["assumptions"])


def learnt(folder: Path) -> str:
    names = {"a": "vgg16", "b": "wlm"}
    text = TEXT
    for ours, theirs in names.items():
        text = text.replace(f"{ours}*", f"{theirs}*").replace(f"      {ours}:", f"      {theirs}:")
        text = text.replace("{" + f"{ours}:", "{" + f"{theirs}:")
    (folder / "known.yaml").write_text(text)
    return str(folder / "known.yaml")


def test_copies_and_other_policies_go_on_with_it(tmp_path: Path) -> None:
    """Counts are exact, gone at the end, and those of a copy are its own."""
    draw = [(k % 3 + 1, 10.0 + 7 * (k % 5), ("vgg16", "wlm")[k % 2]) for k in range(40)]
    jobs = pl.DataFrame(
        {
            "submit_s": [2.0 * k for k in range(40)],
            "gpus": [gpus for gpus, _, _ in draw],
            "duration_s": [lasts for _, lasts, _ in draw],
            "model": [model for *_, model in draw],
        }
    )
    spec = get_policy("srtf")
    options = RunOptions.checked({"overheads": "none", "node_interference": learnt(tmp_path), "audit": True})
    simulation, _ = open_simulation(
        pointsman.Workload.of(jobs), load_cluster("2x4/gpu=v100"), spec, spec.make(), options
    )
    simulation.run(50_000)
    counts = simulation.handle.state.factor_loads.tolist()
    running = [int(n) for n in simulation.handle.jobs["gpus"][simulation.handle.jobs["state"] == 3]]
    assert sum(counts) == sum(running) > 4
    ahead = simulation.what_if("fifo-backfill")
    ahead.run()
    assert simulation.handle.state.factor_loads.tolist() == counts and not ahead.handle.state.factor_loads.any()
    copy = simulation.copy()
    copy.run()
    simulation.run()
    ended = simulation.handle.world.outcomes
    assert copy.handle.world.outcomes["end"].tolist() == ended["end"].tolist()
    assert (ended["slowed"] > 0).sum() > 20


def test_reports_tell_of_it(tmp_path: Path) -> None:
    jobs = pl.DataFrame({"submit_s": [0.0, 0.0], "gpus": [1, 1], "duration_s": [10.0, 10.0], "model": ["vgg16", "wlm"]})
    source = learnt(tmp_path)
    result = simulate(pointsman.Workload.of(jobs), "1x4/gpu=v100", "fifo", node_interference=source)
    assert result.jobs["end_s"].to_list() == [15.0, 17.5]
    summary = summarise(result)["node_interference"]
    assert (summary["source"], summary["jobs_slowed_ratio"]) == (source, 1.0)
