"""Jobs of Kubernetes, as `kubectl get -o json|yaml` prints them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from pointsman.errors import InputError
from pointsman.workload import Workload, read_workload

Thing = dict[str, Any]
List = Callable[..., Workload]


def at(minute: float) -> str:
    """So many minutes after 08:00."""
    seconds = round(minute * 60)
    return f"2026-03-02T{8 + seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}Z"


def thing(
    kind: str, name: str, api: str, *, created: float = 0, owner: tuple[str, str] | None = None, **body: Any
) -> Thing:
    metadata = {"name": name, "namespace": "vision", "uid": f"{kind}-{name}", "creationTimestamp": at(created)}
    metadata |= {key: body.pop(key) for key in ("labels", "annotations") if key in body}
    if owner:
        metadata["ownerReferences"] = [{"kind": owner[0], "name": owner[1], "uid": f"{owner[0]}-{owner[1]}"}]
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **body}


def asking(count: int | dict[str, int], **more: Any) -> Thing:
    """The specification of a pod."""
    limits = {"nvidia.com/gpu": str(count)} if isinstance(count, int) else {name: str(n) for name, n in count.items()}
    return {"containers": [{"name": "main", "resources": {"limits": {"cpu": "8", **limits}}}], **more}


def condition(kind: str, minute: float, **more: Any) -> Thing:
    return {"type": kind, "status": "True", "lastTransitionTime": at(minute), **more}


def pod(name: str, spec: Thing, start: float | None, end: float | None, phase: str = "Succeeded", **more: Any) -> Thing:
    status: Thing = {"phase": phase, "conditions": []}
    if start is not None:
        status["conditions"] = [condition("PodScheduled", start)]
        spec = {"nodeName": f"node-{name}", **spec}
    if end is not None:
        status["containerStatuses"] = [{"state": {"terminated": {"startedAt": at(start or 0), "finishedAt": at(end)}}}]
    return thing("Pod", name, "v1", spec=spec, status=status, **more)


def job(name: str, pods: int, spec: Thing, start: float, end: float | None, **more: Any) -> Thing:
    status: Thing = {"startTime": at(start)}
    if end is not None:
        status |= {"completionTime": at(end), "conditions": [condition("Complete", end)]}
    template = {"parallelism": pods, "completions": pods, "template": {"spec": spec}}
    return thing("Job", name, "batch/v1", spec=template, status=status, **more)


def listed(things: list[Thing]) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": things}, indent=1)


@pytest.fixture
def read(tmp_path: Path) -> List:
    def of(*things: Thing, text: Callable[[list[Thing]], str] = listed) -> Workload:
        (tmp_path / "log").write_text(text(list(things)))
        found = read_workload(tmp_path / "log")
        assert found.provenance.format == "kubernetes"
        return found

    return of


def rows(found: Workload, *columns: str) -> list[tuple[Any, ...]]:
    return found.jobs.select("job_id", *columns).rows()


PAIR = [
    job("train", 2, asking(8), 1, 121),
    pod("train-0", asking(8), 5, 121, owner=("Job", "train"), labels={"batch.kubernetes.io/job-name": "train"}),
    pod("train-1", asking(8), 6, 120, owner=("Job", "train"), labels={"batch.kubernetes.io/job-name": "train"}),
]


def test_a_job_and_its_pods_are_one(read: List) -> None:
    found = read(*PAIR)
    columns = ("submit_s", "gpus", "start_s", "end_s", "duration_s", "nodes_requested", "gpus_per_node", "status")
    assert rows(found, *columns) == [("vision/train", 0.0, 16, 300.0, 7260.0, 6960.0, 2, 8, "COMPLETED")]
    assert rows(found, "account", "queue", "node_list") == [
        ("vision/train", "vision", "vision", "node-train-0,node-train-1")
    ]
    assert found.quality.merged == {"objects of a job of another object": 2}
    assert found.quality.rows_read == 3


def test_time_between_the_pods_of_a_job_is_no_run_time(read: List) -> None:
    failed = pod("train-a", asking(4), 0, 60, "Failed", owner=("Job", "train"))
    found = read(
        job("train", 1, asking(4), 0, 360), failed, pod("train-b", asking(4), 180, 360, owner=("Job", "train"))
    )
    assert rows(found, "gpus", "start_s", "end_s", "duration_s") == [("vision/train", 4, 0.0, 21600.0, 14400.0)]


def test_a_pod_on_a_slice_runs_as_long_as_it_ran(read: List) -> None:
    found = read(pod("small", asking({"nvidia.com/mig-1g.10gb": 1}), 0, 120))
    assert rows(found, "gpus", "fraction", "duration_s") == [("vision/small", 1, 0.142, 7200.0)]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps,
        lambda things: "\n".join(map(json.dumps, things)),
        lambda things: "\n".join(json.dumps(one, indent=2) for one in things),
        lambda things: yaml.safe_dump({"apiVersion": "v1", "items": things, "kind": "List"}),
        yaml.safe_dump_all,
        lambda things: yaml.safe_dump({"apiVersion": "v1", "items": things, "kind": "List"}, default_flow_style=True),
        lambda things: yaml.safe_dump_all(things, default_flow_style=True, explicit_start=True),
        lambda things: "".join(f"- {yaml.safe_dump(one, default_flow_style=True, width=10_000)}" for one in things),
        lambda things: "# of Monday\n" + yaml.safe_dump_all(things, default_flow_style=None),
    ],
    ids=[
        "array",
        "lines",
        "documents",
        "YAML",
        "YAML documents",
        "braces",
        "more braces",
        "list of braces",
        "some braces",
    ],
)
def test_the_same_in_all_notations(text: Callable[[list[Thing]], str], read: List) -> None:
    assert read(*PAIR, text=text).jobs.equals(read(*PAIR).jobs)


def test_a_job_with_a_time_of_completion_and_no_condition_has_ended(read: List) -> None:
    done, other = job("done", 1, asking(1), 1, 31), job("other", 1, asking(1), 1, 121)
    del done["status"]["conditions"]
    assert rows(read(done, other), "status", "duration_s") == [
        ("vision/done", "COMPLETED", 1800.0), ("vision/other", "COMPLETED", 7200.0),
    ]  # fmt: skip


def test_a_job_without_its_pods_starts_when_it_makes_them(read: List) -> None:
    found = read(PAIR[0])
    assert rows(found, "gpus", "start_s", "duration_s") == [("vision/train", 16, 60.0, 7200.0)]
    assert any("then may have waited for nodes" in note and note.endswith(": 1") for note in found.quality.notes)


def workload(conditions: list[Thing], pods: int = 2, **more: Any) -> Thing:
    spec = {
        "queueName": "research", "priority": 100,
        "podSets": [{"name": "main", "count": pods, "template": {"spec": asking(4)}}],
    }  # fmt: skip
    assigned = [{"name": "main", "count": pods, "flavors": {"nvidia.com/gpu": "a100-80g"}}]
    status = {"conditions": conditions, "admission": {"podSetAssignments": assigned}}
    return thing("Workload", "job-train", "kueue.x-k8s.io/v1beta1", created=0.5, spec=spec, status=status, **more)


def test_what_kueue_admits(read: List) -> None:
    """Quota is reserved at 10 and the job admitted at 12; it was submitted at half a minute and ends at 72."""
    conditions = [
        condition("QuotaReserved", 10),
        condition("Admitted", 12),
        condition("Finished", 72, reason="Succeeded"),
    ]
    found = read(workload(conditions))
    columns = ("submit_s", "start_s", "duration_s", "gpus", "queue", "priority", "gpu_type", "status")
    assert rows(found, *columns) == [("vision/job-train", 0.0, 690.0, 3600.0, 8, "research", 100, "a100", "COMPLETED")]
    failed = read(workload([*conditions[:2], condition("Finished", 72, reason="Failed")]))
    assert failed.jobs["status"].to_list() == ["FAILED"]


def test_a_workload_its_job_and_its_pods_are_one(read: List) -> None:
    conditions = [condition("Admitted", 12), condition("Finished", 72)]
    labels = {"batch.kubernetes.io/job-name": "train", "kueue.x-k8s.io/queue-name": "research"}
    pods = [pod(f"train-{i}", asking(4), 13, 72, owner=("Job", "train"), labels=labels) for i in range(2)]
    found = read(workload(conditions, owner=("Job", "train")), job("train", 2, asking(4), 12.5, 72), *pods)
    assert rows(found, "submit_s", "start_s", "duration_s", "gpus") == [("vision/train", 0.0, 780.0, 3540.0, 8)]
    assert found.quality.merged == {"objects of a job of another object": 3}


def test_what_waits_and_what_was_evicted(read: List) -> None:
    waiting = workload([{"type": "QuotaReserved", "status": "False", "lastTransitionTime": at(1), "reason": "Pending"}])
    evicted = workload([condition("Evicted", 30, reason="Preempted")])
    evicted["metadata"] |= {"name": "other", "uid": "other"}
    done = job("done", 1, asking(1), 1, 61)
    found = read(waiting, evicted, done)
    assert rows(found) == [("vision/done",)]
    assert found.quality.dropped == {
        "evicted, and waits to start again: its runs are not in the list": 1, "never started": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("owners", "labels", "name"),
    [
        ([("PyTorchJob", "pt")] * 2, {}, "pt"),
        ([("PyTorchJob", "pt")] * 2, {"training.kubeflow.org/job-name": "pt"}, "pt"),
        ([("Job", "js-a-0"), ("Job", "js-b-0")], {"jobset.sigs.k8s.io/jobset-name": "js"}, "js"),
        ([None, None], {"volcano.sh/job-name": "v"}, "v"),
        ([("ReplicaSet", "r")] * 2, {"leaderworkerset.sigs.k8s.io/name": "lws",
                                     "leaderworkerset.sigs.k8s.io/group-index": "3"}, "lws-3"),
    ],
)  # fmt: skip
def test_pods_are_called_by_their_owner_which_is_not_in_the_list(owners: list, labels: Thing, name: str, read: List):
    pods = [pod(f"p-{k}", asking(1), 0, 10, labels=labels, owner=owner) for k, owner in enumerate(owners)]
    assert rows(read(*pods), "gpus") == [(f"vision/{name}", 2)]


def test_a_pod_of_many_has_its_own_name(read: List) -> None:
    pods = [pod(f"r-{k}", asking(1), 0, 10, owner=("ReplicaSet", "r")) for k in range(2)]
    assert rows(read(*pods), "gpus") == [("vision/r-0", 1), ("vision/r-1", 1)]


def test_pods_of_a_gang_and_those_that_replaced_them(read: List) -> None:
    """Two pods of 2 GPUs run from 0 to 30 and fail; their successors run from 40 to 100."""
    gang = {"pod-group.scheduling.sigs.k8s.io/name": "g"}
    first = [pod(f"a{i}", asking(2), 0, 30, "Failed", labels=gang) for i in range(2)]
    second = [pod(f"b{i}", asking(2), 40, 100, labels=gang, created=31) for i in range(2)]
    found = read(*first, *second, pod("cpu", asking(0), 0, 5))
    columns = ("gpus", "submit_s", "start_s", "end_s", "duration_s", "status", "nodes_requested")
    assert rows(found, *columns) == [("vision/g", 4, 0.0, 0.0, 6000.0, 5400.0, "COMPLETED", None)]
    assert found.quality.dropped == {"asks for no GPU": 1}
    assert found.quality.clamped == {"ran several times: run time of all its runs": 1}


def test_single_pods(read: List) -> None:
    """One runs, one waits, one was evicted by its node; two of a Deployment are no gang."""
    evicted = pod("evicted", asking(1), 0, None, "Failed")
    evicted["status"] |= {"reason": "Evicted"}
    evicted["status"]["conditions"].append(condition("DisruptionTarget", 20))
    service = [pod(f"web-{i}", asking(1), 0, 60, owner=("ReplicaSet", "web")) for i in range(2)]
    found = read(
        pod("runs", asking(4, priority=7, activeDeadlineSeconds=9000), 10, None, "Running"),
        pod("waits", asking(4), None, None, "Pending"), evicted, *service,
    )  # fmt: skip
    assert sorted(rows(found, "gpus", "duration_s", "status", "priority", "time_limit_s")) == [
        ("vision/evicted", 1, 1200.0, "PREEMPTED", 0, None),
        ("vision/runs", 4, 3000.0, "RUNNING", 7, 9000.0),
        ("vision/web-0", 1, 3600.0, "COMPLETED", 0, None),
        ("vision/web-1", 1, 3600.0, "COMPLETED", 0, None),
    ]
    assert found.quality.dropped == {"never started": 1}
    assert found.quality.clamped == {"still running: ran at least until the latest time in the list": 1}
    assert found.jobs.filter(found.jobs["status"] == "RUNNING")["end_s"].to_list() == [None]


def test_kubeflow_volcano_jobsets_and_rays(read: List) -> None:
    template = {"template": {"spec": asking(8, nodeSelector={"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"})}}
    torch = thing(
        "PyTorchJob", "torch", "kubeflow.org/v1",
        spec={"pytorchReplicaSpecs": {"Master": {"replicas": 1, **template}, "Worker": {"replicas": 3, **template}}},
        status={
            "startTime": at(1), "completionTime": at(61),
            "conditions": [condition("Created", 0), {"type": "Running", "status": "False"}, condition("Succeeded", 61)],
        },
    )  # fmt: skip
    volcano = thing(
        "Job", "mpi", "batch.volcano.sh/v1alpha1",
        spec={
            "queue": "gold", "minAvailable": 3,
            "tasks": [
                {"name": "launcher", "replicas": 1, "template": {"spec": asking(0)}},
                {"name": "worker", "replicas": 2, "template": {"spec": asking(2)}},
            ],
        },
        status={
            "state": {"phase": "Completed", "lastTransitionTime": at(45)},
            "conditions": [
                {"status": "Pending", "lastTransitionTime": at(1)}, {"status": "Running", "lastTransitionTime": at(15)},
            ],
        },
    )  # fmt: skip
    jobset = thing(
        "JobSet", "set", "jobset.x-k8s.io/v1alpha2",
        spec={"replicatedJobs": [
            {"replicas": 2, "template": {"spec": {"parallelism": 3, "template": {"spec": asking(1)}}}},
        ]},
        status={"conditions": [condition("Completed", 90)]},
    )  # fmt: skip
    children = [job(f"set-{i}", 3, asking(1), 30, 90, owner=("JobSet", "set")) for i in range(2)]
    ray = thing(
        "RayJob", "ray", "ray.io/v1",
        spec={"rayClusterSpec": {
            "headGroupSpec": {"template": {"spec": asking(0)}}, "workerGroupSpecs": [{"replicas": 2, **template}]}},
        status={"jobStatus": "SUCCEEDED", "startTime": at(2), "endTime": at(32)},
    )  # fmt: skip
    found = read(torch, volcano, jobset, *children, ray)
    columns = ("gpus", "start_s", "duration_s", "queue", "gpu_type", "nodes_requested", "gpus_per_node", "status")
    assert sorted(rows(found, *columns)) == [
        ("vision/mpi", 4, 900.0, 1800.0, "gold", None, None, None, "COMPLETED"),
        ("vision/ray", 16, 120.0, 1800.0, "vision", "h100", 2, 8, "COMPLETED"),
        ("vision/set", 6, 1800.0, 3600.0, "vision", None, None, None, "COMPLETED"),
        ("vision/torch", 32, 60.0, 3600.0, "vision", "h100", 4, 8, "COMPLETED"),
    ]
    assert found.quality.merged == {"objects of a job of another object": 2}


@pytest.mark.parametrize(
    ("resources", "gpus", "gpu_type", "fraction"),
    [
        ({"nvidia.com/mig-3g.20gb": 1}, 1, None, 0.428),
        ({"nvidia.com/gpu": 1, "nvidia.com/gpucores": 30}, 1, None, 0.3),
        ({"amd.com/gpu": 4}, 4, None, None),
        ({"habana.ai/gaudi": 8}, 8, "gaudi", None),
        ({"google.com/tpu": 4}, 4, "tpu", None),
        ({"huawei.com/Ascend910": 8}, 8, "ascend910", None),
    ],
)
def test_accelerators_and_shares(
    resources: dict[str, int], gpus: int, gpu_type: str, fraction: float, read: List
) -> None:
    found = read(pod("a", asking(resources), 0, 60))
    assert rows(found, "gpus", "gpu_type", "fraction") == [("vision/a", gpus, gpu_type, fraction)]


@pytest.mark.parametrize("resources", [{"nvidia.com/gpu.shared": 2}, {"nvidia.com/gpu": 2, "nvidia.com/gpumem": 4000}])
def test_shares_of_unknown_size_are_left_out(resources: dict[str, int], read: List) -> None:
    found = read(pod("a", asking(resources), 0, 60), pod("b", asking(1), 0, 60))
    assert found.quality.dropped == {"on slices or shares of GPUs that are no share of one GPU": 1}
    assert any("left out, at most 2.0 GPU-h" in note for note in found.quality.notes)


def test_other_objects_of_the_list(read: List) -> None:
    """A Node tells the GPU type of the pods on it, a PriorityClass its number; neither is a job."""
    node = thing("Node", "node-a", "v1", labels={"nvidia.com/gpu.product": "Tesla-T4"})
    high = {**thing("PriorityClass", "high", "scheduling.k8s.io/v1"), "value": 50}
    found = read(node, high, pod("a", asking(1, priorityClassName="high"), 0, 60))
    assert rows(found, "gpu_type", "priority") == [("vision/a", "t4", 50)]
    assert found.quality.dropped == {
        "an object of another kind: Node": 1,
        "an object of another kind: PriorityClass": 1,
    }


def test_claims_and_times_that_cannot_be_read(read: List) -> None:
    claims = pod("claims", asking(0, resourceClaims=[{"name": "gpu"}]), 0, 60)
    odd = pod("odd", asking(1), 0, 60)
    odd["metadata"]["creationTimestamp"] = "yesterday"
    found = read(claims, odd, pod("a", asking(1), 0, 60))
    assert found.quality.dropped == {
        "asks for devices by resource claims, which are not read": 1, "submit time cannot be read": 1,
    }  # fmt: skip
    assert "has 'yesterday'" in found.quality.render()


def test_what_is_no_list_of_jobs(tmp_path: Path) -> None:
    (tmp_path / "log").write_text(json.dumps(thing("CronJob", "nightly", "batch/v1")))
    with pytest.raises(InputError, match="no pods or jobs of Kubernetes, but CronJob"):
        read_workload(tmp_path / "log")
    (tmp_path / "log").write_text(listed(PAIR)[:-20])
    with pytest.raises(InputError, match="broken JSON"):
        read_workload(tmp_path / "log")
    (tmp_path / "log").write_text("apiVersion: v1\nkind: Pod\nmetadata: {name: [a\n")
    with pytest.raises(InputError, match="broken YAML"):
        read_workload(tmp_path / "log")


def test_items_of_a_pod_list_do_not_say_their_kind(read: List) -> None:
    """As the API itself answers."""

    def raw(things: list[Thing]) -> str:
        bare = [{key: one[key] for key in one if key not in ("kind", "apiVersion")} for one in things]
        return json.dumps({"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": bare})

    assert rows(read(pod("a", asking(2), 0, 60), text=raw), "gpus", "duration_s") == [("vision/a", 2, 3600.0)]


@pytest.mark.parametrize(
    ("product", "fraction", "left_out"),
    [("NVIDIA-A100-SXM4-40GB-MIG-1g.5gb", 0.142, 0), ("Tesla-T4-SHARED", None, 1), ("Tesla-T4", None, 0)],
)
def test_nodes_that_offer_parts_under_the_name_of_gpus(
    product: str, fraction: float, left_out: int, read: List
) -> None:
    label = {"nvidia.com/gpu.product": product}
    by_selector = read(pod("a", asking(1, nodeSelector=label), 0, 60), pod("b", asking(1), 0, 60))
    by_node = read(thing("Node", "node-a", "v1", labels=label), pod("a", asking(1), 0, 60), pod("b", asking(1), 0, 60))
    for found in (by_selector, by_node):
        assert found.jobs.height == 2 - left_out
        assert found.jobs["fraction"].to_list()[0] == (None if left_out else fraction)
        assert found.quality.dropped.get("on slices or shares of GPUs that are no share of one GPU", 0) == left_out


def test_a_pod_group_alone(read: List) -> None:
    spec = {"minMember": 2, "minResources": {"cpu": "16", "nvidia.com/gpu": "16"}, "queue": "gold"}
    group = thing("PodGroup", "g", "scheduling.volcano.sh/v1beta1", spec=spec)
    group["status"] = {"phase": "Running", "conditions": [condition("Scheduled", 5)]}
    found = read(group, pod("a", asking(1), 0, 60))
    assert rows(found, "gpus", "start_s", "duration_s", "status", "queue")[0] == (
        "vision/g", 16, 300.0, 3300.0, "RUNNING", "gold",
    )  # fmt: skip


def test_anti_affinity_spreads_pods(read: List) -> None:
    apart = {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "kubernetes.io/hostname"}]
        }
    }
    found = read(job("spread", 4, asking(2, affinity=apart), 0, 60), job("packed", 4, asking(2), 0, 60))
    shapes = {name: (nodes, each) for name, nodes, each in rows(found, "nodes_requested", "gpus_per_node")}
    assert shapes == {"vision/spread": (4, 2), "vision/packed": (None, None)}


def test_a_volcano_job_without_conditions_and_a_controllers_start(read: List) -> None:
    spec = {"tasks": [{"replicas": 2, "template": {"spec": asking(1)}}]}
    volcano = thing("Job", "mpi", "batch.volcano.sh/v1alpha1", spec=spec)
    volcano["status"] = {"state": {"phase": "Completed", "lastTransitionTime": at(90)}, "runningDuration": "1h0m0s"}
    torch = thing(
        "PyTorchJob",
        "t",
        "kubeflow.org/v1",
        spec={"pytorchReplicaSpecs": {"Worker": {"template": {"spec": asking(1)}}}},
    )
    torch["status"] = {"startTime": at(1), "completionTime": at(61)}
    found = read(volcano, torch)
    assert sorted(rows(found, "gpus", "start_s", "duration_s")) == [
        ("vision/mpi", 2, 1800.0, 3600.0), ("vision/t", 1, 60.0, 3600.0),
    ]  # fmt: skip
    assert any("then may have waited for nodes" in note and note.endswith(": 1") for note in found.quality.notes)


@pytest.mark.parametrize(
    "label",
    [
        "batch.kubernetes.io/job-name", "job-name", "training.kubeflow.org/job-name", "volcano.sh/job-name",
        "scheduling.k8s.io/group-name", "kueue.x-k8s.io/pod-group-name", "jobset.sigs.k8s.io/jobset-name",
        "ray.io/cluster", "pod-group.scheduling.sigs.k8s.io/name", "kueue.x-k8s.io/job-uid",
    ],
)  # fmt: skip
@pytest.mark.parametrize("where", ["labels", "annotations"])
def test_labels_that_join_pods(label: str, where: str, read: List) -> None:
    pods = [pod(f"p{i}", asking(2), 0, 60, **{where: {label: "gang"}}) for i in range(3)]
    found = read(*pods, pod("alone", asking(2), 0, 60, **{where: {label: "other"}}))
    assert sorted(found.jobs["gpus"].to_list()) == [2, 6]


def test_groups_of_a_leader_worker_set_and_native_gangs(read: List) -> None:
    name, index = "leaderworkerset.sigs.k8s.io/name", "leaderworkerset.sigs.k8s.io/group-index"
    sets = [pod(f"l{i}", asking(1), 0, 60, labels={name: "serve", index: str(i % 2)}) for i in range(4)]
    native = [pod(f"n{i}", asking(8, schedulingGroup={"podGroupName": "g"}), 0, 60) for i in range(2)]
    assert sorted(read(*sets, *native).jobs["gpus"].to_list()) == [2, 2, 16]


def test_pods_of_an_earlier_run_count(read: List) -> None:
    """Half of the GPUs for 30 minutes before the job was evicted, and an hour after it was admitted again."""
    conditions = [condition("Admitted", 60), condition("Finished", 120)]
    before = pod("old", asking(4), 10, 40, "Failed", labels={"kueue.x-k8s.io/job-uid": "Workload-job-train"})
    found = read(workload(conditions), before)
    assert rows(found, "gpus", "start_s", "duration_s") == [("vision/job-train", 8, 600.0, 4500.0)]
    assert found.quality.clamped == {"ran several times: run time of all its runs": 1}
