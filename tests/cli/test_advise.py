"""``pointsman advise``: on the log of a site, with its slurm.conf."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from .conftest import Command, Done, Once
from .slurm_site import CLUSTER, CONF, write_site

SITE = ("--sacct", "sacct.txt", "--cluster", CLUSTER)
WITH_CONF = (*SITE, "--slurm-conf", "slurm.conf")


@pytest.fixture
def site(here: Path, once: Once) -> Path:
    """A directory with the log and the slurm.conf of a site whose scheduler is the model."""
    once("site", lambda: write_site(here))
    return here


def advised(command: Command, *args: str, code: int = 0) -> tuple[dict[str, Any], Done]:
    done = command("advise", *args, "--format", "json")
    assert done.code == code, done.err
    return json.loads(done.out), done


def shuffle(site: Path) -> None:
    """Gives each job the wait of another."""
    ran = pl.read_csv(site / "sacct.txt", separator="|")
    dates = [pl.col(name).str.to_datetime() for name in ("Submit", "Start", "End")]
    times = ran.select("JobIDRaw", *dates, wait=dates[1] - dates[0])
    wait = times["wait"].gather(np.random.default_rng(1).permutation(times.height))
    moved = times.select(Start=pl.col("Submit") + wait, End=pl.col("Submit") + wait + (pl.col("End") - pl.col("Start")))
    text = [moved[name].dt.strftime("%Y-%m-%dT%H:%M:%S").alias(name) for name in ("Start", "End")]
    ran.with_columns(text).write_csv(site / "sacct.txt", separator="|")


def test_the_log_of_the_model_itself_gets_advice(command: Command, site: Path) -> None:
    done = command("advise", *WITH_CONF)
    assert done.code == 0, done.err
    first, *others = done.out.splitlines()
    assert first.startswith("Advice: run gittins instead of multifactor:slurm.conf: mean completion time -")
    assert "Where preemption loses work, gittins is ahead of multifactor:slurm.conf" in first
    assert "fits the log within every limit: mean wait 0.0 %" in first
    table = others[1 : others.index("", 1)]
    assert table[0].split("  ")[0] == "figure" and len(table) <= 10
    assert ["gain" in row.split() for row in table[1:3]] == [True, True]
    assert "- slurm.conf: PreemptType=preempt/qos is not simulated." in others
    assert any("All accounts have equal shares" in row for row in others)


def test_programs_read_the_fit_and_each_figures_reading(command: Command, site: Path) -> None:
    found, _ = advised(command, *WITH_CONF, "--policy", "gittins", "--policy", "easy")
    assert (found["policy"], found["is_to_change"], found["fit"]["is_good"]) == ("gittins", True, True)
    assert found["readings"]["gittins"]["jct_mean_s"] == "gain"
    assert {"gittins", "easy"} == set(found["readings"])
    assert [point["checkpoint_every_s"] for point in found["comparison"]["price"][::3]] == [0, 3600, 14400, 43200]


def test_a_log_whose_waits_are_of_other_jobs_gets_none(command: Command, site: Path) -> None:
    """The other policy is not even simulated."""
    shuffle(site)
    done = command("advise", *WITH_CONF)
    assert done.code == 4
    assert done.out.startswith("No advice: the model of the present scheduler (multifactor:slurm.conf) does not fit")
    assert "rank correlation of waits" in done.out.split("\n")[0]
    assert done.err.splitlines()[-1].startswith("pointsman: no advice, because the model of the present scheduler")
    found, _ = advised(command, *WITH_CONF, code=4)
    assert [row["policy"] for row in found["comparison"]["rows"]] == ["as-logged", "multifactor:slurm.conf"]
    assert (found["policy"], found["readings"]) == (None, {})


def test_another_scheduler_is_not_taken_for_the_model(command: Command, here: Path) -> None:
    write_site(here, "fifo")
    found, done = advised(command, *WITH_CONF, code=4)
    assert "mean wait" in [check["name"] for check in found["fit"]["checks"] if not check["passes"]], done.err


def test_without_a_slurm_conf_the_weights_are_said_to_be_assumed(command: Command, site: Path) -> None:
    done = command("advise", *SITE)
    assert "No slurm.conf was given: the fit is of the weights of an example in Slurm's documentation" in done.out
    assert "weight_fair_share = 10000" in done.out


def test_a_parameter_can_be_set_over_the_file(command: Command, site: Path) -> None:
    """The log fits no more without backfilling."""
    found, _ = advised(command, *WITH_CONF, "--set", "multifactor.backfill=none", code=4)
    assert not found["fit"]["is_good"]


def test_accounts_with_shares_that_they_have_not_do_not_fit(command: Command, site: Path) -> None:
    found, _ = advised(command, *WITH_CONF, "--set", "multifactor.shares={physics: 40}", code=4)
    assert not any("equal shares" in said for said in found["untold"])
    assert "mean wait by account" in found["advice"]


def test_the_page_has_the_advice_and_the_fit(command: Command, site: Path) -> None:
    done = command("advise", *WITH_CONF, "-o", "out", "--format", "markdown")
    assert done.code == 0, done.err
    assert "| figure | present | gittins | change | reading |" in done.out
    kept = {path.name for path in Path("out/runs").iterdir()}
    assert kept == {"as-logged_s0", "multifactor-slurm.conf_s0", "gittins_s0"}
    again = command("advise", *WITH_CONF, "-o", "out")
    assert (again.code, "--force" in again.err) == (2, True)


def lines_of(path: Path) -> list[list[str]]:
    return [line.split("|") for line in path.read_text().splitlines()]


def test_a_log_without_starts_is_refused(command: Command, site: Path) -> None:
    rows = lines_of(Path("sacct.txt"))
    at = [k for k, name in enumerate(rows[0]) if name in ("Start", "End")]
    rows = [[cell for k, cell in enumerate(row) if k not in at] for row in rows]
    Path("sacct.txt").write_text("\n".join("|".join(row) for row in rows))
    done = command("advise", *WITH_CONF)
    assert (done.code, done.out) == (3, "")
    assert "sacct.txt: the log does not say when its jobs started" in done.err
    assert "export sacct -aXPD --format=" in done.err


def test_a_cluster_smaller_than_the_widest_job_is_refused(command: Command, site: Path) -> None:
    widest = next(n for n, row in enumerate(lines_of(Path("sacct.txt")), 1) if row[-1] == "gres/gpu=16")
    done = command("advise", "--sacct", "sacct.txt", "--cluster", "1x8", "--slurm-conf", "slurm.conf")
    assert (done.code, done.out) == (3, "")
    assert f"sacct.txt:{widest}: job " in done.err
    assert "name the whole cluster that the log is of, or leave out its other jobs by --only" in done.err
    assert "--oversized" not in done.err


def test_a_bad_line_of_slurm_conf_is_named_before_the_log_is_read(command: Command, site: Path) -> None:
    Path("slurm.conf").write_text(CONF.replace("WeightAge=1000", "WeightAge=lots"))
    done = command("advise", *WITH_CONF)
    assert (done.code, done.out) == (3, "")
    assert (
        done.err
        == "pointsman: slurm.conf:4: PriorityWeightAge=lots is no number from 0 (write a number such as 1000)\n"
    )


@pytest.mark.parametrize("policy", ["srtf", "rounds(sjf,60)"])
def test_a_policy_that_is_told_the_truth_is_no_advice(command: Command, site: Path, policy: str) -> None:
    done = command("advise", *WITH_CONF, "--policy", policy)
    assert done.code == 2
    assert f"--policy {policy}: it requires true durations, which no scheduler knows" in done.err


def rewritten(field: str, cell: str, rows: slice) -> None:
    """The log with another cell in some of its rows."""
    header, *jobs = lines_of(Path("sacct.txt"))
    for row in jobs[rows]:
        row[header.index(field)] = cell
    Path("sacct.txt").write_text("\n".join("|".join(row) for row in (header, *jobs)))


def test_a_job_without_a_limit_counts_as_a_year_long(command: Command, site: Path) -> None:
    rewritten("TimelimitRaw", "UNLIMITED", slice(2, 4))
    found, _ = advised(command, *WITH_CONF)
    assert "2 jobs without a time limit count as a year long, as in Slurm's backfilling." in found["untold"]
    assert found["comparison"]["rows"][1]["knowledge"] == "estimate limit"


def test_a_log_without_limits_makes_a_model_that_knows_more_than_slurm(command: Command, site: Path) -> None:
    rewritten("TimelimitRaw", "UNLIMITED", slice(None))
    done = command("advise", *WITH_CONF)
    assert "The log has no time limits: the model backfills by true durations, which Slurm lacks." in done.out


def test_a_quiet_log_says_too_little(command: Command, site: Path) -> None:
    text = Path("sacct.txt").read_text().splitlines()
    Path("sacct.txt").write_text("\n".join(text[:60]))
    done = command("advise", *WITH_CONF)
    assert done.code == 4
    assert done.out.startswith("No advice: in the log ")
    assert "of 59 jobs waited for more than a minute; fewer than 100 say too little" in done.out
