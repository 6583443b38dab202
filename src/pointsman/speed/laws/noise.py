"""The gradient noise scale of training, by progress: how much of a larger batch is learnt from.

Source: the validation runs of A. Qiao et al., "Pollux: Co-adaptive Cluster Scheduling for Goodput-Optimized Deep
Learning", OSDI 2021 (artifact: github.com/petuum/adaptdl, Apache-2.0), each model at six to eight batch sizes. Derived
by us: for each tenth of the progress, the noise scale that explains best (least squares of logarithms, residual 0 to
7 %, mostly 1 %) the samples that each batch size took for it. The runs count progress in iterations at the initial
batch, each worth the gain that its gradients' measured variance and norm give. Whole trainings come out within 2.2 %.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

CELLS: Final = 100
"""Steps in which progress is translated to work."""


@dataclass(frozen=True)
class Noise:
    """Gradient noise of one kind of training."""

    initial: int
    """Samples of the batch that training was first set up for, the smallest measured."""
    limit: int
    """Samples of the largest batch measured."""
    tenths: tuple[float, ...]
    """Noise scale in samples in each tenth of the progress."""

    def scale(self, progress: NDArray[np.float64]) -> NDArray[np.float64]:
        """The noise scale in samples at `progress` from 0 to 1: its logarithm is linear between middles of tenths."""
        middles = (np.arange(len(self.tenths)) + 0.5) / len(self.tenths)
        return np.exp(np.interp(progress, middles, np.log(self.tenths)))

    def by_work(self, batch: int, bins: int) -> NDArray[np.float64]:
        """(bins,) the noise scale amid each of equal shares of the iterations of a training with `batch` samples."""
        progress = (np.arange(CELLS) + 0.5) / CELLS
        scale = self.scale(progress)
        iterations = np.cumsum((scale + batch) / (scale + self.initial))
        amid = (np.arange(bins) + 0.5) / bins * iterations[-1]
        return self.scale(np.interp(amid, np.append(0.0, iterations), np.linspace(0.0, 1.0, CELLS + 1)))


def efficiency(scale: ArrayLike, batch: ArrayLike, base: ArrayLike) -> NDArray[np.float64]:
    """What a sample teaches in a batch of `batch`, relative to one in a batch of `base` (Pollux, eq. 7)."""
    return np.add(scale, base) / np.add(scale, batch)


BERT = Noise(12, 384, (5957,) * 5 + (18740,) * 5)
RESNET18 = Noise(128, 4096, (880.8, 3837, 6439, 9314, 13370, 23590, 49260, 89010, 122500, 122600))
DEEPSPEECH2 = Noise(20, 640, (105.9, 1148, 2527, 4225, 7565, 13910, 15190, 15070, 14470, 14510))
RESNET50 = Noise(200, 12800, (4695, 10450, 11540, 25580, 43590, 37690, 50640, 207800, 179800, 163800))
NEUMF = Noise(256, 32768, (252600, 1.55e6, 1.508e6, 1.425e6, 4.271e6, 8.113e6, 6.536e6, 3.892e7, 5.538e7, 5.157e7))
YOLOV3 = Noise(8, 512, (161.2, 365.7, 403.4, 462.6, 543.4, 661.1, 886.5, 1159, 1705, 2008))

NOISE: Final[dict[str, Noise]] = {
    "bert": BERT,
    "deepspeech2": DEEPSPEECH2,
    "ncf": NEUMF,
    "resnet18": RESNET18,
    "resnet50": RESNET50,
    "yolov3": YOLOV3,
    # like the measured model nearest in kind; ours
    **dict.fromkeys(("gpt2", "transformer", "lstm", "lstm_ptb"), BERT),
    **dict.fromkeys(("recommendation",), NEUMF),
    **dict.fromkeys(("shufflenet_v2", "a2c", "a3c", "dqn"), RESNET18),
    **dict.fromkeys(("resnet101", "resnet152", "googlenet", "inception3", "inception4"), RESNET50),
    **dict.fromkeys(("alexnet", "vgg11", "vgg16", "vgg19", "mobilenet_v3"), RESNET50),
    **dict.fromkeys(("cyclegan",), YOLOV3),
}
"""By canonical name of a model. Models split over several GPUs (llama2) and users' own have none: they are rigid."""
