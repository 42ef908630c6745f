# SPDX-License-Identifier: Apache-2.0
"""The decoder: readable text for every target, all bits shown, nothing that makes it fail."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from . import golden, probe
from .library import FAMILY_TARGETS, TARGETS, ffi, library, lower, show, target
from .strategies import program


@pytest.mark.parametrize("name", golden.files())
def test_text_of_a_program_on_each_target(name: str) -> None:
    assert golden.files()[name] == (golden.FOLDER / name).read_text()


@pytest.mark.parametrize("gfx", TARGETS)
def test_text_assembles_to_the_same_words(gfx: str) -> None:
    words = golden.program(gfx, 0).words
    assert tuple(probe.assemble(gfx, show(gfx, words)[0])) == words


@pytest.mark.parametrize("gfx", FAMILY_TARGETS)
@settings(max_examples=15, deadline=None)
@given(st.data())
def test_text_of_random_programs_assembles_to_the_same_words(gfx: str, data: st.DataObject) -> None:
    kernels, dispatches, _ = data.draw(program(gfx))
    words = lower(gfx, kernels, dispatches, system_entry=True, system_exit=True).words
    text, findings = show(gfx, words)
    assert tuple(probe.assemble(gfx, text)) == words and findings == 0


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(TARGETS), st.lists(st.integers(0, 2**32 - 1), max_size=12), st.booleans())
def test_any_words_are_shown_and_cut_text_stays_within_its_room(
    gfx: str, words: list[int], packets: bool
) -> None:
    if packets:
        words = [word & 0x0003FFFF | 3 << 30 for word in words]
    full, _ = show(gfx, words)
    assert len(full) == 0 or full.endswith("\n")
    room = ffi.new("char[]", b"\x7f" * 40)
    array = ffi.new("uint32_t[]", words)
    size = library().rl_pm4_print(target(gfx), array, len(words), room, 32, ffi.NULL)
    assert size == len(full)
    assert bytes(ffi.string(room)).decode() == full[:31]
    assert bytes(ffi.buffer(room))[32:40] == b"\x7f" * 8


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ([0xFFFF1000], "NOP"),
        ([0xC0011000, 1, 2], "NOP 0x00000001 0x00000002"),
        ([0xC0004600], "EVENT_WRITE !! body of 1 dwords, 0 are left"),
        ([0xC0014600, 0x407, 0], "EVENT_WRITE !! body of 2 dwords, 2 are left"),
        ([0xC0009900, 0], "!! 0xc0009900 is not the header of a known packet"),
        ([0x80000000], "!! 0x80000000 is not the header of a known packet"),
        ([0xC0004604, 0x407], "EVENT_WRITE !! reserved=0x4 EVENT_TYPE=CS_PARTIAL_FLUSH"),
        ([0xC0004601, 0x4000_0000], "EVENT_WRITE PREDICATE !! reserved=0x40000000"),
        ([0xC0017602, 0x10214, 0], "SET_SH_REG COMPUTE REG_OFFSET=0x214 !! reserved=0x10000"),
        ([0xC0017602, 0x216, 0], "COMPUTE_STATIC_THREAD_MGMT_SE0 = 0x00000000 !! must not be written"),
        ([0xC0017602, 0x204, 1], "COMPUTE_START_X = 0x00000001 !! must not be written"),
        ([0xC0017602, 0x230, 0], "COMPUTE_RELAUNCH = 0x00000000 !! must not be written"),
        ([0xC0017602, 0x23F, 0], "23f = 0x00000000 !! no such register"),
    ],
)
def test_what_a_buffer_must_not_hold_is_marked(words: list[int], shown: str) -> None:
    text, findings = show("gfx1100", words)
    assert shown in text
    assert (findings > 0) == ("!!" in text)


def test_the_vendor_packet_that_runs_a_buffer() -> None:
    """H16: barrier bit and system acquire, no release; word 0 is handed back to be stored last."""
    slot = ffi.new("uint32_t[16]", [0xA5A5A5A5] * 16)
    word = library().rl_pm4_vendor_packet(slot, 0x7F12_3456_7890, 0xFFFFF, 0x7FFF_0000_1234)
    assert word == 1 << 16 | 0x0500
    assert list(slot) == [
        *(0xA5A5A5A5, 0xC0023F00, 0x34567890, 0x7F12, 0xFFFFF | 1 << 23, 10),
        *(0, 0, 0, 0, 0, 0, 0, 0),
        *(0x1234, 0x7FFF),
    ]
