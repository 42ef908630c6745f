# SPDX-License-Identifier: Apache-2.0
"""AQL semantics of the model library: order, barriers, doorbells, completion (HSA specification 1.2, section 2.9)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from softgpu.model_lib import (
    BARRIER_AND,
    BARRIER_BIT,
    BARRIER_OR,
    EQ,
    GTE,
    INVALID,
    LT,
    MODEL,
    NE,
    Gpu,
    Queue,
    Signal,
    Waiter,
    Writer,
    barrier,
    barrier_value,
    dispatch,
    until,
)

pytestmark = pytest.mark.skipif(not MODEL.exists(), reason="no build/softgpu/libsoftgpu.so (`make softgpu`)")


@pytest.fixture
def gpu() -> Iterator[Gpu]:
    gpu = Gpu()
    yield gpu
    gpu.close()


@pytest.fixture
def queue(gpu: Gpu) -> Queue:
    return Queue(gpu)


def test_a_kernel_runs_and_its_signal_is_decremented_once(gpu: Gpu, queue: Queue) -> None:
    writer, done = Writer(gpu, 42), Signal(gpu, 2)
    queue.push(writer.packet(done.handle))
    until(lambda: done.value == 1, "completion")
    assert writer.target.word().value == 42
    start, end = done.times()
    assert 0 < start <= end
    until(lambda: queue.read_index == 1, "the read index")


def test_the_barrier_bit_waits_for_all_earlier_packets(gpu: Gpu, queue: Queue) -> None:
    waiter, first, second = Waiter(gpu), Signal(gpu), Signal(gpu)
    queue.push(waiter.packet(first.handle))
    queue.push(barrier(BARRIER_AND, [], second.handle, BARRIER_BIT))
    other, seen = Queue(gpu), Signal(gpu)
    other.push(barrier(BARRIER_AND, [], seen.handle))
    seen.wait()
    assert (first.value, second.value) == (1, 1)
    waiter.release()
    second.wait()
    assert first.value == 0


def test_without_the_barrier_bit_packets_overlap(gpu: Gpu, queue: Queue) -> None:
    waiter, writer = Waiter(gpu), Writer(gpu, 9)
    first, second, third = Signal(gpu), Signal(gpu), Signal(gpu)
    queue.push(waiter.packet(first.handle))
    queue.push(barrier(BARRIER_AND, [], second.handle))
    queue.push(writer.packet(third.handle))
    second.wait()
    third.wait()
    assert (first.value, writer.target.word().value) == (1, 9)
    assert queue.read_index == 0, "slots are given back in order"
    waiter.release()
    until(lambda: queue.read_index == 3, "the read index")


def test_a_barrier_packet_holds_back_the_packets_behind_it(gpu: Gpu, queue: Queue) -> None:
    gate, writer, done = Signal(gpu), Writer(gpu, 5), Signal(gpu)
    queue.push(barrier(BARRIER_AND, [gate.handle]))
    queue.push(writer.packet(done.handle))
    other, seen = Queue(gpu), Signal(gpu)
    other.push(barrier(BARRIER_AND, [], seen.handle))
    seen.wait()
    assert (done.value, writer.target.word().value) == (1, 0)
    gate.value = 0
    done.wait()
    assert writer.target.word().value == 5


def test_barrier_and_waits_for_all_and_barrier_or_for_one(gpu: Gpu, queue: Queue) -> None:
    gates = [Signal(gpu) for _ in range(5)]
    all_of, one_of = Signal(gpu), Signal(gpu)
    other = Queue(gpu)
    queue.push(barrier(BARRIER_AND, [gate.handle for gate in gates], all_of.handle))
    other.push(barrier(BARRIER_OR, [gate.handle for gate in gates], one_of.handle))
    gates[3].value = 0
    one_of.wait()
    assert all_of.value == 1
    for gate in gates:
        gate.value = 0
    all_of.wait()


def test_a_dependency_that_was_seen_at_zero_counts_even_if_it_is_reused(gpu: Gpu, queue: Queue) -> None:
    first, second, done = Signal(gpu, 0), Signal(gpu), Signal(gpu)
    queue.push(barrier(BARRIER_AND, [first.handle, second.handle], done.handle))
    seen, other = Signal(gpu), Queue(gpu)
    other.push(barrier(BARRIER_AND, [], seen.handle))
    seen.wait()
    other.push(barrier(BARRIER_AND, [], Signal(gpu).handle))
    until(lambda: other.read_index == 2, "another pass over all queues")
    first.value = 1
    second.value = 0
    done.wait()


@pytest.mark.parametrize(
    ("condition", "value", "before", "after"),
    [(EQ, 5, 4, 5), (NE, 5, 5, 6), (LT, 5, 5, 4), (GTE, 5, 4, 7)],
)
def test_barrier_value_compares(
    gpu: Gpu, queue: Queue, condition: int, value: int, before: int, after: int
) -> None:
    gate, done = Signal(gpu, before), Signal(gpu)
    queue.push(barrier_value(gate.handle, value, condition, completion=done.handle))
    other, seen = Queue(gpu), Signal(gpu)
    other.push(barrier(BARRIER_AND, [], seen.handle))
    seen.wait()
    assert done.value == 1
    gate.value = after
    done.wait()


def test_barrier_value_masks_the_signal(gpu: Gpu, queue: Queue) -> None:
    done = Signal(gpu)
    queue.push(barrier_value(Signal(gpu, 0xF5).handle, 5, EQ, mask=0xF, completion=done.handle))
    done.wait()


def test_queues_wait_for_each_other(gpu: Gpu) -> None:
    first, second = Queue(gpu), Queue(gpu)
    middle, end = Signal(gpu), Signal(gpu)
    waiter, writer = Waiter(gpu), Writer(gpu, 3)
    first.push(waiter.packet())
    first.push(barrier(BARRIER_AND, [middle.handle], end.handle, BARRIER_BIT))
    # The second queue lets the kernel in the first go on, while that one occupies its worker.
    second.push(Writer(gpu, 1, waiter.flag).packet())
    second.push(writer.packet(middle.handle, BARRIER_BIT))
    end.wait()
    assert writer.target.word().value == 3


def test_many_queues_each_blocked_by_the_next_make_progress(gpu: Gpu) -> None:
    queues, waiters = [Queue(gpu) for _ in range(24)], [Waiter(gpu) for _ in range(24)]
    done = [Signal(gpu) for _ in queues]
    for queue, waiter, signal in zip(queues, waiters, done, strict=True):
        queue.push(waiter.packet(signal.handle))
    for index in reversed(range(1, 24)):
        queues[index].push(Writer(gpu, 1, waiters[index - 1].flag).packet(header=BARRIER_BIT))
    waiters[23].release()
    for signal in done:
        signal.wait()


def pass_over(gpu: Gpu, last: Queue) -> None:
    """Until the command processor has looked at every queue made before `last`, at least once from now on."""
    for _ in range(2):
        seen = Signal(gpu)
        last.push(barrier(BARRIER_AND, [], seen.handle))
        seen.wait()


def test_an_invalid_slot_is_looked_at_again_only_after_a_doorbell(gpu: Gpu, queue: Queue) -> None:
    first, second = Signal(gpu), Signal(gpu)
    early, late = queue.reserve(), queue.reserve()
    queue.publish(late, barrier(BARRIER_AND, [], second.handle))
    until(lambda: queue.bell.wide().value == (1 << 64) - 1, "the doorbell is taken")
    queue.publish(early, barrier(BARRIER_AND, [], first.handle), ring=False)
    other, seen = Queue(gpu), Signal(gpu)
    other.push(barrier(BARRIER_AND, [], seen.handle))
    seen.wait()
    assert (first.value, second.value) == (1, 1)
    queue.ring_doorbell(early)
    second.wait()
    assert first.value == 0


def test_a_packet_behind_the_end_of_an_idle_ring_waits_for_its_doorbell(gpu: Gpu, queue: Queue) -> None:
    first, second, other = Signal(gpu), Signal(gpu), Queue(gpu)
    queue.push(barrier(BARRIER_AND, [], first.handle))
    first.wait()
    pass_over(gpu, other)
    index = queue.reserve()
    queue.publish(index, barrier(BARRIER_AND, [], second.handle), ring=False)
    pass_over(gpu, other)
    assert second.value == 1
    queue.ring_doorbell(index)
    second.wait()


def test_the_same_doorbell_value_rung_twice_is_seen_twice(gpu: Gpu, queue: Queue) -> None:
    index, done = queue.reserve(), Signal(gpu)
    queue.ring_doorbell(index)
    until(lambda: queue.bell.wide().value == (1 << 64) - 1, "the doorbell is taken")
    queue.publish(index, barrier(BARRIER_AND, [], done.handle))
    done.wait()


def test_a_launched_slot_is_invalid_and_the_ring_wraps(gpu: Gpu) -> None:
    queue = Queue(gpu, slots=64)
    for _ in range(5):
        writers, done = [Writer(gpu, 1) for _ in range(8)], Signal(gpu, 40)
        for index in range(40):
            queue.push(writers[index % 8].packet(done.handle, BARRIER_BIT))
        done.wait()
        until(lambda: queue.read_index == queue.next, "the read index")
    assert all(queue.ring.word(slot * 64).value & 0xFFFF == INVALID for slot in range(64))


def test_destroying_a_queue_ends_a_kernel_that_waits_for_memory(gpu: Gpu, queue: Queue) -> None:
    waiter, other, seen = Waiter(gpu), Queue(gpu), Signal(gpu)
    queue.push(waiter.packet())
    until(lambda: queue.ring.word().value & 0xFFFF == INVALID, "the launch")
    queue.destroy()
    other.push(barrier(BARRIER_AND, [], seen.handle))
    seen.wait()


INSUFFICIENT_SCRATCH_WAVE32 = 0x400
TMPRING = 140  # amd_queue_t.compute_tmpring_size
ONE_WAVE_OF_8_KIB = 1 | 32 << 12


def test_a_kernel_with_scratch_waits_until_the_queue_has_enough(gpu: Gpu, queue: Queue) -> None:
    writer, done, before = Writer(gpu, 4), Signal(gpu), Waiter(gpu)
    queue.push(before.packet())
    queue.push(dispatch(writer.kernel, writer.kernarg.address, scratch=256, completion=done.handle))
    other, seen = Queue(gpu), Signal(gpu)
    other.push(barrier(BARRIER_AND, [], seen.handle))
    seen.wait()
    assert queue.inactive.value == 0, "asked only when all earlier packets have ended"
    before.release()
    until(lambda: queue.inactive.value == INSUFFICIENT_SCRATCH_WAVE32, "the request")
    assert done.value == 1
    queue.hsa.word(TMPRING).value = ONE_WAVE_OF_8_KIB
    queue.inactive.value = 0
    done.wait()
    assert writer.target.word().value == 4
    again = Signal(gpu)
    queue.push(dispatch(writer.kernel, writer.kernarg.address, scratch=128, completion=again.handle))
    again.wait()
    assert queue.inactive.value == 0


def test_a_kernel_that_gets_no_scratch_fails(gpu: Gpu, queue: Queue) -> None:
    writer, done = Writer(gpu), Signal(gpu)
    queue.push(dispatch(writer.kernel, writer.kernarg.address, scratch=256, completion=done.handle))
    until(lambda: queue.inactive.value == INSUFFICIENT_SCRATCH_WAVE32, "the request")
    queue.inactive.value = 0
    until(lambda: queue.inactive.value == 4, "the error")
    queue.inactive.value = -1
    until(lambda: done.value < 0, "an error in the completion signal")
