# `make demo` and `make test` do everything on a machine with Python 3.11+ and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := optiframe plugins tests examples docs/hooks docs/figures conftest.py
PLUGINS := $(wildcard plugins/*/pyproject.toml)
# Sources of the compiled kernels: a change of any builds them anew.
NATIVE := $(wildcard native/* native/*/* plugins/*/CMakeLists.txt plugins/*/native/*.?pp plugins/*/native/*/*.?pp)
# Processes of the tests and of mutants; without it as many as the cores of a small machine, and twice as many for
# `make test`, which waits for a fifth of its time: for limits, and for processes that start and end.
JOBS ?=

# Real data, where it lies beside the project; without it demos run on generated data.
ifndef OPTIFRAME_DATA
ifneq ($(wildcard ../shared/data/README.md),)
export OPTIFRAME_DATA := $(abspath ../shared/data)
endif
endif

# One thread for linear algebra: results and timings then do not depend on the machine's load.
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1

.PHONY: demo test suite quick ci thorough sanitize mutants lint style types bench papers site dist install clean

demo: $(VENV)/demo
	$(BIN)/python examples/demo.py

# Each process takes a file, imports it and runs its tests, and takes the next: none imports what it does not
# run, and what the tests of a file share is made once.
PYTEST = $(BIN)/python -m pytest -p tests.whole_files -n $(or $(JOBS),$(1)) --dist load --maxschedchunk 1 \
	-o console_output_style=classic

# Types are checked beside the tests: one process for a minute.
test: style
	$(MAKE) --no-print-directory --jobs 2 types suite

suite: $(VENV)/installed
	$(call PYTEST,4) -m "not thorough and not ci"

# What is checked beside it before a change is taken: every block of every page, every example and a paper's table
# run, the site and reports are looked at in a browser, and clusters and federations of real processes stand.
# The pages come first: they are one file, which would else end alone.
PAGES := tests/test_docs.py
ci: $(VENV)/installed
	$(call PYTEST,4) -m "ci and not thorough" $(PAGES) \
		$(filter-out $(PAGES),$(shell grep -rl --include='test_*.py' 'mark\.ci' plugins/*/tests tests))

# The checks to run after each small change.
quick: $(VENV)/installed
	$(call PYTEST,2) -m "not slow and not thorough" --hypothesis-profile quick

# What is left out everywhere else: long statistics, benchmarks at small sizes, property tests with more
# examples, and the kernels' tests under sanitizers.
thorough: sanitize
	$(call PYTEST,2) -m "thorough or hypothesis" --hypothesis-profile thorough

# The compiled kernels' tests, stopped where one does what C++ leaves undefined or reads beyond its arrays.
sanitize: $(VENV)/installed
	$(BIN)/python tests/sanitize.py

# How many small changes of central modules the tests notice: minutes a module. MUTANTS names modules.
MUTANTS ?=
mutants: $(VENV)/installed
	$(BIN)/python tests/mutants.py --jobs $(or $(JOBS),2) $(MUTANTS)

lint: style types

style: $(VENV)/installed
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/lint-imports

# The types of the packages, and of what users write.
types: $(VENV)/installed
	$(BIN)/python tests/types_of_users.py

# All benchmarks, or those that BENCH names; their figures go to docs/measurements.md.
BENCH ?=
bench: $(VENV)/installed
	$(BIN)/python examples/bench/measure.py $(BENCH)

# Tables and figures of the papers, each with its verdict: PAPERS=full for the papers' sizes.
PAPERS ?= quick
papers: $(VENV)/installed
	$(BIN)/python examples/papers/reproduce.py --size $(PAPERS)

site: $(VENV)/installed
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# Every distribution built, installed in a clean environment outside the checkout, and tested there.
dist: $(VENV)/installed
	$(BIN)/python tests/release.py

install: $(VENV)/installed

# What the demo shows and no more: a fifth of the megabytes of the whole.
$(VENV)/demo: pyproject.toml plugins/rankone/pyproject.toml plugins/manifold/pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[download,pymanopt]" \
		--editable plugins/rankone --editable plugins/manifold
	touch $@

$(VENV)/installed: $(VENV)/demo pyproject.toml $(PLUGINS) $(NATIVE)
	$(BIN)/python -m pip install --quiet --editable ".[all]" $(foreach p,$(PLUGINS),--editable $(dir $(p))) --group dev
	touch $@

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis results site dist build plugins/*/build
