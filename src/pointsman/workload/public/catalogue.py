"""The public job logs that ``pointsman trace fetch`` knows by name."""

from dataclasses import dataclass
from typing import Final

_CC_BY = "CC-BY 4.0"
_GITHUB = "https://github.com"


@dataclass(frozen=True)
class PublicTrace:
    """A job log at its publisher's."""

    name: str
    title: str
    url: str
    licence: str
    cite: str
    """Which publication to cite."""
    members: str = ""
    """Which files of an archive (tar) are logs, as a pattern of their names; empty: the file itself is the log."""
    sha256: str = ""
    """Digest of the bytes at `url`, where we have hashed them; empty: recorded at the first download."""


_TRACES = (
    PublicTrace(
        "philly",
        "Microsoft Philly 2017: 117,325 jobs (archive of 1.06 GB)",
        f"{_GITHUB}/msr-fiddle/philly-traces/raw/9425c49842ff332bf748967fd7ff0ab64112ad10/trace-data.tar.gz",
        _CC_BY,
        "M. Jeon et al., USENIX ATC 2019",
        "*cluster_job_log",
    ),
    PublicTrace(
        "helios-venus",
        "SenseTime Helios 2020, cluster Venus",
        f"{_GITHUB}/S-Lab-System-Group/HeliosData/raw/106713b0d0fc761c70073b4af018681656b60f48/data/Venus/cluster_log.csv",
        _CC_BY,
        "Q. Hu et al., SC 2021",
    ),
    PublicTrace(
        "acme-seren",
        "Acme 2023, cluster Seren",
        f"{_GITHUB}/InternLM/AcmeTrace/raw/6d6ac9cd15f3b01151ac6ba00ecddd9156f0dc73/data/job_trace/trace_seren.csv",
        _CC_BY,
        "Q. Hu et al., NSDI 2024",
    ),
    PublicTrace(
        "acme-kalos",
        "Acme 2023, cluster Kalos",
        f"{_GITHUB}/InternLM/AcmeTrace/raw/6d6ac9cd15f3b01151ac6ba00ecddd9156f0dc73/data/job_trace/trace_kalos.csv",
        _CC_BY,
        "Q. Hu et al., NSDI 2024",
    ),
    PublicTrace(
        "alibaba-pai",
        "Alibaba PAI 2020, task table",
        "https://aliopentrace.oss-cn-beijing.aliyuncs.com/v2020GPUTraces/pai_task_table.tar.gz",
        _CC_BY,
        "Q. Weng et al., NSDI 2022",
        "*pai_task_table.csv",
    ),
    PublicTrace(
        "alibaba-openb",
        "Alibaba openb 2023, pod list",
        f"{_GITHUB}/alibaba/clusterdata/raw/50a91c7c74abe3b658188dc78ac1dd302970d40c/cluster-trace-gpu-v2023/csv/"
        "openb_pod_list_default.csv",
        "as in alibaba/clusterdata",
        "Q. Weng et al., USENIX ATC 2023",
    ),
    PublicTrace(
        "itp",
        "Microsoft ITP 2021, ten clusters",
        f"{_GITHUB}/microsoft/elasticflow-traces/raw/277ed24d0e908c31a1c98145819e2e3853d8ac00/data/raw-traces.tar.gz",
        "MIT",
        "D. Gu et al., ASPLOS 2023",
        "*.csv",
    ),
    PublicTrace(
        "itp-elasticflow",
        "Microsoft ITP 2021 with the models, batch sizes and deadlines that ElasticFlow drew",
        f"{_GITHUB}/microsoft/elasticflow-traces/raw/277ed24d0e908c31a1c98145819e2e3853d8ac00/data/"
        "elasticflow-traces.tar.gz",
        "MIT",
        "D. Gu et al., ASPLOS 2023",
        "*.csv",
    ),
    PublicTrace(
        "gavel",
        "Gavel, 6214e9 of the traces made from Philly",
        f"{_GITHUB}/stanford-futuredata/gavel/raw/45da4796e4a467798832d688c3af217abdc5536d/scheduler/traces/msr/seed=2/"
        "6214e9.trace",
        "MIT",
        "D. Narayanan et al., OSDI 2020",
    ),
)

PUBLIC: Final[dict[str, PublicTrace]] = {trace.name: trace for trace in _TRACES}
"""By name. Addresses are those of the publishers' pages, at a fixed commit where there is one."""
