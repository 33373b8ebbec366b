# The commands of contributors. `make` lists the targets.
.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help setup tools cluster-tools image layers test test-unit test-java test-streams test-differential test-kafka test-kills test-faults test-servers test-all test-object-store test-nodes test-network-policy test-keda test-browser test-system test-cluster test-chart test-image cluster-up \
	cluster-down docs charts lint format typecheck imports golden golden-states demo pictures bench bench-host bench-load bench-operators bench-start soak lock release clean

BIN := .venv/bin
# What clones share (ci/tools/cache.py). mypy compares the content of files that have another time.
CACHE := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/lsql-runner
PYTEST := $(BIN)/pytest
MAVEN := mvn --batch-mode --no-transfer-progress -Dstyle.color=never
PURE := tests/unit tests/golden tests/repo tests/contract
CHECKED := $(wildcard image/src image/recipe/train.py devkit tests ci/tools ci/cluster demo bench)
# Number of processes that run the tests of a layer. Each starts its own servers: a JVM of about 1 GiB for Spark, a broker.
# Tests also wait, so three are faster than two on two cores.
WORKERS ?= 3
# Prints when a target that CI does not run has last passed; LAST_PASSED notes it, unless ARGS selects tests.
LAST_PASSED := @$(BIN)/python -m ci.tools.last_passed
PASSED = $(if $(ARGS),,$(LAST_PASSED) $@ --now)
# PYTHON=python3.12 chooses the interpreter; ARGS='-k window -x' is passed to pytest.
export PYTHON

help: ## Print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Make .venv: locked Python packages, the runner (editable), JVM jars; finished steps are skipped
	@python=$$(ci/tools/check-prerequisites.sh) && "$$python" -m ci.tools.setup

tools: setup ## Build the pinned Helm and the chart linters (needs Go 1.26; takes some minutes once)
	@$(BIN)/python -m ci.tools.go_tools

cluster-tools: setup ## Build Kubernetes for the tests and install its Debian packages (needs root, Go 1.26; takes some minutes once)
	@$(BIN)/python -m ci.tools.cluster_tools

image: setup ## Build the image with podman; BASE_IMAGE=name uses another Debian trixie as base
	@$(BIN)/python -m ci.tools.image

test: setup lint typecheck imports test-java test-unit test-streams test-kafka test-kills ## Linters, type checks, and every layer of tests that needs only Python, Java and Maven

test-system: test-servers test-browser test-cluster ## The layers that need root or packages of Debian: servers, browser, image, charts, Kubernetes

test-unit: setup ## Run the tests that need no JVM and no broker
	$(PYTEST) -n $(WORKERS) --dist worksteal $(PURE) $(ARGS)

test-streams: setup ## Run the stream cases on Spark with memory sources, and compare programs with Kafka Streams
	$(PYTEST) -n $(WORKERS) --dist loadgroup tests/streams tests/differential $(ARGS)

test-differential: setup ## Compare programs with Kafka Streams on random records for MINUTES=10 minutes
	$(BIN)/python -m tests.differential --minutes $(or $(MINUTES),10) $(ARGS)

# THOROUGH, KILLS, SEED and GUARANTEE are read by the tests.
test-all: export THOROUGH = 1
test-all: test test-system ## Every test: those above with all their inputs, 100 random kills, an object store, lost nodes, policies, KEDA
	$(MAKE) test-faults KILLS=100
	$(MAKE) test-object-store test-nodes test-network-policy test-keda

# These tests also wait for brokers, so one more process runs than in the other layers.
test-kafka: setup ## Run the tests on real Kafka brokers and a real schema registry
	$(PYTEST) -n $$(($(WORKERS) + 1)) --dist loadgroup tests/kafka $(ARGS)

test-kills: setup ## Kill processors at 6 random instants, and compare their results with a model
	$(PYTEST) -n $(WORKERS) tests/faults/test_random_kills.py $(ARGS)

test-faults: setup ## Kill processors at named points and at KILLS=6 random instants (SEED=7 repeats those of a run), and stop their brokers
	$(LAST_PASSED) $@
	KILLS=$(KILLS) SEED=$(SEED) GUARANTEE=$(GUARANTEE) $(PYTEST) -n $(WORKERS) tests/faults $(ARGS)
	$(PASSED)

test-servers: setup ## Run the tests on servers from Debian: PostgreSQL, Redis, a Kerberos server, Prometheus
	@ci/tools/sink_servers.sh
	@ci/tools/kerberos.sh
	@ci/tools/prometheus.sh
	$(PYTEST) -n $(WORKERS) --dist loadgroup tests/kerberos tests/sinks tests/prometheus $(ARGS)

test-object-store: cluster-tools image ## Run the tests of state at a URI on a real object store, which is built once, in processes and on Kubernetes
	$(LAST_PASSED) $@
	@$(BIN)/python -m ci.tools.object_store
	$(PYTEST) -n $(WORKERS) --dist loadgroup tests/object_store $(ARGS)
	@$(BIN)/python -m devkit.cluster $(PYTEST) -m object_store tests/cluster $(ARGS)
	$(PASSED)

test-nodes: cluster-tools image tools ## Run the tests in which a node of Kubernetes stops, is rebooted or loses power
	$(LAST_PASSED) $@
	@$(BIN)/python -m devkit.cluster $(PYTEST) -m node tests/cluster $(ARGS)
	$(PASSED)

test-network-policy: cluster-tools image tools ## Run the tests in which NetworkPolicies are enforced, on Kubernetes, by a program that is built once
	$(LAST_PASSED) $@
	@ci/tools/ipset.sh
	@$(BIN)/python -m ci.tools.network_policy
	@$(BIN)/python -m devkit.cluster $(PYTEST) -m network_policy tests/cluster $(ARGS)
	$(PASSED)

test-keda: cluster-tools image tools ## Run the tests of autoscaling with KEDA, which is built once, on Kubernetes
	$(LAST_PASSED) $@
	@$(BIN)/python -m ci.tools.keda
	@$(BIN)/python -m devkit.cluster $(PYTEST) -m keda tests/cluster $(ARGS)
	$(PASSED)

test-browser: setup ## Run the tests of the pages in Chromium (from Debian; CHROMIUM=path names another)
	@ci/tools/chromium.sh
	$(PYTEST) -n $$(($(WORKERS) + 1)) --dist worksteal tests/browser $(ARGS)

test-cluster: test-chart test-image ## Test the image and the charts, and install them on Kubernetes (KUBECONFIG, or one started here)
	@$(BIN)/python -m devkit.cluster $(PYTEST) -n $(WORKERS) --dist loadscope --no-loadscope-reorder \
		-m 'not node and not object_store and not network_policy and not keda' tests/cluster $(ARGS)

test-chart: tools ## Render and lint the charts with Helm 3 and 4, and test the alerts with promtool; no cluster
	@ci/tools/prometheus.sh
	$(PYTEST) -n $(WORKERS) tests/chart $(ARGS)

test-image: cluster-tools image ## Run the image in containers; no cluster
	$(PYTEST) -n $(WORKERS) --dist worksteal tests/image $(ARGS)

cluster-up: cluster-tools image ## Start a Kubernetes on this machine with the image loaded (needs root)
	@$(BIN)/python -m ci.cluster up
	@$(BIN)/python -m ci.cluster load localhost/lsql-runner:$$($(BIN)/python -c 'from importlib.metadata import version; print(version("lsql-runner"))')

cluster-down: ## Stop that Kubernetes
	@$(BIN)/python -m ci.cluster down

layers: setup ## Print how many tests each layer has
	@for layer in tests/*/; do echo "$$layer $$($(PYTEST) $$layer --collect-only -q 2>/dev/null | tail -1)"; done | grep collected

test-java: setup ## Run the tests of the Java module
	$(MAVEN) -f image/jvm/pom.xml test

lint: setup ## ruff: rules and format; format of the Java module
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(MAVEN) -f image/jvm/pom.xml spotless:check

format: setup ## Format Python and Java, and fix what ruff can fix
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(MAVEN) -f image/jvm/pom.xml spotless:apply

typecheck: setup ## mypy, strict
	$(BIN)/mypy --cache-dir $(CACHE)/mypy $(CHECKED)

imports: setup ## import-linter: check which package imports which (make test-java checks those of Java)
	$(BIN)/lint-imports

golden: setup ## Rewrite the golden files; the review is the diff
	$(PYTEST) tests/golden --update-goldens $(ARGS)

golden-states: setup ## Write missing golden states; existing ones are not changed
	$(BIN)/python -m devkit.golden_states $(ARGS)

docs: setup ## Write the generated reference pages; a test fails when they are out of date
	$(BIN)/python -m devkit.docs

charts: tools ## Write the generated files and snapshots of the charts; a test fails when they are out of date
	$(BIN)/python -m devkit.helm

pictures: setup ## Take the pictures of the docs from the running demo (about three minutes)
	@ci/tools/chromium.sh
	@$(BIN)/python -m demo.pictures $(ARGS)

demo: setup ## Start a broker and a processor with its page; SQL=file.sql runs your own program
	@$(BIN)/python -m demo $(if $(SQL),--sql $(SQL)) $(ARGS)

bench: setup ## Compare the throughput with Kafka Streams and Flink SQL
	$(BIN)/python -m bench $(ARGS)

bench-operators: setup ## Measure records per second and core for each operator: joins, tables, sessions, formats
	$(BIN)/python -m bench.operators $(ARGS)

bench-start: setup ## Measure the time from `lsql run` to the first output record
	$(BIN)/python -m bench.start $(ARGS)

bench-host: setup ## Compare cores, private memory and latency with Kafka Streams and Flink SQL at constant rates
	$(BIN)/python -m bench.load --host $(ARGS)

bench-load: image ## Measure cores, private memory and latency in the default pod at constant rates (needs root)
	$(BIN)/python -m bench.load $(ARGS)

soak: image ## Run a program for 2 hours with restarts and kills: memory, threads and files stay flat, no record is lost (needs root)
	$(BIN)/python -m bench.soak $(ARGS)

lock: ## Write the lock files from the .in files; UPGRADE=1 upgrades every package
	@python=$$(ci/tools/check-prerequisites.sh) && ci/tools/lock.sh "$$python" $(if $(UPGRADE),--upgrade)

release: tools ## Make a release: VERSION=0.2.0 sets the version, tags it, and builds image, charts and notes; nothing is published
	@$(BIN)/python -m ci.tools.release $(VERSION)

clean: ## Remove what was built here (not the shared cache of downloads and jars)
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache image/jvm/target image/build image/src/*.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
