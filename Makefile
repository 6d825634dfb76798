# Set-up, checks and the demo. Needs python3 (3.11 or later, with venv) and make; `make help` lists the targets.

PYTHON ?= python3
ARGS ?=
DEMO = ragas-judge evaluate fixtures/quickstart/dataset.jsonl \
	--recordings fixtures/recordings/quickstart --mode replay --out runs-out/demo --overwrite

PACKAGES := judge prompts metrics runs
PINNED := constraints/pinned.txt
VENV := .venv
DEMO_VENV := .venv-demo
# Folders are listed too: a deleted file shows in the time of its folder only.
SOURCES := $(shell find $(PACKAGES) -name __pycache__ -prune -o -print) pyproject.toml LICENSE $(wildcard README.md)
INSTALL := bin/python -m pip --disable-pip-version-check install -qq --no-deps --no-build-isolation

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
export PYTHON
unexport PYTHONPATH
# Without written bytecode every start of ragas takes some ten seconds longer.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo demo-command test dev check lint type format wheel lock clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo-command:
	@echo '$(DEMO)'

demo: $(DEMO_VENV)/.package  ## evaluate the quickstart set on recorded judgments: no key, no network
	$(DEMO_VENV)/bin/$(DEMO)

test: $(VENV)/.package  ## run the tests against the installed package (ARGS="-k word" for some)
	$(VENV)/bin/pytest -n auto $(ARGS)

check: lint type  ## lint and type

lint: $(VENV)/.dependencies  ## ruff
	$(VENV)/bin/ruff check .

type: $(VENV)/.package  ## mypy --strict over the installed packages
	$(VENV)/bin/mypy $(PACKAGES:%=-p ragas_judge.%) | sed -E 's#^.*/site-packages/ragas_judge/##'

format: $(VENV)/.dependencies  ## sort imports and lay the code out
	$(VENV)/bin/ruff check --select I --fix .
	$(VENV)/bin/ruff format .

dev: $(VENV)/.dependencies  ## let .venv see edits at once, until `make test` installs again
	rm -f $(VENV)/.package
	$(VENV)/$(INSTALL) --config-settings editable_mode=strict --editable .

wheel: $(VENV)/.dependencies  ## build sdist and wheel into dist/
	rm -rf dist
	$(VENV)/bin/python -m build --no-isolation --outdir dist . > /dev/null
	@ls dist/*

lock: $(VENV)/.dependencies  ## pin the newest versions that the metadata allows, for every Python
	$(VENV)/bin/uv pip compile --quiet --universal --upgrade --python-version 3.11 --all-extras \
		--no-annotate --no-header --no-emit-index-url --output-file $(PINNED).new pyproject.toml
	{ echo '# Every version that the Makefile and CI install: runtime, tools, extras. Remade by `make lock`.'; \
		cat $(PINNED).new; } > $(PINNED)
	rm $(PINNED).new

clean:  ## remove environments, builds and caches
	rm -rf $(VENV) $(DEMO_VENV) build dist *.egg-info runs-out
	rm -rf .hypothesis .mypy_cache .pytest_cache .ruff_cache

# Stamps: a second run installs nothing, and needs no network.
$(VENV)/.dependencies: REQUIREMENT = .[dev]
$(DEMO_VENV)/.dependencies: REQUIREMENT = .

$(VENV)/.dependencies $(DEMO_VENV)/.dependencies: pyproject.toml $(PINNED)
	@.ci/venv $(@D) "$(REQUIREMENT)"
	@touch $@

# A real installation, remade when a source changes: what passes here is what a wheel gives.
$(VENV)/.package $(DEMO_VENV)/.package: %/.package: %/.dependencies $(SOURCES)
	@rm -rf build/lib build/bdist.*
	@$(@D)/$(INSTALL) --force-reinstall .
	@touch $@
