"""The engine and the oracle, two programs written from one page, agree job by job and action by action.

``-m slow`` runs 10,000 instances more of each policy.
"""

import os
import random
import subprocess
import sys
from dataclasses import asdict, replace
from itertools import islice

import pytest

from pointsman.errors import RunError
from tests.oracle.instances import PLAIN, Instance, Kind, random_instance
from tests.oracle.model import Job
from tests.oracle.simulator import BY_NETWORK, POLICIES

from . import INSTANCES, one_in
from .replay import log_until, run_engine

CHUNKS = 3
SLOW_INSTANCES, SLOW_CHUNKS = 10_000, 10
LARGER = Kind(most_nodes=12, most_jobs=80)
WIDE = Kind(most_nodes=90, most_jobs=25, mixed_sizes=False, types=False, partitions=False)
"""Often more than 64 nodes of a kind, so that bitmaps of nodes take several words."""

per_policy = pytest.mark.parametrize("policy", list(POLICIES))


def drawn(seed: int, policy: str) -> Instance:
    """Mostly every feature by chance; now and then nothing but gangs and times, or a larger instance."""
    kind = PLAIN if seed % 10 == 0 else LARGER if seed % 50 == 1 else Kind()
    return random_instance(seed, replace(kind, policies=(policy,)))


def check_log(instance: Instance) -> None:
    """Up to a time at which nearly all are over, even if the jobs only preempt each other."""
    until_ms = 20 * sum(job.work_ms for job in instance.jobs)
    log = log_until(instance, until_ms)
    assert log == instance.run_oracle(until_ms, log).log, instance


def check_agreement(instance: Instance) -> None:
    try:
        engine = asdict(run_engine(instance))
    except RunError as error:
        assert "only preempt each other" in str(error)
        assert instance.policy not in ("gandiva", "gittins")  # which protect jobs for long enough
        check_log(instance)
        return
    oracle = asdict(instance.run_oracle(told=engine["log"]))
    for field, wanted in oracle.items():
        if engine[field] != wanted:
            pairs = zip(engine[field], wanted, strict=False)
            first = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(engine[field]), len(wanted)))
            pytest.fail(
                f"{instance.policy}, seed {instance.seed}: {field}[{first}]: "
                f"engine {engine[field][first : first + 3]}, oracle {wanted[first : first + 3]}\n{instance}"
            )


@pytest.mark.parametrize("chunk", range(CHUNKS))
@per_policy
def test_small_random_instances(policy: str, chunk: int) -> None:
    count = one_in(2) if policy.startswith("pick-place") else INSTANCES  # whose oracle takes longer
    for seed in range(chunk * count // CHUNKS, (chunk + 1) * count // CHUNKS):
        check_agreement(drawn(seed, policy))


@pytest.mark.slow
def test_without_the_jit() -> None:
    """In one process, which takes longer to start than most policies take."""
    policies = ("conservative", "gandiva", "gittins", "kueue", "multifactor", "tiresias-skew")
    each = "for policy in sys.argv[1:]:\n for seed in range(2): check_log(drawn(seed, policy))"
    done = subprocess.run(
        [sys.executable, "-c", f"from tests.against_oracle.test_policies import *\n{each}", *policies],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=540,
    )
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(SLOW_CHUNKS))
@per_policy
def test_ten_thousand_small_random_instances(policy: str, chunk: int) -> None:
    size = SLOW_INSTANCES // SLOW_CHUNKS
    for seed in range(1_000_000 + chunk * size, 1_000_000 + (chunk + 1) * size):
        check_agreement(drawn(seed, policy))


@per_policy
def test_bitmaps_of_several_words(policy: str) -> None:
    """Few, for the oracle is slow on many nodes."""
    drawn = (random_instance(seed, replace(WIDE, policies=(policy,))) for seed in range(100))
    for instance in islice((i for i in drawn if len(i.nodes) > 64), one_in(75)):
        check_agreement(instance)


def widened(job: Job, draw: random.Random) -> Job:
    """Eight times as wide, less a few GPUs; of a shape, of each node."""
    less = draw.randrange(8)
    if job.per_node:
        per_node = 8 * job.per_node - less
        return replace(job, gpus=job.gpus // job.per_node * per_node, per_node=per_node)
    return replace(job, gpus=8 * job.gpus - less)


def on_nodes_of_many_gpus(instance: Instance) -> Instance:
    """Eight times the GPUs everywhere, so up to 64 on a node, and gangs a little narrower than eight times theirs."""
    draw = random.Random(instance.seed)
    quotas = {name: instance.params[name] for name in ("nominal_quota", "borrowing_limit") if name in instance.params}
    return replace(
        instance,
        params=instance.params | {name: {q: 8 * n for q, n in of.items()} for name, of in quotas.items()},
        nodes=tuple(replace(node, gpus=8 * node.gpus) for node in instance.nodes),
        jobs=tuple(widened(job, draw) for job in instance.jobs),
        queue_limits={queue: 8 * limit for queue, limit in instance.queue_limits.items()},
    )


@per_policy
def test_nodes_of_up_to_64_gpus(policy: str) -> None:
    for seed in range(one_in(10)):
        check_agreement(on_nodes_of_many_gpus(random_instance(seed, Kind(policies=(policy,)))))


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["lb", "packed-patience"])
def test_schedulers_forward_jobs_in_the_instances(policy: str) -> None:
    instances = [drawn(seed, policy) for seed in range(100)]
    several = [i for i in instances if i.params["schedulers"] > 1]
    assert {i.params["schedulers"] for i in several} == {2, 3}
    forwarding = [i for i in several if i.params["forward"]]
    assert len(several) - len(forwarding) > 10
    without = [replace(i, params=i.params | {"forward": False}) for i in forwarding]
    differ = sum(a.run_oracle().log != b.run_oracle().log for a, b in zip(forwarding, without, strict=True))
    assert differ > 15


@pytest.mark.slow
def test_the_instances_have_what_they_are_to_test() -> None:
    """Mixed node sizes, gangs with a remainder, rounds, limits, node events, odd rates, promotions, wide gangs."""
    instances = [drawn(seed, policy) for policy in POLICIES for seed in range(100)]
    mixed = [i for i in instances if len({node.gpus for node in i.nodes}) > 1]
    assert len(mixed) > 200
    assert sum(any(job.gpus > max(n.gpus for n in i.nodes) for job in i.jobs) for i in mixed) > 100
    for share in ("round_ms", "queue_limits", "script", "overheads"):
        assert sum(bool(getattr(i, share)) for i in instances) > 50, share
    assert sum(i.rate_by_locality != (1.0,) * 5 for i in instances) > 50
    assert sum("promote_knob" in i.params for i in instances) > 20
    assert sum(len({n.gpu_type for n in i.nodes}) > 1 for i in instances) > 50
    shaped = [job for i in instances for job in i.jobs if job.per_node]
    assert sum(job.gpus > job.per_node > 1 for job in shaped) > 200
    assert sum(job.gpus == job.per_node for job in shaped) > 200
    by_network = [i for i in instances if i.policy in BY_NETWORK]
    assert sum(len({job.model for job in i.jobs}) > 1 for i in by_network) > 100
