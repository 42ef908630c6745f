# SPDX-License-Identifier: Apache-2.0
"""A queue that meets something wrong stops with a report, tells the application, and lets nobody wait for ever."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from softgpu.model_lib import (
    AGENT,
    BARRIER_AND,
    MODEL,
    Gpu,
    Memory,
    Queue,
    Signal,
    Writer,
    barrier,
    barrier_value,
    dispatch,
    pm4,
    until,
)

pytestmark = pytest.mark.skipif(not MODEL.exists(), reason="no build/softgpu/libsoftgpu.so (`make softgpu`)")

# Values of amd_queue_t.queue_inactive_signal, from which ROCr makes its status.
DIMENSIONS, GROUP_MEMORY, CODE, PACKET, GROUP_SIZE, MEMORY = 2, 4, 8, 32, 64, 0x20000000


@pytest.fixture
def gpu() -> Iterator[Gpu]:
    gpu = Gpu()
    yield gpu
    gpu.close()


@pytest.fixture
def queue(gpu: Gpu) -> Queue:
    return Queue(gpu)


def fails(
    queue: Queue, capfd: pytest.CaptureFixture[str], body: bytes, done: Signal, error: int, says: str
) -> None:
    """The packet stops the queue: error raised, then, once the application has been told, a negative signal."""
    queue.push(body)
    until(lambda: queue.inactive.value == error, "the error")
    assert done.value == 1, "waiters go on only when the application knows"
    queue.inactive.value = -1  # what ROCr stores when the error callback has returned
    until(lambda: done.value < 0, "an error in the completion signal")
    report = capfd.readouterr().err
    assert says in report
    assert "the queue is stopped" in report
    later = Signal(queue.gpu)
    queue.push(barrier(BARRIER_AND, [], later.handle))
    until(lambda: later.value < 0, "an error in later packets")


def test_a_kernel_without_a_twin_is_named(gpu: Gpu, queue: Queue, capfd: pytest.CaptureFixture[str]) -> None:
    done, kernarg = Signal(gpu), Memory(gpu)
    body = dispatch(gpu.kernel("no_such_kernel", 8), kernarg.address, completion=done.handle)
    fails(queue, capfd, body, done, CODE, "kernel no_such_kernel has no native twin")


def test_a_kernel_object_of_no_executable_is_refused(
    gpu: Gpu, queue: Queue, capfd: pytest.CaptureFixture[str]
) -> None:
    done, writer = Signal(gpu), Writer(gpu)
    gpu.host.host_forget_kernels()
    fails(queue, capfd, writer.packet(done.handle), done, CODE, "belongs to no loaded executable")


def test_use_after_free_of_kernel_memory_is_reported(
    gpu: Gpu, queue: Queue, capfd: pytest.CaptureFixture[str]
) -> None:
    done, writer = Signal(gpu), Writer(gpu)
    writer.target.free()
    fails(queue, capfd, writer.packet(done.handle), done, MEMORY, "use after free: offset 0x0 of GPU memory")


def test_use_after_free_of_kernel_arguments_is_reported(
    gpu: Gpu, queue: Queue, capfd: pytest.CaptureFixture[str]
) -> None:
    done, writer = Signal(gpu), Writer(gpu)
    writer.kernarg.free()
    fails(queue, capfd, writer.packet(done.handle), done, MEMORY, "use after free")


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        ({"grid": (0, 1, 1)}, DIMENSIONS, "empty grid"),
        ({"workgroup": (1025, 1, 1)}, GROUP_SIZE, "more than 1024 work-items"),
        ({"workgroup": (0, 1, 1)}, GROUP_SIZE, "has no or more than"),
        ({"lds": 65537}, GROUP_MEMORY, "65537 bytes of LDS"),
        ({"setup": 0}, DIMENSIONS, "setup 0x0000"),
        ({"setup": 7}, DIMENSIONS, "setup 0x0007"),
        ({"setup": 1, "grid": (1, 2, 1)}, DIMENSIONS, "dispatch of 1 dimensions"),
        ({"header": 3 << 9}, PACKET, "reserved fence scope"),
        ({"header": 1 << 13}, PACKET, "reserved bits"),
    ],
)
def test_a_malformed_dispatch_is_refused(
    gpu: Gpu,
    queue: Queue,
    capfd: pytest.CaptureFixture[str],
    change: dict[str, int],
    error: int,
    says: str,
) -> None:
    done, writer = Signal(gpu), Writer(gpu)
    arguments: dict[str, object] = {"completion": done.handle, **change}
    body = dispatch(writer.kernel, writer.kernarg.address, **arguments)  # type: ignore[arg-type]
    fails(queue, capfd, body, done, error, says)


def test_too_little_lds_for_the_kernel_is_refused(
    gpu: Gpu, queue: Queue, capfd: pytest.CaptureFixture[str]
) -> None:
    done, kernarg = Signal(gpu), Memory(gpu)
    kernel = gpu.kernel("__amd_rocclr_streamOpsWrite", 24, lds=512)
    body = dispatch(kernel, kernarg.address, completion=done.handle, lds=256)
    fails(queue, capfd, body, done, GROUP_MEMORY, "needs 512 bytes of LDS")


def test_an_agent_dispatch_is_refused(gpu: Gpu, queue: Queue, capfd: pytest.CaptureFixture[str]) -> None:
    done = Signal(gpu)
    fails(queue, capfd, barrier(AGENT, [], done.handle), done, PACKET, "packet of type 4")


def test_an_unknown_vendor_format_is_refused(
    gpu: Gpu, queue: Queue, capfd: pytest.CaptureFixture[str]
) -> None:
    done = Signal(gpu)
    body = bytearray(barrier_value(0, 0, 0, completion=done.handle))
    body[2] = 9
    fails(queue, capfd, bytes(body), done, PACKET, "vendor packet of unknown format 9")


def test_a_pm4_buffer_outside_gpu_memory_is_refused(
    gpu: Gpu, queue: Queue, capfd: pytest.CaptureFixture[str]
) -> None:
    done = Signal(gpu)
    fails(
        queue,
        capfd,
        pm4(0x1000, 4, done.handle),
        done,
        MEMORY,
        "PM4 buffer 0x1000 of 4 dwords is not GPU memory",
    )


def test_an_unknown_pm4_packet_stops_the_queue_with_its_offset(
    gpu: Gpu, queue: Queue, capfd: pytest.CaptureFixture[str]
) -> None:
    done, buffer = Signal(gpu), Memory(gpu)
    buffer.word(0).value = 0xC000F300
    fails(queue, capfd, pm4(buffer.address, 2, done.handle), done, PACKET, "0xF3")


def test_a_dependency_on_a_failed_packet_fails_too(
    gpu: Gpu, queue: Queue, capfd: pytest.CaptureFixture[str]
) -> None:
    done, gate = Signal(gpu), Signal(gpu, -1)
    body = barrier(BARRIER_AND, [gate.handle], done.handle)
    fails(queue, capfd, body, done, PACKET, "depends on a packet that failed")


def test_other_queues_go_on_after_a_failure(gpu: Gpu, queue: Queue) -> None:
    done, good, writer = Signal(gpu), Signal(gpu), Writer(gpu, 6)
    queue.push(barrier(AGENT, [], done.handle))
    until(lambda: queue.inactive.value == PACKET, "the error")
    Queue(gpu).push(writer.packet(good.handle))
    good.wait()
    assert writer.target.word().value == 6
    queue.inactive.value = -1
