"""The daemon dies between any two effects: before or after a commit, before or after each request to the cluster."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pointsman.live.backends.shadow import Shadow
from pointsman.live.records.store import Store
from pointsman.types import NEVER_MS

from .stepped import Stepped
from .test_equality import CLUSTERS, workload
from .test_loop import check_all_is_well, simulated
from .toy import Case

PARTS = 4
"""In which the moments of a run are tried: each takes a quarter of an hour or less."""


class Killed(BaseException):
    """As by SIGKILL: nothing in the daemon may catch it."""


class Death:
    """Kills at the given moments, counted over all lives; each comes once."""

    def __init__(self, at: set[int]) -> None:
        self.at, self.moments = at, 0

    def moment(self) -> None:
        self.moments += 1
        if self.moments in self.at:
            raise Killed


class MortalShadow:
    """The cluster outlives whoever asks it."""

    def __init__(self, shadow: Shadow, death: Death) -> None:
        self._shadow, self._death = shadow, death

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._shadow, name)
        return self._mortal(value) if name in ("observe", "launch", "stop") else value

    def _mortal(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def called(*args: Any) -> Any:
            self._death.moment()
            answer = call(*args)
            self._death.moment()
            return answer

        return called


class MortalStepped(Stepped):
    """Its daemon dies at the moments of `death`, and another comes up at once."""

    def __init__(self, case: Case, path: Path, death: Death) -> None:
        self.death, self.lives = death, 0
        super().__init__(case, path)

    def begin(self) -> Any:
        while True:
            self.lives += 1
            try:
                loop = super().begin()
                break
            except Killed:  # while it recovered
                self.store.connection.rollback()
                self.store.close()
        loop.backend = MortalShadow(self.shadow, self.death)
        return loop

    def turn(self) -> bool:
        now = self.next_ms()
        if now >= NEVER_MS:
            return False
        self.shadow.step(now)
        while True:
            due = [row for row, at in enumerate(self.submits) if at <= now and row >= self.accepted()]
            try:
                self.loop.turn(now, [self.jobs[row] for row in due])
                break
            except Killed:
                self.loop.store.connection.rollback()
                self.die()
        self.submitted = self.accepted()
        return True

    def accepted(self) -> int:
        """Users submit again what was not acknowledged."""
        return int(self.loop.world.simulation.handle.world.clock[0]["jobs"])


@pytest.fixture
def mortal_commits(monkeypatch: pytest.MonkeyPatch) -> Callable[[Death], None]:
    """Makes the moments before and after each commit deadly."""
    commit = Store.commit

    def install(death: Death) -> None:
        def dying(store: Store) -> None:
            death.moment()
            commit(store)
            death.moment()

        monkeypatch.setattr(Store, "commit", dying)

    return install


def case_of(policy: str, jobs: int) -> Case:
    return Case(workload("philly", jobs), CLUSTERS["philly"], policy, oversized="drop")


def moments_of(case: Case, tmp_path: Path, install: Callable[[Death], None]) -> int:
    death = Death(set())
    install(death)
    MortalStepped(case, tmp_path / "alive", death).run()
    return death.moments


def check_death_at(case: Case, at: set[int], store: Path, install: Callable[[Death], None]) -> None:
    death = Death(at)
    install(death)
    stepped = MortalStepped(case, store, death)
    stepped.run()
    check_all_is_well(stepped)
    assert stepped.lives == 1 + len(at)
    assert stepped.decisions() == simulated(case)
    stepped.loop.store.close()


@pytest.mark.parametrize("policy", ["tiresias", "gittins"])
def test_a_daemon_that_dies_between_two_effects_decides_as_one_that_does_not(
    policy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mortal_commits: Callable[[Death], None]
) -> None:
    monkeypatch.setattr("pointsman.live.control.loop.TURNS", 7)
    case = case_of(policy, 16)
    moments = moments_of(case, tmp_path, mortal_commits)
    for k in range(1, moments, moments // 12):
        check_death_at(case, {k}, tmp_path / f"store{k}", mortal_commits)


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["tiresias", "gittins", "fifo-backfill"])
@pytest.mark.parametrize("part", range(PARTS))
def test_a_daemon_that_dies_once_at_each_moment_of_a_run(
    part: int, policy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mortal_commits: Callable[[Death], None]
) -> None:
    monkeypatch.setattr("pointsman.live.control.loop.TURNS", 7)
    case = case_of(policy, 60)
    for k in range(1 + part, moments_of(case, tmp_path, mortal_commits), PARTS):
        check_death_at(case, {k}, tmp_path / f"store{k}", mortal_commits)
        (tmp_path / f"store{k}").unlink()
