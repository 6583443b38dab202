"""The levels at which network-sensitive policies place jobs: a node, a rack, or anywhere (`NETWORK`)."""

from pointsman.policies.sdk import Int, Locality, State, core

NODE, RACK, POD, NETWORK = int(Locality.NODE), int(Locality.RACK), int(Locality.POD), int(Locality.CLUSTER)


@core
def looser(level: Int) -> Int:
    """The level after `level`."""
    return RACK if level == NODE else NETWORK


@core
def best_level(S: State, j: Int) -> Int:
    """The tightest level that could ever hold job `j`."""
    return S.classes[S.jobs[j].cls].level


@core
def rate_at(S: State, j: Int, level: Int) -> float:
    """Nominal ms that job `j` is said to do in a ms at `level`, on the type of GPU it asks for first."""
    kind = S.alts[S.classes[S.jobs[j].cls].alt].gpu_type
    row = S.jobs[j].speed + (kind if kind > 0 else 0)
    if level == NETWORK and S.pods.shape[0] == 1:
        return S.told_rates[row, POD]
    return S.told_rates[row, level]


@core
def is_slower_beyond(S: State, j: Int, level: Int, share: float) -> bool:
    """Whether job `j` runs slower by more than `share` at the level after `level`."""
    return bool(rate_at(S, j, level) > (1.0 + share) * rate_at(S, j, looser(level)))
