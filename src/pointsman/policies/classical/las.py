"""Least attained service: Tiresias with two queues and one threshold, or with many fine ones."""

from typing import ClassVar

from pydantic import PositiveFloat

from pointsman.policies.classical.tiresias import MOST_THRESHOLDS, Tiresias
from pointsman.policies.sdk import parameter


class Las(Tiresias):
    """Jobs below one threshold of attained service go before and evict those above it."""

    name: ClassVar[str] = "las"

    thresholds_gpu_s: tuple[PositiveFloat, ...] = parameter(
        (28_800.0,),
        "attained service at which a job sinks a level",
        unit="GPU-s",
        min_length=1,
        max_length=MOST_THRESHOLDS,
    )
