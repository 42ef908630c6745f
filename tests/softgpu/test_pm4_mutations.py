# SPDX-License-Identifier: Apache-2.0
"""Every bit of a good buffer matters, or the table says why it does not.

One bit of a buffer that uses every packet is flipped at a time; the mutant runs on a machine whose waves are late and
badly ordered. It is *reported* (the queue fails, or a warning or a register left behind says so), or its result
*differs* (memory, interrupts, a fault, a wait that never ends), or it is the *same*: then the bit must be one of which
the tables tell why it cannot change a result. The list of these stands in build/tests/pm4-mutations-TARGET.txt.
"""

from __future__ import annotations

import struct
from collections import Counter

import pytest
from softgpu.pm4_lib import (
    BUFFER,
    DIFFERS,
    HANGS,
    INNER,
    REPORTED,
    ROOT,
    SAME,
    TARGETS,
    WARNED,
    Machine,
    ffi,
    full_buffer,
    library,
)

# Bits of this very buffer, beyond what the tables say of every buffer.
OF_THIS_BUFFER = {
    "WRITE_DATA data": "a fence is cleared by any value but the one that is waited for",
}


def mutate(machine: Machine, words: list[int], place: int, whole: list[int]) -> list[int]:
    outcomes = ffi.new("uint8_t[]", 32 * len(words))
    gfx = machine.gfx.encode()
    good = machine.lib.machine_mutate(machine.raw, gfx, BUFFER, len(whole), place, len(words), outcomes)
    assert good == SAME, "the buffer itself must run and repeat itself"
    return list(outcomes)


def name_bit(gfx: str, words: list[int], index: int) -> tuple[str, str]:
    """What the bit is called, and why it may have no effect ("" when the tables know no reason)."""
    text = ffi.new("char[]", 512)
    array = ffi.new("uint32_t[]", words)
    library().machine_name_bit(gfx.encode(), array, len(words), index // 32, index % 32, text, 512)
    name, reason = bytes(ffi.string(text)).decode().split("|")
    return name, reason or OF_THIS_BUFFER.get(name, "")


@pytest.mark.parametrize("gfx", TARGETS)
def test_every_flipped_bit_is_reported_or_differs_or_has_a_reason(
    gfx: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with Machine(gfx, fixed=True) as machine:
        outer, inner = full_buffer(machine)
        machine.put(BUFFER, struct.pack(f"<{len(outer)}I", *outer))
        outcomes = {
            BUFFER: mutate(machine, outer, BUFFER, outer),
            INNER: mutate(machine, inner, INNER, outer),
        }
    counts = Counter(outcomes[BUFFER] + outcomes[INNER])
    total = sum(counts.values())
    silent: Counter[tuple[str, str]] = Counter()
    for place, words in ((BUFFER, outer), (INNER, inner)):
        for index, outcome in enumerate(outcomes[place]):
            if outcome == SAME:
                silent[name_bit(gfx, words, index)] += 1
    noticed = total - counts[SAME]
    with capsys.disabled():
        print(
            f"\n{gfx}: {total} mutants: {counts[REPORTED] + counts[WARNED]} reported, "
            f"{counts[DIFFERS] + counts[HANGS]} differ, {counts[SAME]} without meaning "
            f"({100 * noticed / total:.1f} % noticed)"
        )
    lines = [
        f"{count:4d} {name}: {reason or 'NO REASON'}" for (name, reason), count in sorted(silent.items())
    ]
    (ROOT / "build" / "tests" / f"pm4-mutations-{gfx}.txt").write_text("\n".join(lines) + "\n")
    assert total == 32 * (len(outer) + len(inner))
    assert [name for name, reason in silent if not reason] == []
    assert noticed >= 0.95 * total


@pytest.mark.parametrize("gfx", TARGETS)
def test_a_bit_with_a_reason_is_only_silent_in_a_good_packet(gfx: str) -> None:
    """The reasons are no blanket pardon: of the fields that have one, what is refused is told in the reason."""
    with Machine(gfx) as machine:
        outer, _ = full_buffer(machine)
        names = {name_bit(gfx, outer, 32 * place + bit) for place in range(len(outer)) for bit in range(32)}
    reasons = {name: reason for name, reason in names if reason}
    assert "ACQUIRE_MEM glv_inv" in reasons
    assert "SET_SH_REG COMPUTE_PGM_RSRC2.lds_size" in reasons
    for name in ("SET_SH_REG COMPUTE_PGM_RSRC1.vgprs", "DISPATCH_DIRECT dim_x", "EVENT_WRITE event_type"):
        assert name in {known for known, _ in names}
        assert name not in reasons
