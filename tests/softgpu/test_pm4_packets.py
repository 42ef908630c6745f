# SPDX-License-Identifier: Apache-2.0
"""The executor walks buffers strictly: what it does not know, or what a packet must not say, stops the queue."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator

import pytest
from softgpu.pm4_lib import (
    ACCUMULATE,
    BLOCKED,
    BUFFER,
    DATA,
    DONE,
    FAILED,
    FENCES,
    INNER,
    TARGETS,
    Machine,
    acquire,
    copy,
    dma,
    ffi,
    full_buffer,
    indirect,
    library,
    nop,
    packet,
    set_sh,
    show,
    wait,
    write,
)


@pytest.fixture(params=TARGETS)
def machine(request: pytest.FixtureRequest) -> Iterator[Machine]:
    with Machine(request.param) as made:
        yield made


def refused(machine: Machine, words: list[int], *phrases: str, dword: int = 0) -> None:
    """The buffer fails at that dword, and the report says so in these words."""
    assert machine.run(words) == FAILED
    report = machine.report()
    assert f"dword {dword} of the {len(words)}" in report
    for phrase in (machine.gfx, *phrases):
        assert phrase in report
    assert machine.start(nop()) == -1, "a failed queue accepts nothing more"


def test_a_buffer_with_every_packet_runs_on_every_target(machine: Machine) -> None:
    outer, _ = full_buffer(machine)
    assert machine.run(outer) == DONE, machine.report()
    assert machine.warnings() == ""
    assert machine.left_behind() == (0, "")
    assert machine.raw.dispatched == 4
    assert machine.raw.faults == 0
    a, b = list(range(7, 71)), list(range(100, 164))
    out = [i + a[i] * b[i] + 1 if i < 60 else i for i in range(64)]
    out = [value + 1 for group in range(4) for value in reversed(out[16 * group : 16 * group + 16])]
    out = [value + a[i] * b[i] + 1 if i < 48 else value for i, value in enumerate(out)]
    assert machine.words(DATA, 64) == out
    assert machine.words(DATA + 0x900, 16) == a[:16]
    assert machine.words(DATA + 0xA00, 2) == b[2:4]
    assert machine.words(FENCES, 2) == [0xFFFFFFFF, 0x12345678]


def test_the_same_buffer_runs_again_on_the_same_queue(machine: Machine) -> None:
    outer, _ = full_buffer(machine)
    for _ in range(3):
        assert machine.run(outer) == DONE, machine.report()
    assert machine.warnings() == ""
    assert machine.raw.dispatched == 12


@pytest.mark.parametrize("gfx", ["gfx1010", "gfx1012", "gfx1036", "gfx1101", "gfx1103", "gfx1152", "gfx1200"])
def test_every_exact_target_has_a_queue(gfx: str) -> None:
    with Machine(gfx) as machine:
        assert machine.run(nop()) == DONE


@pytest.mark.parametrize("gfx", ["gfx1250", "gfx12", "gfx1202", "gfx11-generic", "gfx90a", "gfx1100 ", ""])
def test_a_target_that_is_not_exactly_known_has_no_queue(gfx: str) -> None:
    """C073"""
    assert library().machine_queue(library().machine_new(False), gfx.encode()) == ffi.NULL


UNKNOWN = {
    "opcode": ([0xC000A000, 0], "unknown packet, opcode 0xA0"),
    "uconfig": (packet(0x79, 0, 0), "unknown packet"),
    "indirect dispatch": (packet(0x16, 0, 0), "unknown packet"),
    "type 0": ([0x00001000], "not a type 3"),
    "type 2": ([0x80000000], "not a type 3"),
    "zero": ([0], "not a type 3"),
    "predicate": ([0xC0001001, 0], "header bits 0x01"),
    "header bits": ([0xC0001084, 0], "header bits 0x84"),
    "short": (packet(0x58, 0, 0, 0, 0, 0, 0), "ACQUIRE_MEM with 6 body dwords, it has 7"),
    "long": (packet(0x46, 0x407, 0), "EVENT_WRITE with 2 body dwords, it has 1"),
    "cut off": ([0xC0064900, 0, 0], "goes past the end"),
    "nop past the end": ([0xC0041000, 0], "goes past the end"),
    "registers without values": (packet(0x76, 0x204), "SET_SH_REG with 1 body dwords"),
    "register": (set_sh(0x250, 0), "no compute register at 0x250"),
    "graphics register": (set_sh(0x10C, 0), "no compute register at 0x10C"),
    "run past the window": (set_sh(0x24F, 0, 0), "no compute register at 0x250"),
    "offset in bytes": (set_sh(0x830, 0), "no compute register at 0x830"),
    "vmid": (packet(0x76, 0x204 | 1 << 23, 0), "vmid_shift is 1"),
    "index": (packet(0x76, 0x204 | 1 << 28, 0), "index is 1"),
    "reserved offset bits": (packet(0x76, 0x204 | 1 << 16, 0), "reserved bits 0x00010000"),
    "address bits": (set_sh(0x20D, 0x100), "reserved bits 0x00000100 of COMPUTE_PGM_HI"),
    "initiator": (set_sh(0x200, 1), "COMPUTE_DISPATCH_INITIATOR is set by the packet processor"),
    "vmid register": (set_sh(0x214, 1), "COMPUTE_VMID is set by the packet processor"),
    "event": (packet(0x46, 0x2F), "event 47 (CS_DONE)"),
    "event index": (packet(0x46, 0x007), "with index 0"),
    "event bits": (packet(0x46, 0x407 | 1 << 12), "reserved bits 0x00001000"),
    "event offload": (packet(0x46, 0x407 | 1 << 31), "offload_enable is 1"),
}


@pytest.mark.parametrize("case", UNKNOWN)
def test_what_is_not_known_stops_the_queue(machine: Machine, case: str) -> None:
    words, phrase = UNKNOWN[case]
    refused(machine, [*nop(), *words], phrase, dword=1)


@pytest.mark.parametrize("gfx", ["gfx1100", "gfx1201"])
def test_a_register_means_what_it_means_on_that_target(gfx: str) -> None:
    """C073: 0x22B and 0x230 are CU masks or relaunch registers, and RSRC3 is 0x228 everywhere."""
    texts = {
        "gfx1100": "no compute register at 0x223",
        "gfx1201": "STATIC_THREAD_MGMT_SE8 belongs to the queue",
    }
    with Machine(gfx, strict=True) as machine:
        assert machine.run(set_sh(0x223, 0)) == FAILED
        assert texts[gfx] in machine.report()
    with Machine("gfx1030", strict=True) as machine:
        assert machine.run(set_sh(0x22B, 0)) == FAILED
        assert "COMPUTE_RELAUNCH is set by the packet processor" in machine.report()
    with Machine(gfx, strict=True) as machine:
        assert machine.run(set_sh(0x22B, 0xFFFFFFFF)) == FAILED
        assert "STATIC_THREAD_MGMT_SE4 belongs to the queue" in machine.report()


def test_the_report_names_place_and_decoded_packet(machine: Machine) -> None:
    words = [*nop(1, 2, 3), *write(machine.base + DATA, 5), *packet(0x46, 0x407 | 1 << 6)]
    assert machine.run(words) == FAILED
    assert machine.report() == (
        f"PM4 {machine.gfx}, dword 9 of the 11 at 0x{machine.base + BUFFER:x}: EVENT_WRITE, body dword 0: "
        "reserved bits 0x00000040 are set\n  EVENT_WRITE event_type=CS_PARTIAL_FLUSH event_index=4"
    )
    assert machine.words(DATA, 1) == [5], "what stands before the failure was executed"


def test_a_buffer_that_cannot_be_one_is_not_started(machine: Machine) -> None:
    start, queue, base = machine.lib.sg_pm4_start, machine.queue, machine.base + BUFFER
    for address, dwords, phrase in (
        (base, 0, "1 to 0xFFFFF"),
        (base, 0x100000, "1 to 0xFFFFF"),
        (base + 2, 4, "aligned to 4"),
        (base + 0x6000, 4, "not in GPU memory"),
        (base, 0x6000, "not in GPU memory"),
        (0, 4, "not in GPU memory"),
        (2**64 - 8, 4, "not in GPU memory"),
    ):
        assert start(queue, address, dwords) == -1
        assert phrase in machine.report()
    assert machine.run(nop()) == DONE, "a refusal leaves the queue usable"
    machine.put(FENCES, bytes(4))
    assert machine.start(wait(machine.base + FENCES, 1)) == 0
    assert machine.step() == BLOCKED
    assert machine.start(nop(), INNER) == -1
    assert "still being executed" in machine.report()
    machine.put(FENCES, struct.pack("<I", 1))
    assert machine.step() == DONE
    assert machine.step() == DONE, "an idle queue is done"


def test_a_nested_buffer_returns_and_a_chained_one_does_not(machine: Machine) -> None:
    inner = write(machine.base + DATA, 1)
    machine.put(INNER, struct.pack(f"<{len(inner)}I", *inner))
    call = indirect(machine.base + INNER, len(inner))
    assert machine.run([*call, *write(machine.base + DATA + 4, 2)]) == DONE
    assert machine.words(DATA, 2) == [1, 2]
    chain = indirect(machine.base + INNER, len(inner), 1 << 23 | 1 << 20)
    assert (
        machine.run([*write(machine.base + DATA, 0, 0), *chain, *write(machine.base + DATA + 4, 3)]) == DONE
    )
    assert machine.words(DATA, 2) == [1, 0]


def test_registers_set_in_a_nested_buffer_stay_set(machine: Machine) -> None:
    inner = machine.registers(ACCUMULATE, (32, 1, 1), (2, 1, 1))
    machine.put(INNER, struct.pack(f"<{len(inner)}I", *inner))
    words = [
        *machine.entry_acquire(),
        *indirect(machine.base + INNER, len(inner)),
        *packet(0x15, 2, 1, 1, machine.initiator(ACCUMULATE)),
        *machine.boundary(),
    ]
    assert machine.run(words) == DONE, machine.report()


def test_a_failure_in_a_nested_buffer_names_both_places(machine: Machine) -> None:
    machine.put(INNER, struct.pack("<3I", *nop(), *nop(), 0))
    assert machine.run([*nop(), *indirect(machine.base + INNER, 3)]) == FAILED
    assert "called at dword 5" in machine.report()
    assert f"dword 2 of the 3 at 0x{machine.base + INNER:x}" in machine.report()


def test_nesting_and_chains_have_an_end(machine: Machine) -> None:
    loop = indirect(machine.base + BUFFER, 4, 1 << 23 | 1 << 20)
    refused(machine, loop, "endless chain")
    with Machine(machine.gfx) as other:
        assert other.run(indirect(other.base + BUFFER, 4)) == FAILED
        assert "a third level of indirect buffers" in other.report()


@pytest.mark.parametrize(
    ("change", "phrase"),
    [
        ({3: 4}, "VALID is not set"),
        ({3: 1 << 23}, "1 to 0xFFFFF dwords"),
        ({3: 4 | 1 << 23 | 1 << 24}, "vmid is 1"),
        ({3: 4 | 1 << 23 | 1 << 21}, "offload_polling is 1"),
        ({3: 4 | 1 << 23 | 1 << 31}, "reserved bits 0x80000000"),
        ({1: 2}, "reserved bits 0x00000002"),
        ({2: 0x7777}, "not in GPU memory"),
    ],
)
def test_a_bad_indirect_buffer_packet_is_refused(
    machine: Machine, change: dict[int, int], phrase: str
) -> None:
    words = indirect(machine.base + INNER, 4)
    for index, value in change.items():
        words[index] = value
    refused(machine, words, phrase)


def test_data_moves(machine: Machine) -> None:
    data = machine.base + DATA
    words = [
        *write(data + 0x900, 11, 12, 13),
        *copy(data + 0x900, data + 0x910),
        *copy(data + 0x908, data + 0x918, 2 | 2 << 8 | 1 << 20),
        *copy(0x1122334455667788, data + 0x920, 5 | 5 << 8 | 1 << 16 | 1 << 20),
        *dma(data + 0x900, data + 0x930, 7),
        *dma(0xABCD, data + 0x940, 8, 3 << 20 | 2 << 29 | 1 << 31),
        *copy(0, data + 0x950, 9 | 5 << 8 | 1 << 16 | 1 << 20),
    ]
    assert machine.run(words) == DONE, machine.report()
    assert machine.warnings() == ""
    assert machine.words(DATA + 0x900, 3) == [11, 12, 13]
    assert machine.words(DATA + 0x910, 4) == [11, 12, 13, 0xA5A5A5A5]
    assert machine.words(DATA + 0x920, 2) == [0x55667788, 0x11223344]
    assert machine.get(DATA + 0x930, 8) == struct.pack("<II", 11, 12)[:7] + b"\xa5"
    assert machine.words(DATA + 0x940, 3) == [0xABCD, 0xABCD, 0xA5A5A5A5]
    assert machine.words(DATA + 0x950, 2) == [100, 0]


OUT = 2**47
MOVES: dict[str, tuple[Callable[[int], list[int]], str]] = {
    "write to a register": (lambda at: write(at, 1, control=1 << 20), "dst_sel 0 is not memory"),
    "write outside": (lambda at: write(OUT, 1), "is not writable GPU memory"),
    "write over the end": (lambda at: write(at + 0xBFFC, 1, 2), "is not writable GPU memory"),
    "write misaligned": (lambda at: write(at + 2, 1), "reserved bits 0x00000002"),
    "write reserved": (lambda at: write(at, 1, control=5 << 8 | 1 << 20 | 1), "reserved bits 0x00000001"),
    "copy from a register": (lambda at: copy(0, at, 0 | 2 << 8 | 1 << 20), "src_sel 0 is neither"),
    "copy to a register": (lambda at: copy(at, 0, 2 | 1 << 20), "dst_sel 0 is not memory"),
    "copy to a counter": (lambda at: copy(at, 0, 2 | 4 << 8 | 1 << 20), "dst_sel 4 is not memory"),
    "copy from outside": (lambda at: copy(OUT, at), "the source 0x800000000000 is not GPU memory"),
    "copy to outside": (lambda at: copy(at, OUT), "the destination 0x800000000000 is not writable"),
    "copy misaligned": (lambda at: copy(at + 4, at + 8), "not aligned to 8"),
    "copy to misaligned": (lambda at: copy(at, at + 4), "not aligned to 8"),
    "long immediate": (lambda at: copy(1 << 32, at, 5 | 2 << 8 | 1 << 20), "upper half"),
    "clock with an address": (lambda at: copy(at, at, 9 | 2 << 8 | 1 << 16 | 1 << 20), "source is a clock"),
    "half a clock": (lambda at: copy(0, at, 9 | 2 << 8 | 1 << 20), "a clock has 64 bits"),
    "phase update": (
        lambda at: copy(at, at + 8, 2 | 2 << 8 | 1 << 16 | 1 << 20 | 1 << 29),
        "pq_exe_status is 1",
    ),
    "dma from outside": (lambda at: dma(OUT, at, 4), "is not GPU memory"),
    "dma to outside": (lambda at: dma(at, OUT, 4), "is not writable GPU memory"),
    "dma of nothing": (lambda at: dma(at, at + 64, 0), "0 bytes"),
    "dma over itself": (lambda at: dma(at, at + 32, 64), "overlap"),
    "dma to nowhere": (lambda at: dma(at, at + 64, 4, 2 << 20 | 3 << 29 | 1 << 31), "dst_sel 2"),
    "dma from gds": (lambda at: dma(at, at + 64, 4, 3 << 20 | 1 << 29 | 1 << 31), "src_sel 1"),
    "dma that stands": (lambda at: dma(at, at + 64, 4 | 1 << 29), "daic is 1"),
    "dma nobody sees": (lambda at: dma(at, at + 64, 4 | 1 << 31), "DIS_WC"),
    "crooked fill": (lambda at: dma(1, at, 6, 3 << 20 | 2 << 29 | 1 << 31), "aligned to 4"),
    "wide fill": (lambda at: dma(1 << 32, at, 8, 3 << 20 | 2 << 29 | 1 << 31), "32 bits of data"),
}


@pytest.mark.parametrize("case", MOVES)
def test_a_bad_data_move_is_refused(machine: Machine, case: str) -> None:
    make, phrase = MOVES[case]
    before = machine.get(0, BUFFER)
    refused(machine, make(machine.base + DATA), phrase)
    assert machine.get(0, BUFFER) == before


def test_memory_that_cannot_be_written_is_not_written(machine: Machine) -> None:
    machine.raw.read_only = DATA
    refused(machine, write(machine.base + DATA - 4, 1), "is not writable GPU memory")


@pytest.mark.parametrize(
    ("words", "phrase"),
    [
        (lambda at: write(at, 1, control=5 << 8), "without WR_CONFIRM"),
        (lambda at: write(at, 1, 2, control=5 << 8 | 1 << 20 | 1 << 16), "all data goes to one address"),
        (lambda at: copy(at, at + 8, 2 | 2 << 8 | 1 << 16), "without WR_CONFIRM"),
        (lambda at: dma(at, at + 64, 4, 3 << 20 | 3 << 29), "without CP_SYNC"),
    ],
)
def test_a_move_that_later_packets_may_overtake_is_reported(
    machine: Machine, words: Callable[[int], list[int]], phrase: str
) -> None:
    assert machine.run(words(machine.base + DATA)) == DONE
    assert phrase in machine.warnings()


def test_decoded_text_has_one_line_a_packet_and_names_registers(machine: Machine) -> None:
    outer, _ = full_buffer(machine)
    lines = show(machine.gfx, outer).splitlines()
    names = [line.split()[1] for line in lines]
    assert names.count("DISPATCH_DIRECT") == 3
    assert names[0] == "ACQUIRE_MEM"
    assert "?" not in show(machine.gfx, outer)
    text = show(machine.gfx, set_sh(0x213, 2 << 15 | 2 << 1))
    assert text == "    0: SET_SH_REG COMPUTE_PGM_RSRC2=0x10004{user_sgpr=2 lds_size=2}\n"
    text = show(machine.gfx, packet(0x15, 4, 1, 2, 0x8005))
    assert "dim_x=4" in text
    assert "{compute_shader_en=1 force_start_at_000=1 cs_w32_en=1}" in text


def test_decoded_text_marks_what_it_does_not_know() -> None:
    text = show("gfx1100", [0, *packet(0xA5, 0), *set_sh(0x250, 7), *packet(0x58, 0)])
    assert text.splitlines() == [
        "    0: ?? 0x00000000 (not a type 3 packet)",
        "    1: ?? 0xC000A500 (unknown opcode)",
        "    2: ?? 0x00000000 (not a type 3 packet)",
        "    3: SET_SH_REG ?0x250=0x7",
        "    6: ACQUIRE_MEM ?1 body dwords",
    ]
    assert "unknown target gfx9" in show("gfx9", nop())
    assert "?cut off" in show("gfx1201", acquire(0x180)[:4])


def test_decoded_text_fits_the_room_it_is_given() -> None:
    words = ffi.new("uint32_t[]", set_sh(0x212, 1, 2))
    whole = show("gfx1100", set_sh(0x212, 1, 2))
    for size in range(len(whole) + 2):
        text = ffi.new("char[]", b"#" * (len(whole) + 2))
        assert library().sg_pm4_print(b"gfx1100", words, 4, text, size) == len(whole)
        if size:
            assert ffi.string(text).decode() == whole[: size - 1]
        assert ffi.buffer(text)[size] == b"#" if size <= len(whole) else True
