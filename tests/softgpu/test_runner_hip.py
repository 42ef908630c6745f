# SPDX-License-Identifier: Apache-2.0
"""AMD's HIP 7.2.4 on the software GPU, through softgpu/run: copies, memory kinds, several GPUs, errors, fork."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RUN = ROOT / "softgpu" / "run"
CHECKS = Path(__file__).with_name("runner_hip.py")
TARGETS = ["gfx1100", "gfx1151", "gfx1201"]
SECONDS = 120

pytestmark = [
    pytest.mark.skipif(
        not (ROOT / "build/rocm/7.2.4/lib/libamdhip64.so.7").exists(),
        reason="no HIP 7.2.4 in build/rocm (`make rocm`)",
    ),
    pytest.mark.skipif(
        not (ROOT / "build/softgpu/libsoftgpu.so").exists(), reason="no build/softgpu (`make softgpu`)"
    ),
]


def hip(*check: str, options: tuple[str, ...] = (), **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(RUN), *options, "--", sys.executable, str(CHECKS), *check],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
        env=dict(os.environ, **environment),
    )


def passes(*check: str, options: tuple[str, ...] = (), **environment: str) -> None:
    done = hip(*check, options=options, **environment)
    assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, [f"ok {check[0]}"]), (
        done.stdout + done.stderr
    )
    assert "softgpu:" not in done.stderr, done.stderr


@pytest.mark.parametrize("sdma", ["0", "2"])
@pytest.mark.parametrize("gfx", TARGETS)
def test_copies_of_every_kind_and_size(gfx: str, sdma: str) -> None:
    large = ["large"] if gfx == "gfx1201" else []
    passes("copies", *large, options=("--gfx", gfx, "--sdma", sdma))


@pytest.mark.parametrize("sdma", ["0", "2"])
@pytest.mark.parametrize("gfx", TARGETS)
def test_rectangles(gfx: str, sdma: str) -> None:
    passes("rectangles", options=("--gfx", gfx, "--sdma", sdma))


@pytest.mark.parametrize("check", ["registered", "managed", "allocations", "queues", "events"])
def test_memory_kinds_and_queues(check: str) -> None:
    passes(check, options=("--gfx", "gfx1201"))


def test_hip_comes_up_on_gfx10() -> None:
    passes("copies", options=("--gfx", "gfx1030"))


@pytest.mark.parametrize("gpus", ["1", "3"])
def test_copies_between_gpus(gpus: str) -> None:
    passes("devices", gpus, options=("--gpus", gpus))


@pytest.mark.parametrize("how", ["exit", "now"])
def test_a_forked_child_ends_and_leaves_the_parent_alone(how: str) -> None:
    """C068: runtime state does not survive fork; children must not hang or touch the parent's state."""
    passes("fork", how)


def test_a_forked_child_that_uses_hip_is_told_and_does_not_hang() -> None:
    """C068: as on hardware, where the driver gives the child no mapping and refuses its requests."""
    out_of_memory = "2"
    done = hip("fork_and_use", "malloc")
    assert done.stdout.splitlines() == [f"child {out_of_memory}", "ok fork_and_use"], done.stderr
    done = hip("fork_and_use", "memory")
    assert done.stdout.splitlines() == [f"child {-signal.SIGSEGV}", "ok fork_and_use"], done.stderr
    assert done.stderr.count("softgpu: a forked child touched GPU memory of its parent") == 1


def test_a_fault_of_the_program_goes_to_its_own_handler_once() -> None:
    done = hip("crash")
    assert done.returncode == -signal.SIGSEGV
    assert done.stderr.count("Fatal Python error: Segmentation fault") == 1, done.stderr


def test_a_small_program_stays_below_200_megabytes() -> None:
    done = hip("memory")
    assert int(done.stdout.splitlines()[0]) < 200_000, done.stdout


def test_an_allocator_before_ours_does_not_matter() -> None:
    passes("copies", MALLOC_PERTURB_="165")


def test_use_after_free_is_reported_and_reaches_the_application() -> None:
    module = ROOT / "softgpu/kernels/fixtures/gfx1201/kernels.co"
    done = hip("use_after_free", str(module), options=("--gfx", "gfx1201"))
    assert done.stdout.splitlines()[-1].strip() == "status 700 700", done.stdout + done.stderr
    assert "kernel slow_set: memory fault at" in done.stderr
    assert "use after free: offset 0x0 of GPU memory" in done.stderr


def test_a_malformed_buffer_reaches_the_error_callback_of_its_queue() -> None:
    invalid_packet_format = "0x1009"
    done = hip("bad_buffer", options=("--gfx", "gfx1201"))
    assert done.stdout.splitlines()[-1] == f"errors ['{invalid_packet_format}'] signal -1", done.stderr
    assert "dword 0 of the 2" in done.stderr
    assert "unknown packet, opcode 0x99" in done.stderr


def test_a_kernel_object_at_a_reused_address_is_the_new_kernel(tmp_path: Path) -> None:
    module = ROOT / "softgpu/kernels/fixtures/gfx1201/kernels.co"
    renamed = tmp_path / "renamed.co"
    renamed.write_bytes(module.read_bytes().replace(b"slow_set", b"slow_sxt"))
    passes("reload", str(module), str(renamed), options=("--gfx", "gfx1201"))


def test_a_kernel_without_a_twin_is_reported_and_reaches_the_application(tmp_path: Path) -> None:
    code = (ROOT / "softgpu/kernels/fixtures/gfx1201/kernels.co").read_bytes()
    module = tmp_path / "renamed.co"
    module.write_bytes(code.replace(b"slow_set", b"slow_sxt"))
    done = hip("unknown_kernel", str(module), options=("--gfx", "gfx1201"))
    assert done.stdout.splitlines()[-1].strip() == "status 300 300", done.stdout + done.stderr
    assert "kernel slow_sxt has no native twin" in done.stderr
