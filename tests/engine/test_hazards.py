# SPDX-License-Identifier: Apache-2.0
"""Hazards of riding in the application's queue that no application shows; all are in docs/hazards.md."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from conftest import library_objects
from engine.replay import FIXTURES, LIBRARY, ROOT, Run, build_program, needs_hip, passed, run
from engine.test_applications import EXPECTED
from engine.test_rules import RULES
from engine.variant import STATEMENT, variant
from identity import test_identity as identity

INJECTIONS = (
    "ring-of-hip-starts-the-replay",
    "waits-are-recorded-again",  # H1
    "waits-without-end-are-native",  # H1
    "blocking-streams-are-looked-at-first",  # H2
    "barrier-of-ours-holds-what-is-behind-a-replay",  # H2
    "stream-that-moves-before-the-replay-is-native",  # H2
    "stream-that-moves-behind-the-replay-waits-for-it",  # H2
    "record-of-several-slots-is-native",  # H4
    "record-without-a-barrier-bit-is-native",  # H4
    "record-without-a-signal-is-native",  # H4
    "merged-record-is-native",  # H4
    "record-that-does-not-ring-is-native",  # H4
    "second-barrier-of-a-record-is-behind-the-replay",  # H4
    "placed-replay-is-rung-for-when-hip-does-not",  # H4
    "ring-of-another-queue-is-not-hips-for-ours",  # H5
    "slot-is-closed-before-hip-waits",  # H5
    "failed-record-is-native-and-an-error-of-the-gpu-is-noted",
    "what-is-placed-is-done-whatever-hip-says",
    "full-ring-is-waited-for",  # H20
    "kernels-that-see-their-queue-run-in-it-alone",  # O7
    "replays-that-share-a-fence-word-are-in-one-queue",  # H13
)
CHECKS = (
    "ring-in-the-gpus-memory-is-refused",  # H20
    "reservation-as-long-as-the-ring-is-refused",  # H20
    "observed-packets-are-copied-over-many-laps",  # H20
    "a-whole-ring-that-nobody-used-again-is-read",  # O10
    "slot-of-the-next-lap-is-not-taken-for-ours",  # O10
    "vendor-packet-that-may-dispatch-is-refused",  # H19
    "buffers-are-executable-memory-of-the-nearest-cpu",  # H17
    "packets-that-are-taken-already-are-still-told",  # O1
    "barrier-bits-order-nothing",  # O2, O8
    "waits-for-earlier-work-stand-in-front",  # O3
    "function-behind-a-foreign-signal-is-a-reason",  # O6
    "copy-by-an-engine-is-a-reason",  # O6
    "launch-without-packets-has-a-reason",  # O9
    "kernels-of-hip-that-are-not-known-are-refused",  # H10
)


def built(name: str, folder: Path) -> Path:
    """The program from NAME.c of this folder, linked with the library's objects."""
    made = folder / name
    flags = [
        "-std=gnu11",
        "-O1",
        "-g",
        "-Wall",
        "-Wextra",
        "-Werror",
        f"-I{ROOT}/runtime",
        f"-I{ROOT}/generated",
    ]
    objects = map(str, library_objects().values())
    source = str(ROOT / "tests" / "engine" / f"{name}.c")
    command = [os.environ.get("CC", "cc"), *flags, source, *objects, "-o", str(made), "-ldl", "-lpthread"]
    subprocess.run(command, check=True, timeout=60)
    return made


@pytest.fixture(scope="session")
def checks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built("hazard_checks", tmp_path_factory.mktemp("hazards"))


@pytest.fixture(scope="session")
def injections(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built("injection_checks", tmp_path_factory.mktemp("injections"))


def said(checks: Path, *arguments: str) -> str:
    done = subprocess.run([checks, *arguments], capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("name", CHECKS)
def test_observation_of_a_ring_of_eight_slots(checks: Path, name: str) -> None:
    assert said(checks, name) == ""


@pytest.mark.parametrize("name", INJECTIONS)
def test_placement_in_a_ring_of_eight_slots(injections: Path, name: str) -> None:
    assert said(injections, name) == ""


def test_every_check_is_listed(checks: Path, injections: Path) -> None:
    for program, listed in ((checks, CHECKS), (injections, INJECTIONS)):
        done = subprocess.run([program], capture_output=True, text=True, timeout=20, check=False)
        assert sorted(done.stdout.split()) == sorted(listed)


@pytest.mark.parametrize(
    ("version", "flushes"),
    [
        ("50731921", False),  # before batches every second record sends, at least
        ("60399999", False),
        ("60400000", True),
        ("60443484", True),
        ("70051831", True),
        ("70253210", True),
        ("70253211", False),  # 7.2.4
        ("71526000", False),
        ("none", True),
        ("failing", True),
    ],
)
def test_versions_whose_records_do_not_send_what_is_batched(
    checks: Path, version: str, flushes: bool
) -> None:
    assert said(checks, "must-flush", version) == str(int(flushes))


@pytest.mark.parametrize(
    ("gfx", "xccs", "answer"),
    [
        ("gfx1100", "1", "NONE:"),
        ("gfx1100", "2", "DEVICE_UNUSABLE: more than one XCC"),  # H18
        ("gfx942", "8", "TARGET_UNKNOWN: gfx942"),  # H18
        ("gfx950", "1", "TARGET_UNKNOWN: gfx950"),
        ("gfx1250", "1", "TARGET_UNKNOWN: gfx1250"),  # H19: its rings have a second one beside them
    ],
)
def test_devices_that_an_indirect_buffer_would_be_wrong_on(
    checks: Path, gfx: str, xccs: str, answer: str
) -> None:
    assert said(checks, "device", gfx, xccs) == answer


def test_each_hazard_has_a_row_and_each_test_named_there_exists() -> None:
    text = (ROOT / "docs" / "hazards.md").read_text()
    rows = re.findall(r"^\| ([HOI]\d+) \|", text, re.MULTILINE)
    assert rows == [
        f"{kind}{i}" for kind, last in (("H", 22), ("O", 11), ("I", 7)) for i in range(1, last + 1)
    ]
    named = re.findall(r"`(\w+/\w+\.py)::(\w+)(?:\[([^\]]+)\])?`", text)
    assert len(named) > len(rows)
    for file, test, case in named:
        source = (ROOT / "tests" / file).read_text()
        assert f"def {test}(" in source and (not case or case in source), f"{file}::{test}[{case}]"
    rules = {rule.name for rule in RULES} | {rule.name for rule in identity.RULES}
    known_names = (
        ("app", set(EXPECTED)),
        ("rule", rules),
        ("ring", {*CHECKS, *INJECTIONS}),
        ("program", set(identity.EXPECTED)),
    )
    for kind, known in known_names:
        for listed in re.findall(rf"\*\*{kind}\*\* ([a-z][^*;|`:.]*)", text):
            for name in re.sub(r"\([^)]*\)?", "", listed).split(","):
                assert name.strip() in known or not name.strip(), f"{kind} {name}"
    for file, rule in re.findall(r"`([\w/]+\.[ch]): (\w+)`", text):
        assert re.search(rf"\b{rule}\b", (ROOT / "runtime" / file).read_text()), f"{file}: {rule}"


@needs_hip
def test_every_256th_replay_is_by_hip_where_records_do_not_send(tmp_path: Path) -> None:
    changed = variant(tmp_path, {"batches-are-sent": "return true;"})
    done = passed("many_launches", library=changed)
    assert (done.launches("native"), done.launches("replayed")) == (1 + 1099 // 256, 1099 - 1099 // 256)


@needs_hip
@pytest.mark.parametrize(
    ("setting", "reason"),
    [
        ("AMD_OCL_WAIT_COMMAND=1", "ENVIRONMENT"),
        ("GPU_FLUSH_ON_EXECUTION=1", "ENVIRONMENT"),
        ("HSA_ALLOCATE_QUEUE_DEV_MEM=1", "ENVIRONMENT"),  # H20: a ring in the GPU's memory
        ("ROCP_TOOL_LIBRARIES=libnone.so", "TOOL"),  # H21
        ("ROCPROFILER_REGISTER_FORCE_LOAD=1", "TOOL"),
        ("ROCM_DEBUG_AGENT_OPTIONS=--all", "TOOL"),
    ],
)
def test_other_settings_that_keep_launches_native(setting: str, reason: str) -> None:
    name, _, value = setting.partition("=")
    done = passed("chain", settings={name: value})
    assert done.launches("replayed") == 0
    assert [one["reason"]["name"] for one in done.execs] == [reason]
    assert done.execs[0]["reason"]["detail"] == name


def with_tool(tool: str, folder: Path, library: Path = LIBRARY) -> Run:
    """A chain of kernels beside a loaded library of that name."""
    source = folder / "tool.c"
    source.write_text("int redline_test_tool;\n")
    command = [os.environ.get("CC", "cc"), "-shared", "-fPIC", f"-Wl,-soname,{tool}", str(source)]
    subprocess.run([*command, "-o", str(folder / tool)], check=True, timeout=60)
    return passed("chain", library=Path(f"{library}:{folder / tool}"))


TOOLS = (
    "librocprofiler64.so.2",
    "librocprofiler-sdk.so.1",
    "libroctracer64.so.4",
    "librocprofiler-sdk-roctx.so.1",
)


@needs_hip
@pytest.mark.parametrize("tool", TOOLS)
def test_a_profiler_that_is_merely_loaded_is_no_reason_where_its_work_would_be_seen(
    tmp_path: Path, tool: str
) -> None:
    done = with_tool(tool, tmp_path)
    assert done.launches("replayed") == 5 and not done.reasons


@needs_hip
def test_without_hips_tables_a_program_that_can_look_functions_up_is_native(tmp_path: Path) -> None:
    """H21: what it finds by dlsym() on HIP's handle would not be seen. (Here it is the software GPU that could.)"""
    done = passed("chain", library=variant(tmp_path, {"tables-are-used": "(void)saved;"}))
    assert done.launches("replayed") == 0


@needs_hip
@pytest.mark.parametrize("kind", ["hidden_block_count_z", "hidden_printf_buffer"])
def test_a_kernel_that_prints_is_launched_by_hip(tmp_path: Path, kind: str) -> None:
    """O7: HIP reads the buffer behind its own launches alone. The kernel uses neither argument."""
    program = build_program(ROOT / "tests" / "engine" / "hidden_arguments.c", tmp_path / "hidden_arguments")
    fixtures = tmp_path / "gfx1100"
    fixtures.mkdir()
    for image in (Path(FIXTURES["APP_FIXTURES"]) / "gfx1100").glob("*.co"):
        (fixtures / image.name).write_bytes(
            image.read_bytes().replace(b"hidden_block_count_z", kind.encode())
        )
    done = run(program, settings={"APP_FIXTURES": str(tmp_path)})
    prints = kind == "hidden_printf_buffer"
    assert done.verdict == "PASS hidden_arguments", done.said
    assert done.launches("replayed") == (0 if prints else 2)
    assert done.reasons == ({"HOST_WORK"} if prints else set())


@needs_hip
@pytest.mark.parametrize("app", ["chain", "null_stream", "copy_launch_copy"])
def test_the_barrier_behind_a_replay_is_tracked_and_costs_no_fence(app: str) -> None:
    """H22: HIP itself adds what copies and the host need behind it, as after a launch of its own."""
    done = passed(app, trace=True)
    behind = {(packet["queue"], packet["index"]): packet for packet in done.trace if "index" in packet}
    assert len(done.buffers) == done.launches("replayed") > 0
    for packet in done.buffers:
        barrier = behind[packet["queue"], packet["index"] + 1]
        assert (barrier["kind"], barrier["dependencies"]) == ("barrier_and", 0)
        assert barrier["header"]["word"] == "0x0103" and barrier["completion"]


@needs_hip
@pytest.mark.parametrize("gfx", ["gfx1100", "gfx1201"])
def test_launches_in_masked_and_urgent_streams_stay_in_their_queues(tmp_path: Path, gfx: str) -> None:
    """O11"""
    program = build_program(ROOT / "tests" / "engine" / "masked_stream.c", tmp_path / "masked_stream")
    options = ("--gfx", gfx, "--delay-us", "20:400")
    native = run(program, options=options, settings=FIXTURES, library=None, trace=True)
    replayed = run(program, options=options, settings=FIXTURES, trace=True)
    for done in (native, replayed):
        assert done.verdict == "PASS masked_stream" and "softgpu:" not in done.said, done.said
    assert replayed.launches("replayed") == 6
    places = [
        sorted(
            (packet["queue"], packet["grid"])
            for packet in done.trace
            if packet["kind"] in ("dispatch", "pm4_dispatch") and packet["kernel"] == "mul_add"
        )
        for done in (native, replayed)
    ]
    assert len({queue for queue, _ in places[0]}) == 2 and places[1] == places[0]


@needs_hip
def test_a_first_launch_that_is_not_understood_is_followed_by_another_look(tmp_path: Path) -> None:
    """H10: it may hold what HIP does only once."""
    first = 'static int first = 1; if (first-- == 1) refuse(seen, RL_REASON_PACKET_UNKNOWN, "once");'
    library = variant(tmp_path, {"a-launch-without-packets-is-refused": first + STATEMENT})
    done = passed("chain", library=library)
    assert (done.launches("native"), done.launches("replayed"), done.reasons) == (2, 4, set())


@needs_hip
def test_a_graph_longer_than_the_ring_is_replayed(tmp_path: Path) -> None:
    """H20: its packets are read while HIP goes on, before their slots are used again."""
    program = build_program(ROOT / "tests" / "engine" / "long_graph.c", tmp_path / "long_graph")
    done = run(program, options=("--delay-us", "0:1"), settings=FIXTURES)
    assert done.verdict == "PASS long_graph" and done.execs[0]["nodes"] == 17000, done.said
    assert done.launches("replayed") == 2
