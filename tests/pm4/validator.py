# SPDX-License-Identifier: Apache-2.0
"""Strict validator: everything that a lowered buffer may hold, against independent tables and the graph it is for.

Returns findings, one sentence each. It shares no table and no code with the encoder: registers and their fields come
from tables.py, what a dispatch needs from expected.py, what stands between dispatches from the edges of the graph.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from . import expected, replay, tables
from .library import Buffer

COMPUTE_TYPE = {replay.SET: 2, replay.DISPATCH: 2}
BODIES = {
    replay.DISPATCH: 4,
    replay.WRITE: 4,
    replay.WAIT: 6,
    replay.EVENT: 1,
    replay.RELEASE: 7,
    replay.ACQUIRE: 7,
}
WRITABLE = ("NUM_THREAD_", "PGM_LO", "PGM_HI", "PGM_RSRC", "USER_DATA_")
FLUSH = (7 | 4 << 8,)
EVERYTHING = (0, 0xFFFFFFFF, 0xFF, 0, 0, 10)
TO_L2_CONFIRMED = 2 << 8 | 1 << 20
END_OF_PIPE_L2_WRITTEN_BACK = 0x28 | 5 << 8 | 1 << 21
LOW_CONFIRMED = 1 << 16 | 3 << 24 | 1 << 29
FIXED_IN = {"gfx10.1": 32, "gfx10.3": 35}


def validate(buffer: Buffer, edges: Sequence[tuple[int, int]] = ()) -> list[str]:
    """`edges`: pairs of dispatches of which the second depends on the first."""
    try:
        found = list(replay.packets(buffer.words))
    except replay.MalformedError as error:
        return [str(error)]
    return [
        *_headers(found),
        *_registers(buffer, found),
        *_fences(buffer, found),
        *_dispatches(buffer, found, edges),
    ]


def _headers(found: list[replay.Packet]) -> Iterator[str]:
    for packet in found:
        if packet.opcode not in BODIES and packet.opcode != replay.SET:
            yield f"dword {packet.at}: packet 0x{packet.opcode:02x} does not belong in a buffer"
        if packet.header & 0xFF != COMPUTE_TYPE.get(packet.opcode, 0):
            yield f"dword {packet.at}: header bits 0x{packet.header & 0xFF:02x}"
        if len(packet.body) != BODIES.get(packet.opcode, len(packet.body)):
            yield f"dword {packet.at}: body of {len(packet.body)} dwords"


def _registers(buffer: Buffer, found: list[replay.Packet]) -> Iterator[str]:
    known = {offset: (name, fields) for name, (offset, fields) in tables.registers(buffer.gfx).items()}
    for packet in (packet for packet in found if packet.opcode == replay.SET):
        if len(packet.body) < 2:
            yield f"dword {packet.at}: no register is written"
        for index, value in enumerate(packet.body[1:]):
            name, fields = known.get(packet.body[0] + index, ("no register", {}))
            short = name.removeprefix("COMPUTE_")
            bits = sum((2 << high) - (1 << low) for low, high in fields.values())
            if short.startswith("START_"):
                if value:
                    yield f"dword {packet.at}: {name} is not 0"
            elif not short.startswith(WRITABLE):
                yield f"dword {packet.at}: {name} at 0x{packet.body[0] + index:x} must not be written"
            if value & ~bits:
                yield f"dword {packet.at}: {name} has reserved bits 0x{value & ~bits:x}"


def _fences(buffer: Buffer, found: list[replay.Packet]) -> Iterator[str]:
    """Entry, waits, invalidations and exit stand where they must and nowhere else."""
    kinds = [packet for packet in found if packet.opcode != replay.SET]
    wanted = list(_skeleton(buffer))
    if len(wanted) != len(kinds):
        yield f"{len(kinds)} packets that are not registers, {len(wanted)} were expected"
    for packet, (opcode, body) in zip(kinds, wanted, strict=False):
        if packet.opcode != opcode or (body and packet.body != body):
            yield f"dword {packet.at}: packet 0x{packet.opcode:02x} with {[hex(word) for word in packet.body]}"
    inside = next((index for index, packet in enumerate(found) if packet.opcode == replay.DISPATCH), 0)
    for before, after in pairwise(found[inside:]):
        if before.opcode == replay.SET and after.opcode not in (replay.SET, replay.DISPATCH):
            yield f"dword {before.at}: registers that no dispatch uses"


def _skeleton(buffer: Buffer) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Packets without registers: opcode and body, which is empty for dispatches."""
    gfx, options = buffer.gfx, buffer.options
    early = gfx.startswith("gfx10") and options["cp_feature_version"] < FIXED_IN[expected.family(gfx)]
    low, high = expected.halves(options["fence"])
    level_gcr, leave = expected.level_gcr(gfx), expected.exit_gcr(gfx, options.get("system_exit", False))

    yield (
        replay.ACQUIRE,
        (*EVERYTHING, expected.system_gcr(gfx) if options.get("system_entry") else level_gcr),
    )
    if early:
        yield replay.WRITE, (TO_L2_CONFIRMED, low, high, 0)
    counts = Counter(dispatch.level for dispatch in buffer.dispatches)
    for fence, level in enumerate(sorted(counts), 1):
        yield from [(replay.DISPATCH, ())] * counts[level]
        if early:
            yield replay.RELEASE, (END_OF_PIPE_L2_WRITTEN_BACK, LOW_CONFIRMED, low, high, fence, 0, 0)
            yield replay.WAIT, (3 | 1 << 4, low, high, fence, 0xFFFFFFFF, 10)
        else:
            yield replay.EVENT, FLUSH
        last = level == max(counts)
        if leave or not last:
            yield replay.ACQUIRE, (*EVERYTHING, leave if last else level_gcr)


def _dispatches(
    buffer: Buffer, found: list[replay.Packet], edges: Sequence[tuple[int, int]]
) -> Iterator[str]:
    """Each dispatch of the input runs once, with all it needs and nothing else, behind what it depends on."""
    left = dict(enumerate(buffer.dispatches))
    epoch_of: dict[int, int] = {}
    epoch = 0
    waited = False
    for packet in found:
        if packet.opcode in (replay.EVENT, replay.WAIT):
            waited = True
        elif packet.opcode == replay.ACQUIRE and waited:
            epoch, waited = epoch + 1, False
        elif packet.opcode == replay.DISPATCH:
            matching = [index for index in left if _is(buffer, index, packet)]
            if not matching:
                yield f"dword {packet.at}: a dispatch that the graph does not have"
            else:
                match = min(matching, key=lambda index: buffer.dispatches[index].level)
                epoch_of[match] = epoch
                del left[match]
    if left:
        yield f"dispatches {sorted(left)} of the graph do not run"
    for before, after in edges:
        if before in epoch_of and after in epoch_of and epoch_of[before] >= epoch_of[after]:
            yield f"nothing separates dispatch {after} from dispatch {before}, which it depends on"


def _is(buffer: Buffer, index: int, packet: replay.Packet) -> bool:
    dispatch = buffer.dispatches[index]
    kernel = buffer.kernels[dispatch.kernel]
    needs = expected.registers(buffer.gfx, kernel, dispatch)
    return (
        packet.body == (*expected.groups(dispatch), expected.initiator(kernel))
        and needs.items() <= packet.registers.items()
    )
