# Everything a contributor runs. `make` alone lists the targets.
.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help setup tools cluster-tools image test test-unit test-java test-streams test-differential test-kafka test-sinks test-browser test-cluster test-chart test-image cluster-up \
	cluster-down docs charts lint format typecheck imports golden golden-states demo bench bench-operators lock clean

BIN := .venv/bin
PYTEST := $(BIN)/pytest
PURE := tests/unit tests/golden tests/repo tests/contract
CHECKED := $(wildcard image/src image/recipe/train.py devkit tests ci/tools ci/cluster demo bench)
# How many processes share a layer's tests. Those on Spark start a JVM each, of about 1 GiB.
WORKERS ?= 2
# PYTHON=python3.12 chooses the interpreter; ARGS='-k window -x' is handed to pytest.
export PYTHON

help: ## This list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Make .venv: locked Python packages, the runner (editable), JVM jars. Does nothing when nothing changed
	@python=$$(ci/tools/check-prerequisites.sh) && "$$python" ci/tools/setup.py

tools: setup ## Build the pinned Helm and the charts' linters (Go 1.26; some minutes, once)
	@$(BIN)/python -m ci.tools.go_tools

cluster-tools: setup ## Build a Kubernetes for tests, and install what it stands on (root, Go 1.26; some minutes, once)
	@$(BIN)/python -m ci.tools.cluster_tools

image: setup ## Build the image with podman; BASE_IMAGE=name builds on another Debian trixie
	@$(BIN)/python -m ci.tools.image

test: setup lint typecheck imports test-java test-unit test-streams test-kafka test-sinks test-browser ## Everything CI runs, layer by layer

test-unit: setup ## The pure tests: no JVM, no broker
	$(PYTEST) -n $(WORKERS) $(PURE) $(ARGS)

test-streams: setup ## The stream cases on Spark with memory sources, and programs against Kafka Streams
	$(PYTEST) -n $(WORKERS) --dist worksteal tests/streams tests/differential $(ARGS)

test-differential: setup ## The programs against the same ones in Kafka Streams, on random records; MINUTES=30 takes longer
	$(BIN)/python -m tests.differential --minutes $(or $(MINUTES),10) $(ARGS)

test-kafka: setup ## The tests on a real Kafka broker, one of them behind a real Kerberos server
	@ci/tools/kerberos.sh
	$(PYTEST) tests/kafka $(ARGS)

test-sinks: setup ## The sinks on real servers, PostgreSQL and Redis (Debian's)
	@ci/tools/sink_servers.sh
	$(PYTEST) tests/sinks $(ARGS)

test-browser: setup ## The processor's page in a real Chromium (Debian's; CHROMIUM=path names another)
	@ci/tools/chromium.sh
	$(PYTEST) tests/browser $(ARGS)

test-cluster: test-chart test-image ## The image, the charts, and all of it on a real Kubernetes (KUBECONFIG, or one started here)
	$(PYTEST) tests/cluster $(ARGS)

test-chart: tools ## The charts: rendered, linted, compared; no cluster
	$(PYTEST) tests/chart $(ARGS)

test-image: cluster-tools image ## The image in containers of its own; no cluster
	$(PYTEST) tests/image $(ARGS)

cluster-up: cluster-tools image ## A Kubernetes on this machine with the image in it, to try things out (root)
	@$(BIN)/python -m ci.cluster up
	@$(BIN)/python -m ci.cluster load localhost/lsql-runner:$$($(BIN)/python -c 'from importlib.metadata import version; print(version("lsql-runner"))')

cluster-down: ## End it
	@$(BIN)/python -m ci.cluster down

test-java: setup ## The tests of the Java classes
	mvn --batch-mode --no-transfer-progress -Dstyle.color=never -f image/jvm/pom.xml test

lint: setup ## ruff: rules and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: setup ## ruff: put right what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

typecheck: setup ## mypy, strict
	$(BIN)/mypy $(CHECKED)

imports: setup ## import-linter: who may import whom
	$(BIN)/lint-imports

golden: setup ## Rewrite the golden files; the review is the diff
	$(PYTEST) tests/golden --update-goldens $(ARGS)

golden-states: setup ## Write the golden states that are missing; they stay as an earlier version wrote them
	$(BIN)/python -m devkit.golden_states $(ARGS)

docs: setup ## Write the generated reference pages anew; a test says when they are stale
	$(BIN)/python -m devkit.docs

charts: tools ## Write the charts' schemas, tables and snapshots anew; a test says when they are stale
	$(BIN)/python -m devkit.helm

demo: setup ## A broker, a processor and a page to look at; SQL=file.sql runs your own program
	@$(BIN)/python -m demo $(if $(SQL),--sql $(SQL)) $(ARGS)

bench: setup ## Throughput and latency, side by side with the peers
	$(BIN)/python -m bench

bench-operators: setup ## What a core does in a second, operator by operator: joins, tables, sessions, formats
	$(BIN)/python -m bench.operators $(ARGS)

lock: ## Write the lock files anew from the .in files; UPGRADE=1 moves every pin
	@python=$$(ci/tools/check-prerequisites.sh) && ci/tools/lock.sh "$$python" $(if $(UPGRADE),--upgrade)

clean: ## Remove what was built here (not the shared cache of downloads and jars)
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache image/jvm/target image/build image/src/*.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
