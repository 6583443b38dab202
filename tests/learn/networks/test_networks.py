"""The networks: small enough to ship, branches that can be left out, and what they say does not hang on the slot."""

import json

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed (make learn)")

from pointsman.errors import UsageError  # noqa: E402
from pointsman.learn.agents import AGENTS, kinds_of  # noqa: E402
from pointsman.learn.networks import NETWORKS, make_network, network_class  # noqa: E402
from pointsman.learn.networks.topdrl import TopDrlConfig  # noqa: E402

SHAPES = {"cluster": (20, 64), "queue": (20, 80), "topology": (16, 8), "jobs": (10, 10), "globals": (6,)}
MAX_BYTES = 5_000_000


def seen(batch: int = 3) -> dict:
    random = torch.Generator().manual_seed(0)
    return {name: torch.rand(batch, *shape, generator=random) for name, shape in SHAPES.items()}


@pytest.mark.parametrize(
    "name", sorted({*NETWORKS} - {"marl", "marl-actors", "choices", "valued-choices"})
)  # which see a cluster: test_marl_network, test_adaptation
def test_sizes_and_first_opinions(name: str) -> None:
    network = make_network(name, network_class(name).Config(), SHAPES, 11, seed=1)
    logits, values = network(seen())
    assert logits.shape == (3, 11) and values.shape == (3,)
    assert logits.abs().max() < 0.5  # nearly every action is as likely as any
    assert sum(weight.numel() * 4 for weight in network.parameters()) < MAX_BYTES


@pytest.mark.parametrize("branch", ["cluster", "queue", "topology", "jobs", "shared"])
def test_a_branch_left_out_is_not_looked_at(branch: str) -> None:
    network = make_network("topdrl", TopDrlConfig(**{branch: False}), SHAPES, 11, seed=1)
    whole = make_network("topdrl", TopDrlConfig(), SHAPES, 11, seed=1)
    assert sum(w.numel() for w in network.parameters()) < sum(w.numel() for w in whole.parameters())
    if branch in ("cluster", "queue", "topology"):
        before = seen()
        assert torch.equal(network(before)[0], network(before | {branch: torch.zeros_like(before[branch])})[0])
        assert not torch.equal(whole(before)[0], whole(before | {branch: torch.zeros_like(before[branch])})[0])


def test_without_any_branch_there_is_nothing_to_see() -> None:
    blind = TopDrlConfig(cluster=False, queue=False, topology=False, jobs=False)
    with pytest.raises(UsageError, match="at least one branch"):
        make_network("topdrl", blind, SHAPES, 11, seed=1)
    with pytest.raises(UsageError, match="'queue' in the observation, which has only cluster"):
        make_network("topdrl", TopDrlConfig(), {"cluster": (20, 64)}, 11, seed=1)


def test_a_job_is_judged_alike_in_every_slot() -> None:
    network = make_network("topdrl", TopDrlConfig(), SHAPES, 11, seed=1)
    jobs, body = seen()["jobs"], torch.rand(3, 256)
    order = torch.randperm(10, generator=torch.Generator().manual_seed(2))
    assert torch.allclose(network.judge(jobs, body)[:, order], network.judge(jobs[:, order], body), atol=1e-6)  # ty: ignore


def test_the_scale_of_values_moves_without_moving_them() -> None:
    network = make_network("deeprm", network_class("deeprm").Config(), SHAPES, 11, seed=1)
    before = network.value.returns(network(seen())[1])
    network.value.rescale(torch.tensor(-300.0), torch.tensor(20.0))
    assert torch.allclose(network.value.returns(network(seen())[1]), before, atol=1e-3)
    assert float(network.value.normalised(torch.tensor(-280.0))) == 1.0


def test_making_one_leaves_chance_as_it_was() -> None:
    torch.manual_seed(4)
    expected = torch.rand(1)
    torch.manual_seed(4)
    make_network("topdrl", TopDrlConfig(), SHAPES, 11, seed=1)
    assert torch.equal(torch.rand(1), expected)


def test_every_setting_says_what_it_is_and_whose() -> None:
    for agent in AGENTS.values():
        for part, kind in kinds_of(agent).items():
            for name, field in kind.model_fields.items():
                about = json.loads(json.dumps(field.json_schema_extra))
                assert field.description and about["source"] in ("paper", "ours"), (part, name)
                assert not field.is_required(), (part, name)
                assert about["unit"] == "s" or not name.endswith("_s"), (part, name)
