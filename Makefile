# Everything a contributor runs. Needs only Python 3.11 or newer and make: the first call makes an environment in .venv.

PYTHON ?= python3
BIN := .venv/bin
# Tests start some hundred processes: without bytecode files each compiles all of Pliant's sources again.
unexport PYTHONDONTWRITEBYTECODE
PIP_INSTALL := -m pip install --quiet --quiet --disable-pip-version-check -c constraints.txt

.DEFAULT_GOAL := help
.PHONY: help demo test test-all check check-device fix bench wheel docs blender clean

help:  ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' Makefile

demo: .venv/demo-installed  ## simulate a beam that is wrung until it buckles, and draw it into demo/
	@$(BIN)/pliant demo

test: .venv/dev-installed  ## run the quick tests
	@$(BIN)/python -m pytest -n 2 --dist worksteal --hypothesis-profile=same

test-all: .venv/dev-installed  ## run all tests, the slow ones too
	@$(BIN)/python -m pytest -m "slow or not slow"

check: .venv/dev-installed  ## check style, types and the direction of imports; changes nothing
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/lint-imports

check-device: .venv/dev-installed  ## run the kernels for OpenCL devices in oclgrind: races, bounds
	@$(BIN)/python tools/check_device.py

fix: .venv/dev-installed  ## repair style where it can be done automatically
	@$(BIN)/ruff check --fix
	@$(BIN)/ruff format

bench: .venv-bench/installed  ## time Pliant beside other simulators, in an environment of its own
	@.venv-bench/bin/python -m benchmarks.run

wheel: .venv/package-installed  ## build an sdist, and a wheel with the gallery's compiled kernels, in dist/
	@$(BIN)/python tools/build_wheel.py --sdist

docs: .venv-docs/installed  ## build the manual into site/ (site/index.html), in an environment of its own
	@NO_MKDOCS_2_WARNING=1 .venv-docs/bin/mkdocs build --strict --quiet

blender: .venv/dev-installed  ## build the Blender add-on, dist/pliant_blender.zip
	@$(BIN)/python tools/build_blender_addon.py

clean:  ## delete the environments, the caches and what the demo and the benchmarks wrote
	rm -rf .venv .venv-bench .venv-docs build dist site demo bench .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} +

# A stamp is newer than what it was made from, so that a second call installs nothing.

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Pliant needs Python 3.11 or newer: make PYTHON=python3.11")'
	@$(PYTHON) -m venv .venv

.venv/demo-installed: pyproject.toml constraints.txt | .venv/bin/python
	@echo "Installing what the demo needs into .venv (once, about a minute)"
	@$(BIN)/python $(PIP_INSTALL) -e ".[render]"
	@touch $@

.venv/dev-installed: pyproject.toml constraints.txt | .venv/bin/python
	@echo "Installing what the tests and checks need into .venv (once, about a minute)"
	@$(BIN)/python $(PIP_INSTALL) -e ".[all,test,quality,docs]"
	@touch $@ .venv/demo-installed

.venv/package-installed: .venv/dev-installed
	@$(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check -e ".[package]"
	@touch $@

.venv-bench/installed: pyproject.toml constraints.txt
	@echo "Installing Pliant and the other simulators into .venv-bench (once, some minutes)"
	@$(PYTHON) -m venv .venv-bench
	@.venv-bench/bin/python -m pip install --quiet --quiet --disable-pip-version-check -e . newton==1.7.0 pbatoolkit==0.0.11 rapier3d==0.36.1 mujoco==4.0.0
	@touch $@

.venv-docs/installed: pyproject.toml constraints.txt
	@echo "Installing what the manual needs into .venv-docs (once, about a minute)"
	@$(PYTHON) -m venv .venv-docs
	@.venv-docs/bin/python $(PIP_INSTALL) -e ".[docs]"
	@touch $@
