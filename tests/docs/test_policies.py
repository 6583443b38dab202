"""Each built-in policy is documented."""

import re

import pytest

from pointsman.policies.registry import BUILT_IN, LEARNED

from .pages import ROOT

POLICIES = BUILT_IN | LEARNED


@pytest.mark.parametrize("policy", POLICIES)
def test_the_reference_has_the_policy(policy: str) -> None:
    entry = f"::: {POLICIES[policy].replace(':', '.')}"
    assert entry in (ROOT / "docs/reference/policies.md").read_text().splitlines(), f"add the line {entry!r}"


@pytest.mark.parametrize("policy", POLICIES)
def test_the_table_of_the_reference_has_the_policy(policy: str) -> None:
    table = (ROOT / "docs/reference/policies.md").read_text().partition("## All policies")[2].partition("\n## ")[0]
    named = {name for row in re.findall(r"^\| (.+?) \|", table, re.M) for name in re.findall(r"`([\w-]+)", row)}
    assert policy in named, f"add a row for {policy} to docs/reference/policies.md"


@pytest.mark.parametrize("policy", BUILT_IN)
def test_the_semantics_define_the_policy(policy: str) -> None:
    text = "".join(page.read_text() for page in (ROOT / "docs/reference/semantics").glob("*.md"))
    assert re.search(rf"`{policy}[`:\[]", text), f"define {policy} there"
