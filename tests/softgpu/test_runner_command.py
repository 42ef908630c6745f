# SPDX-License-Identifier: Apache-2.0
"""softgpu/run itself: exit codes, signals, environment, missing packages, trace; and what a killed run leaves."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
RUN = ROOT / "softgpu" / "run"
CHECKS = Path(__file__).with_name("runner_hip.py")
SECONDS = 120

has_rocm = (ROOT / "build/rocm/7.2.4/lib/libamdhip64.so.7").exists()
has_softgpu = (ROOT / "build/softgpu/libsoftgpu.so").exists()
pytestmark = [
    pytest.mark.skipif(not has_rocm, reason="no HIP 7.2.4 in build/rocm (`make rocm`)"),
    pytest.mark.skipif(not has_softgpu, reason="no build/softgpu (`make softgpu`)"),
]


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(RUN), *arguments],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
        env=dict(os.environ, **environment),
    )


def trace(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_the_exit_code_is_the_command_s() -> None:
    assert run("--", "sh", "-c", "exit 7").returncode == 7


def test_a_signal_that_kills_the_command_kills_the_run() -> None:
    assert run("--", "sh", "-c", "kill -TERM $$").returncode == -signal.SIGTERM


def test_arguments_reach_the_command_unchanged() -> None:
    done = run("--", sys.executable, "-c", "import sys; print(sys.argv[1:])", "--gfx", "a b", "")
    assert done.stdout == "['--gfx', 'a b', '']\n"


def test_the_user_s_preload_comes_first() -> None:
    code = "import os; print(os.environ['LD_PRELOAD'])"
    libm = "libm.so.6"
    done = run("--", sys.executable, "-c", code, LD_PRELOAD=libm)
    assert done.stdout.split() == [libm, str(ROOT / "build/softgpu/libsoftgpu_preload.so")], done.stderr


def test_a_script_runs_behind_its_interpreter(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text(
        f"#!/usr/bin/env {Path(sys.executable).name}\nimport sys\nprint('hello', *sys.argv[1:])\n"
    )
    script.chmod(0o755)
    done = run("--", str(script), "x", PATH=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    assert done.stdout == "hello x\n", done.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--", "no-such-command"], "no-such-command: no such command."),
        (["--release", "1.2.3", "--", "true"], "run `make rocm` first."),
        (["--trace", "/dev/null/x", "--", "true"], "the trace /dev/null/x cannot be written: "),
    ],
)
def test_what_is_missing_is_said_in_one_sentence(arguments: list[str], says: str) -> None:
    done = run(*arguments)
    assert done.returncode == 127
    assert len(done.stderr.splitlines()) == 1
    assert says in done.stderr


def test_a_topology_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    build = tmp_path / "build" / "softgpu"
    build.mkdir(parents=True)
    for library in ("libsoftgpu.so", "libsoftgpu_preload.so"):
        (build / library).symlink_to(ROOT / "build" / "softgpu" / library)
    (build / "topology").write_text("in the way")
    for name in ("run", "topology.py"):
        (tmp_path / "softgpu").mkdir(exist_ok=True)
        shutil.copy(ROOT / "softgpu" / name, tmp_path / "softgpu" / name)
    done = subprocess.run(
        [str(tmp_path / "softgpu" / "run"), "--", "true"],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 127
    assert len(done.stderr.splitlines()) == 1
    assert "cannot be written: " in done.stderr


def test_a_file_that_is_no_program_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_text("echo hi\n")
    file.chmod(0o755)
    done = run("--", str(file))
    assert done.returncode == 127
    assert (
        done.stderr == f"softgpu/run: {file} is neither a program nor a script that names its interpreter.\n"
    )


@pytest.mark.parametrize("part", ["7.2.4", "comgr", "glibc"])
def test_a_missing_package_names_make_rocm(tmp_path: Path, part: str) -> None:
    for other in ("7.2.4", "comgr", "glibc"):
        if other != part:
            (tmp_path / other).symlink_to(ROOT / "build" / "rocm" / other)
    libc = (os.confstr("CS_GNU_LIBC_VERSION") or "glibc 0.0").split()[1]
    if part == "glibc" and tuple(map(int, libc.split("."))) >= (2, 38):
        pytest.skip("the system's C library is new enough: no private one is needed")
    done = run("--rocm", str(tmp_path), "--", "true")
    assert done.returncode == 127
    assert done.stderr.strip().endswith("is missing: run `make rocm` first."), done.stderr


@pytest.mark.parametrize(
    "wrong", [["--delay-us", "9:1"], ["--gfx", "gfx900"], ["--gpus", "0"], ["--sdma", "-1"]]
)
def test_wrong_options_are_refused(wrong: list[str]) -> None:
    assert run(*wrong, "--", "true").returncode == 2


def test_the_trace_has_one_object_for_each_packet(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "trace.json"
    assert run("--trace", str(file), "--", sys.executable, str(CHECKS), "events").returncode == 0
    packets = trace(file)
    kinds = {packet["kind"] for packet in packets}
    assert {"dispatch", "barrier_and", "pm4_ib"} <= kinds
    times = [packet["time_us"] for packet in packets]
    assert times == sorted(times)
    seen: dict[tuple[int, int], int] = {}
    for packet in packets:
        assert {"time_us", "pid", "gpu", "queue", "kind"} <= packet.keys()
        if "index" in packet:
            place = (packet["gpu"], packet["queue"])
            assert packet["index"] == seen.get(place, 0), "each packet once, in order"
            seen[place] = packet["index"] + 1
            assert packet["header"].keys() == {"word", "barrier", "acquire", "release"}
    fill = next(packet for packet in packets if packet["kind"] == "dispatch")
    assert fill["kernel"] == "__amd_rocclr_fillBufferAligned"
    assert len(fill["grid"]) == len(fill["workgroup"]) == 3
    assert len(fill["kernarg_hash"]) == 16
    loaded = next(packet for packet in packets if packet["kind"] == "pm4_ib")
    assert "ACQUIRE_MEM" in loaded["pm4"][0]


def test_copy_engines_are_used_or_left_out(tmp_path: Path) -> None:
    for engines in ("0", "2"):
        file = tmp_path / f"{engines}.json"
        done = run("--sdma", engines, "--trace", str(file), "--", sys.executable, str(CHECKS), "registered")
        assert done.returncode == 0, done.stderr
        copied = any(packet["kind"] == "sdma_copy" for packet in trace(file))
        assert copied == (engines == "2")


def delays(file: Path, *options: str) -> dict[str, list[int]]:
    """Delays of kernels and of copies, each queue's in order."""
    done = run("--trace", str(file), *options, "--", sys.executable, str(CHECKS), "sequence")
    assert done.returncode == 0, done.stderr
    out: dict[str, list[int]] = {}
    for packet in trace(file):
        if packet["kind"] in ("dispatch", "sdma_copy"):
            out.setdefault(f"{packet['kind']} {packet['queue']}", []).append(packet["delay_us"])
    return out


def test_the_same_seed_gives_the_same_delays_and_another_seed_others(tmp_path: Path) -> None:
    first, again, other = (
        delays(tmp_path / f"{number}.json", "--delay-us", "10:400", "--seed", seed)
        for number, seed in enumerate(("5", "5", "6"))
    )
    assert first == again
    assert first != other
    assert {kind.split()[0] for kind in first} == {"dispatch", "sdma_copy"}
    assert all(10 <= delay <= 400 for sequence in first.values() for delay in sequence)
    assert all(len(set(sequence)) > 1 for sequence in first.values() if len(sequence) > 3)


def test_a_kernel_s_own_delay_is_used_for_it_alone(tmp_path: Path) -> None:
    fill = "__amd_rocclr_fillBufferAligned"
    file = tmp_path / "t.json"
    delays(file, "--delay-us", "0:0", "--kernel-delay", f"{fill}=70:71")
    late = {packet["kernel"]: packet["delay_us"] for packet in trace(file) if packet["kind"] == "dispatch"}
    assert late.pop(fill) in (70, 71)
    assert set(late.values()) <= {0}


def processes_with(text: str) -> list[str]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if text in (folder / "cmdline").read_bytes().decode(errors="replace"):
                found.append(folder.name)
        except OSError:
            continue
    return found


def test_a_killed_run_leaves_no_process_shared_memory_or_file(tmp_path: Path) -> None:
    shared, mark = set(os.listdir("/dev/shm")), str(tmp_path / "mark")
    child = subprocess.Popen(
        [str(RUN), "--", sys.executable, str(CHECKS), "busy", mark], stdout=subprocess.PIPE, cwd=tmp_path
    )
    assert child.stdout is not None
    assert child.stdout.readline() == b"ready\n"
    child.kill()
    child.wait()
    assert not processes_with(mark)
    assert not set(os.listdir("/dev/shm")) - shared
    assert not list(tmp_path.iterdir())
