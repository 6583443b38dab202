"""Clusters made from what Slurm, Kubernetes and inventories say of their nodes (``docs/formats/node-lists.md``)."""
