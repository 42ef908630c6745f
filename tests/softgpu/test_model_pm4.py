# SPDX-License-Identifier: Apache-2.0
"""The vendor PM4 packet in a queue: complete when parsed, its waves later unless the buffer waits for them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from ctypes import c_uint32
from pathlib import Path
from typing import Any

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
    Writer,
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
START = [0xC0031500, 1, 1, 1, INITIATOR]
RESOURCE_LIMITS = 0x215
PACKET_ERROR = 32  # in the queue's inactive signal
PARTIAL_FLUSH = [0xC0004600, 7 | 4 << 8]


@pytest.fixture
def gpu() -> Iterator[Gpu]:
    gpu = Gpu()
    yield gpu
    gpu.close()


def set_sh(register: int, *values: int) -> list[int]:
    return [0xC0007600 | len(values) << 16, register, *values]


def register_words(waiter: Waiter) -> list[int]:
    """What one work-item of the waiter's kernel needs in registers."""
    entry = waiter.kernel + 256
    return [
        *set_sh(PGM_LO, *low_high(entry >> 8)),
        *set_sh(RSRC1, RSRC1_PRIV, RSRC2_USER_SGPR_2 | RSRC2_TRAP_PRESENT),
        *set_sh(RSRC3, 0),
        *set_sh(START_X, 0, 0, 0, 1, 1, 1),
        *set_sh(USER_DATA, *low_high(waiter.kernarg.address)),
    ]


def dispatch_words(waiter: Waiter) -> list[int]:
    """One work-item of the waiter's kernel."""
    return register_words(waiter) + START


def ran(gpu: Gpu, queue: Queue, words: list[int]) -> int:
    """Value of the completion signal, from 1, when the packet with this buffer is over."""
    done = Signal(gpu)
    queue.push(pm4(*buffer(gpu, words), done.handle, BARRIER_BIT))
    done.wait()
    return done.value


def traced() -> list[dict[str, Any]]:
    """Trace of the queue that was made last."""
    lines = [json.loads(line) for line in Path(os.environ["SOFTGPU_TRACE"]).read_text().splitlines()]
    newest = max(line["queue"] for line in lines)
    return [line for line in lines if line["queue"] == newest]


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


@pytest.mark.parametrize("between", [False, True], ids=["alone", "aql-dispatch-between"])
def test_registers_last_from_buffer_to_buffer_until_an_aql_dispatch(gpu: Gpu, between: bool) -> None:
    """An AQL dispatch programs program, resources and user data itself: what buffers wrote there is gone."""
    queue, waiter, written, done = Queue(gpu), prepared(gpu), Signal(gpu), Signal(gpu)
    waiter.release()
    assert ran(gpu, queue, dispatch_words(waiter) + PARTIAL_FLUSH) == 0
    if between:
        queue.push(Writer(gpu).packet(written.handle, BARRIER_BIT))
        written.wait()
    queue.push(pm4(*buffer(gpu, START + PARTIAL_FLUSH), done.handle, BARRIER_BIT))
    if not between:
        done.wait()
        assert done.value == 0
        return
    until(lambda: queue.inactive.value == PACKET_ERROR, "the error")
    queue.inactive.value = -1
    done.wait()
    assert done.value < 0


def test_register_state_that_would_reach_an_aql_dispatch_is_reported_once(
    gpu: Gpu, capfd: pytest.CaptureFixture[str]
) -> None:
    queue, writer = Queue(gpu), Writer(gpu)
    assert ran(gpu, queue, set_sh(START_X, 5)) == 0
    for _ in range(2):
        written = Signal(gpu)
        queue.push(writer.packet(written.handle))
        written.wait()
        assert written.value == 0
    assert capfd.readouterr().err.count("COMPUTE_START_X was left 0x5, it was 0") == 1


def test_register_state_stays_with_its_queue(gpu: Gpu, capfd: pytest.CaptureFixture[str]) -> None:
    queue, other, written = Queue(gpu), Queue(gpu), Signal(gpu)
    assert ran(gpu, queue, set_sh(START_X, 5)) == 0
    other.push(Writer(gpu).packet(written.handle))
    written.wait()
    assert "was left" not in capfd.readouterr().err


def test_a_write_to_a_register_of_the_queue_is_reported(gpu: Gpu, capfd: pytest.CaptureFixture[str]) -> None:
    assert ran(gpu, Queue(gpu), set_sh(RESOURCE_LIMITS, 0)) == 0
    assert "COMPUTE_RESOURCE_LIMITS belongs to the queue" in capfd.readouterr().err


def test_the_trace_shows_a_buffer_decoded_and_the_dispatches_that_it_starts(gpu: Gpu) -> None:
    queue, waiter = Queue(gpu), prepared(gpu)
    waiter.release()
    assert ran(gpu, queue, dispatch_words(waiter) + PARTIAL_FLUSH) == 0
    packet, wave = [line for line in traced() if line["kind"].startswith("pm4_")]
    assert packet["kind"] == "pm4_ib"
    names = [text.split(":")[1].split()[0] for text in packet["pm4"]]
    assert names == ["SET_SH_REG"] * 5 + ["DISPATCH_DIRECT", "EVENT_WRITE"]
    assert (wave["kind"], wave["index"], wave["kernel"]) == ("pm4_dispatch", 0, "__amd_rocclr_streamOpsWait")
    assert wave["grid"] == wave["workgroup"] == [1, 1, 1]
    assert len(wave["kernarg_hash"]) == 16
