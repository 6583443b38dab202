"""SJF without head blocking: every job that fits starts, shortest first; the others wait."""

from typing import ClassVar

from pointsman.policies.classical.fifo_backfill import FifoBackfill
from pointsman.policies.sdk import Knowledge


class SjfBackfill(FifoBackfill):
    """Jobs are tried in the order of their durations and start if they fit; none waits for a job ahead of it."""

    name: ClassVar[str] = "sjf-backfill"
    needs: ClassVar[Knowledge] = "oracle"
