# SPDX-License-Identifier: MIT
# make setup   install what is missing
# make demo    setup, then one prediction
# make test    setup, then every test
# make test-debug-kernel  setup, then the modules' tests and long runs on a kernel that looks for
#              mistakes, which is built first (docs/kernels.md); takes hours
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

# Meson-python reads bytecode of the package but writes none: each command would compile anew
# what it imports.  A hash says whether it is still the source's.
COMPILED := .venv/compiled

.PHONY: setup demo test lint test-core test-python test-debug-kernel bench mutants clean

setup: $(COMPILED)

.venv/packages: packages.txt scripts/install-packages
	scripts/install-packages
	@mkdir -p .venv && touch $@

$(INSTALLED): .venv/packages $(SOURCES)
	$(PYTHON) -m venv .venv
	pip install --quiet -c constraints.txt meson ninja meson-python cffi
	pip install --quiet -c constraints.txt --no-build-isolation -e '.[dev]'
	ln -sf ../../scripts/understudy $(BIN)/understudy
	@touch $@

$(COMPILED): $(INSTALLED) $(shell find understudy -name '*.py')
	python -m compileall -q --invalidation-mode checked-hash understudy
	@touch $@

demo: setup
	understudy predict --disk cheetah-15k4 --workload surge-direct \
		--schedulers cats,mq-deadline,cfq,none --on sim,vm

test: setup
	$(MAKE) --jobs 2 --output-sync=line lint test-core
	$(MAKE) test-python

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

# Those that put modules under load, the longest first.  How exact they are is not this
# kernel's to say.
DEBUG_TESTS := soak module_cycles card_lifetimes iprobe iosched throttle_safety \
	throttle_trouble throttled_disks odd_requests flush card_accesses card_instructions \
	card_fallback card_trouble mappings msix dma_kinds
DEBUG_KERNELS ?= $(HOME)/kernels

test-debug-kernel: setup
	export UNDERSTUDY_KERNEL="$$(scripts/debug-kernel $(DEBUG_KERNELS))" && \
	export CARD_CYCLES=1000 SOAK_REQUESTS=1000000 MODULE_CYCLES=1000 && \
	python -m pytest -n 2 --dist loadgroup --no-loadscope-reorder -m "not exact" \
		$(DEBUG_TESTS:%=tests/vm/test_%.py)

bench: setup
	python -m bench

mutants: setup
	python -m tests.mutants $(MUTANTS)

clean:
	rm -rf build .venv
	find understudy tests bench -name __pycache__ -prune -exec rm -r {} +
