# SPDX-License-Identifier: Apache-2.0
"""pycparser's reading and the compiler's layouts agree with libclang on every header that `make rocm` got."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import RELEASES, ROCM, include_folder
from redline_codegen.header import HIP, HSA, HeaderSet, read_headers
from redline_codegen.model import Part

from codegen.clang_model import ClangModel, plain, read_with_clang

WHEELS = sorted(
    path.parent.parent.parent.name
    for path in ROCM.glob("*/include/hip/hip_runtime_api.h")
    if path.parent.parent.parent.name not in RELEASES
)
CASES = [(release, headers) for release in (*RELEASES, *WHEELS) for headers in (HIP, HSA)]


@pytest.fixture(scope="module")
def readings(request: pytest.FixtureRequest) -> tuple[Part, ClangModel]:
    release, headers = request.param
    include = include_folder(release)
    if not (include / headers.includes[0]).is_file():
        pytest.skip(f"{headers.includes[0]} of ROCm {release} is absent")
    return read_headers(headers, [include]), read_with_clang(list(headers.includes), include, headers.folder)


def name_of(case: tuple[str, HeaderSet]) -> str:
    return f"{case[0]}-{case[1].folder}"


every_header = pytest.mark.parametrize("readings", CASES, indirect=True, ids=name_of)


@every_header
def test_function_set_and_types_agree(readings: tuple[Part, ClangModel]) -> None:
    part, clang = readings
    ours = {
        name: (plain(f.returns), tuple(plain(p.type) for p in f.parameters))
        for name, f in part.functions.items()
    }
    assert set(ours) == set(clang.functions)
    assert {n: (ours[n], clang.functions[n]) for n in ours if ours[n] != clang.functions[n]} == {}


@every_header
def test_enumerators_agree(readings: tuple[Part, ClangModel]) -> None:
    part, clang = readings
    ours = {name: value for enum in part.enums.values() for name, value in enum.enumerators}
    assert ours == clang.enumerators


@every_header
def test_layouts_agree(readings: tuple[Part, ClangModel]) -> None:
    part, clang = readings
    ours = {
        name: (
            record.size,
            record.alignment,
            {f.name: f.offset for f in record.fields if f.name and f.bits is None},
        )
        for name, record in part.records.items()
        if not record.opaque
    }
    assert {
        n: (ours.get(n), clang.layouts.get(n))
        for n in {*ours, *clang.layouts}
        if ours.get(n) != clang.layouts.get(n)
    } == {}


def test_a_header_that_was_read_is_found_below_its_include_folder(tmp_path: Path) -> None:
    """An include folder whose own path contains `/hip/` does not make libc's declarations HIP's."""
    folder = tmp_path / "hip" / "include"
    (folder / "hip").mkdir(parents=True)
    (folder / "other.h").write_text("int not_hips(void);\n")
    (folder / "hip" / "hip_runtime_api.h").write_text("#include <other.h>\nint hipOnly(int n);\n")
    assert set(read_headers(HIP, [folder]).functions) == {"hipOnly"}
