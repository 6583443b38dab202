"""The catalogue of model profiles: those shipped in ``models/`` and those a user adds."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from math import log
from pathlib import Path

from pointsman.errors import UsageError
from pointsman.inputs.config_file import Document, read_document
from pointsman.inputs.did_you_mean import did_you_mean
from pointsman.inputs.gpu_names import known_name
from pointsman.speed.profiles.profiles import CatalogueFile, CatalogueSpec, Compute, GpuType, ModelProfile

SHIPPED = Path(__file__).parent / "models"


@dataclass(frozen=True)
class Catalogue:
    """Profiles by canonical name, and the names people use for them."""

    models: Mapping[str, ModelProfile]
    gpu_types: Mapping[str, GpuType]
    sources: Mapping[str, str]
    model_names: Mapping[str, str]
    gpu_names: Mapping[str, str]

    def knows(self, name: str) -> bool:
        """Whether a profile has that name or alias."""
        return normal(name) in self.model_names

    def model_name(self, name: str) -> str:
        """The canonical name of a model known by `name`; case, spaces, ``-`` and ``_`` do not matter.

        Raises:
            UsageError: no profile has that name or alias.
        """
        return _look_up(name, self.model_names, "model", "--profiles FILE adds one")

    def model(self, name: str) -> ModelProfile:
        """The profile of the model known by `name` (see `model_name`)."""
        return self.models[self.model_name(name)]

    def gpu_name(self, name: str) -> str:
        """The canonical name of a GPU type, however it is spelled; raises UsageError as `model_name` does."""
        return _look_up(
            _canonical_gpu(name, self.gpu_names) or name,
            self.gpu_names,
            "GPU type",
            "a file of profiles can describe it under spec.gpu_types",
        )

    def knows_gpu(self, name: str) -> bool:
        """Whether a GPU type has that name, however it is spelled."""
        return _canonical_gpu(name, self.gpu_names) is not None

    def compute(self, model: str, gpu_type: str) -> tuple[Compute, str | None]:
        """How long `model` computes on `gpu_type`, and what had to be assumed for it.

        A model not measured there is scaled, by the types' relative speeds, from the measured
        type of the most similar speed; the second value then says so.
        """
        name, gpu = self.model_name(model), self.gpu_name(gpu_type)
        measured = self.models[name].compute
        if gpu in measured:
            return measured[gpu], None
        speed = self.gpu_types[gpu].relative_speed
        nearest = min(measured, key=lambda g: abs(log(self.gpu_types[g].relative_speed / speed)))
        factor = self.gpu_types[nearest].relative_speed / speed
        assumed = f"{name} on {gpu}: no measurement, {factor:.3g} times its time on {nearest}"
        return measured[nearest].scaled(factor, assumed), assumed


def load_catalogue(*files: str | Path) -> Catalogue:
    """The shipped profiles, and over them those of the user's `files` (same format; later ones win).

    Raises:
        UsageError: a file is unreadable or wrong; the message has file, line, cause and fix.
    """
    return _join([*_read_shipped(), *(read_document(Path(file), CatalogueFile) for file in files)])


@cache
def _read_shipped() -> tuple[Document[CatalogueFile], ...]:
    return tuple(read_document(path, CatalogueFile) for path in sorted(SHIPPED.glob("*.yaml")))


@lru_cache(1 << 12)
def normal(name: str) -> str:
    """`name` as it is compared: lower case, without what people write between words."""
    return "".join(c for c in name.lower() if c.isalnum())


def _join(documents: Sequence[Document[CatalogueFile]]) -> Catalogue:
    models: dict[str, ModelProfile] = {}
    gpu_types: dict[str, GpuType] = {}
    sources: dict[str, str] = {}
    for document in documents:
        spec = document.content.spec
        models |= spec.models
        gpu_types |= spec.gpu_types
        sources |= spec.sources
    for document in documents:
        _check_gpu_types(document, gpu_types, _names(gpu_types, "GPU type"))
        _check_sources(document, sources)
    kinds = _names(gpu_types, "GPU type")
    models = {name: _by_canonical(profile, kinds) for name, profile in models.items()}
    return Catalogue(models, gpu_types, sources, _names(models, "model"), kinds)


def _by_canonical(profile: ModelProfile, kinds: Mapping[str, str]) -> ModelProfile:
    """The profile with its times by the canonical names of GPU types."""
    compute = {_canonical_gpu(gpu, kinds) or gpu: times for gpu, times in profile.compute.items()}
    return profile if compute.keys() == profile.compute.keys() else profile.model_copy(update={"compute": compute})


def _canonical_gpu(gpu: str, kinds: Mapping[str, str]) -> str | None:
    """The canonical name of a GPU type, if a profile describes it."""
    return kinds.get(normal(gpu)) or kinds.get(normal(known_name(gpu) or ""))


def _check_gpu_types(document: Document[CatalogueFile], known: Mapping[str, GpuType], kinds: Mapping[str, str]) -> None:
    for name, profile in document.content.spec.models.items():
        for gpu in profile.compute:
            if _canonical_gpu(gpu, kinds) is None:
                where = document.where("spec", "models", name, "compute", gpu)
                hint = f"{did_you_mean(gpu, known)}; spec.gpu_types adds one"
                raise UsageError(f"{where}: unknown GPU type '{gpu}' ({hint})")


def _check_sources(document: Document[CatalogueFile], known: Mapping[str, str]) -> None:
    for at, source in _sources(document.content.spec):
        key = source.partition(":")[0]
        if key not in known:
            where = document.where("spec", *at)
            raise UsageError(f"{where}: source '{key}' is not in spec.sources ({did_you_mean(key, known)})")


def _sources(spec: CatalogueSpec) -> Iterator[tuple[tuple[str, ...], str]]:
    for name, gpu in spec.gpu_types.items():
        yield ("gpu_types", name, "source"), gpu.source
    for name, profile in spec.models.items():
        for at, source in profile.cited():
            yield ("models", name, *at), source


def _names(entries: Mapping[str, ModelProfile] | Mapping[str, GpuType], what: str) -> dict[str, str]:
    names: dict[str, str] = {}
    for name, entry in entries.items():
        for alias in (name, *entry.aliases):
            if names.setdefault(normal(alias), name) != name:
                raise UsageError(f"{what} name '{alias}' means both {names[normal(alias)]} and {name} (rename one)")
    return names


def _look_up(name: str, names: Mapping[str, str], what: str, fix: str) -> str:
    found = names.get(normal(name))
    if found is None:
        raise UsageError(f"unknown {what} '{name}' ({did_you_mean(name, set(names.values()))}; {fix})")
    return found
