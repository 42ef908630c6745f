# SPDX-License-Identifier: Apache-2.0
"""What a new target or packet of the encoder needs elsewhere. Each thing that is missing is one sentence."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

import pytest
from conftest import nothing_said

from softgpu.topology import TARGETS as TOPOLOGY

from . import golden, probe
from .expected import family
from .library import FAMILY_TARGETS, ROOT, SOURCES, TARGETS, targets_of

EXECUTOR = (ROOT / "softgpu" / "pm4" / "pm4_tables.c").read_text()
PAGE = (ROOT / "docs" / "pm4.md").read_text()
README = (ROOT / "README.md").read_text()
PACKETS = SOURCES[0].with_name("pm4_table.h")
RUNS = set(re.findall(r'^    \{"(gfx\w+)", \d+, SG_PRIV', EXECUTOR, re.MULTILINE))
GENERATE = "then run softgpu/pm4/tables/generate.py"


class Packet(NamedTuple):
    """Body in dwords; most 0: data follows, as much as fits."""

    name: str
    opcode: int
    least: int
    most: int


def packets_of(table: str) -> list[Packet]:
    rows = re.findall(r"^ +PACKET\((\w+), (0x[0-9A-F]+), (\d+), (\d+)\)", table, re.MULTILINE)
    return [Packet(name, int(opcode, 16), int(least), int(most)) for name, opcode, least, most in rows]


def packets_of_executor() -> dict[str, dict[str, Packet]]:
    """Generation -> name -> packet, as the software GPU's own table has it."""
    tables = re.findall(
        r"^static const struct sg_packet (\w+)_packets\[\] = \{\n(.*?)^\};", EXECUTOR, re.M | re.S
    )
    row = r'\{"(\w+)", (0x[0-9a-f]+), (\d+), (\d+),'
    return {
        generation: {
            name: Packet(name, int(code, 16), int(low), int(high)) for name, code, low, high in found
        }
        for generation, text in tables
        if (found := re.findall(row, text))
    }


def named(text: str) -> set[str]:
    """gfx1010, 1011, 1030 to 1036, 1100-1103 -> every target among them."""
    spans = re.findall(r"\b(?:gfx)?(1\d{3})(?:(?: to |-)(\d{4}))?", text)
    return {f"gfx{number}" for low, high in spans for number in range(int(low), int(high or low) + 1)}


def section(page: str, heading: str) -> str:
    return page.split(f"\n## {heading}\n")[1].split("\n## ", maxsplit=1)[0]


def missing_for_targets(targets: Iterable[str]) -> list[str]:
    """What the table's targets lack, and what is kept for a target that the table has not."""
    targets = list(targets)
    rows = named(
        "".join(row.split("|")[1] for row in re.findall(r"^\| gfx.*", section(PAGE, "Targets"), re.M))
    )
    proven = named("".join(re.findall(r"^\| PM4 for (.*?) \|", README, re.MULTILINE)))
    buffers = {path.name.split(".")[0].split("-")[0] for path in golden.FOLDER.glob("*.txt")}
    places = (
        (buffers, "no golden buffer in tests/pm4/golden: run `python -m pm4.golden` in tests/ and read it"),
        (RUNS, f"not in the software GPU's tables: add it to softgpu/pm4/tables/policy.json, {GENERATE}"),
        (rows, "no row in docs/pm4.md, Targets"),
        (proven, "not named in README.md, What works on what"),
    )
    told = [f"{gfx}: {sentence}" for gfx in targets for known, sentence in places if gfx not in known]
    families = {family(gfx) for gfx in targets} - {family(gfx) for gfx in FAMILY_TARGETS}
    told += [
        f"{new}: no target of this family in FAMILY_TARGETS of tests/pm4/library.py"
        for new in sorted(families)
    ]
    gone = sorted((buffers | rows | proven) - set(targets))
    return told + [
        f"{gfx}: no target any more, but a golden buffer, docs/pm4.md or README.md has it" for gfx in gone
    ]


def missing_for_packets(packets: Iterable[Packet]) -> list[str]:
    packets = list(packets)
    executor = packets_of_executor()
    rows = dict(re.findall(r"^\| (\w+) \| (0x[0-9A-F]+) \|", section(PAGE, "Packets"), re.MULTILINE))
    probed = {name: opcode for name, (opcode, _) in (probe.FIXED | probe.OPEN).items()}
    told = []
    for packet in packets:
        for generation, known in executor.items():
            there = known.get(packet.name)
            if there is None or there.opcode != packet.opcode:
                told.append(
                    f"{packet.name}: the software GPU's table of {generation} has no such packet with this "
                    f"opcode: add it to softgpu/pm4/tables/packets.json, {GENERATE}"
                )
            elif packet.least < there.least or packet.most > there.most:
                told.append(
                    f"{packet.name}: the software GPU's table of {generation} allows it another length"
                )
        if int(rows.get(packet.name, "0"), 16) != packet.opcode:
            told.append(f"{packet.name}: no row with its opcode in docs/pm4.md, Packets")
        if probed.get(packet.name) != packet.opcode:
            told.append(f"{packet.name}: not in tests/pm4/probe.py, so AMD's headers are not asked about it")
    gone = sorted((rows.keys() | probed.keys()) - {packet.name for packet in packets})
    return told + [
        f"{name}: no packet any more, but docs/pm4.md or tests/pm4/probe.py has it" for name in gone
    ]


def test_each_target_is_everywhere() -> None:
    """C073: a target is data in one table; what proves and describes it is elsewhere."""
    nothing_said(missing_for_targets(TARGETS))


def test_a_target_that_is_only_in_the_table_is_named_with_what_it_lacks() -> None:
    source = SOURCES[0].read_text().replace("targets[] = {\n", 'targets[] = {\n    GFX12_0("gfx1209"),')
    told = set(missing_for_targets(targets_of(source))) - set(missing_for_targets(TARGETS))
    assert len(told) == 4 and all(sentence.startswith("gfx1209: ") for sentence in told)
    for place in ("tests/pm4/golden", "softgpu/pm4/tables/policy.json", "docs/pm4.md", "README.md"):
        assert sum(place in sentence for sentence in told) == 1, place
    assert any(sentence.startswith("gfx13.0: ") for sentence in missing_for_targets([*TARGETS, "gfx1300"]))
    gone = set(missing_for_targets(TARGETS[1:])) - set(missing_for_targets(TARGETS))
    assert [sentence.split(",")[0] for sentence in gone] == [f"{TARGETS[0]}: no target any more"]


def test_the_software_gpu_offers_no_target_that_its_executor_does_not_know() -> None:
    assert TOPOLOGY.keys() <= RUNS


def test_each_packet_of_the_encoder_is_everywhere() -> None:
    packets = packets_of(PACKETS.read_text())
    assert len(packets) > 5 and len(packets_of_executor()) == 3
    nothing_said(missing_for_packets(packets))


@pytest.mark.parametrize(
    ("line", "lacks"),
    [
        ("PACKET(COND_EXEC, 0x22, 4, 4)", ["softgpu/pm4/tables"] * 3 + ["docs/pm4.md", "tests/pm4/probe.py"]),
        ("PACKET(COPY_DATA, 0x40, 5, 5)", ["docs/pm4.md", "tests/pm4/probe.py"]),
        ("PACKET(DMA_DATA, 0x50, 6, 8)", ["another length"] * 3 + ["docs/pm4.md", "tests/pm4/probe.py"]),
    ],
    ids=["new-to-all", "known-to-the-software-gpu", "longer-than-there"],
)
def test_a_packet_that_is_only_in_the_table_is_named_with_what_it_lacks(line: str, lacks: list[str]) -> None:
    table = PACKETS.read_text().replace("    PACKET(NOP,", f"    {line} \\\n    PACKET(NOP,")
    before = missing_for_packets(packets_of(PACKETS.read_text()))
    told = [sentence for sentence in missing_for_packets(packets_of(table)) if sentence not in before]
    assert len(told) == len(lacks)
    for sentence, place in zip(told, lacks, strict=True):
        assert sentence.startswith(line[7:].split(",", maxsplit=1)[0]) and place in sentence
