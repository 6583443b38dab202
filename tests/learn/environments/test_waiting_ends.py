"""A job that can be placed waits only while it is patient: what a network says cannot starve it."""

import numpy as np
import pytest

from pointsman.learn.environments import PlaceGangEnv
from pointsman.policies.placers.declared import MOST_CANDIDATES
from pointsman.workload import generate

WAIT = MOST_CANDIDATES + 1


def masks(patience: float) -> list[np.ndarray]:
    """Of an episode in which every job waits as long as it may, and is then placed by the first candidate."""
    jobs = generate("dl2-1-8", jobs=40, cluster_gpus=32, load=1.2, seed=3)
    environment = PlaceGangEnv(
        cluster="8x4/rack=2,nic=10Gbps,gpu=gtx1080ti", workload=lambda k, gpus: jobs, horizon_s=None, episodes=1,
        patience=patience, rate_model="rates",
    )  # fmt: skip
    seen, _ = environment.reset(seed=0)
    found, over = [], False
    while not over:
        mask = seen["action_mask"] != 0
        found.append(mask)
        seen, _, over, _, _ = environment.step(WAIT if mask[WAIT] else int(mask.argmax()))
    return found


@pytest.mark.parametrize("patience", [0.0, 0.5, 3.0])
def test_every_job_is_placed_in_the_end(patience: float) -> None:
    """The more patient jobs are, the longer they may wait, and all are placed."""
    found = masks(patience)
    placed = [mask for mask in found if not mask[WAIT]]
    assert len(placed) == 40
    assert all(mask[:MOST_CANDIDATES].any() for mask in placed)
    assert (len(found) > 40) == (patience > 0)
