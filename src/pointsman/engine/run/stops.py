"""Why the loop returned to Python."""

from pointsman.engine.state.records import State

DONE, LOG_FULL, INBOX_FULL, UNTIL, DECISIONS, AUDIT_FAILED, HOSTED, WRONG_FACTOR = range(8)


def said_by_factor(state: State) -> str:
    """What is wrong where the answer is WRONG_FACTOR."""
    row, now_s = int(state.g[0]["wrong_factor"]), int(state.g[0]["now"]) / 1000
    times = float(state.factors[row - 1]["found"])
    return (
        f"factor {row} of this run says at {now_s:.3f} s that a job takes {times:g} times as long: "
        "it must be a number from 1 to 1e6"
    )
