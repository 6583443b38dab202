"""Nodes of a site, printed as `scontrol show node` does, and the GPUs that they really have."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from hypothesis import strategies as st

from .site import TYPES, Gres

GEOMETRIES: Final = (
    {"1g.5gb": 7}, {"2g.10gb": 3}, {"3g.20gb": 2}, {"7g.40gb": 1}, {"2g.10gb": 3, "1g.5gb": 1},
    {"4g.20gb": 1, "3g.20gb": 1}, {"3g.20gb": 1, "2g.10gb": 1, "1g.5gb": 2},
)  # fmt: skip
"""Ways in which one A100 is cut into slices; 2g and 3g leave a seventh over."""
STATES: Final = ("IDLE", "MIXED", "ALLOCATED", "DOWN*+DRAIN", "IDLE+DRAIN", "MIXED+PLANNED", "IDLE+CLOUD+POWERED_DOWN")


@dataclass(frozen=True)
class Node:
    """A node with its cards."""

    name: str
    gres: tuple[Gres, ...]
    gpus: dict[str, int]
    """Physical GPUs by type."""
    partitions: str = "gpu"
    state: str = "IDLE"
    reason: str = ""


def whole(name: str, count: int, gpu_type: str, **more: Any) -> Node:
    """A node whose GPUs all are `gpu_type`, a key of `TYPES`."""
    return Node(name, (Gres(count, gpu_type),), {TYPES[gpu_type]: count}, **more)


def cut(name: str, cards: int, geometry: dict[str, int], left_whole: int = 0, **more: Any) -> Node:
    """A node of A100, `cards` of which are cut into slices."""
    slices = tuple(Gres(cards * count, f"a100_{profile}") for profile, count in geometry.items())
    rest = (Gres(left_whole, "a100"),) if left_whole else ()
    return Node(name, rest + slices, {"a100": cards + left_whole}, **more)


def physical(nodes: Sequence[Node]) -> Counter[str]:
    """All GPUs of the site by type."""
    total: Counter[str] = Counter()
    for node in nodes:
        total.update(node.gpus)
    return total


def scontrol(nodes: Sequence[Node], one_line: bool = False) -> str:
    """`scontrol show node`, or with `-o` a line for each."""
    if one_line:
        return "".join(" ".join(_block(node).split("\n   ")) + "\n" for node in nodes)
    return "".join(_block(node) + "\n\n" for node in nodes)


def _block(node: Node) -> str:
    gres = ",".join(f"{one.name}:{one.count}(S:0-1)" for one in node.gres) or "(null)"
    tres = [f"gres/gpu={sum(one.count for one in node.gres)}"] if node.gres else []
    tres += [f"gres/{one.name}={one.count}" for one in node.gres]
    lines = [
        f"NodeName={node.name} Arch=x86_64 CoresPerSocket=32 ",
        "CPUAlloc=0 CPUEfctv=126 CPUTot=128 CPULoad=0.31",
        "AvailableFeatures=ib,nvme",
        "ActiveFeatures=ib,nvme",
        f"Gres={gres}",
        f"NodeAddr={node.name} NodeHostName={node.name} Version=23.11.10",
        "OS=Linux 5.14.0-427.13.1.el9_4.x86_64 #1 SMP PREEMPT_DYNAMIC Wed May 1 19:11:28 UTC 2024 ",
        "RealMemory=1031000 AllocMem=0 FreeMem=940211 Sockets=2 Boards=1",
        f"State={node.state} ThreadsPerCore=2 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A",
        f"Partitions={node.partitions} ",
        "BootTime=2026-02-01T08:01:33 SlurmdStartTime=2026-02-01T08:03:02",
        "LastBusyTime=2026-03-01T10:11:12 ResumeAfterTime=None",
        f"CfgTRES={','.join(['cpu=126', 'mem=1031000M', 'billing=126', *tres])}",
        "AllocTRES=",
        "CurrentWatts=0 AveWatts=0",
    ]
    return "\n   ".join([*lines, *([f"Reason={node.reason} [root@2026-03-01T08:00:00]"] if node.reason else [])])


@st.composite
def node_lists(draw: Callable[[st.SearchStrategy[Any]], Any]) -> list[Node]:
    """Up to eight nodes, the first with GPUs of one type."""
    cards, types = st.integers(1, 8), st.sampled_from([name for name in TYPES if "7g" not in name])
    names = iter(f"n{number:02}" for number in range(1, 99))
    made = [whole(next(names), draw(cards), draw(types))]
    for kind in draw(st.lists(st.sampled_from(("whole", "whole", "cut", "two types", "no GPU", "shards")), max_size=7)):
        more: dict[str, Any] = {
            "state": draw(st.sampled_from(STATES)),
            "partitions": draw(st.sampled_from(_PARTITIONS)),
        }
        more["reason"] = draw(st.sampled_from(_REASONS)) if "D" in more["state"] else ""
        if kind == "whole":
            made.append(whole(next(names), draw(cards), draw(types), **more))
        elif kind == "cut":
            geometry = draw(st.sampled_from(GEOMETRIES))
            made.append(cut(next(names), draw(cards), geometry, draw(st.sampled_from((0, 0, 4))), **more))
        elif kind == "no GPU":
            made.append(Node(next(names), (), {}, **more))
        elif kind == "shards":
            count = draw(cards)
            gres = (Gres(count, "l40s"), Gres(4 * count, kind="shard"))
            made.append(Node(next(names), gres, {"l40s": count}, **more))
        else:
            one, other = draw(cards), draw(cards)
            made.append(Node(next(names), (Gres(one, "v100"), Gres(other, "nvidia_l40s")), {"v100": one, "l40s": other},
                             **more))  # fmt: skip
    return made


_PARTITIONS: Final = ("gpu", "gpu,gpu-long", "debug")
_REASONS: Final = ("", "Not responding", "Gres=gpu:1 instead of gpu:a100:8", "gres/gpu count reported lower (3 < 4)")
