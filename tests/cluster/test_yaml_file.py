import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.cluster import Cluster, cluster_schema, load_cluster
from pointsman.cluster.yaml_file import parse_cluster
from pointsman.errors import PointsmanError, UsageError

GOOD = """\
apiVersion: pointsman/v1
kind: Cluster
metadata:
  name: small
spec:
  node_types:
    node:
      gpus: 4
      gpu_type: v100
      nic: {bandwidth: 100 Gb/s}
  nodes:
    - type: node
      count: 4
      partitions: [a]
  network:
    pod: {oversubscription: 2}
  queues:
    prod: {gpu_limit: 8}
  partitions:
    a: {preemptible: false}
"""


def test_good_file(tmp_path: Path) -> None:
    path = tmp_path / "small.yaml"
    path.write_text(GOOD)
    assert load_cluster(str(path)) == load_cluster(path) == parse_cluster(GOOD, origin="x")
    assert load_cluster(path).gpus == 16


def test_json_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "small.json"
    path.write_text(json.dumps(parse_cluster(GOOD, origin="x").to_dict()))
    assert load_cluster(path) == parse_cluster(GOOD, origin="x")


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("gpus: 4", "gpu: 4", 8, "unknown key 'gpu' (did you mean 'gpus'?"),
        ("gpu_limit", "gpulimit", 18, "did you mean 'gpu_limit'?"),
        ("preemptible: false", "preemptable: false", 20, "did you mean 'preemptible'?"),
        ("preemptible: false", "preemptible: 0", 20, "preemptible"),
        ("    a: {preemptible", "    all: {preemptible", 20, "no node is in partition 'all'"),
        ("oversubscription: 2", "oversubscribtion: 2", 16, "did you mean 'oversubscription'?"),
        ("{bandwidth: 100", "{bandwith: 100", 10, "did you mean 'bandwidth'?"),
        ("kind: Cluster", "kind: Clutser", 2, "'Cluster'"),
        ("pointsman/v1", "pointsman/v2", 1, "'pointsman/v1'"),
        ("apiVersion", "apiversion", 1, "did you mean 'apiVersion'?"),
        ("  name: small", "  nmae: small", 4, "did you mean 'name'?"),
        ("  name: small", "  name: 12", 4, "metadata.name"),
        ("gpus: 4", "gpus: 65", 8, "less than or equal to 64"),
        ("gpus: 4", "gpus: -1", 8, "greater than or equal to 0"),
        ("gpus: 4", "gpus: 4.5", 8, "a whole number"),
        ("gpus: 4", "gpus: yes", 8, "a whole number"),
        ("gpus: 4", "gpus: 'four'", 8, "a whole number"),
        ("gpus: 4", "gpus: .nan", 8, "a whole number"),
        ("gpus: 4", "gpus: 0", 5, "no GPUs"),
        ("      gpus: 4\n", "", 7, "'spec.node_types.node.gpus' is missing"),
        ("      gpu_type: v100\n", "", 7, "no gpu_type"),
        ("gpu_type: v100", "gpu_type: v10", 9, "did you mean 'v100'?"),
        ("gpu_type: v100", "gpu_type: 'v 100'", 9, "'v 100' is no name"),
        ("100 Gb/s", "100", 10, "a string"),
        ("100 Gb/s", "100 G", 10, "with its unit"),
        ("100 Gb/s", "0 Gb/s", 10, "positive"),
        ("type: node", "type: nod", 12, "did you mean 'node'?"),
        ("count: 4", "count: 0", 13, "greater than or equal to 1"),
        ("count: 4", "count: 4\n      names: 'a[1-3]'", 13, "count is 4 but names has 3"),
        ("count: 4", "names: 'a1,a1'", 5, "2 nodes are called 'a1'"),
        ("count: 4", "names: 'a[3-1]'", 13, "runs backwards"),
        ("[a]", "[a, a]", 14, "named twice"),
        ("[a]", "a", 14, "must be a list"),
        ("oversubscription: 2", "oversubscription: 0.5", 16, "greater than or equal to 1"),
        ("oversubscription: 2", "oversubscription: .inf", 16, "finite"),
        ("oversubscription: 2", "oversubscription: 2, bandwidth: 1 GB/s", 16, "not both"),
        ("  network:", "  racks: [{nodes: [{type: node}]}]\n  network:", 5, "give 'nodes' or 'racks', not both"),
        ("    - type: node\n      count: 4\n      partitions: [a]\n", "", 11, "nodes"),
        ("gpus: 4", "gpus: 4\n      gpus: 4", 9, "given twice"),
        ("kind: Cluster", "kind: Cluster\nkind: Cluster", 3, "given twice"),
        ("gpus: 4", "gpus: &g 4\n      cpus: *g", 9, "aliases"),
        ("    node:", "    ? [a]\n    : {}\n    node:", 7, "a key must be a word"),
        ("metadata:\n  name: small", "metadata: small", 3, "must be a mapping"),
        ("gpus: 4", "gpus: 4\n     - x", 9, "not valid YAML"),
        ("[a]", "[a", 15, "not valid YAML"),
        ("gpus: 4", "gpus: 4\n      sockets: 0", 9, "greater than or equal to 1"),
        ("gpus: 4", "gpus: 4\n      sockets: 1.5", 9, "a whole number"),
        ("gpus: 4", "gpus: 4\n      host: {pcie: 12}", 9, "a string"),
        ("gpus: 4", "gpus: 4\n      host: {socket_link: 0 GB/s}", 9, "positive"),
        ("gpus: 4", "gpus: 4\n      host: {qpi: 20 GB/s}", 9, "known: memory, pcie, socket_link"),
    ],
)
def test_bad_file_names_line_and_cause(old: str, new: str, line: int, message: str, tmp_path: Path) -> None:
    assert GOOD.count(old) >= 1
    path = tmp_path / "bad.yaml"
    path.write_text(GOOD.replace(old, new, 1))
    with pytest.raises(UsageError) as error:
        load_cluster(path)
    assert str(error.value).startswith(f"{path}:{line}: ")
    assert message in str(error.value)
    assert "\n" not in str(error.value)
    assert error.value.exit_code == 2


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty"),
        (b"# nothing\n", "empty"),
        (b"\x1f\x8b\x08\x00\xff", "binary"),
        (b"PAR1\x00\x00", "not valid YAML"),
        (b"just words", "must be a mapping"),
        (b"[" * 5000, "nested too deeply"),
        (b"a: 2001-99-99", "not valid YAML"),
    ],
)
def test_what_is_no_cluster_file(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_bytes(content)
    with pytest.raises(UsageError) as error:
        load_cluster(path)
    assert message in str(error.value)
    assert str(path) in str(error.value)


def test_unreadable_paths(tmp_path: Path) -> None:
    for path in (tmp_path / "absent.yaml", tmp_path):
        with pytest.raises(UsageError, match="cannot be read"):
            load_cluster(path)


def test_schema_describes_the_file() -> None:
    schema = cluster_schema()
    assert set(schema["required"]) == {"metadata", "spec"}
    assert schema["properties"]["apiVersion"]["const"] == "pointsman/v1"
    assert schema["additionalProperties"] is False
    assert "oversubscription" in schema["$defs"]["Level"]["properties"]


def test_cluster_is_frozen() -> None:
    cluster = parse_cluster(GOOD, origin="x")
    with pytest.raises(ValueError, match="frozen"):
        cluster.metadata.name = "other"  # ty: ignore[invalid-assignment]


_LINES = GOOD.splitlines()
_JUNK = st.one_of(
    st.text(max_size=12), st.sampled_from(["null", "-1", "1e400", "[]", "{}", "!!binary x", "? a", "- b"])
)


@given(st.integers(0, len(_LINES) - 1), _JUNK, st.booleans())
def test_one_spoilt_line_is_a_cluster_or_a_clear_error(index: int, junk: str, whole: bool) -> None:
    lines = list(_LINES)
    lines[index] = junk if whole else lines[index].split(":")[0] + ": " + junk
    _is_cluster_or_clear("\n".join(lines))


_SIZES = st.one_of(st.integers(-1, 12), st.integers(), _JUNK)


@given(
    st.sampled_from(["fat-tree", "vl2", "leaf-spine", "bcube"]),
    st.dictionaries(
        st.sampled_from(["k", "n", "d_a", "d_i", "leaves", "spines", "nodes_per_rack"]), _SIZES, max_size=3
    ),
)
def test_any_topology_is_a_cluster_or_a_clear_error(kind: str, parameters: dict[str, object]) -> None:
    document = parse_cluster(GOOD.replace("pod: {oversubscription: 2}", "{}"), origin="x").to_dict()
    document["spec"]["topology"] = {kind: parameters}
    _is_cluster_or_clear(json.dumps(document))


@given(st.text(alphabet=st.sampled_from("ab:-[]{}&*!|>'\"%@`#,? \n\t\x00\ud800é0"), max_size=60))
def test_any_text_is_a_cluster_or_a_clear_error(text: str) -> None:
    _is_cluster_or_clear(text)


_VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=6)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
_KEYS = st.sampled_from(
    ["gpu_types", "node_types", "nodes", "racks", "network", "queues", "partitions", "nodes_per_rack", "topology"]
)


@given(_KEYS, _VALUES)
def test_any_value_in_the_spec_is_a_cluster_or_a_clear_error(key: str, value: object) -> None:
    document = parse_cluster(GOOD, origin="x").to_dict()
    document["spec"][key] = value
    _is_cluster_or_clear(json.dumps(document))


def _is_cluster_or_clear(text: str) -> None:
    try:
        cluster = parse_cluster(text, origin="fuzz.yaml")
        assert isinstance(cluster, Cluster)
        assert parse_cluster(cluster.to_yaml(), origin="again") == cluster
        cluster.layout()
    except PointsmanError as error:
        assert str(error).startswith("fuzz.yaml")
        assert "\n" not in str(error)


def test_the_example_of_the_format_page_is_valid_and_its_error_is_the_real_one() -> None:
    page = (Path(__file__).parents[2] / "docs" / "formats" / "cluster-yaml.md").read_text()
    example = page.split("```yaml\n")[1].split("```")[0]
    assert parse_cluster(example, origin="campus.yaml").gpus == 88
    with pytest.raises(UsageError) as error:
        parse_cluster(example.replace("gpus: 8", "gpu: 8"), origin="campus.yaml")
    assert f"```text\n{error.value}\n```" in page
