"""The images of the cluster, the queue and the topology, the jobs of the window and a few numbers about the cluster:
what the branches of TopDRL look at. The same shapes whatever the cluster.
"""

import numpy as np

from pointsman.engine.sdk.environments import State, core
from pointsman.learn.environments.compiled.features.images import (
    BLOCK,
    CELLS,
    COLUMNS,
    HEIGHT,
    WIDTH,
    write_cluster,
    write_queue,
    write_topology,
)
from pointsman.learn.environments.compiled.features.jobs import (
    GLOBALS,
    JOB_FEATURES,
    PLACE_FEATURES,
    write_globals,
    write_jobs,
    write_places,
)
from pointsman.learn.environments.compiled.features.scale import ROWS

WIDTH_OF_JOB = JOB_FEATURES + PLACE_FEATURES


def shapes(slots: int) -> dict[str, tuple[int, ...]]:
    """`cluster`, `queue` and `topology`: see `images`; `jobs` and `globals`: see `features`."""
    return {
        "cluster": (ROWS, COLUMNS),
        "queue": (ROWS, slots * BLOCK),
        "topology": (HEIGHT, WIDTH),
        "jobs": (slots, WIDTH_OF_JOB),
        "globals": (GLOBALS,),
    }


@core
def observe(S: State, window: np.ndarray, out: np.ndarray) -> None:
    """Write the parts one behind the other."""
    at = np.int64(0)
    write_cluster(S, out, at)
    at += ROWS * COLUMNS
    write_queue(S, window, out, at)
    at += ROWS * BLOCK * window.shape[0]
    write_topology(S, out, at)
    at += CELLS
    write_jobs(S, window, out, at, np.int64(WIDTH_OF_JOB))
    write_places(S, window, out, at + JOB_FEATURES, np.int64(WIDTH_OF_JOB))
    at += window.shape[0] * WIDTH_OF_JOB
    write_globals(S, window, out, at)
