# SPDX-License-Identifier: Apache-2.0
"""Reading C headers: constructs that AMD's headers do not have yet, and declarations written back as C."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from redline_codegen.errors import InputError
from redline_codegen.header import HIP, read_headers
from redline_codegen.model import Field, Part, declare

DECLARED = """\
typedef int (*hipFn)(int, void *(*)(int));
typedef void hipFnType(int);
enum { hipCount = 3 };
struct hipOdd {
    hipFn one[4];
    void (*two[2][hipCount])(const char *const *, int (*)[5]);
    const int three[2][1 + hipCount];
    int (*four)[7];
    const char *const five[3];
    int *const *volatile six;
    void (*(*seven)(int))(char);
    void (*const eight)(int, ...);
    int (*(*nine)(void))[hipCount];
};
hipFnType *hipGet(int n);
"""


def read(folder: Path, text: str) -> Part:
    (folder / "hip").mkdir()
    (folder / "hip" / "hip_runtime_api.h").write_bytes(text.encode())
    return read_headers(HIP, [folder])


def test_every_declarator_is_written_back_as_the_same_type(tmp_path: Path) -> None:
    part = read(tmp_path, DECLARED)
    lines = ["#include <hip/hip_runtime_api.h>"]
    for member in part.records["hipOdd"].fields:
        lines.append(f"extern {declare(member.type, f'our_{member.name}')};")
        pair = f"__typeof__(our_{member.name}), __typeof__(((struct hipOdd *)0)->{member.name})"
        lines.append(f'_Static_assert(__builtin_types_compatible_p({pair}), "{member.name}");')
    lines += [f"typedef {declare(text, name)};" for name, text in part.typedefs.items()]
    command = ["cc", "-x", "c", "-std=gnu11", "-Werror", f"-I{tmp_path}", "-fsyntax-only", "-"]
    subprocess.run(command, input="\n".join(lines), text=True, check=True)


def test_declarator_of_a_nested_struct_follows_its_body() -> None:
    assert [declare(text, "m").strip() for text in ("", "*", "[3]")] == ["m", "*m", "m[3]"]


def test_bit_field_width_may_be_an_expression(tmp_path: Path) -> None:
    part = read(tmp_path, "struct hipBits { unsigned a : 1 << 2; unsigned : 3u; };\nint hipF(void);\n")
    assert [(f.name, f.bits) for f in part.records["hipBits"].fields] == [("a", 4), ("", 3)]


def test_nested_struct_behind_an_array_has_its_bounds_and_no_offsets(tmp_path: Path) -> None:
    part = read(tmp_path, "struct hipIn { int a; struct { char b[1 + 1]; } c[2]; };\nint hipF(void);\n")
    inline = part.records["hipIn"].fields[1].inline
    assert inline and inline.fields == (Field("b", "char [2]", None),)


def test_enum_without_a_name_inside_a_struct_is_read(tmp_path: Path) -> None:
    part = read(tmp_path, "struct hipKind { enum { hipOne = 1, hipTwo } kind; };\nint hipF(void);\n")
    assert part.enums["anonymous_hipOne"].enumerators == (("hipOne", 1), ("hipTwo", 2))
    assert part.records["hipKind"].fields[0].type == "anonymous_hipOne"


def test_variadic_function_is_read(tmp_path: Path) -> None:
    part = read(tmp_path, "int hipLog(void (*sink)(int, ...), const char *format, ...);\n")
    assert part.functions["hipLog"].signature == "int hipLog(void (*sink)(int, ...), const char *format, ...)"


def test_constant_that_the_compiler_cannot_compute_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"HIP_NEVER:1:\d+: error"):
        read(tmp_path, "#define HIP_NEVER (1 / 0)\nint hipF(void);\n")


def test_macro_that_the_header_takes_back_is_no_constant(tmp_path: Path) -> None:
    part = read(tmp_path, "#define HIP_TMP 1\n#define HIP_KEPT 2\n#undef HIP_TMP\nint hipF(void);\n")
    assert part.constants == {"HIP_KEPT": 2}


def test_line_ends_bom_and_a_missing_last_newline_change_nothing(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    assert read(tmp_path / "a", "\ufeff" + DECLARED.rstrip().replace("\n", "\r\n")) == read(
        tmp_path / "b", DECLARED
    )


@pytest.mark.parametrize("command", ["env cc", "{folder}/a compiler/cc"])
def test_compiler_may_have_arguments_or_a_space_in_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    (tmp_path / "a compiler").mkdir()
    (tmp_path / "a compiler" / "cc").symlink_to(shutil.which("cc") or "")
    monkeypatch.setenv("CC", command.format(folder=tmp_path))
    assert set(read(tmp_path, "int hipF(void);\n").functions) == {"hipF"}


def test_include_folder_may_be_a_link_to_one_that_the_compiler_searches_anyway(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    monkeypatch.setenv("CC", f"cc -isystem {tmp_path / 'real'}")
    (tmp_path / "real" / "hip").mkdir()
    (tmp_path / "real" / "hip" / "hip_runtime_api.h").write_text("int hipF(void);\n")
    assert set(read_headers(HIP, [tmp_path / "link"]).functions) == {"hipF"}
