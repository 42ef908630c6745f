# SPDX-License-Identifier: Apache-2.0
"""C068: a fork while the software GPU is at work leaves the child able to end, whatever the other threads hold."""

from __future__ import annotations

import ctypes
import os
import signal
import threading
from collections.abc import Callable

import pytest
from softgpu.model_lib import INVALID, MODEL, Gpu, Queue, Signal, Waiter, Writer, until

PRELOAD = MODEL.with_name("libsoftgpu_preload.so")
SECONDS = 10
FORKS = 25

pytestmark = pytest.mark.skipif(not MODEL.exists(), reason="no build/softgpu/libsoftgpu.so (`make softgpu`)")


def in_child(action: Callable[[], None]) -> int:
    """Exit code of a forked child that runs `action`; a hang ends by SIGALRM."""
    child = os.fork()
    if not child:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(SECONDS)
        try:
            action()
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_child_can_destroy_the_parent_s_queues_while_their_kernels_run(
    capfd: pytest.CaptureFixture[str],
) -> None:
    gpu = Gpu()
    queue, waiter, writer = Queue(gpu), Waiter(gpu), Writer(gpu)
    queue.push(waiter.packet())
    until(lambda: queue.ring.word().value & 0xFFFF == INVALID, "the launch")
    busy = Queue(gpu)

    def destroy_all() -> None:
        for each in list(gpu.queues):
            each.destroy()

    for _ in range(FORKS):
        done = Signal(gpu)
        busy.push(writer.packet(done.handle))
        assert in_child(destroy_all) == 0
        done.wait()
    waiter.release()
    gpu.close()
    assert capfd.readouterr().err == ""


def test_locks_of_the_preloaded_library_are_free_in_the_child() -> None:
    library = ctypes.CDLL(str(PRELOAD))
    ask = library.softgpu_preload_registered
    ask.argtypes, ask.restype = [ctypes.c_uint64, ctypes.c_uint64], ctypes.c_bool
    stop = threading.Event()

    def keep_asking() -> None:
        while not stop.is_set():
            ask(1, 1)

    others = [threading.Thread(target=keep_asking) for _ in range(2)]
    for other in others:
        other.start()
    try:
        for _ in range(FORKS):
            assert in_child(lambda: ask(1, 1)) == 0
    finally:
        stop.set()
        for other in others:
            other.join()
