# Every target sets up what it needs in a local virtual environment, from a bare clone.
VENV := .venv
PYTHON ?= python3
BIN := $(VENV)/bin
# `make demo` installs the core; what works on kedge itself installs everything. Each has a stamp, so that an install
# happens only when pyproject.toml or constraints.txt change. Libraries are compiled when they are first imported.
CORE := $(VENV)/.core
STAMP := $(VENV)/.installed
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt

.PHONY: demo test test-bounds fuzz torture check lock bench bench-accuracy screenshots clean

$(CORE): pyproject.toml constraints.txt
	@echo "Installing the core of kedge into $(VENV) (numpy, scipy, numba, pyarrow, faiss and smaller ones; no torch): about 630 MB"
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) -e .
	@du -sh $(VENV)
	@touch $(CORE)

$(STAMP): pyproject.toml constraints.txt
	@echo "Installing kedge with all extras and the tools for its tests into $(VENV), the CPU build of torch among them"
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) -e ".[dev]"
	@du -sh $(VENV)
	@touch $(CORE) $(STAMP)

# The browser tests need Chromium; without the rights to install it they skip and say so.
BROWSER := $(VENV)/.browser
$(BROWSER): $(STAMP)
	@command -v chromium >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
		apt-get update -qq && apt-get install -y -qq chromium >/dev/null; } || \
		echo "Chromium is missing and cannot be installed here: browser tests will skip"
	@touch $(BROWSER)

demo: $(CORE)
	$(BIN)/kedge demo -o demo-run

# By worksteal no worker is idle at the end; most files stay on one, so that their fixtures are made once.
test: $(STAMP) $(BROWSER)
	$(BIN)/python -m pytest -n 2 --dist worksteal --cov --cov-report=

# Compiled functions do not check indices: these tests run them with checks, in a cache of their own.
KERNELS := tests/test_kernels.py tests/evidence tests/linalg tests/hypergraph tests/mgcn/test_layers.py tests/mgcn/test_objective.py \
	tests/mgcn/test_edge_dropout.py tests/methods/test_equations.py tests/methods/test_netalign.py
test-bounds: $(STAMP)
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(VENV)/numba-bounds $(BIN)/python -m pytest -n 2 --dist loadfile -m "not data" $(KERNELS)

# Kills at random moments, and a disk that fails at every write: about half an hour.
torture: $(STAMP)
	$(BIN)/python benchmarks/torture.py

# Hostile bytes for every reader, until something is read wrong; KEDGE_FUZZ is the number of examples of each test.
fuzz: $(STAMP)
	KEDGE_FUZZ=$${KEDGE_FUZZ:-20000} $(BIN)/python -m pytest -n 2 -m fuzz --timeout 0 tests/fuzz

check: $(STAMP)
	$(BIN)/ruff format --check src tests benchmarks docs
	$(BIN)/ruff check src tests benchmarks docs
	$(BIN)/mypy
	$(BIN)/python -m pytest tests/test_import_order.py

# The versions installed now, all that they need included, become those that every install takes.
lock: $(STAMP)
	$(BIN)/python .ci/lock.py > $(VENV)/constraints.txt
	mv $(VENV)/constraints.txt constraints.txt
	@touch $(CORE) $(STAMP)

screenshots: $(STAMP) $(BROWSER)
	$(BIN)/python docs/screenshots.py

# partitioned.py needs a network of yours: docs/scaling.md has the command.
BENCHMARKS := house startup reading synth_full_size synth_difficulty \
	evidence_choice evidence_growth mgcn_step mgcn_forward mgcn_choice mgcn_links \
	accuracy few_anchors few_anchors_large prior_worth noisy_copies prior_choice baselines pairing_choice methods_at_20k calibration counterparts \
	part_cost cut_cost boundary_steps sketch_choice engines growth full_size far_beyond \
	report_size bad_inputs bit_flips review_speed review_kills review_fuzz review_order log_tampering half_open
bench: $(STAMP) $(BROWSER)
	for name in $(BENCHMARKS); do echo "== $$name"; $(BIN)/python benchmarks/$$name.py || exit 1; done

bench-accuracy: $(STAMP)
	$(BIN)/python benchmarks/accuracy.py
	$(BIN)/python benchmarks/baselines.py
	$(BIN)/python benchmarks/calibration.py

clean:
	rm -rf $(VENV) demo-run bench-out .pytest_cache .mypy_cache .ruff_cache
