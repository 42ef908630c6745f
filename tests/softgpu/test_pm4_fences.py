# SPDX-License-Identifier: Apache-2.0
"""Waits block until they are satisfied, and what only looks like a wait is reported."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator

import pytest
from softgpu.pm4_lib import (
    ACCUMULATE,
    BLOCKED,
    BUFFER,
    COUNT,
    DATA,
    DONE,
    FAILED,
    FENCES,
    REVERSE,
    TARGETS,
    Machine,
    acquire,
    agent_gcr,
    ffi,
    flush,
    full_buffer,
    nop,
    packet,
    release,
    show,
    system_gcr,
    wait,
    write,
)

Words = Callable[[Machine, int], list[int]]


@pytest.fixture(params=TARGETS)
def machine(request: pytest.FixtureRequest) -> Iterator[Machine]:
    with Machine(request.param) as made:
        yield made


def test_a_partial_flush_blocks_until_the_waves_are_done(machine: Machine) -> None:
    machine.raw.delay = 1000
    assert machine.start([*machine.entry_acquire(), *machine.dispatch(ACCUMULATE), *machine.boundary()]) == 0
    for _ in range(5):
        assert machine.step() == BLOCKED
    assert machine.words(DATA, 1) == [0]
    machine.lib.machine_run_waves(machine.raw)
    assert machine.step() == DONE
    assert machine.words(DATA, 1) == [701]
    assert machine.warnings() == ""


def test_a_missing_wait_shows_in_the_result_and_in_a_warning(machine: Machine) -> None:
    body = [*machine.dispatch(ACCUMULATE), *machine.dispatch(REVERSE), *machine.boundary()]
    assert machine.run([*machine.entry_acquire(), *body]) == DONE
    wrong = machine.words(DATA, 64)
    with Machine(machine.gfx) as right:
        halves = [*right.dispatch(ACCUMULATE), *right.boundary(), *right.dispatch(REVERSE), *right.boundary()]
        assert right.run([*right.entry_acquire(), *halves]) == DONE
        assert right.words(DATA, 64) != wrong, "independent dispatches may run in any order"


def test_a_buffer_that_does_not_wait_for_its_last_waves_is_reported(machine: Machine) -> None:
    assert machine.run([*machine.entry_acquire(), *machine.dispatch(ACCUMULATE)]) == DONE
    assert machine.raw.pending_count == 1, "a packet completes when it is parsed"
    assert "ends without a wait for its last dispatch" in machine.warnings()


def test_an_invalidate_before_the_wait_is_no_barrier(machine: Machine) -> None:
    words = [
        *machine.entry_acquire(),
        *machine.dispatch(ACCUMULATE),
        *acquire(agent_gcr(machine.gfx)),
        *flush(),
        *machine.dispatch(REVERSE),
        *machine.boundary(),
    ]
    assert machine.run(words) == DONE
    assert "invalidates while waves of this queue may still run" in machine.warnings()
    assert "waits for waves before it, but no ACQUIRE_MEM invalidates" in machine.warnings()


@pytest.mark.parametrize("bit", [7, 8, 9])
def test_an_acquire_that_leaves_a_cache_stale_is_reported(machine: Machine, bit: int) -> None:
    if bit == 9 and machine.gfx.startswith("gfx12"):
        pytest.skip("gfx12 has no vector L1 of its own")
    weak = acquire(agent_gcr(machine.gfx) & ~(1 << bit))
    words = [*machine.entry_acquire(), *machine.dispatch(ACCUMULATE), *flush(), *weak]
    assert machine.run([*words, *machine.dispatch(REVERSE), *machine.boundary()]) == DONE
    assert "no ACQUIRE_MEM invalidates K$" in machine.warnings()


def test_the_first_dispatch_of_a_buffer_needs_an_acquire(machine: Machine) -> None:
    """C035, C036"""
    assert machine.run([*machine.dispatch(ACCUMULATE), *machine.boundary()]) == DONE
    assert "stands before the first dispatch of the buffer" in machine.warnings()


def test_independent_dispatches_need_nothing_between_them(machine: Machine) -> None:
    pair = [*machine.dispatch(ACCUMULATE), *machine.dispatch(COUNT, (2, 2, 1))]
    assert machine.run([*machine.entry_acquire(), *pair, *machine.boundary()]) == DONE
    assert machine.warnings() == ""


def test_leaving_out_any_wait_or_invalidate_is_noticed(machine: Machine) -> None:
    """Each EVENT_WRITE, ACQUIRE_MEM, WAIT_REG_MEM, RELEASE_MEM and fence clear in turn becomes a NOP."""
    outer, _ = full_buffer(machine)
    with Machine(machine.gfx) as good:
        words, _ = full_buffer(good)
        assert good.run(words) == DONE
        expected = good.get(DATA, FENCES + 8 - DATA)
    names = ("EVENT_WRITE", "ACQUIRE_MEM", "WAIT_REG_MEM", "RELEASE_MEM", "WRITE_DATA")
    lines = [line.split() for line in show(machine.gfx, outer).splitlines()]
    places = [int(line[0].rstrip(":")) for line in lines if line[1] in names]
    assert len(places) == 9
    for place in places[:-1]:
        with Machine(machine.gfx) as mutant:
            changed, _ = full_buffer(mutant)
            changed[place] = changed[place] & ~0xFFFF | 0x1000
            status = mutant.run(changed)
            same = mutant.get(DATA, FENCES + 8 - DATA) == expected
            assert status != DONE or mutant.warnings() or not same, show(machine.gfx, outer).splitlines()


def test_a_release_writes_when_the_waves_are_done_and_holds_nobody_up(machine: Machine) -> None:
    """H12, H13: only the WAIT_REG_MEM behind a RELEASE_MEM is a wait."""
    machine.raw.delay = 1000
    fence = machine.base + FENCES
    machine.put(FENCES, bytes(8))
    begin = [*machine.entry_acquire(), *machine.dispatch(ACCUMULATE), *release(fence, 5)]
    assert machine.start([*begin, *write(machine.base + DATA + 0x900, 77), *wait(fence, 5)]) == 0
    assert machine.step() == BLOCKED
    assert machine.words(DATA + 0x900, 1) == [77], "later packets go on"
    assert machine.words(FENCES, 1) == [0]
    machine.lib.machine_run_waves(machine.raw)
    assert machine.step() == DONE
    assert machine.words(FENCES, 1) == [5]
    assert machine.warnings() == ""


def test_a_buffer_is_not_done_before_its_release_is_written(machine: Machine) -> None:
    machine.raw.delay = 1000
    words = [*machine.entry_acquire(), *machine.dispatch(ACCUMULATE), *release(machine.base + FENCES, 5)]
    assert machine.start(words) == 0
    assert machine.step() == BLOCKED
    assert machine.step() == BLOCKED
    machine.lib.machine_run_waves(machine.raw)
    assert machine.step() == DONE
    assert machine.words(FENCES, 1) == [5]
    assert machine.warnings().count("ends without a wait") == 1


def test_a_fence_that_was_not_cleared_is_reported(machine: Machine) -> None:
    """H13: the word still holds the value of the previous replay."""
    machine.raw.delay = 5
    fence = machine.base + FENCES
    machine.put(FENCES, struct.pack("<Q", 5))
    words = [*machine.entry_acquire(), *machine.dispatch(ACCUMULATE), *release(fence, 5), *wait(fence, 5)]
    assert machine.run([*words, *acquire(agent_gcr(machine.gfx))]) == DONE
    assert "the fence word held the value already" in machine.warnings()
    assert "ends without a wait" in machine.warnings()


def test_release_data_and_interrupts(machine: Machine) -> None:
    fence = machine.base + FENCES
    machine.put(FENCES, b"\xa5" * 32)
    words = [
        *release(fence, 7, select=1),
        *release(fence + 8, 0x1_0000_0002, event=0x14),
        *release(fence + 16, 0, select=3, gcr=0),
        *release(0, 0, select=0, interrupt=1, context=9),
        *release(fence + 24, 1, interrupt=2, context=3),
    ]
    assert machine.run(words) == DONE, machine.report()
    assert machine.warnings() == ""
    assert machine.words(FENCES, 8) == [7, 0xA5A5A5A5, 2, 1, 100, 0, 1, 0]
    assert (machine.raw.interrupts, machine.raw.interrupt) == (2, 9 * 31 + 3)


def test_many_releases_in_flight(machine: Machine) -> None:
    fence = machine.base + FENCES
    words = [*machine.entry_acquire(), *machine.dispatch(ACCUMULATE)]
    for index in range(40):
        words += release(fence + 8 * index, index)
    assert machine.run([*words, *flush()]) == DONE
    assert machine.words(FENCES, 80) == [value for index in range(40) for value in (index, 0)]


BAD_RELEASES: dict[str, tuple[Words, str]] = {
    "event": (lambda m, at: release(at, 1, event=7), "event 7 (CS_PARTIAL_FLUSH) with index 5"),
    "index": (lambda m, at: release(at, 1, index=6), "is no end of pipe"),
    "sequence": (lambda m, at: release(at, 1, gcr=3 << 22 | 1 << 21), "SEQ 3"),
    "discard": (lambda m, at: release(at, 1, gcr=1 << 19), "gl2_discard is 1"),
    "register": (lambda m, at: [*release(at, 1)[:2], 2 << 29 | 2 << 16, *release(at, 1)[3:]], "dst_sel 2"),
    "data select": (lambda m, at: release(at, 1, select=5), "data_sel 5"),
    "interrupt select": (lambda m, at: release(at, 1, interrupt=5), "int_sel 5"),
    "misaligned": (lambda m, at: release(at + 4, 1), "not aligned to 8"),
    "very misaligned": (lambda m, at: release(at + 2, 1, select=1), "reserved bits 0x00000002"),
    "outside": (lambda m, at: release(2**47, 1), "is not writable GPU memory"),
    "no address": (lambda m, at: release(0, 1), "is not writable GPU memory"),
    "address unused": (lambda m, at: release(at, 0, select=0, interrupt=1), "nothing is written"),
    "long data": (lambda m, at: release(at, 1 << 32, select=1), "data that data_sel 1 does not send"),
    "clock and data": (lambda m, at: release(at, 1, select=3), "data that data_sel 3 does not send"),
    "context": (lambda m, at: release(at, 1, context=4), "an interrupt context without an interrupt"),
    "scheduler": (
        lambda m, at: [*release(at, 1)[:2], 2 << 29 | 1 << 22, *release(at, 1)[3:]],
        "mes_action_id",
    ),
}


@pytest.mark.parametrize("case", BAD_RELEASES)
def test_a_bad_release_is_refused(machine: Machine, case: str) -> None:
    make, phrase = BAD_RELEASES[case]
    assert machine.run(make(machine, machine.base + FENCES)) == FAILED
    assert phrase in machine.report()


def test_cache_operations_with_cs_done_are_for_gfx12(machine: Machine) -> None:
    status = machine.run(release(machine.base + FENCES, 1, event=0x2F, index=6))
    assert (status == DONE) == machine.gfx.startswith("gfx12")
    if status != DONE:
        assert "cache operations with CS_DONE exist on gfx12 only" in machine.report()


def test_a_fence_without_a_write_back_is_reported(machine: Machine) -> None:
    assert machine.run(release(machine.base + FENCES, 1, gcr=0)) == DONE
    assert "a fence without GL2_WB" in machine.warnings()


def test_a_release_that_loses_its_memory_fails(machine: Machine) -> None:
    machine.raw.delay = 1000
    words = [*machine.entry_acquire(), *machine.dispatch(ACCUMULATE), *release(machine.base + FENCES, 5)]
    assert machine.start(words) == 0
    assert machine.step() == BLOCKED
    machine.raw.read_only = BUFFER
    machine.lib.machine_run_waves(machine.raw)
    assert machine.step() == FAILED
    assert "no longer GPU memory" in machine.report()


FUNCTIONS = {1: (4, 5), 2: (5, 6), 3: (5, 4), 4: (6, 5), 5: (5, 4), 6: (6, 5)}


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("operation", [0, 3])
def test_wait_functions(machine: Machine, function: int, operation: int) -> None:
    good, bad = FUNCTIONS[function]
    machine.put(FENCES, struct.pack("<I", 0xF00 | bad))
    words = wait(machine.base + FENCES, 5, function=function, mask=0xFF)
    words[1] |= operation << 6
    assert machine.start([*words, *write(machine.base + DATA, 99)]) == 0
    assert machine.step() == BLOCKED
    assert machine.words(DATA, 1) == [0]
    machine.put(FENCES, struct.pack("<I", 0xA00 | good))
    assert machine.step() == DONE
    assert machine.words(DATA, 1) == [99]
    assert machine.warnings() == ""


BAD_WAITS: dict[str, tuple[Words, str]] = {
    "register": (lambda m, at: packet(0x3C, 3, 0x1234, 0, 0, 0xFFFFFFFF, 4), "only memory can be waited for"),
    "operation": (
        lambda m, at: packet(0x3C, 0x53, at & 0xFFFFFFFF, at >> 32, 0, 0xFFFFFFFF, 4),
        "operation 1",
    ),
    "function": (lambda m, at: wait(at, 0, function=7), "function 7"),
    "misaligned": (lambda m, at: wait(at + 2, 0), "reserved bits 0x00000002"),
    "outside": (lambda m, at: wait(2**47, 0), "is not GPU memory"),
    "impossible": (lambda m, at: wait(at, 0x100, mask=0xFF), "has bits outside of the mask"),
    "scheduler": (
        lambda m, at: packet(0x3C, 0x13 | 1 << 24, at & 0xFFFFFFFF, at >> 32, 0, 1, 4),
        "mes_action is 1",
    ),
}


@pytest.mark.parametrize("case", BAD_WAITS)
def test_a_bad_wait_is_refused(machine: Machine, case: str) -> None:
    make, phrase = BAD_WAITS[case]
    assert machine.run(make(machine, machine.base + FENCES)) == FAILED
    assert phrase in machine.report()


def test_a_wait_for_nothing_is_reported(machine: Machine) -> None:
    assert machine.run(wait(machine.base + FENCES, 0, mask=0)) == DONE
    assert machine.run(wait(machine.base + FENCES, 0, function=0)) == DONE
    assert machine.warnings().count("waits for nothing") == 2


BAD_ACQUIRES: dict[str, tuple[Words, str]] = {
    "coherency control": (
        lambda m, at: packet(0x58, 1, 0xFFFFFFFF, 0xFF, 0, 0, 10, 0x380),
        "reserved bits 0x00000001",
    ),
    "outside": (lambda m, at: acquire(agent_gcr(m.gfx), 16, 2**39), "is neither everything nor GPU memory"),
    "nothing": (lambda m, at: acquire(agent_gcr(m.gfx), 0, at >> 8), "is neither everything nor GPU memory"),
    "everything from 1": (
        lambda m, at: acquire(agent_gcr(m.gfx), base=1),
        "is neither everything nor GPU memory",
    ),
    "nearly everything": (
        lambda m, at: acquire(agent_gcr(m.gfx), 0xFFFFFFFFFE),
        "is neither everything nor GPU",
    ),
    "reserved": (lambda m, at: acquire(agent_gcr(m.gfx) | 1 << 19), "reserved bits 0x00080000"),
    "sequence": (lambda m, at: acquire(agent_gcr(m.gfx) | 3 << 16), "SEQ 3"),
    "range": (lambda m, at: acquire(agent_gcr(m.gfx) | 1 << 11), "GL2_RANGE"),
    "physical": (lambda m, at: acquire(agent_gcr(m.gfx) | 1 << 18), "range_is_pa is 1"),
    "discard": (lambda m, at: acquire(agent_gcr(m.gfx) | 1 << 13), "gl2_discard is 1"),
    "poll": (lambda m, at: acquire(agent_gcr(m.gfx), poll=1 << 16), "reserved bits 0x00010000"),
}


@pytest.mark.parametrize("case", BAD_ACQUIRES)
def test_a_bad_acquire_is_refused(machine: Machine, case: str) -> None:
    make, phrase = BAD_ACQUIRES[case]
    assert machine.run(make(machine, machine.base + DATA)) == FAILED
    assert phrase in machine.report()


@pytest.mark.parametrize("bit", [4, 5, 9])
def test_gfx12_has_no_metadata_cache_and_no_vector_l1(bit: int) -> None:
    for gfx, status in (("gfx1030", DONE), ("gfx1151", DONE), ("gfx1201", FAILED), ("gfx1200", FAILED)):
        with Machine(gfx) as machine:
            assert machine.run(acquire(0x180 | 1 << bit)) == status, machine.report()


def test_drivers_acquires_are_accepted(machine: Machine) -> None:
    """ROCr invalidates the range of loaded code; Mesa, PAL and ROCr differ in the width of "everything"."""
    words = [
        *acquire(0x4381, 16, (machine.base + DATA) >> 8, 0),
        *acquire(system_gcr(machine.gfx), 0xFFFFFFFFFFFFFF),
        *acquire(system_gcr(machine.gfx) | 1 << 16, poll=4),
    ]
    assert machine.run(words) == DONE, machine.report()
    assert machine.warnings() == ""


@pytest.mark.parametrize(
    ("gcr", "poll", "phrase"),
    [
        (0, 10, "no cache operation"),
        (0x4180, 10, "GL2_INV without GL2_WB"),
        (0x180, 4096, "poll interval 4096"),
    ],
)
def test_an_odd_acquire_is_reported(machine: Machine, gcr: int, poll: int, phrase: str) -> None:
    assert machine.run(acquire(gcr, poll=poll)) == DONE
    assert phrase in machine.warnings()


def test_strict_makes_a_warning_a_failure(machine: Machine) -> None:
    machine.lib.sg_pm4_set_strict(machine.queue, True)
    assert machine.run([*nop(), *release(machine.base + FENCES, 1, gcr=0)]) == FAILED
    assert "a fence without GL2_WB" in machine.report()
    assert machine.warnings() == ""
    assert machine.lib.sg_pm4_start(machine.queue, machine.base + BUFFER, 1) == -1
    assert bytes(ffi.string(machine.raw.text)) == b""
