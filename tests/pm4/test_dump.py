# SPDX-License-Identifier: Apache-2.0
"""`redline-codegen pm4 dump`: what the engine writes with REDLINE_DUMP, bare words, traces, and files that are none."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest
from redline_codegen import cli

from . import golden
from .library import TARGETS, ffi, library, target


def dump_file(path: Path, gfx: str, words: tuple[int, ...]) -> Path:
    header = library().rl_pm4_dump_header(target(gfx), len(words))
    path.write_bytes(bytes(ffi.buffer(ffi.addressof(header))) + struct.pack(f"<{len(words)}I", *words))
    return path


def dump(*arguments: str | Path) -> int:
    return cli.main(["pm4", "dump", *map(str, arguments)])


@pytest.mark.parametrize("gfx", TARGETS)
def test_a_dump_of_the_engine_is_printed(
    gfx: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = golden.program(gfx).words
    assert dump(dump_file(tmp_path / "x.ib", gfx, words)) == 0
    assert capsys.readouterr().out == f"{gfx}, {len(words)} dwords\n{golden.text(gfx)}"


def test_bare_words_need_a_target_and_findings_are_the_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "words"
    path.write_bytes(struct.pack("<3I", 0xC0017602, 0x216, 0))
    assert dump(path) == 1
    assert "--target" in capsys.readouterr().err
    assert dump("--target", "gfx1100", path) == 1
    shown = capsys.readouterr().out
    assert "gfx1100, 3 dwords, 1 findings (!!)" in shown and "STATIC_THREAD_MGMT_SE0" in shown
    assert dump("--target", "gfx9999", path) == 1
    assert "no target that the runtime knows" in capsys.readouterr().err


def test_the_buffers_of_a_trace_are_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "trace"
    buffer = {"kind": "pm4_ib", "queue": 2, "index": 7, "buffer": "0x7f00", "dwords": 3, "pm4": ["a", "b"]}
    path.write_text(json.dumps({"kind": "dispatch"}) + "\n" + json.dumps(buffer) + "\n")
    assert dump(path) == 0
    assert capsys.readouterr().out == "queue 2, packet 7: 3 dwords at 0x7f00\na\nb\n"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"RLPM4IB1" + b"gfx1100".ljust(16, b"\0") + struct.pack("<II", 5, 0) + b"\0" * 8, "5 dwords"),
        (b"RLPM4IB1" + b"gfx1250".ljust(16, b"\0") + struct.pack("<II", 1, 0) + b"\0" * 4, "gfx1250"),
        (b"{not json", "not a trace"),
        (b"\0" * 7, "neither a dump nor a trace"),
    ],
)
def test_what_is_no_buffer_is_an_error_with_the_file_named(
    content: bytes, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "broken"
    path.write_bytes(content)
    assert dump(path) == 1
    error = capsys.readouterr().err
    assert said in error
    assert "gfx1250" in said or str(path) in error
    assert dump(tmp_path / "absent") == 1
