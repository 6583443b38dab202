import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.cluster.hostlist import compress, expand
from pointsman.cluster.quantities import bandwidth_bytes_per_s, latency_s, memory_bytes


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("25 GB/s", 25e9),
        ("25GB/s", 25e9),
        ("200 Gb/s", 25e9),
        ("200Gbps", 25e9),
        ("200 Gbit/s", 25e9),
        ("1 GiB/s", 2**30),
        ("1e3 MB/s", 1e9),
        (" 0.5 TB/s ", 5e11),
    ],
)
def test_bandwidth(text: str, expected: float) -> None:
    assert bandwidth_bytes_per_s(text) == expected


@pytest.mark.parametrize("text", ["25", "25 GB", "25 G", "-1 GB/s", "0 GB/s", "nan GB/s", "1e999 GB/s", "", "GB/s"])
def test_bandwidth_without_unit_or_sense(text: str) -> None:
    with pytest.raises(ValueError, match=r"unit|positive"):
        bandwidth_bytes_per_s(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("32 GiB", 32 * 2**30), ("32Gi", 32 * 2**30), ("32 GB", 32e9), ("32G", 32e9), ("16160 MiB", 16160 * 2**20)],
)
def test_memory(text: str, expected: float) -> None:
    assert memory_bytes(text) == expected


@pytest.mark.parametrize("text", ["32", "32 Gb/s", "0 GiB", "-1 GiB", "1e999 GiB"])
def test_memory_without_unit_or_sense(text: str) -> None:
    with pytest.raises(ValueError, match=r"unit|positive"):
        memory_bytes(text)


@pytest.mark.parametrize(
    ("text", "expected"), [("5 us", 5e-6), ("1.5µs", 1.5e-6), ("200 ns", 2e-7), ("1 ms", 1e-3), ("0 s", 0.0)]
)
def test_latency(text: str, expected: float) -> None:
    assert latency_s(text) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("text", ["5", "5 min", "-1 us", "1e999 s"])
def test_latency_without_unit_or_sense(text: str) -> None:
    with pytest.raises(ValueError, match=r"unit|finite"):
        latency_s(text)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("gpu[01-03,7],login", ["gpu01", "gpu02", "gpu03", "gpu7", "login"]),
        ("[9-11]", ["9", "10", "11"]),
        ("a[1-2]-ib, b", ["a1-ib", "a2-ib", "b"]),
    ],
)
def test_hostlist(text: str, names: list[str]) -> None:
    assert expand(text) == names


@pytest.mark.parametrize("text", ["", "a,,b", "a[", "a[3-1]", "a[1-]", "a[1-99999999]", "a b", "a[x]", "a]b["])
def test_wrong_hostlist(text: str) -> None:
    with pytest.raises(ValueError, match=r"name|range|names"):
        expand(text)


@given(st.lists(st.from_regex(r"[a-z0-9.-]{0,4}[0-9a-z]{1,4}", fullmatch=True), min_size=1, max_size=40))
def test_compressed_hostlist_expands_to_the_same_names(names: list[str]) -> None:
    assert expand(compress(names)) == names


def test_runs_are_compressed() -> None:
    assert compress([f"n{i:04d}" for i in range(98, 103)] + ["x"]) == "n[0098-0102],x"
