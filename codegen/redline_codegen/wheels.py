# SPDX-License-Identifier: Apache-2.0
"""HIP headers of releases that Debian never carried, out of wheels on the Python package index."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

from .errors import InputError
from .staging import Row, hip_version, place, read_manifest, say, work_folder

VERSION_HEADER = "include/hip/hip_version.h"


@dataclass(frozen=True)
class Wheel:
    """The smallest wheel with the headers of a HIP release; `python` and `platform` choose its file."""

    label: str
    requirement: str
    python: str
    platform: str


WHEELS = [
    Wheel("6.1", "triton-rocm==3.0.0rc1", "3.10", "manylinux_2_35_x86_64"),
    Wheel("6.2", "triton==3.4.0", "3.11", "manylinux_2_28_x86_64"),
    Wheel("7.1", "triton-windows==3.8.0.post29", "3.12", "win_amd64"),
]


def fetch_wheel(root: Path, wheel: Wheel) -> Row:
    """The headers of one wheel, in a folder named after their HIP version; the wheel itself is not kept."""
    for folder in root.glob(f"{wheel.label}.*"):
        manifest = read_manifest(folder)
        if manifest is not None and manifest.get("requirement") == wheel.requirement:
            return _row(folder.name, wheel)
    with work_folder(root, f"wheel-{wheel.label}") as work:
        file = _download(wheel, work / "download")
        _extract_headers(file, work / "folder")
        label = ".".join(hip_version(work / "folder" / "include"))
        (work / "folder" / ".info").mkdir()
        (work / "folder" / ".info" / "version").write_text(label + "\n", encoding="utf-8")
        place(
            work / "folder",
            root / label,
            {"requirement": wheel.requirement, "release": label, "files": ["include/hip/hip_runtime_api.h"]},
        )
    say(f"{label}: ready")
    return _row(label, wheel)


def _row(label: str, wheel: Wheel) -> Row:
    return Row(label, label, "wheel", "yes", "no", wheel.requirement)


def _download(wheel: Wheel, folder: Path) -> Path:
    say(f"{wheel.label}: downloading {wheel.requirement}")
    options = [
        "--no-deps",
        "--only-binary",
        ":all:",
        "--python-version",
        wheel.python,
        "--platform",
        wheel.platform,
    ]
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--disable-pip-version-check",
        "--no-cache-dir",
    ]
    done = subprocess.run(
        [*command, *options, "--dest", str(folder), wheel.requirement],
        capture_output=True,
        text=True,
        check=False,
    )
    files = sorted(folder.glob("*.whl"))
    if done.returncode or not files:
        errors = [
            line for line in done.stderr.splitlines() if line.startswith("ERROR")
        ] or done.stderr.splitlines()
        raise InputError(
            f"{wheel.requirement} could not be downloaded: {(errors or ['pip gave no reason'])[-1]}"
        )
    return files[0]


def _extract_headers(wheel: Path, folder: Path) -> None:
    if not zipfile.is_zipfile(wheel):
        raise InputError(f"{wheel.name} is not a wheel")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        version = next((name for name in names if name.endswith("/" + VERSION_HEADER)), None)
        if version is None:
            raise InputError(f"{wheel.name} holds no {VERSION_HEADER}")
        top = version.removesuffix(VERSION_HEADER)
        for name in names:
            inside = name.removeprefix(top)
            if not name.startswith(top + "include/") or name.endswith("/") or ".." in Path(inside).parts:
                continue
            (folder / inside).parent.mkdir(parents=True, exist_ok=True)
            (folder / inside).write_bytes(archive.read(name))
