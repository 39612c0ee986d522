# Everything that developers run. `make` alone lists the targets. CI runs `make test` and `make check`.

VENV  := .venv
BIN   := $(VENV)/bin
# One profile for the engine and for its tests: nothing is compiled twice.
CARGO := cargo
PROFILE := release

.DEFAULT_GOAL := help
.PHONY: help setup run quick quick-waiting quick-records quick-others test test-servers test-programs test-bytecode check bench prove docs site wheel notes image format lock clean

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

# The environment is made from these files; if one is newer, it is made again.
STAMP := $(VENV)/.ready
$(STAMP): pyproject.toml uv.lock tools/setup
	tools/setup $(VENV)
	@touch $@

ENGINE_SOURCES := $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock
ENGINE := $(VENV)/.engine
$(ENGINE): $(STAMP) $(ENGINE_SOURCES)
	$(BIN)/maturin develop --quiet --$(PROFILE) --uv
	$(BYTECODE)
	@touch $@

# Without it each start of assay takes about twice the CPU time, where PYTHONDONTWRITEBYTECODE is set.
BYTECODE = $(BIN)/python -m compileall -q python

# Adds what only one target needs.
SYNC = UV_PROJECT_ENVIRONMENT=$(VENV) $(BIN)/uv sync --frozen --quiet --inexact --no-install-project

setup: $(ENGINE) ## prepare .venv with everything a run needs

run: $(ENGINE) ## download the bibliographies, load them into SQLite, run the 28 checks, report
	$(BIN)/assay run bibsql --on sqlite

test: $(ENGINE) ## install the servers, then run all tests
	$(MAKE) --no-print-directory --jobs 3 test-servers test-programs test-bytecode
	$(BYTECODE)
	-$(SYNC) --group site
	-$(SYNC) --extra fleet
	$(BIN)/python tools/run_tests.py

# Three processes of pytest, of about equal length, take less than one that hands tests out to others. Their bytecode is kept, so
# that the next time none compiles the tests again.
QUICK := PYTHONDONTWRITEBYTECODE= $(BIN)/pytest --quiet --quick
quick: $(ENGINE) ## run the tests that need only Python, in about half a minute
	$(MAKE) --no-print-directory --jobs 3 --output-sync quick-waiting quick-records quick-others
quick-waiting: $(ENGINE)
	$(QUICK) tests/unit/comparison tests/unit/[e-j]*
quick-records: $(ENGINE)
	$(QUICK) tests/unit/[r-z]*
quick-others: $(ENGINE)
	$(QUICK) tests/order tests/unit/cli tests/unit/contracts tests/unit/[abdk-q]*

# Servers are downloaded while the tests of the engine are compiled: of the examples `make check` says whether they compile.
test-servers: $(ENGINE)
	$(BIN)/python tools/servers.py
	-$(BIN)/python tests/support/light_java.py
test-programs: $(ENGINE)
	$(CARGO) test --workspace --tests --$(PROFILE) --no-run --quiet
# Otherwise each process of pytest compiles all tests, where PYTHONDONTWRITEBYTECODE is set.
test-bytecode: $(ENGINE)
	-PYTHONDONTWRITEBYTECODE= $(BIN)/pytest --collect-only --quiet >/dev/null

check: $(ENGINE) ## formatters, linters and types, for both languages
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --$(PROFILE) --quiet -- -D warnings
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python tools/references.py --check
	$(BIN)/stubtest assay._engine --ignore-disjoint-bases

bench: $(ENGINE) ## compare Assay with other tools, alternately on this machine
	$(BIN)/python tools/servers.py --peers
	$(SYNC) --group bench
	$(BIN)/python -m benches

prove: $(ENGINE) ## try properties with thousands of inputs; results in docs/proofs
	$(BIN)/python -m proofs
	ASSAY_TEST_MYSQLD="$$($(BIN)/python tools/servers.py where mysql)" \
	$(BIN)/pytest --every-system -m same_line --numprocesses 2 --dist loadfile tests/papers tests/conformance tests/cli tests/docs
	tools/fresh --then 'make run' --then 'make wheel' --then '.venv/bin/uv tool install dist/*.whl' --then 'assay run tpcb --on sqlite' \
	--then 'assay install postgresql && assay install mariadb' --then 'assay run tpcb --on postgresql,mariadb' --page docs/proofs/fresh_machine.md

docs: $(ENGINE) ## generate docs/reference and the README's picture with the program
	$(BIN)/python tools/references.py
	$(BIN)/python tools/picture.py

# Written for reading in a browser; no page asks another site for anything.
site: $(ENGINE) ## make the documentation as a site, in site/
	$(SYNC) --group site
	$(BIN)/python tools/make_site.py site

# From the source distribution, so that it has all that a build needs. Its compiled dependencies stay in target/ for the next time.
# zig links against an old glibc: the wheel works on every Linux since 2014.
wheel: $(ENGINE) ## build a wheel and a source distribution in dist/, and try the wheel in clean environments
	$(SYNC) --group package
	rm -rf dist
	$(BIN)/python tools/man_pages.py assay._engine.data/data/share/man/man1
	$(BIN)/python tools/licences.py THIRD-PARTY-LICENCES.txt
	PATH="$(CURDIR)/$(BIN):$$PATH" CARGO_TARGET_DIR="$(CURDIR)/target" \
	$(BIN)/maturin build --quiet --sdist --profile dist --zig --compatibility manylinux2014 --out dist
	$(BIN)/python tools/try_wheel.py dist/*.whl
	ls -l dist

notes: ## print the release notes of this version
	@sed -n '/^## /,$$p' CHANGELOG.md

image: ## build a container image with podman, buildah or docker
	tools/image

format: $(STAMP) ## format all files
	$(CARGO) fmt --all
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lock: $(STAMP) ## resolve the dependencies again
	$(BIN)/uv lock
	$(CARGO) update

clean: ## remove generated files
	rm -rf $(VENV) target dist site assay._engine.data THIRD-PARTY-LICENCES.txt .assay .pytest_cache .mypy_cache .ruff_cache
