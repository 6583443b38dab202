"""Jobs on different GPUs of one node (semantics.md §15), by hand and to the millisecond.

The server of `two_sockets`, whose figures make most rates exact binary fractions::

            socket 0               socket 1            6 cores
         GPU 0   GPU 1          GPU 2   GPU 3          3 GB/s to memory
           └─ 0.9 GB/s ─┘─ 0.2 ─└─ 0.9 GB/s ─┘
"""

from pathlib import Path

import pytest

from pointsman.errors import UsageError
from pointsman.speed import load_catalogue
from pointsman.speed.interference.node_law import load_node_law

from .two_sockets import ends_ms, profile, run

CORES = {"busy": profile(cores=4, mb_per_s=0)}
TRAFFIC = {"mover": profile(cores=0, mb_per_s=600), "light": profile(cores=0, mb_per_s=250)}


def g(*gpus: int, node: int = 0) -> tuple[tuple[int, int], ...]:
    return tuple((node, gpu) for gpu in gpus)


def test_more_cores_than_there_are(tmp_path: Path) -> None:
    """Three jobs keep 12 of 6 cores busy: twice as long, until two have ended::

              0               60         120
    GPU 0  a  |---------------|                     30 s of work
    GPU 1  b  |---------------|                     30
    GPU 2  c  |---------------|----------|          90: 30 of them by 60
    """
    jobs = [("busy", 30, g(0)), ("busy", 30, g(1)), ("busy", 90, g(2))]
    result = run(tmp_path, jobs, CORES)
    assert ends_ms(result) == [60_000, 60_000, 120_000]
    assert result.jobs["slowed_s"].to_list() == [30.0, 30.0, 30.0]


def test_a_job_that_comes_later_slows_those_that_run(tmp_path: Path) -> None:
    """Two jobs keep 8 of 6 cores busy, 4/3 times as long::

              0      6           30  32
    GPU 0  a  |------|-----------|          24 s of work: 6 by 6 s, the rest at 3/4
    GPU 3  b         |-----------|--|       20: 18 by 30 s
    """
    jobs = [("busy", 24, g(0)), ("busy", 20, g(3))]
    assert ends_ms(run(tmp_path, jobs, CORES, submit_s=[0.0, 6.0])) == [30_000, 32_000]


def test_theta_is_an_exponent(tmp_path: Path) -> None:
    models = {"busy": profile(cores=4, mb_per_s=0, theta=0.5)}
    jobs = [("busy", 100, g(n)) for n in range(4)]
    assert ends_ms(run(tmp_path, jobs, models)) == [163_300] * 4, "the root of 16 / 6, rounded up to whole ms"


def test_each_socket_has_its_own_pcie(tmp_path: Path) -> None:
    """600 + 600 MB/s over 0.9 GB/s on socket 0, 600 + 250 on socket 1."""
    jobs = [("mover", 12, g(0)), ("mover", 12, g(1)), ("mover", 12, g(2)), ("light", 12, g(3))]
    assert ends_ms(run(tmp_path, jobs, TRAFFIC)) == [16_000, 16_000, 12_000, 12_000]


def test_sockets_share_gpus_in_order_and_as_equally_as_they_can(tmp_path: Path) -> None:
    """Of three GPUs two are on socket 0."""
    jobs = [("mover", 12, g(0)), ("mover", 12, g(1)), ("mover", 12, g(2))]
    assert ends_ms(run(tmp_path, jobs, TRAFFIC, node={"gpus": 3})) == [16_000, 16_000, 12_000]
    assert ends_ms(run(tmp_path, jobs, TRAFFIC, node={"gpus": 3, "sockets": 1})) == [24_000] * 3
    assert ends_ms(run(tmp_path, jobs, TRAFFIC, node={"gpus": 3, "sockets": 3})) == [12_000] * 3


def test_the_traffic_of_others_slows_on_both_sockets_and_counts_up_to_450(tmp_path: Path) -> None:
    """kappa = 4: beside 250 MB/s 1 + 4 · 250 / 3000, beside 600, of which 450 count, 1 + 4 · 450 / 3000::

                  0           16    21
    GPU 0  mover  |-----------|            12 s of work at 3/4
    GPU 2  light  |-----------|-----|      15: 10 by 16 s, at 5/8
    """
    jobs = [("mover", 12, g(0)), ("light", 15, g(2))]
    assert ends_ms(run(tmp_path, jobs, TRAFFIC, node_interference="table:kappa=4")) == [16_000, 21_000]
    assert ends_ms(run(tmp_path, jobs, TRAFFIC, node_interference="table")) == [16_000, 21_000]
    assert ends_ms(run(tmp_path, jobs, TRAFFIC, node_interference="table:kappa=0")) == [12_000, 15_000]


def test_a_gang_over_both_sockets_needs_the_link_between_them(tmp_path: Path) -> None:
    """A gradient of 150 MB a second goes over the link both ways: 300 over 200 MB/s. Of an iteration's 1.1 s a second
    is computing, which takes 1.5: 1.6 s an iteration; on one socket 1.1 s.
    """
    models = {"ring": profile(cores=0, mb_per_s=1, gradient_mb=150)}
    assert ends_ms(run(tmp_path, [("ring", 110, g(1, 2))], models)) == [160_000]
    assert ends_ms(run(tmp_path, [("ring", 110, g(2, 3))], models)) == [110_000]
    both = [("ring", 110, g(0, 2)), ("ring", 110, g(1, 3))]
    # Computing takes 600 / 200 times as long; the rate 1.1 / 3.1 is a little less in whole 1/2^30.
    assert ends_ms(run(tmp_path, both, models)) == [310_001] * 2


def test_a_gang_is_as_slow_as_its_worst_worker(tmp_path: Path) -> None:
    """Node 0 has 600 + 600 MB/s on socket 0, node 1 as much on two. An all-reduce between nodes takes 10 µs more."""
    models = TRAFFIC | {"gang": profile(cores=0, mb_per_s=600)}
    jobs = [("gang", 12, (*g(0), *g(0, node=1))), ("mover", 12, g(1)), ("mover", 12, g(3, node=1))]
    assert ends_ms(run(tmp_path, jobs, models)) == [16_001, 16_000, 12_000]


def test_it_multiplies_computing_alone(tmp_path: Path) -> None:
    """12 of 8 cores: 1 s of computing takes 1.5, 0.1 s of all-reduce as long as ever."""
    models = {"ring": profile(cores=3, mb_per_s=0, gradient_mb=150)}
    jobs = [("ring", 110, g(0, 1)), ("ring", 110, g(2, 3))]
    assert ends_ms(run(tmp_path, jobs, models, node={"cpus": 8})) == [160_000] * 2


def test_a_job_of_a_model_without_known_demands_causes_and_suffers_none(tmp_path: Path) -> None:
    plain = {**profile(cores=0, mb_per_s=0)}
    del plain["node"]
    jobs = [("busy", 10, g(0)), ("busy", 10, g(1)), ("plain", 10, g(2)), (None, 10, g(3))]
    result = run(tmp_path, jobs, CORES | {"plain": plain}, node={"cpus": 8})
    assert ends_ms(result) == [10_000] * 4
    said = [line for line in result.info["assumptions"] if line.startswith("node interference table: kappa = 0")]
    assert len(said) == 1 and "2 of 4 jobs are of models without known demands on nodes" in said[0]


def test_a_model_that_takes_nothing_may_suffer(tmp_path: Path) -> None:
    """Four are at work on 6 cores that two keep busy, of which the idle ones take nothing: 8/6."""
    models = CORES | {"idle": profile(cores=0, mb_per_s=0)}
    jobs = [("busy", 12, g(0)), ("busy", 12, g(1)), ("idle", 12, g(2)), ("idle", 12, g(3))]
    assert ends_ms(run(tmp_path, jobs, models)) == [16_000] * 4


def test_jobs_on_one_gpu_slow_each_other_by_xi_alone(tmp_path: Path) -> None:
    """a and b share GPU 0, where ξ = 2; c is on GPU 1. Of 6 cores a feels its own 4 and c's 4, c all 12::

                 0              16  18
    GPU 0  a, b  |--------------|          6 s of work at 3/8
    GPU 1  c     |--------------|--|       10: 8 by 16 s
    """
    jobs = [("busy", 6, g(0)), ("busy", 6, g(0)), ("busy", 10, g(1))]
    assert ends_ms(run(tmp_path, jobs, CORES, gpu_sharing=2, interference="2")) == [16_000, 16_000, 18_000]


def test_the_traffic_of_jobs_on_the_same_gpu_is_left_out_too(tmp_path: Path) -> None:
    """600 MB/s each; a and b share GPU 0, c has GPU 1 of their socket, d GPU 2 of the other.

    Up to 28 s: a and b take 2 (ξ) · 1200/900 · (1 + 4 · 900/3000) = 5.867 times as long, c 1800/900 ·
    (1 + 4 · 1350/3000) = 5.6, d 2.8: it ends, and a has done 4.773 of 10, c 5. Then a takes 2 · 4/3 · 1.6 = 4.267 times
    as long, c 2 · 2.2 = 4.4: it ends at 50 s, when a has 0.071 left, beside b.
    """
    jobs = [("mover", 10, g(0)), ("mover", 10, g(0)), ("mover", 10, g(1)), ("mover", 10, g(2))]
    result = run(tmp_path, jobs, TRAFFIC, gpu_sharing=2, interference="2", node_interference="table:kappa=4")
    assert result.jobs["end_s"].to_list() == pytest.approx([50.142, 50.142, 50.0, 28.0], abs=0.0015)


def test_a_fraction_of_a_gpu_takes_its_share(tmp_path: Path) -> None:
    """Two quarters on GPU 0 keep a core busy each, c and d 4 each: c and d feel 10 of 8, a fraction 9.

    The fractions end after 9/8 · 8 s; c and d have done 7.2 of 10 then, and go on alone.
    """
    jobs = [("busy", 8, g(0)), ("busy", 8, g(0)), ("busy", 10, g(1)), ("busy", 10, g(2))]
    more = {"fraction": [0.25, 0.25, None, None], "interference": "2", "node": {"cpus": 8}}
    result = run(tmp_path, jobs, CORES, gpu_sharing=2, **more)
    assert result.jobs["end_s"].to_list() == pytest.approx([9.0, 9.0, 11.8, 11.8], abs=0.0015)


@pytest.mark.parametrize("model", ["rates", "tree:clamp=1,rack=0.1,node=0.1,gpu=0.01", "goodput", "iterations"])
def test_every_base_model_has_it(model: str, tmp_path: Path) -> None:
    """A job of one GPU takes twice as long where four keep 16 of 8 cores busy."""
    jobs = [("busy", 30, g(n)) for n in range(4)]
    assert ends_ms(run(tmp_path, jobs, CORES, rate_model=model, node={"cpus": 8})) == [60_000] * 4


def test_a_rate_from_the_tree_is_slowed_in_its_computing_alone(tmp_path: Path) -> None:
    """100 MB are reduced in 28.29 ms, however long the second of computing takes."""
    models = {"busy": profile(cores=4, mb_per_s=0, gradient_mb=100)}
    jobs = [("busy", 102.829, g(n)) for n in range(4)]
    tree = "tree:clamp=1,rack=0.1,node=0.1,gpu=0.01"
    result = run(tmp_path, jobs, models, rate_model=tree, node={"cpus": 8})
    assert result.jobs["end_s"].to_list() == pytest.approx([202.829] * 4, abs=0.0015)
    assert result.jobs["slowed_s"].to_list() == pytest.approx([100.0] * 4, abs=0.0015)


def test_the_rate_of_an_elastic_job_is_slowed_in_its_computing_alone(tmp_path: Path) -> None:
    """Whatever its batch, a pass is a second and an all-reduce 0.1 s: 1.6 s where computing takes 1.5 times as long."""
    models = {"resnet18": profile(cores=3, mb_per_s=0, gradient_mb=150)}
    jobs = [("resnet18", 110_000, g(0, 1)), ("resnet18", 110_000, g(2, 3))]
    alone, beside = (
        run(tmp_path, jobs, models, rate_model="goodput", node={"cpus": 8}, node_interference=source).jobs["end_s"]
        for source in ("none", "table")
    )
    assert alone[0] < 110_000, "it tunes its batch"
    assert beside.to_list() == pytest.approx([alone[0] * 1.6 / 1.1] * 2, rel=1e-5)


def test_demands_of_a_file_stand_for_those_of_profiles(tmp_path: Path) -> None:
    text = """\
apiVersion: pointsman/v1
kind: NodeInterference
metadata: {name: mine}
spec:
  source: our bench
  kappa: 0
  capped_mb_per_s: 450
  models:
    busy:
      cores: {per_gpu: 8, theta: 1, source: bench}
      traffic: {mb_per_s_per_gpu: 0, theta: 1, source: bench}
"""
    (tmp_path / "mine.yaml").write_text(text)
    jobs = [("busy", 10, g(0)), ("busy", 10, g(1)), ("mover", 10, g(2)), ("mover", 10, g(3))]
    result = run(tmp_path, jobs, CORES | TRAFFIC, node_interference=str(tmp_path / "mine.yaml"), node={"cpus": 8})
    assert ends_ms(result) == [20_000, 20_000, 10_000, 10_000]  # 16 of 8 cores
    assert any("our bench; 2 of 4 jobs" in line for line in result.info["assumptions"])


def test_the_example_of_the_guide_is_a_valid_file(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs/guides/node-interference.md").read_text()
    (tmp_path / "campus.yaml").write_text(page.split("```yaml\n")[1].split("```")[0])
    law = load_node_law(str(tmp_path / "campus.yaml"), load_catalogue())
    assert (law.kappa, law.capped_mb_per_s, list(law.demands)) == (6, 450, ["bert"])
    assert load_node_law(f"{tmp_path}/campus.yaml:kappa=0", load_catalogue()).kappa == 0


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("kappa: 6", "kappa: -6", r"mine.yaml:6: .*kappa"),
        ("kappa: 6", "kapa: 6", r"mine.yaml:6: unknown key 'kapa'"),
        ("kappa: 6", "kappa: true", r"mine.yaml:6: .*kappa"),
        ("bert", "BERT", r"mine.yaml:11: unknown model 'BERT' \(did you mean 'bert'"),
        ("cores: {per_gpu: 2", "cores: {per_gpu: -2", r"mine.yaml:12: .*per_gpu"),
        ("sigma: 0.1", "sigma: 1.1", r"mine.yaml:8: .*sigma"),
        ("seed: 3", "seed: 0.5", r"mine.yaml:9: .*seed"),
    ],
)
def test_a_wrong_file_is_refused_with_its_line(old: str, new: str, said: str, tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs/guides/node-interference.md").read_text()
    text = page.split("```yaml\n")[1].split("```")[0]
    assert old in text
    (tmp_path / "mine.yaml").write_text(text.replace(old, new))
    with pytest.raises(UsageError, match=said):
        load_node_law(str(tmp_path / "mine.yaml"), load_catalogue())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tabel", "unknown node interference 'tabel' (did you mean 'table'?"),
        ("table:kappa", "no parameter 'kappa'"),
        ("table:k=1", "no parameter 'k' (there are kappa, sigma, seed, as in table:kappa=4)"),
        ("table:kappa=-1", "kappa = '-1' is no number from 0 to 1000"),
        ("table:kappa=x", "kappa = 'x' is no number from 0 to 1000"),
        ("table:kappa=nan", "kappa = 'nan' is no number from 0 to 1000"),
        ("table:kappa=1,kappa=2", "kappa is given twice"),
        ("table:sigma=1.5", "sigma = '1.5' is no number from 0 to 1"),
        ("table:sigma=0.2,seed=-1", "seed = '-1' is no whole number from 0 to 4294967295"),
        ("table:sigma=0.2,seed=1.5", "seed = '1.5' is no whole number"),
        ("table:sigma=0.2,", "no parameter ''"),
    ],
)
def test_what_is_no_source_is_refused(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        run(tmp_path, [("busy", 10, g(0))], CORES, node_interference=text)
    assert said in str(caught.value)


def test_a_demand_above_what_a_node_has_is_refused(tmp_path: Path) -> None:
    for model, said in (
        (profile(cores=7, mb_per_s=0), "keeps 7 cores busy for each GPU, and a node of type 'server' has 6"),
        (profile(cores=1, mb_per_s=901), "moves 901 MB/s for each GPU, and a node of type 'server' less"),
    ):
        with pytest.raises(UsageError) as caught:
            run(tmp_path, [("much", 10, g(0))], {"much": model})
        assert said in str(caught.value)


def test_without_it_runs_are_as_they_were(tmp_path: Path) -> None:
    """Not even a column more."""
    jobs = [("busy", 10, g(n)) for n in range(4)]
    result = run(tmp_path, jobs, CORES, node_interference="none")
    assert ends_ms(result) == [10_000] * 4
    assert "slowed_s" not in result.jobs.columns
    assert not any("node interference" in line for line in result.info["assumptions"])
