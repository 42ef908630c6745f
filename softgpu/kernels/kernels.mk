# SPDX-License-Identifier: Apache-2.0
# Test kernels and applications of the software GPU. Included by the top Makefile.
#
#   make fixtures   rebuilds the committed code objects softgpu/kernels/fixtures/<gfx>/*.co with clang 19
#   make apps       builds build/apps/<name> from tests/apps/<name>.c against ROCm 7.2.4

FIXTURE_CLANG ?= $(firstword $(wildcard build/toolchain/bin/clang) clang-19)
FIXTURE_TARGETS := gfx1030 gfx1100 gfx1151 gfx1201
FIXTURE_SOURCES := $(wildcard softgpu/kernels/*.cl softgpu/kernels/*.h)
FIXTURE_OBJECTS := $(foreach gfx,$(FIXTURE_TARGETS),\
	$(addprefix softgpu/kernels/fixtures/$(gfx)/,kernels.co wave64.co v4.co))
# No loop unrolling: the files are committed, so they are kept small. HIP refuses them without a symbol table.
FIXTURE_FLAGS := -x cl -cl-std=CL2.0 -target amdgcn-amd-amdhsa -nogpulib -O2 -fno-unroll-loops \
	-Wall -Wextra -Werror -Wl,--build-id=none -fno-ident
fixture_gfx = $(notdir $(patsubst %/,%,$(dir $@)))
define fixture_build
@mkdir -p $(@D)
$(FIXTURE_CLANG) $(FIXTURE_FLAGS) -mcpu=$(fixture_gfx) $(1) $< -o $@
@chmod 644 $@
endef

.PHONY: fixtures
fixtures: $(FIXTURE_OBJECTS)

softgpu/kernels/fixtures/%/kernels.co: softgpu/kernels/kernels.cl $(FIXTURE_SOURCES)
	$(call fixture_build,-mcode-object-version=5)
softgpu/kernels/fixtures/%/wave64.co: softgpu/kernels/wave.cl $(FIXTURE_SOURCES)
	$(call fixture_build,-mcode-object-version=5 -mwavefrontsize64)
softgpu/kernels/fixtures/%/v4.co: softgpu/kernels/v4.cl $(FIXTURE_SOURCES)
	$(call fixture_build,-mcode-object-version=4 -DCODE_OBJECT_V4)

APP_ROCM ?= build/rocm/7.2.4
APP_NAMES := $(basename $(notdir $(wildcard tests/apps/*.c)))
APP_FLAGS := -std=gnu11 -O2 -g -Wall -Wextra -Werror -pthread -D__HIP_PLATFORM_AMD__ \
	-isystem $(APP_ROCM)/include
# The ROCm libraries may want a newer glibc than the system has: the runner brings it, the link need not see it.
APP_LINK := -L$(APP_ROCM)/lib -lamdhip64 -Wl,--unresolved-symbols=ignore-in-shared-libs

.PHONY: apps
apps: $(addprefix build/apps/,$(APP_NAMES))

APP_HEADER := $(APP_ROCM)/include/hip/hip_runtime_api.h

$(APP_HEADER):
	@echo "$@ is missing: run \`make rocm\` first." >&2; exit 1

build/apps/%: tests/apps/%.c tests/apps/app.h | $(APP_HEADER)
	$(call say_once,apps,Compiling the applications of tests/apps)
	@mkdir -p $(@D)
	$(CC) $(APP_FLAGS) $< -o $@ $(APP_LINK)
