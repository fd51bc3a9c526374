# `make demo` and `make test` each work alone on a fresh clone: Python 3.11 or newer, make and a package registry.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
READY := .venv/.ready
LINTED := src tests docs examples benchmarks

# Two test workers share the machine, one thread each; small networks gain nothing from more.
ONE_THREAD := OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

.PHONY: setup demo test check lint studies browser soak bench docs
.NOTPARALLEL:

setup: $(READY)

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --disable-pip-version-check --quiet -c constraints.txt -e '.[dev]'
	touch $@

demo: $(READY)
	$(ONE_THREAD) $(BIN)/separatrix survey --out out/demo

test: $(READY)
	$(ONE_THREAD) $(BIN)/python -m pytest -q

check: lint test demo studies browser

lint: $(READY)
	$(BIN)/ruff check $(LINTED)
	$(BIN)/ruff format --check $(LINTED)
	$(BIN)/mypy
	$(BIN)/lint-imports

studies: $(READY)
	$(ONE_THREAD) $(BIN)/separatrix study run --all --scale smoke --out out/smoke

browser: $(READY)
	$(ONE_THREAD) $(BIN)/python -m pytest -q -n 0 -m browser

soak: $(READY)
	$(ONE_THREAD) $(BIN)/python -m pytest -q -m slow

bench: $(READY)
	PYTHON=$(PYTHON) benchmarks/install_peers.sh
	.venv-peers/bin/python -m benchmarks.run
	$(BIN)/python -m benchmarks.table benchmarks/results/cpu.json --docs

docs: $(READY)
	$(BIN)/python docs/draw_layers.py
	$(BIN)/python -m benchmarks.table --docs
	$(BIN)/separatrix study ledger
