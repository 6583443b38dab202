"""Isolated steps per second on V100s by Gavel's job types: what turns a trace's steps into seconds.

Source: the throughput files of github.com/stanford-futuredata/gavel (MIT licence; D. Narayanan et al.,
"Heterogeneity-Aware Cluster Scheduling Policies for Deep Learning Workloads", OSDI 2020), rounded to five decimals.
"""

from typing import Final

SINGLE_GPU: Final[dict[str, float]] = {
    "A3C": 8.23303,
    "CycleGAN": 4.91849,
    "LM (batch size 5)": 167.12286,
    "LM (batch size 10)": 143.36051,
    "LM (batch size 20)": 107.95087,
    "LM (batch size 40)": 71.72304,
    "LM (batch size 80)": 43.90361,
    "Recommendation (batch size 512)": 0.33148,
    "Recommendation (batch size 1024)": 0.47998,
    "Recommendation (batch size 2048)": 0.56753,
    "Recommendation (batch size 4096)": 0.62441,
    "Recommendation (batch size 8192)": 0.60235,
    "ResNet-18 (batch size 16)": 77.31737,
    "ResNet-18 (batch size 32)": 65.80541,
    "ResNet-18 (batch size 64)": 48.88418,
    "ResNet-18 (batch size 128)": 30.2875,
    "ResNet-18 (batch size 256)": 16.98737,
    "ResNet-50 (batch size 16)": 17.37439,
    "ResNet-50 (batch size 32)": 9.92058,
    "ResNet-50 (batch size 64)": 5.4576,
    "ResNet-50 (batch size 128)": 2.84598,
    "Transformer (batch size 16)": 12.84565,
    "Transformer (batch size 32)": 12.47528,
    "Transformer (batch size 64)": 9.56802,
    "Transformer (batch size 128)": 5.77121,
    "Transformer (batch size 256)": 1.70703,
}
"""On one V100, from the `oracle` throughputs that Gavel's early (6- and 7-column) traces were generated with: steps are
Philly's run time times this figure, whatever the GPU count, so that dividing gives the run time back."""

PHYSICAL: Final[dict[str, dict[int, float]]] = {
    "A3C": {1: 7.47962},
    "CycleGAN": {1: 4.73559},
    "LM (batch size 5)": {1: 114.11093, 2: 185.72383, 4: 126.71572, 8: 698.77329},
    "LM (batch size 10)": {1: 81.65163, 2: 163.12902, 4: 121.47762, 8: 615.09346},
    "LM (batch size 20)": {1: 64.74245, 2: 132.17413, 4: 110.99686, 8: 497.29526},
    "LM (batch size 40)": {1: 50.04899, 2: 91.59266, 4: 96.03125, 8: 359.30692},
    "LM (batch size 80)": {1: 31.6896, 2: 58.09154, 4: 74.8073, 8: 231.1762},
    "Recommendation (batch size 512)": {1: 253.62998},
    "Recommendation (batch size 1024)": {1: 150.53938},
    "Recommendation (batch size 2048)": {1: 88.20699},
    "Recommendation (batch size 4096)": {1: 45.8499},
    "Recommendation (batch size 8192)": {1: 22.24682},
    "ResNet-18 (batch size 16)": {1: 32.35338, 2: 100.14206, 4: 123.85377, 8: 382.59744},
    "ResNet-18 (batch size 32)": {1: 29.94716, 2: 94.24893, 4: 114.73342, 8: 340.03836},
    "ResNet-18 (batch size 64)": {1: 24.09323, 2: 74.13589, 4: 95.58814, 8: 255.82914},
    "ResNet-18 (batch size 128)": {1: 22.37157, 2: 23.98535, 4: 69.95052, 8: 162.09161},
    "ResNet-18 (batch size 256)": {1: 11.94928, 2: 15.88285, 4: 27.78206, 8: 81.50659},
    "ResNet-50 (batch size 16)": {1: 12.21691, 2: 13.85976, 4: 23.19559, 8: 27.79909},
    "ResNet-50 (batch size 32)": {1: 7.93037, 2: 10.83457, 4: 13.76323, 8: 24.06742},
    "ResNet-50 (batch size 64)": {1: 4.52576, 2: 7.92205, 4: 9.45195, 8: 17.30317},
    "ResNet-50 (batch size 128)": {1: 2.53011, 2: 4.22301, 4: 7.02929, 8: 10.29318},
    "Transformer (batch size 16)": {1: 11.06409, 2: 14.15382, 4: 20.08498, 8: 71.65168},
    "Transformer (batch size 32)": {1: 9.68286, 2: 13.32804, 4: 22.82251, 8: 63.97766},
    "Transformer (batch size 64)": {1: 8.20956, 2: 15.8765, 4: 19.65962, 8: 49.6507},
    "Transformer (batch size 128)": {1: 5.6422, 2: 10.06924, 4: 14.17452, 8: 30.88352},
    "Transformer (batch size 256)": {1: 1.59514, 2: 2.88524, 4: 4.76305, 8: 9.71702},
}
"""By number of V100s, all on as few nodes as possible, as measured on the physical cluster that the later (9- and
10-column) traces ran on."""
