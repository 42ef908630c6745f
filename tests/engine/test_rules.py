# SPDX-License-Identifier: Apache-2.0
"""Each rule of the engine is needed: with one line of it taken away, an application is wrong or hangs.

A variant of the library is made by replacing one text of one source file. Should a rule change, so must its line here.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from engine.replay import BUILD, FIXTURES, ROOT, build_program, needs_hip, passed, run

pytestmark = needs_hip

CC = os.environ.get("CC", "cc")
FLAGS = ["-std=gnu11", "-O2", "-fPIC", "-fvisibility=hidden", f"-I{ROOT}/generated", f"-I{ROOT}/runtime"]
LATE = ("--delay-us", "200:2000")

# Name, file, texts and their replacements, application, settings.
RULES: list[tuple[str, str, list[tuple[str, str]], str, dict[str, str]]] = [
    (
        "waits in HIP's barrier are waited for",
        "replay/inject.c",
        [
            (
                "    return signals < 0 || slot.count != 1;",
                "    return false;",
            ),
            (
                "        if (packet->barrier.dependencies[i])\n            return true;",
                "        (void)packet;",
            ),
        ],
        "copy_launch_copy",
        {},
    ),
    (
        "the last reservation is the stream's own",
        "replay/inject.c",
        [
            (
                "    if (slot.open)\n        pass_through();\n    slot.index",
                "    if (slot.open)\n        return native(queue, count);\n    slot.index",
            ),
        ],
        "null_stream",
        {},
    ),
    (
        "a slot is given up before HIP waits on the CPU",
        "replay/inject.c",
        [
            (
                "void rl_inject_before_wait(void)\n{\n    if (slot.open)",
                "void rl_inject_before_wait(void)\n{\n    if (!slot.hsa)",
            ),
        ],
        "null_stream",
        {"ROC_CPU_WAIT_FOR_SIGNAL": "1"},
    ),
    (
        "a changed exec is observed again",
        "replay/launch.c",
        [
            (
                "    if (atomic_load_explicit(&exec->base.marks, memory_order_acquire) & RL_STALE)\n"
                "        start_again(launch);",
                "",
            ),
        ],
        "exec_params",
        {},
    ),
    (
        "a destroyed stream has no state",
        "replay/stream_state.c",
        [
            (
                "    if (named(stream, false))\n        rl_side_table_erase(RL_STREAM_STATE, stream);",
                "    (void)stream;",
            ),
        ],
        "destroyed_stream",
        {},
    ),
    (
        "arguments are copied",
        "replay/plan.c",
        [
            (
                "        memcpy(arguments, draft->seen->bytes + seen->arguments, size);",
                "        memset(arguments, 0, size);",
            ),
        ],
        "chain",
        {},
    ),
    (
        "levels are those of the graph",
        "proof/prove.c",
        [
            (
                "            prover->proof->levels[i] = level[prover->proof->nodes[i]]++;",
                "            prover->proof->levels[i] = 0;",
            ),
        ],
        "chain",
        {},
    ),
]


def variant(folder: Path, file: str, changes: list[tuple[str, str]]) -> Path:
    text = (ROOT / "runtime" / file).read_text()
    for old, new in changes:
        assert text.count(old) == 1, f"{file} has not this line once: {old}"
        text = text.replace(old, new)
    source, made = folder / Path(file).name, folder / "libredline.so"
    source.write_text(text)
    subprocess.run(
        [CC, *FLAGS, "-w", "-c", str(source), "-o", str(folder / "changed.o")], check=True, timeout=60
    )
    objects = [
        str(path)
        for part in ("runtime", "generated")
        for path in sorted((BUILD / "obj" / part).rglob("*.o"))
        if path.name not in (f"{source.stem}.o", "fault.o")
    ]
    link = ["-shared", "-Wl,-soname,libredline.so", f"-Wl,--version-script={ROOT}/generated/redline.map"]
    subprocess.run(
        [CC, *link, "-o", str(made), *objects, str(folder / "changed.o"), "-ldl", "-lpthread"],
        check=True,
        timeout=60,
    )
    return made


@pytest.mark.parametrize(
    ("name", "file", "changes", "app", "settings"), RULES, ids=[rule[0] for rule in RULES]
)
def test_rule_is_needed(
    name: str, file: str, changes: list[tuple[str, str]], app: str, settings: dict[str, str], tmp_path: Path
) -> None:
    library = variant(tmp_path, file, changes)
    try:
        done = run(app, options=LATE, settings=settings, library=library, seconds=15)
    except subprocess.TimeoutExpired:
        return
    assert done.verdict != f"PASS {app}", f"right without it: {name}\n{done.said}"


def test_variant_without_a_change_is_right(tmp_path: Path) -> None:
    library = variant(tmp_path, "replay/inject.c", [("MOST_TRIES = 3,", "MOST_TRIES = 3,")])
    assert passed("copy_launch_copy", *LATE, library=library).launches("replayed") == 9


def test_nodes_that_cannot_be_told_apart_run_one_after_the_other(tmp_path: Path) -> None:
    """Without argument layouts the branches of the fan-out look the same: HIP's order of submission is kept."""
    change = ("    return layout->known;", "    layout->known = false;\n    return false;")
    library = variant(tmp_path, "kernels/code.c", [change])
    done = passed("fan_out", *LATE, library=library, trace=True)
    assert done.launches("replayed") == 3
    assert "\n".join(done.buffers[0]["pm4"]).count("EVENT_WRITE") == 74


@pytest.mark.parametrize("ours", [True, False], ids=["with-our-ring", "without-our-ring"])
def test_a_replay_is_started_by_our_own_ring(tmp_path: Path, ours: bool) -> None:
    """HIP rings for its barrier while the slot in front of it is INVALID: nobody looks there again by themselves."""
    program = build_program(ROOT / "tests" / "engine" / "host_reads.c", tmp_path / "host_reads")
    later = "    for (volatile int i = 0; i < 20000000; i++)\n        ;\n"  # HIP's ring has been heard
    valid = "    __atomic_store_n(&packet->words[0], header, __ATOMIC_RELEASE);\n    slot.open = false;\n"
    ring = (
        "    slot.hsa->hsa_signal_store_screlease("
        "slot.queue->doorbell_signal, (hsa_signal_value_t)slot.index);\n"
    )
    library = variant(tmp_path, "replay/inject.c", [(valid + ring, later + valid + (ring if ours else ""))])
    if not ours:
        with pytest.raises(subprocess.TimeoutExpired):
            run(program, settings=FIXTURES, library=library, seconds=5)
        return
    done = run(program, settings=FIXTURES, library=library)
    assert done.verdict == "PASS host_reads" and done.launches("replayed") == 19, done.said
