"""Everything that Pointsman reads, with a few whole examples of each."""

import contextlib
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import polars as pl

import pointsman
from pointsman.cli.experiment import resolve
from pointsman.cli.options import Options
from pointsman.cli.verify import _faults as verified
from pointsman.cluster import load_cluster
from pointsman.cluster.imports.read import import_nodes
from pointsman.engine.setup.overheads import load_overheads
from pointsman.errors import PointsmanError
from pointsman.learn.scorer_checkpoint import trained_weights
from pointsman.report import compare, measure, read_runs, write_comparison
from pointsman.speed import load_catalogue, load_interference
from pointsman.speed.fitting.measurements import read_steps
from pointsman.speed.interference.learned.file import read_learned
from pointsman.speed.interference.learned.measured import observe_measured
from pointsman.speed.interference.node_law import load_node_law
from pointsman.speed.interference.online.file import read_experience
from pointsman.speed.interference.pairs import read_pairs
from pointsman.workload import read_workload
from pointsman.workload.generator.profile import load_profile
from pointsman.workload.readers.formats import formats

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src/pointsman"
LOGS = {path.name: path.read_bytes() for path in sorted((ROOT / "tests/workload/fixtures").iterdir())}


@dataclass(frozen=True)
class Target:
    """Something that reads files, and examples of them."""

    name: str
    seeds: tuple[bytes, ...]
    read: Callable[[bytes, Path], object]
    """Reads such bytes, in an empty folder."""
    weight: int = 1


def targets(folder: Path) -> list[Target]:
    """All of them; `folder` is for what several inputs share."""
    return [
        *_logs(),
        *_documents(),
        *_nodes(),
        *_measurements(),
        *_checkpoints(),
        *_texts(),
        *_runs(folder),
    ]


def _named(name: str, read: Callable[[Path], object]) -> Callable[[bytes, Path], object]:
    def written(data: bytes, place: Path) -> object:
        (place / name).write_bytes(data)
        return read(place / name)

    return written


def _logs() -> Iterator[Target]:
    seeds = tuple(LOGS.values())
    yield Target("log", seeds, _named("log", lambda path: read_workload(path).quality.render()), 20)
    for form in formats():

        def forced(path: Path, form: str = form) -> object:
            return read_workload(path, format=form)

        yield Target(f"log as {form}", seeds, _named("log", forced), 1)
    columns = {"submit_s": "submit_time", "gpus": "gpu_num", "duration_s": "duration"}
    yield Target("named columns", seeds, _named("log", lambda path: read_workload(path, columns=columns)), 2)
    dated = {"job_id": "id", "submit_s": "at", "gpus": "n", "start_s": "from", "end_s": "to", "time_limit_s": "most"}
    yield Target(
        "any table",
        _tables(),
        _named("log", lambda path: read_workload(path, columns=dated, steps="drop", date_order="dmy")),
        4,
    )


TABLE = {
    "id": ["1", "2.batch", "3"],
    "at": ["2026-03-02 08:00:00", "1772438400000", "03/02/2026 08:00 PM"],
    "n": ["gpu:a100:2(IDX:0-1)", "1001=2", "2x A100"],
    "from": ["Mar  2 08:00:11 2026", None, "Mon, 02 Mar 2026 08:00:00 +0100"],
    "to": ["2026/03/02 09:00", "20260302T100000Z", "02.03.2026 08:30"],
    "most": ["1-00:00:00", "UNLIMITED", "1h30m"],
}


def _tables() -> tuple[bytes, ...]:
    """One table in every notation that `--columns` reads."""
    frame, written = pl.DataFrame(TABLE), []
    for write in ("write_csv", "write_json", "write_ndjson", "write_ipc", "write_ipc_stream", "write_parquet"):
        file = io.BytesIO()
        getattr(frame, write)(file)
        written.append(file.getvalue())
    return tuple(written)


def _yaml(*paths: str) -> tuple[bytes, ...]:
    return tuple(path.read_bytes() for pattern in paths for path in sorted(PACKAGE.glob(pattern)))


EXPERIMENT = b"""\
apiVersion: pointsman/v1
kind: Experiment
metadata: {name: week}
spec:
  trace: jobs.csv
  only: {vc: [a, b], status: completed}
  cluster: 4x8/rack=2,gpu=v100
  policies: [fifo, {name: srtf, params: {margin_s: 60}}, 'rounds(tiresias, 5m)']
  seeds: [0, 1, 2]
  estimate: lognormal:0.5
  overheads: {start_s: 10, stop_s: 5}
  congestion: {rack: 4}
  contention: node-link:0.5
  window: 1d:8d
  load: 0.9
  log: false
"""
TOML = b"""\
apiVersion = "pointsman/v1"
kind = "Experiment"
[metadata]
name = "week"
[spec]
trace = "jobs.csv"
cluster = "4x8"
policies = ["fifo", "easy"]
seeds = [0, 1]
overheads = {start_s = 10}
"""


def _documents() -> Iterator[Target]:
    clusters = _yaml("cluster/ready/*.yaml")

    def cluster(path: Path) -> object:
        return load_cluster(path).layout()

    def experiment(path: Path) -> object:
        return resolve(Options(spec={}, config=path, settings=[], dry_run=True)).to_yaml()

    yield Target("cluster", clusters, _named("c.yaml", cluster), 8)
    yield Target("experiment", (EXPERIMENT,), _named("e.yaml", experiment), 6)
    yield Target("experiment in TOML", (TOML,), _named("e.toml", experiment), 3)
    overheads = (b"start_s: 10\nstop_s: 5\nrestore_s: 20\ncheckpoint_every_s: 1800\nstart_fail_rate: 0.1\n",)
    yield Target("overheads", overheads, _named("o.yaml", lambda path: load_overheads(str(path))), 2)
    profiles = _yaml("speed/profiles/models/speech.yaml", "speed/profiles/models/reinforcement.yaml")
    yield Target("profiles", profiles, _named("m.yaml", load_catalogue), 4)
    pairs = _yaml("speed/interference/pairs/*.yaml")
    shipped = load_catalogue()
    yield Target("interference", pairs, _named("i.yaml", lambda path: load_interference(str(path), shipped)), 2)
    nodes = _yaml("speed/interference/nodes/*.yaml")
    yield Target("node interference", nodes, _named("n.yaml", lambda path: load_node_law(str(path), shipped)), 4)
    yield Target("learnt", (LEARNED,), _named("l.yaml", lambda path: read_learned(path, shipped)), 3)
    learnt = tuple(data[:2500] for data in _yaml("learn/policies/shipped/metarl/performance-model.yaml"))
    yield Target("performance model", learnt, _named("p.yaml", read_experience), 2)
    yield Target("generator", (GENERATOR,), _named("g.yaml", lambda path: load_profile(str(path))), 1)


LEARNED = (ROOT / "docs/guides/learn-interference.md").read_bytes().split(b"```yaml\n")[1].split(b"```")[0]
GENERATOR = (PACKAGE / "workload/generator/itp.yaml").read_bytes()[:3000]


KUBECTL = {
    "items": [
        {
            "metadata": {
                "name": "n1",
                "labels": {"nvidia.com/gpu.product": "Tesla-T4", "topology.kubernetes.io/zone": "a"},
            },
            "status": {"capacity": {"cpu": "63500m", "memory": "527360000Ki", "nvidia.com/gpu": "4"}},
        }
    ]
}


def _nodes() -> Iterator[Target]:
    from tests.cluster.imports.test_places import HALVES, SHOWN, TREE, links
    from tests.cluster.imports.test_slurm_lists import CONF
    from tests.cluster.imports.test_tables import YAML
    from tests.cluster.test_imports import INVENTORY, SCONTROL, SCONTROL_JSON, SINFO

    LINKS = links(["X NV4 SYS SYS", "NV4 X SYS SYS", "SYS SYS X NV4", "SYS SYS NV4 X"], HALVES)

    def imported(path: Path) -> object:
        return import_nodes(path, {"": "a100"}).cluster.layout()

    texts = (INVENTORY, SCONTROL, SINFO, json.dumps(SCONTROL_JSON), json.dumps(KUBECTL), CONF, YAML, LINKS)
    seeds = (
        *(text.encode() for text in texts),
        b"sn,cpu_milli,memory_mib,gpu,model\nn1,96000,262144,8,V100M32\nn2,64000,1,2,T4\n",
    )
    yield Target("nodes", seeds, _named("nodes", imported), 8)

    def placed(path: Path) -> object:
        (path.parent / "list").write_text(SINFO)
        return import_nodes(path.parent / "list", {}, path).cluster.layout()

    yield Target("topology", (TREE.encode(), SHOWN.encode()), _named("topology", placed), 2)
    yield Target("node list", seeds[-1:], _named("nodes.csv", lambda path: load_cluster(path).layout()), 2)


STEPS = b"""\
model,gpu_type,gpus,nodes,batch_per_gpu,step_s
BERT-base,T4,8,2,12,1.5
resnet50,v100,1,1,64,0.2
vgg16,t4,4,1,8,0.9
"""
NODES = b"""\
gpu_type,node_gpus,model,others,alone_s,step_s,gpus,reason
v100,4,bert,,0.21,0.21,,
v100,4,bert,vgg16*1 + resnet50*2,0.21,0.231,1,
v100,4,vgg16,bert*3,,,1,out of memory
"""
NORMS = b"""\
gpu_type,model_a,model_b,norm_a,norm_b,batch_a,batch_b
V100,BERT-base,ours,0.5,0.8,16,
t4,vgg16,bert,0.9,0.3,,
"""
TIMES = b"gpu_type,model_a,model_b,alone_s_a,step_s_a,alone_s_b,step_s_b\nv100,bert,ours,0.2,0.4,0.8,1.0\n"


def _measurements() -> Iterator[Target]:
    shipped = load_catalogue()
    yield Target("steps", (STEPS,), _named("m.csv", lambda path: read_steps(path, shipped)), 2)
    yield Target("jobs on a node", (NODES,), _named("n.csv", lambda path: observe_measured(path, shipped, {})), 2)
    yield Target("pairs", (NORMS, TIMES), _named("p.csv", lambda path: read_pairs(path, shipped)), 2)


WEIGHTS = {
    "slow_down": 1.0,
    "harm": 1.0,
    "servers": 1.0,
    "racks": 1.0,
    "gpus_left": 0.5,
    "broken_sockets": 0.2,
    "patience": 2.0,
}


def _checkpoints() -> Iterator[Target]:
    from pointsman.learn.checkpoint import read_card

    cards = _yaml("learn/policies/shipped/*/policy.yaml")
    yield Target("card", cards, _named("policy.yaml", lambda path: read_card(path.parent)), 6)
    card = cards[0].replace(b"agent: marl", b"agent: scorer")

    def weights(path: Path) -> object:
        (path.parent / "policy.yaml").write_bytes(card)
        return trained_weights(str(path.parent))

    yield Target("weights", (json.dumps(WEIGHTS).encode(),), _named("policy.json", weights), 2)
    if find_spec("torch") is None:
        return
    import torch  # noqa: F401  # takes seconds, which are no input's

    from pointsman.learn.checkpoint import load_policy

    shipped = PACKAGE / "learn/policies/shipped/marl"

    def network(path: Path) -> object:
        (path.parent / "policy.yaml").write_bytes((shipped / "policy.yaml").read_bytes())
        return load_policy(path.parent)

    yield Target("tensors", ((shipped / "policy.safetensors").read_bytes(),), _named("policy.safetensors", network), 2)

    def whole(path: Path) -> object:
        (path.parent / "policy.safetensors").write_bytes((shipped / "policy.safetensors").read_bytes())
        return load_policy(path.parent)

    yield Target("network", ((shipped / "policy.yaml").read_bytes(),), _named("policy.yaml", whole), 2)


OPTIONS: dict[str, tuple[str, ...]] = {
    "cluster": ("4x8/rack=2,gpu=v100", "fat-tree:4/gpus=4,nic=10Gbps", "2x8+3x4/gpu=t4,nic=100Gbps", "philly"),
    "policies": ("rounds(srtf, 60)", "tiresias", "topdrl:shipped", "my.py:Mine", "scorer:dir", "metarl:none"),
    "estimate": ("lognormal:0.5",),
    "window": ("1d:8d", "0:3600"),
    "load": ("0.9",),
    "contention": ("node-link:0.5", "max-min"),
    "date_order": ("dmy",),
    "rate_model": ("tree:clamp=1", "iterations:b=8.56,sharing=4", "goodput"),
    "interference": ("table:resnet50", "1.5"),
    "node_interference": ("table:kappa=13,sigma=0.2,seed=3",),
    "decision_time": ("2.5ms",),
    "overheads": ("realistic",),
    "placement": ("spread",),
    "seeds": ("0-4,9",),
    "workload_seeds": ("0-4,9",),
    "assign_models": ("1",),
    "gpu_sharing": ("2",),
}
REPEATED: dict[str, tuple[str, ...]] = {
    "only": ("vc=a,b", "completed"),
    "columns": ("submit_s=a,gpus=b",),
    "congestion": ("rack=4",),
    "ignore": ("user,queue",),
    "keep_columns": ("deadline_s,tenant=VC",),
}


def _texts() -> Iterator[Target]:
    for name, texts in {**OPTIONS, **REPEATED}.items():

        def option(data: bytes, place: Path, name: str = name) -> object:
            text = data.decode(errors="surrogateescape")
            value = [text] if name in REPEATED or name == "policies" else text
            spec = {"trace": "jobs.csv", "cluster": "2x4", "policies": ["fifo"], name: value}
            return resolve(Options(spec=spec, settings=[], dry_run=True)).to_yaml()

        yield Target(f"--{name}", tuple(text.encode() for text in texts), option, 2)

    def setting(data: bytes, place: Path) -> object:
        spec = {"trace": "jobs.csv", "cluster": "2x4", "policies": ["srtf", "tiresias"]}
        return resolve(Options(spec=spec, settings=[data.decode(errors="surrogateescape")], dry_run=True)).to_yaml()

    settings = ("srtf.margin_s=10m", "tiresias.thresholds_gpu_s=[3600,36000]", "overheads.start_s=30")
    yield Target("--set", tuple(text.encode() for text in settings), setting, 6)


def _runs(folder: Path) -> Iterator[Target]:
    jobs = pointsman.generate("philly", jobs=12, cluster_gpus=8, load=0.9, seed=1)
    results = [pointsman.simulate(jobs, "2x4", name) for name in ("fifo", "srtf")]
    write_comparison(folder / "both", results, figures=False)
    run = folder / "both/runs/fifo_s0"
    contents = {path.name: path.read_bytes() for path in run.iterdir()}

    def looked_at(place: Path) -> object:
        found = read_runs(place)
        return verified(place), [measure(result).summary for result in found], compare(found).to_json()

    def damaged(name: str, *, digests: bool = True) -> Callable[[bytes, Path], object]:
        def read(data: bytes, place: Path) -> object:
            for other, content in contents.items():
                (place / other).write_bytes(data if other == name else content)
            if not digests:
                manifest = json.loads(contents["manifest.json"])
                (place / "manifest.json").write_text(json.dumps(manifest | {"output_sha256": {}}))
            return looked_at(place)

        return read

    yield Target("manifest", (contents["manifest.json"],), damaged("manifest.json"), 10)
    yield Target("summary", (contents["summary.json"],), damaged("summary.json"), 3)
    yield Target("run", (contents["jobs.parquet"],), damaged("jobs.parquet"), 1)

    def table(name: str) -> Callable[[bytes, Path], object]:
        """A sound Parquet file of a table that is damaged; read as one of an older run, without digests."""

        def read(data: bytes, place: Path) -> object:
            try:
                frame = pl.read_csv(io.BytesIO(data), infer_schema_length=None)
            except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
                return None
            buffer = io.BytesIO()
            frame.write_parquet(buffer)
            return damaged(name, digests=False)(buffer.getvalue(), place)

        return read

    for name in ("jobs", "events", "series"):
        seed = pl.read_parquet(io.BytesIO(contents[f"{name}.parquet"])).write_csv().encode()
        yield Target(f"table of {name}", (seed,), table(f"{name}.parquet"), 0)
        yield Target(f"Parquet of {name}", (contents[f"{name}.parquet"],), damaged(f"{name}.parquet", digests=False), 0)
    jobs.jobs.write_parquet(folder / "jobs.parquet")
    seeds = ((folder / "jobs.parquet").read_bytes(),)
    yield Target("Parquet log", seeds, _named("jobs.parquet", read_workload), 0)


def refusal(target: Target, data: bytes, place: Path) -> str | None:
    """What is wrong with how `target` takes these bytes; None if it reads them, or refuses them in one sentence."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            target.read(data, place)
    except PointsmanError as error:
        said = str(error)
        if "\n" in said.strip() or not said.strip() or len(said) > 1500:
            return f"not one sentence of a bearable length ({len(said)}): {said[:300]!r}"
    return None
