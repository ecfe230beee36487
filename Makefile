# SPDX-License-Identifier: MIT
# make setup   install what is missing
# make demo    setup, then one prediction
# make test    setup, then every test
# make bench   setup, then the benchmarks (docs/benchmarks.md)
# make mutants setup, then a sample of mutants: do the tests notice? (docs/decisions/0024-mutants.md)

PYTHON ?= python3
BIN := .venv/bin
export PATH := $(CURDIR)/$(BIN):$(PATH)

# Meson finds the core's files when it configures: a folder that changed is stale.  Only
# the C tests link schedulers.
INSTALLED := .venv/installed
SOURCES := pyproject.toml constraints.txt meson.build tests/meson.build sim sim/binding.py \
	core sim/worker sim/workloads traces tests/core

.PHONY: setup demo test lint test-core test-python bench mutants clean

setup: $(INSTALLED)

.venv/packages: packages.txt scripts/install-packages
	scripts/install-packages
	@mkdir -p .venv && touch $@

$(INSTALLED): .venv/packages $(SOURCES)
	$(PYTHON) -m venv .venv
	pip install --quiet -c constraints.txt meson ninja meson-python cffi
	pip install --quiet -c constraints.txt --no-build-isolation -e '.[dev]'
	ln -sf ../../scripts/understudy $(BIN)/understudy
	@touch $@

demo: setup
	understudy predict --disk cheetah-15k4 --workload surge-direct \
		--schedulers cats,mq-deadline,cfq,none --on sim,vm

test: setup lint test-core test-python

lint: setup
	ruff check .
	ruff format --check .
	mypy
	clang-format --dry-run --Werror $$(git ls-files '*.c' '*.h')

build/core/configured: $(INSTALLED) core/schedulers
	rm -rf $(@D) && meson setup $(@D) > /dev/null && touch $@

test-core: build/core/configured
	meson test -C build/core --print-errorlogs

test-python: setup
	python -m pytest -n 4 --dist loadgroup

bench: setup
	python -m bench

mutants: setup
	python -m tests.mutants $(MUTANTS)

clean:
	rm -rf build .venv
