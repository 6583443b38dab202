"""An instance of the oracle's with shared GPUs, run by `pointsman.simulate`."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import polars as pl
import yaml

import pointsman
from pointsman.engine.setup.overheads import Overheads
from pointsman.speed import load_catalogue
from pointsman.speed.interference.slow_downs import load_interference
from pointsman.types import Locality
from tests.free import simulate
from tests.oracle.learnt_nodes import Learnt
from tests.oracle.node_instances import hosts_by_kind
from tests.oracle.node_instances import words_of as node_words_of
from tests.oracle.nodes import Host, Neighbours
from tests.oracle.shared_instances import SharedInstance
from tests.oracle.sharing import SharedSchedule
from tests.oracle.uplinks import Contention


def cluster_of(
    instance: SharedInstance, folder: Path, neighbours: Neighbours | Learnt | None = None
) -> pointsman.Cluster:
    """Of a cluster file with the instance's nodes and network."""
    hosts = hosts_by_kind(neighbours) if isinstance(neighbours, Neighbours) else {}
    net, nodes = instance.network, instance.nodes
    card, inside = f"{net.card / 1e9:g} GB/s", f"{net.inside / 1e9:g} GB/s"
    spec = {
        "node_types": {
            f"{n.gpu_type}x{n.gpus}": {
                "gpus": n.gpus,
                "gpu_type": n.gpu_type,
                "interconnect": {"kind": "nvlink", "bandwidth": inside, "latency": "1 us"},
                "nic": {"bandwidth": card},
                **({"cpus": host.cores, "sockets": host.sockets, "host": paths_of(host)} if host else {}),
            }
            for n in nodes
            for host in [hosts.get((n.gpu_type, n.gpus))]
        },
        **(bcube_of(instance) if instance.bcube else racks_of(instance)),
        "gpu_types": {kind: {"memory": f"{size / 1e9:g} GB"} for kind, size in instance.memory.items()},
        "queues": {queue: {"gpu_limit": limit} for queue, limit in instance.queue_limits.items()},
    }
    path = folder / "cluster.yaml"
    head = {"apiVersion": "pointsman/v1", "kind": "Cluster", "metadata": {"name": "small"}}
    path.write_text(yaml.safe_dump(head | {"spec": spec}))
    return pointsman.load_cluster(str(path))


def racks_of(instance: SharedInstance) -> dict[str, Any]:
    nodes = instance.nodes
    racks = [[n for n in nodes if n.rack == rack] for rack in sorted({n.rack for n in nodes})]
    return {
        "racks": [{"nodes": [{"type": f"{n.gpu_type}x{n.gpus}"} for n in rack]} for rack in racks],
        "racks_per_pod": max(len({n.rack for n in nodes if n.pod == pod}) for pod in {n.pod for n in nodes}),
        "network": {
            "rack": {"latency": "5 us"},
            "pod": {"oversubscription": instance.network.oversubscription, "latency": "10 us"},
        },
    }


def bcube_of(instance: SharedInstance) -> dict[str, Any]:
    return {
        "nodes": [{"type": f"{n.gpu_type}x{n.gpus}"} for n in instance.nodes],
        "topology": {"bcube": {"n": instance.bcube}},
    }


def paths_of(host: Host) -> dict[str, str]:
    capacities = {"pcie": host.pcie, "memory": host.memory, "socket_link": host.link}
    return {name: f"{mb_per_s:g} MB/s" for name, mb_per_s in capacities.items()}


def node_demand_of(name: str, neighbours: Neighbours | Learnt | None) -> dict[str, Any]:
    if neighbours is None or name not in neighbours.takes:
        return {}
    takes = neighbours.takes[name]
    cores = {"per_gpu": takes.cores, "theta": takes.cores_theta, "source": "ours"}
    traffic = {"mb_per_s_per_gpu": takes.traffic, "theta": takes.traffic_theta, "source": "ours"}
    return {"node": {"cores": cores, "traffic": traffic}}


def profiles_of(instance: SharedInstance, folder: Path, neighbours: Neighbours | Learnt | None = None) -> Path:
    models = {
        name: {
            "title": name,
            "gradient": {"bytes": float(model.gradient_bytes), "source": "ours"},
            "batch": {"per_gpu": model.samples, "source": "ours"},
            "memory": {
                "fixed_bytes": float(model.fixed_bytes),
                "bytes_per_sample": float(model.bytes_per_sample),
                "source": "ours",
            },
            "overlap": {"delta": 2.0, "source": "ours"},
            "accumulates": model.accumulates,
            "compute": {
                kind: {"alpha_s": c.alpha_s, "beta_s_per_sample": c.beta_s, "delta": c.delta, "source": "ours"}
                for kind, c in model.compute.items()
            },
            **node_demand_of(name, neighbours),
        }
        for name, model in instance.models.items()
    }
    path = folder / "profiles.yaml"
    head = {"apiVersion": "pointsman/v1", "kind": "ModelProfiles", "metadata": {"name": "small"}}
    path.write_text(yaml.safe_dump(head | {"spec": {"models": models}}))
    return path


def node_interference_of(neighbours: Neighbours | Learnt | None, folder: Path) -> str:
    """What the option says."""
    if neighbours is None:
        return "none"
    return node_words_of(neighbours) if isinstance(neighbours, Neighbours) else learnt_file(neighbours, folder)


def learnt_file(learnt: Learnt, folder: Path) -> str:
    """The path of a file that says the same; half of what it has is said to be predicted."""
    servers = []
    for kind, laws in learnt.laws.items():
        models: dict[str, Any] = {}
        for name, law in laws.items():
            beside = {other: {"met": met, "per_gpu": gpu} for other, (met, gpu) in law.beside.items()}
            otherwise = {"alone": law.alone, "per_own_gpu": law.per_own_gpu, "beside": beside}
            models[name] = {"measured": {}, "predicted": {}, "otherwise": otherwise}
        for i, ((name, own, others), times) in enumerate(learnt.times[kind].items()):
            text = f"{own} beside " + " + ".join(f"{other}*{gpus}" for other, gpus in others) if others else str(own)
            which, figure = ("measured", times) if i % 2 else ("predicted", [times, 0.1])
            models[name][which][text] = figure
        servers.append({"gpu_type": kind[0], "gpus": kind[1], "models": models})
    path = folder / "learnt.yaml"
    head = {"apiVersion": "pointsman/v1", "kind": "LearnedInterference", "metadata": {"name": "small"}}
    path.write_text(yaml.safe_dump(head | {"spec": {"source": "drawn", "servers": servers}}))
    return str(path)


def interference_of(instance: SharedInstance, folder: Path) -> str:
    """What the option says."""
    if instance.interference != "file":
        return instance.interference
    kinds: dict[str, Any] = {}
    for (kind, a, b), xi in instance.xi.items():
        kinds.setdefault(kind, {"slow_down": {}})["slow_down"].setdefault(a, {})[b] = xi
    for kind in kinds.values():
        kind["law"] = {part: dict.fromkeys(kind["slow_down"], 0.0) for part in ("sensitivity", "pressure")}
    path = folder / "pairs.yaml"
    head = {"apiVersion": "pointsman/v1", "kind": "Interference", "metadata": {"name": "small"}}
    path.write_text(yaml.safe_dump(head | {"spec": {"source": "drawn", "gpu_types": kinds}}))
    return str(path)


def with_measured_pairs(instance: SharedInstance, word: str) -> SharedInstance:
    """The same with the shipped ``table`` or ``law``."""
    found = load_interference(word, load_catalogue())
    return replace(instance, interference=word, xi={pair: found.slow_down(*pair) for pair in instance.xi})


def workload_of(instance: SharedInstance) -> pointsman.Workload:
    jobs = instance.jobs
    samples = [job.samples or (instance.models[job.model].samples if job.model else 1) for job in jobs]
    columns = {
        "submit_s": [job.submit_ms / 1000 for job in jobs],
        "gpus": [job.gpus for job in jobs],
        "duration_s": [job.work_ms / 1000 for job in jobs],
        "model": [job.model or None for job in jobs],
        "gpu_type": [job.gpu_type or None for job in jobs],
        "queue": [job.queue or None for job in jobs],
        "priority": [job.priority for job in jobs],
        "time_limit_s": [job.told_ms / 1000 for job in jobs],
        "batch_size": [job.samples and job.gpus * some for job, some in zip(jobs, samples, strict=True)],
        "gpus_per_node": [job.per_node or None for job in jobs],
        "fraction": [job.milli / 1000 if job.milli < 1000 else None for job in jobs],
    }
    text = {name: pl.String for name in ("model", "gpu_type", "queue")}
    schema = text | {"batch_size": pl.Int64, "gpus_per_node": pl.Int64, "fraction": pl.Float64}
    return pointsman.Workload.of(pl.DataFrame(columns, schema_overrides=schema))


ACTIONS = ("START", "PREEMPT", "REBATCH", "RESIZE", "RESIZED")


def run_engine(
    instance: SharedInstance,
    folder: Path,
    *,
    policy: Any = None,
    contention: Contention | None = None,
    neighbours: Neighbours | Learnt | None = None,
    forecasts: Neighbours | Learnt | None = None,
    rate_model: str | None = None,
    audit: bool = True,
) -> SharedSchedule:
    """Under its own policy, or another's; `forecasts` is what its parameter `interference` says."""
    stated = forecasts if isinstance(forecasts, Neighbours) else neighbours
    params = {} if forecasts is None else {"interference": node_interference_of(forecasts, folder)}
    own = f"rounds({instance.policy}, {instance.round_ms / 1000:g})" if instance.round_ms else instance.policy
    words = {"NODE_DOWN": "DOWN", "NODE_UP": "UP", "NODE_DRAIN": "DRAIN"}
    result = simulate(
        workload_of(instance),
        cluster_of(instance, folder, stated),
        policy or own,
        params=instance.params | params if policy is None else {},
        seed=instance.seed,
        placement=None if instance.policy == "pollux" else instance.placement,
        overheads=Overheads(**instance.overheads),
        estimate="limit",
        profiles=[profiles_of(instance, folder, stated)],
        gpu_sharing=instance.sharing,
        interference=interference_of(instance, folder),
        node_events=[(at / 1000, str(node), words[kind]) for at, kind, node in instance.script if kind in words],
        cancels=[(at / 1000, row) for at, kind, row in instance.script if kind == "CANCEL"],
        contention=words_of(contention),
        node_interference=node_interference_of(neighbours, folder),
        rate_model=rate_model,
        audit=audit,
    )
    return schedule_of(result)


def words_of(contention: Contention | None) -> str:
    if contention is None:
        return "none"
    return f"node-link:{contention.penalty}" if contention.how == "node-link" else contention.how


def schedule_of(result: pointsman.Result) -> SharedSchedule:
    """What the engine did, in the oracle's words."""
    jobs = {name: result.jobs[name].to_list() for name in result.jobs.columns}

    def ms(name: str) -> list[Any]:
        return [None if value is None else round(1000 * value) for value in jobs[name]]

    return SharedSchedule(
        first_start_ms=ms("start_s"),
        end_ms=ms("end_s"),
        run_ms=ms("run_s"),
        preemptions=jobs["preemptions"],
        lost_ms=[1000 * value for value in jobs["lost_s"]],
        comm_ms=[1000 * value for value in jobs["comm_s"]],
        cancelled=[state == "CANCELLED" for state in jobs["state"]],
        nodes=jobs["nodes"],
        locality=[-1 if value is None else Locality[value.upper()].value for value in jobs["locality"]],
        log=log_of(result),
    )


def log_of(result: pointsman.Result) -> list[Any]:
    assert result.events is not None
    log = []
    for (_,), parts in result.events.group_by("seq", maintain_order=True):
        time_ms, kind, row, arg = parts.select("time_ms", "kind", "row", "arg").row(0)
        if kind in ACTIONS:
            pairs = sorted(zip(parts["node"], (mask & (1 << 64) - 1 for mask in parts["gpu_mask"]), strict=True))
            log.append((time_ms, kind, row, tuple(pair for pair in pairs if pair[1]), arg))
    return log


def differences(engine: SharedSchedule, oracle: SharedSchedule) -> list[str]:
    """The first of each field."""
    found = []
    theirs = asdict(engine)
    for name, wanted in asdict(oracle).items():
        close = 1e-3 if name == "comm_ms" else 1e-6 if name == "lost_ms" else 0
        same = [
            a == b or (close and abs(a - b) <= close * (1 + abs(b))) for a, b in zip(theirs[name], wanted, strict=False)
        ]
        if not all(same) or len(theirs[name]) != len(wanted):
            at = same.index(False) if False in same else len(same)
            found.append(f"{name}[{at}]: engine {theirs[name][at : at + 2]}, oracle {wanted[at : at + 2]}")
    return found
