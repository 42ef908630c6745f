# SPDX-License-Identifier: Apache-2.0
# make            build build/libredline.so from the committed generated/ (needs only a C compiler)
# make demo       build, then replay HIP graphs under the preload on the software GPU
# make test       build, fetch what is missing, run every test
# make check      what a review expects: generated files up to date, linters, C warnings under gcc and clang
# make generate   regenerate from the ROCm found (see README)
# make rocm       fetch real HIP headers and libraries into build/rocm
# make format     lay out C and Python files as `make check` wants them
#
# V=1 shows the commands.

.DEFAULT_GOAL := build
.DELETE_ON_ERROR:
ifndef V
.SILENT:
endif
# $(call say_once,WORD,TEXT) in a recipe: what the next steps do, before the first of them.
say_once = $(if $(said_$(1)),,$(eval said_$(1) := yes)$(info $(2)))

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Tests run in as many processes as there are cores, and not more than four.
PYTEST_FLAGS ?= -n auto --maxprocesses=4

READY := $(VENV)/.ready
CODEGEN := $(BIN)/redline-codegen

WARNINGS := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes
CFLAGS ?= -O2 -g
# A shim that only leads on is a jump, so that what is behind it sees the caller's return address.
LIBRARY_CFLAGS := -std=gnu11 $(WARNINGS) -fPIC -fvisibility=hidden -foptimize-sibling-calls -Igenerated -Iruntime
LIBRARY_LDFLAGS := -shared -Wl,-soname,libredline.so -Wl,-z,now -Wl,-z,relro -Wl,--no-undefined-version \
	-Wl,--version-script=generated/redline.map -Wl,-z,defs -Wl,-z,nodelete
# fault.c injects failures and belongs to test builds alone.
SOURCES := $(filter-out runtime/base/fault.c,$(wildcard runtime/*.c runtime/*/*.c)) generated/native_table.c generated/shims_hip.c generated/shims_hsa.c
OBJECTS := $(patsubst %.c,build/obj/%.o,$(SOURCES) generated/abi_checks.c)

.PHONY: build demo test stress bench check current generate rocm clean lint format warnings

# A ROCm newer than generated/ was made from is named in one line; without .venv there is nobody to ask.
build: build/libredline.so
	@if [ -x $(CODEGEN) ]; then $(CODEGEN) diff --notice; fi

# abi_checks.c holds only static assertions: compiling it is the check, and it adds nothing to the library. The library is
# put in place whole, since programs may be running with the old one.
build/libredline.so: $(OBJECTS) generated/redline.map
	$(CC) $(CFLAGS) $(LIBRARY_LDFLAGS) -o $@.new $(OBJECTS) -ldl -lpthread
	@mv $@.new $@

build/obj/%.o: %.c Makefile
	$(call say_once,library,Compiling build/libredline.so)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LIBRARY_CFLAGS) -MMD -MP -c -o $@ $<

-include $(OBJECTS:.o=.d)

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed; set PYTHON=..." >&2; exit 1; }
	@echo "Creating $(VENV) and installing the generator and its development tools into it"
	@$(PYTHON) -m venv $(VENV) || \
		{ echo "python3 cannot create a virtual environment: install python3-venv" >&2; exit 1; }
	@$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

generate: $(READY)
	$(CODEGEN) generate

# Idempotent: what is there is not fetched again. Exit code 1 when something could not be had.
rocm: $(READY)
	$(CODEGEN) rocm

# Without network everything that needs no real library still runs, and the tests name what they skip; the next run
# tries again what could not be had.
.PHONY: real
real: $(READY)
	@[ -e build/rocm/.complete ] || { tools/fetch && touch build/rocm/.complete; } || true

include softgpu/softgpu.mk softgpu/kernels/kernels.mk softgpu/pm4/pm4.mk

# The software GPU's applications need AMD's headers and library; without those their tests are skipped by name.
.PHONY: applications
applications: real
	@if [ -e $(APP_ROCM)/include/hip/hip_runtime_api.h ]; then $(MAKE) --no-print-directory apps; fi

demo: build softgpu applications
	$(BIN)/python tests/binding/demo.py
	@echo
	$(BIN)/python tests/engine/demo.py

test: build softgpu applications
	$(BIN)/pytest $(PYTEST_FLAGS)

stress: build $(READY)
	STRESS_SECONDS=$${STRESS_SECONDS:-60} $(BIN)/pytest tests -m stress

bench: build $(READY)
	$(BIN)/python benchmarks/bench.py

# In this order: a stale generated file explains what the others complain of.
check: current lint warnings

current: $(READY)
	$(CODEGEN) check

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	tools/form $(BIN)/clang-format

format: $(READY)
	$(BIN)/ruff format .
	tools/form $(BIN)/clang-format --write

# Every C file under both compilers; clang is the system's or the one that `redline-codegen rocm --toolchain` fetches.
warnings: real
	@CODEGEN=$(CODEGEN) tools/warnings

clean:
	rm -rf build/obj build/libredline.so build/libredline_pm4.so build/apps build/softgpu build/tests
