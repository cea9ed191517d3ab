# make demo, test, test-container, lint, soak, clean: each does its own set-up; the second time it has nothing left to do.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.NOTPARALLEL:
.DEFAULT_GOAL := help

PYTHON ?= $(firstword $(foreach p,python3 python3.14 python3.13 python3.12 python3.11,\
	$(shell $(p) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $(p))) python3)
BUDGET ?= 150s
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-input
export PYTHON
# The wheel's npm, where the machine has none; trials do not see this.
export PATH := $(CURDIR)/$(BIN):$(PATH)
# Compiled modules are kept: each command that a test starts would compile all of them again.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help demo test test-container lint soak clean

help:
	@echo "make demo   a real program, its real slow-down, and who is to blame (out/demo/, under 6 minutes)"
	@echo "make test   the tests"
	@echo "make test-container   the action in its real image, as root on Debian (under 15 minutes)"
	@echo "make lint   style, types, layers, workflows, Dockerfile"
	@echo "make soak   the long runs"
	@echo "make clean  removes what these made"

$(VENV)/.run: pyproject.toml
	@.ci/need python:python3 venv:python3-venv git
	@echo "preparing $(VENV)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(INSTALL) --upgrade 'pip>=25.1'   # knows --group
	@$(INSTALL) --editable .
	@touch $@

$(VENV)/.test: $(VENV)/.run
	@.ci/need cc:gcc g++ c++filt:binutils eu-addr2line:elfutils musl-gcc:musl-tools 'chromium|chromium-browser:chromium' \
		valgrind strace stress-ng perf:linux-perf google-pprof:google-perftools uftrace javac:default-jdk-headless \
		rustc go:golang-go
	@$(INSTALL) --group test --group lint   # the workflows' linters are tests too
	@touch $@

$(VENV)/.container: $(VENV)/.run
	@.ci/need mmdebstrap buildah podman runc fuse-overlayfs \
		/usr/share/keyrings/debian-archive-keyring.gpg:debian-archive-keyring
	@$(INSTALL) --group test
	@touch $@

# Node and npm where they are missing, as a wheel.
$(VENV)/.node: $(VENV)/.run
	@{ command -v npm && PATH=/usr/local/bin:/usr/bin:/bin command -v node; } >/dev/null || $(INSTALL) --group node
	@touch $@

demo: $(VENV)/.run $(VENV)/.node
	@rm -rf out/demo && mkdir -p out/demo
	@echo "making a repository of terser's releases"
	@$(BIN)/python examples/terser/make_repository.py out/demo-work/terser
	@cd out/demo-work/terser && XDG_CACHE_HOME='$(CURDIR)/out/demo-work/cache' '$(CURDIR)/$(BIN)/suspects' pr --base 5.16.6 --head 5.16.8 --budget $(BUDGET) \
		--json '$(CURDIR)/out/demo/report.json' --markdown '$(CURDIR)/out/demo/report.md' \
		--html '$(CURDIR)/out/demo/report.html'
	@echo "The page of this run: file://$(CURDIR)/out/demo/report.html"

# Kernels of OpenBLAS and numpy round differently, and a search of a noisy program parts ways over it: with one of them a seed means one search.
ifeq ($(shell uname -m),x86_64)
test soak: export OPENBLAS_CORETYPE ?= Haswell
endif
ROUNDING = NPY_DISABLE_CPU_FEATURES="$$($(BIN)/python -m tests.rounding)"

test: $(VENV)/.test $(VENV)/.node
	@$(BIN)/python -m pytest --collect-only -qq >/dev/null   # compiles the tests once, not in each process
	$(ROUNDING) $(BIN)/python -m pytest -n $$(( $$(nproc) + 1 )) --maxprocesses 4 --dist worksteal   # a third of their time is waiting

test-container: $(VENV)/.container
	$(BIN)/python -m pytest -m container --durations=0 tests/container

soak: $(VENV)/.test $(VENV)/.node
	$(ROUNDING) $(BIN)/python -m pytest -m soak

lint: $(VENV)/.test
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	@for example in $(sort $(dir $(wildcard examples/*/*.py))); do MYPYPATH=examples $(BIN)/mypy "$$example"; done   # scripts of one name
	$(BIN)/lint-imports
	$(BIN)/check-jsonschema --builtin-schema vendor.github-actions action.yml composite/action.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/zizmor --offline --persona=pedantic --quiet action.yml composite/action.yml .github/workflows
	$(BIN)/hadolint Dockerfile

clean:
	rm -rf out $(VENV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find bot tests benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} +
	rm -rf /var/tmp/suspects-example-node
	rm -rf "$${XDG_CACHE_HOME:-$$HOME/.cache}/suspects-tests/container"
