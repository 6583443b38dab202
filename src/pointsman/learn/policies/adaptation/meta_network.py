"""The network of `metarl`: where its meta-learnt weights are, or one that was taught nothing."""

from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pointsman.errors import InputError, UsageError
from pointsman.learn.checkpoint import CARD, WEIGHTS, read_card

if TYPE_CHECKING:
    from pointsman.learn.checkpoint import Card, Checkpoint, ObservationSpec
    from pointsman.learn.networks.choices import ChoicesNetwork

AGENT: Final = "metarl"
NETWORK: Final = "choices"


def network_in(place: Path | None) -> "Checkpoint":
    """The network in a directory, if there is one; else one that was taught nothing, and so decides as `scorer`.

    Raises:
        UsageError: PyTorch is not installed. InputError: the network is broken, or another agent's.
    """
    missing = [name for name in ("torch", "safetensors", "gymnasium") if find_spec(name) is None]
    if missing:
        raise UsageError(
            f"the network of metarl needs {', '.join(missing)}: pip install 'pointsman[learn]', or use metarl:none "
            "with metarl.steps=0"
        )
    if place is None or not has_network(place):
        return _untaught()
    changed_ns = tuple((place / name).stat().st_mtime_ns for name in (WEIGHTS, CARD) if (place / name).is_file())
    return _taught(place.absolute(), changed_ns)


def has_network(place: Path) -> bool:
    """Whether a directory has one.

    Raises:
        InputError: its card says so, and the weights are missing.
    """
    if (place / WEIGHTS).is_file():
        return True
    if (place / CARD).is_file() and read_card(place).network.name != "none":
        fix = "copy it again, or remove policy.yaml if the network is not wanted"
        raise InputError("the network is missing", path=place / WEIGHTS, fix=fix)
    return False


def observation() -> "ObservationSpec":
    """What it is shown."""
    from pointsman.learn.checkpoint import ObservationSpec
    from pointsman.learn.environments.compiled.gangs import ACTIONS
    from pointsman.learn.environments.loading import shapes_of, version_of

    shapes, version = shapes_of("gangs", ACTIONS - 1), version_of("gangs")
    return ObservationSpec(name="gangs", version=version, shapes=shapes, actions=ACTIONS)


def begun(seed: int) -> "ChoicesNetwork":
    """With first weights by `seed`, by which it decides as `scorer`."""
    from pointsman.learn.networks import make_network
    from pointsman.learn.networks.choices import ChoicesConfig

    seen = observation()
    network: ChoicesNetwork = make_network(NETWORK, ChoicesConfig(), seen.shapes, seen.actions, seed)  # ty: ignore
    return network.eval()


def card_of(network: "ChoicesNetwork | None") -> "Card":
    """What is said of it, or of a performance model without a network."""
    from pointsman.learn.checkpoint import Card, Named
    from pointsman.version import __version__

    seen = observation()
    config = {} if network is None else network.config.model_dump(mode="json")
    return Card(
        agent=AGENT,
        network=Named(name="none" if network is None else NETWORK, config=config),
        observation=seen,
        observation_sha256=seen.digest,
        algorithm=Named(name="meta"),
        seed=0,
        steps=0,
        pointsman=__version__,
    )


@lru_cache(maxsize=1)
def _untaught() -> "Checkpoint":
    from pointsman.learn.checkpoint import Checkpoint

    network = begun(seed=0)
    return Checkpoint(card_of(network), network)


@lru_cache(maxsize=8)
def _taught(place: Path, changed_ns: tuple[int, ...]) -> "Checkpoint":
    from pointsman.learn.checkpoint import load_policy

    card = read_card(place)
    if (card.agent, card.network.name) != (AGENT, NETWORK):
        raise InputError(f"a checkpoint of {card.agent!r:.60} with the network {card.network.name!r:.60}", path=place)
    return load_policy(place, observation())
