"""The frozen benchmark: generated workloads, clusters, loads, windows and seeds that all results are measured on."""
