# SPDX-License-Identifier: Apache-2.0
"""Errors of the GPU, resets, exits and updates while replays are under way: HIP's own end of each."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path

import pytest
from engine.replay import FIXTURES, LIBRARY, ROOT, Run, build_program, needs_hip, passed, run
from runtime.whole import Programs, require_sanitizer

HERE = ROOT / "tests" / "engine"
LIBRARIES = (None, LIBRARY)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("gpu_errors")


def twice(name: str, folder: Path, *options: str, arguments: tuple[str, ...] = ()) -> tuple[Run, Run]:
    """Without the library and with it."""
    program = build_program(HERE / f"{name}.c", folder / name)
    native, ours = (
        run(program, *arguments, options=options, settings=FIXTURES, library=library, trace=True)
        for library in LIBRARIES
    )
    for done in (native, ours):
        assert (done.verdict, done.status) == (f"PASS {name}", 0), done.said
    return native, ours


def answers(done: Run) -> list[str]:
    return [line for line in done.said.splitlines() if line.startswith("hip")]


def kernels(done: Run) -> Counter[str]:
    """How often each kernel was started, by HIP's packets and by ours."""
    kinds = ("dispatch", "pm4_dispatch")
    return Counter(str(packet["kernel"]) for packet in done.trace if packet["kind"] in kinds)


@needs_hip
@pytest.mark.parametrize("gfx", ["gfx1100", "gfx1201", "gfx1030"])
def test_an_error_of_a_replay_is_the_streams_and_nothing_runs_again(gfx: str, folder: Path) -> None:
    native, ours = twice("gpu_error", folder, "--gfx", gfx)
    assert "hipStreamSynchronize(stream): hipErrorIllegalAddress" in answers(native)
    assert answers(ours) == answers(native)
    for done in (native, ours):
        assert kernels(done)["copy"] == 3 and kernels(done)["mul_add"] == 4, done.trace
        assert len(done.packets("error")) == 1
    assert "pm4_dispatch" in {packet["kind"] for packet in ours.trace if packet.get("kernel") == "copy"}
    # One launch of each exec was right, the next of one is what failed; whatever came later was HIP's.
    assert ours.launches("replayed") == 3
    assert ours.reasons == {"DEVICE_FAILED"}


@needs_hip
@pytest.mark.parametrize(
    ("how", "call"), [("destroy", "hipGraphExecDestroy(exec)"), ("unload", "hipModuleUnload(app.module)")]
)
def test_what_waits_for_a_replay_that_failed_gets_the_error(how: str, call: str, folder: Path) -> None:
    native, ours = twice("gpu_error", folder, arguments=("2", "1024", how))
    assert answers(native)[1] == f"{call}: hipErrorIllegalAddress"
    assert answers(ours) == answers(native)
    assert ours.launches("replayed") == 3 and kernels(ours) == kernels(native)


@needs_hip
def test_a_reset_waits_for_replays_behind_a_slow_kernel_and_keeps_no_exec() -> None:
    done = passed("device_reset", "--kernel-delay", "slow_set=5000:20000", trace=True)
    assert kernels(done)["mul_add"] == 2 * done.launches("replayed") + 6
    counters = done.report["counters"]
    assert counters["execs_created"] == counters["execs_destroyed"] == 3


@needs_hip
def test_exit_with_replays_in_flight_is_as_without_us(folder: Path) -> None:
    """They stand behind a kernel of a minute, which neither of the two processes waits for."""
    for _ in range(3):
        native, ours = twice("exit_in_flight", folder, "--kernel-delay", "slow_set=60000000:60000000")
        assert ours.launches("replayed") == 8
        assert kernels(native)["mul_add"] == kernels(ours)["mul_add"] == 2


@pytest.mark.parametrize("sanitizer", ["thread", "address,undefined"])
def test_an_update_never_takes_the_description_from_a_launch(tmp_path: Path, sanitizer: str) -> None:
    flag = f"-fsanitize={sanitizer}"
    require_sanitizer(flag, tmp_path)
    program = Programs(tmp_path, flag, "-fno-sanitize-recover=all").build("update_races")
    done = subprocess.run([str(program), "300"], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
