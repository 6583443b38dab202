"""Suggestions of messages about shapes, dates, tables, Kubernetes' objects and runaways in logs."""

from tests.cli.suggestion_files import HEAD, Suggestion

SHAPED = f"{HEAD},nodes_requested,gpus_per_node\n"
ALL = "gpus=gpus,duration_s=duration_s"

LOG_FILES = {
    "slices.csv": f"{HEAD},fraction\na,0,1,600,0.142\nb,1,1,600,0.428\nc,2,2,600,\n",
    "shaped.csv": f"{SHAPED}a,0,8,600,4,2\nb,1,2,600,,\n",
    "wide_shape.csv": f"{SHAPED}a,0,8,600,1,8\nb,1,2,600,,\n",
    "odd_shape.csv": f"{SHAPED}a,0,8,600,2,2\n",
    "uneven.csv": f"{HEAD},nodes_requested\na,0,8,600,3\n",
    "uneven_nodes.csv": f"{HEAD},gpus_per_node\na,0,8,600,3\n",
    "days.csv": "when,gpus,duration_s\n03/02/2026 08:00,1,600\n04/02/2026 08:00,1,600\n",
    "steps_of_jobs.csv": "id,when,gpus,duration_s\n7,0,1,600\n7.batch,0,1,600\n",
    "epochs.csv": "when,gpus,duration_s\n1772438400000,1,600\n1772438500000,1,600\n",
    "rows.jsonl": '{"When": 0, "Cards": 1, "Seconds": 600}\n{"When": 5, "Cards": 1, "Seconds": 600}\n',
    "runaways.csv": f"{HEAD},time_limit_s,status\na,0,1,9000,100,RUNNING\nb,0,1,600,900,COMPLETED\n",
    "one_runaway.csv": f"{HEAD},time_limit_s,status\na,0,1,9000,100,RUNNING\n",
    "slow_runaway.csv": f"{HEAD},time_limit_s,status\na,0,1,500,100,RUNNING\nb,0,1,600,900,COMPLETED\n",
    "tenants.csv": f"{HEAD},tenant\na,0,1,600,us\n",
    "batsim.json": '{"nb_res": 4, "jobs": [{"id": "1", "subtime": 0, "res": 1, "profile": "p"}], '
    '"profiles": {"p": {"type": "delay", "delay": 10}}}',
    "scontrol.txt": "NodeName=n1 CPUTot=8 Gres=gpu:a100:8 RealMemory=1000 Sockets=2\n",
    "node.json": '{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1", "labels": {"nvidia.com/gpu.product": '
    '"NVIDIA-A100-SXM4-80GB"}}, "status": {"capacity": {"cpu": "8", "memory": "64Gi", "nvidia.com/gpu": "8"}}}\n',
}  # fmt: skip
"""More that readers of messages have."""


def dates(order: str) -> str:
    return f"trace info days.csv --columns submit_s=when,{ALL} {order}"


OF_LOGS = [
    Suggestion(
        "'pointsman cluster import {} -o FILE' makes one",
        "compare jobs.csv --cluster scontrol.txt --policy fifo",
        "'pointsman (cluster import [^']+)'",
        ("{0} --force\ncompare jobs.csv --cluster file.yaml --policy fifo --oversized drop",),
    ),
    Suggestion(
        "each takes a whole one unless GPUs are shared",
        "compare slices.csv --cluster 1x4 --policy fifo",
        r"(--gpu-sharing 7) .*such as (\w+), (\w+) and ([\w-]+); (--ignore fraction)",
        ("{again} --policy {2} --policy {3} {0}", "compare slices.csv --cluster 1x4 --policy {1} {0}", "{again} {4}"),
    ),
    Suggestion(
        "`pointsman cluster import` makes a cluster file",
        "trace info scontrol.txt",
        "`pointsman (cluster import)`",
        ("{0} scontrol.txt -o c.yaml",),
    ),
    Suggestion(
        "name those that hold them: --columns",
        "trace info table.csv --trace-format csv",
        "(--columns) submit_s",
        ("trace info table.csv {0} submit_s=When,gpus=Cards,duration_s=Seconds",),
    ),
    Suggestion(
        "{}, or --oversized drop or clamp",
        "compare shaped.csv --cluster 2x4 --policy fifo",
        "(--oversized) (drop) or (clamp).*(--ignore shape)",
        ("{again} {0} {1}", "{again} {0} {2}", "{again} {3}"),
    ),
    Suggestion(
        ", or --ignore shape",
        "compare shaped.csv --cluster 2x4 --policy fifo",
        "(--ignore shape)",
        ("{again} {0}",),
    ),
    Suggestion(
        "leave the shapes out by --ignore shape, or the policy",
        "compare shaped.csv --cluster 4x4 --policy pollux",
        "(--ignore shape)",
        ("{again} {0}",),
    ),
    Suggestion(
        "use a cluster of larger nodes, or --ignore shape",
        "capacity wide_shape.csv --cluster 2x4 --policy fifo --target pending_p95_s<=1h",
        "(--ignore shape)",
        ("{again} {0}",),
    ),
    Suggestion(
        "correct one of the three, or leave the shape out by --ignore shape",
        "compare odd_shape.csv --cluster 4x4 --policy fifo",
        "(--ignore shape)",
        ("{again} {0}",),
    ),
    Suggestion(
        "the nodes of a gang have equally many GPUs",
        "compare uneven.csv --cluster 4x4 --policy fifo",
        "(--ignore shape)",
        ("{again} {0}", "compare uneven_nodes.csv --cluster 4x4 --policy fifo {0}"),
    ),
    Suggestion(
        "say --date-order dmy (day first)",
        dates(""),
        r"(--date-order dmy) \(day first\) or (--date-order mdy)",
        (dates("{0}"), dates("{1}")),
    ),
    Suggestion(
        "times are epochs of this size",
        f"trace info epochs.csv --columns submit_s=when,{ALL}",
        "unless (--time-unit) says",
        ("{again} {0} s",),
    ),
    Suggestion(
        "--columns names both submit_s and {}",
        f"trace info days.csv --columns submit_s=when,gap_s=when,{ALL}",
        "both (submit_s) and",
        (dates("--date-order dmy"),),
    ),
    Suggestion(
        "of JSON lines or a list of objects name the keys",
        "trace info rows.jsonl",
        "(--columns) submit_s",
        ("{again} {0} submit_s=When,gpus=Cards,duration_s=Seconds",),
    ),
    Suggestion(
        "--steps drop leaves such rows out",
        f"trace info steps_of_jobs.csv --columns job_id=id,submit_s=when,{ALL}",
        "(--steps drop) .* (--steps keep)",
        ("{again} {0}", "{again} {1}"),
    ),
    Suggestion("--runaways keep keeps them", "trace info runaways.csv", "(--runaways keep)", ("{again} {0}",)),
    Suggestion("--runaways keep keeps them", "trace info one_runaway.csv", "(--runaways keep)", ("{again} {0}",)),
    Suggestion("--runaways drop leaves them out", "trace info slow_runaway.csv", "(--runaways drop)", ("{again} {0}",)),
    Suggestion(
        "--keep-columns {} keeps it, and in Python",
        "simulate due.csv --cluster 2x4 --policy due.py:Own --oversized clamp",
        "(--keep-columns deadline_s)",
        ("{again} {0}",),
    ),
    Suggestion("--keep-columns {}", "trace info tenants.csv", "(--keep-columns tenant)", ("{again} {0}",)),
    Suggestion(
        "cannot be kept of a log of the format {}",
        "trace info batsim.json --keep-columns own",
        "'pointsman (trace convert)'",
        ("{0} batsim.json native.csv",),
    ),
    Suggestion(
        "nodes go to `pointsman cluster import`",
        "trace info node.json",
        "`pointsman (cluster import)`",
        ("{0} node.json -o c.yaml",),
    ),
]
