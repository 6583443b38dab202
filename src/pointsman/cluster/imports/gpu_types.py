"""The catalogue's names of the GPU types in a list of nodes."""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pointsman.cluster.gpu_catalogue import known_gpu
from pointsman.cluster.imports.machine import Machine, has, refuse, some
from pointsman.cluster.parts import NAME
from pointsman.errors import InputError
from pointsman.inputs.gpu_names import known_name, plain_name
from pointsman.inputs.messages import quoted

UNKNOWN_TYPE: Final = {"memory": "16 GiB"}
UNKNOWN_LINKS: Final = {"kind": "pcie", "bandwidth": "12 GB/s"}
"""Assumed of types that the catalogue lacks (ours)."""
SAME: Final = "NAME"
"""What a message has in the place of a name that only its reader knows."""


@dataclass(frozen=True)
class Types:
    """Names of GPU types, by what the list calls them."""

    names: Mapping[str, str]
    given: frozenset[str]
    """Those that the list calls otherwise, and somebody has named."""

    def declared(self) -> dict[str, Any]:
        """`gpu_types` of the cluster file: types of the site's own, and the site's names of others."""
        found: dict[str, dict[str, Any]] = {}
        for raw, name in self.names.items():
            if known_gpu(name) is None:
                found.setdefault(name, {}).update(UNKNOWN_TYPE)
            if raw in self.given and NAME.fullmatch(raw) and plain_name(raw) != name:
                found.setdefault(name, {}).setdefault("aliases", []).append(raw)
        return found

    def notes(self) -> Iterator[str]:
        """What the names were taken for, and what is assumed of unknown types."""
        for raw, name in self.names.items():
            if known_gpu(name) is None:
                links = f"{UNKNOWN_LINKS['kind']} of {UNKNOWN_LINKS['bandwidth']}"
                yield f"{name} is not in the catalogue: {UNKNOWN_TYPE['memory']} and {links} are assumed"
            elif raw and raw.casefold() != name:
                yield f"{raw} is taken for {name}"


def types_of(machines: Sequence[Machine], path: Path, named: Mapping[str, str]) -> Types:
    """The types of all nodes.

    Args:
        machines: those with GPUs.
        path: of the list.
        named: from a type as the list has it, or "" where it has none, to the catalogue's, or to a type of its own.

    Raises:
        InputError: types are unknown; the message names all of them, and the options that name them.
    """
    with_type: dict[str, list[Machine]] = {}
    for machine in machines:
        for gpus in machine.gpus:
            with_type.setdefault(gpus.gpu_type, []).append(machine)
    by_plain = {plain_name(raw): name for raw, name in named.items()}
    given = {raw for raw in with_type if raw in named or plain_name(raw) in by_plain}
    names = {raw: named.get(raw) or by_plain.get(plain_name(raw)) or known_name(raw) or "" for raw in with_type}
    unknown = {raw: with_type[raw] for raw, name in names.items() if not name}
    if unknown:
        raise _unknown(unknown, path)
    return Types(names, frozenset(given))


def _unknown(unknown: Mapping[str, Sequence[Machine]], path: Path) -> InputError:
    first = next(iter(unknown.values()))[0]
    if len(unknown) == 1:
        kind = next(iter(unknown))
        whose = f"an unknown type {quoted(kind)}" if kind else "a type that the list does not say"
        cause = f"{some([one.name for one in unknown[kind]])} {has(unknown[kind])} GPUs of {whose}"
    else:
        each = (f"{quoted(kind) if kind else 'none named'} ({some([one.name for one in of][:1])}{_more(of)})"
                for kind, of in unknown.items())  # fmt: skip
        cause = f"GPUs of types that are not in the catalogue: {', '.join(each)}"
    return refuse(cause, path, _fix(list(unknown)), first.line)


def _more(nodes: Sequence[Machine]) -> str:
    return f" and {len(nodes) - 1:,} more nodes" if len(nodes) > 1 else ""


def _fix(kinds: Sequence[str]) -> str:
    options = " ".join(f"--gpu-type {_option(kind)}" for kind in kinds)
    own = "to keep each as a type of its own, or with a type of the catalogue behind the =, such as a100"
    none = f"{SAME} is a type of the catalogue, such as a100"
    return f"import with {options}" + f" {own}" * any(kinds) + f"; {none}" * ("" in kinds)


def _option(kind: str) -> str:
    return shlex.quote(f"{kind}={own_name(kind)}") if kind else SAME


def own_name(raw: str) -> str:
    """What a type that the catalogue lacks is called in a cluster file."""
    return re.sub(r"[^\w.:/-]+", "-", plain_name(raw)).strip("-") or "unknown"
