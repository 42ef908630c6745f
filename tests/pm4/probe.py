# SPDX-License-Identifier: Apache-2.0
"""What the decoder knows, found by showing it every bit: names and places of fields, and an assembler from them."""

from __future__ import annotations

import functools
import re

from .library import ffi, library, target

FIXED = {
    "DISPATCH_DIRECT": (0x15, 4),
    "WAIT_REG_MEM": (0x3C, 6),
    "INDIRECT_BUFFER": (0x3F, 3),
    "EVENT_WRITE": (0x46, 1),
    "RELEASE_MEM": (0x49, 7),
    "ACQUIRE_MEM": (0x58, 7),
}
OPEN = {"NOP": (0x10, 0), "WRITE_DATA": (0x37, 3), "SET_SH_REG": (0x76, 1)}  # dwords of fields; data follows
FIELD = re.compile(r"([A-Z0-9_]+)=(\w+)")


def line(gfx: str, words: list[int]) -> str:
    text = ffi.new("char[]", 4096)
    library().rl_pm4_print(target(gfx), ffi.new("uint32_t[]", words), len(words), text, 4096, ffi.NULL)
    return bytes(ffi.string(text)).decode()


def header(opcode: int, body: int, flags: int = 0) -> int:
    return 3 << 30 | (body - 1) << 16 | opcode << 8 | flags


@functools.cache
def packet_bits(gfx: str, packet: str, dword: int) -> tuple[str | None, ...]:
    """For each bit of a dword (from 1) the name of its field, None where it is reserved."""
    opcode, count = FIXED.get(packet) or OPEN[packet]
    size = count if packet in FIXED else count + 1
    result: list[str | None] = []
    zeros = [0] * size
    for bit in range(32):
        body = [*zeros[: dword - 1], 1 << bit, *zeros[dword:]]
        first = line(gfx, [header(opcode, size), *body]).split("\n")[0]
        none = line(gfx, [header(opcode, size), *zeros]).split("\n")[0]
        shown = set(FIELD.findall(first)) - set(FIELD.findall(none))
        names = [name for name, _ in shown if name != "reserved"]
        result.append(names[0] if len(names) == 1 and "reserved=" not in first else None)
    return tuple(result)


@functools.cache
def register_bits(gfx: str, offset: int) -> tuple[str, tuple[str | None, ...]]:
    """Name of a register, and the field of each bit: None where it is reserved, "" where it is not shown."""
    shown = [line(gfx, [header(0x76, 2), offset, 1 << bit]).split("\n")[1] for bit in range(32)]
    bits: list[str | None] = []
    for text in shown:
        fields = FIELD.findall(text)
        bits.append(None if "reserved=" in text else fields[0][0] if fields else "")
    return shown[0].split()[0], tuple(bits)


@functools.cache
def values() -> dict[tuple[str, str, str], int]:
    """Named values: (packet, field, name) -> number."""
    result = {}
    for packet, (opcode, count) in {**FIXED, **OPEN}.items():
        size = count if packet in FIXED else count + 1
        for dword in range(1, count + 1):
            names = packet_bits("gfx1100", packet, dword)
            for name in {name for name in names if name}:
                low = names.index(name)
                for number in range(min(1 << names.count(name), 64)):
                    body = [0] * size
                    body[dword - 1] = number << low
                    text = line("gfx1100", [header(opcode, size), *body]).split("\n")[0]
                    shown = dict(FIELD.findall(text)).get(name, "")
                    if (shown and not shown[0].isdigit()) or shown == "32_BIT_LOW":
                        result[packet, name, shown] = number
    return result


def assemble(gfx: str, text: str) -> list[int]:
    """The words that the decoder's text stands for."""
    words: list[int] = []
    at = 0
    for row in text.splitlines():
        if row.startswith("          "):
            words.append(int(row.split()[2], 16))
            words[at] += 1 << 16
            continue
        _, packet, *rest = row.split()
        at = len(words)
        opcode, count = FIXED.get(packet) or OPEN[packet]
        body = [0] * count
        flags = ("PREDICATE" in rest) | ("COMPUTE" in rest) << 1
        for name, value in FIELD.findall(row):
            dword, low = next(
                (dword, packet_bits(gfx, packet, dword).index(name))
                for dword in range(1, count + 1)
                if name in packet_bits(gfx, packet, dword)
            )
            number = values().get((packet, name, value))
            body[dword - 1] |= (int(value, 0) if number is None else number) << low
        data = [int(word, 16) for word in rest if re.fullmatch(r"0x[0-9a-f]{8}", word)]
        words += [header(opcode, count + len(data), flags), *body, *data]
    return words
