# Every target sets up what it needs; nothing but Python >= 3.11 and make is assumed.

SHELL := /bin/sh
VENV := .venv
PYTHON := $(VENV)/bin/python
RUNNABLE := $(VENV)/.runnable
READY := $(VENV)/.ready
PACKAGED := $(VENV)/.packaged
DOCUMENTED := $(VENV)/.documented
# half of the time tests wait for processes that they have started: one more than there are cores
WORKERS ?= 3
SEEDS ?= 200
MINUTES ?= 60
# tests start hundreds of processes, each of which would compile all sources again
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup run test test-long test-packages test-soak test-openstack test-takeover packages release deb check format bench metrics simulate mutants conformance docs clean

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY)  ## the virtual environment in .venv, the page of the console, and a hook for commits
	@tools/hooks/install
	@$(PYTHON) tools/console.py

$(RUNNABLE): pyproject.toml local-cloud/pyproject.toml tools/setup
	@tools/setup $(VENV)
	@touch $@

$(READY): pyproject.toml local-cloud/pyproject.toml tools/setup
	@tools/setup $(VENV) dev
	@touch $(RUNNABLE) $@

$(DOCUMENTED): pyproject.toml local-cloud/pyproject.toml tools/setup
	@tools/setup $(VENV) dev,docs
	@touch $(RUNNABLE) $(READY) $@

$(PACKAGED): pyproject.toml local-cloud/pyproject.toml tools/setup
	@tools/setup $(VENV) dev,deploy
	@touch $(RUNNABLE) $(READY) $@

run: $(RUNNABLE)  ## start everything, deploy the example, show it, stop (KEEP=1: leave it running)
	@$(PYTHON) tools/console.py --detach
	@KEEP=$(KEEP) $(PYTHON) examples/run.py
	@$(PYTHON) tools/console.py --report

test: $(READY)  ## all tests but the long ones
	@$(PYTHON) tools/console.py
	@tools/chromium
	@$(PYTHON) -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder -m "not long"

test-long: $(DOCUMENTED)  ## the long tests, many more scenarios, the recorded cases over HTTP
	@$(PYTHON) -m pytest -m long
	@$(PYTHON) -m pytest -m "not long" tests/attacks
	@$(PYTHON) -m pytest -m "not long" -p tests.many_engines tests/clients tests/isolation tests/rest
	@$(PYTHON) -m tests.simulation --seeds 2000
	@$(PYTHON) -m tests.simulation --engines 3 --seeds 500
	@$(PYTHON) -m tests.simulation --sweep all
	@$(PYTHON) -m tests.conformance

packages: $(READY)  ## build wheels and source distributions in dist/
	@$(PYTHON) -m tools.packages

release: $(READY)  ## packages, bill of materials, signed digests in dist/VERSION/
	@$(PYTHON) -m tools.release

deb: $(READY)  ## the Debian package of the service in dist/ (on Debian or Ubuntu)
	@$(PYTHON) -m tools.debian

test-packages: $(PACKAGED)  ## the packages with pipx, uv and each Python; Debian, Helm, Ansible
	@$(PYTHON) -m pytest tests/packages

test-soak: $(READY)  ## MINUTES=60: mixed load while engines and APIs are killed; nothing may be left
	@$(PYTHON) -m tests.soak --minutes $(MINUTES)

test-openstack: $(READY)  ## SERVICES="octavia ...": types on OpenStack's own services (Debian, root)
	@$(PYTHON) -m tests.openstack $(SERVICES)

test-takeover: $(READY)  ## take over a Heat 27 that runs here, and use its stacks (Debian, root)
	@$(PYTHON) -m tests.takeover_live

check: $(READY)  ## format, lint, types, layers, sizes, dead code, language
	@tools/check $(VENV)/bin

format: $(READY)  ## format the code
	@$(VENV)/bin/ruff format .

bench: $(READY)  ## measure speed and memory, beside the targets
	@$(PYTHON) -m bench

metrics: $(READY)  ## figures of the code, beside Heat's
	@$(PYTHON) tools/metrics.py

simulate: $(READY)  ## SEEDS=200: play so many scenarios with engines that die
	@$(PYTHON) -m tests.simulation --seeds $(SEEDS)
	@$(PYTHON) -m tests.simulation --engines 3 --seeds $(SEEDS)
	@$(PYTHON) -m tests.simulation --sweep all --every 25

mutants: $(READY)  ## make deliberate faults in copies of the tree: a test must notice each
	@$(PYTHON) -m tests.mutants

conformance: $(READY)  ## replay what a Heat has answered, over HTTP
	@$(PYTHON) -m tests.conformance

docs: $(DOCUMENTED)  ## write the generated pages, check all pages, and build the site in site/
	@$(PYTHON) -m tools.reference
	@$(VENV)/bin/codespell --toml pyproject.toml README.md CHANGELOG.md CONTRIBUTING.md docs deploy local-cloud/README.md
	@$(PYTHON) -m pytest tests/project/test_documents.py tests/project/test_developer_pages.py
	@$(PYTHON) -m tools.site
	@tools/chromium
	@$(PYTHON) -m pytest tests/site

clean:  ## remove the virtual environment and all caches
	rm -rf $(VENV) dist site var local-cloud/dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .prose_cache \
		console/node_modules src/stoker/api/console/assets
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
