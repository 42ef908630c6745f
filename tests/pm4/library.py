# SPDX-License-Identifier: Apache-2.0
"""runtime/pm4/pm4.c and runtime/pm4/lower.c as a shared library, and their functions as Python ones."""

from __future__ import annotations

import functools
import os
import re
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cffi import FFI

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [ROOT / "runtime" / name for name in ("pm4/pm4.c", "pm4/lower.c")]
CC = os.environ.get("CC", "gcc")
WARNINGS = ["-Wall", "-Wextra", "-Wshadow", "-Werror"]
FLAGS = ["-std=gnu11", *WARNINGS, "-O2", "-g", "-fPIC", "-shared"]
RUNTIME_FLAGS = [*FLAGS, f"-I{ROOT / 'runtime'}"]


def targets_of(source: str) -> tuple[str, ...]:
    """Names in the table of targets of pm4.c."""
    table = re.search(r"targets\[\] = \{\n(.*?)^\};$", source, re.DOTALL | re.MULTILINE)
    assert table, "pm4.c has no table of targets"
    return tuple(re.findall(r'"(\w+)"', table.group(1)))


TARGETS = targets_of(SOURCES[0].read_text())
FAMILY_TARGETS = ("gfx1010", "gfx1030", "gfx1100", "gfx1151", "gfx1201")
NO_WORD = 0xFFFFFFFF
FENCE = 0x7F00_0000_0040
TRUSTED_CP = 64  # a CP microcode on which partial flushes do not return early

DECLARATIONS = """
struct rl_pm4_target {
    const char *name; int family; uint32_t level_gcr, system_gcr, exit_gcr, rsrc1_set, rsrc2_set;
};
const struct rl_pm4_target *rl_pm4_find_target(const char *gfx);
bool rl_pm4_partial_flush_returns_early(const struct rl_pm4_target *target, uint32_t cp_feature_version);
uint32_t rl_pm4_register_bits(const struct rl_pm4_target *target, uint32_t offset);
uint32_t rl_pm4_vendor_packet(uint32_t slot[16], uint64_t buffer, uint32_t dwords, uint64_t completion);
size_t rl_pm4_print(const struct rl_pm4_target *target, const uint32_t *words, size_t count, char *text,
                    size_t size, size_t *findings);
struct rl_pm4_dump { char magic[8]; char target[16]; uint32_t dwords, reserved; };
struct rl_pm4_dump rl_pm4_dump_header(const struct rl_pm4_target *target, uint32_t dwords);
struct rl_kernel {
    uint64_t entry; uint32_t group_bytes, private_bytes, kernarg_bytes, rsrc1, rsrc2, rsrc3;
    uint16_t properties, preload;
};
void rl_kernel_read(struct rl_kernel *kernel, uint64_t kernel_object, const void *descriptor);
struct rl_dispatch {
    uint32_t kernel, level, grid[3]; uint16_t workgroup[3]; uint32_t lds_bytes, private_bytes;
    uint64_t kernarg, packet, queue, dispatch_id;
};
struct rl_lower_input {
    const struct rl_pm4_target *target; const struct rl_kernel *kernels; const struct rl_dispatch *dispatches;
    uint32_t kernel_count, dispatch_count, cp_feature_version; uint64_t fence; bool system_entry, system_exit;
};
struct rl_place { uint32_t kernarg, packet; };
struct rl_lower {
    struct rl_lower_input input; const uint32_t *order; uint32_t dwords, levels, refused;
    bool flush_returns_early;
};
struct rl_edge { uint32_t from, to; };
const char *rl_lower_reason_text(int reason);
size_t rl_lower_work_words(const struct rl_lower_input *input);
bool rl_lower_needs_fence(const struct rl_lower_input *input);
int rl_lower_plan(struct rl_lower *lower, const struct rl_lower_input *input, uint32_t *work);
void rl_lower_emit(const struct rl_lower *lower, uint32_t *words, struct rl_place *places);
bool rl_levels(uint32_t nodes, const struct rl_edge *edges, uint32_t edge_count, const uint32_t *weight,
               uint32_t *level, uint32_t *work);
"""

REASONS = (
    *("OK", "EMPTY", "TOO_LARGE", "SCRATCH", "DYNAMIC_STACK", "KERNARG_PRELOAD", "PROPERTY", "DESCRIPTOR"),
    *("USER_SGPRS", "ENTRY", "WORKGROUP", "PARTIAL_WORKGROUP", "LDS", "KERNARG", "PACKET", "QUEUE"),
    *("FENCE", "INDEX"),
)

make_ffi: Any = FFI  # cffi is untyped
ffi: Any = make_ffi()
ffi.cdef(DECLARATIONS)


@functools.cache
def library() -> Any:
    """Built once a session, with the encoder's asserts."""
    folder = ROOT / "build" / "tests"
    folder.mkdir(parents=True, exist_ok=True)
    output = Path(tempfile.mkdtemp(prefix="lower-", dir=folder)) / "liblower.so"
    subprocess.run([CC, *RUNTIME_FLAGS, *map(str, SOURCES), "-o", str(output)], check=True, timeout=120)
    return ffi.dlopen(str(output))


def target(gfx: str) -> Any:
    found = library().rl_pm4_find_target(gfx.encode())
    assert found, gfx
    return found


@dataclass(frozen=True)
class Kernel:
    """What a kernel descriptor says; the defaults are those of a compiled kernel with one kernarg pointer."""

    entry: int = 0x7F10_0000_0000
    group_bytes: int = 0
    private_bytes: int = 0
    kernarg_bytes: int = 40
    rsrc1: int = 0x60AF_0040
    rsrc2: int = 0x84
    rsrc3: int = 0
    properties: int = 0x408
    preload: int = 0


@dataclass(frozen=True)
class Dispatch:
    """One dispatch; the addresses are those of blocks of the caller's."""

    kernel: int = 0
    level: int = 0
    grid: tuple[int, int, int] = (256, 1, 1)
    workgroup: tuple[int, int, int] = (64, 1, 1)
    lds_bytes: int = 0
    private_bytes: int = 0
    kernarg: int = 0x7F20_0000_0000
    packet: int = 0x7F30_0000_0000
    queue: int = 0x7F40_0000_0000
    dispatch_id: int = 0


class RefusedError(Exception):
    """Lowering refused; the reason's name and the dispatch that it is about."""

    def __init__(self, reason: str, dispatch: int) -> None:
        super().__init__(f"{reason} (dispatch {dispatch})")
        self.reason, self.dispatch = reason, dispatch


@dataclass(frozen=True)
class Buffer:
    """A lowered buffer with the input that it was made from."""

    gfx: str
    kernels: tuple[Kernel, ...]
    dispatches: tuple[Dispatch, ...]
    words: tuple[int, ...]
    places: tuple[tuple[int, int], ...]
    levels: int
    options: dict[str, Any] = field(default_factory=dict)

    def mutant(self, dword: int, bit: int) -> Buffer:
        words = list(self.words)
        words[dword] ^= 1 << bit
        return replace(self, words=tuple(words))


def kernel_structs(kernels: Sequence[Kernel]) -> Any:
    array = ffi.new("struct rl_kernel[]", len(kernels))
    for made, kernel in zip(array, kernels, strict=True):
        for name, value in vars(kernel).items():
            setattr(made, name, value)
    return array


def dispatch_structs(dispatches: Sequence[Dispatch]) -> Any:
    array = ffi.new("struct rl_dispatch[]", len(dispatches))
    for made, dispatch in zip(array, dispatches, strict=True):
        for name, value in vars(dispatch).items():
            setattr(made, name, value)
    return array


def lower(
    gfx: str,
    kernels: Sequence[Kernel],
    dispatches: Sequence[Dispatch],
    *,
    fence: int = FENCE,
    cp_feature_version: int = 0,
    **options: Any,
) -> Buffer:
    """The buffer; guard words around it and around the work memory must survive."""
    lib = library()
    kept = kernel_structs(kernels), dispatch_structs(dispatches)
    settings = {"fence": fence, "cp_feature_version": cp_feature_version, **options}
    given = ffi.new(
        "struct rl_lower_input *",
        {
            "target": target(gfx),
            "kernels": kept[0],
            "dispatches": kept[1],
            "kernel_count": len(kernels),
            "dispatch_count": len(dispatches),
            **settings,
        },
    )
    size = int(lib.rl_lower_work_words(given))
    work = ffi.new("uint32_t[]", [0xDEADBEEF] * (size + 1))
    plan = ffi.new("struct rl_lower *")
    reason = REASONS[lib.rl_lower_plan(plan, given, work)]
    assert work[size] == 0xDEADBEEF
    if reason != "OK":
        raise RefusedError(reason, plan.refused)
    words = ffi.new("uint32_t[]", [0xDEADBEEF] * (plan.dwords + 1))
    places = ffi.new("struct rl_place[]", len(dispatches))
    lib.rl_lower_emit(plan, words, places)
    assert words[plan.dwords] == 0xDEADBEEF
    return Buffer(
        gfx,
        tuple(kernels),
        tuple(dispatches),
        tuple(words[0 : plan.dwords]),
        tuple((place.kernarg, place.packet) for place in places),
        int(plan.levels),
        settings,
    )


def levels(
    nodes: int, edges: Sequence[tuple[int, int]], weight: Sequence[int] | None = None
) -> list[int] | None:
    """Level of each node, None when there is none."""
    level = ffi.new("uint32_t[]", max(nodes, 1))
    work = ffi.new("uint32_t[]", 3 * nodes + 1 + len(edges))
    pairs = ffi.new("struct rl_edge[]", [tuple(edge) for edge in edges])
    weights = ffi.NULL if weight is None else ffi.new("uint32_t[]", list(weight))
    if not library().rl_levels(nodes, pairs, len(edges), weights, level, work):
        return None
    return list(level[0:nodes])


def show(gfx: str, words: Sequence[int]) -> tuple[str, int]:
    """Decoded text and the number of findings."""
    array = ffi.new("uint32_t[]", list(words))
    findings = ffi.new("size_t *")
    size = int(library().rl_pm4_print(target(gfx), array, len(words), ffi.NULL, 0, findings))
    text = ffi.new("char[]", size + 1)
    assert int(library().rl_pm4_print(target(gfx), array, len(words), text, size + 1, findings)) == size
    return bytes(ffi.string(text)).decode(), int(findings[0])
