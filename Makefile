# Every target sets up what it needs in a local virtual environment, from a bare clone.
VENV := .venv
PYTHON ?= python3
BIN := $(VENV)/bin
# `make demo` installs the core; what works on kedge itself installs everything. Each has a stamp, so that an install
# happens only when pyproject.toml or constraints.txt change. Libraries are compiled when they are first imported.
CORE := $(VENV)/.core
STAMP := $(VENV)/.installed
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt

# Tools that lock, list and try versions, in an environment of their own.
TOOLS := $(VENV)/tools
UV := $(TOOLS)/bin/uv

.PHONY: demo site site-serve package test test-bounds test-oldest test-newest fuzz torture reliability check lock sbom bench bench-accuracy bench-decisions screenshots clean

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
	tests/mgcn/test_edge_dropout.py tests/methods/test_equations.py tests/methods/test_embedding_equations.py tests/methods/test_layer_equations.py tests/methods/test_netalign.py
test-bounds: $(STAMP)
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(VENV)/numba-bounds $(BIN)/python -m pytest -n 2 --dist loadfile -m "not data" $(KERNELS)

# Kills at random moments, and a disk that fails at every write: about half an hour.
torture: $(STAMP)
	$(BIN)/python benchmarks/torture.py

# Every figure of docs/reliability.md, about half an hour.
RELIABILITY := torture bit_flips bad_inputs bad_commands log_tampering half_open purged
reliability: $(STAMP)
	for name in $(RELIABILITY); do KEDGE_KEEP=1 $(BIN)/python benchmarks/$$name.py || exit 1; done
	$(BIN)/python benchmarks/reliability.py

# Hostile bytes for every reader, until something is read wrong; KEDGE_FUZZ is the number of examples of each test.
fuzz: $(STAMP)
	KEDGE_FUZZ=$${KEDGE_FUZZ:-20000} $(BIN)/python -m pytest -n 2 -m fuzz --timeout 0 tests/fuzz

check: $(STAMP)
	$(BIN)/ruff format --check src tests benchmarks docs examples .ci
	$(BIN)/ruff check src tests benchmarks docs examples .ci
	$(BIN)/mypy
	$(BIN)/python -m pytest tests/test_import_order.py

# The guide as a site in build/site, readable without a network; a broken link fails.
site: $(STAMP)
	$(BIN)/python docs/build_site.py

site-serve: $(STAMP)
	$(BIN)/python docs/build_site.py --serve

# Wheel and source package: built, looked into, installed into a new environment and started; the Dockerfile checked.
package: $(UV)
	$(TOOLS)/bin/hadolint Dockerfile
	$(PYTHON) .ci/package.py $(abspath $(UV))

$(UV): .ci/tools.txt
	@$(PYTHON) -m venv $(TOOLS)
	@$(TOOLS)/bin/pip install --quiet --disable-pip-version-check -r .ci/tools.txt
	@touch $(UV)

# The versions installed now, all that they need included, become those that every install takes. The files in locks/
# have the hashes of every file of these versions as well, for `pip install --require-hashes`; only torch is missing there: its
# CPU build has another hash in each place that has it.
EXTRAS := --extra plots --extra review --extra cluster --extra xlsx --extra profiles
HASHES := $(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate -c constraints.txt
lock: $(STAMP) $(UV)
	$(BIN)/python .ci/lock.py > $(VENV)/constraints.txt
	mv $(VENV)/constraints.txt constraints.txt
	mkdir -p locks
	$(HASHES) --custom-compile-command "make lock" pyproject.toml -o locks/core.txt
	echo networkit | $(HASHES) --custom-compile-command "make lock" pyproject.toml - $(EXTRAS) -o locks/extras.txt
	@touch $(CORE) $(STAMP)

# What is installed, as a bill of materials in CycloneDX's JSON.
sbom: $(STAMP) $(UV)
	$(TOOLS)/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible --of JSON -o sbom.json $(BIN)/python

# The oldest versions that pyproject.toml allows, and the newest there are today: a subset of the tests, without torch.
TRIED := tests/cli/test_export.py tests/cli/test_match.py tests/cli/test_demo.py tests/cli/test_check.py \
	tests/cli/test_bad_commands.py tests/methods/test_contract.py tests/review/test_app.py tests/review/test_match.py \
	tests/store/test_store.py tests/engine/test_engine.py tests/ingest/test_delimited.py tests/ingest/test_anchors.py tests/ingest/test_read.py
WITHOUT_TORCH := not (killed or a_kill or embed or mgcn or autoencoder or mah or deepwalk or gcn or pale or hgnn or isorank or \
	final or deeplink or dalaup or parrot or joena or galign or nextalign)
test-oldest: RESOLUTION := lowest-direct
test-newest: RESOLUTION := highest
test-oldest test-newest: test-%: $(UV)
	grep -E '^(pytest|pytest-timeout|pytest-xdist|hypothesis|httpx|schemathesis)==' constraints.txt > $(VENV)/tried.in
	rm -f $(VENV)/$*.txt
	$(UV) pip compile --quiet --resolution $(RESOLUTION) pyproject.toml $(VENV)/tried.in $(EXTRAS) --no-header --no-annotate -o $(VENV)/$*.txt
	$(UV) venv --quiet --clear --python $(PYTHON) $(VENV)/$*
	$(UV) pip install --quiet --python $(VENV)/$*/bin/python -r $(VENV)/$*.txt
	PYTHONPATH=$(CURDIR)/src NUMBA_CACHE_DIR=$(abspath $(VENV))/$*/numba $(VENV)/$*/bin/python -m pytest -n 2 --dist loadfile \
		-p no:anyio -p no:cacheprovider -W default --disable-warnings -m "not data" -k "$(WITHOUT_TORCH)" $(TRIED)

screenshots: $(STAMP) $(BROWSER)
	$(BIN)/python docs/screenshots.py

# partitioned.py needs a network of yours: docs/scaling.md has the command.
BENCHMARKS := house startup reading synth_full_size synth_difficulty \
	evidence_choice evidence_growth mgcn_step mgcn_forward mgcn_choice mgcn_links \
	accuracy few_anchors few_anchors_large prior_worth noisy_copies prior_choice baselines method_checks pairing_choice methods_at_20k calibration counterparts audit suspects \
	part_cost cut_cost boundary_steps sketch_choice engines growth full_size far_beyond \
	bad_commands bad_inputs report_size bit_flips review_speed review_kills review_fuzz review_order log_tampering half_open purged numbering_cost
bench: $(STAMP) $(BROWSER)
	for name in $(BENCHMARKS); do echo "== $$name"; $(BIN)/python benchmarks/$$name.py || exit 1; done

bench-accuracy: $(STAMP)
	$(BIN)/python benchmarks/accuracy.py
	$(BIN)/python benchmarks/baselines.py
	$(BIN)/python benchmarks/calibration.py

# Every figure of docs/promises.md: about half an hour of CPU time, estimated from shorter runs.
bench-decisions: $(STAMP)
	rm -f bench-out/decisions.jsonl
	$(BIN)/python benchmarks/decisions.py --jobs 2
	$(BIN)/python benchmarks/decisions.py --jobs 2 --methods evidence mgcn deepwalk percolation --seeds 2
	KEDGE_KEEP=1 $(BIN)/python benchmarks/review_answers.py --jobs 2
	$(BIN)/python benchmarks/promises.py bench-out/decisions.jsonl

clean:
	rm -rf $(VENV) build demo-run sbom.json bench-out .pytest_cache .mypy_cache .ruff_cache
