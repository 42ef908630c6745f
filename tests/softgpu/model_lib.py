# SPDX-License-Identifier: Apache-2.0
"""The model library without ROCr: its function table, rings in plain memory, signals, kernels by name.

Everything is driven through the same table that libhsakmt uses. Kernels are native twins of HIP's own: one writes
a word, the other runs until a word has a value, so that order can be tested without any clock.
"""

from __future__ import annotations

import ctypes
import functools
import mmap
import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from ctypes import POINTER, c_char_p, c_int64, c_uint32, c_uint64, c_void_p
from pathlib import Path

from softgpu.topology import TARGETS, write

ROOT = Path(__file__).resolve().parents[2]
MODEL = ROOT / "build" / "softgpu" / "libsoftgpu.so"
PAGE = 4096
SECONDS = 20.0

INVALID, DISPATCH, BARRIER_AND, AGENT, BARRIER_OR = 1, 2, 3, 4, 5
VENDOR = 0
BARRIER_BIT = 1 << 8
PM4_IB, BARRIER_VALUE = 1, 2
EQ, NE, LT, GTE = range(4)

KFD_SDMA, KFD_AQL = 1, 2
WRITABLE = 1 << 31

WAIT, WRITE = "__amd_rocclr_streamOpsWait", "__amd_rocclr_streamOpsWrite"


class Functions(ctypes.Structure):
    _fields_ = [
        ("version_major", c_uint32),
        ("version_minor", c_uint32),
        ("create", ctypes.CFUNCTYPE(c_void_p)),
        ("destroy", ctypes.CFUNCTYPE(None, c_void_p)),
        ("set_global_aperture", ctypes.CFUNCTYPE(None, c_void_p, c_void_p, c_uint64)),
        ("alloced_memory", ctypes.CFUNCTYPE(None, c_void_p, c_void_p, c_uint64, c_uint32)),
        ("freed_memory", ctypes.CFUNCTYPE(None, c_void_p, c_void_p, c_uint64)),
        ("set_notify_event", c_void_p),
        ("set_wait_event", c_void_p),
        ("register_queue", ctypes.CFUNCTYPE(c_void_p, c_void_p, c_void_p)),
        ("set_set_event", ctypes.CFUNCTYPE(None, c_void_p, c_void_p, c_void_p)),
        ("destroy_queue", ctypes.CFUNCTYPE(None, c_void_p, c_void_p)),
    ]


class QueueInfo(ctypes.Structure):
    _fields_ = [
        ("ring", c_uint64),
        ("write_pointer", c_uint64),
        ("read_pointer", c_uint64),
        ("doorbell", c_void_p),
        ("ring_bytes", c_uint32),
        ("type", c_uint32),
    ]


def until(condition: Callable[[], bool], what: str) -> None:
    """Wait for another thread's effect; the limit only turns a hang into a failure."""
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end, f"{what} did not happen"
        time.sleep(0.0005)


@functools.cache
def libraries() -> tuple[ctypes.CDLL, Functions, int]:
    """The stand-in host, the model's function table and its one GPU; the environment's options are read here."""
    folder = Path(tempfile.mkdtemp(prefix="softgpu-test-"))
    host = folder / "host.so"
    source = Path(__file__).with_name("model_host.c")
    subprocess.run(["cc", "-std=gnu11", "-shared", "-fPIC", "-o", str(host), str(source)], check=True)
    os.environ["HSA_MODEL_TOPOLOGY"] = str(write(folder / "topology", TARGETS["gfx1100"]))
    os.environ["SOFTGPU_TRACE"] = str(folder / "trace.json")
    for kind in ("KERNEL", "COPY", "WAVE"):
        os.environ[f"SOFTGPU_DELAY_{kind}_US"] = "0:300"
    host_library = ctypes.CDLL(str(host), ctypes.RTLD_GLOBAL)
    host_library.host_add_kernel.argtypes = [c_char_p, c_uint64, c_uint32]
    model = ctypes.CDLL(str(MODEL))
    model.get_hsakmt_model_functions.restype = POINTER(Functions)
    table = model.get_hsakmt_model_functions().contents
    assert (table.version_major, table.version_minor) == (0, 4)
    model_handle = table.create()
    table.set_global_aperture(model_handle, None, 1 << 47)
    return host_library, table, model_handle


class Memory:
    """Pages that the model is told about; GPU address and host address are the same."""

    def __init__(self, gpu: Gpu, pages: int = 1) -> None:
        self.gpu = gpu
        self.size = pages * PAGE
        self.map = mmap.mmap(-1, self.size)
        self.anchor = ctypes.c_char.from_buffer(self.map)
        self.address = ctypes.addressof(self.anchor)
        gpu.memories.append(self)
        gpu.table.alloced_memory(gpu.model, self.address, self.size, WRITABLE)

    def word(self, offset: int = 0) -> c_uint32:
        return c_uint32.from_address(self.address + offset)

    def wide(self, offset: int = 0) -> c_uint64:
        return c_uint64.from_address(self.address + offset)

    def free(self) -> None:
        """What libhsakmt does: report, and take the pages away."""
        self.gpu.table.freed_memory(self.gpu.model, self.address, self.size)
        libc = ctypes.CDLL(None)
        libc.mprotect(c_void_p(self.address), ctypes.c_size_t(self.size), 0)


class Signal:
    """amd_signal_t without an event."""

    def __init__(self, gpu: Gpu, value: int = 1) -> None:
        self.memory = Memory(gpu)
        self.memory.wide().value = 1
        self.handle = self.memory.address
        self.value = value

    @property
    def value(self) -> int:
        return c_int64.from_address(self.handle + 8).value

    @value.setter
    def value(self, value: int) -> None:
        c_int64.from_address(self.handle + 8).value = value

    def times(self) -> tuple[int, int]:
        return self.memory.wide(32).value, self.memory.wide(40).value

    def wait(self) -> None:
        until(lambda: self.value <= 0, "completion")


class Queue:
    """An AQL queue with its amd_queue_t; `doorbell` False leaves it out, and the ring is then polled."""

    def __init__(self, gpu: Gpu, slots: int = 64, doorbell: bool = True) -> None:
        self.gpu = gpu
        self.slots = slots
        self.hsa = Memory(gpu)
        self.ring = Memory(gpu, -(-slots * 64 // PAGE))
        self.bell = Memory(gpu)
        self.inactive = Signal(gpu, 0)
        self.hsa.wide(192).value = self.inactive.handle
        if doorbell:
            signal = Signal(gpu)
            signal.memory.wide().value = (1 << 64) - 1
            signal.memory.wide(8).value = self.bell.address
            self.hsa.wide(16).value = signal.handle
        for slot in range(slots):
            self.ring.word(slot * 64).value = INVALID
        base = self.hsa.address
        info = QueueInfo(self.ring.address, base + 56, base + 128, None, slots * 64, KFD_AQL)
        self.handle = gpu.table.register_queue(gpu.model, ctypes.byref(info))
        gpu.queues.append(self)
        self.next = 0

    @property
    def read_index(self) -> int:
        return self.hsa.wide(128).value

    def reserve(self) -> int:
        index = self.next
        self.next += 1
        self.hsa.wide(56).value = self.next
        return index

    def publish(self, index: int, body: bytes, ring: bool = True) -> None:
        """Write the body, then the header with its type, then ring the doorbell."""
        assert len(body) == 64
        at = self.ring.address + index % self.slots * 64
        ctypes.memmove(at + 4, body[4:], 60)
        c_uint32.from_address(at).value = int.from_bytes(body[:4], "little")
        if ring:
            self.ring_doorbell(index)

    def ring_doorbell(self, index: int) -> None:
        self.bell.wide().value = index

    def push(self, body: bytes) -> int:
        index = self.reserve()
        self.publish(index, body)
        return index

    def destroy(self) -> None:
        self.gpu.table.destroy_queue(self.gpu.model, self.handle)
        self.gpu.queues.remove(self)


class CopyQueue:
    """A copy engine's queue; packets are lists of dwords."""

    def __init__(self, gpu: Gpu) -> None:
        self.gpu = gpu
        self.ring = Memory(gpu, 4)
        self.pointers = Memory(gpu)
        base = self.pointers.address
        info = QueueInfo(self.ring.address, base, base + 64, None, self.ring.size, KFD_SDMA)
        self.handle = gpu.table.register_queue(gpu.model, ctypes.byref(info))
        gpu.queues.append(self)

    def push(self, *packets: list[int]) -> None:
        at = self.pointers.wide().value
        for packet in packets:
            for word in packet:
                self.ring.word(at % self.ring.size).value = word
                at += 4
        self.pointers.wide().value = at

    def drain(self) -> None:
        until(lambda: self.pointers.wide(64).value == self.pointers.wide().value, "the end of the copy queue")

    def destroy(self) -> None:
        self.gpu.table.destroy_queue(self.gpu.model, self.handle)
        self.gpu.queues.remove(self)


class Gpu:
    """The modelled GPU and what one test puts on it; `close` destroys the queues."""

    def __init__(self) -> None:
        self.host, self.table, self.model = libraries()
        self.queues: list[Queue | CopyQueue] = []
        # Alive as long as a queue may touch it.
        self.memories: list[Memory] = []

    def close(self) -> None:
        for queue in list(self.queues):
            queue.destroy()
        for memory in self.memories:
            self.table.freed_memory(self.model, memory.address, memory.size)
        self.host.host_forget_kernels()
        self.memories.clear()

    def kernel(self, name: str, kernarg_bytes: int, lds: int = 0, scratch: int = 0) -> int:
        """A kernel descriptor in GPU memory, known to the loader by `name`."""
        memory = Memory(self)
        memory.word(0).value = lds
        memory.word(4).value = scratch
        memory.word(8).value = kernarg_bytes
        memory.wide(16).value = 256
        memory.word(56).value = 1 << 10 | 1 << 3
        self.host.host_add_kernel(name.encode(), memory.address, kernarg_bytes)
        return memory.address


def low_high(value: int) -> list[int]:
    return [value & 0xFFFFFFFF, value >> 32 & 0xFFFFFFFF]


def pack(*fields: tuple[int, int]) -> bytes:
    """64 bytes from (value, size) pairs, padded with zeros."""
    out = b"".join((value % (1 << 8 * size)).to_bytes(size, "little") for value, size in fields)
    return out.ljust(64, b"\0")


def dispatch(
    kernel: int,
    kernarg: int,
    grid: tuple[int, int, int] = (1, 1, 1),
    workgroup: tuple[int, int, int] = (1, 1, 1),
    completion: int = 0,
    header: int = 0,
    lds: int = 0,
    scratch: int = 0,
    setup: int = 3,
) -> bytes:
    return pack(
        (DISPATCH | header, 2),
        (setup, 2),
        *((size, 2) for size in workgroup),
        (0, 2),
        *((size, 4) for size in grid),
        (scratch, 4),
        (lds, 4),
        (kernel, 8),
        (kernarg, 8),
        (0, 8),
        (completion, 8),
    )


def barrier(kind: int, dependencies: list[int], completion: int = 0, header: int = 0) -> bytes:
    padded = [*dependencies, 0, 0, 0, 0, 0][:5]
    return pack((kind | header, 2), (0, 6), *((handle, 8) for handle in padded), (0, 8), (completion, 8))


def barrier_value(
    signal: int, value: int, condition: int, mask: int = -1, completion: int = 0, header: int = 0
) -> bytes:
    return pack(
        (VENDOR | header, 2),
        (BARRIER_VALUE, 1),
        (0, 5),
        (signal, 8),
        (value, 8),
        (mask, 8),
        (condition, 4),
        (0, 4),
        (0, 16),
        (completion, 8),
    )


def pm4(address: int, dwords: int, completion: int = 0, header: int = 0) -> bytes:
    jump = [0xC0023F00, *low_high(address), dwords | 1 << 23]
    return pack(
        (VENDOR | header, 2),
        (PM4_IB, 1),
        (0, 1),
        *((word, 4) for word in jump),
        (10, 4),
        (0, 32),
        (completion, 8),
    )


class Waiter:
    """A kernel that runs until `release` is called: HIP's own wait kernel on a word of memory."""

    def __init__(self, gpu: Gpu) -> None:
        self.kernel = gpu.kernel(WAIT, 40)
        self.flag = Memory(gpu)
        self.kernarg = Memory(gpu)
        for offset, value in enumerate([self.flag.address, 0, 1, 1, 0xFFFFFFFF]):
            self.kernarg.wide(8 * offset).value = value

    def packet(self, completion: int = 0, header: int = 0) -> bytes:
        return dispatch(self.kernel, self.kernarg.address, completion=completion, header=header)

    def release(self) -> None:
        self.flag.word().value = 1


class Writer:
    """A kernel that stores `value` to a word of memory."""

    def __init__(self, gpu: Gpu, value: int = 7, target: Memory | None = None) -> None:
        self.kernel = gpu.kernel(WRITE, 24)
        self.target = target or Memory(gpu)
        self.kernarg = Memory(gpu)
        for offset, word in enumerate([self.target.address, 0, value]):
            self.kernarg.wide(8 * offset).value = word

    def packet(self, completion: int = 0, header: int = 0) -> bytes:
        return dispatch(self.kernel, self.kernarg.address, completion=completion, header=header)
