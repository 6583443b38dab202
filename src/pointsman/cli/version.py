"""``pointsman version``."""

import typer

from pointsman.cli import screen


def version() -> None:
    """Print the version; with -v also versions of dependencies."""
    from pointsman.version import __version__

    typer.echo(f"pointsman {__version__}")
    if screen.is_verbose():
        for name, number in dependency_versions().items():
            typer.echo(f"{name} {number}")


def dependency_versions() -> dict[str, str]:
    """Python and the packages that results depend on."""
    import platform
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    versions = {"python": platform.python_version()}
    for name in ("numba", "llvmlite", "numpy", "polars", "pydantic", "matplotlib"):
        try:
            versions[name] = installed(name)
        except PackageNotFoundError:
            versions[name] = "not installed"
    return versions
