# The ways into this project. The first one makes the environment in .venv, which takes minutes.

PYTHON ?= python3
WORKERS ?= 2
# Exactly this one: a range would choose builds that bring gigabytes of GPU libraries along.
TORCH := 2.13.0

BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --quiet
COMPILED := CMakeLists.txt pyproject.toml $(wildcard src/ntm/engine/csrc/*)
SANITIZED := build/sanitize/package

.PHONY: help demo test lint sanitize bench browser screenshots clean distclean
.DEFAULT_GOAL := help

help: ## List these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: .venv/with-figures ## Train on copy and show that it copies far longer sequences
	@$(BIN)/ntm demo

test: .venv/with-dev browser ## Run all tests
	@$(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal

lint: .venv/with-dev ## Check format, style and types
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/oxlint --quiet src tests

bench: .venv/with-figures ## Measure the speed against other ways to run the same network
	@$(BIN)/ntm bench

screenshots: .venv/with-dev browser ## Make the pictures of docs/studio.md again
	@$(BIN)/python docs/make_screenshots.py

# An environment with one of the package's extras. The install is editable: changes to Python files
# count at once, and `make` installs again when something that is compiled has changed.
.venv/with-%: $(COMPILED)
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("ntm needs Python 3.11 \
	or newer and this is %d.%d; name another one with make PYTHON=..." % sys.version_info[:2])'
	@echo "Installing into .venv ..."
	@test -x $(BIN)/pip || $(PYTHON) -m venv .venv
	@$(PIP) torch==$(TORCH) cmake nanobind ninja scikit-build-core
	@$(PIP) torch==$(TORCH) --no-build-isolation --check-build-dependencies --editable '.[$*]'
	@touch $@

# The memory checker must be loaded before Python, and the C++ library with it, or exceptions that
# other libraries throw are lost. Without -S, the editable install would hide the checked copy;
# with pytest's usual capture, the checker's report.
sanitize: .venv/with-dev ## Run the engine's tests on a build that checks memory and arithmetic
	@$(BIN)/cmake -S . -B build/sanitize -G Ninja -DCMAKE_BUILD_TYPE=Debug \
	  -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN))/ninja -DPython_EXECUTABLE=$(abspath $(BIN))/python \
	  -DNTM_SANITIZE=address,undefined
	@$(BIN)/cmake --build build/sanitize
	@rm -rf $(SANITIZED) && mkdir -p $(SANITIZED) && cp -R src/ntm $(SANITIZED)
	@rm -f $(SANITIZED)/ntm/engine/_native_*
	@$(BIN)/cmake --install build/sanitize --prefix $(SANITIZED)
	@site=$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))'); \
	env PYTHONPATH=$(abspath $(SANITIZED)):$$site ASAN_OPTIONS=detect_leaks=0 \
	  UBSAN_OPTIONS=print_stacktrace=1 \
	  LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libstdc++.so)" \
	  $(BIN)/python -S -m pytest tests/engine -q --capture=sys -p no:cacheprovider

# The browser that the tests of the studio drive.
browser:
	@if command -v chromium >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && grep -qs '^ID=debian' /etc/os-release; then \
	  echo "Installing chromium ..."; export DEBIAN_FRONTEND=noninteractive; \
	  apt-get -qq update && apt-get -qq install --no-install-recommends chromium >/dev/null; \
	else echo "The tests of the studio need chromium: install it with your package manager."; fi

clean: ## Remove what was built
	@rm -rf build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache
	@rm -f src/ntm/engine/_native_*.so src/ntm/engine/_build.txt .venv/with-*
	@find src tests -name __pycache__ -prune -exec rm -rf {} +

distclean: clean ## Remove the environment too
	@rm -rf .venv
