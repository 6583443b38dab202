"""DeepRM: a small network picks a job."""

from typing import ClassVar

from pointsman.learn.policies.learned import LearnedPicker


class DeepRm(LearnedPicker):
    """A trained network of one hidden layer picks which waiting job starts, or that none does."""

    name: ClassVar[str] = "deeprm"
    source: ClassVar[str] = "Mao et al., Resource management with deep reinforcement learning, HotNets 2016"
