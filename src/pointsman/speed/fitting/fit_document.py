"""A fitted law as a file of profiles that simulations read."""

from collections.abc import Iterable, Sequence
from math import isnan
from statistics import linear_regression
from typing import Any

import yaml

from pointsman.speed.fitting.measurements import Step
from pointsman.speed.fitting.step_law import LinkLaw, PlatformLaw
from pointsman.speed.profiles.catalogue import Catalogue
from pointsman.speed.profiles.profiles import ModelProfile

CONTEXT_BYTES, BYTES_PER_GRADIENT_BYTE = 1.07e9, 4.0
"""GPU memory of a model of which nothing else is known: the CUDA context, and Adam's 16 bytes a parameter of 4."""


def profiles_yaml(laws: Sequence[PlatformLaw], steps: Sequence[Step], catalogue: Catalogue, source: str) -> str:
    """The models of `laws` in the format of ``docs/formats/model-profiles.md``; the networks as comments above it.

    A model of the catalogue keeps its title, memory and other GPU types; of another one only what was
    measured is known, and its memory is a guess that says so.

    Args:
        laws: one for each GPU type.
        steps: what they were fitted to.
        catalogue: where models and GPU types are described.
        source: where the measurements come from.
    """
    names = dict.fromkeys(model for law in laws for model in law.models)
    models = {name: _model(name, laws, [s for s in steps if s.model == name], catalogue) for name in names}
    document = {
        "apiVersion": "pointsman/v1",
        "kind": "ModelProfiles",
        "metadata": {"name": "fitted"},
        "spec": {"sources": {"measured": source}, "models": models},
    }
    text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=110)
    return "".join(f"# {line}\n" for line in _network_lines(laws)) + text


def network_of_cluster(law: PlatformLaw) -> dict[str, Any]:
    """What a cluster file should say of nodes of that GPU type, by its own keys."""
    node, rack = law.network.node, law.network.rack
    said: dict[str, Any] = {}
    if node:
        said["interconnect"] = {"bandwidth": _bandwidth(node), "latency": _latency(node)}
    if rack:
        said["nic"] = {"bandwidth": _bandwidth(rack), "per": law.network.cards}
        said["rack"] = {"latency": _latency(rack)}
    return said


def _network_lines(laws: Iterable[PlatformLaw]) -> list[str]:
    lines = []
    for law in laws:
        said = network_of_cluster(law)
        for key in said:
            where = "spec.network" if key == "rack" else "spec.node_types.NAME"
            flow = yaml.safe_dump(said[key], default_flow_style=True, width=200, sort_keys=False).strip()
            lines.append(f"{law.gpu_type}: {where} of a cluster file: {key}: {flow}")
    return ["The network as measured, per GPU type:", *lines] if lines else []


def _bandwidth(link: LinkLaw) -> str:
    return f"{link.bandwidth_bytes_per_s / 1e9:.4g} GB/s"


def _latency(link: LinkLaw) -> str:
    return f"{link.latency_s * 1e6:.4g} us"


def _model(name: str, laws: Sequence[PlatformLaw], steps: Sequence[Step], catalogue: Catalogue) -> dict[str, Any]:
    known = catalogue.models.get(name)
    profile = _profile_fields(known) if known else _unknown(name, steps)
    for law in laws:
        if name in law.models:
            found = law.models[name]
            profile["compute"][law.gpu_type] = {
                "alpha_s": float(f"{found.alpha_s:.5g}"),
                "beta_s_per_sample": float(f"{found.beta_s_per_sample:.5g}"),
                "delta": float(f"{found.delta:.4g}"),
                "source": "measured",
            }
    return profile


def _profile_fields(profile: ModelProfile) -> dict[str, Any]:
    return profile.model_dump(mode="json", exclude_none=True)


def _unknown(name: str, steps: Sequence[Step]) -> dict[str, Any]:
    sizes = [step.gradient_bytes for step in steps if not isnan(step.gradient_bytes)]
    batches = sorted(step.batch_per_gpu for step in steps)
    gradient_bytes, told = (sizes[0], "measured") if sizes else (0.0, "ours: not given")
    return {
        "title": name,
        "gradient": {"bytes": gradient_bytes, "source": told},
        "batch": {"per_gpu": max(1, round(batches[len(batches) // 2])), "source": "measured: the middle one"},
        "memory": _memory(steps, gradient_bytes),
        "overlap": {"delta": 2.0, "source": "ours: the design default, for GPU types not measured"},
        "compute": {},
    }


def _memory(steps: Sequence[Step], gradient_bytes: float) -> dict[str, Any]:
    """GPU memory by batch, where it was measured at several; the CUDA context is not among what was measured."""
    seen = [(step.batch_per_gpu, step.memory_bytes) for step in steps if not isnan(step.memory_bytes)]
    if len({batch for batch, _ in seen}) > 1:
        line = linear_regression(*zip(*seen, strict=True))
        per_sample, fixed = max(0.0, line.slope), max(0.0, line.intercept)
        told = "measured: and ours: 1.07e9 B of CUDA context"
        return {"fixed_bytes": CONTEXT_BYTES + round(fixed), "bytes_per_sample": round(per_sample), "source": told}
    return {
        "fixed_bytes": CONTEXT_BYTES + BYTES_PER_GRADIENT_BYTE * gradient_bytes,
        "bytes_per_sample": 0.0,
        "source": "ours: CUDA context and Adam; activations not measured, please fill in",
    }
