"""A policy that was trained several times: a contestant for each training."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.results.contestant import Contestant

TRAINING: Final = r", training \d+$"
"""What follows the label of a policy that was trained several times."""
MARL, METARL = Path("benchmarks/marl/trained"), Path("benchmarks/metarl/trained")
FIVE, TWO = (1, 2, 3, 4, 5), (1, 2)


def trained(label: str, policy: str, places: Sequence[Path], params: Mapping[str, Any]) -> tuple[Contestant, ...]:
    """A contestant for each checkpoint."""
    return tuple(Contestant(f"{label}, training {k}", f"{policy}:{place}", params) for k, place in enumerate(places, 1))


def given(who: Contestant) -> dict[str, Any]:
    """The parameters of a contestant that has a checkpoint, for the class of its policy."""
    return {"checkpoint": who.policy.partition(":")[2], **who.params}
