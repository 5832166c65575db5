# Every target sets up what it needs in a local virtual environment, from a bare clone.
VENV := .venv
PYTHON ?= python3
BIN := $(VENV)/bin
# One stamp a dependency file: an install happens only when pyproject.toml or constraints.txt change.
STAMP := $(VENV)/.installed

.PHONY: demo test check bench bench-accuracy screenshots clean

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	touch $(STAMP)

# The browser tests need Chromium; without the rights to install it they skip and say so.
BROWSER := $(VENV)/.browser
$(BROWSER): $(STAMP)
	@command -v chromium >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
		apt-get update -qq && apt-get install -y -qq chromium >/dev/null; } || \
		echo "Chromium is missing and cannot be installed here: browser tests will skip"
	@touch $(BROWSER)

demo: $(STAMP)
	$(BIN)/kedge demo -o demo-run

test: $(STAMP) $(BROWSER)
	$(BIN)/python -m pytest -n 2 --dist loadfile

check: $(STAMP)
	$(BIN)/ruff format --check src tests benchmarks docs
	$(BIN)/ruff check src tests benchmarks docs
	$(BIN)/mypy
	$(BIN)/python -m pytest tests/test_import_order.py

screenshots: $(STAMP) $(BROWSER)
	$(BIN)/python docs/screenshots.py

# partitioned.py wants a network of yours; docs/scaling.md has the words.
BENCHMARKS := startup reading synth_full_size synth_difficulty \
	evidence_choice evidence_growth mgcn_step mgcn_forward mgcn_choice mgcn_links \
	accuracy few_anchors few_anchors_large settled noisy_copies prior_choice baselines pairing_choice methods_at_20k calibration counterparts \
	part_cost cut_cost boundary_steps sketch_choice engines growth full_size far_beyond \
	report_size review_speed review_kills review_fuzz review_order
bench: $(STAMP) $(BROWSER)
	for name in $(BENCHMARKS); do echo "== $$name"; $(BIN)/python benchmarks/$$name.py || exit 1; done

bench-accuracy: $(STAMP)
	$(BIN)/python benchmarks/accuracy.py
	$(BIN)/python benchmarks/baselines.py
	$(BIN)/python benchmarks/calibration.py

clean:
	rm -rf $(VENV) demo-run bench-out .pytest_cache .mypy_cache .ruff_cache
