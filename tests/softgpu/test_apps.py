# SPDX-License-Identifier: Apache-2.0
"""Applications on AMD's unmodified HIP and ROCr: every number right, on every target, however late the GPU is.

One run of each application on each target, in a mode that changes from one to the next. APPS_SOAK=N makes that N runs
in every mode, each with a seed of its own.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
APPS = sorted(path.stem for path in (ROOT / "tests" / "apps").glob("*.c"))
TARGETS = ["gfx1100", "gfx1151", "gfx1201"]
# Copies are late in all of them; the software GPU is never faster than hardware could be.
SLOW_KERNELS = ["--kernel-delay", "slow_set=500:2000", "--kernel-delay", "slow_copy=500:2000"]
LATE = ["--delay-us", "20:400", *SLOW_KERNELS]
MODES: dict[str, list[str]] = {
    "default": SLOW_KERNELS,
    "late": LATE,
    "no-sdma": ["--sdma", "0", *SLOW_KERNELS],
    "no-sdma-late": ["--sdma", "0", *LATE],
}
NEEDS = {"two_devices": ["--gpus", "2"]}
SOAK = int(os.environ.get("APPS_SOAK", "0"))
SECONDS = 60

ROCM = BUILD / "rocm" / "7.2.4" / "lib" / "libamdhip64.so.7"
pytestmark = pytest.mark.skipif(
    not ROCM.exists(), reason="no HIP 7.2.4 in build/rocm (`make rocm`): the applications are not run"
)


# Ways through HIP that its environment opens, each with the application it matters to. AMD_DIRECT_DISPATCH=0 is not
# among them: there HIP 7.2.4 itself is wrong (docs/softgpu.md, Limits).
SETTINGS = [
    ("null_stream", "ROC_CPU_WAIT_FOR_SIGNAL=1"),
    ("memset_nodes", "DEBUG_HIP_GRAPH_SEGMENT_SCHEDULING=0"),
    ("fork_join", "DEBUG_HIP_GRAPH_SEGMENT_SCHEDULING=0"),
    ("many_streams", "DEBUG_HIP_DYNAMIC_QUEUES=1"),
    ("torch_replay", "HIP_LAUNCH_BLOCKING=1"),
    ("copy_launch_copy", "GPU_FORCE_BLIT_COPY_SIZE=0"),
    ("copy_launch_copy", "GPU_FORCE_BLIT_COPY_SIZE=1024"),
]


def run(app: str, *options: str, setting: str = "") -> subprocess.CompletedProcess[str]:
    program = BUILD / "apps" / app
    assert program.exists(), f"{program.relative_to(ROOT)} is not built: `make softgpu apps`"
    command = [str(ROOT / "softgpu" / "run"), *options, "--", str(program)]
    environment = dict(os.environ, **dict([setting.split("=")] if setting else []))
    return subprocess.run(
        command, capture_output=True, text=True, timeout=SECONDS, check=False, env=environment
    )


def check(app: str, *options: str, setting: str = "") -> None:
    done = run(app, *options, setting=setting)
    said = f"{setting} softgpu/run {' '.join(options)}\n{done.stdout}{done.stderr}"
    assert done.stdout.splitlines()[-1:] == [f"PASS {app}"], said
    assert done.returncode == 0, said
    assert "softgpu:" not in done.stderr, said


def selected() -> list[tuple[str, str, str]]:
    """(target, application, mode) of each test."""
    names = list(MODES)
    if SOAK:
        return [(target, app, mode) for target in TARGETS for app in APPS for mode in names]
    return [
        (target, app, names[(a + t) % len(names)])
        for t, target in enumerate(TARGETS)
        for a, app in enumerate(APPS)
    ]


@pytest.mark.parametrize(("target", "app", "mode"), selected())
def test_application_passes(target: str, app: str, mode: str) -> None:
    for seed in range(1, max(SOAK, 1) + 1):
        check(app, "--gfx", target, "--seed", str(seed), *MODES[mode], *NEEDS.get(app, []))


@pytest.mark.parametrize(("app", "setting"), SETTINGS)
def test_application_passes_with_a_setting_of_hip(app: str, setting: str) -> None:
    check(app, "--gfx", "gfx1201", *SLOW_KERNELS, setting=setting)


def test_a_failing_application_says_what_it_got_and_wanted() -> None:
    done = run("two_devices", "--gpus", "1")
    assert done.returncode == 1
    assert done.stdout.startswith("FAIL two_devices: got 1 device, want two")
