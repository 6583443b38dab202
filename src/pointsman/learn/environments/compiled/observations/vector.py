"""The jobs of the window and a few numbers about the cluster: cheap."""

import numpy as np

from pointsman.engine.sdk.environments import State, core
from pointsman.learn.environments.compiled.features.jobs import GLOBALS, JOB_FEATURES, write_globals, write_jobs


def shapes(slots: int) -> dict[str, tuple[int, ...]]:
    """`jobs` and `globals`: see `features`."""
    return {"jobs": (slots, JOB_FEATURES), "globals": (GLOBALS,)}


@core
def observe(S: State, window: np.ndarray, out: np.ndarray) -> None:
    """Write the parts one behind the other."""
    write_jobs(S, window, out, np.int64(0), np.int64(JOB_FEATURES))
    write_globals(S, window, out, np.int64(window.shape[0] * JOB_FEATURES))
