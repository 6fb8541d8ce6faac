# Two commands: `make run` starts the product (PORT=8080 make run: on another port), `make test` proves it. Both set up what they need, once.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
PINNED := $(PIP) --require-hashes --no-deps --requirement
# Without a hash: it is another file for every platform and kind of GPU, with CUDA packages of its own. All else that it
# needs is pinned, so that this adds nothing but PyTorch and those.
TORCH := torch==2.13.0

.PHONY: run test test-scripts test-slow bench gallery lint pictures clean

run: $(VENV)/run.stamp
	@$(BIN)/python app.py $(if $(PORT),--port $(PORT))

# Memory that is given back at once costs page faults, and modules that are compiled by every process cost more.
test: lint test-scripts
	PYTHONDONTWRITEBYTECODE= MALLOC_MMAP_THRESHOLD_=268435456 MALLOC_TRIM_THRESHOLD_=1073741824 $(BIN)/python -m pytest

test-scripts: $(VENV)/test.stamp
	@./tests/check-script-types
	@if command -v node >/dev/null; then node --test --test-reporter=spec tests/scripts/*.test.mjs; \
		else echo "tests/scripts skipped: no node"; fi

test-slow: $(VENV)/test.stamp
	$(BIN)/python -m pytest -m slow

bench: $(VENV)/test.stamp
	$(BIN)/python -m tests.benchmarks $(PARTS)

gallery: $(VENV)/run.stamp
	$(BIN)/python -m analysis.gallery $(MODELS)

lint: $(VENV)/test.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

pictures: $(VENV)/test.stamp
	$(BIN)/python -m tests.browser.pictures

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis *.egg-info

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Head Atlas needs Python 3.11 or newer; name one with: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/run.stamp: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "Installing (once; a few minutes) …"
	$(PINNED) constraints.txt
	$(PIP) $(TORCH)
	$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/test.stamp: tests/constraints.txt $(VENV)/run.stamp
	$(PINNED) tests/constraints.txt
	@./tests/install-browser-and-node
	@touch $@
