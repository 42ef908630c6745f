# SPDX-License-Identifier: Apache-2.0
"""The layout of HIP's dispatch tables: read as AMD wrote it, or refused in one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import ROOT, include_folder
from redline_codegen.dispatch import HEADER, read_tables
from redline_codegen.errors import InputError
from redline_codegen.snapshot import read_snapshot

RUNTIME, COMPILER = "HipDispatchTable", "HipCompilerDispatchTable"
PLAIN = """
#define HIP_RUNTIME_API_TABLE_MAJOR_VERSION 0
#define HIP_RUNTIME_API_TABLE_STEP_VERSION 7
#define HIP_COMPILER_API_TABLE_MAJOR_VERSION 1
#define HIP_COMPILER_API_TABLE_STEP_VERSION 2
struct HipCompilerDispatchTable {
  size_t size;
  t_hipPaint hipPaint_fn; // the first
};
struct HipDispatchTable {
  // HIP_RUNTIME_API_TABLE_STEP_VERSION == 0
  size_t size;
  t_hipApiName
      hipApiName_fn;
  /* NEVER
     re-arrange */
  t_hipGraphLaunch hipGraphLaunch_fn;
};
"""


def written(folder: Path, text: str) -> Path:
    (folder / HEADER).parent.mkdir(parents=True)
    (folder / HEADER).write_text(text)
    return folder


def test_tables_are_read_with_their_versions(tmp_path: Path) -> None:
    tables = read_tables(written(tmp_path, PLAIN))
    assert tables[RUNTIME].functions == ("hipApiName", "hipGraphLaunch")
    assert (tables[RUNTIME].major, tables[RUNTIME].step) == (0, 7)
    assert (tables[COMPILER].major, tables[COMPILER].step) == (1, 2)
    assert (tables[RUNTIME].slot("hipGraphLaunch"), tables[RUNTIME].slot("hipPaint")) == (2, None)


def test_release_without_the_header_has_no_tables(tmp_path: Path) -> None:
    assert read_tables(tmp_path) == {}
    assert read_snapshot(ROOT / "api" / "rocm-5.7.1.json").hip.tables == {}


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        (
            "t_hipGraphLaunch hipGraphLaunch_fn;",
            "t_hipGraphLaunch hipGraphLaunch_spt_fn;",
            "no function of a",
        ),
        ("t_hipGraphLaunch hipGraphLaunch_fn;", "void *reserved[4];", "no function of a"),
        ("t_hipGraphLaunch hipGraphLaunch_fn;", "struct { int a; } b;", "no struct HipDispatchTable"),
        (
            "t_hipGraphLaunch hipGraphLaunch_fn;",
            "#if 1\nt_hipGraphLaunch hipGraphLaunch_fn;\n#endif\n t_hipPaint hipPaint_fn;",
            "no function of a",
        ),
        ("  size_t size;\n  t_hipApiName", "  t_hipApiName", "does not begin with `size_t size;`"),
        ("#define HIP_RUNTIME_API_TABLE_STEP_VERSION 7", "", "STEP_VERSION is not defined"),
        ("struct HipCompilerDispatchTable", "struct Other", "no struct HipCompilerDispatchTable"),
    ],
)
def test_what_reads_otherwise_is_refused(old: str, new: str, complaint: str, tmp_path: Path) -> None:
    assert old in PLAIN
    with pytest.raises(InputError, match=complaint):
        read_tables(written(tmp_path, PLAIN.replace(old, new)))


@pytest.mark.parametrize("release", ["6.4.3", "7.2.4"])
def test_table_of_a_release_has_a_place_for_each_function_that_its_library_exports(release: str) -> None:
    """But for those that no C header declares; and older tables are the beginning of newer ones."""
    hip = read_snapshot(ROOT / "api" / f"rocm-{release}.json").hip
    assert read_tables(include_folder(release)) == hip.tables
    assert hip.library
    exported = {symbol.name for symbol in hip.library.symbols}
    missing = exported & hip.functions.keys() - set(hip.tables[RUNTIME].functions)
    assert not [name for name in missing if "Graph" in name or "Capture" in name], missing
    newest = read_snapshot(ROOT / "api" / "rocm-7.2.4.json").hip.tables
    for name, table in hip.tables.items():
        assert newest[name].functions[: len(table.functions)] == table.functions
