"""A site's slurm.conf as parameters of `multifactor`."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import pointsman
from pointsman.errors import InputError, UsageError
from pointsman.policies.registry import get_policy
from tests.free import simulate

CONF = """\
ClusterName=north
SchedulerType=sched/backfill
SchedulerParameters=bf_max_job_test=300,bf_interval=60,defer
PriorityType=priority/multifactor
PriorityWeightAge=2000   # an inline comment
PriorityWeightFairShare=50000
priorityweightpartition=100
PriorityFlags=NO_FAIR_TREE,MAX_TRES
PriorityMaxAge=14-0
PriorityDecayHalfLife=7-12:00:00
PriorityCalcPeriod=10
PriorityFavorSmall=YES
FairShareDampeningFactor=3
PartitionName=DEFAULT PriorityJobFactor=5 State=UP
PartitionName=gpu Nodes=n[01-20] Default=YES
PartitionName=debug Nodes=n01 PriorityJobFactor=50 \\
   MaxTime=1:00:00
"""
READ = {
    "backfill": "conservative", "bf_max_job_test": 300, "weight_age": 2000, "weight_fair_share": 50_000,
    "weight_job_size": 0, "weight_partition": 100, "max_age_s": 14 * 86_400, "decay_half_life_s": 7.5 * 86_400,
    "calc_period_s": 600, "favor_small": True, "dampening": 3, "partition_priority": {"gpu": 5, "debug": 50},
}  # fmt: skip


def read(tmp_path: Path, text: str) -> Any:
    path = tmp_path / "slurm.conf"
    path.write_text(text)
    return get_policy(f"multifactor:{path}")


def test_every_setting_is_read(tmp_path: Path) -> None:
    policy = read(tmp_path, CONF).make()
    assert {name: getattr(policy, name) for name in READ} == READ


def test_what_is_not_simulated_is_named(tmp_path: Path) -> None:
    more = "PriorityWeightQOS=7\nPriorityWeightAssoc=0\nPreemptType=preempt/qos\nInclude more.conf\n"
    notes = read(tmp_path, CONF + more).notes
    wanted = ("PriorityFlags=MAX_TRES", "bf_interval=60", "SchedulerParameters=defer", "PriorityWeightQOS=7",
              "PreemptType=preempt/qos", "files that it includes are not read")  # fmt: skip
    assert all(any(part in note for note in notes) for part in wanted), notes
    assert len(notes) == len(wanted)
    assert "Fair Tree" in read(tmp_path, CONF.replace("NO_FAIR_TREE,", "")).notes[0]


def test_what_scontrol_prints_is_read(tmp_path: Path) -> None:
    text = (
        "Configuration data as of 2026-03-02T10:00:00\nPriorityCalcPeriod      = 00:05:00\n"
        "PriorityDecayHalfLife   = 14-00:00:00\nPriorityFavorSmall      = No\nPriorityFlags           = \n"
        "PriorityMaxAge          = 7-00:00:00\nPriorityUsageResetPeriod = NONE\nPriorityWeightAge       = 1000\n"
        "PriorityWeightTRES      = (null)\nSchedulerParameters     = (null)\nSchedulerType           = sched/builtin\n"
    )
    spec = read(tmp_path, text)
    assert spec.notes == ()
    policy = spec.make()
    found = (policy.weight_age, policy.calc_period_s, policy.decay_half_life_s, policy.favor_small, policy.backfill)
    assert found == (1000, 300, 14 * 86_400, False, "none")


def test_what_the_file_leaves_out_is_as_in_slurm(tmp_path: Path) -> None:
    policy = read(tmp_path, "ClusterName=x\n").make()
    assert [policy.weight_age, policy.weight_fair_share, policy.weight_job_size, policy.weight_partition] == [0] * 4
    assert (policy.bf_max_job_test, policy.backfill) == (500, "conservative")
    basic = read(tmp_path, CONF.replace("priority/multifactor", "priority/basic"))
    assert basic.make().weight_age == 0
    assert any("priority/basic" in note for note in basic.notes)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (CONF.replace("=2000", "=lots"), r"slurm.conf:5: PriorityWeightAge=lots is no number"),
        (CONF.replace("14-0", "soon"), r"slurm.conf:9: PriorityMaxAge=soon is no time \(write minutes"),
        (CONF.replace("=YES", "=maybe", 1), r"slurm.conf:12: PriorityFavorSmall=maybe"),
        (CONF.replace("Factor=50", "Factor=-1"), r"slurm.conf:16: PriorityJobFactor=-1 is no number"),
        (CONF.replace("WeightAge=", "WeigthAge="), r"slurm.conf:5: PriorityWeigthAge .* \(write PriorityWeightAge\)"),
        (
            CONF.replace("=14-0", " 14-0"),
            r"slurm.conf:9: PriorityMaxAge 14-0: a setting without = \(write Prio",
        ),
        ("job_id,submit_s\n1,2\n", "no setting of a slurm.conf"),
    ],
)
def test_a_wrong_value_is_named_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read(tmp_path, text)


def test_a_file_that_is_not_there_is_refused() -> None:
    with pytest.raises(InputError, match=r"nowhere\.conf: cannot be read"):
        get_policy("multifactor:nowhere.conf")


def test_a_log_has_fewer_partitions_than_the_site(tmp_path: Path) -> None:
    jobs = pl.DataFrame({"submit_s": [0.0], "gpus": [1], "duration_s": [1.0], "partition": ["gpu"]})
    spec = read(tmp_path, CONF)
    assert simulate(pointsman.Workload.of(jobs), "1x1", spec.text).jobs["start_s"].to_list() == [0]
    other = pointsman.Workload.of(jobs.with_columns(partition=pl.lit("cpu")))
    with pytest.raises(UsageError, match="a partition without jobs"):
        simulate(other, "1x1", spec.text)
