# SPDX-License-Identifier: Apache-2.0
"""A dispatch must fit its kernel descriptor, and what buffers leave in registers is known."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator

import pytest
from softgpu.pm4_lib import (
    ACCUMULATE,
    BUFFER,
    COUNT,
    DATA,
    DESCRIPTORS,
    DONE,
    FAILED,
    PACKETS,
    REVERSE,
    TARGETS,
    WAVE32,
    Kernel,
    Machine,
    direct,
    ffi,
    high,
    low,
    nop,
    set_sh,
)

ONE = (2, 1, 1)
WAVE = (32, 1, 1)


@pytest.fixture(params=TARGETS)
def machine(request: pytest.FixtureRequest) -> Iterator[Machine]:
    with Machine(request.param) as made:
        yield made


def ending(machine: Machine, *middle: int) -> list[int]:
    return [*machine.entry_acquire(), *middle, *machine.boundary()]


def refused(machine: Machine, words: list[int], *phrases: str) -> None:
    assert machine.run(ending(machine, *words)) == FAILED
    for phrase in phrases:
        assert phrase in machine.report()
    assert machine.raw.dispatched == 0


@pytest.mark.parametrize("threads", [False, True])
def test_the_host_gets_what_the_registers_say(machine: Machine, threads: bool) -> None:
    words = machine.dispatch(COUNT, (4, 2, 2), (3, 5, 7), threads=threads)
    assert machine.run(ending(machine, *words)) == DONE, machine.report()
    got = machine.raw.last
    assert (list(got.groups), list(got.workgroup)) == ([3, 5, 7], [4, 2, 2])
    assert (got.entry, got.descriptor) == (machine.entry(COUNT), machine.base + DESCRIPTORS + 64 * COUNT)
    assert (got.kernarg, got.wave_size, got.lds_bytes) == (machine.kernarg(COUNT), 64, 0)
    count = 8 if machine.gfx == "gfx1030" else 2
    assert got.user_sgpr_count == count
    assert list(got.user_sgpr)[count - 2 :] == [low(got.kernarg), high(got.kernarg), *[0] * (32 - count)]
    assert got.dispatch_packet == (machine.base + PACKETS if machine.gfx == "gfx1030" else 0)


def test_lds_may_be_larger_but_not_smaller_than_the_kernels(machine: Machine) -> None:
    shape = [*machine.registers(REVERSE, WAVE, ONE, lds=4096), *direct(ONE, machine.initiator(REVERSE))]
    assert machine.run(ending(machine, *shape)) == DONE, machine.report()
    assert machine.raw.last.lds_bytes == 4096
    small = [*machine.registers(REVERSE, WAVE, ONE, lds=0), *direct(ONE, machine.initiator(REVERSE))]
    assert machine.run(ending(machine, *small)) == FAILED
    assert "RSRC2.LDS_SIZE gives 0 bytes, the kernel needs 256" in machine.report()
    with Machine(machine.gfx) as other:
        large = [*other.registers(REVERSE, WAVE, ONE, lds=66048), *direct(ONE, other.initiator(REVERSE))]
        refused(other, large, "RSRC2.LDS_SIZE gives 66048 bytes", "65536 is the limit")


def changed(machine: Machine, offset: int, change: Callable[[int], int]) -> list[int]:
    """A dispatch of ACCUMULATE with one register changed just before it starts."""
    words = machine.registers(ACCUMULATE, WAVE, ONE)
    index = 0
    value = None
    while index < len(words):
        count = (words[index] >> 16 & 0x3FFF) + 1
        first = words[index + 1]
        if first <= offset < first + count - 1:
            value = words[index + 2 + offset - first]
        index += 1 + count
    assert value is not None
    return [*words, *set_sh(offset, change(value)), *direct(ONE, machine.initiator(ACCUMULATE))]


REGISTERS: dict[str, tuple[int, Callable[[int], int], str]] = {
    "vgprs": (0x212, lambda v: v ^ 1, "COMPUTE_PGM_RSRC1.vgprs is 0, the kernel descriptor says 1"),
    "priority": (0x212, lambda v: v | 1 << 10, "COMPUTE_PGM_RSRC1.priority is 1"),
    "float mode": (
        0x212,
        lambda v: v ^ 1 << 19,
        "COMPUTE_PGM_RSRC1.float_mode is 112, the kernel descriptor says 240",
    ),
    "wgp mode": (0x212, lambda v: v ^ 1 << 29, "COMPUTE_PGM_RSRC1.wgp_mode is 0"),
    "user sgprs": (0x213, lambda v: v ^ 4 << 1, "COMPUTE_PGM_RSRC2.user_sgpr is"),
    "group id": (0x213, lambda v: v ^ 1 << 8, "COMPUTE_PGM_RSRC2.tgid_y_en is 0"),
    "thread ids": (0x213, lambda v: v ^ 1 << 11, "COMPUTE_PGM_RSRC2.tidig_comp_cnt is 1"),
    "scratch": (0x213, lambda v: v | 1, "COMPUTE_PGM_RSRC2.scratch_en is 1"),
    "exceptions": (0x213, lambda v: v | 1 << 24, "COMPUTE_PGM_RSRC2.excp_en is 1"),
    "rsrc3": (0x228, lambda v: v ^ 1, "COMPUTE_PGM_RSRC3.shared_vgpr_cnt is"),
    "no such code": (0x20C, lambda v: v ^ 1 << 4, "no kernel begins at 0x"),
    "code far away": (0x20D, lambda v: v ^ 1, "no kernel begins at 0x"),
    "no threads": (0x208, lambda v: 0, "NUM_THREAD_Y is 0"),
    "partial": (0x207, lambda v: v | 16 << 16, "partial work-groups and interleaving"),
    "too many threads": (0x208, lambda v: 64, "a work-group of 2048 work-items, 1024 is the limit"),
    "huge axis": (0x207, lambda v: 1056, "NUM_THREAD_X is 1056, a work-group has 1 to 1024"),
}


@pytest.mark.parametrize("case", REGISTERS)
def test_a_register_that_does_not_fit_the_descriptor_is_refused(machine: Machine, case: str) -> None:
    offset, change, phrase = REGISTERS[case]
    refused(machine, changed(machine, offset, change), phrase)


def test_bit_6_of_rsrc2_is_traps_or_dynamic_vgprs(machine: Machine) -> None:
    """H14: TRAP_PRESENT is wanted below gfx12, where the bit has another meaning."""
    phrase = "dynamic_vgpr is 1" if machine.gfx.startswith("gfx12") else "TRAP_PRESENT is not set"
    refused(machine, changed(machine, 0x213, lambda value: value ^ 1 << 6), phrase)


PRIV = {
    "gfx1030": (DONE, "", FAILED, "gfx1030 needs no such work-around"),
    "gfx1100": (FAILED, "RSRC1.PRIV is not set", DONE, ""),
    "gfx1101": (FAILED, "RSRC1.PRIV is not set", DONE, ""),
    "gfx1102": (FAILED, "RSRC1.PRIV is not set", DONE, ""),
    "gfx1103": (DONE, "two shader arrays may hang", DONE, ""),
    "gfx1151": (DONE, "", DONE, "gfx1151 does not need it"),
    "gfx1201": (DONE, "", FAILED, "gfx1201 needs no such work-around"),
}


@pytest.mark.parametrize("gfx", PRIV)
def test_priv_is_set_exactly_where_gfx11_needs_it(gfx: str) -> None:
    """H14"""
    for value, (status, phrase) in enumerate((PRIV[gfx][:2], PRIV[gfx][2:])):
        with Machine(gfx) as machine:
            words = [*machine.registers(ACCUMULATE, WAVE, ONE)]
            words += set_sh(0x212, machine.kernels[ACCUMULATE].rsrc1 | value << 20)
            words += direct(ONE, machine.initiator(ACCUMULATE))
            assert machine.run(ending(machine, *words)) == status, machine.report()
            text = machine.report() if status == FAILED else machine.warnings()
            assert phrase in text if phrase else text == ""


INITIATORS = {
    "no shader": (0, 1 << 0, "COMPUTE_SHADER_EN is not set"),
    "partial groups": (1 << 1, 0, "initiator bit partial_tg_en"),
    "ordered append": (1 << 3, 0, "initiator bit ordered_append_enbl"),
    "append mode": (1 << 4, 0, "initiator bit ordered_append_mode"),
    "volatile": (1 << 10, 0, "initiator bit scalar_l1_inv_vol"),
    "restore": (1 << 14, 0, "initiator bit restore"),
    "wave64": (0, 1 << 15, "CS_W32_EN is 0, the kernel descriptor says wave32"),
    "reserved": (1 << 7, 0, "reserved bits 0x00000080 of the initiator"),
    "more reserved": (1 << 20, 0, "reserved bits 0x00100000 of the initiator"),
}


@pytest.mark.parametrize("case", INITIATORS)
def test_a_bad_initiator_is_refused(machine: Machine, case: str) -> None:
    add, drop, phrase = INITIATORS[case]
    initiator = (machine.initiator(ACCUMULATE) | add) & ~drop
    refused(machine, [*machine.registers(ACCUMULATE, WAVE, ONE), *direct(ONE, initiator)], phrase)


def test_a_wave64_kernel_is_not_started_as_wave32(machine: Machine) -> None:
    words = [*machine.registers(COUNT, (2, 2, 1), ONE), *direct(ONE, machine.initiator(COUNT) | 1 << 15)]
    refused(machine, words, "CS_W32_EN is 1, the kernel descriptor says wave64")


@pytest.mark.parametrize(
    ("dims", "phrase"), [((65, 1, 1), "65 work-items in x"), ((64, 1, 0), "no work-group in z")]
)
def test_a_grid_of_threads_has_whole_work_groups(
    machine: Machine, dims: tuple[int, int, int], phrase: str
) -> None:
    words = machine.registers(ACCUMULATE, WAVE, ONE)
    refused(machine, [*words, *direct(dims, machine.initiator(ACCUMULATE, threads=True))], phrase)


@pytest.mark.parametrize(
    ("dims", "phrase"), [((2, 0, 1), "no work-group in y"), ((1 << 28, 1, 1), "more than 2^32")]
)
def test_a_grid_of_groups_is_sane(machine: Machine, dims: tuple[int, int, int], phrase: str) -> None:
    words = machine.registers(ACCUMULATE, WAVE, ONE)
    refused(machine, [*words, *direct(dims, machine.initiator(ACCUMULATE))], phrase)


@pytest.mark.parametrize("start", [None, (0, 0, 0), (0, 3, 0)])
def test_a_dispatch_starts_at_zero(machine: Machine, start: tuple[int, int, int] | None) -> None:
    begin = set_sh(0x204, *start) if start else []
    words = [*begin, *machine.dispatch(ACCUMULATE, force_start=False)]
    if start == (0, 0, 0):
        assert machine.run(ending(machine, *words)) == DONE
    else:
        phrase = "START_Y is 3" if start else "COMPUTE_START_X holds nothing"
        refused(machine, words, phrase)


def test_a_forced_start_ignores_start_but_the_value_left_is_reported(machine: Machine) -> None:
    words = [*set_sh(0x204, 0, 3, 0), *machine.dispatch(ACCUMULATE)]
    assert machine.run(ending(machine, *words)) == DONE
    assert machine.left_behind() == (1, "COMPUTE_START_Y was left 0x3, it was 0. ")


NEEDED = {
    0x20C: "PGM_LO",
    0x20D: "PGM_HI",
    0x212: "RSRC1",
    0x213: "RSRC2",
    0x228: "RSRC3",
    0x209: "NUM_THREAD_Z",
}


@pytest.mark.parametrize("offset", NEEDED)
def test_a_register_that_nobody_set_is_noticed(machine: Machine, offset: int) -> None:
    words = machine.registers(ACCUMULATE, WAVE, ONE)
    index = 0
    while index < len(words):
        count = words[index] >> 16 & 0x3FFF
        first = words[index + 1]
        if first <= offset < first + count:
            # The same packet without its values from `offset` on becomes a NOP and a shorter packet.
            keep = offset - first
            head = set_sh(first, *words[index + 2 : index + 2 + keep]) if keep else []
            tail_from = offset + 1
            tail = words[index + 3 + keep : index + 2 + count]
            words[index : index + 2 + count] = [*head, *(set_sh(tail_from, *tail) if tail else [])]
            break
        index += 2 + count
    words += direct(ONE, machine.initiator(ACCUMULATE))
    refused(machine, words, f"{NEEDED[offset]} holds nothing of this queue's buffers")


def test_user_data_that_nobody_set_is_noticed(machine: Machine) -> None:
    words = machine.registers(ACCUMULATE, WAVE, ONE)
    count = words[-1 - (8 if machine.gfx == "gfx1030" else 2) - 1] >> 16
    assert count & 0x3FFF == (8 if machine.gfx == "gfx1030" else 2)
    user = words[-(count & 0x3FFF) :]
    words = [
        *words[: -len(user) - 2],
        *set_sh(0x240, *user[:-1]),
        *direct(ONE, machine.initiator(ACCUMULATE)),
    ]
    refused(machine, words, f"COMPUTE_USER_DATA_{len(user) - 1} holds nothing")


def test_registers_stay_from_buffer_to_buffer(machine: Machine) -> None:
    assert machine.run(ending(machine, *machine.registers(ACCUMULATE, WAVE, ONE))) == DONE
    assert machine.run(ending(machine, *direct(ONE, machine.initiator(ACCUMULATE)))) == DONE, machine.report()
    assert machine.words(DATA, 1) == [701]


def test_an_aql_dispatch_in_between_takes_them_away(machine: Machine) -> None:
    assert machine.run(ending(machine, *set_sh(0x204, 0, 0, 0), *machine.dispatch(ACCUMULATE))) == DONE
    machine.lib.sg_pm4_aql_dispatched(machine.queue)
    whole = machine.dispatch(ACCUMULATE, force_start=False)
    assert machine.run(ending(machine, *whole)) == DONE, "START is not one of them"
    machine.lib.sg_pm4_aql_dispatched(machine.queue)
    assert machine.run(ending(machine, *direct(ONE, machine.initiator(ACCUMULATE)))) == FAILED
    assert (
        "PGM_LO holds nothing of this queue's buffers (never written, or an AQL dispatch" in machine.report()
    )


def test_queues_do_not_share_registers(machine: Machine) -> None:
    other = machine.lib.machine_queue(machine.raw, machine.gfx.encode())
    assert machine.run(ending(machine, *machine.registers(ACCUMULATE, WAVE, ONE))) == DONE
    words = ending(machine, *direct(ONE, machine.initiator(ACCUMULATE)))
    machine.put(BUFFER, struct.pack(f"<{len(words)}I", *words))
    assert machine.lib.sg_pm4_start(other, machine.base + BUFFER, len(words)) == 0
    assert machine.lib.machine_steps(other, 9) == FAILED
    machine.lib.sg_pm4_queue_free(other)
    assert machine.run(words) == DONE, "and one that fails does not stop another"


OWNED = {
    0x20A: 0, 0x20B: 1, 0x20E: 1, 0x210: 1, 0x215: 0x3FF, 0x216: 0xFFFFFFFF, 0x217: 0, 0x218: 1, 0x219: 1,
    0x21E: 1, 0x21F: 1 << 5, 0x222: 1, 0x224: 1, 0x22A: 1, 0x27D: 1,
}  # fmt: skip


@pytest.mark.parametrize("offset", OWNED)
def test_a_write_to_a_register_of_the_queue_is_reported(machine: Machine, offset: int) -> None:
    """C073, H15"""
    assert machine.run(set_sh(offset, OWNED[offset])) == DONE, machine.report()
    assert "belongs to the queue: a buffer must not write it" in machine.warnings()
    count, text = machine.left_behind()
    assert count == 1
    assert text.startswith("COMPUTE_")
    with Machine(machine.gfx, strict=True) as strict:
        assert strict.run(set_sh(offset, OWNED[offset])) == FAILED


def test_what_is_left_behind_is_told_for_each_register(machine: Machine) -> None:
    assert machine.left_behind() == (0, "")
    words = [
        *set_sh(0x204, 0, 0, 0),
        *set_sh(0x21B, 0, 9, 0),
        *set_sh(0x215, 0),
        *set_sh(0x218, 0),
        *set_sh(0x20A, 1),
    ]
    assert machine.run([*words, *machine.registers(ACCUMULATE, WAVE, ONE)]) == DONE
    assert machine.left_behind() == (
        2,
        "COMPUTE_TMPRING_SIZE was left 0x0, what it was is lost. COMPUTE_RESTART_Y was left 0x9, it was 0. ",
    )
    assert machine.run(set_sh(0x21C, 0)) == DONE
    assert machine.left_behind()[0] == 1
    short = ffi.new("char[]", 8)
    assert machine.lib.sg_pm4_left_behind(machine.queue, short, 8) == 1
    assert ffi.string(short) == b"COMPUTE"


def with_kernel(machine: Machine, kernel: Kernel, *user: int) -> list[int]:
    """A dispatch of `kernel` with these user SGPRs."""
    machine.load(ACCUMULATE, kernel)
    words = machine.registers(ACCUMULATE, WAVE, ONE)
    first = next(i for i in range(len(words)) if words[i] == 0x240 and words[i - 1] & 0xFF00 == 0x7600)
    return [*words[: first - 1], *set_sh(0x240, *user), *direct(ONE, machine.initiator(ACCUMULATE))]


def plain(machine: Machine, sgprs: int, properties: int, **fields: int) -> Kernel:
    rsrc3 = 0 if machine.gfx.startswith("gfx10") else 0x30
    return Kernel(rsrc2=0x380 | sgprs << 1, rsrc3=rsrc3, properties=properties | WAVE32, **fields)


def test_user_sgprs_come_in_the_order_of_the_abi(machine: Machine) -> None:
    kernel = plain(machine, 15, 0x7F)
    packet = machine.aql_packet(ACCUMULATE, WAVE, ONE)
    kernarg = machine.kernarg(ACCUMULATE)
    words = with_kernel(
        machine, kernel, 0, 0, 0, 0, low(packet), high(packet), low(machine.base), high(machine.base),
        low(kernarg), high(kernarg), 5, 6, 0, 0, 64,
    )  # fmt: skip
    assert machine.run(ending(machine, *words)) == DONE, machine.report()
    got = machine.raw.last
    assert (got.dispatch_packet, got.kernarg, got.dispatch_id) == (packet, kernarg, 5 | 6 << 32)
    assert got.user_sgpr[14] == 64
    assert machine.warnings() == ""


def test_a_kernarg_address_is_aligned_and_in_memory(machine: Machine) -> None:
    base = machine.base
    for address in (base + 0x3008, 0, 2**47, base + 0xFFF0):
        with Machine(machine.gfx) as other:
            moved = address - base + other.base if base <= address < base + 0x10000 else address
            words = with_kernel(other, plain(other, 2, 8), low(moved), high(moved))
            refused(other, words, f"the kernarg address 0x{moved:x}")


def test_a_private_segment_buffer_without_scratch_is_zero(machine: Machine) -> None:
    kernarg = machine.kernarg(ACCUMULATE)
    words = with_kernel(machine, plain(machine, 6, 9), 0, 0, 7, 0, low(kernarg), high(kernarg))
    assert machine.run(ending(machine, *words)) == DONE
    assert "the private segment buffer in USER_DATA is not 0" in machine.warnings()


PACKET_CHANGES = {
    "work-group": (4, struct.pack("<H", 16), "another shape in x: work-group 16"),
    "grid": (16, struct.pack("<I", 2), "another shape in y"),
    "kernel": (32, bytes(8), "is for the kernel 0x0"),
    "kernarg": (40, bytes(8), "has the kernarg address 0x0"),
}


@pytest.mark.parametrize("case", PACKET_CHANGES)
def test_the_packet_behind_a_dispatch_pointer_is_of_this_dispatch(machine: Machine, case: str) -> None:
    offset, data, phrase = PACKET_CHANGES[case]
    kernarg = machine.kernarg(ACCUMULATE)
    machine.load(ACCUMULATE, plain(machine, 4, 10))
    packet = machine.aql_packet(ACCUMULATE, WAVE, ONE)
    words = with_kernel(
        machine, plain(machine, 4, 10), low(packet), high(packet), low(kernarg), high(kernarg)
    )
    machine.put(packet - machine.base + offset, data)
    refused(machine, words, phrase)


def test_a_dispatch_pointer_is_a_packet(machine: Machine) -> None:
    for pointer in (0, machine.base + 0x3804, 2**47):
        with Machine(machine.gfx) as other:
            moved = other.base + 0x3804 if pointer == machine.base + 0x3804 else pointer
            kernarg = other.kernarg(ACCUMULATE)
            words = with_kernel(
                other, plain(other, 4, 10), low(moved), high(moved), low(kernarg), high(kernarg)
            )
            refused(other, words, "is no packet in GPU memory")


def test_a_queue_pointer_is_in_memory(machine: Machine) -> None:
    refused(
        machine, with_kernel(machine, plain(machine, 2, 4), 16, 0), "the queue pointer 0x10 is not GPU memory"
    )


def test_more_user_sgprs_than_the_register_says_are_refused(machine: Machine) -> None:
    words = with_kernel(machine, plain(machine, 2, 10), 0, 0, 0, 0)
    refused(machine, words, "need more user SGPRs than its 2")


def test_preloaded_arguments_are_refused(machine: Machine) -> None:
    refused(machine, with_kernel(machine, plain(machine, 2, 8, preload=2), 0, 0), "wants arguments preloaded")


def test_a_descriptor_that_names_other_code_is_refused(machine: Machine) -> None:
    machine.put(DESCRIPTORS + 16, struct.pack("<q", 0x500))
    refused(machine, machine.dispatch(ACCUMULATE), "is not that of the code at 0x")


def scratch(machine: Machine, *begin: int) -> list[int]:
    kernel = plain(machine, 2, 8, private=64)
    kernel = kernel._replace(rsrc2=kernel.rsrc2 | 1)
    kernarg = machine.kernarg(ACCUMULATE)
    return [*begin, *with_kernel(machine, kernel, low(kernarg), high(kernarg))]


def scratch_at(machine: Machine, waves: int, size: int) -> list[int]:
    base = (machine.base + 0x6000) >> 8
    return [*set_sh(0x210, low(base), high(base)), *set_sh(0x218, waves | size << 12)]


def test_scratch_belongs_to_the_queue(machine: Machine) -> None:
    refused(machine, scratch(machine), "the kernel uses scratch, which belongs to the queue")


def test_scratch_of_the_buffer_is_reported_and_must_be_large_enough(machine: Machine) -> None:
    unit = 1024 if machine.gfx == "gfx1030" else 256
    assert machine.run(ending(machine, *scratch(machine, *scratch_at(machine, 2, 2048 // unit)))) == DONE
    assert machine.warnings().count("belongs to the queue") == 3
    with Machine(machine.gfx) as other:
        refused(
            other, scratch(other, *scratch_at(other, 2, 2048 // unit - 1)), "a wave of the kernel needs 2048"
        )
    with Machine(machine.gfx) as other:
        refused(other, scratch(other, *scratch_at(other, 4095, 8)), "is not writable GPU memory")


def test_a_kernel_with_scratch_is_not_started_without(machine: Machine) -> None:
    kernarg = machine.kernarg(ACCUMULATE)
    words = with_kernel(machine, plain(machine, 2, 8, private=16), low(kernarg), high(kernarg))
    refused(machine, words, "16 bytes of scratch and RSRC2.SCRATCH_EN is 0")


def test_what_the_host_refuses_stops_the_queue_with_its_sentence(machine: Machine) -> None:
    sentence = ffi.new("char[]", b"kernel accumulate has no twin")
    machine.raw.refuse = sentence
    assert machine.run([*machine.entry_acquire(), *machine.dispatch(ACCUMULATE)]) == FAILED
    assert "kernel accumulate has no twin\n  DISPATCH_DIRECT" in machine.report()


def test_odd_initiator_bits_are_reported(machine: Machine) -> None:
    words = [*machine.registers(ACCUMULATE, WAVE, ONE), *direct(ONE, machine.initiator(ACCUMULATE) | 1 << 13)]
    assert machine.run(ending(machine, *words)) == DONE
    assert "initiator bit tunnel_enable" in machine.warnings()


def test_gfx12_has_13_bits_of_threads(machine: Machine) -> None:
    words = changed(machine, 0x207, lambda value: value | 1 << 13)
    phrase = "partial work-groups and interleaving" if machine.gfx == "gfx1201" else "NUM_THREAD_X is 8224"
    refused(machine, words, phrase)
    assert machine.start(nop()) == -1
