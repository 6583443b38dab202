"""From observations to the figures of a file: what was measured, predictions for the rest, and a law beyond these."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from pointsman.speed.interference.learned.additive import AdditiveLaw, fit_additive
from pointsman.speed.interference.learned.combinations import Combination, Server, most_others, tabulated
from pointsman.speed.interference.learned.file import MOST, Beside, ModelFigures, Otherwise, ServerFigures
from pointsman.speed.interference.learned.held_out import HeldOut, Sample, held_out
from pointsman.speed.interference.learned.networks import fit_ensemble
from pointsman.speed.interference.learned.observations import Observations, Seen

Tell = Callable[[float], None]
MOST_ROWS: Final = 8000
"""Combinations of a kind of server that are tabulated: more would take seconds to read at the start of each run."""


@dataclass(frozen=True)
class Learned:
    """What was learnt of one kind of server."""

    server: Server
    sample: Sample
    seen: Sequence[Seen]
    """What was seen of each combination of the sample."""
    errors: HeldOut | None
    best: str
    """``networks`` or ``additive``: what predicts better, by which the rest is tabulated."""
    figures: ServerFigures


def learn(observations: Observations, seed: int, tell: Tell = lambda share: None) -> list[Learned]:
    """Learns the interference on each kind of server, in order of its name; `tell` hears what share of one is done."""
    return [
        _of_server(
            server, {c: seen for (there, c), seen in sorted(observations.items()) if there == server}, seed, tell
        )
        for server in sorted({server for server, _ in observations})
    ]


def _of_server(server: Server, seen: dict[Combination, Seen], seed: int, tell: Tell) -> Learned:
    models = sorted({name for c in seen for name, _ in c.on_server()})
    logs = np.log([one.slow_down for one in seen.values()])
    sample = Sample(list(seen), models, logs)
    errors = held_out(sample, seed, tell)
    networks = errors is not None and errors.mean_error("networks") <= errors.mean_error("additive")
    ensemble = fit_ensemble(sample.counts, logs, sample.groups, seed)
    law = fit_additive(sample.counts, logs, np.ones(len(logs)))
    rest = [c for c in tabulated(models, server.gpus, MOST_ROWS) if c not in seen]
    predicted: dict[Combination, tuple[float, float]] = {}
    if rest:
        counts = Sample(rest, models, np.zeros(len(rest))).counts
        members = ensemble.predict(counts)
        mean = members.mean(axis=0) if networks else law.predict(counts)
        times = np.clip(np.exp(mean), 1.0, MOST).tolist()
        predicted = dict(zip(rest, zip(times, members.std(axis=0, ddof=1).tolist(), strict=True), strict=True))
    short = {c: one for c, one in seen.items() if c.gpus_of_others <= most_others(len(models))}
    figures = ServerFigures(
        gpu_type=server.gpu_type,
        gpus=server.gpus,
        models={
            name: ModelFigures(
                measured={c.text: min(MOST, one.slow_down) for c, one in short.items() if c.model == name},
                predicted={c.text: pair for c, pair in predicted.items() if c.model == name},
                otherwise=_otherwise(law, models, i),
            )
            for i, name in enumerate(models)
        },
    )
    return Learned(server, sample, list(seen.values()), errors, "networks" if networks else "additive", figures)


def _otherwise(law: AdditiveLaw, models: Sequence[str], i: int) -> Otherwise:
    limits = (1 / MOST, MOST)
    beside = {
        name: Beside(met=float(np.clip(np.exp(met), *limits)), per_gpu=float(np.clip(np.exp(gpu), *limits)))
        for name, met, gpu in zip(models, law.met[i], law.gpu[i], strict=True)
    }
    alone, own = (float(np.clip(np.exp(x), *limits)) for x in (law.alone[i], law.own[i]))
    return Otherwise(alone=alone, per_own_gpu=own, beside=beside)
