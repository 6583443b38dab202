"""Which GPUs a machine has is asked of NVML; machines that run tests have none, so its answers are given here."""

import pynvml
import pytest

from pointsman.cluster import load_cluster
from pointsman.errors import UsageError
from pointsman.live.backends.local.gpus import this_machine

A100, T4 = "NVIDIA A100-SXM4-80GB", "Tesla T4"


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of its GPUs, by index."""
    names: list[str] = []
    monkeypatch.setattr(pynvml, "nvmlInit", lambda: None)
    monkeypatch.setattr(pynvml, "nvmlShutdown", lambda: None)
    monkeypatch.setattr(pynvml, "nvmlDeviceGetCount", lambda: len(names))
    monkeypatch.setattr(pynvml, "nvmlDeviceGetHandleByIndex", lambda index: index)
    monkeypatch.setattr(pynvml, "nvmlDeviceGetName", lambda index: names[index])
    return names


def test_a_machine_is_a_cluster_of_one_node(machine: list[str]) -> None:
    machine += [A100] * 4
    cluster = load_cluster(this_machine())
    assert (cluster.nodes, cluster.gpus, cluster.gpu_types) == (1, 4, ("a100",))


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ([A100, T4], "not of one known type: 'NVIDIA A100-SXM4-80GB', 'Tesla T4'"),
        (["Riva 128"], "not of one known type: 'Riva 128'"),
        ([], "has no GPUs"),
    ],
)
def test_what_is_not_known_is_to_be_declared(machine: list[str], names: list[str], said: str) -> None:
    machine += names
    with pytest.raises(UsageError, match=said) as refused:
        this_machine()
    assert "--cluster 1x4/gpu=a100" in str(refused.value)


def test_a_machine_without_the_library_is_told_what_to_declare(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent() -> None:
        raise pynvml.NVMLError(pynvml.NVML_ERROR_LIBRARY_NOT_FOUND)

    monkeypatch.setattr(pynvml, "nvmlInit", absent)
    with pytest.raises(UsageError, match=r"not known \(NVML Shared Library Not Found"):
        this_machine()
