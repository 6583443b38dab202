"""What the Pollux artifact measured of its six applications: how long a job of its workloads runs.

Source: A. Qiao et al., "Pollux: Co-adaptive Cluster Scheduling for Goodput-Optimized Deep Learning", OSDI 2021; its
artifact is at github.com/petuum/adaptdl (Apache-2.0). Iterations are those of its validation runs to the end of
training; the seven parameters are our least-squares fit of the paper's step-time law to its measurements on T4 GPUs,
four a node (median error 6 to 9 %).
"""

from dataclasses import dataclass
from math import ceil
from typing import Final

GPUS_PER_NODE: Final = 4
"""GPUs on each node that was measured (AWS g4dn.12xlarge)."""


@dataclass(frozen=True)
class Application:
    """One application's step-time law (seconds, samples) and its training length."""

    alpha_c: float
    """Compute time of an empty batch, s."""
    beta_c: float
    """Compute time per sample of the local batch, s."""
    alpha_n: float
    """Synchronisation of two GPUs on different nodes, s."""
    beta_n: float
    """Further synchronisation for each GPU beyond two, s."""
    alpha_r: float
    """Synchronisation of two GPUs on one node, s."""
    beta_r: float
    """Further synchronisation for each GPU beyond two, s."""
    gamma: float
    """Overlap: 1 adds compute and synchronisation, ∞ takes the longer."""
    max_local_batch: int
    """Largest batch measured on one GPU; beyond it gradients are accumulated."""
    iterations: dict[int, int]
    """Iterations of the whole training, by global batch size."""

    def run_s(self, gpus: int, batch_size: int) -> float | None:
        """Seconds that training takes on `gpus` T4 GPUs, packed; None for a batch size that was not trained."""
        if gpus < 1 or batch_size not in self.iterations:
            return None
        return self.iterations[batch_size] * self.iteration_s(gpus, batch_size)

    def iteration_s(self, gpus: int, batch_size: int) -> float:
        """Seconds of one iteration of the global `batch_size` on `gpus` GPUs."""
        local = batch_size / gpus
        steps = ceil(local / self.max_local_batch)
        compute = self.alpha_c + self.beta_c * local / steps
        sync = 0.0
        if gpus > 1:
            one_node = gpus <= GPUS_PER_NODE
            alpha, beta = (self.alpha_r, self.beta_r) if one_node else (self.alpha_n, self.beta_n)
            sync = alpha + beta * (gpus - 2)
        return (steps - 1) * compute + (compute**self.gamma + sync**self.gamma) ** (1 / self.gamma)


APPLICATIONS: Final[dict[str, Application]] = {
    "bert": Application(
        alpha_c=0.2231,
        beta_c=0.05812,
        alpha_n=1.403,
        beta_n=0.009479,
        alpha_r=0.2184,
        beta_r=0.008638,
        gamma=2.101,
        max_local_batch=12,
        iterations={12: 14774, 24: 7427, 48: 3732, 96: 1885, 192: 940, 384: 480},
    ),
    "cifar10": Application(
        alpha_c=0.01019,
        beta_c=0.00078,
        alpha_n=0.1306,
        beta_n=0.002648,
        alpha_r=0.04417,
        beta_r=0.001519,
        gamma=2.843,
        max_local_batch=1024,
        iterations={128: 39062, 256: 20377, 512: 10615, 1024: 5722, 2048: 3178, 4096: 2011},
    ),
    "deepspeech2": Application(
        alpha_c=0.0186,
        beta_c=0.03307,
        alpha_n=0.8904,
        beta_n=0.009185,
        alpha_r=0.4732,
        beta_r=0.08449,
        gamma=3.128,
        max_local_batch=80,
        iterations={20: 28536, 40: 14711, 80: 7683, 160: 4041, 320: 2264, 640: 1423},
    ),
    "imagenet": Application(
        alpha_c=0.0569,
        beta_c=0.00455,
        alpha_n=0.3099,
        beta_n=0.006621,
        alpha_r=0.09683,
        beta_r=0.003055,
        gamma=2.682,
        max_local_batch=200,
        iterations={200: 576525, 400: 292995, 800: 150231, 1600: 78453, 3200: 42123, 6400: 23972, 12800: 14461},
    ),
    "ncf": Application(
        alpha_c=0.006921,
        beta_c=8.397e-07,
        alpha_n=0.01443,
        beta_n=0.0005489,
        alpha_r=0.002882,
        beta_r=0.001196,
        gamma=1.003,
        max_local_batch=32768,
        iterations={
            256: 194174,
            512: 97094,
            1024: 48625,
            2048: 24308,
            4096: 12172,
            8192: 6122,
            16384: 3069,
            32768: 1548,
        },
    ),
    "yolov3": Application(
        alpha_c=0.2045,
        beta_c=0.02488,
        alpha_n=0.725,
        beta_n=0.01069,
        alpha_r=0.04388,
        beta_r=0.08035,
        gamma=1.088,
        max_local_batch=16,
        iterations={8: 103444, 16: 52905, 32: 27430, 64: 14577, 128: 8075, 256: 4809, 512: 3143},
    ),
}
