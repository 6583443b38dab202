"""One site by hand, with some of all that makes exports hard: what an operator has before the first comparison."""

from typing import Final

from .nodes import Node, cut, whole
from .site import Gres, Job, Part, Run, Site
from .strategies import BEGIN_S, NOW_S

H: Final = 3600


def _run(submit_h: float, wait_h: float, hours: float, state: str = "COMPLETED") -> Run:
    submit, wait, elapsed = (round(BEGIN_S + submit_h * H), round(wait_h * H), round(hours * H))
    return Run(submit, state, submit, submit + wait, submit + wait + elapsed, elapsed, ran=True)


def _cancelled(submit_h: float, as_older_slurm: bool) -> Run:
    """While it waited, which it did for an hour."""
    submit = round(BEGIN_S + submit_h * H)
    return Run(submit, "CANCELLED by 1001", submit, submit + H if as_older_slurm else None, submit + H)


def _part(count: int, gpu_type: str, nodes: int = 1) -> Part:
    return Part((Gres(count, gpu_type),), nodes)


_A100, _H100 = "a100", "nvidia_h100_80gb_hbm3"
_STEPS: Final = ("batch", "extern", "0")
_FAILED = _run(1, 0.5, 4, "NODE_FAIL")
_AGAIN = _run(5.51, 1, 10)
_RUNNING = Run(NOW_S - 9 * H, "RUNNING", NOW_S - 9 * H, NOW_S - 8 * H, None, 8 * H, ran=True)
_SLICES: Final = {"partition": "mig", "account": "bio"}

JOBS: Final = (
    Job(100, "ann", (_part(4, _A100),), (_run(0, 0.1, 1),), steps=_STEPS, texts={"JobName": "first"}),
    Job(101, "ann", (_part(8, _A100),), (_FAILED, _AGAIN), steps=_STEPS, texts={"JobName": '"open quote'}),
    Job(102, "bob", (_part(16, _H100, nodes=2),), (_run(2, 0, 6, "TIMEOUT"),), steps=_STEPS, qos="high",
        texts={"JobName": 'bash -c "x"', "SubmitLine": 'sbatch --wrap "python train.py --name=\\"a b\\""'}),
    Job(104, "bob", (_part(2, _A100),), (_run(2.1, 0, 0.5, "FAILED"),), array=103, task=1,
        texts={"JobName": "tr\udce9m"}),
    Job(105, "bob", (_part(2, _A100),), (_run(2.1, 3, 2),), array=103, task=2, steps=_STEPS,
        texts={"JobName": "模型 🚀"}),
    Job(103, "bob", (_part(2, _A100),), (Run(BEGIN_S + 2 * H, "PENDING"),), waiting_tasks="3-9%2"),
    Job(106, "eve", (_part(4, _A100), _part(4, _H100)), (_run(3, 1, 2),), steps=("batch",), texts={"JobName": "het"}),
    Job(108, "eve", (_part(8, _A100),), (_cancelled(4, as_older_slurm=True),), requested="gpu,mig"),
    Job(109, "eve", (_part(1, _H100),), (_cancelled(4, as_older_slurm=False),)),
    Job(110, "ann", (Part((), 1),), (_run(4, 0, 1),), steps=_STEPS, texts={"JobName": "cpu", "Comment": "a|b"}),
    Job(111, "joe", (Part((Gres(1, "a100_3g.20gb"),)),), (_run(5, 0.2, 3),), steps=_STEPS, **_SLICES),
    Job(112, "joe", (Part((Gres(2, "a100_1g.5gb"),)),), (_run(5.1, 0, 1.5, "PREEMPTED"), _run(6.61, 0, 1)), **_SLICES),
    Job(113, "joe", (Part((Gres(8, "a100_1g.5gb"),)),), (_run(5.2, 0, 2),), **_SLICES),
    Job(114, "ann", (_part(8, _A100),), (_run(6, 0, 2, "FAILED"),), texts={"Comment": "loss=nan | lr=1e-3"}),
    Job(115, "ann", (_part(1, _A100),), (_run(7, 0, 0.5),), steps=_STEPS, texts={"JobName": "two\nlines"}),
    Job(116, "bob", (_part(8, _H100),), (_RUNNING,), steps=("batch", "extern")),
    Job(101, "ann", (_part(1, _A100),), (_run(2000, 0, 1),), steps=_STEPS, texts={"JobName": "101 came again"}),
)  # fmt: skip
SITE: Final = Site(JOBS, twice=frozenset({4}))
NODES: Final[tuple[Node, ...]] = (
    *(whole(f"a{number:02}", 8, _A100) for number in (1, 2)),
    whole("a03", 8, _A100, state="DOWN*+DRAIN", reason="Gres=gpu:7 after a fault"),
    *(whole(f"h{number:02}", 8, _H100, partitions="gpu,gpu-long") for number in (1, 2)),
    cut("m01", 4, {"1g.5gb": 7}, partitions="mig"),
    cut("m02", 4, {"3g.20gb": 2}, partitions="mig"),
    Node("c01", (), {}, partitions="cpu"),
)
