# SPDX-License-Identifier: Apache-2.0
"""Reads a buffer as the command processor does, by plain numbers: it shares no table with the encoder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

DISPATCH, WRITE, WAIT, EVENT, RELEASE, ACQUIRE, SET = 0x15, 0x37, 0x3C, 0x46, 0x49, 0x58, 0x76


@dataclass(frozen=True)
class Packet:
    """One packet; `registers` is what the buffer has written so far, by offset."""

    at: int
    header: int
    opcode: int
    body: tuple[int, ...]
    registers: dict[int, int]


class MalformedError(Exception):
    """The words are no sequence of packets."""


def packets(words: Sequence[int]) -> Iterator[Packet]:
    registers: dict[int, int] = {}
    at = 0
    while at < len(words):
        header = words[at]
        size = (header >> 16 & 0x3FFF) + 1
        body = tuple(words[at + 1 : at + 1 + size])
        if header >> 30 != 3 or len(body) != size:
            raise MalformedError(f"dword {at}: 0x{header:08x} with {len(words) - at - 1} dwords left")
        opcode = header >> 8 & 0xFF
        if opcode == SET:
            registers.update((body[0] + index, value) for index, value in enumerate(body[1:]))
        yield Packet(at, header, opcode, body, dict(registers) if opcode == DISPATCH else {})
        at += 1 + size
