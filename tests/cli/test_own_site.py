"""From what a site prints to a compared table, with names of GPUs as each program writes them."""

from pathlib import Path

import pytest

from .conftest import Command

HEAD = "JobIDRaw|User|Account|Partition|State|Submit|Eligible|Start|End|ElapsedRaw|TimelimitRaw|AllocTRES|ReqTRES"
NAMES = [
    ("nvidia_h100_80gb_hbm3", "nvidia_h100_80gb_hbm3"), ("h100", "nvidia_h100_80gb_hbm3"),
    ("NVIDIA-H100-80GB-HBM3", "h100"), ("nvidia_rtx_6000_ada_generation", "rtx6000ada"), ("a100", "a100_3g.20gb"),
]  # fmt: skip


def export(gpu_type: str) -> str:
    """Three jobs, as sacct prints them."""
    times = "2026-03-02T08:00:00|2026-03-02T08:00:00|2026-03-02T08:00:10|2026-03-02T09:00:10"
    rows = (f"{i}|u|a|gpu|COMPLETED|{times}|3600|120|gres/gpu:{gpu_type}=4,gres/gpu=4|gres/gpu=4" for i in range(3))
    return "\n".join([HEAD, *rows]) + "\n"


def node(gres: str) -> str:
    return f"NodeName=gpu01 CPUTot=64 Sockets=2\n   Gres={gres}\n   RealMemory=500000 State=IDLE Partitions=gpu\n"


@pytest.mark.parametrize(("in_log", "in_list"), NAMES)
def test_two_commands_lead_to_a_table(in_log: str, in_list: str, command: Command, here: Path) -> None:
    (here / "sacct.txt").write_text(export(in_log))
    (here / "nodes.txt").write_text(node(f"gpu:{in_list}:8(S:0-1)"))
    imported = command("cluster", "import", "nodes.txt", "-o", "cluster.yaml")
    assert imported.code == 0, imported.err
    done = command("compare", "sacct.txt", "--cluster", "cluster.yaml", "--policy", "fifo", "--policy", "easy")
    assert done.code == 0, done.err


def test_a_name_of_the_sites_own_is_given_once(command: Command, here: Path) -> None:
    (here / "sacct.txt").write_text(export("tesla"))
    (here / "nodes.txt").write_text(node("gpu:tesla:8"))
    imported = command("cluster", "import", "nodes.txt", "-o", "cluster.yaml", "--gpu-type", "Tesla=V100")
    assert imported.code == 0, imported.err
    assert "1 node, 8 GPUs (v100)\n  tesla is taken for v100\n" in imported.err
    done = command("compare", "sacct.txt", "--cluster", "cluster.yaml", "--policy", "fifo", "--policy", "easy")
    assert done.code == 0, done.err
