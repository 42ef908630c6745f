# SPDX-License-Identifier: Apache-2.0
"""No thread waits because of another thread's replay: any mix of streams and calls goes on as without the library.

Each mix is one list of operations for each thread (mix.c). What HIP takes while it records an event in a stream is
held by some other thread that waits for the GPU; which call that is, and in which stream, is what the mixes differ in.
Threads that launch graphs synchronize now and then: launches that are not over take one event of the driver each, and
those run out.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from engine.replay import needs_hip
from progress.running import MODES, TARGETS, build, finished

pytestmark = needs_hip

STRESSED = "STRESS_SECONDS" in os.environ
ROUNDS = "40" if STRESSED else "6"

# Hardware queues (0: HIP's own number), threads.
MIXES: dict[str, tuple[int, tuple[str, ...]]] = {
    # Replays in the NULL stream, which first mark every busy stream that is no non-blocking one.
    "null_beside_pageable_copies_and_kernels": (
        1,
        (
            "replay@null*16 synchronize@null",
            "copy_out_pageable@blocking2 copy_in_pageable@blocking2",
            "kernel@blocking1*8 synchronize@blocking1",
        ),
    ),
    "null_beside_two_threads_that_synchronize": (
        2,
        (
            "replay@null*4 synchronize@null",
            "slow_kernel@blocking1*3 synchronize@blocking1",
            "slow_kernel@blocking2*3 synchronize@blocking2",
        ),
    ),
    "null_beside_pinned_copies": (
        1,
        (
            "replay@null*8 synchronize@null",
            "copy_out_pinned@blocking1 copy_in_pinned@blocking1 slow_kernel@blocking1",
            "copy_in_pinned@blocking2 copy_out_pinned@blocking2 synchronize@blocking2",
        ),
    ),
    "null_beside_events": (
        0,
        (
            "replay@null*4 record@null sync_event@null",
            "slow_kernel@blocking1 record@blocking1 sync_event@blocking1 query_event@blocking1",
            "kernel@blocking2*4 record@blocking2 sync_event@blocking2",
        ),
    ),
    "null_beside_host_functions": (
        2,
        (
            "replay@null*8 synchronize@null",
            "slow_kernel@blocking1 host_function@blocking1 synchronize@blocking1",
            "kernel@blocking2 host_function@blocking2 copy_out_pageable@blocking2",
        ),
    ),
    "null_beside_streams_of_every_priority": (
        0,
        (
            "replay@null*8 synchronize@null",
            "slow_kernel@lazy1*2 copy_out_pageable@lazy1 synchronize@lazy1",
            "slow_kernel@urgent1*2 copy_out_pageable@urgent1 synchronize@urgent1",
            "replay@lazy1 synchronize@lazy1 replay@urgent1 synchronize@urgent1",
        ),
    ),
    "null_beside_memory_of_pools": (
        0,
        (
            "replay@null*8 synchronize@null",
            "pool@blocking1*2 slow_kernel@blocking1",
            "slow_kernel@blocking2 allocate@blocking2",
        ),
    ),
    "legacy_handle_beside_copies": (
        1,
        (
            "replay@legacy*8 synchronize@legacy",
            "copy_out_pageable@blocking1 copy_in_pageable@blocking1 slow_kernel@blocking1",
            "replay@null*4 copy_now_pageable@null",
        ),
    ),
    "null_by_two_threads_beside_seven_streams": (
        4,
        (
            "replay@null*6 synchronize@null",
            "replay@null*6 record@null sync_event@null",
            *(
                f"slow_kernel@blocking{n} copy_out_pageable@blocking{n} synchronize@blocking{n}"
                for n in range(6)
            ),
        ),
    ),
    # Replays in blocking streams, which first mark the NULL stream.
    "blocking_and_pageable_copies_behind_null_kernels": (
        0,
        (
            "replay@blocking1*16 synchronize@blocking1",
            "kernel@null copy_out_pageable@blocking1",
        ),
    ),
    "blocking_and_pageable_copies_behind_null_kernels_of_others": (
        0,
        (
            "replay@blocking1*16 synchronize@blocking1",
            "kernel@null copy_out_pageable@blocking1",
            "kernel@null*8 synchronize@null",
        ),
    ),
    "blocking_beside_the_device_synchronized": (
        0,
        (
            "replay@blocking1*8 query_event@blocking1 synchronize@blocking1",
            "slow_kernel@null sync_device@null",
            "slow_kernel@null copy_in_pageable@blocking1 sync_device@blocking1",
        ),
    ),
    "blocking_beside_calls_without_a_stream": (
        2,
        (
            "replay@blocking1*8 synchronize@blocking1",
            "fill_now@null copy_now_pinned@null copy_across_now@null",
            "replay@blocking2*4 copy_now_pageable@blocking2",
        ),
    ),
    "blocking_beside_queries": (
        0,
        (
            "replay@blocking1*8 query@blocking1*8 synchronize@blocking1",
            "slow_kernel@null query@null*4 synchronize@null",
            "slow_kernel@null copy_out_pageable@blocking1",
        ),
    ),
    "blocking_that_waits_for_others": (
        2,
        (
            "replay@blocking1*4 pull@blocking1 kernel@blocking2 synchronize@blocking1",
            "slow_kernel@null copy_out_pageable@blocking1 copy_out_pageable@blocking2",
            "replay@blocking2*4 pull@blocking2 kernel@null synchronize@blocking2",
        ),
    ),
    "blocking_each_in_eight_threads": (
        4,
        (
            *(f"replay@blocking{n}*6 synchronize@blocking{n}" for n in range(4)),
            "slow_kernel@null copy_out_pageable@blocking0",
            "slow_kernel@null copy_out_pageable@blocking1",
            "slow_kernel@null copy_in_pageable@blocking2 synchronize@blocking2",
            "replay@null*2 synchronize@null",
        ),
    ),
    "updated_between_replays": (
        1,
        (
            "replay@blocking1*4 update@blocking1 replay@blocking1*4 synchronize@blocking1",
            "slow_kernel@null copy_out_pageable@blocking1",
            "replay@null update@null replay@null*2 synchronize@null",
        ),
    ),
    # Streams of the threads themselves.
    "per_thread_beside_null": (
        0,
        (
            "replay@thread*8 synchronize@thread",
            "replay@thread*4 copy_out_pageable@thread slow_kernel@null",
            "slow_kernel@null synchronize@null",
        ),
    ),
    "per_thread_in_six_threads": (
        2,
        (
            *("replay@thread*4 copy_in_pageable@thread synchronize@thread",) * 3,
            *("replay@null*2 copy_out_pinned@null synchronize@null",) * 2,
            "slow_kernel@blocking1 copy_out_pageable@blocking1",
        ),
    ),
    # Non-blocking streams mark nobody; they share queues with those that do.
    "nonblocking_beside_null_and_blocking": (
        1,
        (
            "replay@nonblocking1*16 synchronize@nonblocking1",
            "slow_kernel@nonblocking1 copy_out_pageable@nonblocking1",
            "replay@null*4 synchronize@null",
            "slow_kernel@blocking1 copy_out_pageable@blocking1",
        ),
    ),
    "streams_made_and_destroyed": (
        4,
        (
            "replay@nonblocking*4 renew@nonblocking replay@nonblocking synchronize@nonblocking",
            "replay@urgent*4 renew@urgent copy_out_pageable@urgent",
            "replay@null*4 synchronize@null",
            "slow_kernel@blocking1 copy_out_pageable@blocking1",
        ),
    ),
    "modules_loaded_and_unloaded": (
        0,
        (
            "replay@nonblocking1*16 synchronize@nonblocking1",
            "module@null*2",
            "replay@null*4 module@null synchronize@null",
            "slow_kernel@blocking1 module@blocking1 copy_out_pageable@blocking1",
        ),
    ),
    # Replays that are held back hold back nobody who does not wait for their stream; each stream has a queue.
    "held_in_blocking_stream": (
        16,
        (
            "hold@blocking1 replay@blocking1*32",
            "replay@nonblocking1*8 copy_out_pageable@nonblocking1 copy_in_pinned@nonblocking1 synchronize@nonblocking1",
            "replay@urgent1*4 record@urgent1 sync_event@urgent1 module@urgent1 copy_out_pinned@urgent1 query@urgent1",
        ),
    ),
    "held_in_null_stream": (
        16,
        (
            "hold@null replay@null*32 record@null",
            "replay@nonblocking1*8 copy_in_pageable@nonblocking1 fill@nonblocking1 synchronize@nonblocking1",
            "replay@nonblocking2*8 pull@nonblocking2 kernel@nonblocking1 synchronize@nonblocking2",
        ),
    ),
    "held_in_nonblocking_stream": (
        16,
        (
            "hold@nonblocking1 replay@nonblocking1*32",
            "replay@null*4 copy_out_pageable@null synchronize@null copy_now_pageable@null",
            "replay@blocking1*4 copy_in_pageable@blocking1 slow_kernel@blocking1 synchronize@blocking1",
            "replay@urgent1*4 host_function@urgent1 synchronize@urgent1",
        ),
    ),
    "held_in_per_thread_stream": (
        16,
        (
            "hold@thread replay@thread*32",
            "replay@nonblocking1*8 host_function@nonblocking1 copy_out_pageable@nonblocking1 synchronize@nonblocking1",
            "replay@nonblocking2*4 update@nonblocking2 replay@nonblocking2 record@nonblocking2 sync_event@nonblocking2",
        ),
    ),
    "execs_made_and_destroyed": (
        2,
        (
            "replay@blocking1*4 remake@blocking1 replay@blocking1*2",
            "slow_kernel@null copy_out_pageable@blocking1",
            "replay@null*4 remake@null",
        ),
    ),
}


@pytest.fixture(scope="session")
def mix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("mix", tmp_path_factory.mktemp("progress"))


def modes_of(target: int, mix: int) -> list[str]:
    """All of them under stress; otherwise one, which differs from mix to mix and between targets."""
    return list(MODES) if STRESSED else [list(MODES)[(mix + 2 * target) % len(MODES)]]


@pytest.mark.stress
@pytest.mark.parametrize(
    ("gfx", "name", "mode"),
    [
        (gfx, name, mode)
        for t, gfx in enumerate(TARGETS)
        for n, name in enumerate(MIXES)
        for mode in modes_of(t, n)
    ],
)
def test_threads_go_on_beside_replays(mix: Path, gfx: str, name: str, mode: str) -> None:
    """C039: replays in several streams at once wait for nobody for whom a launch by HIP would not."""
    queues, threads = MIXES[name]
    settings = {"GPU_MAX_HW_QUEUES": str(queues)} if queues else {}
    options = ("--gfx", gfx, *MODES[mode])
    if STRESSED or gfx == TARGETS[0]:
        finished(mix, ROUNDS, *threads, options=options, settings=settings, library=None)
    done = finished(mix, ROUNDS, *threads, options=options, settings=settings)
    assert done.launches("replayed") > 0, done.report
