"""What every backend promises, whatever runs its jobs."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pointsman.live.backends.facts import AttemptFact, AttemptId, Phase

from .clusters import (
    FAILS,
    GPUS,
    LONG,
    MISSING,
    SHORT,
    SOON,
    LocalCluster,
    ShadowCluster,
    UnderTest,
    fact,
    has,
    wait,
    wait_for_end,
)
from .slurm_cluster import SlurmCluster, slurm_cluster
from .slurm_under_test import SlurmUnderTest

ID = AttemptId(3, 1)


@pytest.fixture(scope="module")
def four() -> Iterator[SlurmCluster]:
    with slurm_cluster(4, GPUS) as slurm:
        yield slurm


@pytest.fixture(scope="module")
def sixty_four() -> Iterator[SlurmCluster]:
    with slurm_cluster(64, GPUS) as slurm:
        yield slurm


BACKENDS = {
    "shadow": lambda folder, get: ShadowCluster(folder),
    "local": lambda folder, get: LocalCluster(folder),
    "slurm": lambda folder, get: SlurmUnderTest(folder, get("four")),
    "slurm-64": lambda folder, get: SlurmUnderTest(folder, get("sixty_four")),
}


@pytest.fixture(params=["shadow", "local", "slurm", pytest.param("slurm-64", marks=pytest.mark.slow)])
def cluster(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[UnderTest]:
    made = BACKENDS[request.param](tmp_path, request.getfixturevalue)
    yield made
    for one in made.backend.observe().attempts:
        if one.phase != Phase.ENDED:
            made.backend.stop(one.id, SOON)
            wait_for_end(made, one.id)
    made.end()


def ended(one: AttemptFact | None) -> tuple[int | None, int | None, bool, bool]:
    """(code, signal, ran, asked)."""
    assert one is not None and one.exit is not None
    return one.exit.code, one.exit.signal, one.exit.ran, one.exit.asked


DONE, STOPPED = (0, None, True, False), (None, 15, True, True)


def test_it_describes_itself_always_alike(cluster: UnderTest) -> None:
    first = cluster.backend.describe()
    assert first.to_yaml() == cluster.backend.describe().to_yaml()
    seen = [node.name for node in cluster.backend.observe().nodes]
    assert seen == [*first.layout().node_names] == [*cluster.nodes]
    assert {*first.layout().node_gpus.tolist()} == {GPUS}


def test_every_gpu_can_be_given_to_a_job(cluster: UnderTest) -> None:
    ids = [AttemptId(job, 1) for job in range(GPUS * len(cluster.nodes))]
    for id_ in ids:
        cluster.launch(id_, masks=one_gpu(id_.job))
    assert [ended(wait(cluster, id_, Phase.ENDED)) for id_ in ids] == [DONE] * len(ids)
    assert [cluster.done(id_) for id_ in ids] == [1] * len(ids)


def one_gpu(number: int) -> tuple[int, ...]:
    """Of those of all nodes, one after another."""
    node, gpu = divmod(number, GPUS)
    return (*(0,) * node, 1 << gpu)


@pytest.mark.parametrize(("does", "code"), [(SHORT, 0), (FAILS, 7), (MISSING, 127)])
def test_how_a_job_ends_is_known(does: str, code: int, cluster: UnderTest) -> None:
    cluster.launch(ID, does)
    assert ended(wait(cluster, ID, Phase.ENDED)) == (code, None, True, False)


def test_its_phases_come_in_order(cluster: UnderTest) -> None:
    cluster.launch(ID, LONG)
    first = wait(cluster, ID, Phase.ACCEPTED, Phase.RUNNING)
    assert has(cluster, first.parts, (1,))
    assert has(cluster, wait(cluster, ID, Phase.RUNNING).parts, (1,))
    cluster.backend.stop(ID, SOON)
    wait(cluster, ID, Phase.ENDED)
    for _ in range(3):
        cluster.passes()
        assert wait(cluster, ID, Phase.ENDED).phase == Phase.ENDED


def test_launched_again_it_runs_once(cluster: UnderTest) -> None:
    cluster.launch(ID)
    cluster.launch(ID)
    wait(cluster, ID, Phase.ENDED)
    cluster.launch(ID)
    for _ in range(20):
        cluster.passes()
    assert ended(wait(cluster, ID, Phase.ENDED)) == DONE
    assert cluster.done(ID) == 1


@pytest.mark.parametrize("when", [(), (Phase.RUNNING,)])
def test_it_can_be_stopped_at_any_time_and_twice(when: tuple[Phase, ...], cluster: UnderTest) -> None:
    cluster.launch(ID, LONG)
    if when:
        wait(cluster, ID, *when)
    cluster.backend.stop(ID, SOON)
    cluster.backend.stop(ID, SOON)
    end = wait_for_end(cluster, ID)
    assert end is not None or not when
    if end is not None:
        code, signal, ran, asked = ended(end)
        assert (code, signal, asked) == (None, 15, True)
        assert ran or not when
    cluster.backend.stop(ID, SOON)
    for _ in range(3):
        cluster.passes()
        again = fact(cluster, ID)
        assert (again and again.exit) == (end and end.exit)


def test_what_has_ended_unseen_is_not_run_again_by_a_stop(cluster: UnderTest) -> None:
    cluster.launch(ID)
    while cluster.done(ID) == 0:
        cluster.passes()
    for _ in range(10):
        cluster.passes()
    cluster.backend.stop(ID, SOON)
    for _ in range(20):
        cluster.passes()
    assert ended(wait(cluster, ID, Phase.ENDED)) == DONE
    assert cluster.done(ID) == 1


def test_stopping_what_never_was_does_nothing(cluster: UnderTest) -> None:
    cluster.backend.stop(ID, SOON)
    assert cluster.backend.observe().attempts == ()


def test_when_it_has_ended_its_gpus_can_be_given_at_once(cluster: UnderTest) -> None:
    for attempt in range(1, 6):
        id_ = AttemptId(3, attempt)
        cluster.launch(id_, LONG, (15, 15))
        wait(cluster, id_, Phase.RUNNING)
        cluster.backend.stop(id_, SOON)
        wait(cluster, id_, Phase.ENDED)


@pytest.mark.parametrize("jobs", [48, pytest.param(200, marks=pytest.mark.slow)])
def test_many_at_once_each_do_their_work_once(cluster: UnderTest, jobs: int) -> None:
    """Eight at a time, each on the GPU of the one before."""
    for first in range(0, jobs, 8):
        ids = [AttemptId(first + k, 1) for k in range(8)]
        for k, id_ in enumerate(ids):
            cluster.launch(id_, masks=one_gpu(k))
        for id_ in ids:
            assert ended(wait(cluster, id_, Phase.ENDED)) == DONE
        cluster.backend.forget(ids, [id_.job for id_ in ids])
        left = cluster.backend.observe().attempts
        assert {one.phase for one in left} == ({Phase.ENDED} if cluster.lists_what_ended else set())
    assert [cluster.done(AttemptId(job, 1)) for job in range(jobs)] == [1] * jobs


def test_another_process_finds_everything(cluster: UnderTest) -> None:
    runs, fails = AttemptId(1, 1), AttemptId(2, 1)
    cluster.launch(runs, LONG)
    cluster.launch(fails, FAILS, (0, 1))
    wait(cluster, runs, Phase.RUNNING)
    wait(cluster, fails, Phase.ENDED)
    cluster.reopened()
    found = {one.id: one for one in cluster.backend.observe().attempts}
    assert {id_: one.phase for id_, one in found.items()} == {runs: Phase.RUNNING, fails: Phase.ENDED}
    assert has(cluster, found[runs].parts, (1,)) and has(cluster, found[fails].parts, (0, 1))
    cluster.backend.stop(runs, SOON)
    assert wait(cluster, runs, Phase.ENDED).exit is not None
    assert fact(cluster, AttemptId(9, 9)) is None
