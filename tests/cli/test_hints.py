"""What is said of results before the table."""

from pathlib import Path

import pytest

from .conftest import Command

HEAD = "submit_s,gpus,duration_s,model\n"


@pytest.fixture
def log(here: Path):
    def write(rows: str) -> str:
        (here / "log.csv").write_text(HEAD + rows)
        return "log.csv"

    return write


def told(command: Command, log: str, *policies: str, cluster: str = "1x4") -> str:
    done = command(
        "compare", log, "--cluster", cluster, *(word for policy in policies for word in ("--policy", policy))
    )
    assert done.code == 0, done.err
    return done.err


def test_no_job_waits(command: Command, log) -> None:
    light, heavy = log("0,1,10,\n5,1,10,\n"), "0,4,10,\n5,4,10,\n"
    assert "no job waits: the cluster is larger than these jobs need; --load 0.9" in told(
        command, light, "fifo", "srtf"
    )
    assert "no job waits" not in told(command, log(heavy), "fifo", "srtf")


def test_the_same_schedule(command: Command, log) -> None:
    """In the second log the second job is shorter, and `sjf` starts the third before it."""
    same, other = "0,4,10,\n1,4,5,\n2,4,7,\n", "0,4,10,\n1,4,9,\n2,4,7,\n"
    assert "fifo and sjf made the same schedule\n" in told(command, log(same), "fifo", "sjf")
    by_models = told(command, log(same), "dally", "dally-nowait")
    assert "dally and dally-nowait made the same schedule; no job names a model" in by_models
    assert "made the same schedule" not in told(command, log(other), "fifo", "sjf")
    named = same.replace(",\n", ",resnet50\n")
    said = told(command, log(named), "fifo", "sjf")
    assert "fifo and sjf made the same schedule\n" in said and "names a model" not in said


def test_queues_without_jobs_are_named_once(command: Command, here: Path) -> None:
    """Of a policy that is not the first, and of a cluster file."""
    (here / "log.csv").write_text("submit_s,gpus,duration_s,queue\n0,4,100,team-a\n5,4,100,team-b\n")
    (here / "cluster.yaml").write_text(
        "apiVersion: pointsman/v1\nkind: Cluster\nmetadata: {name: c}\nspec:\n"
        "  node_types: {node: {gpus: 4, gpu_type: v100}}\n  racks: [{nodes: [{type: node, count: 1}]}]\n"
        "  queues: {research: {gpu_limit: 4}}\n"
    )
    quota = "kueue.nominal_quota={team-a: 2, tema-b: 2}"
    policies = ("--policy", "fifo", "--policy", "kueue", "--set", quota, "--seeds", "0,1")
    done = command("compare", "log.csv", "--cluster", "1x4", *policies)
    assert done.code == 0 and done.err.count("limit or a quota and no jobs: 'tema-b'\n") == 1, done.err
    assert "queues with a limit or a quota and no jobs: 'research'\n" in told(
        command, "log.csv", "fifo", cluster="cluster.yaml"
    )


def test_a_doubtful_unit(command: Command, log) -> None:
    short = told(command, log("0,4,10,\n5,4,10,\n"), "fifo", "srtf")
    assert "its jobs last 10 s on average: are its times in seconds? If not, read it by --columns" in short
    assert "times in seconds?" not in told(command, log("0,4,100,\n5,4,100,\n"), "fifo", "srtf")
    assert "the log spans" in told(command, log("0,4,100,\n500000000,4,100,\n"), "fifo", "srtf")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--cluster", "1x4"], "--cluster: 1x4 is given twice"),
        (["--policy", "fifo"], "--policy: fifo is given twice; list it twice in an experiment file (--config), with"),
        (["--load", "0.5", "--load", "0.50"], "--load: 0.5 is given twice"),
        (["--estimate", "oracle", "--estimate", "oracle"], "--estimate: oracle is given twice"),
        (["--seed", "1", "--seed", "0-2"], "--seeds: 1 is given twice"),
        (["--seeds", "3,3"], "--seeds: 3 is given twice"),
        (["--placement", "spread", "--placement", "spread"], "--placement is given twice; it takes one value"),
    ],
)
def test_nothing_repeated_is_dropped_without_a_word(more: list[str], said: str, command: Command, log) -> None:
    done = command("compare", log("0,4,100,\n"), "--cluster", "1x4", "--policy", "fifo", "--policy", "srtf", *more)
    assert (done.code, said in done.err, done.out) == (2, True, ""), done.err


@pytest.mark.parametrize("verb", ["simulate", "capacity"])
def test_a_command_without_a_grid_takes_one_cluster(verb: str, command: Command, log) -> None:
    done = command(verb, log("0,4,100,\n"), "--cluster", "1x4", "--cluster", "2x4", "--policy", "fifo")
    assert (done.code, "--cluster is given twice; it takes one value" in done.err) == (2, True), done.err


def test_columns_can_be_left_out(command: Command, here: Path) -> None:
    (here / "typed.csv").write_text("submit_s,gpus,duration_s,gpu_type,partition\n0,1,100,a100,gpu\n")
    given = ("compare", "typed.csv", "--cluster", "1x4/gpu=v100", "--policy", "fifo", "--policy", "srtf")
    assert command(*given).code == 3
    done = command(*given, "--ignore", "gpu_type")
    assert (done.code, "columns ignored as told: gpu_type" in done.err) == (0, True), done.err
    assert "the cluster names no partitions, so those of the log are not kept apart" in done.err
    assert "names no partitions" not in command(*given, "--ignore", "gpu_type,partition").err
    assert command(*given, "--ignore", "gpus").code == 2
    assert command(*given, "--ignore", "gpu_type", "--ignore", "gpu_type").code == 0
    assert command("compare", *given[1:], "--policy", "sjf", "--workers", "99999999").code == 2
    twice = command(*given, "--set", "overheads.start_s=30", "--set", "overheads.start_s=3000")
    assert (twice.code, "--set overheads.start_s is given twice" in twice.err) == (2, True), twice.err


def test_an_error_of_profiles_that_nobody_is_told_of_is_named(command: Command, jobs: str) -> None:
    given = ("compare", jobs, "--cluster", "2x4", "--policy", "fifo", "--policy", "tiresias-skew")
    assert "--profile-error has no effect" in command(*given, "--profile-error", "0.5").err
    assert "has no effect" not in command(*given, "--profile-error", "0.5", "--assign-models", "0").err


def test_an_estimate_that_no_policy_is_told_is_noted(command: Command, log) -> None:
    given = ("compare", log("0,1,10,\n"), "--cluster", "2x4", "--estimate", "lognormal:1", "--policy", "fifo")
    said = "--estimate lognormal:1 has no effect: no policy here uses it"
    assert said in command(*given).err
    assert said not in command(*given, "--policy", "srtf").err


def test_new_defaults_are_named_once_with_how_to_restore_the_old_ones(command: Command, log) -> None:
    given = ("compare", log("0,1,10,\n"), "--cluster", "2x4", "--policy", "gittins")
    restored = ["gittins.cost_weight=0", "gittins.patience_s=0", "gittins.memory_jobs=0", "gittins.whole_nodes_loss=0"]
    assert f"--set {' --set '.join(restored)} restores the old ones" in command(*given).err
    first_two = [word for each in restored[:2] for word in ("--set", each)]
    assert "gittins has new defaults (memory_jobs, whole_nodes_loss):" in command(*given, *first_two).err
    assert "new defaults" not in command(*given, *(word for each in restored for word in ("--set", each))).err
