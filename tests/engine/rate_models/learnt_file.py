"""The text of a small file of learnt interference."""

from textwrap import dedent, indent

_HEAD = """\
apiVersion: pointsman/v1
kind: LearnedInterference
metadata: {name: small}
spec:
  source: drawn
  servers:
  - gpu_type: v100
    gpus: 4
    models:
"""


def learnt_file(models: str) -> str:
    """Return a file about servers of four V100 with these lines on models."""
    return _HEAD + indent(dedent(models), " " * 6)
