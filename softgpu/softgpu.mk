# SPDX-License-Identifier: Apache-2.0
# Software GPU: the model library for ROCr, the library preloaded below HIP, the topology folders, the applications.
# Included by the top Makefile; BUILD is its build folder.

BUILD ?= build
SOFTGPU_CC ?= $(CC)
SOFTGPU_BUILD := $(BUILD)/softgpu
# A fault in a kernel jumps from a fiber's stack to its worker's: what a distribution's _FORTIFY_SOURCE forbids.
SOFTGPU_FLAGS := -std=gnu11 -O2 -g -fPIC -pthread -fvisibility=hidden -Wall -Wextra -Werror -MMD -MP \
	-U_FORTIFY_SOURCE
SOFTGPU_LINK := -shared -pthread -Wl,-z,now -Wl,-z,defs

SOFTGPU_MODEL_SOURCES := $(wildcard softgpu/model/*.c softgpu/pm4/*.c softgpu/twins/*.c)
SOFTGPU_MODEL_OBJECTS := $(SOFTGPU_MODEL_SOURCES:softgpu/%.c=$(SOFTGPU_BUILD)/obj/%.o)
SOFTGPU_PRELOAD_OBJECTS := \
	$(patsubst softgpu/%.c,$(SOFTGPU_BUILD)/obj/%.o,$(wildcard softgpu/preload/*.c)) $(SOFTGPU_BUILD)/obj/model/image.o
SOFTGPU_TARGETS := gfx1030 gfx1100 gfx1151 gfx1201

.PHONY: softgpu
softgpu: $(SOFTGPU_BUILD)/libsoftgpu.so $(SOFTGPU_BUILD)/libsoftgpu_preload.so \
	$(SOFTGPU_TARGETS:%=$(SOFTGPU_BUILD)/topology/%-1-2/generation_id)

$(SOFTGPU_BUILD)/libsoftgpu.so: $(SOFTGPU_MODEL_OBJECTS)
	$(SOFTGPU_CC) $(SOFTGPU_LINK) -o $@.new $^ -lm
	@mv $@.new $@

$(SOFTGPU_BUILD)/libsoftgpu_preload.so: $(SOFTGPU_PRELOAD_OBJECTS)
	$(SOFTGPU_CC) $(SOFTGPU_LINK) -o $@.new $^ -ldl
	@mv $@.new $@

$(SOFTGPU_BUILD)/obj/%.o: softgpu/%.c
	$(call say_once,softgpu,Compiling the software GPU)
	@mkdir -p $(@D)
	$(SOFTGPU_CC) $(SOFTGPU_FLAGS) -c -o $@ $<

$(SOFTGPU_BUILD)/topology/%-1-2/generation_id: softgpu/topology.py
	@rm -rf $(@D)
	python3 softgpu/topology.py $(@D) $*

-include $(SOFTGPU_MODEL_OBJECTS:.o=.d) $(SOFTGPU_PRELOAD_OBJECTS:.o=.d)
