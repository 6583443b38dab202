"""Jobs of Kubernetes: ``kubectl get pods|jobs|workloads|... -o json|yaml`` (`docs/formats/kubernetes.md`)."""

import re
from typing import Final

import polars as pl

from pointsman.workload.readers.sdk import Quality, Source, TraceFormat

_KINDS: Final = (
    rb"Pod|Job|Workload|PodGroup|JobSet|RayJob|RayCluster|TrainJob|AppWrapper|[A-Z][A-Za-z]{0,12}Job|"
    rb"(?:Pod|Job|Workload|PodGroup|JobSet|RayJob|RayCluster|TrainJob|[A-Z][A-Za-z]{0,12}Job)List"
)
_FLOW: Final = re.compile(rb"""[{,\s]["']?kind["']?\s*:\s*["']?(?:""" + _KINDS + rb""")["']?\s*[,}]""")
"""In JSON, and in YAML in braces."""
_BRACES: Final = re.compile(rb"(?:---\s+|#.*\n\s*|- +)*[{\[]")
_YAML: Final = re.compile(rb"^(?:- |  |)kind: [\"']?(?:" + _KINDS + rb")[\"']?\s*$", re.MULTILINE)


def _matches(source: Source) -> bool:
    head = source.data[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")
    if _BRACES.match(head):
        return b"apiVersion" in source.data and _FLOW.search(source.data) is not None
    return re.search(rb"^(?:- |)apiVersion:", head, re.MULTILINE) is not None and any(
        kind.search(source.data) for kind in (_YAML, _FLOW)
    )


def _read(source: Source) -> tuple[pl.DataFrame, Quality]:
    from pointsman.workload.readers.kubernetes_listing import read  # what parses YAML, for those who have some

    return read(source)


FORMAT = TraceFormat("kubernetes", "Kubernetes, kubectl get -o json or yaml", _matches, _read)
