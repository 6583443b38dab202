"""The version, for the package's metadata and for manifests."""

__version__ = "0.1.0"
