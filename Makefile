# One environment in .venv, made once from the lock, made again when the lock or pyproject.toml changes.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
UV     ?= $(or $(wildcard $(BIN)/uv),uv)
PIP     = --disable-pip-version-check --no-deps -qq

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo demo-loop sandbox test traps mutants check lock docs torture torture-short bench npm clean

help:     ## this list
	@echo "Placet. The first command sets up $(VENV) (about a minute, 500 MB)."
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## /  make \1\t/' | expand -t 22

demo: $(STAMP)     ## the main job from end to end, on this machine, in about a minute
	@$(BIN)/placet-demo

demo-loop: $(STAMP)  ## facts instead of claims: a missing year, a write that fails, a mere claim
	@$(BIN)/placet-demo-loop

demo-mcp: $(STAMP) ## the gateway in front of MCP's own filesystem server, which comes from npm
	@if command -v npm >/dev/null && ! test -d tests/mcp_servers/node/node_modules; then $(MAKE) -s npm; fi
	@$(BIN)/placet-demo-mcp

sandbox: $(STAMP)  ## a GitHub on 127.0.0.1 with a Placet beside it, to click through
	@$(BIN)/placet-sandbox

test: $(STAMP)     ## every test
	@$(BIN)/python -m pytest -q -n auto --maxprocesses 4 --dist loadfile

mutants: $(STAMP)  ## break what decides in 3000 small ways; a test must notice each (20 minutes)
	@$(BIN)/python tests/mutants/run.py $(ONLY)

check: $(STAMP)    ## lint, format, types, layers, workflows: all of them, even when one fails
	@failed=; \
	for step in "ruff check ." "ruff format --check ." "mypy --strict" "lint-imports" "zizmor --offline -q .github"; do \
	  echo "--- $$step"; $(BIN)/$$step || failed="$$failed\n  $$step"; \
	done; \
	if [ -n "$$failed" ]; then printf "Failed:$$failed\n"; exit 1; fi; \
	echo "All checks passed."

docs: $(STAMP)     ## write the generated pages and the golden files again, then read the diff
	@$(BIN)/python -m pytest -q --update-golden
	@git --no-pager diff --stat -- docs tests/golden

traps: $(STAMP)    ## what weak models do, done on purpose; breaches counted, with Placet and without
	@$(BIN)/placet traps

torture: $(STAMP)  ## kill the server 300 times while it works (half an hour)
	$(BIN)/python -c 'from sandbox.torture import main; main()'

torture-short: $(STAMP)  ## the same within 45 seconds
	$(BIN)/python -c 'from sandbox.torture import main; main()' --kills 8 --seconds 22

bench: $(STAMP)    ## the measurements that the docs name
	@ls benchmarks/*.py >/dev/null 2>&1 || { echo "There are no measurements in benchmarks/ yet."; exit 1; }
	@for script in benchmarks/*.py; do echo "--- $$script"; $(BIN)/python "$$script" || exit 1; done

lock:              ## choose the versions again (needs uv; nothing younger than a week)
	@command -v $(UV) >/dev/null || { echo "make lock needs uv: https://docs.astral.sh/uv/"; exit 1; }
	@echo "Choosing versions for every platform ..."
	@{ echo "# Every package Placet is tested with, by hash, for every platform. Made by: make lock"; \
	   $(UV) pip compile pyproject.toml --group build --all-extras --universal --python-version 3.11 \
	     --generate-hashes --upgrade --no-header --no-annotate --no-emit-index-url --no-emit-find-links -q; \
	} > requirements.lock.new
	@mv requirements.lock.new requirements.lock
	@echo "requirements.lock is written; the next command installs it."

npm:               ## what some tests need from npm: MCP servers that others wrote, MCP's own test suite
	@npm ci --prefix tests/mcp_servers/node --silent
	@npm ci --prefix tests/conformance --silent

clean:             ## remove the environment and everything that was built
	rm -rf $(VENV) .node .mutants dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

# Debian without python3-venv has no ensurepip: there, the system's pip installs into the environment.
$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Placet needs Python 3.11 or newer, and $(PYTHON) is older or missing. Another one: make PYTHON=python3.12 ..."; exit 1; }
	@echo "Setting up $(VENV) from requirements.lock, once (about a minute, 500 MB) ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv --without-pip $(VENV)
	@if $(BIN)/python -m pip --version >/dev/null 2>&1; then pip="$(BIN)/python -m pip"; \
	elif $(BIN)/python -m ensurepip >/dev/null 2>&1; then pip="$(BIN)/python -m pip"; \
	elif $(PYTHON) -m pip --version >/dev/null 2>&1; then pip="$(PYTHON) -m pip --python $(BIN)/python"; \
	else echo "There is no pip to install with. On Debian or Ubuntu: apt-get install python3-venv"; exit 1; fi; \
	$$pip install $(PIP) --require-hashes -r requirements.lock && \
	$$pip install $(PIP) --no-build-isolation -e .
	@touch $@
	@echo "$(VENV) is ready."
