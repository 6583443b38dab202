"""CITATION.cff names this version and these authors."""

import tomllib

import yaml

from pointsman.version import __version__

from .pages import ROOT


def test_the_citation_is_of_this_version_and_by_these_authors() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert str(citation["version"]) == __version__
    assert citation["authors"] == project["authors"]
    assert citation["license"] == project["license"]
