"""What a policy in a run calls to start a job as the environment does."""

from pointsman.engine.compile import entry
from pointsman.engine.handle import open_state
from pointsman.engine.records import Int
from pointsman.learn.environments.picking import start_by


@entry("int64(int64, int64, int64)")
def start(address: Int, j: Int, how: Int) -> Int:
    """Start waiting job `j` of a state on GPUs of picker `how`: OK, or why not (-1: too few)."""
    return start_by(open_state(address), j, how)
