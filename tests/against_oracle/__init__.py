"""The engine against the oracle on random instances: ``POINTSMAN_ORACLE_INSTANCES=10000`` draws so many a policy."""

import os

INSTANCES = int(os.environ.get("POINTSMAN_ORACLE_INSTANCES", "20"))


def one_in(n: int) -> int:
    """How many instances to draw where one takes as long as `n` others: never none."""
    return max(1, INSTANCES // n)
