# SPDX-License-Identifier: Apache-2.0
"""Emitted buffers on the software GPU's strict PM4 executor, and mutants of them on validator and executor together."""

from __future__ import annotations

import functools
import struct
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cffi import FFI
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from . import expected, golden
from .library import CC, FLAGS, ROOT, TRUSTED_CP, Buffer, Dispatch, Kernel, lower
from .library import TARGETS as ALL_TARGETS
from .strategies import program
from .validator import validate

EXECUTOR = sorted((ROOT / "softgpu" / "pm4").glob("*.c"))
TARGETS = ("gfx1030", "gfx1100", "gfx1151", "gfx1201")
DESCRIPTORS, KERNARGS, PACKETS, FENCE = 0x1000, 0x20000, 0x28000, 0x30000
CODE, BUFFER, ARENA = 0x10000, 0x32000, 0x40000
CHAIN = [(0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (4, 5)]

make_ffi: Any = FFI  # cffi is untyped
ffi: Any = make_ffi()
ffi.cdef(
    """
    struct sg_pm4_dispatch {
        uint64_t entry, descriptor; uint32_t groups[3], workgroup[3], lds_bytes, wave_size, user_sgpr_count,
        user_sgpr[32]; uint64_t kernarg, dispatch_packet, dispatch_id;
    };
    struct run { struct sg_pm4_dispatch dispatch[64]; uint32_t epoch[64], count, epochs; };
    struct machine {
        uint8_t *arena; uint64_t base; uint32_t kernels, asked, pending; struct run run; char text[4096];
    };
    struct machine *machine_new(void);
    void machine_free(struct machine *);
    int machine_run(struct machine *, const char *gfx, uint32_t offset, uint32_t dwords);
    int machine_mutants(struct machine *, const char *gfx, uint32_t offset, uint32_t dwords, uint32_t fence,
                        uint8_t *outcomes);
    """
)


@functools.cache
def library() -> Any:
    folder = ROOT / "build" / "tests"
    folder.mkdir(parents=True, exist_ok=True)
    output = Path(tempfile.mkdtemp(prefix="executor-", dir=folder)) / "libexecutor.so"
    sources = [*EXECUTOR, Path(__file__).with_name("executor_machine.c")]
    command = [CC, *FLAGS, f"-I{ROOT / 'softgpu'}", *map(str, sources), "-o", str(output)]
    subprocess.run(command, check=True, timeout=120)
    return ffi.dlopen(str(output))


class Machine:
    """Memory with descriptors, argument blocks and packet copies at known places, and buffers that run there."""

    def __init__(self) -> None:
        self.raw = library().machine_new()
        self.base = int(self.raw.base)

    def put(self, offset: int, data: bytes) -> None:
        ffi.memmove(self.raw.arena + offset, data, len(data))

    def load(self, gfx: str, kernels: list[Kernel], dispatches: list[Dispatch], **options: Any) -> Buffer:
        """Lowers the dispatches with addresses of this memory and writes all that the buffer names."""
        placed = [replace(k, entry=self.base + CODE + 256 * i) for i, k in enumerate(kernels)]
        moved = [
            replace(
                dispatch,
                kernarg=self.base + KERNARGS + 0x100 * index,
                packet=self.base + PACKETS + 64 * index,
                queue=self.base + FENCE + 64,
            )
            for index, dispatch in enumerate(dispatches)
        ]
        self.raw.kernels = len(placed)
        for index, kernel in enumerate(placed):
            self.put(
                DESCRIPTORS + 64 * index,
                struct.pack(
                    "<IIIIq20xIIIHH4x",
                    *(kernel.group_bytes, 0, kernel.kernarg_bytes, 0),
                    kernel.entry - (self.base + DESCRIPTORS + 64 * index),
                    *(kernel.rsrc3, kernel.rsrc1, kernel.rsrc2, kernel.properties, 0),
                ),
            )
        for index, dispatch in enumerate(moved):
            descriptor = self.base + DESCRIPTORS + 64 * dispatch.kernel
            head = struct.pack("<HHHHHH", 2, 3, *dispatch.workgroup, 0)
            sizes = struct.pack("<IIIII", *dispatch.grid, 0, dispatch.lds_bytes)
            self.put(
                PACKETS + 64 * index, head + sizes + struct.pack("<QQQQ", descriptor, dispatch.kernarg, 0, 0)
            )
        buffer = lower(gfx, placed, moved, fence=self.base + FENCE, **options)
        self.put(FENCE, struct.pack("<I", len(moved)))  # what a replay before this one could have left
        self.put(BUFFER, struct.pack(f"<{len(buffer.words)}I", *buffer.words))
        return buffer

    def run(self, buffer: Buffer) -> str:
        """Empty, or what the executor reports."""
        failed = library().machine_run(self.raw, buffer.gfx.encode(), BUFFER, len(buffer.words))
        return bytes(ffi.string(self.raw.text)).decode() if failed else ""

    def started(self) -> list[tuple[Any, int]]:
        run = self.raw.run
        return [(run.dispatch[index], int(run.epoch[index])) for index in range(run.count)]


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    made = Machine()
    yield made
    library().machine_free(made.raw)


def check_started(machine: Machine, buffer: Buffer, edges: list[tuple[int, int]]) -> None:
    """Each dispatch was started once, with its own geometry and addresses, behind what it depends on."""
    epochs: dict[int, int] = {}
    for started, epoch in machine.started():
        matching = [
            index
            for index, dispatch in enumerate(buffer.dispatches)
            if index not in epochs
            and list(started.user_sgpr)[: len(expected.user_data(buffer.kernels[dispatch.kernel], dispatch))]
            == expected.user_data(buffer.kernels[dispatch.kernel], dispatch)
            and started.entry == buffer.kernels[dispatch.kernel].entry
            and tuple(started.groups) == expected.groups(dispatch)
            and tuple(started.workgroup) == dispatch.workgroup
            and started.lds_bytes == -(-dispatch.lds_bytes // 512) * 512
            and started.wave_size == (32 if buffer.kernels[dispatch.kernel].properties & 1 << 10 else 64)
        ]
        assert matching, "a dispatch that the graph does not have"
        epochs[min(matching, key=lambda index: buffer.dispatches[index].level)] = epoch
    assert len(epochs) == len(buffer.dispatches)
    assert all(epochs[before] < epochs[after] for before, after in edges)


@pytest.mark.parametrize("gfx", TARGETS)
@pytest.mark.parametrize("version", [0, TRUSTED_CP])
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_buffers_of_random_graphs_run(gfx: str, version: int, machine: Machine, data: st.DataObject) -> None:
    kernels, dispatches, edges = data.draw(program(gfx))
    buffer = machine.load(gfx, kernels, dispatches, cp_feature_version=version)
    assert machine.run(buffer) == ""
    check_started(machine, buffer, edges)


@pytest.mark.parametrize("gfx", ALL_TARGETS)
@pytest.mark.parametrize("version", [0, TRUSTED_CP])
def test_the_buffers_of_each_target_run(gfx: str, version: int, machine: Machine) -> None:
    made = golden.program(gfx, version)
    buffer = machine.load(gfx, list(made.kernels), list(made.dispatches), cp_feature_version=version)
    assert machine.run(buffer) == ""
    check_started(machine, buffer, CHAIN)


@pytest.mark.parametrize("gfx", TARGETS)
def test_at_least_95_of_100_mutants_are_caught(gfx: str, machine: Machine) -> None:
    made = golden.program(gfx, 0)
    buffer = machine.load(gfx, list(made.kernels), list(made.dispatches))
    assert machine.run(buffer) == ""
    outcomes = ffi.new("uint8_t[]", 32 * len(buffer.words))
    assert (
        library().machine_mutants(machine.raw, gfx.encode(), BUFFER, len(buffer.words), FENCE, outcomes) == 0
    )
    unseen = [index for index, outcome in enumerate(outcomes) if outcome == 0]
    missed = [index for index in unseen if not validate(buffer.mutant(index // 32, index % 32), CHAIN)]
    print(f"{gfx}: {len(outcomes)} mutants, executor missed {len(unseen)}, both missed {len(missed)}")
    assert len(missed) <= len(outcomes) // 20
