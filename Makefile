# Everything a person or CI runs. A fresh machine needs Python 3.11 or newer with pip and venv, git and make;
# each target sets up .venv in this checkout by itself.

PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
STAMP := $(VENV)/.installed
TO_RUN := $(VENV)/.installed-to-run
PIP := $(RUN) -m pip install --quiet --disable-pip-version-check
# Tests also wait: for servers, processes, disks and deadlines. So three workers keep two cores busy.
WORKERS ?=

# The tests of what tests, measures, documents and releases the program; `make tooling` runs them, and CI.
TOOLING := $(addprefix tests/,benchmarks faults/test_proxy.py harness mutation release servers site suites \
	test_deploy.py test_oracle.py test_order.py test_random_graphs.py test_wheel.py)
PROGRAM := $(addprefix --ignore=,$(TOOLING))
# Those of `make check`, which `make quick` leaves to it.
CHECKED := tests/test_docs.py tests/sparql/test_template.py

# Tests start hundreds of processes; each would compile what it imports again.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help demo quick test tooling same sidecar stopped cap timeouts soak blanknodes drawn engines policy values mutants fuzz conformance clients site web check docs fix bench pathological trial recall fuseki servers build release clean

help: ## Say what there is to make
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

define python_is_new_enough
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or newer is needed; $(PYTHON) is older. Try: make PYTHON=python3.12" >&2; exit 2; }
endef

$(STAMP): requirements-dev.lock pyproject.toml
	$(python_is_new_enough)
	$(PYTHON) -m venv $(VENV)
	$(PIP) --require-hashes -r requirements-dev.lock
	$(PIP) --no-deps --no-build-isolation --editable .
	@touch $(TO_RUN) $@

# The program without what only tests need, which is most of it.
$(TO_RUN): requirements.lock pyproject.toml
	$(python_is_new_enough)
	$(PYTHON) -m venv $(VENV)
	$(PIP) --require-hashes -r requirements.lock
	$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

demo: $(TO_RUN) ## Run a model's whole session against the demo graph, over MCP
	@$(RUN) -m gateway demo

quick: $(STAMP) ## The in-process tests: for every commit; four minutes on two cores
	$(RUN) -m pytest -q -n $(or $(WORKERS),3) --dist worksteal --hypothesis-profile quick -m "not server and not process and not large and not slow" $(PROGRAM) \
		$(addprefix --ignore=,$(CHECKED))

test: $(STAMP) ## All tests of the program, real servers included
	$(RUN) -m pytest -q -n $(or $(WORKERS),3) --dist worksteal $(PROGRAM)

tooling: $(STAMP) ## The tests of launchers, fault proxy, oracle, benchmarks, site and release, and the suites of others
	$(RUN) -m pytest -q -n $(or $(WORKERS),3) --dist worksteal $(TOOLING)

same: $(STAMP) ## 2,000 calls to this checkout and another one, whose answers must be equal to the byte; AGAINST=CHECKOUT
	$(RUN) -m tests.harness same --against $(AGAINST) $(if $(CALLS),--questions $(CALLS)) $(if $(SEED),--seed $(SEED))

cap: $(STAMP) ## 100 second hops on Virtuoso with its row cap on, of which `make test` asks 20; some 6 minutes
	BFSQL_ROW_CAP_NODES=100 $(RUN) -m pytest -q tests/test_row_cap.py

timeouts: $(STAMP) ## 200 questions to an RDF4J that cuts answers after a second, of which `make test` asks 4; some 15 minutes
	BFSQL_SILENT_TIMEOUTS=200 $(RUN) -m pytest -q -rP tests/test_silent_timeouts.py

soak: $(STAMP) ## 10,000 calls through the fault proxy, on every engine behind HTTP; under 40 minutes
	$(RUN) -m tests.harness soak $(if $(REPORT),--json $(REPORT))

sidecar: $(STAMP) ## A gateway beside a Fuseki: either is killed or stopped under load, and comes back; two minutes
	$(RUN) -m tests.harness sidecar $(if $(REPORT),--json $(REPORT))

stopped: $(STAMP) ## 2,000 calls each over PostgreSQL, Neo4j, Fuseki and Valkey, which are stopped and restarted; ten minutes
	$(RUN) -m tests.databases.stopped $(if $(CALLS),--calls $(CALLS)) $(if $(SEED),--seed $(SEED))

blanknodes: $(STAMP) ## 2,000 drawn questions about blank nodes and lists in drawn graphs, and in FILES="..." too; two minutes
	$(RUN) -m tests.harness blanknodes $(FILES) $(if $(QUESTIONS),--questions $(QUESTIONS)) $(if $(SEED),--seed $(SEED)) \
		$(if $(REPORT),--json $(REPORT))

drawn: $(STAMP) ## Thousands of drawn questions on every engine, compared with the oracle; some 30 minutes
	$(RUN) -m tests.harness drawn $(if $(QUESTIONS),--questions $(QUESTIONS)) $(if $(REPORT),--json $(REPORT))

engines: $(STAMP) ## Drawn questions on all engines, some of them fetched for it, with whole and with cut answers; half an hour
	$(RUN) -m tests.harness engines $(if $(QUESTIONS),--questions $(QUESTIONS)) $(if $(SEED),--seed $(SEED)) \
		$(if $(ENGINES),--engine $(ENGINES),--table docs/engines.md) $(if $(MISSING),--allow-missing $(MISSING)) \
		$(if $(REPORT),--json $(REPORT)) $(if $(AGAINST),--against $(AGAINST))

policy: $(STAMP) ## 2,000 drawn questions under a policy, by a token, compared with the graph without what is hidden; a minute
	$(RUN) -m tests.harness policy $(if $(ENGINE),--engine $(ENGINE),--http) $(if $(QUESTIONS),--questions $(QUESTIONS)) $(if $(SEED),--seed $(SEED))

values: $(STAMP) ## 400 drawn questions about values, compared with an oracle; STORE="files oxigraph", FAULTS=1 by the fault proxy, FIGURES=1
	$(RUN) -m tests.harness values $(addprefix --store ,$(STORE)) $(if $(FAULTS),--faults) $(if $(FIGURES),--figures) $(if $(QUESTIONS),--questions $(QUESTIONS)) \
		$(if $(SEED),--seed $(SEED)) $(if $(REPORT),--json $(REPORT))

mutants: $(STAMP) ## Small changes of the code, and which of them no test notices; hours, MUTANTS=30 for less
	$(RUN) -m tests.mutation $(if $(MUTANTS),--mutants $(MUTANTS)) $(if $(SEED),--seed $(SEED)) \
		$(if $(REPORT),--json $(REPORT))

fuzz: $(STAMP) ## Hostile terms, rows, files and arguments for an hour; MINUTES=5 for less
	$(RUN) -m tests.fuzz $(if $(MINUTES),--minutes $(MINUTES))

conformance: $(STAMP) ## The suites for MCP that others wrote: conformance, Inspector, mcp-fuzzer; a minute
	$(RUN) -m pytest -q -rs tests/suites

clients: $(STAMP) ## Client libraries that others wrote list and call the tools over stdio and HTTP; five minutes
	$(RUN) -m tests.suites.clients $(if $(ONLY),--only "$(ONLY)")

site: $(TO_RUN) ## Build the documentation as a site, into site/; REPOSITORY=owner/name links to it
	$(RUN) -m tests.site $(REPOSITORY)

web: $(STAMP) ## Check and build the explorer page from gateway/web/src
	$(RUN) -m tests.web.build

check: $(STAMP) ## What CI checks beside the tests: format, lint, types, layers
	$(RUN) -m ruff format --check --quiet .
	$(RUN) -m ruff check --quiet .
	$(RUN) -m mypy
	$(VENV)/bin/lint-imports --no-cache --no-logo
	$(RUN) -m pytest -q $(CHECKED)

docs: $(STAMP) ## Write the generated tables in docs/ and the example outputs in README.md
	$(RUN) -m tests.generated_docs
	$(RUN) -m tests.test_docs

fix: $(STAMP) ## Format, and repair what ruff can
	$(RUN) -m ruff format .
	$(RUN) -m ruff check --fix .

bench: $(STAMP) ## What the gateway costs, as a table of ratios; some 25 minutes, more where graphs are loaded first
	@$(RUN) -m benchmarks $(PARTS) $(if $(MINUTES),--minutes $(MINUTES)) $(if $(AGAINST),--against $(AGAINST))

pathological: $(STAMP) ## Graphs at the limits, each asked by all tools beside a client that sends pings; a quarter of an hour
	@$(RUN) -m benchmarks pathological

trial: $(STAMP) ## Serve 60 questions to a model or a person, over the tools and over SPARQL; FOLDER=trial SEED=1
	@$(RUN) -m benchmarks.trial serve --folder $(or $(FOLDER),.trial) $(if $(SEED),--seed $(SEED)) $(if $(COUNT),--count $(COUNT))

recall: $(STAMP) ## What share of names a search finds however they are typed; half an hour, SAMPLE=800 for three minutes
	@$(RUN) -m benchmarks.recall $(if $(SAMPLE),--sample $(SAMPLE))

servers: $(STAMP) ## Fetch the servers and suites that the tests use
	$(RUN) -m tests.servers install

fuseki: $(STAMP) ## Load a graph into a Fuseki on this machine and serve it: make fuseki GRAPH=file.ttl
	@test -n "$(GRAPH)" || { echo "Say which graph: make fuseki GRAPH=file.ttl" >&2; exit 2; }
	$(RUN) -m tests.servers fuseki $(foreach file,$(GRAPH),--graph $(file))

build: $(STAMP) ## Build the wheel into dist/
	$(RUN) -m hatchling build -t wheel

release: $(STAMP) ## Build all that a release publishes into dist/: make release REPOSITORY=owner/name
	@test -n "$(REPOSITORY)" || { echo "Say for which repository: make release REPOSITORY=owner/name" >&2; exit 2; }
	$(RUN) -m tests.release $(REPOSITORY)

clean: ## Remove what was built and installed here
	rm -rf $(VENV) .servers dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis
