# SPDX-License-Identifier: Apache-2.0
"""Fetches abidiff (Debian's abigail-tools) into build/abigail for the tests, without installing anything."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
from pathlib import Path

from redline_codegen import debian
from redline_codegen.errors import InputError

ROOT = Path(__file__).resolve().parents[2]
TARGET = ROOT / "build" / "abigail"
PACKAGE = "abigail-tools"


def fetch() -> None:
    state = ROOT / "build" / "abigail.partial"
    shutil.rmtree(state, ignore_errors=True)
    suite = debian.Fetcher(state / "apt").suite(
        platform.freedesktop_os_release().get("VERSION_CODENAME", "sid")
    )
    package = suite.package(PACKAGE)
    if package is None:
        raise InputError(f"Suite {suite.name} has no {PACKAGE}.")
    needed = debian.closure([package], [suite], is_installed)
    debian.fetch_all({**needed, PACKAGE: (suite, package)}, state / "root")
    (state / "root").rename(TARGET)
    shutil.rmtree(state)


def is_installed(package: str) -> bool:
    command = ["dpkg-query", "--show", "--showformat=${db:Status-Status}", package]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip() == "installed"


def main() -> int:
    if shutil.which("abidiff") or (TARGET / "usr" / "bin" / "abidiff").exists():
        return 0
    try:
        fetch()
    except (InputError, OSError) as error:
        print(f"abidiff could not be had: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
