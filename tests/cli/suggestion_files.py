"""What a reader of messages has in his directory, and what he writes for the words in capitals."""

from typing import NamedTuple


class Suggestion(NamedTuple):
    """A message, and the commands that it names."""

    source: str
    """Part of the string in the source; {} for values."""
    by: str
    """Commands, one a line: the last has the message said, those before it are run first."""
    found: str
    """What is suggested, as a regular expression of the output: its groups are {0}, {1}, ..."""
    then: tuple[str, ...]
    """Commands that are run next; {again} is the one that had the message said."""


HEAD = "job_id,submit_s,gpus,duration_s"
ROWS = [(0, 6, 600), (10, 8, 500), (20, 2, 400), (30, 1, 300), (40, 4, 900), (50, 1, 700)]
JOBS = "\n".join([HEAD, *(f"j{i},{at},{gpus},{s}" for i, (at, gpus, s) in enumerate(ROWS))]) + "\n"


def with_column(name: str, *cells: str) -> str:
    """The jobs with a column more; the last cell is that of all further jobs."""
    lines = JOBS.splitlines()
    last = [cells[-1]] * (len(lines) - 1 - len(cells))
    return "\n".join(
        [f"{lines[0]},{name}", *(f"{line},{cell}" for line, cell in zip(lines[1:], [*cells, *last], strict=True))]
    )


STEPS = "".join(f"bert,t4,{n},1,{b},{0.2 + 0.05 * b + 0.1 * n}\n" for n in (1, 2, 4) for b in (4, 8, 16))
STEPS_HEAD = "model,gpu_type,gpus,nodes,batch_per_gpu,step_s\n"
BESIDE = ("bert,bert", "bert,gpt2", "gpt2,gpt2", "ours,bert", "ours,ours")
PAIRS = "gpu_type,model_a,model_b,norm_a,norm_b\n"
OWN = "import pointsman\n\n\nclass Own:\n    name = 'own'\n    needs = 'none'\n\n"

FILES = {
    "jobs.csv": JOBS,
    "started.csv": with_column("start_s", "0", "600", "600", "900", "1200", "1300"),
    "late.csv": f"{HEAD}\na,5000,1,600\nb,5010,1,600\n",
    "wide.csv": f"{HEAD}\na,0,2,600\nb,1,64,600\n",
    "wider.csv": f"{HEAD}\na,0,64,600\nb,1,64,600\n",
    "typed.csv": with_column("gpu_type", "NVIDIA-B200", "nvidia_h100_80gb_hbm3"),
    "strange.csv": with_column("gpu_type", "odd-gpu"),
    "parts.csv": with_column("partition", "night"),
    "limits.csv": with_column("time_limit_s", "9000", ""),
    "models.csv": with_column("model", "resnet50", "vgg16", "bert"),
    "ours_model.csv": with_column("model", "ours", "bert"),
    "short.csv": f"{HEAD}\na,0,1,4\nb,1,1,5\n",
    "short_tiresias.csv": "job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n"
    "1,1,0,10,vgg16,4,1\n2,1,1,10,vgg16,5,1\n",
    "light.csv": f"{HEAD}\na,0,1,600\nb,5,1,600\nc,3000,1,600\n",
    "table.csv": "When,Cards,Seconds\n0,1,600\n5,1,600\n",
    "nodes.csv": "name,gpus,gpu_type\nn1,8,tesla\nn2,8,a100\n",
    "untyped.csv": "name,gpus\nn1,8\n",
    "all_limits.csv": with_column("time_limit_s", "9000"),
    "openb_jobs.csv": with_column("status", "completed"),
    "grid.yaml": "apiVersion: pointsman/v1\nkind: Experiment\nmetadata: {name: x}\n"
    "spec: {trace: jobs.csv, cluster: [2x4, 3x4], policies: [fifo]}\n",
    "parted.yaml": "apiVersion: pointsman/v1\nkind: Cluster\nmetadata: {name: x}\nspec:\n"
    "  node_types: {a: {gpus: 8, gpu_type: v100}}\n  nodes: [{type: a, count: 2, partitions: [day]}]\n",
    "openb.csv": "sn,cpu_milli,memory_mib,gpu,model\nn1,96000,262144,8,T4\n",
    "topology.conf": "SwitchName=s1 Nodes=n1\nSwitchName=s2 Nodes=n2\n",
    "nodes.txt": "NODELIST GRES\nn1 gpu:a100:8\nn2 gpu:a100:8\n",
    "broken.py": f"{OWN}    def decide(self, view):\n        raise ValueError('no')\n",
    "asks.py": f"{OWN}    def __init__(self, size):\n        self.size = size\n\n"
    "    def decide(self, view):\n        for job in list(view.heads()):\n            view.start(job)\n",
    "due.csv": with_column("deadline_s", "900", ""),
    "due.py": f"{OWN}    columns = ('deadline_s',)\n\n    def decide(self, view):\n"
    "        for job in view.heads():\n            view.start(job)\n",
    "pairs.csv": PAIRS + "".join(f"t4,{pair},0.5,0.6\n" for pair in BESIDE),
    "own_pairs.csv": PAIRS + "".join(f"xgpu,{pair},0.5,0.6\n" for pair in BESIDE[:3]),
    "steps.csv": STEPS_HEAD + STEPS,
    "own_steps.csv": STEPS_HEAD + "ours,t4,2,1,4,0.5\n",
    "own_gpu.csv": STEPS_HEAD + "bert,xgpu,1,1,4,0.5\n",
    "ours.yaml": "apiVersion: pointsman/v1\nkind: ModelProfiles\nmetadata: {name: mine}\nspec:\n  sources: {us: we}\n"
    "  gpu_types:\n    xgpu: {title: X, relative_speed: 1.0, source: us}\n",
}  # fmt: skip
"""Logs, lists of nodes, policies and measurements of his own."""

PLACEHOLDERS = {
    "SEED": "0", "SIGMA": "0.5", "VALUE": "9", "LOG": "strange.csv", "TRACE": "jobs.csv", "CLUSTER": "2x4",
    "DIR": "dir", "FILE": "file.yaml", "OUT": "out.yaml", "NAME": "a100",
}  # fmt: skip
