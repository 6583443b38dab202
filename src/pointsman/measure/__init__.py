"""Measuring real training jobs: step times, slowdowns of jobs side by side, and what starting and stopping costs.

Each job is a process of its own (`job`), which a plan of rounds drives through a pipe (`process`). Only jobs import
PyTorch.
"""
