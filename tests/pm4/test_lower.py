# SPDX-License-Identifier: Apache-2.0
"""Lowering: what each dispatch finds, what separates dependent ones, what it costs, what is refused."""

from __future__ import annotations

import struct
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from . import expected, replay
from .library import (
    FAMILY_TARGETS,
    NO_WORD,
    TARGETS,
    TRUSTED_CP,
    Buffer,
    Dispatch,
    Kernel,
    RefusedError,
    ffi,
    library,
    lower,
    show,
)
from .strategies import program

ALL_FAMILIES = pytest.mark.parametrize("gfx", FAMILY_TARGETS)


def dispatch_packets(buffer: Buffer) -> list[replay.Packet]:
    return [packet for packet in replay.packets(buffer.words) if packet.opcode == replay.DISPATCH]


def emitted_order(buffer: Buffer) -> list[int]:
    """Which dispatch of the input each packet is, by all that it needs; of equal ones the one due first."""
    left = dict(enumerate(buffer.dispatches))
    order = []
    for packet in dispatch_packets(buffer):
        matching = [
            index
            for index, dispatch in left.items()
            if packet.body[:3] == expected.groups(dispatch)
            and packet.body[3] == expected.initiator(buffer.kernels[dispatch.kernel])
            and expected.registers(buffer.gfx, buffer.kernels[dispatch.kernel], dispatch).items()
            <= packet.registers.items()
        ]
        found = min(matching, key=lambda index: buffer.dispatches[index].level)
        order.append(found)
        del left[found]
    assert not left
    return order


def epochs(buffer: Buffer) -> list[int]:
    """For each dispatch packet how many complete fences, a wait and then an invalidation, stand before it."""
    fences, waited, result = 0, False, []
    for packet in replay.packets(buffer.words):
        if packet.opcode in (replay.EVENT, replay.WAIT):
            waited = True
        elif packet.opcode == replay.ACQUIRE and waited and packet.body[6] == expected.level_gcr(buffer.gfx):
            fences, waited = fences + 1, False
        elif packet.opcode == replay.DISPATCH:
            assert not waited, "a dispatch between a wait and its invalidation"
            result.append(fences)
    return result


@ALL_FAMILIES
@pytest.mark.parametrize("trusted", [0, TRUSTED_CP])
@settings(max_examples=20, deadline=None)
@given(st.data())
def test_every_dispatch_finds_what_it_needs_and_dependent_ones_are_fenced(
    gfx: str, trusted: int, data: st.DataObject
) -> None:
    kernels, dispatches, edges = data.draw(program(gfx))
    buffer = lower(gfx, kernels, dispatches, cp_feature_version=trusted)
    order = emitted_order(buffer)
    position = {index: at for at, index in enumerate(order)}
    fences = epochs(buffer)
    for before, after in edges:
        assert fences[position[before]] < fences[position[after]]
    assert fences[-1] + 1 == buffer.levels == len({dispatch.level for dispatch in dispatches})
    assert show(gfx, buffer.words)[1] == 0


@ALL_FAMILIES
@settings(max_examples=20, deadline=None)
@given(st.data())
def test_equal_kernels_are_neighbours_within_a_level(gfx: str, data: st.DataObject) -> None:
    kernels, dispatches, _ = data.draw(program(gfx))
    buffer = lower(gfx, kernels, dispatches)
    ran = [(dispatches[index].level, dispatches[index].kernel) for index in emitted_order(buffer)]
    runs = [pair for at, pair in enumerate(ran) if at == 0 or ran[at - 1] != pair]
    assert len(runs) == len(set(runs))
    for (level, kernel), (next_level, next_kernel) in pairwise(runs):
        if level != next_level and (next_level, kernel) in runs:
            assert next_kernel == kernel, "the kernel that ran last goes on"


@ALL_FAMILIES
@settings(max_examples=20, deadline=None)
@given(st.data())
def test_places_let_every_dispatch_be_given_new_arguments_alone(gfx: str, data: st.DataObject) -> None:
    kernels, dispatches, _ = data.draw(program(gfx))
    buffer = lower(gfx, kernels, dispatches)
    moved = list(buffer.words)
    for dispatch, (kernarg, packet) in zip(dispatches, buffer.places, strict=True):
        properties = kernels[dispatch.kernel].properties
        assert (kernarg != NO_WORD) == bool(properties & 8) and (packet != NO_WORD) == bool(properties & 2)
        for place, address in ((kernarg, dispatch.kernarg), (packet, dispatch.packet)):
            if place != NO_WORD:
                assert moved[place] == address & 0xFFFFFFFF
                moved[place] += 0x100000
    moved_dispatches = [
        replace(dispatch, kernarg=dispatch.kernarg + 0x100000, packet=dispatch.packet + 0x100000)
        for dispatch in dispatches
    ]
    assert tuple(moved) == lower(gfx, kernels, moved_dispatches).words


@ALL_FAMILIES
def test_the_buffer_begins_with_an_acquire_and_ends_with_its_own_wait(gfx: str) -> None:
    buffer = lower(gfx, [Kernel()], [Dispatch()], cp_feature_version=TRUSTED_CP)
    found = list(replay.packets(buffer.words))
    assert found[0].opcode == replay.ACQUIRE and found[0].body[6] == expected.level_gcr(gfx)
    after = [packet for packet in found if packet.at > dispatch_packets(buffer)[-1].at]
    assert (after[0].opcode, after[0].body) == (replay.EVENT, (0x407,))
    left = [(packet.opcode, packet.body[6]) for packet in after[1:]]
    assert left == ([(replay.ACQUIRE, 0x40)] if gfx == "gfx1010" else [])


@ALL_FAMILIES
def test_system_scope_at_entry_and_exit_on_request(gfx: str) -> None:
    buffer = lower(gfx, [Kernel()], [Dispatch()], system_entry=True, system_exit=True)
    found = list(replay.packets(buffer.words))
    assert found[0].body[6] == expected.system_gcr(gfx)
    assert (found[-1].opcode, found[-1].body[6]) == (replay.ACQUIRE, expected.exit_gcr(gfx, True))


@pytest.mark.parametrize(("gfx", "fixed_in"), [("gfx1010", 32), ("gfx1030", 35)])
def test_old_gfx10_microcode_waits_for_a_fence_word_that_is_cleared_first(gfx: str, fixed_in: int) -> None:
    dispatches = [Dispatch(level=0), Dispatch(level=1), Dispatch(level=2)]
    for version in (0, fixed_in - 1):
        buffer = lower(gfx, [Kernel()], dispatches, cp_feature_version=version)
        found = list(replay.packets(buffer.words))
        kinds = [packet.opcode for packet in found if packet.opcode != replay.SET]
        fence = [replay.RELEASE, replay.WAIT, replay.ACQUIRE]
        assert kinds == [
            *(replay.ACQUIRE, replay.WRITE, replay.DISPATCH),
            *(*fence, replay.DISPATCH) * 2,
            *(fence if gfx == "gfx1010" else fence[:2]),
        ]
        clear = next(packet for packet in found if packet.opcode == replay.WRITE)
        assert clear.body == (2 << 8 | 1 << 20, 0x40, 0x7F00, 0)
        releases = [packet.body for packet in found if packet.opcode == replay.RELEASE]
        waits = [packet.body for packet in found if packet.opcode == replay.WAIT]
        assert [body[4] for body in releases] == [body[3] for body in waits] == [1, 2, 3]
        assert {body[2:4] for body in releases} == {body[1:3] for body in waits} == {(0x40, 0x7F00)}
    kinds = [
        packet.opcode
        for packet in replay.packets(lower(gfx, [Kernel()], dispatches, cp_feature_version=fixed_in).words)
    ]
    assert replay.RELEASE not in kinds and kinds.count(replay.EVENT) == 3


@pytest.mark.parametrize("gfx", TARGETS)
def test_sizes_of_a_first_dispatch_a_repeat_and_a_level_boundary(gfx: str) -> None:
    def dwords(kernels: list[Kernel], dispatches: list[Dispatch]) -> int:
        return len(lower(gfx, kernels, dispatches, cp_feature_version=TRUSTED_CP).words)

    gfx10 = gfx.startswith("gfx10")
    compiled = (0x409, 0x40B) if gfx10 else (0x408, 0x40A)
    rsrc3 = 0 if gfx10 else 2 << 4
    kernels = [
        Kernel(
            entry=0x7F10_0000_0000 + 256 * index,
            rsrc1=0x60AF_0040 + index,
            rsrc2=8 << 1 | index << 11,
            rsrc3=rsrc3 + (index << 4) * (not gfx10),
            properties=compiled[index % 2],
        )
        for index in range(4)
    ]
    ways = [Dispatch(kernel=index, workgroup=(16 + index, 1 + index, 1 + index)) for index in range(4)]
    ways = [replace(way, grid=way.workgroup, kernarg=way.kernarg + 4096 * way.kernel) for way in ways]
    ways = [replace(way, packet=way.packet + 64 * way.kernel, lds_bytes=512 * way.kernel) for way in ways]
    alone = dwords(kernels, ways[:1])
    for count in range(1, 4):
        assert dwords(kernels, ways[: count + 1]) - dwords(kernels, ways[:count]) <= 28
    again = replace(ways[0], kernarg=ways[0].kernarg + 64)
    assert dwords(kernels, [ways[0], again]) - alone == 8
    assert dwords(kernels, [ways[0], replace(again, level=1)]) - alone == 8 + 10
    fence_form = lower(gfx, kernels, ways[:1]).words
    assert alone == (8 + 5 + (6 if gfx10 else 0)) + 25 + 2 + (8 if gfx.startswith("gfx101") else 0)
    assert len(fence_form) - alone == ((5 + 13) if gfx10 else 0)


def test_small_gaps_between_changed_registers_are_bridged() -> None:
    first = Dispatch(workgroup=(8, 2, 4), grid=(8, 2, 4))
    second = replace(first, workgroup=(4, 2, 8), grid=(4, 2, 8), kernarg=first.kernarg + 64)
    words = lower("gfx1100", [Kernel()], [first, second]).words
    assert words[-2 - 13 : -2 - 8] == (0xC0037602, 0x207, 4, 2, 8)


def test_twenty_thousand_nodes_are_one_buffer_and_grow_linearly() -> None:
    def chain(count: int) -> int:
        dispatches = [Dispatch(level=node, kernarg=0x7F20_0000_0000 + 64 * node) for node in range(count)]
        return len(lower("gfx1201", [Kernel()], dispatches).words)

    small, large = chain(1), chain(20_000)
    assert large - small == (20_000 - 1) * 18


def test_a_buffer_at_the_limit_is_made_and_one_over_it_is_refused() -> None:
    """C075: sizes at the limit and one over it."""
    entry, first, again, leave = 13, 25, 5, 2
    count = (0xFFFFF - entry - leave - first) // 8 + 1
    packed = [Dispatch(kernarg=0x7F20_0000_0000 + 64 * node) for node in range(count)]
    buffer = lower("gfx1100", [Kernel()], packed)
    room = 0xFFFFF - len(buffer.words)
    assert 0 <= room < 8 and again < 8
    with pytest.raises(RefusedError, match="TOO_LARGE"):
        lower("gfx1100", [Kernel()], [*packed, Dispatch()])


REFUSALS: list[tuple[str, str, dict[str, int], dict[str, object], dict[str, int]]] = [
    ("SCRATCH", "gfx1100", {"private_bytes": 16}, {}, {}),
    ("SCRATCH", "gfx1100", {"rsrc2": 0x85}, {}, {}),
    ("SCRATCH", "gfx1100", {}, {"private_bytes": 16}, {}),
    ("DYNAMIC_STACK", "gfx1100", {"properties": 0xC08}, {}, {}),
    ("KERNARG_PRELOAD", "gfx1201", {"preload": 2}, {}, {}),
    ("PROPERTY", "gfx1030", {"properties": 0x428, "rsrc2": 0x88}, {}, {}),
    ("PROPERTY", "gfx1030", {"properties": 0x448, "rsrc2": 0x88}, {}, {}),
    ("PROPERTY", "gfx1100", {"properties": 0x409, "rsrc2": 0x8C}, {}, {}),
    ("PROPERTY", "gfx1100", {"properties": 0x1408}, {}, {}),
    ("DESCRIPTOR", "gfx1100", {"rsrc1": 0x60BF_0040}, {}, {}),
    ("DESCRIPTOR", "gfx1100", {"rsrc2": 0x84 | 1 << 6}, {}, {}),
    ("DESCRIPTOR", "gfx1201", {"rsrc2": 0x84 | 1 << 6}, {}, {}),
    ("DESCRIPTOR", "gfx1100", {"rsrc2": 0x84 | 1 << 15}, {}, {}),
    ("DESCRIPTOR", "gfx1030", {"rsrc3": 1 << 4}, {}, {}),
    ("DESCRIPTOR", "gfx1201", {"rsrc3": 1 << 12}, {}, {}),
    ("USER_SGPRS", "gfx1100", {"rsrc2": 0x82}, {}, {}),
    ("USER_SGPRS", "gfx1100", {"rsrc2": 0x80 | 17 << 1}, {}, {}),
    ("ENTRY", "gfx1100", {"entry": 0x7F10_0000_0080}, {}, {}),
    ("ENTRY", "gfx1100", {"entry": 1 << 48}, {}, {}),
    ("WORKGROUP", "gfx1100", {}, {"workgroup": (0, 1, 1)}, {}),
    ("WORKGROUP", "gfx1100", {}, {"workgroup": (2048, 1, 1), "grid": (2048, 1, 1)}, {}),
    ("WORKGROUP", "gfx1100", {}, {"workgroup": (32, 32, 2), "grid": (32, 32, 2)}, {}),
    ("WORKGROUP", "gfx1100", {}, {"grid": (256, 0, 1)}, {}),
    ("PARTIAL_WORKGROUP", "gfx1100", {}, {"grid": (100, 1, 1)}, {}),
    ("LDS", "gfx1100", {}, {"lds_bytes": 65537}, {}),
    ("LDS", "gfx1100", {"group_bytes": 512}, {"lds_bytes": 256}, {}),
    ("KERNARG", "gfx1100", {}, {"kernarg": 0}, {}),
    ("KERNARG", "gfx1100", {}, {"kernarg": 0x7F20_0000_0008}, {}),
    ("PACKET", "gfx1100", {"properties": 0x40A, "rsrc2": 0x88}, {"packet": 0}, {}),
    ("PACKET", "gfx1100", {"properties": 0x40A, "rsrc2": 0x88}, {"packet": 0x7F30_0000_0020}, {}),
    ("QUEUE", "gfx1100", {"properties": 0x40C, "rsrc2": 0x88}, {"queue": 0}, {}),
    ("FENCE", "gfx1030", {}, {}, {"fence": 0}),
    ("FENCE", "gfx1030", {}, {}, {"fence": 0x7F00_0000_0042}),
    ("INDEX", "gfx1100", {}, {"kernel": 1}, {}),
    ("INDEX", "gfx1100", {}, {"level": 2}, {}),
]


@pytest.mark.parametrize(("reason", "gfx", "kernel", "dispatch", "options"), REFUSALS)
def test_what_a_buffer_cannot_do_is_refused_with_its_reason(
    reason: str, gfx: str, kernel: dict[str, int], dispatch: dict[str, object], options: dict[str, int]
) -> None:
    """C079, C081: preload and missing resources are found when the plan is made."""
    bad: Dispatch = replace(Dispatch(), **dispatch)  # type: ignore[arg-type]
    with pytest.raises(RefusedError) as refused:
        lower(gfx, [replace(Kernel(), **kernel)], [replace(bad, kernarg=bad.kernarg), bad], **options)
    assert refused.value.reason == reason
    assert library().rl_lower_reason_text(1) != ffi.NULL


def test_nothing_to_dispatch_is_refused() -> None:
    with pytest.raises(RefusedError, match="EMPTY"):
        lower("gfx1100", [Kernel()], [])


def test_every_reason_is_a_different_sentence() -> None:
    texts = {bytes(ffi.string(library().rl_lower_reason_text(reason))).decode() for reason in range(18)}
    assert len(texts) == 18 and all(text.endswith(".") for text in texts)
    assert bytes(ffi.string(library().rl_lower_reason_text(18))) == b"Unknown reason."


def test_padded_user_registers_are_left_alone() -> None:
    """gfx1100's compilers declare 15 user registers for a kernel that reads two."""
    buffer = lower("gfx1100", [Kernel(rsrc2=15 << 1 | 0x80)], [Dispatch()])
    written = dispatch_packets(buffer)[0].registers
    assert [offset for offset in written if offset >= 0x240] == [0x240, 0x241]


def test_a_kernel_descriptor_is_read_as_the_compiler_lays_it_out() -> None:
    descriptor = struct.pack("<IIIIq20xIIIHH4x", 256, 0, 312, 0, -0x1000, 0x20, 0x60AF0040, 0x84, 0x408, 0)
    kernel = ffi.new("struct rl_kernel *")
    library().rl_kernel_read(kernel, 0x7F10_0000_1000, descriptor)
    assert kernel.entry == 0x7F10_0000_0000
    assert (kernel.group_bytes, kernel.private_bytes, kernel.kernarg_bytes) == (256, 0, 312)
    assert (kernel.rsrc1, kernel.rsrc2, kernel.rsrc3) == (0x60AF0040, 0x84, 0x20)
    assert (kernel.properties, kernel.preload) == (0x408, 0)


def test_a_word_that_may_be_patched_serves_no_other_dispatch() -> None:
    """Else new arguments for the first dispatch would change the second's dispatch id."""
    kernels = [Kernel(), Kernel(entry=0x7F10_0000_0100, properties=0x410)]
    dispatches = [Dispatch(kernarg=0x7F20_0000_0040), Dispatch(kernel=1, dispatch_id=0x7F20_0000_0040)]
    buffer = lower("gfx1100", kernels, dispatches)
    patched = list(buffer.words)
    patched[buffer.places[0][0]] += 64
    moved = [replace(dispatches[0], kernarg=0x7F20_0000_0080), dispatches[1]]
    assert emitted_order(replace(buffer, words=tuple(patched), dispatches=tuple(moved))) == [0, 1]


def fewest_dwords(buffer: Buffer) -> int:
    """Least size of the dispatches when only packets of neighbouring registers can be had, worked out by trying."""
    known: dict[int, int] = dict.fromkeys(range(expected.START, expected.START + 3), 0)
    if buffer.kernels[buffer.dispatches[emitted_order(buffer)[0]].kernel].properties & 1:
        known |= {expected.USER + register: 0 for register in range(4)}
    total = 0
    for index in emitted_order(buffer):
        dispatch = buffer.dispatches[index]
        kernel = buffer.kernels[dispatch.kernel]
        needs = expected.registers(buffer.gfx, kernel, dispatch)
        users = expected.USER + 4 * (kernel.properties & 1)
        patchable = {users} if kernel.properties & 2 else set()
        if kernel.properties & 8:
            before = (kernel.properties & 2) + (kernel.properties & 4) // 2
            patchable.add(users + before)
        changed = [register for register in needs if known.get(register) != needs[register]]
        changed = sorted({*changed, *patchable})
        costs = {-1: 0}  # of writing the first registers of `changed`
        for last, register in enumerate(changed):
            costs[last] = min(
                costs[first - 1] + 2 + register - changed[first] + 1
                for first in range(last + 1)
                if all(between in needs for between in range(changed[first], register + 1))
            )
        total += costs[len(changed) - 1] + 5
        known |= needs
        for register in patchable:
            known.pop(register)
    return total


@ALL_FAMILIES
@settings(max_examples=25, deadline=None)
@given(st.data())
def test_no_smaller_buffer_has_what_the_dispatches_need(gfx: str, data: st.DataObject) -> None:
    kernels, dispatches, _ = data.draw(program(gfx))
    buffer = lower(gfx, kernels, dispatches, cp_feature_version=TRUSTED_CP)
    entry = 13 + (6 if kernels[dispatches[emitted_order(buffer)[0]].kernel].properties & 1 else 0)
    fences = 10 * (buffer.levels - 1) + 2 + (8 if gfx == "gfx1010" else 0)
    assert len(buffer.words) == entry + fences + fewest_dwords(buffer)
