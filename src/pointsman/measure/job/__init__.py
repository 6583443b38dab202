"""The process of one job: the only part of a measurement that imports PyTorch."""
