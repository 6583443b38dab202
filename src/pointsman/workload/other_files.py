"""Files people mistake for job logs, told by what they are."""

from pointsman.errors import InputError
from pointsman.workload.source import Source


def refusal(source: Source) -> InputError | None:
    """What `source` is and what to do with it, if it is a known kind of file that holds no jobs."""
    return None
