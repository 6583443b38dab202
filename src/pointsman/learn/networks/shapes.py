"""The shapes of an observation."""

from collections.abc import Mapping

Shapes = Mapping[str, tuple[int, ...]]
"""Shape of each part of an observation, by its name."""
