# Everything a person does here, one word each. `make` alone says what there is.
# CI calls `make test` and `make check`, line by line the same as anybody.

VENV  := .venv
BIN   := $(VENV)/bin
# One profile for the engine and for its tests: nothing is compiled twice.
CARGO := cargo
PROFILE := release

.DEFAULT_GOAL := help
.PHONY: help setup run test check bench prove docs format lock clean

help: ## say what there is
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

# What the environment is made from; when one of these is newer, it is made again.
STAMP := $(VENV)/.ready
$(STAMP): pyproject.toml uv.lock tools/setup
	tools/setup $(VENV)
	@touch $@

ENGINE_SOURCES := $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock
ENGINE := $(VENV)/.engine
$(ENGINE): $(STAMP) $(ENGINE_SOURCES)
	$(BIN)/maturin develop --quiet --$(PROFILE) --uv
	@touch $@

setup: $(ENGINE) ## prepare .venv with everything a run needs

run: $(ENGINE) ## get the real bibliographies, load them into SQLite, run the 28 checks, report
	$(BIN)/assay run bibsql --on sqlite

test: $(ENGINE) ## run all tests, after bringing the servers they need
	tools/servers
	$(CARGO) test --workspace --exclude assay-bridge --$(PROFILE) --quiet
	$(BIN)/pytest

check: $(ENGINE) ## formatters, linters and types, for both languages
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --$(PROFILE) --quiet -- -D warnings
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python tools/references.py --check
	$(BIN)/stubtest assay._engine --ignore-disjoint-bases

bench: $(ENGINE) ## measure the tool itself against its peers, alternately on this machine
	tools/servers --peers
	UV_PROJECT_ENVIRONMENT=$(VENV) $(BIN)/uv sync --frozen --quiet --inexact --no-install-project --group bench
	$(BIN)/python -m benches

prove: $(ENGINE) ## try what is promised thousands of times; what is found is kept in docs/proofs
	$(BIN)/python -m proofs

docs: $(ENGINE) ## write docs/reference out of the program
	$(BIN)/python tools/references.py

format: $(STAMP) ## write the formatters' opinion into the files
	$(CARGO) fmt --all
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lock: $(STAMP) ## resolve the dependencies anew
	$(BIN)/uv lock
	$(CARGO) update

clean: ## remove what the above have made
	rm -rf $(VENV) target .assay .pytest_cache .mypy_cache .ruff_cache
