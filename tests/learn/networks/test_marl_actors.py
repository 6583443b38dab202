"""MARL's actors: each sees its own racks and what the others send, the critic teaches them, and gradients are right."""

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed (make learn)")

from pointsman.cluster import load_cluster  # noqa: E402
from pointsman.errors import UsageError  # noqa: E402
from pointsman.learn.agents import recipe  # noqa: E402
from pointsman.learn.algorithms.masking import log_probabilities, of_actions  # noqa: E402
from pointsman.learn.algorithms.ppo import clipped_loss  # noqa: E402
from pointsman.learn.checkpoint import WEIGHTS, load_policy, save_policy  # noqa: E402
from pointsman.learn.environments import PlaceGangEnv  # noqa: E402
from pointsman.learn.networks.choices import FORWARD, MAY_FORWARD, WAIT  # noqa: E402
from pointsman.learn.networks.cluster_graphs import NODE, SCHEDULER, SWITCH, of_own_racks  # noqa: E402
from pointsman.learn.networks.marl_actors import COMPACT_ELSEWHERE, ActorsConfig, ActorsNetwork  # noqa: E402
from pointsman.learn.setup import begin  # noqa: E402
from pointsman.learn.training import STATE  # noqa: E402
from pointsman.workload import generate  # noqa: E402
from tests.free import simulate  # noqa: E402
from tests.learn.networks.test_marl_network import linked  # noqa: E402

CLUSTER, OWNER = "6x4/rack=2,nic=10Gbps,gpu=gtx1080ti", [0, 0, 1, 1, 2, 2]
TRUTH = {"contention": "duty-cycle", "rate_model": "rates"}
SMALL = {
    "marl": {"learner": "actor-critic"},
    "practice": {"cluster": "8x4/rack=2,nic=10Gbps,gpu=gtx1080ti", "jobs": 10, "episodes": 2},
    "ppo": {"num_envs": 2, "steps": 8, "minibatch": 8},
}


def environment(**more: object) -> PlaceGangEnv:
    jobs = generate("dl2-1-8", jobs=80, cluster_gpus=24, load=1.5, seed=3)
    given = TRUTH | {"factors": {"node_interference": "table"}, "schedulers": 3, "horizon_s": None} | more
    return PlaceGangEnv(cluster=CLUSTER, workload=lambda k, gpus: jobs, episodes=1, **given)


def network(**config: object) -> ActorsNetwork:
    """With weights that make it say something."""
    shapes = {name: box.shape for name, box in environment().observation_space.spaces.items() if name != "action_mask"}
    torch.manual_seed(1)
    made = ActorsNetwork(ActorsConfig(**config), shapes, 34)
    for weights in made.parameters():
        weights.data += 0.1 * torch.randn(weights.shape)
    made.on_cluster(load_cluster(CLUSTER), 3)
    return made


def seen(decisions: int = 60) -> list[dict[str, "torch.Tensor"]]:
    """What is seen at the last 20 of so many decisions, all free to differ between schedulers."""
    made = environment()
    now, _ = made.reset(seed=0)
    found = []
    for _ in range(decisions):
        found.append({name: torch.from_numpy(part)[None] for name, part in now.items()})
        now, *_ = made.step(int(np.flatnonzero(now["action_mask"])[0]))
    return found[-20:]


def test_nothing_joins_the_racks_of_one_scheduler_to_those_of_another() -> None:
    r"""Six nodes in three racks, each rack with a scheduler::

    0, 1 - rack 6 - scheduler      2, 3 - rack 7 - scheduler      4, 5 - rack 8 - scheduler
    """
    graphs = of_own_racks(load_cluster(CLUSTER), np.array(OWNER))
    kinds = graphs.kinds.tolist()
    assert kinds[:6] == [NODE] * 6 and kinds[-3:] == [SCHEDULER] * 3 and set(kinds[6:-3]) == {SWITCH}
    last = len(kinds) - 3
    wanted = {(node, 6 + rack) for node, rack in enumerate(OWNER)} | {(6 + rack, last + rack) for rack in range(3)}
    assert linked(graphs.among) == wanted


def test_who_decides_sees_of_other_racks_only_what_is_sent() -> None:
    """The racks of the two other schedulers change places, or are filled: its own part of all that it sees stays."""
    made = network()
    for now in seen():
        owner = int(now["owner"][0].argmax())
        a, b = (p for p in range(3) if p != owner)
        with torch.no_grad():
            nodes, schedulers, sent = made.sent(now)
            logits = made.act(now, nodes, schedulers, sent)
            filled = now | {"gpus": now["gpus"].clone(), "nodes": now["nodes"].clone()}
            filled["schedulers"] = now["schedulers"].clone()
            for p in (a, b):
                filled["gpus"][:, 8 * p : 8 * p + 8] = 0.9
                filled["nodes"][:, 2 * p : 2 * p + 2, 0] = 0.0
                filled["schedulers"][:, p] = 1.0
            filled["job"] = now["job"].clone()
            filled["job"][:, COMPACT_ELSEWHERE] = 1.0 - now["job"][:, COMPACT_ELSEWHERE]
            others, queues, heard = made.sent(filled)
            mine = slice(2 * owner, 2 * owner + 2)
            assert torch.equal(others[:, mine], nodes[:, mine])
            assert torch.equal(queues[:, owner], schedulers[:, owner])
            assert not torch.equal(others, nodes)
            assert torch.equal(made.act(filled, others, queues, sent), logits)
            assert not torch.allclose(made.act(filled, others, queues, heard), logits)
            swap = torch.tensor([{a: b, b: a}.get(p, p) for p in range(3)])
            swapped = now | {
                "gpus": now["gpus"].reshape(1, 3, 8, -1)[:, swap].reshape(now["gpus"].shape),
                "nodes": now["nodes"].reshape(1, 3, 2, -1)[:, swap].reshape(now["nodes"].shape),
                "schedulers": now["schedulers"][:, swap],
            }
            torch.testing.assert_close(made.act(swapped, *made.sent(swapped)), logits)


def test_without_messages_it_sees_nothing_of_other_racks() -> None:
    made, now = network(message=0), seen()[-1]
    owner = int(now["owner"][0].argmax())
    filled = now | {"gpus": torch.full_like(now["gpus"], 0.9)}
    filled["gpus"][:, 8 * owner : 8 * owner + 8] = now["gpus"][:, 8 * owner : 8 * owner + 8]
    with torch.no_grad():
        assert torch.equal(made(now)[0], made(filled)[0])


@pytest.mark.parametrize("graph", [True, False])
def test_the_order_of_candidates_and_of_nodes_is_nothing(graph: bool) -> None:
    made, order, swap = network(graph=graph), torch.randperm(32), torch.tensor([1, 0, 2, 3, 5, 4])
    for now in seen():
        gpus = (4 * swap[:, None] + torch.arange(4)).flatten()
        moved = now | {
            "candidates": now["candidates"][:, order],
            "touched": now["touched"][:, order][..., swap],
            "nodes": now["nodes"][:, swap],
            "gpus": now["gpus"][:, gpus],
        }
        with torch.no_grad():
            (logits, value), (other, same) = made(now), made(moved)
        torch.testing.assert_close(logits[:, :FORWARD][:, order], other[:, :FORWARD])
        torch.testing.assert_close((logits[:, FORWARD:], value), (other[:, FORWARD:], same))


@pytest.mark.parametrize("part", ["actor", "critic"])
def test_gradients_are_those_of_finite_differences(part: str) -> None:
    """Of PPO's loss of the actor, and of the critic's error, along random directions."""
    made = network().double()
    now = {name: torch.cat([one[name].double() for one in seen()]) for name in (*made.inputs, "action_mask")}
    mask = now["action_mask"] != 0
    action, gain = mask.double().argmax(1), torch.randn(len(mask), dtype=torch.double)

    def loss() -> "torch.Tensor":
        logits, worth = made(now)
        if part == "critic":
            return (worth - gain).square().mean()
        return clipped_loss(of_actions(log_probabilities(logits, mask), action) + 2.0, gain, 0.2)

    weights = list(made.parameters())
    found = torch.autograd.grad(loss(), weights, allow_unused=True, materialize_grads=True)
    for seed in range(5):
        drawn = torch.Generator().manual_seed(seed)
        along = [torch.randn(w.shape, generator=drawn, dtype=torch.double) for w in weights]
        slope = float(sum((a * g).sum() for a, g in zip(along, found, strict=True)))
        ends = []
        for step in (1e-6, -1e-6):
            with torch.no_grad():
                for w, a in zip(weights, along, strict=True):
                    w += step * a
                ends.append(float(loss()))
                for w, a in zip(weights, along, strict=True):
                    w -= step * a
        assert (ends[0] - ends[1]) / 2e-6 == pytest.approx(slope, rel=1e-4, abs=1e-8)
        assert slope != 0.0


def test_the_critic_is_there_in_training_only() -> None:
    made, now = network(), seen()[-1]
    with torch.no_grad():
        assert float(made(now)[1]) != 0.0
        assert float(made.eval()(now)[1]) == 0.0


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("actors")
    training = begin(recipe("marl", SMALL), folder, seed=1)
    torch.manual_seed(4)
    weights = training.learner.network.state_dict()  # ty: ignore
    weights = {name: tensor + 0.3 * torch.randn(tensor.shape) for name, tensor in weights.items()}
    save_policy(folder, training.card, weights)
    return folder


@pytest.mark.parametrize("schedulers", [1, 3])
def test_a_run_is_what_the_actors_do_in_training(schedulers: int, checkpoint: Path) -> None:
    made = load_policy(checkpoint).network
    made.on_cluster(load_cluster(CLUSTER), schedulers)
    there = environment(schedulers=schedulers, order="sjf", patience=1.0)
    now, _ = there.reset(seed=0)
    over, usual, decisions = False, 0, 0
    while not over:
        parts = {name: torch.from_numpy(part)[None] for name, part in now.items()}
        with torch.inference_mode():
            action = made.best(np.where(now["action_mask"] != 0, made(parts)[0][0].numpy(), -np.inf))
            usual += action == int(made.usual(parts)[0])
        decisions += 1
        now, _, over, _, _ = there.step(action)
    jobs = generate("dl2-1-8", jobs=80, cluster_gpus=24, load=1.5, seed=3)
    params = {"schedulers": schedulers}
    run = simulate(jobs, CLUSTER, f"marl:{checkpoint}", params=params, node_interference="table", **TRUTH)
    assert usual < 0.9 * decisions
    ends_s = there.outcomes["end"] / 1000 + jobs.jobs["submit_s"][0]
    np.testing.assert_allclose(run.jobs["end_s"], ends_s, atol=1e-6)


def test_training_moves_the_actor_and_the_critic(tmp_path: Path) -> None:
    training = begin(recipe("marl", SMALL), tmp_path, seed=1)
    before = {name: w.clone() for name, w in training.learner.network.state_dict().items()}  # ty: ignore
    training.learner.iterate(0.0)
    training.learner.iterate(0.5)
    after = training.learner.network.state_dict()  # ty: ignore
    moved = {name.split(".")[0] for name, w in after.items() if not torch.equal(w, before[name])}
    assert moved >= {"encoder", "send", "told", "critic", "value"}


def test_resumed_is_as_if_it_had_never_stopped(tmp_path: Path) -> None:
    """The actor, the critic, and the simulations in the middle of which it stops."""

    class Stop(Exception):
        pass

    def stop_soon(share: float, label: str) -> None:
        if share > 0.4:
            raise Stop

    def silently(share: float, label: str) -> None:
        pass

    begin(recipe("marl", SMALL), tmp_path / "whole", seed=1).run(96, silently)
    with pytest.raises(Stop):
        begin(recipe("marl", SMALL), tmp_path / "parts", seed=1).run(96, stop_soon)
    rest = begin(recipe("marl", SMALL), tmp_path / "parts", seed=1)
    rest.resume()
    assert 0 < rest.steps < 96
    rest.run(96, silently)
    for name in (WEIGHTS, STATE):
        assert (tmp_path / "parts" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_forwarding_is_asked_of_the_others_and_not_seen() -> None:
    made, now = network(), seen()[-1]
    other = now | {"job": now["job"].clone()}
    other["job"][:, [COMPACT_ELSEWHERE, MAY_FORWARD]] = 1.0 - now["job"][:, [COMPACT_ELSEWHERE, MAY_FORWARD]]
    with torch.no_grad():
        assert torch.equal(made(now)[0], made(other)[0])


def test_a_learner_that_does_not_exist_is_refused() -> None:
    with pytest.raises(UsageError, match=r"marl.learner = 'critic' .*actor-critic"):
        recipe("marl", {"marl": {"learner": "critic"}})
    with pytest.raises(UsageError, match="marl has no part 'counterfactual'"):
        recipe("marl", SMALL | {"counterfactual": {"reach": 1.0}})


def test_in_use_it_chooses_a_kind_of_choice_first() -> None:
    """Five places of probability 0.12 each, 0.1 to forward, 0.3 to wait: to place is likelier than to wait."""
    chances = np.full(34, 0.0, np.float32)
    chances[[2, 3, 4, 7, 9]], chances[FORWARD], chances[WAIT] = 0.12, 0.1, 0.3
    chances[7] += 0.001
    with np.errstate(divide="ignore"):
        assert network().best(np.log(chances)) == 7
        chances[:9] = 0.0
        assert network().best(np.log(chances)) == 33
        chances[WAIT] = 0.05
        assert network().best(np.log(chances)) == 9
        chances[9] = 0.0
        assert network().best(np.log(chances)) == 32
