"""``--policy multifactor:slurm.conf``."""

from pathlib import Path

from .conftest import Command

CONF = "ClusterName=north\nPriorityWeightAge=2000\nPriorityWeightFairshare=50000\nSchedulerParameters=bf_interval=60\n"


def test_one_command_uses_the_weights_of_a_site(command: Command, here: Path) -> None:
    """Flags go before the file; the complete experiment has every parameter."""
    (here / "slurm.conf").write_text(CONF)
    (here / "jobs.csv").write_text("submit_s,gpus,duration_s\n0,1,5\n")
    given = ("config", "show", "jobs.csv", "--cluster", "1x2", "--policy", "multifactor:slurm.conf")
    done = command(*given, "--set", "multifactor.weight_age=7")
    assert done.code == 0, done.err
    assert "weight_age: 7" in done.out
    assert "weight_fair_share: 50000" in done.out
    assert "multifactor:slurm.conf: bf_interval=60: here every scheduling cycle backfills" in done.err


def test_what_it_says_is_shown(command: Command, here: Path) -> None:
    (here / "slurm.conf").write_text(CONF)
    done = command("policy", "show", "multifactor:slurm.conf")
    row = next(line for line in done.out.splitlines() if line.startswith("weight_fair_share"))
    assert row.split()[1] == "50000.0" and row.endswith("slurm.conf")
    assert "Fair Tree, Slurm's default, is not simulated" in done.err


def test_a_missing_file_is_one_sentence(command: Command) -> None:
    done = command("simulate", "jobs.csv", "--cluster", "1x2", "--policy", "multifactor:nowhere.conf")
    assert (done.code, done.err.count("\n")) == (3, 1)
    assert "nowhere.conf: cannot be read" in done.err
