"""What runs under different truths have in common: what to expect of interference before anything was measured.

The mean of the coefficients of the laws that were fitted in each run (empirical Bayes; the decision is ours).
"""

from collections.abc import Sequence

import numpy as np

from pointsman.speed.interference.online.file import ServerExperience, experience_of
from pointsman.speed.interference.online.performance_model import Expected


def in_common(runs: Sequence[Sequence[ServerExperience]]) -> list[ServerExperience]:
    """Of each kind of server the mean of the runs that had it, without what was measured.

    A model that a run did not have counts there as what all models of that run have in common.
    """
    servers = sorted({one.server for run in runs for one in run})
    found = []
    for server in servers:
        laws = [one.expected for run in runs for one in run if one.server == server]
        models = tuple(sorted({name for law in laws for name in law.models}))
        mean = np.mean([law.of(models) for law in laws], axis=0)
        found.append(experience_of(server, Expected(models, mean), {}))
    return found
