# SPDX-License-Identifier: Apache-2.0
"""Builds the PM4 executor with the test machine (pm4_machine.c), and encodes buffers by an encoder of its own.

The encoder knows register offsets and packet layouts as plain numbers: it shares nothing with the executor's generated
tables, so a mistake in one shows against the other.
"""

from __future__ import annotations

import functools
import hashlib
import struct
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from cffi import FFI

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [*sorted((ROOT / "softgpu/pm4").glob("*.c")), Path(__file__).with_name("pm4_machine.c")]
DONE, BLOCKED, FAILED = range(3)
SAME, DIFFERS, WARNED, REPORTED, HANGS = range(5)

DECLARATIONS = """
struct sg_pm4_queue;
struct sg_pm4_dispatch {
    uint64_t entry, descriptor; uint32_t groups[3], workgroup[3], lds_bytes, wave_size, user_sgpr_count, user_sgpr[32];
    uint64_t kernarg, dispatch_packet, dispatch_id;
};
struct machine {
    uint8_t *arena; uint64_t base; uint32_t read_only; int delay, asked;
    struct sg_pm4_dispatch pending[64], last;
    unsigned pending_count, dispatched, faults, interrupts, warnings;
    uint32_t interrupt; uint64_t clock; const char *refuse; bool fixed; char text[65536];
};
struct machine *machine_new(bool fixed);
void machine_free(struct machine *);
struct sg_pm4_queue *machine_queue(struct machine *, const char *gfx);
int machine_steps(struct sg_pm4_queue *, unsigned patience);
void machine_run_waves(struct machine *);
int machine_mutate(struct machine *, const char *gfx, uint32_t buffer, uint32_t dwords, uint32_t mutated,
                   uint32_t count, uint8_t *outcomes);
void machine_name_bit(const char *gfx, const uint32_t *words, uint32_t dwords, uint32_t dword, unsigned bit,
                      char *text, size_t size);
void sg_pm4_queue_free(struct sg_pm4_queue *);
int sg_pm4_start(struct sg_pm4_queue *, uint64_t buffer, uint32_t dwords);
int sg_pm4_step(struct sg_pm4_queue *);
const char *sg_pm4_report(const struct sg_pm4_queue *);
void sg_pm4_set_strict(struct sg_pm4_queue *, bool strict);
void sg_pm4_aql_dispatched(struct sg_pm4_queue *);
int sg_pm4_left_behind(const struct sg_pm4_queue *, char *text, size_t size);
size_t sg_pm4_print(const char *gfx, const uint32_t *words, uint32_t dwords, char *text, size_t size);
"""

make_ffi: Any = FFI  # cffi is untyped
ffi: Any = make_ffi()
ffi.cdef(DECLARATIONS)


@functools.cache
def library() -> Any:
    """The executor and the test machine as a shared library; built once for each state of the sources."""
    sources = [*SOURCES, *sorted((ROOT / "softgpu/pm4").glob("*.h"))]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:16]
    folder = ROOT / "build" / "tests"
    output = folder / f"pm4-{digest}.so"
    if not output.exists():
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob("pm4-*.so"):
            old.unlink(missing_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            built = Path(scratch) / output.name
            flags = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared"]
            command = ["gcc", *flags, f"-I{ROOT / 'softgpu'}", *map(str, SOURCES), "-o", str(built)]
            subprocess.run(command, check=True, timeout=120)
            built.replace(output)
    return ffi.dlopen(str(output))


# Places in the memory of the machine.
DESCRIPTORS, CODE, KERNARGS, PACKETS = 0x1000, 0x2000, 0x3000, 0x3800
DATA, FENCES, INNER, BUFFER = 0x4000, 0x6000, 0x8000, 0xA000
ACCUMULATE, REVERSE, COUNT = range(3)
AWAITED = 0xFFFFFFFF

TARGETS = ("gfx1030", "gfx1100", "gfx1151", "gfx1201")
PRIV = {"gfx1100": 1 << 20}
WAVE32 = 1 << 10


def low(value: int) -> int:
    return value & 0xFFFFFFFF


def high(value: int) -> int:
    return value >> 32


def packet(opcode: int, *body: int, compute: bool = False) -> list[int]:
    return [3 << 30 | (len(body) - 1) << 16 | opcode << 8 | compute << 1, *body]


def set_sh(offset: int, *values: int) -> list[int]:
    return packet(0x76, offset, *values, compute=True)


def nop(*body: int) -> list[int]:
    return packet(0x10, *body) if body else [0xFFFF1000]


def flush() -> list[int]:
    return packet(0x46, 7 | 4 << 8)


def acquire(gcr: int, size: int = 0xFFFFFFFFFF, base: int = 0, poll: int = 10) -> list[int]:
    return packet(0x58, 0, low(size), high(size), low(base), high(base), poll, gcr)


def agent_gcr(gfx: str) -> int:
    """K$ and vector L0 invalidated, and L1 where there is one."""
    return 0x180 if gfx.startswith("gfx12") else 0x380


def system_gcr(gfx: str) -> int:
    return 0xC1C1 if gfx.startswith("gfx12") else 0xC3C1


def release(
    address: int,
    data: int,
    *,
    select: int = 2,
    interrupt: int = 0,
    event: int = 0x28,
    index: int = 5,
    gcr: int = 1 << 21,
    context: int = 0,
) -> list[int]:
    control = event | index << 8 | gcr
    return packet(
        0x49,
        control,
        select << 29 | interrupt << 24,
        low(address),
        high(address),
        low(data),
        high(data),
        context,
    )


def wait(
    address: int, reference: int, *, function: int = 3, mask: int = 0xFFFFFFFF, poll: int = 4
) -> list[int]:
    return packet(0x3C, function | 1 << 4, low(address), high(address), reference, mask, poll)


def write(address: int, *data: int, control: int = 5 << 8 | 1 << 20) -> list[int]:
    return packet(0x37, control, low(address), high(address), *data)


def copy(source: int, address: int, control: int = 2 | 2 << 8 | 1 << 16 | 1 << 20) -> list[int]:
    return packet(0x40, control, low(source), high(source), low(address), high(address))


def dma(source: int, address: int, size: int, control: int = 3 << 20 | 3 << 29 | 1 << 31) -> list[int]:
    return packet(0x50, control, low(source), high(source), low(address), high(address), size)


def indirect(address: int, dwords: int, flags: int = 1 << 23) -> list[int]:
    return packet(0x3F, low(address), high(address), dwords | flags)


def direct(groups: Sequence[int], initiator: int) -> list[int]:
    return packet(0x15, *groups, initiator, compute=True)


class Kernel(NamedTuple):
    """Kernel descriptor as the compiler writes it: LDS_SIZE and TRAP_PRESENT are left to whoever launches."""

    group: int = 0
    private: int = 0
    kernarg: int = 40
    rsrc1: int = 0x60AF0041
    rsrc2: int = 0x00000384
    rsrc3: int = 0
    properties: int = 0x408
    preload: int = 0


def kernel_of(gfx: str, index: int) -> Kernel:
    """The test kernels: REVERSE has LDS, COUNT three ids and wave64; gfx1030 has those of code object v4."""
    group = 256 if index == REVERSE else 0
    rsrc2 = 0x1384 if index == COUNT else 0x384
    rsrc3 = 1 + index if gfx.startswith("gfx10") else (3 + index) << 4
    properties = 0x008 if index == COUNT else 0x408
    kernarg = (40, 24, 16)[index]
    if gfx.startswith("gfx10"):
        properties |= 3
        rsrc2 = rsrc2 & ~0x3E | 8 << 1
    return Kernel(group=group, rsrc2=rsrc2, rsrc3=rsrc3, properties=properties, kernarg=kernarg)


class Machine:
    """One machine with the test kernels of a target loaded, and a queue."""

    def __init__(self, gfx: str, delay: int = 3, strict: bool = False, fixed: bool = False) -> None:
        self.gfx = gfx
        self.lib = library()
        self.raw = self.lib.machine_new(fixed)
        self.raw.delay = delay
        self.base = int(self.raw.base)
        self.packets = 0
        self.kernels = [kernel_of(gfx, index) for index in (ACCUMULATE, REVERSE, COUNT)]
        self.queue = self.lib.machine_queue(self.raw, gfx.encode())
        assert self.queue
        self.lib.sg_pm4_set_strict(self.queue, strict)
        for index, kernel in enumerate(self.kernels):
            self.load(index, kernel)
        self.fill()

    def close(self) -> None:
        self.lib.sg_pm4_queue_free(self.queue)
        self.lib.machine_free(self.raw)

    def __enter__(self) -> Machine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def put(self, offset: int, data: bytes) -> None:
        ffi.memmove(self.raw.arena + offset, data, len(data))

    def get(self, offset: int, size: int) -> bytes:
        return bytes(ffi.buffer(self.raw.arena + offset, size))

    def words(self, offset: int, count: int) -> list[int]:
        return list(struct.unpack(f"<{count}I", self.get(offset, 4 * count)))

    def entry(self, index: int) -> int:
        return self.base + CODE + 256 * index

    def load(self, index: int, kernel: Kernel) -> None:
        descriptor = DESCRIPTORS + 64 * index
        self.kernels[index] = kernel
        self.put(
            descriptor,
            struct.pack(
                "<IIIIq20xIIIHH4x",
                kernel.group,
                kernel.private,
                kernel.kernarg,
                0,
                CODE + 256 * index - descriptor,
                kernel.rsrc3,
                kernel.rsrc1,
                kernel.rsrc2,
                kernel.properties,
                kernel.preload,
            ),
        )

    def fill(self) -> None:
        """Arrays out, a, b, a cube, counters; one kernarg block for each kernel."""
        at = self.base + DATA
        # A write that goes astray must show: no memory is 0, and the fence holds what is waited for.
        self.put(DATA + 0x400, bytes([0xA5]) * (BUFFER - DATA - 0x400))
        self.put(FENCES, struct.pack("<II", AWAITED, 0xA5A5A5A5))
        self.put(DATA, struct.pack("<64I", *range(64)))
        self.put(DATA + 0x100, struct.pack("<64I", *range(7, 71)))
        self.put(DATA + 0x200, struct.pack("<64I", *range(100, 164)))
        self.put(DATA + 0x300, bytes(range(1, 65)) * 4)
        counters = at + 0x800
        self.put(KERNARGS, struct.pack("<QQQQII", at, at + 0x100, at + 0x200, counters, 60, 0))
        self.put(KERNARGS + 0x100, struct.pack("<QQII", at, counters + 8, 64, 0))
        self.put(KERNARGS + 0x200, struct.pack("<QQ", at + 0x300, counters + 16))

    def aql_packet(self, index: int, workgroup: Sequence[int], groups: Sequence[int]) -> int:
        """Address of an AQL dispatch packet for a kernel that reads its dispatch pointer."""
        offset = PACKETS + 64 * self.packets
        self.packets += 1
        grid = [count * size for count, size in zip(groups, workgroup, strict=True)]
        self.put(
            offset,
            struct.pack(
                "<HHHHHHIIIIIQQQQ",
                2,
                3,
                *workgroup,
                0,
                *grid,
                0,
                self.kernels[index].group,
                self.base + DESCRIPTORS + 64 * index,
                self.kernarg(index),
                0,
                0,
            ),
        )
        return self.base + offset

    def kernarg(self, index: int) -> int:
        return self.base + KERNARGS + 0x100 * index

    def registers(
        self, index: int, workgroup: Sequence[int], groups: Sequence[int], lds: int | None = None
    ) -> list[int]:
        """Everything that a dispatch of this kernel reads."""
        kernel = self.kernels[index]
        granules = ((kernel.group if lds is None else lds) + 511) // 512
        rsrc2 = kernel.rsrc2 | granules << 15 | (0 if self.gfx.startswith("gfx12") else 1 << 6)
        user: list[int] = []
        if kernel.properties & 1:
            user += [0, 0, 0, 0]
        if kernel.properties & 2:
            address = self.aql_packet(index, workgroup, groups)
            user += [low(address), high(address)]
        user += [low(self.kernarg(index)), high(self.kernarg(index))]
        entry = self.entry(index) >> 8
        return [
            *set_sh(0x20C, low(entry), high(entry)),
            *set_sh(0x212, kernel.rsrc1 | PRIV.get(self.gfx, 0), rsrc2),
            *set_sh(0x228, kernel.rsrc3),
            *set_sh(0x207, *workgroup),
            *set_sh(0x240, *user),
        ]

    def initiator(self, index: int, threads: bool = False, force_start: bool = True) -> int:
        wave32 = self.kernels[index].properties & WAVE32
        return 1 | force_start << 2 | threads << 5 | (1 << 15 if wave32 else 0)

    def dispatch(
        self,
        index: int,
        workgroup: Sequence[int] = (32, 1, 1),
        groups: Sequence[int] = (2, 1, 1),
        *,
        threads: bool = False,
        force_start: bool = True,
    ) -> list[int]:
        dims = [count * size for count, size in zip(groups, workgroup, strict=True)] if threads else groups
        initiator = self.initiator(index, threads, force_start)
        return [*self.registers(index, workgroup, groups), *direct(dims, initiator)]

    def entry_acquire(self) -> list[int]:
        return acquire(system_gcr(self.gfx))

    def boundary(self) -> list[int]:
        return [*flush(), *acquire(agent_gcr(self.gfx))]

    def start(self, words: Sequence[int], offset: int = BUFFER) -> int:
        self.put(offset, struct.pack(f"<{len(words)}I", *words))
        return int(self.lib.sg_pm4_start(self.queue, self.base + offset, len(words)))

    def step(self) -> int:
        return int(self.lib.sg_pm4_step(self.queue))

    def run(self, words: Sequence[int], patience: int = 64) -> int:
        """Executes a buffer to its end; waves that it does not wait for stay pending."""
        assert self.start(words) == 0, self.report()
        return int(self.lib.machine_steps(self.queue, patience))

    def report(self) -> str:
        return bytes(ffi.string(self.lib.sg_pm4_report(self.queue))).decode()

    def warnings(self) -> str:
        return bytes(ffi.string(self.raw.text)).decode()

    def left_behind(self) -> tuple[int, str]:
        text = ffi.new("char[]", 4096)
        count = int(self.lib.sg_pm4_left_behind(self.queue, text, 4096))
        return count, bytes(ffi.string(text)).decode()


def show(gfx: str, words: Sequence[int]) -> str:
    """Decoded text of a buffer."""
    array = ffi.new("uint32_t[]", list(words))
    size = int(library().sg_pm4_print(gfx.encode(), array, len(words), ffi.NULL, 0))
    text = ffi.new("char[]", size + 1)
    assert int(library().sg_pm4_print(gfx.encode(), array, len(words), text, size + 1)) == size
    return bytes(ffi.string(text)).decode()


def full_buffer(machine: Machine) -> tuple[list[int], list[int]]:
    """A buffer that uses every packet, and the inner buffer that it calls."""
    fence, data = machine.base + FENCES, machine.base + DATA
    inner = [*machine.dispatch(COUNT, (2, 2, 1), (2, 2, 4), threads=True), *machine.boundary()]
    outer = [
        *machine.entry_acquire(),
        *set_sh(0x204, 0, 0, 0),
        *set_sh(0x21B, 0, 0, 0),
        *machine.dispatch(ACCUMULATE),
        *machine.boundary(),
        *machine.dispatch(REVERSE, (16, 1, 1), (4, 1, 1), force_start=False),
        *write(fence, 0, 0x12345678),
        *release(fence, AWAITED, select=1),
        *wait(fence, AWAITED),
        *acquire(agent_gcr(machine.gfx)),
        *dma(data + 0x100, data + 0x900, 64),
        *copy(data + 0x208, data + 0xA00),
        *indirect(machine.base + INNER, len(inner)),
        *nop(0),
        *machine.dispatch(ACCUMULATE, (16, 1, 1), (3, 1, 1)),
        *flush(),
        *acquire(system_gcr(machine.gfx)),
    ]
    machine.put(INNER, struct.pack(f"<{len(inner)}I", *inner))
    return outer, inner
