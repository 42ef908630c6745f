# SPDX-License-Identifier: Apache-2.0
"""Snapshots: what is committed is what the real header and library say, and a broken one is one sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import RELEASES, ROOT, c_compiler, include_folder
from redline_codegen.cli import main
from redline_codegen.errors import InputError
from redline_codegen.inputs import api_of, find_installation, read_snapshots
from redline_codegen.snapshot import from_text, read_snapshot, to_text

TOUCHED = ("generated", "docs", "api")


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for name in TOUCHED
        for path in sorted((folder / name).rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize("release", RELEASES)
def test_committed_snapshot_is_what_the_release_says(release: str) -> None:
    found = find_installation(include_folder(release), None, ROOT, {})
    assert found
    api = api_of(found, read_snapshots(ROOT))
    assert to_text(api) == (ROOT / "api" / f"rocm-{release}.json").read_text()


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_every_compiler_reads_the_same(release: str, compiler: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = c_compiler(compiler)
    monkeypatch.setenv("CC", path)
    found = find_installation(include_folder(release), None, ROOT, {})
    assert found
    assert to_text(api_of(found, read_snapshots(ROOT))) == (ROOT / "api" / f"rocm-{release}.json").read_text()


@pytest.mark.parametrize("release", RELEASES)
def test_text_and_model_are_inverse(release: str) -> None:
    path = ROOT / "api" / f"rocm-{release}.json"
    assert to_text(read_snapshot(path)) == path.read_text()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "Not a snapshot"),
        ("[]", "no `schema`"),
        ('{"schema": 1, "release": "\\ud800"}', "not Unicode"),
        ("[" * 100_000, "nested too deeply"),
        ("9" * 5000, "Not a snapshot"),
        ("{}", "no `schema`"),
        ('{"schema": 99}', "schema 99"),
        ('{"schema": 1}', "Not a complete snapshot"),
        ('{"schema": 1, "release": "1", "hip_version": "1", "hip": {}}', "Not a complete snapshot"),
        ('{"schema": 1, "release": "1", "hip_version": "1", "hip": []}', "Not a complete snapshot"),
    ],
)
def test_corrupt_snapshot_is_one_sentence(text: str, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint) as caught:
        from_text(text, Path("api/rocm-1.json"))
    assert str(caught.value).startswith("api/rocm-1.json:")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "place",
    [
        ("release",),
        ("hip", "functions", "hipMalloc", "returns"),
        ("hip", "functions", "hipMalloc", "parameters", 0, 1),
        ("hip", "typedefs", "hipEvent_t"),
        ("hip", "enums", "hipGraphNodeType", "enumerators", 0, 1),
        ("hip", "records", "dim3", "size"),
        ("hip", "records", "dim3", "fields", 0, "offset"),
        ("hip", "constants", "hipStreamNonBlocking"),
        ("hip", "library", "nodes", "hip_4.3", 0),
    ],
)
@pytest.mark.parametrize("wrong", ['["a"]', "NaN"])
def test_value_of_a_wrong_type_is_one_sentence(place: tuple[str | int, ...], wrong: str) -> None:
    document = json.loads((ROOT / "api" / "rocm-7.2.4.json").read_text())
    holder = document
    for key in place[:-1]:
        holder = holder[key]
    assert isinstance(place[-1], int) or place[-1] in holder
    holder[place[-1]] = json.loads(wrong)
    with pytest.raises(InputError, match="Not a complete snapshot: TypeError"):
        from_text(json.dumps(document), Path("x"))


def test_every_truncation_is_refused_or_the_same(project: Path) -> None:
    text = (project / "api" / "rocm-5.2.3.json").read_text()
    for cut in range(0, len(text) - 2, len(text) // 50):
        with pytest.raises(InputError):
            from_text(text[:cut], Path("x"))


def test_corrupt_snapshot_leaves_every_output_as_it_was(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = project / "api" / "rocm-6.4.3.json"
    document = json.loads(path.read_text())
    del document["hip"]["functions"]["hipGraphCreate"]["returns"]
    path.write_text(json.dumps(document))
    before = contents(project)
    assert main(["generate", "--root", str(project)]) == 1
    assert contents(project) == before
    error = capsys.readouterr().err
    assert error.startswith("redline-codegen: ") and error.count("\n") == 1 and "rocm-6.4.3.json" in error


def test_snapshot_command_writes_what_the_header_says(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    include = include_folder("6.4.3")
    target = tmp_path / "new.json"
    assert main(["snapshot", "--root", str(project), "--header", str(include), "--output", str(target)]) == 0
    assert target.read_text() == (ROOT / "api" / "rocm-6.4.3.json").read_text()
    assert "ROCm 6.4.3" in capsys.readouterr().out
