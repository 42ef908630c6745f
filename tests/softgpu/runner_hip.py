# SPDX-License-Identifier: Apache-2.0
"""HIP through ctypes, run by the tests of softgpu/run: `python3 runner_hip.py CHECK [ARGUMENT]`, prints `ok CHECK`."""

from __future__ import annotations

import ctypes
import faulthandler
import os
import signal
import struct
import sys
from collections.abc import Callable
from ctypes import byref, c_float, c_int, c_int64, c_size_t, c_uint, c_uint64, c_void_p
from pathlib import Path
from typing import Any

HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE = 1, 2, 3
SIZES, LARGE = [1, 100, 4096, 70001, 5 << 20], 33 << 20

hip: Any = ctypes.CDLL("libamdhip64.so.7")


def call(name: str, *arguments: Any) -> None:
    status = getattr(hip, name)(*arguments)
    if status:
        raise SystemExit(f"{name} returned {status}")


def device(size: int) -> c_void_p:
    pointer = c_void_p()
    call("hipMalloc", byref(pointer), c_size_t(size))
    return pointer


def stream() -> c_void_p:
    out = c_void_p()
    call("hipStreamCreate", byref(out))
    return out


def pattern(size: int, seed: int = 1) -> bytes:
    return bytes((i * seed + (i >> 8)) & 0xFF for i in range(min(size, 65537))) * (size // 65537 + 1)


def same(got: Any, want: bytes, what: str) -> None:
    if bytes(got) != want:
        raise SystemExit(f"{what}: wrong bytes")


def copies(large: str = "") -> None:
    """Synchronous and asynchronous, pageable and pinned, all ways, sizes on both sides of HIP's staging limits."""
    queue = stream()
    for size in [*SIZES, LARGE] if large else SIZES:
        want = pattern(size)[:size]
        source, target = ctypes.create_string_buffer(want, size), ctypes.create_string_buffer(size)
        a, b = device(size), device(size)
        call("hipMemcpy", a, source, c_size_t(size), HOST_TO_DEVICE)
        call("hipMemcpy", b, a, c_size_t(size), DEVICE_TO_DEVICE)
        call("hipMemcpy", target, b, c_size_t(size), DEVICE_TO_HOST)
        same(target, want, f"pageable copy of {size}")
        pinned = c_void_p()
        call("hipHostMalloc", byref(pinned), c_size_t(size), 0)
        call("hipMemsetAsync", b, 0x5A, c_size_t(size), queue)
        call("hipMemcpyAsync", pinned, b, c_size_t(size), DEVICE_TO_HOST, queue)
        call("hipStreamSynchronize", queue)
        same((ctypes.c_char * size).from_address(pinned.value or 0), b"\x5a" * size, f"memset of {size}")
        ctypes.memmove(pinned, want, size)
        call("hipMemcpyAsync", b, pinned, c_size_t(size), HOST_TO_DEVICE, queue)
        call("hipMemcpyAsync", target, b, c_size_t(size), DEVICE_TO_HOST, queue)
        call("hipStreamSynchronize", queue)
        same(target, want, f"asynchronous copy of {size}")
        for pointer in (a, b):
            call("hipFree", pointer)
        call("hipHostFree", pinned)


def rectangles() -> None:
    width, height, pitch = 48, 20, 64
    want = pattern(pitch * height)[: pitch * height]
    source, target = (
        ctypes.create_string_buffer(want, pitch * height),
        ctypes.create_string_buffer(width * height),
    )
    memory, row = c_void_p(), c_size_t()
    call("hipMallocPitch", byref(memory), byref(row), c_size_t(width), c_size_t(height))
    call(
        "hipMemcpy2D", memory, row, source, c_size_t(pitch), c_size_t(width), c_size_t(height), HOST_TO_DEVICE
    )
    call(
        "hipMemcpy2D", target, c_size_t(width), memory, row, c_size_t(width), c_size_t(height), DEVICE_TO_HOST
    )
    rows = b"".join(want[y * pitch : y * pitch + width] for y in range(height))
    same(target, rows, "rectangle")


def registered() -> None:
    size = 5 << 20
    host, other = ctypes.create_string_buffer(pattern(size)[:size], size), ctypes.create_string_buffer(size)
    call("hipHostRegister", host, c_size_t(size), 0)
    view, memory = c_void_p(), device(size)
    call("hipHostGetDevicePointer", byref(view), host, 0)
    call("hipMemcpy", memory, view, c_size_t(size), DEVICE_TO_DEVICE)
    call("hipMemcpy", other, memory, c_size_t(size), DEVICE_TO_HOST)
    same(other, bytes(host), "registered memory")
    call("hipHostUnregister", host)


def sequence() -> None:
    """One stream's kernels and copies, one after the other."""
    size = 65536
    queue, memory, target = stream(), device(size), c_void_p()
    call("hipHostMalloc", byref(target), c_size_t(size), 0)
    for value in range(8):
        call("hipMemsetAsync", memory, value, c_size_t(size), queue)
        call("hipMemcpyAsync", target, memory, c_size_t(size), DEVICE_TO_HOST, queue)
        call("hipStreamSynchronize", queue)


def managed() -> None:
    size, attach_global = 1 << 20, 1
    memory = c_void_p()
    call("hipMallocManaged", byref(memory), c_size_t(size), attach_global)
    ctypes.memset(memory, 3, size)
    call("hipMemset", memory, 7, c_size_t(size // 2))
    call("hipDeviceSynchronize")
    got = bytes((ctypes.c_char * size).from_address(memory.value or 0))
    same(got, b"\x07" * (size // 2) + b"\x03" * (size // 2), "managed memory")
    call("hipMemPrefetchAsync", memory, c_size_t(size), 0, None)
    call("hipFree", memory)


def allocations() -> None:
    """Stream-ordered memory, which HIP builds on virtual memory handles."""
    queue, size = stream(), 1 << 20
    target = ctypes.create_string_buffer(size)
    for value in range(1, 6):
        memory = c_void_p()
        call("hipMallocAsync", byref(memory), c_size_t(size), queue)
        call("hipMemsetAsync", memory, value, c_size_t(size), queue)
        call("hipMemcpyAsync", target, memory, c_size_t(size), DEVICE_TO_HOST, queue)
        call("hipFreeAsync", memory, queue)
        call("hipStreamSynchronize", queue)
        same(target, bytes([value]) * size, "stream-ordered memory")


def queues() -> None:
    """Streams with a priority and with a CU mask."""
    size = 4096
    target, memory = ctypes.create_string_buffer(size), device(size)
    mask = (c_uint * 2)(0xFF, 0)
    kinds: list[tuple[str, tuple[Any, ...]]] = [
        ("hipStreamCreateWithPriority", (0, -1)),
        ("hipStreamCreateWithPriority", (0, 1)),
        ("hipExtStreamCreateWithCUMask", (2, mask)),
    ]
    for value, (create, arguments) in enumerate(kinds):
        queue = c_void_p()
        call(create, byref(queue), *arguments)
        call("hipMemsetAsync", memory, value + 1, c_size_t(size), queue)
        call("hipMemcpyAsync", target, memory, c_size_t(size), DEVICE_TO_HOST, queue)
        call("hipStreamSynchronize", queue)
        same(target, bytes([value + 1]) * size, create)


def events() -> None:
    queue, memory, first, last, elapsed = stream(), device(1 << 20), c_void_p(), c_void_p(), c_float()
    call("hipEventCreate", byref(first))
    call("hipEventCreate", byref(last))
    call("hipEventRecord", first, queue)
    call("hipMemsetAsync", memory, 1, c_size_t(1 << 20), queue)
    call("hipEventRecord", last, queue)
    call("hipEventSynchronize", last)
    call("hipEventElapsedTime", byref(elapsed), first, last)
    if not 0 < elapsed.value < 10000:
        raise SystemExit(f"elapsed {elapsed.value} ms")


def devices(want: str) -> None:
    count = c_int()
    call("hipGetDeviceCount", byref(count))
    if count.value != int(want):
        raise SystemExit(f"{count.value} devices")
    size = 1 << 20
    text = pattern(size)[:size]
    source, target = ctypes.create_string_buffer(text, size), ctypes.create_string_buffer(size)
    memory = []
    for number in range(count.value):
        call("hipSetDevice", number)
        memory.append(device(size))
    call("hipMemcpy", memory[0], source, c_size_t(size), HOST_TO_DEVICE)
    for number in range(1, count.value):
        call("hipMemcpyPeer", memory[number], number, memory[number - 1], number - 1, c_size_t(size))
    call("hipMemcpy", target, memory[-1], c_size_t(size), DEVICE_TO_HOST)
    same(target, text, "copy over all devices")


def launch(function: c_void_p, queue: c_void_p, memory: c_void_p, value: int, count: int) -> None:
    """The test kernel slow_set: `count` words of `memory` become `value`."""
    words = (memory, c_uint(value), c_uint(count))
    arguments = (c_void_p * 3)(*(ctypes.addressof(word) for word in words))
    hip.hipModuleLaunchKernel(function, -(-count // 64), 1, 1, 64, 1, 1, 0, queue, arguments, None)


def reload(*modules: str) -> None:
    """Modules loaded, run and unloaded in turn, so that kernel objects come back at the same address."""
    count, queue, memory, target = 64, stream(), device(256), (c_uint * 64)()
    for value, module in enumerate(modules * 3):
        loaded, function = c_void_p(), c_void_p()
        call("hipModuleLoad", byref(loaded), module.encode())
        name = "slow_set" if "renamed" not in module else "slow_sxt"
        call("hipModuleGetFunction", byref(function), loaded, name.encode())
        if name == "slow_set":
            launch(function, queue, memory, value, count)
            call("hipMemcpyAsync", target, memory, c_size_t(256), DEVICE_TO_HOST, queue)
            call("hipStreamSynchronize", queue)
            same(target, bytes((c_uint * count)(*[value] * count)), f"kernel of load {value}")
        call("hipModuleUnload", loaded)


def launch_failing(module: str, kernel: str, freed: bool) -> None:
    """Launch a kernel that the GPU cannot run, or one on freed memory; prints HIP's status afterwards."""
    loaded, function, queue, memory = c_void_p(), c_void_p(), stream(), device(1 << 20)
    call("hipModuleLoad", byref(loaded), module.encode())
    call("hipModuleGetFunction", byref(function), loaded, kernel.encode())
    if freed:
        call("hipFree", memory)
    launch(function, queue, memory, 1, 64)
    status = hip.hipStreamSynchronize(queue)
    print(f"status {status} {hip.hipDeviceSynchronize()}", flush=True)
    os._exit(0)


def use_after_free(module: str) -> None:
    launch_failing(module, "slow_set", True)


def unknown_kernel(module: str) -> None:
    launch_failing(module, "slow_sxt", False)


def fork(how: str) -> None:
    """The parent goes on after a child that ends, by exit handlers or at once."""
    size = 1 << 20
    text = pattern(size)[:size]
    source, target, memory = (
        ctypes.create_string_buffer(text, size),
        ctypes.create_string_buffer(size),
        device(size),
    )
    call("hipMemcpy", memory, source, c_size_t(size), HOST_TO_DEVICE)
    child = os.fork()
    if not child:
        signal.alarm(20)
        if how == "exit":
            sys.exit(0)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    call("hipMemcpy", target, memory, c_size_t(size), DEVICE_TO_HOST)
    same(target, text, "memory of the parent")
    if status:
        raise SystemExit(f"the child ended with status {status}")


def fork_and_use(call_name: str) -> None:
    """A child that uses HIP, which the parent has started; prints its status."""
    size = 1 << 20
    host, memory = ctypes.create_string_buffer(size), device(size)
    call("hipMemset", memory, 1, c_size_t(size))
    call("hipDeviceSynchronize")
    child = os.fork()
    if not child:
        signal.alarm(20)
        if call_name == "malloc":
            os._exit(hip.hipMalloc(byref(c_void_p()), c_size_t(size)))
        hip.hipMemcpy(host, memory, c_size_t(size), DEVICE_TO_HOST)
        os._exit(0)
    print(f"child {os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}", flush=True)
    call("hipMemcpy", host, memory, c_size_t(size), DEVICE_TO_HOST)
    same(host, b"\x01" * size, "memory of the parent")


def crash() -> None:
    """A fault of the program's own, with a handler that was set while the software GPU was at work."""
    memory = device(4096)
    call("hipMemset", memory, 1, c_size_t(4096))
    call("hipDeviceSynchronize")
    faulthandler.enable()
    call("hipMemset", memory, 1, c_size_t(4096))
    call("hipDeviceSynchronize")
    ctypes.string_at(8)


def bad_buffer() -> None:
    """A vendor packet with a buffer of garbage in a queue of ROCr's; prints the queue's error and the signal."""
    hsa: Any = ctypes.CDLL("libhsa-runtime64.so.1")
    agent_device, gpu_device, stop, less, blocked = 17, 1, 1, 2, 0
    agents: list[int] = []
    errors: list[int] = []

    def note_agent(agent: int, _: object) -> int:
        kind = c_uint()
        hsa.hsa_agent_get_info(c_uint64(agent), agent_device, byref(kind))
        if kind.value == gpu_device:
            agents.append(agent)
        return stop if agents else 0

    note = ctypes.CFUNCTYPE(c_int, c_uint64, c_void_p)(note_agent)
    told = ctypes.CFUNCTYPE(None, c_uint, c_void_p, c_void_p)(lambda status, _, __: errors.append(status))
    queue, done, words = c_void_p(), c_uint64(), c_void_p()
    hsa.hsa_iterate_agents(note, None)
    hsa.hsa_queue_create(c_uint64(agents[0]), 64, 0, told, None, c_uint(~0), c_uint(~0), byref(queue))
    hsa.hsa_signal_create(c_int64(1), 0, None, byref(done))
    call("hipHostMalloc", byref(words), c_size_t(4096), 0)
    garbage = 0xC0009900
    ctypes.memmove(words, struct.pack("<2I", garbage, 0), 8)
    ring, doorbell = struct.unpack("<8x2Q", ctypes.string_at(queue, 24))
    address = words.value or 0
    jump = (0xC0023F00, address & 0xFFFFFFFF, address >> 32, 2 | 1 << 23, 10)
    vendor, indirect_buffer = 0, 1
    ctypes.memmove(ring + 4, struct.pack("<5I32xQ", *jump, done.value), 60)
    hsa.hsa_queue_add_write_index_screlease(queue, c_uint64(1))
    c_uint.from_address(ring).value = vendor | indirect_buffer << 16
    hsa.hsa_signal_store_screlease(c_uint64(doorbell), c_int64(0))
    hsa.hsa_signal_wait_scacquire.restype = c_int64
    value = hsa.hsa_signal_wait_scacquire(done, less, c_int64(1), c_uint64(~0), blocked)
    print(f"errors {[hex(error) for error in errors]} signal {value}", flush=True)
    os._exit(0)


def memory() -> None:
    """Resident memory of a program that has used HIP, in kilobytes."""
    copies_of_one = device(4096)
    call("hipMemset", copies_of_one, 1, c_size_t(4096))
    call("hipDeviceSynchronize")
    status = Path("/proc/self/status").read_text()
    print(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1])


def busy(mark: str) -> None:
    """Says that it is ready, and keeps the GPU busy until it is killed; `mark` names the process."""
    del mark
    queue, memory = stream(), device(1 << 20)
    host = ctypes.create_string_buffer(1 << 20)
    call("hipMemcpy", memory, host, c_size_t(1 << 20), HOST_TO_DEVICE)
    print("ready", flush=True)
    while True:
        call("hipMemsetAsync", memory, 1, c_size_t(1 << 20), queue)
        call("hipMemcpyAsync", host, memory, c_size_t(1 << 20), DEVICE_TO_HOST, queue)
        call("hipStreamSynchronize", queue)


CHECKS: dict[str, Callable[..., None]] = {
    check.__name__: check
    for check in (
        copies,
        rectangles,
        registered,
        sequence,
        managed,
        allocations,
        queues,
        events,
        devices,
        reload,
        use_after_free,
        unknown_kernel,
        fork,
        fork_and_use,
        bad_buffer,
        crash,
        memory,
        busy,
    )
}

if __name__ == "__main__":
    call("hipInit", 0)
    CHECKS[sys.argv[1]](*sys.argv[2:])
    call("hipDeviceSynchronize")
    print(f"ok {sys.argv[1]}", flush=True)
