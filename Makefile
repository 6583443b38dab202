# make demo   a Philly-like cluster under eight policies, and its report
# make test   the everyday tests                 make lint   style, types, import contracts
# make bench  the benchmarks                     make docs   the documentation, in site/
# make test-slow  those that take minutes, such as 10,000 more instances for the oracle
# make coverage  the everyday tests, and the lines of Python that they run
# make wheel  wheel and sdist, in dist/; runs the wheel in an environment of its own
# make man    the manual page, in out/
# make .venv  only the environment               make clean  back to a fresh clone
# make core-again  the compiled core from nothing, and whether it is that of the cache, byte for byte
# make learn  PyTorch as well, for the tests and examples that train
# make slurm  Slurm as well, for the tests on a real one (Debian and Ubuntu, as root or with sudo)
# make ray    Ray as well, for runs on a cluster and their tests

SHELL := /bin/bash
BIN := .venv/bin
NEWEST_FIRST := python3 python3.14 python3.13 python3.12 python3.11
IS_RECENT := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for p in $(NEWEST_FIRST); do $$p -c '$(IS_RECENT)' 2>/dev/null && echo $$p && break; done)
SLURM := slurmctld slurmd slurm-client munge
DEMO_POLICIES := fifo-backfill fifo sjf-backfill srtf las tiresias dally gittins
DEMO_JOBS := out/demo-jobs.parquet

.PHONY: demo live-demo test test-slow coverage wheel core-again man lint results results-sample bench docs clean learn ray slurm .venv
.DEFAULT_GOAL := demo

.venv: .venv/ready

.venv/ready: requirements.lock
	@if [ -z "$(PYTHON)" ]; then echo "Pointsman needs Python 3.11 or newer, and none of '$(NEWEST_FIRST)' is: install one, or say 'make PYTHON=/path/to/python'." >&2; exit 2; fi
	@if [ -L .venv ]; then echo ".venv is a link: making it anew would empty the folder it names; remove the link" >&2; exit 2; fi
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "$(PYTHON) cannot make a virtual environment: install its venv module (Debian, Ubuntu: apt-get install python3-venv)." >&2; exit 2; }
	$(PYTHON) -m venv --clear .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-compile -r requirements.lock
	@$(BIN)/python -m compileall -qq -j 0 .venv/lib || true # on every core; pip uses one. Packages hold files for other Pythons
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	$(BIN)/pip check
	@$(BIN)/python -m pointsman.engine.jit.build || true # what every run needs; else the first run compiles it
	@touch $@

learn: .venv/learn

# With what torch asks for: on a machine with GPUs that is CUDA, some gigabytes, and so nothing else depends on it.
.venv/learn: requirements-learn.lock .venv/ready
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint requirements.lock -r requirements-learn.lock
	$(BIN)/pip check
	@touch $@

ray: .venv/ray

.venv/ray: requirements-ray.lock .venv/ready
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps -r requirements-ray.lock
	$(BIN)/pip check
	@touch $@

# Tests boot a Slurm of their own from these, and are skipped without.
slurm:
	@if ! command -v apt-get >/dev/null; then echo "make slurm installs the packages of Debian and Ubuntu, and there is no apt-get here: install Slurm's daemons and commands and munge by hand." >&2; exit 2; fi
	@if [ "$$(id -u)" != 0 ] && ! sudo -n true 2>/dev/null; then echo "make slurm needs root: run 'sudo apt-get install $(SLURM)'." >&2; exit 2; fi
	@as_root="$$([ "$$(id -u)" = 0 ] || echo sudo -n) env DEBIAN_FRONTEND=noninteractive"; \
		dpkg -s $(SLURM) >/dev/null 2>&1 || { $$as_root apt-get update -q && $$as_root apt-get install -q -y --no-install-recommends $(SLURM); }

# From an empty cluster jobs of days take two days to fill it: only those submitted later are counted.
demo: .venv
	@mkdir -p out
	$(BIN)/pointsman trace generate --like philly --jobs 20000 --cluster philly --load 1.2 --seed 1 --force -o $(DEMO_JOBS)
	$(BIN)/pointsman compare $(DEMO_JOBS) --cluster philly $(DEMO_POLICIES:%=--policy %) --window 2d: --force -o out/demo

# Forty real trainings on declared GPUs of this machine, under a daemon that is killed once.
live-demo: .venv
	$(BIN)/python examples/live/demo.py out/live-demo

# Three at a time on two cores, because those of live clusters wait.
test: .venv
	$(BIN)/pointsman warmup
	$(BIN)/python -m pytest -n 3 --dist worksteal -m "not slow" tests

test-slow: .venv
	$(BIN)/python -m pytest -n 2 -m slow tests

# Functions that numba compiles are not measured (pyproject.toml). The floor, also there, holds after `make learn`.
coverage: .venv
	rm -rf out/coverage
	mkdir -p out/coverage
	$(BIN)/pointsman warmup
	$(BIN)/coverage run -m pytest -n 2 --dist worksteal -m "not slow" tests
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage html --quiet --fail-under=0
	$(BIN)/coverage report --skip-covered --sort=miss

# With every dependency that the wheel names, at the versions of the lock.
wheel: .venv
	rm -rf dist out/wheel
	$(BIN)/hatchling build -d dist
	$(BIN)/python -m venv out/wheel
	out/wheel/bin/pip install --quiet --disable-pip-version-check --constraint requirements.lock dist/*.whl
	out/wheel/bin/pip check
	cd out/wheel && bin/pointsman --version
	cd out/wheel && bin/pointsman trace generate --like philly --jobs 500 --cluster 8x8 --seed 1 -o jobs.parquet
	cd out/wheel && bin/pointsman simulate jobs.parquet --cluster 8x8 --policy fifo -o run
	grep -q '<svg' out/wheel/run/report.html

core-again: .venv
	rm -rf out/core
	mkdir -p -m 700 out/core/home
	$(BIN)/python -m pointsman.whole_core out/core/kept
	POINTSMAN_HOME="$(CURDIR)/out/core/home" $(BIN)/python -m pointsman.whole_core out/core/anew
	cmp out/core/kept/core.so out/core/anew/core.so

man: .venv
	mkdir -p out
	$(BIN)/python -m pointsman.cli.manual > out/pointsman.1

lint: .venv
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/ty check src
	$(BIN)/lint-imports

# One page of docs/results, its data and its picture: make results PAGE=dally
results: .venv
	$(BIN)/python -m benchmarks.results $(PAGE)

# Five published rows of each page again, others every night
results-sample: .venv
	$(BIN)/python -m benchmarks.results.sample

bench: .venv
	$(BIN)/python -m benchmarks

docs: .venv
	$(BIN)/zensical build --clean --strict

clean:
	rm -rf .venv out site build dist .cache .coverage .hypothesis .pytest_cache .ruff_cache .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
