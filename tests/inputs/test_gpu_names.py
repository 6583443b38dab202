"""One name of a GPU type, and shares that slices are."""

import pytest

from pointsman.inputs.gpu_names import NAMES, known_name, plain_name, slice_milli, spelled

SPELLINGS = {
    "NVIDIA-A100-SXM4-80GB": "a100",
    "NVIDIA-A100-SXM4-80GB-MIG-1g.5gb": "a100",
    "nvidia_h100_80gb_hbm3": "h100",
    "NVIDIA-L40S-SHARED": "l40s",
    "NVIDIA-GeForce-GTX-1080-Ti": "gtx1080ti",
    "Quadro-RTX-6000": "rtx6000",
    "NVIDIA-RTX-6000-Ada-Generation": "rtx6000ada",
    "NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition": "rtxpro6000",
    "NVIDIA-GH200-480GB": "gh200",
    "AMD_Instinct_MI300X_OAM": "mi300x",
    "tpu-v5-lite-podslice": "tpu-v5e",
    "a100_3g.20gb": "a100",
    "rtx6000_ada": "rtx6000ada",
    "NVIDIA-RTX-5000-Ada-Generation": "rtx5000ada",
    "NVIDIA-TITAN-V": "titanv",
    "Ascend910B3": "ascend910b",
    "tpu7x": "tpu-v7",
    "trn1.32xlarge": "trainium",
}


@pytest.mark.parametrize("text", SPELLINGS)
def test_spellings_of_one_type_have_one_name(text: str) -> None:
    assert known_name(text) == SPELLINGS[text] == plain_name(text)


def test_a_name_of_the_catalogue_is_its_own() -> None:
    assert [known_name(name) for name in NAMES] == list(NAMES)


def test_an_unknown_type_is_none_and_keeps_its_name_in_lower_case() -> None:
    assert known_name("Weird-GPU") is None
    assert plain_name(" Weird-GPU ") == "weird-gpu"
    assert plain_name("Weird_2g.10gb") == "weird"
    assert plain_name("Weird-32GB") == "weird-32gb", "which has no profile of two slices in it"


def test_a_type_is_found_by_its_name_or_else_by_any_spelling() -> None:
    names = ["a100-40gb", "A100-80GB", "tesla", "t4"]
    assert spelled("a100-80gb", names) == [1]
    assert spelled("nvidia_a100", names) == [0, 1]
    assert spelled(" Tesla ", names) == [2]
    assert spelled("h100", names) == []
    assert spelled("ZZ 9", ["zz-90", "zz-9"]) == [1]


@pytest.mark.parametrize(
    ("text", "milli"),
    [("1g.5gb", 142), ("3g.20gb", 428), ("7g.80gb", 1000), ("1c.3g.20gb", 142), ("1g.10gb+me", 142),
     ("nvidia.com/mig-2g.20gb", 285), ("a100_4g.20gb", 571), ("a100", None), ("gpu", None), ("9g.80gb", None)],
)  # fmt: skip
def test_a_mig_profile_is_its_compute_slices_of_seven(text: str, milli: int | None) -> None:
    assert slice_milli(text) == milli
