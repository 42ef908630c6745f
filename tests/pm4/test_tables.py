# SPDX-License-Identifier: Apache-2.0
"""The runtime's table of registers and packets against tables that others made from AMD's headers."""

from __future__ import annotations

from itertools import product

import pytest

from . import probe, tables
from .expected import family
from .library import TARGETS, library, show, target

WRITABLE = {
    *(f"COMPUTE_NUM_THREAD_{axis}" for axis in "XYZ"),
    *("COMPUTE_PGM_LO", "COMPUTE_PGM_HI"),
    *(f"COMPUTE_PGM_RSRC{number}" for number in (1, 2, 3)),
    *(f"COMPUTE_USER_DATA_{number}" for number in range(16)),
}
ZERO_ONLY = {f"COMPUTE_{name}_{axis}" for name in ("START", "RESTART") for axis in "XYZ"}
# Bits that PAL and some headers name and others do not, and that a descriptor leaves 0.
UNNAMED = {
    "COMPUTE_PGM_RSRC1": {"debug_mode", "cdbg_user"},
}


@pytest.mark.parametrize("gfx", TARGETS)
def test_every_register_has_the_name_that_the_headers_give_its_offset(gfx: str) -> None:
    """C073."""
    known = {offset: name for name, (offset, _) in tables.registers(gfx).items()}
    for offset in range(0x200, 0x280):
        shown = show(gfx, [probe.header(0x76, 2), offset, 0])[0].splitlines()[1]
        assert shown.split()[0] == known.get(offset, f"{offset:03x}")
        assert ("no such register" in shown) == (offset not in known)


@pytest.mark.parametrize("gfx", TARGETS)
def test_every_bit_of_a_writable_register_is_the_field_of_the_headers(gfx: str) -> None:
    """C073."""
    for name, (offset, fields) in tables.registers(gfx).items():
        if name not in WRITABLE:
            continue
        bits = probe.register_bits(gfx, offset)[1]
        for bit in range(32):
            field = next((field for field, (low, high) in fields.items() if low <= bit <= high), None)
            if field in UNNAMED.get(name, set()):
                field = None
            shown = bits[bit]
            assert shown == "" or (shown.lower() if shown else None) == field, (name, bit)
            assert bool(int(library().rl_pm4_register_bits(target(gfx), offset)) >> bit & 1) == bool(field)


@pytest.mark.parametrize("gfx", TARGETS)
def test_the_decoder_reports_every_register_that_belongs_to_the_queue(gfx: str) -> None:
    """C073, H15."""
    for name, (offset, _) in tables.registers(gfx).items():
        writes = {value: show(gfx, [probe.header(0x76, 2, 2), offset, value])[1] for value in (0, 1)}
        if name in WRITABLE:
            assert writes == {0: 0, 1: 0}
        elif name in ZERO_ONLY:
            assert writes == {0: 0, 1: 1}
        else:
            assert writes == {0: 1, 1: 1}, name


@pytest.mark.parametrize("packet", [*probe.FIXED, *probe.OPEN])
def test_opcodes_and_fields_of_packets_are_those_of_the_headers(packet: str) -> None:
    opcode, count = probe.FIXED.get(packet) or probe.OPEN[packet]
    assert tables.opcodes()[packet] == opcode
    known = tables.packet_fields().get(packet, {})
    compared = 0
    for dword in range(1, count + 1):
        bits = probe.packet_bits("gfx1100", packet, dword)
        for name in {name for name in bits if name}:
            if name in known:
                low, high = known[name]
                assert bits.index(name) == low, name
                assert bits.count(name) == high - low + 1 or name in (
                    "GLI_INV",
                    "GL1_RANGE",
                    "GL2_RANGE",
                    "SEQ",
                )
                compared += 1
    assert compared >= {
        "DISPATCH_DIRECT": 0,
        "NOP": 0,
        "SET_SH_REG": 0,
        "ACQUIRE_MEM": 14,
        "RELEASE_MEM": 9,
    }.get(packet, 2)


@pytest.mark.parametrize("gfx", TARGETS)
def test_cache_bits_that_gfx12_has_not_are_reserved_there(gfx: str) -> None:
    acquire = probe.packet_bits(gfx, "ACQUIRE_MEM", 7)
    release = probe.packet_bits(gfx, "RELEASE_MEM", 1)
    gone = family(gfx) == "gfx12.0"
    assert all((acquire[bit] is None) == gone for bit in (2, 3, 4, 5, 9))
    assert all((release[bit] is None) == gone for bit in (12, 13, 15))
    assert all((release[bit] is None) == gfx.startswith("gfx10") for bit in (24, 30))


@pytest.mark.parametrize("gfx", TARGETS)
def test_the_initiator_has_the_fields_of_the_register_that_it_is(gfx: str) -> None:
    fields = tables.registers(gfx)["COMPUTE_DISPATCH_INITIATOR"][1]
    bits = probe.packet_bits(gfx, "DISPATCH_DIRECT", 4)
    for bit, name in enumerate(bits):
        known = next((field for field, (low, high) in fields.items() if low <= bit <= high), None)
        assert (name.lower() if name else None) == (
            None if known in ("reserved", "ttrace_queue_id") else known
        )


def test_the_tests_have_read_every_target_of_the_table() -> None:
    """C073: of all names that are spelled like a target, these and no others are known."""
    digits = "0123456789abcdef"
    names = ("gfx" + "".join(name) for size in (3, 4) for name in product(digits, repeat=size))
    assert {name for name in names if library().rl_pm4_find_target(name.encode())} == set(TARGETS)


def test_only_exact_names_are_targets() -> None:
    """C073: an unknown name, a prefix or a feature suffix is no target."""
    for gfx in TARGETS:
        assert library().rl_pm4_find_target(gfx.encode())
    for gfx in (
        *("gfx1013", "gfx1037", "gfx1104", "gfx1105", "gfx1154", "gfx1202", "gfx1250", "gfx12-generic"),
        *("gfx942", "gfx90a", "gfx11", "gfx110", "gfx11000", "gfx1100:xnack-", "GFX1100", " gfx1100", ""),
    ):
        assert not library().rl_pm4_find_target(gfx.encode())


@pytest.mark.parametrize("gfx", TARGETS)
def test_quirks_of_each_target(gfx: str) -> None:
    found = target(gfx)
    assert found.rsrc1_set == (1 << 20 if family(gfx) == "gfx11.0" else 0)
    assert found.rsrc2_set == (0 if family(gfx) == "gfx12.0" else 1 << 6)
    early = {"gfx10.1": 32, "gfx10.3": 35}.get(family(gfx), 0)
    returns_early = library().rl_pm4_partial_flush_returns_early
    assert not returns_early(found, early) and not returns_early(found, 0xFFFFFFFF)
    assert early == 0 or (returns_early(found, early - 1) and returns_early(found, 0))
