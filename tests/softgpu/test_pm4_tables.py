# SPDX-License-Identifier: Apache-2.0
"""The executor's tables are what their sources say, and agree with facts known from elsewhere."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
from softgpu.pm4_lib import ROOT, packet, set_sh, show

TABLES = ROOT / "softgpu" / "pm4" / "tables"
WHEEL = ROOT / "build" / "pm4-tables" / "tinygrad-0.14.0-py3-none-any.whl"


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    specification = importlib.util.spec_from_file_location("pm4_generate", TABLES / "generate.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules["pm4_generate"] = module
    specification.loader.exec_module(module)
    return module


def test_the_committed_table_is_what_the_generator_emits(
    generator: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C104"""
    if not WHEEL.exists():
        pytest.skip(
            "the tinygrad wheel is absent: softgpu/pm4/tables/generate.py gets it when there is a network"
        )
    monkeypatch.setattr(sys, "argv", ["generate.py", "--check", "--wheel", str(WHEEL)])
    assert generator.main() == 0


def test_a_missing_wheel_is_one_sentence_and_leaves_the_table(
    generator: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = generator.OUTPUT.read_bytes()
    monkeypatch.setattr(sys, "argv", ["generate.py", "--wheel", str(tmp_path / "none.whl")])
    assert generator.main() == 77
    assert "neither in build/ nor to be had by pip" in capsys.readouterr().out
    assert generator.OUTPUT.read_bytes() == before


def test_another_wheel_is_refused(
    generator: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    wheel = tmp_path / "tinygrad.whl"
    wheel.write_bytes(b"not it")
    monkeypatch.setattr(sys, "argv", ["generate.py", "--wheel", str(wheel)])
    with pytest.raises(SystemExit, match="SHA-256"):
        generator.main()


def test_a_register_without_an_owner_stops_the_generator(generator: ModuleType) -> None:
    policy = json.loads((TABLES / "policy.json").read_text())
    with pytest.raises(SystemExit, match="COMPUTE_NEW"):
        generator.own("COMPUTE_NEW", policy)
    assert generator.own("COMPUTE_USER_DATA_7", policy) == ("aql", 0)
    assert generator.own("COMPUTE_STATIC_THREAD_MGMT_SE8", policy) == ("queue", None)


OFFSETS = {
    0x204: "COMPUTE_START_X", 0x207: "COMPUTE_NUM_THREAD_X", 0x20C: "COMPUTE_PGM_LO", 0x20D: "COMPUTE_PGM_HI",
    0x210: "COMPUTE_DISPATCH_SCRATCH_BASE_LO", 0x212: "COMPUTE_PGM_RSRC1", 0x213: "COMPUTE_PGM_RSRC2",
    0x215: "COMPUTE_RESOURCE_LIMITS", 0x216: "COMPUTE_STATIC_THREAD_MGMT_SE0", 0x218: "COMPUTE_TMPRING_SIZE",
    0x21B: "COMPUTE_RESTART_X", 0x228: "COMPUTE_PGM_RSRC3", 0x240: "COMPUTE_USER_DATA_0", 0x24F: "COMPUTE_USER_DATA_15",
}  # fmt: skip


@pytest.mark.parametrize("gfx", ["gfx1010", "gfx1030", "gfx1100", "gfx1101", "gfx1151", "gfx1201"])
def test_offsets_are_those_of_amds_headers(gfx: str) -> None:
    """C073"""
    for offset, name in OFFSETS.items():
        assert f" {name}=0x0" in show(gfx, set_sh(offset, 0))


def test_fields_that_differ_between_generations() -> None:
    ones = 0xFFFFFFFF
    texts = {gfx: show(gfx, set_sh(0x212, ones, ones)) for gfx in ("gfx1030", "gfx1100", "gfx1201")}
    assert "trap_present=1" in texts["gfx1030"]
    assert "trap_present=1" in texts["gfx1100"]
    assert "dynamic_vgpr=1" in texts["gfx1201"]
    assert "dx10_clamp=1" in texts["gfx1100"]
    assert "wg_rr_en=1" in texts["gfx1201"]
    assert "inst_pref_size" not in show("gfx1030", set_sh(0x228, ones))
    assert "inst_pref_size=63 " in show("gfx1100", set_sh(0x228, ones))
    assert "inst_pref_size=255 " in show("gfx1201", set_sh(0x228, ones))
    assert "wavesize=8191}" in show("gfx1030", set_sh(0x218, ones))
    assert "wavesize=32767}" in show("gfx1151", set_sh(0x218, ones))
    assert "wavesize=262143}" in show("gfx1201", set_sh(0x218, ones))
    assert "num_thread_full=65535 " in show("gfx1100", set_sh(0x207, ones))
    assert "num_thread_full=8191 " in show("gfx1201", set_sh(0x207, ones))
    assert "ping_pong_en=1" in show("gfx1201", packet(0x15, 1, 1, 1, ones))
    assert "ping_pong_en" not in show("gfx1100", packet(0x15, 1, 1, 1, ones))


def test_each_fact_names_its_source() -> None:
    for name in ("packets.json", "policy.json"):
        assert json.loads((TABLES / name).read_text())["sources"]
    assert "AMD PAL" in (TABLES / "gfx10.csv").read_text().splitlines()[1]
    head = (ROOT / "softgpu" / "pm4" / "pm4_tables.c").read_text().partition("#include")[0]
    for source in ("regs.py", "pm4_nv.py", "soc_12.py", "gfx10.csv", "packets.json", "policy.json"):
        assert source in head


def test_free_and_zero_fields_have_a_reason() -> None:
    for name, entry in json.loads((TABLES / "packets.json").read_text())["packets"].items():
        for _, low, high, field, generations, kind, note in entry["fields"]:
            assert low <= high
            assert set(generations.split()) <= {"10", "11", "12"}
            assert kind in ("value", "zero", "free")
            assert bool(note) == (kind != "value"), f"{name}.{field}"


def test_the_executor_shares_nothing_with_the_products_encoder() -> None:
    for path in [*(ROOT / "softgpu" / "pm4").glob("*.[ch]"), TABLES / "generate.py"]:
        assert not re.search(r"runtime/(?!autogen)|redline", path.read_text()), path.name
