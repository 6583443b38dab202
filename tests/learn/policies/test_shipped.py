"""The weights that come with the package: they are small, and run on clusters of any size."""

import pytest

pytest.importorskip("torch", reason="make learn")
pytest.importorskip("safetensors", reason="make learn")

from pointsman import generate
from pointsman.learn.policies.learned import SHIPPED
from pointsman.learn.policies.marl import Marl
from pointsman.workload.generator.topdrl import generate_topdrl
from tests.free import simulate

HORIZON_S = 6 * 3600.0


@pytest.mark.parametrize(("agent", "most_bytes"), [("topdrl", 5_000_000), ("marl", 1_000_000)])
def test_they_are_small_and_say_how_they_came_to_be(agent: str, most_bytes: int) -> None:
    card = (SHIPPED / agent / "policy.yaml").read_text()
    assert (SHIPPED / agent / "policy.safetensors").stat().st_size <= most_bytes
    assert f"command: pointsman train {agent}" in card
    for word in ("seed:", "hardware:", "steps:", "torch:"):
        assert word in card
    assert (SHIPPED / agent / "metrics.jsonl").is_file()  # its curve


@pytest.mark.parametrize(("policy", "params"), [("topdrl", {}), ("marl", {"schedulers": 1})])
@pytest.mark.parametrize(
    ("cluster", "widest"),
    [("1x1", 1), ("3x2", 6), ("8x4/rack=4", 32), ("5x8/rack=2,gpu=a100", 40), ("128x8/rack=8", 1024)],
)
def test_they_run_on_any_cluster_with_any_gang_that_fits(
    cluster: str, widest: int, policy: str, params: dict[str, int]
) -> None:
    jobs = generate("philly", jobs=60, cluster_gpus=widest, load=1.2, seed=3)
    gpus = jobs.jobs["gpus"].clip(upper_bound=widest)
    gpus[30] = widest
    jobs = jobs.with_jobs(jobs.jobs.with_columns(gpus=gpus), reason="")
    result = simulate(jobs, cluster, policy, params=params, audit=True)
    assert result.jobs["state"].unique().to_list() == ["COMPLETED"]
    assert result.jobs["gpus"].max() == widest


def test_each_scheduler_has_a_rack() -> None:
    """Of any cluster that one policy runs on, whichever was the last."""
    jobs, policy = generate("philly", jobs=30, cluster_gpus=8, load=0.5, seed=3), Marl()
    for cluster, schedulers in (("8x4", 1), ("8x4/rack=4", 2), ("64x4/rack=4", 4)):
        simulate(jobs, cluster, policy, oversized="drop")
        assert policy.divides_among == schedulers


@pytest.mark.parametrize("policy", ["fifo", "sjf"])
def test_they_get_more_done_than_the_classics(policy: str) -> None:
    """Jobs of seeds that nobody trained on, some of which always wait (the whole story: `docs/results/topdrl.md`)."""
    for seed in (7_000_001, 7_000_002):
        jobs = generate_topdrl(400, seed)
        run = {"rate_model": "tree", "until_s": HORIZON_S}
        ours = simulate(jobs, "8x4/rack=4", "topdrl", **run)
        theirs = simulate(jobs, "8x4/rack=4", policy, **run)
        done = [float((one.jobs["gpus"] * one.jobs["done_s"]).sum()) for one in (ours, theirs)]
        assert done[0] > done[1]
