# SPDX-License-Identifier: Apache-2.0
"""An archive like Debian's of November 2026, for tests that need no network."""

from __future__ import annotations

from pathlib import Path

import pytest

from .local_archive import LocalArchive, missing_tools


@pytest.fixture(scope="session")
def pristine_archive(tmp_path_factory: pytest.TempPathFactory) -> LocalArchive:
    """Four suites with a HIP each, published."""
    if missing_tools():
        pytest.skip(f"needs {', '.join(missing_tools())}")
    local = LocalArchive(tmp_path_factory.mktemp("pristine"))
    local.add_hip("bookworm", "5.2.3-8", "5")
    local.add("bookworm", "libhsakmt1", "5.2.3-1", local.library("libhsakmt.so.1", "libhsakmt.so.1.0.6"))
    local.add_hip("trixie", "5.7.1-6+deb13u1", "5", hsa="6.1.2-3")
    local.add_hip("forky", "6.4.3-5", "6")
    local.add_hip("experimental", "7.2.4-1~exp2", "7")
    local.add("trixie", "libllvm22", "1:22.1.8-1", local.library("libLLVM.so.22.1", "libLLVM.so.22.1"))
    comgr = local.library("libamd_comgr.so.3", "libamd_comgr.so.3.0.0", ("libLLVM.so.22.1",))
    needs = "libc6 (>= 2.38), libllvm22 (>= 1:22.1.0), libclang-common-22-dev"
    local.add("experimental", "libamd-comgr3", "7.2.4+dfsg-1~exp1", comgr, needs)
    local.publish()
    return local


@pytest.fixture
def archive(pristine_archive: LocalArchive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LocalArchive:
    """A copy that the test may change; apt's set-up on this machine names it and nothing else."""
    local = pristine_archive.copy(tmp_path / "archive")
    monkeypatch.setenv("APT_CONFIG", str(local.apt_config))
    return local
