"""``python -m benchmarks.results PAGE``: makes a page of results, its data file and its figures anew.

Runs are kept in ``out/results/PAGE.jsonl``; delete it to run everything again. If it is missing, ``--published`` begins
it with the runs of the data file that the repository has. ``--page-only`` fills the page from that data file.
"""

import argparse
from pathlib import Path

import polars as pl

from benchmarks.blocks import fill
from benchmarks.results.figures import Figures
from benchmarks.results.trials import DATA, JOINT, PAGES, complete, page_of, take_as_done


def names() -> list[str]:
    """Of all pages."""
    return sorted(path.stem for path in (Path(__file__).parent / "pages").glob("[!_]*.py"))


OF_POLICY = ["options", "durations", "profiles", "progress"]


def blocks(name: str, figures: Figures) -> dict[str, dict[str, str]]:
    """What is filled into a page, and into others that are about the same runs: by page and the name of its place."""
    module = page_of(name)
    made = {name: module.BLOCKS} | getattr(module, "BESIDE", {})
    return {page: {block: make(figures) for block, make in of.items()} for page, of in made.items()}


def write(found: pl.DataFrame, file: Path) -> None:
    """The runs in one file, and beside it what makes each policy and what it uses, which is the same in most."""
    found.drop(OF_POLICY).write_csv(file)
    of_policy = found.select("policy", *OF_POLICY).unique(maintain_order=True)
    all_of_it = pl.col(OF_POLICY).str.split(JOINT).explode().unique(maintain_order=True).str.join(JOINT)
    of_policy.group_by("policy", maintain_order=True).agg(all_of_it)\
        .write_csv(file.with_name(f"{file.stem}-policies.csv"))  # fmt: skip


def read(file: Path) -> Figures:
    """What `write` wrote."""
    runs, policies = (
        pl.read_csv(path, infer_schema_length=None) for path in (file, file.with_name(f"{file.stem}-policies.csv"))
    )
    return Figures(runs.join(policies, on="policy", how="left", maintain_order="left"))


def main(arguments: list[str] | None = None) -> None:
    """See the module."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.results", description=__doc__)
    parser.add_argument("page", choices=names())
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="where traces/ is")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--published", action="store_true", help="run only what the data file lacks")
    parser.add_argument("--page-only", action="store_true", help="run nothing: fill the page from its data file")
    given = parser.parse_args(arguments)
    file = DATA / f"{given.page}.csv"
    kept = Path("out/results") / f"{given.page}.jsonl"
    if given.published and not kept.exists():
        take_as_done(given.page, given.data, read(file).frame, kept)
    if not given.page_only:
        found = complete(given.page, given.data, given.workers, kept)
        file.parent.mkdir(exist_ok=True)
        write(found, file)
    figures = read(file)
    for page, tables in blocks(given.page, figures).items():
        fill(PAGES / f"{page}.md", tables)
    if draw := getattr(page_of(given.page), "draw", None):
        draw(figures, PAGES / f"{given.page}.svg")


if __name__ == "__main__":
    main()
