"""Libraries that nobody here wrote learn on our environments: the scripts of the guide, with fewer decisions."""

import re

import pytest

from .test_environment_examples import printed

DECISIONS = "120000"
LIBRARIES = {
    "with_sb3.py": ("torch", "stable_baselines3", "sb3_contrib"),
    "with_cleanrl.py": ("torch",),
    "with_rllib.py": ("torch", "ray.rllib.algorithms.ppo"),
}


def relative(said: str, other: str) -> int:
    """Percent by which the mean completion time differs from that of `other`."""
    return int(re.search(rf"([+-]\d+)% against {other}", said)[1])


@pytest.mark.slow
def test_what_agents_are_measured_against() -> None:
    said = printed("training/scheduling.py")
    assert relative(said, "random") == 0
    assert relative(said, "FIFO") < relative(said, "first that fits") < 0 < 20 < relative(said, "SJF")


@pytest.mark.slow
@pytest.mark.parametrize("script", LIBRARIES)
def test_they_learn_to_schedule_jobs_that_they_have_not_seen(script: str) -> None:
    """Half of the way from random choice to SJF, and more: in a minute or two."""
    for module in LIBRARIES[script]:
        why = f"{module} is not installed (docs/guides/other-libraries.md)"
        pytest.importorskip(module, reason=why, exc_type=ImportError)
    said = printed(f"training/{script}", DECISIONS, "0", warnings="error" if "rllib" not in script else "default")
    assert relative(said, "random") <= -12 and relative(said, "FIFO") <= -45, said
