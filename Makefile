# `make help` lists the commands.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

BIN := node_modules/.bin
# Node of the npm package `node`: the system's may be older.
NODE := $(BIN)/node
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
# Environment with the trainers that adapters are tested against (6 GB).
TRAINERS := .trainers
# Environment with OpenEnv (0.4 GB), which needs another version of mcp than verifiers does.
OPENENV := .venv-openenv-tests
# Environment with OpenReward's client (0.2 GB).
OPENREWARD := .venv-openreward
# Environment with verifiers and the older OpenEnv that it brings (0.7 GB).
OPENENV_VERIFIERS := .venv-openenv-verifiers
# Environment with the libraries of games that can be mounted (0.2 GB).
GAMES := .venv-games-tests
# Environment with libraries that are mounted (0.6 GB).
MOUNTS := .venv-mounts-tests
# Environment of the study of curricula (0.5 GB).
STUDY := .venv-study
STUDY_FOLDER := clients/python/examples/curriculum_study
export PATH := $(CURDIR)/$(BIN):$(PATH)
# Keep Node's compiled code, as cli/gradus does: servers that Python tests start then start in half the time.
export NODE_COMPILE_CACHE := $(CURDIR)/.cache/compiled
# CI images set it. Each of the hundreds of Pythons that tests start would then compile all its imports again.
unexport PYTHONDONTWRITEBYTECODE
# Files are compiled at their first import. To compile all 25,000 of the trainers at once takes 90 s.
PIP_INSTALL := -m pip install --quiet --disable-pip-version-check --no-compile

.PHONY: help release image setup demo serve test test-ts test-py test-browser test-trainers test-openenv test-openreward test-games test-mounts play-trl study study-growth study-sequences check format generate bench clean

help: ## List the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-13s %s\n", $$1, $$2}'

node_modules/.package-lock.json: package-lock.json
	npm ci --no-audit --no-fund
	@touch $@

$(VENV)/.installed: clients/python/pyproject.toml clients/python/requirements-dev.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "Gradus needs Python 3.10 or newer; set PYTHON=")'
	$(PYTHON) -m venv $(VENV)
	$(PY) $(PIP_INSTALL) -r clients/python/requirements-dev.txt
	$(PY) $(PIP_INSTALL) --no-deps -e clients/python
	@touch $@

$(TRAINERS)/.installed: clients/python/pyproject.toml clients/python/requirements-trainers.txt clients/python/requirements-trainers-alone.txt
	$(PYTHON) -m venv $(TRAINERS)
	$(TRAINERS)/bin/python $(PIP_INSTALL) -r clients/python/requirements-trainers.txt
	$(TRAINERS)/bin/python $(PIP_INSTALL) --no-deps -r clients/python/requirements-trainers-alone.txt
	$(TRAINERS)/bin/python $(PIP_INSTALL) --no-deps -e clients/python
	@touch $@

# The page is built from the sources of the page, the TypeScript client, the contract and the table of mounts.
PAGE_SOURCES := $(shell find page clients/ts/src proto/gen -type f -not -path 'page/dist/*') server/outside/mounted/mount-table.ts server/outside/mounted/catalogue.json

page/dist/index.html: node_modules/.package-lock.json $(PAGE_SOURCES)
	$(NODE) node_modules/vite/bin/vite.js build page --logLevel warn

setup: node_modules/.package-lock.json $(VENV)/.installed page/dist/index.html ## Install all that is needed, inside this folder

demo: setup ## Start the server, train a small policy with its bandit, draw the plots (under 5 minutes)
	$(NODE) scripts/demo.ts

serve: node_modules/.package-lock.json page/dist/index.html ## Start the server on the loopback interface
	cli/gradus serve --keep-samples 64

# Python tests mostly wait, so they run beside the TypeScript tests. Their output comes after.
test: setup ## Set up all and run all tests but those of test-trainers
	@said=$$(mktemp); failed=0; \
	$(MAKE) --no-print-directory test-py >"$$said" 2>&1 & \
	trap 'kill $$! 2>/dev/null || true; rm -f "$$said"' EXIT; \
	$(MAKE) --no-print-directory test-ts || failed=1; \
	wait $$! || failed=1; cat "$$said"; exit $$failed
	@echo "Adapters are tested against real trainers (TRL, ...) by 'make test-trainers', which installs 6 GB of its own."

test-ts: setup
	$(NODE) node_modules/vitest/vitest.mjs run

test-py: setup
	$(PY) -m pytest clients/python/tests

test-browser: setup ## Test the page and the client in Chromium, which Debian's package brings where there is none
	$(NODE) node_modules/vitest/vitest.mjs run --config test/browser/vitest.config.ts

test-trainers: node_modules/.package-lock.json $(TRAINERS)/.installed ## Test the adapters against real trainers, in an environment of 6 GB
	$(TRAINERS)/bin/python -m pytest clients/python/tests_trainers

$(OPENENV)/.installed: clients/python/pyproject.toml clients/python/requirements-openenv.txt
	$(PYTHON) -m venv $(OPENENV)
	$(OPENENV)/bin/python $(PIP_INSTALL) -r clients/python/requirements-openenv.txt
	$(OPENENV)/bin/python $(PIP_INSTALL) --no-deps -e clients/python
	@touch $@

$(OPENENV_VERIFIERS)/.installed: clients/python/pyproject.toml clients/python/requirements-openenv-verifiers.txt
	$(PYTHON) -m venv $(OPENENV_VERIFIERS)
	$(OPENENV_VERIFIERS)/bin/python $(PIP_INSTALL) -r clients/python/requirements-openenv-verifiers.txt
	$(OPENENV_VERIFIERS)/bin/python $(PIP_INSTALL) --no-deps -e clients/python
	@touch $@

test-openenv: node_modules/.package-lock.json $(OPENENV)/.installed $(OPENENV_VERIFIERS)/.installed ## Test the OpenEnv adapter and the OpenEnv paths against OpenEnv and verifiers, in environments of 1 GB
	$(OPENENV)/bin/python -m pytest clients/python/tests_openenv
	$(OPENENV_VERIFIERS)/bin/python -m pytest clients/python/tests_openenv

$(OPENREWARD)/.installed: clients/python/pyproject.toml clients/python/requirements-openreward.txt
	$(PYTHON) -m venv $(OPENREWARD)
	$(OPENREWARD)/bin/python $(PIP_INSTALL) -r clients/python/requirements-openreward.txt
	$(OPENREWARD)/bin/python $(PIP_INSTALL) --no-deps -e clients/python
	@touch $@

test-openreward: node_modules/.package-lock.json $(OPENREWARD)/.installed ## Test OpenReward's sessions with its own client, in an environment of 0.2 GB
	$(OPENREWARD)/bin/python -m pytest clients/python/tests_openreward

$(GAMES)/.installed: clients/python/pyproject.toml clients/python/requirements-games.txt clients/python/requirements-games-alone.txt
	$(PYTHON) -m venv $(GAMES)
	$(GAMES)/bin/python $(PIP_INSTALL) -r clients/python/requirements-games.txt
	$(GAMES)/bin/python $(PIP_INSTALL) --no-deps -r clients/python/requirements-games-alone.txt
	$(GAMES)/bin/python $(PIP_INSTALL) --no-deps -e clients/python
	@touch $@

test-games: $(GAMES)/.installed ## Test mounted games against their own libraries, in an environment of 0.2 GB
	$(GAMES)/bin/python -m pytest clients/python/tests_games

$(MOUNTS)/.installed: clients/python/pyproject.toml clients/python/requirements-mounts.txt
	$(PYTHON) -m venv $(MOUNTS)
	$(MOUNTS)/bin/python -m pip install --quiet --disable-pip-version-check -r clients/python/requirements-mounts.txt
	$(MOUNTS)/bin/python $(PIP_INSTALL) --no-deps -e clients/python
	@touch $@

test-mounts: node_modules/.package-lock.json $(MOUNTS)/.installed ## Test what mounts RLVE-Gym and Reasoning Core against them, in an environment of 0.6 GB
	$(MOUNTS)/bin/python -m pytest clients/python/tests_mounts

# OpenEnv's client beside TRL, for play-trl. No test needs it.
$(TRAINERS)/.openenv: $(TRAINERS)/.installed
	$(TRAINERS)/bin/python $(PIP_INSTALL) -c clients/python/requirements-trainers.txt openenv-core==0.3.0
	@touch $@

play-trl: node_modules/.package-lock.json $(TRAINERS)/.openenv ## TRL's integration of OpenEnv plays 100 tasks each of np/tsp and countdown, in the environment of test-trainers
	$(TRAINERS)/bin/python clients/python/tests_trainers/play_openenv.py

$(STUDY)/.installed: $(STUDY_FOLDER)/requirements.txt
	$(PYTHON) -m venv $(STUDY)
	$(STUDY)/bin/python $(PIP_INSTALL) -r $(STUDY_FOLDER)/requirements.txt
	$(STUDY)/bin/python $(PIP_INSTALL) --no-deps -e clients/python
	@touch $@

study: node_modules/.package-lock.json $(STUDY)/.installed ## Train the study of curricula (hours; finished trainings are kept), write its tables and plots into out/
	$(STUDY)/bin/python $(STUDY_FOLDER)/study.py countdown
	$(STUDY)/bin/python $(STUDY_FOLDER)/study.py packing

study-growth: node_modules/.package-lock.json $(STUDY)/.installed ## Train the study of growth, with its NP-hard part (two hours of two cores; finished trainings are kept), write its report into out/
	$(STUDY)/bin/python $(STUDY_FOLDER)/growth.py

study-sequences: node_modules/.package-lock.json $(STUDY)/.installed ## Train the study of sequences (three hours of one core; finished trainings are kept), write its report into out/
	$(STUDY)/bin/python $(STUDY_FOLDER)/sequences.py

check: setup ## Format, lint, types, import rules, contract, generated code, copy and paste
	bash scripts/check.sh

format: setup ## Format the code
	prettier --write --log-level warn .
	buf format -w
	$(PY) -m ruff format clients/python

generate: setup ## Make the code that the contract generates
	bash scripts/generate.sh

bench: setup ## Run the benchmarks (see bench/README.md)
	$(NODE) bench/solvers/run.ts
	$(NODE) bench/solvers/forge-bench.ts
	$(NODE) bench/transport/run.ts
	$(NODE) bench/capacity/run.ts

release: setup ## Make all that is published into out/release: packages, clients, the image's content, checksums
	$(NODE) scripts/artefacts/release.ts

image: node_modules/.package-lock.json page/dist/index.html ## Lay what the image holds in out/image, for docker build
	$(NODE) scripts/artefacts/package.ts
	rm -f out/gradus-*.tgz # Remove other versions, of which image.ts would take the oldest.
	npm pack --silent --pack-destination out ./out/package
	$(NODE) scripts/artefacts/image.ts out/gradus-*.tgz

clean: ## Remove what was installed and made
	rm -rf node_modules $(VENV) $(TRAINERS) .data .cache out clients/ts/dist page/dist
