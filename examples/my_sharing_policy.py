"""A policy whose jobs share GPUs, two each: usable as ``--policy examples/my_sharing_policy.py:Pairs``."""

from typing import Any


class Pairs:
    """In order of submission, on the first GPUs with room; with gradient accumulation if memory is short."""

    name = "pairs"
    needs = "none"
    gpu_sharing = 2

    def decide(self, view: Any) -> None:
        """Start each job for which there is room."""
        for job in view.pending.tolist():
            asked = int(view.jobs["asked"][job])
            for accumulation in (1, 2, 4, 8):
                room = view.with_room(job, accumulation)
                if len(room) >= asked:
                    view.start(job, room[:asked], accumulation)
                    break
