"""From a recipe to a training: environments, a network, an algorithm, and the card of what comes of it."""

import os
import platform
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from pointsman.errors import UsageError
from pointsman.learn.agents import Recipe, environments_class, learner_class
from pointsman.learn.algorithms.rollout import Rollout
from pointsman.learn.checkpoint import Card, Named, ObservationSpec
from pointsman.learn.environments.loading import shapes_of, version_of
from pointsman.learn.networks import make_network
from pointsman.learn.training import TrainingRun, pick_device
from pointsman.learn.training_setup import keywords, settings_of
from pointsman.version import __version__

if TYPE_CHECKING:
    from gymnasium.vector import VectorEnv


def begin(
    recipe: Recipe, directory: Path, *, seed: int, device: str = "auto", threads: int = 1, command: str = ""
) -> TrainingRun:
    """A training before its first step.

    Args:
        recipe: what is trained, how and on what.
        directory: where it is kept.
        seed: of all that is random: first weights, choices, the order of the episodes.
        device: of the network: ``auto``, ``cpu``, ``cuda``.
        threads: of PyTorch on the CPU; another number gives other roundings.
        command: that was given, for the card.

    Raises:
        UsageError: a setting is wrong, or there is no such device. InputError: the jobs or the cluster are wrong.
    """
    place = pick_device(device)
    torch.set_num_threads(threads)
    config: Any = recipe.algorithm
    environments = _environments(recipe, config.num_envs)
    rollout = Rollout(environments, config.gamma)
    network = make_network(recipe.agent.network, recipe.network, rollout.shapes, rollout.actions, seed)
    made: Any = environments.made  # ty: ignore
    network.on_cluster(made.cluster, made.setting.schedulers)
    learner = learner_class(recipe.agent)(config, network, rollout, seed, place)
    card = _card(recipe, environments, rollout, seed, place, threads, command)
    return TrainingRun(learner, card, directory)


def _environments(recipe: Recipe, number: int) -> "VectorEnv":
    """So many in step, shared out evenly among the clusters and workloads."""
    kind, settings = environments_class(recipe.agent), settings_of(recipe.practice)
    if len(settings) == 1:
        return kind(num_envs=number, **keywords(settings[0]))
    from pointsman.learn.environments.mixture import Mixture

    if number < len(settings):
        raise UsageError(f"{number} environments for {len(settings)} clusters and workloads: give at least as many")
    shares = [number * (k + 1) // len(settings) - number * k // len(settings) for k in range(len(settings))]
    return Mixture([kind(num_envs=n, **keywords(one)) for n, one in zip(shares, settings, strict=True)])


def _card(
    recipe: Recipe,
    environments: "VectorEnv",
    rollout: Rollout,
    seed: int,
    device: torch.device,
    threads: int,
    command: str,
) -> Card:
    made: Any = environments.made  # ty: ignore
    observation = ObservationSpec(
        name=made.observation,
        version=version_of(made.observation),
        shapes=shapes_of(made.observation, made.setting.slots),
        actions=rollout.actions,
    )
    layout = made.pool.prepared.layout
    return Card(
        agent=recipe.agent.name,
        network=Named(name=recipe.agent.network, config=recipe.network.model_dump(mode="json")),
        observation=observation,
        observation_sha256=observation.digest,
        algorithm=Named(name=recipe.agent.algorithm, config=recipe.algorithm.model_dump(mode="json")),
        environment=recipe.practice.model_dump(mode="json") | {"reward": made.reward, "observation": made.observation},
        cluster={
            "racks": len(set(layout.node_rack.tolist())),
            "nodes": len(layout.node_gpus),
            "gpus": int(layout.node_gpus.sum()),
        },
        seed=seed,
        steps=0,
        pointsman=__version__,
        torch=torch.__version__,
        hardware=hardware(device, threads),
        command=command,
    )


def hardware(device: torch.device, threads: int) -> str:
    """What trains, in a few words."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    name = next((line.split(":")[1].strip() for line in _cpu_lines() if line.startswith("model name")), "")
    return f"{threads} of {os.cpu_count()} cores, {name or platform.machine()}"


def _cpu_lines() -> list[str]:
    path = Path("/proc/cpuinfo")
    return path.read_text().splitlines() if path.is_file() else []
