# SPDX-License-Identifier: MIT
# CONTRIBUTING.md says which of these to run after which change.
help: ## this list
	@awk -F ': .*## ' '/^[a-z-]+:.*## /{printf "make %-18s %s\n", $$1, $$2}' Makefile

PYTHON ?= python3
BIN := .venv/bin
export PATH := $(CURDIR)/$(BIN):$(PATH)
unexport MAKEFLAGS # ninja takes make's jobs for its own, which it can't have

# Meson finds the core's files when it configures: a folder that changed is stale.  Only
# the C tests link schedulers.
INSTALLED := .venv/installed
SOURCES := pyproject.toml constraints.txt scripts/ninja meson.build tests/meson.build sim \
	sim/binding.py core core/drive sim/worker sim/workloads host/traces tests/core vesper

# Meson-python reads bytecode of the package but writes none: each command would compile anew
# what it imports.  A hash says whether it is still the source's.
COMPILED := .venv/compiled

# The pictures of reports, which commands work without.
VIEWS := web/public/views.json

.PHONY: help setup demo check check-core check-python test lint test-core test-python test-slow test-ci \
	test-debug-kernel bench wheel image mutants nightly studio docs artifact clean

setup: $(COMPILED) $(VIEWS) ## install what is missing

.venv/packages: packages.txt tests/packages.txt scripts/install-packages
	scripts/install-packages tests/packages.txt
	@mkdir -p .venv && touch $@

$(INSTALLED): .venv/packages $(SOURCES)
	$(PYTHON) -m venv .venv
	pip install --quiet -c constraints.txt meson ninja meson-python cffi
	NINJA=$(CURDIR)/scripts/ninja pip install --quiet -c constraints.txt --no-build-isolation \
		-C setup-args=-Dwhole=false -e '.[dev,docs]'
	ln -sf ../../scripts/understudy $(BIN)/understudy
	@touch $@

$(COMPILED): $(INSTALLED) $(shell find understudy_devices -name '*.py')
	python -m compileall -q --invalidation-mode checked-hash understudy_devices
	@touch $@

$(VIEWS): $(INSTALLED) web/build.py web/vite.single.config.ts web/package-lock.json $(shell find web/src -type f)
	@python web/build.py --views >.venv/views.log 2>&1 || { cat .venv/views.log; \
		echo "no pictures in reports; make setup tries again"; }

demo: setup ## the papers' Table 2, in the simulator and in VMs
	understudy reproduce table2 --seeds 5 --on sim,vm

artifact: setup ## the papers' tables and figures beside ours, with checksums, in build/artifact (docs/artifact.md)
	understudy reproduce all --out build/artifact

check: setup ## after each change: formatters, linters, quick tests; no VM; a minute
	$(MAKE) --no-print-directory --jobs 3 --output-sync=target lint check-core check-python

check-core: build/core/configured
	meson test -C build/core --print-errorlogs --quiet --no-suite fuzz

check-python: setup
	python -m pytest -q -n 2 --dist loadgroup -m "not vm and not slow and not thorough"

test: setup ## all tests but the slow ones; over an hour on two processors
	$(MAKE) --jobs 2 --output-sync=line lint test-core
	$(MAKE) test-python

lint: setup ## formatters, linters and types
	ruff check .
	ruff format --check .
	mypy
	clang-format --dry-run --Werror $$(git ls-files '*.c' '*.h')

build/core/configured: $(INSTALLED) core/schedulers core/prefetch core/replacement
	rm -rf $(@D) && meson setup $(@D) > /dev/null && touch $@

test-core: build/core/configured ## the C tests; one: make test-core TEST=test_platter
	meson test -C build/core --print-errorlogs $(TEST)

PYTEST := python -m pytest -n 4 --dist loadgroup

test-python: setup ## the Python tests, with VMs
	$(PYTEST) -m "not slow and not base"

# The quick tests take over an hour; CI should take half an hour.
FEW := -p few_of_each_file --few 2

test-ci: setup ## what CI runs: the first quick tests of each file
	$(MAKE) --jobs 2 --output-sync=line lint test-core
	PYTHONPATH=tests $(PYTEST) -m "not slow and not base" $(FEW)

test-slow: setup ## the tests that `make test` leaves out (docs/decisions/0052-slow-tests.md)
	$(PYTEST) -m slow

test-base: setup ## the lab's `--base debian`, made and worked in; a quarter of an hour, not in CI
	python -m pytest -m base

# All tests in VMs, those that take longest first, but for these.  How exact modules are is not
# this kernel's to say.
LONGEST := soak module_cycles card_lifetimes iprobe iosched throttle_safety throttle_trouble \
	throttled_disks odd_requests
# They measure what the kernel itself needs.
LEFT_OUT := overhead scaling
# They hold what two runs, or a run and the simulator, have in common; it takes them long, and
# they ask no more of the modules than iosched, shim_tape and throttle do.
LEFT_OUT += repeatability same_bytes saved parity deadline_parity profiled
# They are of the workloads and the reports, on modules that others put under load.
LEFT_OUT += cats_in_vm blocktrace vms measure measured_beside array
# No module of ours is loaded, or for nothing but drawing; the last needs a kernel with DRM.
LEFT_OUT += served_disk trouble modules card_sources blktests drawing drawing_table screen
VM_TESTS := $(patsubst tests/vm/test_%.py,%,$(wildcard tests/vm/test_*.py))
DEBUG_TESTS := $(LONGEST) $(filter-out $(LONGEST) $(LEFT_OUT),$(VM_TESTS))
DEBUG_KERNELS ?= $(HOME)/kernels

test-debug-kernel: setup ## kernel modules under a kernel that looks for mistakes; hours (docs/kernels.md)
	UNDERSTUDY_KERNEL="$$(scripts/debug-kernel $(DEBUG_KERNELS))" && \
	export UNDERSTUDY_KERNEL CARD_CYCLES=1000 SOAK_REQUESTS=1000000 MODULE_CYCLES=500 && \
	python -m pytest -n 2 --dist loadgroup --no-loadscope-reorder --timeout 0 -m "not exact" \
		$(DEBUG_TESTS:%=tests/vm/test_%.py)

bench: setup ## the benchmarks (docs/benchmarks.md)
	python -m bench

wheel: setup ## wheels for x86-64 and ARM, and the source distribution, in dist/
	python scripts/wheels.py

image: ## an image for Docker and Podman, from Debian's packages and the wheel, in dist/
	scripts/image

mutants: setup ## a sample of mutants: do the tests notice? (docs/decisions/0024-mutants.md)
	python -m tests.mutants $(MUTANTS)

studio: setup ## the page that simulates disks, for any web server, in build/studio (docs/studio.md)
	python web/build.py build/studio

docs: setup ## the site, with search, in build/site
	python -m manual site

nightly: test test-slow ## all tests, and mutants that change from day to day
	python -m tests.mutants --seed $$(date +%Y%j) $(MUTANTS)

clean: ## remove what was built and installed here
	rm -rf build .venv
	find understudy_devices oracle tests bench -name __pycache__ -prune -exec rm -r {} +
