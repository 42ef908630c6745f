"""The vendor PM4 packet in a queue: complete when parsed, its waves later unless the buffer waits for them."""

from __future__ import annotations

from collections.abc import Iterator
from ctypes import c_uint32

import pytest
from softgpu.model_lib import (
    BARRIER_AND,
    BARRIER_BIT,
    MODEL,
    Gpu,
    Memory,
    Queue,
    Signal,
    Waiter,
    barrier,
    low_high,
    pm4,
    until,
)

pytestmark = pytest.mark.skipif(not MODEL.exists(), reason="no build/softgpu/libsoftgpu.so (`make softgpu`)")

# gfx11 compute registers, offsets of SET_SH_REG, and packets; plain numbers, as hardware documents give them.
START_X, PGM_LO, RSRC1, RSRC3, USER_DATA = 0x204, 0x20C, 0x212, 0x228, 0x240
RSRC1_PRIV = 1 << 20
RSRC2_USER_SGPR_2 = 2 << 1
RSRC2_TRAP_PRESENT = 1 << 6
INITIATOR = 1 | 1 << 2 | 1 << 15
PARTIAL_FLUSH = [0xC0004600, 7 | 4 << 8]


@pytest.fixture
def gpu() -> Iterator[Gpu]:
    gpu = Gpu()
    yield gpu
    gpu.close()


def set_sh(register: int, *values: int) -> list[int]:
    return [0xC0007600 | len(values) << 16, register, *values]


def dispatch_words(waiter: Waiter) -> list[int]:
    """One work-item of the waiter's kernel."""
    entry = waiter.kernel + 256
    return [
        *set_sh(PGM_LO, *low_high(entry >> 8)),
        *set_sh(RSRC1, RSRC1_PRIV, RSRC2_USER_SGPR_2 | RSRC2_TRAP_PRESENT),
        *set_sh(RSRC3, 0),
        *set_sh(START_X, 0, 0, 0, 1, 1, 1),
        *set_sh(USER_DATA, *low_high(waiter.kernarg.address)),
        *[0xC0031500, 1, 1, 1, INITIATOR],
    ]


def buffer(gpu: Gpu, words: list[int]) -> tuple[int, int]:
    memory = Memory(gpu)
    for index, word in enumerate(words):
        memory.word(4 * index).value = word
    return memory.address, len(words)


def prepared(gpu: Gpu) -> Waiter:
    """A waiter whose descriptor says what the buffer programs: two user SGPRs, the kernarg pointer."""
    waiter = Waiter(gpu)
    c_uint32.from_address(waiter.kernel + 52).value = RSRC2_USER_SGPR_2
    return waiter


def test_a_packet_completes_when_parsed_while_its_waves_run(gpu: Gpu) -> None:
    queue, waiter, done, behind = Queue(gpu), prepared(gpu), Signal(gpu), Signal(gpu)
    queue.push(pm4(*buffer(gpu, dispatch_words(waiter)), done.handle, BARRIER_BIT))
    queue.push(barrier(BARRIER_AND, [], behind.handle, BARRIER_BIT))
    until(lambda: done.value != 1, "completion")
    assert done.value == 0
    behind.wait()
    assert behind.value == 0
    waiter.release()


def test_a_partial_flush_keeps_the_packet_until_the_waves_are_done(gpu: Gpu) -> None:
    queue, waiter, done = Queue(gpu), prepared(gpu), Signal(gpu)
    queue.push(pm4(*buffer(gpu, dispatch_words(waiter) + PARTIAL_FLUSH), done.handle, BARRIER_BIT))
    other, seen = Queue(gpu), Signal(gpu)
    other.push(barrier(BARRIER_AND, [], seen.handle))
    seen.wait()
    assert done.value == 1
    waiter.release()
    until(lambda: done.value != 1, "completion")
    assert done.value == 0


def test_the_flush_also_waits_for_kernels_of_earlier_packets(gpu: Gpu) -> None:
    queue, waiter, done = Queue(gpu), Waiter(gpu), Signal(gpu)
    queue.push(waiter.packet())
    queue.push(pm4(*buffer(gpu, PARTIAL_FLUSH), done.handle))
    other, seen = Queue(gpu), Signal(gpu)
    other.push(barrier(BARRIER_AND, [], seen.handle))
    seen.wait()
    assert done.value == 1
    waiter.release()
    until(lambda: done.value == 0, "completion")
