"""Nodes of Slurm: slices, nodes of two types, odd nodes, slurm.conf, and sinfo in any form."""

import json
from pathlib import Path

import pytest

from pointsman.cluster.imports.read import import_nodes
from pointsman.errors import InputError
from tests.cluster.imports.lists import case, gpus, notes, read

CONF = r"""# comment
ClusterName=lab   # NodeName=not[1-9] Gres=gpu:a100:8
Include /etc/slurm/more.conf
NodeName=DEFAULT Sockets=2 CoresPerSocket=16 ThreadsPerCore=2 RealMemory=500000
NodeName=a[1-3] Gres=gpu:nvidia_a100_80gb_pcie:4 \
    Feature=big,ib State=UNKNOWN
NodeName=b1 CPUs=48 gres="gpu:a100_3g.20gb:4,gpu:a100:2" Feature=big State=DOWN
NodeName=c[1-2] CPUs=8
NodeSet=large Feature=big
PartitionName=DEFAULT Nodes=ALL
PartitionName=train Nodes=large Default=YES
PartitionName=all
PartitionName=odd Nodes=a1,z9
"""


def shown(name: str, gres: str, more: str = "") -> str:
    return f"NodeName={name} Arch=x86_64\n   CPUTot=64 Gres={gres}\n   RealMemory=500000 Sockets=2 {more}\n"


def test_slurm_conf(tmp_path: Path) -> None:
    found = read(CONF, tmp_path)
    assert gpus(found) == {"a1": (4, "a100"), "a2": (4, "a100"), "a3": (4, "a100"), "b1": (4, "a100")}
    layout = found.cluster.layout()
    assert [host.cores for host in layout.hosts] == [64, 48]
    assert dict(zip(layout.node_names, layout.node_partitions, strict=True)) == {
        "a1": ("train", "all", "odd"), "a2": ("train", "all"), "a3": ("train", "all"), "b1": ("train", "all"),
    }  # fmt: skip
    for said in (
        "2 of 6 nodes have no GPU", "b1: 4 of 3g.20gb are slices of 2 GPUs", "1 node takes no jobs at present",
        "'Include /etc/slurm/more.conf' is not followed",
        "partitions name nodes that are not in the file: z9 (line 13)",
    ):  # fmt: skip
        assert said in notes(found)


def test_the_field_case() -> None:
    found = import_nodes(case("n07_slurm.conf"))
    assert gpus(found) == {f"gpu{i:02d}": (8, "a100") if i <= 16 else (4, "h100") for i in range(1, 21)}
    assert {of for group in found.cluster.spec.nodes for of in group.partitions} == {"gpu"}


@pytest.mark.parametrize(
    ("gres", "right", "said"),
    [
        ("gpu:a100_3g.20gb:4", (2, "a100"), "4 of 3g.20gb are slices of 2 GPUs"),
        ("gpu:a100_1g.5gb:56(S:0-1)", (8, "a100"), "56 of 1g.5gb are slices of 8 GPUs"),
        ("gpu:a100:4,gpu:a100_2g.10gb:12", (8, "a100"), "12 of 2g.10gb are slices of 4 GPUs"),
        ("gpu:h100:8,shard:64", (8, "h100"), "64 shard: shares of these GPUs"),
        ("gpu:t4:2,mps:t4:200", (2, "t4"), "200 mps: shares of these GPUs"),
        ("gpu:a100_1g.20gb:8", (2, "a100"), "8 of 1g.20gb are slices of 2 GPUs"),
        ("gpu:a100_1g.5gb:4,gpu:a100_1g.10gb:5", (2, "a100"), "are slices of 2 GPUs"),
        ("gpu:a30_1g.6gb:16", (4, "a30"), "16 of 1g.6gb are slices of 4 GPUs"),
        ("gpu:h200_1g.35gb:4,gpu:h200_3g.71gb:2", (2, "h200"), "are slices of 2 GPUs"),
        ("gpu:a100_7g.80gb:4", (4, "a100"), "4 of 7g.80gb are slices of 4 GPUs"),
    ],
)
def test_slices_and_shares(gres: str, right: tuple[int, str], said: str, tmp_path: Path) -> None:
    found = read(shown("n1", gres), tmp_path)
    assert gpus(found) == {"n1": right}
    assert said in notes(found)


def test_a_feature_names_the_type_that_gres_does_not(tmp_path: Path) -> None:
    found = read(shown("n1", "gpu:1g.10gb:56", "ActiveFeatures=ib,a100"), tmp_path)
    assert gpus(found) == {"n1": (8, "a100")}


def test_a_node_of_two_types_is_two_nodes_that_share_what_it_has(tmp_path: Path) -> None:
    text = shown("n1", "gpu:a100:6,gpu:v100:2") + shown("n2", "gpu:a100:8")
    found = read(text, tmp_path)
    assert gpus(found) == {"n1": (6, "a100"), "n2": (8, "a100"), "n1:v100": (2, "v100")}
    assert found.cluster.metadata.description == found.cluster.size == "3 nodes, 16 GPUs (a100, v100)"
    layout = found.cluster.layout()
    cores = {name: layout.hosts[kind].cores for name, kind in zip(layout.node_names, layout.node_type, strict=True)}
    assert cores == {"n1": 48, "n2": 64, "n1:v100": 16}
    assert "n1 has GPUs of several types" in notes(found)
    topology = tmp_path / "topology.conf"
    topology.write_text("SwitchName=s1 Nodes=n2\nSwitchName=s2 Nodes=n1\n")
    in_racks = import_nodes(tmp_path / "nodes.txt", {}, topology).cluster.layout()
    racks = dict(zip(in_racks.node_names, in_racks.node_rack.tolist(), strict=True))
    assert racks["n1"] == racks["n1:v100"] != racks["n2"]


@pytest.mark.parametrize(
    ("odd", "why"),
    [
        (shown("odd", "gpu:a100:many"), "Gres is 'gpu:a100:many', which cannot be read"),
        (shown("odd", "shard:8"), "Gres has 8 shard and does not say of how many GPUs"),
        (shown("odd", "gpu:a100:8").replace("CPUTot=64", "CPUTot=?"), "cputot is '?', not a whole number"),
        (shown("odd[", "gpu:a100:8"), "is no node name"),
        (shown("odd", "gpu:a100:99"), "99 GPUs, and a node has at most 64"),
    ],
)
def test_an_odd_node_costs_itself(odd: str, why: str, tmp_path: Path) -> None:
    found = read(shown("n1", "gpu:a100:8") + odd + shown("n2", "gpu:a100:8"), tmp_path)
    assert list(gpus(found)) == ["n1", "n2"]
    assert why in notes(found)
    assert "(line 4)" in notes(found)


def test_nodes_that_contradict_themselves_are_left_out(tmp_path: Path) -> None:
    found = read("NODELIST GRES\na gpu:a100:8\nb gpu:a100:8\na gpu:a100:4\n", tmp_path)
    assert list(gpus(found)) == ["b"]
    assert "left out a (line 4): a has 4 a100 GPUs here and 8 a100 GPUs on line 2" in notes(found)


SINFO = [
    "gpu01 gpu* gpu:a100:4(S:0-1) 64 2 515000\ngpu02 gpu* gpu:a100:4 64 2 515000\n",
    "gpu* gpu:a100:4 64 515000 2 gpu01\ngpu* gpu:a100:4 64 515000 2 gpu02\n",
    "PARTITION|NODELIST|GRES|MEMORY|S:C:T|CPUS\ngpu*|gpu[01-02]|gpu:a100:4|515000|2:16:2|64\n",
    "GRES,NODELIST,PARTITION,CPUS(A/I/O/T),SOCKETS,MEMORY\ngpu:a100:4(S:0-1),gpu[01-02],gpu,0/64/0/64,2,515000\n",
    "HOSTNAMES,PARTITION,GRES,CPUS,SOCKETS,MEMORY\ngpu01,gpu,gpu:a100:4,shard:8,64+,2,515000\n"
    "gpu02,gpu,gpu:a100:4,64,2,515000\n",
]


@pytest.mark.parametrize("text", SINFO)
def test_sinfo_in_any_order_with_any_delimiter(text: str, tmp_path: Path) -> None:
    found = read(text.replace("gpu:a100:4,shard:8,64+", "gpu:a100:4,64+"), tmp_path)
    assert gpus(found) == {"gpu01": (4, "a100"), "gpu02": (4, "a100")}
    assert [group.partitions for group in found.cluster.spec.nodes] == [("gpu",)]
    assert [(host.cores, host.sockets) for host in found.cluster.layout().hosts] == [(64, 2)]


def test_a_list_of_resources_may_have_commas_as_the_row_has(tmp_path: Path) -> None:
    found = read("NODELIST,GRES,CPUS\ngpu[01-02,05],gpu:a100:4,gpu:t4:1,shard:8,64\n", tmp_path)
    assert gpus(found)["gpu05"] == (4, "a100")
    assert gpus(found)["gpu05:t4"] == (1, "t4")


@pytest.mark.parametrize("header", ["NODELIST,PARTITION,GRES,CPUS\n", "", '"NODELIST","PARTITION","GRES","CPUS"\n'])
@pytest.mark.parametrize("between", [",", " ", "|", ";"])
def test_resources_of_two_types_are_one_cell_quoted_or_not(between: str, header: str, tmp_path: Path) -> None:
    rows = [
        'n1,gpu,"gpu:a100:4,gpu:v100:2",64',
        "n2,gpu,gpu:a100:4,64",
        '"n3","gpu","gpu:a100:2,gpu:v100:2(S:0-1)","64"',
    ]
    parts = [row.replace(",gpu:v", "&").replace(",", between).replace("&", ",gpu:v") for row in rows]
    found = read(header.replace(",", between) + "\n".join(parts), tmp_path)
    assert gpus(found) == {
        "n1": (4, "a100"), "n2": (4, "a100"), "n3": (2, "a100"), "n1:v100": (2, "v100"), "n3:v100": (2, "v100"),
    }  # fmt: skip
    assert "left out" not in notes(found)


def test_columns_without_a_header_are_named_in_a_note(tmp_path: Path) -> None:
    found = read("gpu* up infinite 2 drain gpu[01-02] gpu:h100:4 96\n", tmp_path)
    assert gpus(found) == {"gpu01": (4, "h100"), "gpu02": (4, "h100")}
    assert "PARTITION, AVAIL, TIMELIMIT, COUNT, STATE, NODELIST, GRES, CPUS" in notes(found)
    assert "2 nodes take no jobs at present" in notes(found)


def number(value: int) -> dict[str, object]:
    return {"set": True, "infinite": False, "number": value}


NEW = {"name": "n1", "gres": "gpu:a100:8(S:0-1)", "cpus": number(64), "sockets": 2, "real_memory": number(500000),
       "partitions": ["gpu"], "state": ["IDLE", "DRAIN"], "features": ["ib"]}  # fmt: skip
OLD = {"name": "n1", "gres": "gpu:a100:8", "cpus": 64, "sockets": 2, "real_memory": 500000, "partitions": "gpu",
       "state": "idle", "state_flags": ["DRAIN"], "features": "ib"}  # fmt: skip
GROUP = {"nodes": {"total": 1, "nodes": ["n1"]}, "gres": {"total": "gpu:a100:8", "used": ""},
         "cpus": {"minimum": 64, "maximum": 64}, "sockets": {"minimum": 2, "maximum": 2},
         "memory": {"minimum": 500000, "maximum": 500000}, "partition": {"name": "gpu"},
         "node": {"state": ["IDLE", "DRAIN"]}, "features": {"active": "ib"}}  # fmt: skip


@pytest.mark.parametrize("document", [{"nodes": [NEW]}, {"nodes": [OLD]}, {"sinfo": [GROUP]}, [NEW]])
def test_json_of_several_versions(document: object, tmp_path: Path) -> None:
    found = read(json.dumps(document), tmp_path)
    assert gpus(found) == {"n1": (8, "a100")}
    assert [(host.cores, host.sockets) for host in found.cluster.layout().hosts] == [(64, 2)]
    assert found.cluster.spec.nodes[0].partitions == ("gpu",)
    assert "1 node takes no jobs at present" in notes(found)


def test_states(tmp_path: Path) -> None:
    states = ["IDLE", "DOWN*+DRAIN", "MIXED+DRAIN", "IDLE+CLOUD+POWERED_DOWN", "ALLOCATED", "IDLE*"]
    text = "".join(shown(f"n{i}", "gpu:t4:1", f"State={state}") for i, state in enumerate(states))
    assert "3 nodes take no jobs at present (down, drained or cordoned) and are counted: n1, n2, n5" in notes(
        read(text, tmp_path)
    )


def test_words_in_a_reason_are_no_fields(tmp_path: Path) -> None:
    found = read(shown("n1", "gpu:a100:8", "Reason=lost Gres=gpu:a100:7 State=DOWN"), tmp_path)
    assert gpus(found) == {"n1": (8, "a100")}


def test_without_any_node_that_can_be_used_the_first_reason_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nodes.txt:1: no node can be used: n1: Gres is 'gpu:x:y'"):
        read(shown("n1", "gpu:x:y"), tmp_path)
