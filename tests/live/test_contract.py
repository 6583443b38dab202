"""What every backend promises, whatever runs its jobs."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pointsman.live.backends.facts import AttemptId, Exit, Phase

from .clusters import FAILS, LONG, MISSING, SHORT, SOON, LocalCluster, ShadowCluster, UnderTest, fact, wait

ID = AttemptId(3, 1)
BACKENDS = {"shadow": ShadowCluster, "local": LocalCluster}


@pytest.fixture(params=BACKENDS)
def cluster(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[UnderTest]:
    made = BACKENDS[request.param](tmp_path)
    yield made
    for one in made.backend.observe().attempts:
        if one.phase != Phase.ENDED:
            made.backend.stop(one.id, SOON)
            wait(made, one.id, Phase.ENDED)


def test_it_describes_itself_always_alike(cluster: UnderTest) -> None:
    first = cluster.backend.describe()
    assert first.to_yaml() == cluster.backend.describe().to_yaml()
    assert [node.name for node in cluster.backend.observe().nodes] == [*first.layout().node_names] == ["n0000", "n0001"]


def test_every_gpu_can_be_given_to_a_job(cluster: UnderTest) -> None:
    ids = [AttemptId(4 * node + gpu, 1) for node in range(2) for gpu in range(4)]
    for id_ in ids:
        cluster.launch(id_, parts=((f"n000{id_.job // 4}", 1 << id_.job % 4),))
    assert [wait(cluster, id_, Phase.ENDED).exit for id_ in ids] == [Exit(0)] * 8
    assert [cluster.done(id_) for id_ in ids] == [1] * 8


@pytest.mark.parametrize(("does", "code"), [(SHORT, 0), (FAILS, 7), (MISSING, 127)])
def test_how_a_job_ends_is_known(does: str, code: int, cluster: UnderTest) -> None:
    cluster.launch(ID, does)
    end = wait(cluster, ID, Phase.ENDED).exit
    assert end is not None
    assert (end.code, end.signal, end.ran, end.asked) == (code, None, True, False)


def test_its_phases_come_in_order(cluster: UnderTest) -> None:
    cluster.launch(ID, LONG)
    first = wait(cluster, ID, Phase.ACCEPTED, Phase.RUNNING)
    assert first.parts == (("n0000", 1),)
    wait(cluster, ID, Phase.RUNNING)
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
    assert wait(cluster, ID, Phase.ENDED).exit == Exit(0)
    assert cluster.done(ID) == 1


@pytest.mark.parametrize("when", [(), (Phase.RUNNING,)])
def test_it_can_be_stopped_at_any_time_and_twice(when: tuple[Phase, ...], cluster: UnderTest) -> None:
    cluster.launch(ID, LONG)
    if when:
        wait(cluster, ID, *when)
    cluster.backend.stop(ID, SOON)
    cluster.backend.stop(ID, SOON)
    end = wait(cluster, ID, Phase.ENDED).exit
    assert end is not None
    assert (end.code, end.signal, end.asked) == (None, 15, True)
    assert end.ran or not when
    cluster.backend.stop(ID, SOON)
    assert wait(cluster, ID, Phase.ENDED).exit == end


def test_stopping_what_never_was_does_nothing(cluster: UnderTest) -> None:
    cluster.backend.stop(ID, SOON)
    assert cluster.backend.observe().attempts == ()


def test_when_it_has_ended_its_gpus_can_be_given_at_once(cluster: UnderTest) -> None:
    for attempt in range(1, 6):
        id_ = AttemptId(3, attempt)
        cluster.launch(id_, LONG, (("n0000", 15), ("n0001", 15)))
        wait(cluster, id_, Phase.RUNNING)
        cluster.backend.stop(id_, SOON)
        wait(cluster, id_, Phase.ENDED)


@pytest.mark.parametrize("jobs", [48, pytest.param(200, marks=pytest.mark.slow)])
def test_many_at_once_each_do_their_work_once(cluster: UnderTest, jobs: int) -> None:
    """Eight at a time, each on the GPU of the one before."""
    for first in range(0, jobs, 8):
        ids = [AttemptId(first + k, 1) for k in range(8)]
        for k, id_ in enumerate(ids):
            cluster.launch(id_, parts=((f"n000{k // 4}", 1 << k % 4),))
        for id_ in ids:
            assert wait(cluster, id_, Phase.ENDED).exit == Exit(0)
        cluster.backend.forget(ids, [id_.job for id_ in ids])
        assert cluster.backend.observe().attempts == ()
    assert [cluster.done(AttemptId(job, 1)) for job in range(jobs)] == [1] * jobs


def test_another_process_finds_everything(cluster: UnderTest) -> None:
    runs, ended = AttemptId(1, 1), AttemptId(2, 1)
    cluster.launch(runs, LONG)
    cluster.launch(ended, FAILS, (("n0001", 1),))
    wait(cluster, runs, Phase.RUNNING)
    wait(cluster, ended, Phase.ENDED)
    cluster.reopened()
    found = {one.id: (one.phase, one.parts) for one in cluster.backend.observe().attempts}
    assert found == {runs: (Phase.RUNNING, (("n0000", 1),)), ended: (Phase.ENDED, (("n0001", 1),))}
    cluster.backend.stop(runs, SOON)
    assert wait(cluster, runs, Phase.ENDED).exit is not None
    assert fact(cluster, AttemptId(9, 9)) is None
