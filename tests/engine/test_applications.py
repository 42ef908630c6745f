# SPDX-License-Identifier: Apache-2.0
"""Every application under the preload: right on every target, and replayed as often as it can be."""

from __future__ import annotations

from pathlib import Path

import pytest
from engine.replay import FIXTURES, ROOT, TARGETS, Run, build_program, needs_hip, passed, run

pytestmark = needs_hip

SLOW = ("--kernel-delay", "slow_set=500:2000", "--kernel-delay", "slow_copy=500:2000")
LATE = ("--delay-us", "20:400", *SLOW)
MODES = {
    "default": SLOW,
    "late": LATE,
    "no-sdma": ("--sdma", "0", *SLOW),
    "no-sdma-late": ("--sdma", "0", *LATE),
}
NEEDS = {"two_devices": ("--gpus", "2")}

# Launches by HIP, launches replayed, reasons: an exec's first launch is HIP's, and the one after a change of more than
# arguments.
EXPECTED: dict[str, tuple[int, int, set[str]]] = {
    "capturing_stream": (2, 4, set()),  # H11, C023
    "chain": (1, 5, set()),
    "child_graph": (1, 4, set()),
    "cooperative": (1, 4, set()),  # H3
    "cooperative_node": (5, 3, {"QUEUE"}),  # captured, the kernel is in HIP's cooperative queue
    "copy_launch_copy": (1, 9, set()),  # H1
    "destroyed_stream": (3, 3, set()),  # H11
    "device_reset": (6, 30, set()),  # each of three execs is launched once more in a stream that is gone
    "diamond": (1, 5, set()),
    "event_again": (1, 5, set()),
    "event_timing": (1, 4, set()),
    "exec_destroy": (12, 6, set()),  # H6
    "exec_params": (6, 0, set()),  # geometry, fills and copies changed before every launch
    "fan_out": (1, 3, set()),
    "fork_join": (1, 5, set()),
    "host_function": (1, 4, set()),
    "host_node": (5, 0, {"NODE_TYPE"}),
    "in_place": (1, 14, set()),  # H1, write after read
    "kernel_kinds": (5, 0, {"NOT_LOWERED"}),  # scratch
    "large_graph": (1, 3, set()),  # new arguments in all nodes, no launch by HIP
    "many_launches": (1, 1099, set()),
    "many_streams": (12, 36, set()),
    "memory_kinds": (6, 6, {"NODE_TYPE"}),
    "memset_nodes": (1, 4, set()),  # H8, H9
    "null_stream": (2, 10, set()),  # H2
    "packed_arguments": (4, 1, set()),
    "per_thread_stream": (2, 8, set()),
    "recapture": (2, 6, set()),  # updated before every launch, with new arguments alone; one update refused
    "scratch_behind": (4, 0, {"NOT_LOWERED"}),
    "stream_value": (1, 4, set()),
    "threads": (6, 30, set()),
    "torch_replay": (4, 8, set()),
    "two_devices": (2, 6, set()),
    "update_in_flight": (1, 11, set()),
    "user_object": (8, 0, {"USER_OBJECT"}),  # H7
    "variables": (1, 5, set()),
    "wait_event": (1, 5, set()),
}


def test_every_application_is_listed() -> None:
    assert set(EXPECTED) == {path.stem for path in (ROOT / "tests" / "apps").glob("*.c")}


@pytest.mark.parametrize(
    ("gfx", "app", "mode"),
    [
        (gfx, app, list(MODES)[(a + t) % len(MODES)])
        for t, gfx in enumerate(TARGETS)
        for a, app in enumerate(EXPECTED)
    ],
)
def test_application_is_right_and_replayed(gfx: str, app: str, mode: str) -> None:
    done = passed(app, "--gfx", gfx, *MODES[mode], *NEEDS.get(app, ()))
    native, replayed, reasons = EXPECTED[app]
    assert (done.launches("native"), done.launches("replayed"), done.reasons) == (
        native,
        replayed,
        reasons,
    ), done.said


@pytest.mark.parametrize("gfx", TARGETS)
def test_replay_is_one_vendor_packet_whatever_the_node_count(gfx: str) -> None:
    done = passed("chain", "--gfx", gfx, trace=True)
    assert len(done.buffers) == done.launches("replayed") == 5
    assert len({packet["dwords"] for packet in done.buffers}) == 1
    for packet in done.buffers:
        assert packet["header"]["word"] == "0x0500"  # barrier bit, system acquire, no release


def test_fan_out_of_independent_nodes_costs_one_fence() -> None:
    done = passed("diamond", trace=True)
    text = "\n".join(done.buffers[0]["pm4"])
    assert text.count("EVENT_WRITE") == 4  # three boundaries between four levels, and the end


def test_fan_out_costs_a_fence_for_each_level_and_not_for_each_node() -> None:
    done = passed("fan_out", trace=True)
    text = "\n".join(done.buffers[0]["pm4"])
    assert done.execs[0]["nodes"] == 74
    assert (
        text.count("EVENT_WRITE") == 28
    )  # root, 24 copies, 24 kernels, first of the join, 24 sums one by one


@pytest.mark.parametrize("app", ["chain", "diamond", "fork_join", "memset_nodes", "threads", "recapture"])
def test_gfx10_replays_with_waits_for_a_word_in_memory(app: str) -> None:
    """Its partial flush returns early on old microcode, so buffers wait for a release instead."""
    done = passed(app, "--gfx", "gfx1030", *LATE, trace=True)
    assert done.launches("replayed") == EXPECTED[app][1]
    text = "\n".join(done.buffers[0]["pm4"])
    assert "WAIT_REG_MEM" in text and "EVENT_WRITE" not in text


def test_launches_beyond_a_full_queue_and_an_exec_destroyed_behind_them(tmp_path: Path) -> None:
    program = build_program(ROOT / "tests" / "engine" / "deep_queue.c", tmp_path / "deep_queue")
    options = ("--kernel-delay", "slow_set=500000:500000")
    done = run(program, options=options, settings=FIXTURES)
    assert done.verdict == "PASS deep_queue" and done.status == 0, done.said
    assert done.launches("replayed") >= 1024, done.report


def queues_of(done: Run, kernel: str) -> list[int]:
    kinds = ("dispatch", "pm4_dispatch")
    return [
        packet["queue"] for packet in done.trace if packet["kind"] in kinds and packet["kernel"] == kernel
    ]


def test_launches_are_in_the_queue_of_the_stream_itself() -> None:
    """H2: a launch on the NULL stream waits for other streams by their markers, and is in none of their queues."""
    options = ("--delay-us", "20:400")
    native = queues_of(passed("null_stream", *options, library=None, trace=True), "add")
    replayed = queues_of(passed("null_stream", *options, trace=True), "add")
    assert len(native) == 12 and len(set(native)) == 2
    assert replayed == native


@pytest.mark.parametrize(
    ("app", "setting", "replayed"),
    [
        ("null_stream", "ROC_CPU_WAIT_FOR_SIGNAL=1", 10),  # H5: hangs without the guard
        ("memset_nodes", "DEBUG_HIP_GRAPH_SEGMENT_SCHEDULING=0", 4),  # H8
        ("memset_nodes", "DEBUG_CLR_GRAPH_PACKET_CAPTURE=0", 4),  # H9
        ("chain", "DEBUG_CLR_GRAPH_PACKET_CAPTURE=0", 5),
        ("fork_join", "DEBUG_CLR_GRAPH_PACKET_CAPTURE=0", 5),
        ("many_streams", "DEBUG_HIP_DYNAMIC_QUEUES=1", 36),
        ("copy_launch_copy", "GPU_FORCE_BLIT_COPY_SIZE=0", 9),
        ("copy_launch_copy", "GPU_FORCE_BLIT_COPY_SIZE=1024", 9),
        ("chain", "HIP_FORCE_DEV_KERNARG=1", 5),
    ],
)
def test_other_ways_through_hip_are_replayed_right(app: str, setting: str, replayed: int) -> None:
    name, _, value = setting.partition("=")
    done = passed(app, *LATE, settings={name: value})
    assert done.launches("replayed") == replayed, done.said
