# SPDX-License-Identifier: Apache-2.0
"""The side table against a dict, and its single behaviours."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cffi import FFI
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

Build = Callable[..., Path]
GRAPH, NODE, EXEC, STREAM = range(4)
KINDS = st.sampled_from([GRAPH, NODE, EXEC, STREAM])

CDEF = """
struct rl_ref { void *record; uint32_t generation; };
struct rl_side_table_stats { size_t live, records_out, slots, slots_to_move, bytes, worn_out; };
void api_reset(void);
uint64_t api_retired(void);
uint64_t api_retired_sum(void);
struct rl_ref api_insert(int kind, uintptr_t native, uint64_t number);
struct rl_ref api_find(int kind, uintptr_t native);
bool api_erase(int kind, uintptr_t native);
size_t api_erase_odd(int kind);
size_t api_erase_all(int kind);
struct rl_side_table_stats api_stats(int kind);
bool api_hold(struct rl_ref ref);
void api_drop(struct rl_ref ref);
bool api_valid(struct rl_ref ref);
void api_mark(struct rl_ref ref, uint32_t bits);
uint32_t api_marks(struct rl_ref ref);
uint64_t api_number(struct rl_ref ref);
uintptr_t api_native(struct rl_ref ref);
"""


@pytest.fixture(scope="module")
def library(build: Build) -> Any:
    make: Any = FFI  # cffi is untyped
    ffi = make()
    ffi.cdef(CDEF)
    return ffi.dlopen(str(build("side_table.so", ["base/side_table.c", "base/fork.c", "side_table_api.c"])))


@pytest.fixture
def table(library: Any) -> Any:
    library.api_reset()
    return library


@pytest.fixture(scope="session")
def checks(build: Build) -> Path:
    sources = ["base/side_table.c", "base/fork.c", "base/fault.c", "side_table_checks.c"]
    return build("side_table_checks", sources, "-DRL_FAULT_INJECTION")


# Heap-like addresses from a small set (they come back), far ones, and the ends of the address space.
HANDLES = st.one_of(
    st.integers(1, 40).map(lambda i: 0x5555_5575_0000 + i * 48),
    st.integers(1, 1 << 20).map(lambda i: 0x7FFF_0000_0000 + i * 256),
    st.sampled_from([1, 2, (1 << 64) - 1, 1 << 63]),
)
STEPS = st.one_of(
    st.tuples(st.just("insert"), KINDS, HANDLES),
    st.tuples(st.just("insert"), KINDS, HANDLES),
    st.tuples(st.just("erase"), KINDS, HANDLES),
    st.tuples(st.just("find"), KINDS, HANDLES),
    st.tuples(st.just("hold"), KINDS, HANDLES),
    st.tuples(st.just("drop"), KINDS, HANDLES),
    st.tuples(st.just("many"), KINDS, st.integers(1, 300)),
    st.tuples(st.just("erase_odd"), KINDS, st.just(0)),
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(STEPS, max_size=80))
def test_it_answers_as_a_dict_of_handles_does(library: Any, steps: list[tuple[str, int, int]]) -> None:
    library.api_reset()
    model: list[dict[int, int]] = [{}, {}, {}, {}]
    ended: list[Any] = []
    held: list[Any] = []
    published = out = 0

    def end(kind: int, native: int) -> None:
        ended.append(library.api_find(kind, native))
        del model[kind][native]

    for step, kind, value in steps:
        if step in ("insert", "many"):
            for native in [value] if step == "insert" else [0x6000_0000_0000 + i * 64 for i in range(value)]:
                if native in model[kind]:
                    end(kind, native)
                published += 1
                model[kind][native] = published
                assert library.api_valid(library.api_insert(kind, native, published))
        elif step == "erase":
            expected = value in model[kind]
            if expected:
                end(kind, value)
            assert library.api_erase(kind, value) == expected
        elif step == "erase_odd":
            odd = [native for native, number in model[kind].items() if number & 1]
            for native in odd:
                end(kind, native)
            assert library.api_erase_odd(kind) == len(odd)
        elif step == "hold" and value in model[kind]:
            ref = library.api_find(kind, value)
            assert library.api_hold(ref)
            held.append((ref, model[kind][value]))
        elif step == "drop" and held:
            library.api_drop(held.pop(0)[0])
        found = library.api_find(kind, value)
        assert bool(found.record) == (value in model[kind])
        assert not any(library.api_valid(ref) or library.api_hold(ref) for ref in ended)
        assert all(library.api_number(ref) == number for ref, number in held)

    for kind in range(4):
        for native, number in model[kind].items():
            ref = library.api_find(kind, native)
            assert library.api_valid(ref)
            assert (library.api_number(ref), library.api_native(ref)) == (number, native)
        stats = library.api_stats(kind)
        assert stats.live == len(model[kind])
        assert stats.live <= stats.records_out <= stats.live + len(held)
        out += stats.records_out
    assert library.api_retired() == published - out
    for ref, _ in held:
        library.api_drop(ref)
    for kind in range(4):
        library.api_erase_all(kind)
        assert library.api_stats(kind).live == library.api_stats(kind).records_out == 0
    assert library.api_retired() == published
    assert library.api_retired_sum() == published * (published + 1) // 2


def test_a_handle_of_one_kind_is_not_found_as_another(table: Any) -> None:
    table.api_insert(GRAPH, 0x1000, 1)
    assert [bool(table.api_find(kind, 0x1000).record) for kind in range(4)] == [True, False, False, False]


def test_c044_a_recycled_address_never_finds_the_old_record(table: Any) -> None:
    for kind in range(4):
        old = table.api_insert(kind, 0x1000, 1)
        table.api_mark(old, 4)
        assert table.api_erase(kind, 0x1000)
        for other in range(4):
            assert not table.api_find(other, 0x1000).record
            new = table.api_insert(other, 0x1000, 2)
            assert not table.api_valid(old)
            assert not table.api_hold(old)
            assert (table.api_number(new), table.api_marks(new)) == (2, 0)
            assert table.api_erase(other, 0x1000)


def test_c044_an_insert_replaces_what_an_unseen_destroy_left(table: Any) -> None:
    old = table.api_insert(EXEC, 0x1000, 7)
    new = table.api_insert(EXEC, 0x1000, 8)
    assert (table.api_valid(old), table.api_valid(new)) == (False, True)
    assert table.api_number(table.api_find(EXEC, 0x1000)) == 8
    assert (table.api_retired(), table.api_retired_sum()) == (1, 7)


def test_null_has_no_record_and_takes_none(table: Any) -> None:
    assert not table.api_find(STREAM, 0).record
    assert not table.api_insert(STREAM, 0, 1).record
    assert not table.api_erase(STREAM, 0)
    stats = table.api_stats(STREAM)
    assert (stats.live, stats.records_out, table.api_retired()) == (0, 0, 1)


def test_a_held_record_outlives_its_erase_and_is_retired_by_the_last_drop(table: Any) -> None:
    ref = table.api_insert(EXEC, 0x1000, 5)
    assert table.api_hold(ref)
    assert table.api_hold(ref)
    assert table.api_erase(EXEC, 0x1000)
    assert not table.api_hold(ref)
    assert table.api_insert(EXEC, 0x1000, 6).record != ref.record
    assert table.api_number(ref) == 5
    table.api_drop(ref)
    assert table.api_retired() == 0
    table.api_drop(ref)
    assert (table.api_retired(), table.api_retired_sum()) == (1, 5)


def test_marks_add_up_and_a_new_record_has_none(table: Any) -> None:
    ref = table.api_insert(GRAPH, 0x1000, 1)
    table.api_mark(ref, 1)
    table.api_mark(ref, 6)
    assert table.api_marks(ref) == 7
    table.api_erase(GRAPH, 0x1000)
    assert table.api_marks(table.api_insert(GRAPH, 0x2000, 2)) == 0


@pytest.mark.parametrize("stride", [8, 16, 48, 64, 256, 4096, 1 << 21])
def test_regularly_spaced_handles_are_all_found_in_little_memory(table: Any, stride: int) -> None:
    natives = [0x5555_0000_0000 + i * stride for i in range(5000)]
    for native in natives:
        table.api_insert(NODE, native, native)
    assert all(table.api_number(table.api_find(NODE, native)) == native for native in natives)
    assert not any(table.api_find(NODE, native + 4).record for native in natives)
    assert table.api_stats(NODE).bytes < 5000 * 400


def test_an_undefined_kind_has_no_records(build: Build) -> None:
    make: Any = FFI
    ffi = make()
    ffi.cdef(CDEF)
    library = ffi.dlopen(
        str(build("side_table_undefined.so", ["base/side_table.c", "base/fork.c", "side_table_api.c"]))
    )
    assert not library.api_insert(GRAPH, 0x1000, 1).record
    assert not library.api_find(GRAPH, 0x1000).record


@pytest.mark.parametrize(
    ("check", "behaviour"),
    [
        ("fork", "C068: a child starts empty and is never blocked, whatever lock a thread held"),
        ("fault", "the n-th allocation fails: no record, never an old one, and all is well afterwards"),
        ("armed", "failures can be chosen from the environment"),
        ("wear", "a slot whose generations are used up is never used again"),
        ("growth", "growth is spread over the calls that follow"),
        ("churn", "a million creations and destructions at new addresses take no more memory"),
        ("rebuild", "what stays inserted is found while the arrays are replaced"),
    ],
)
def test_single_behaviour(checks: Path, check: str, behaviour: str) -> None:
    environment = {"RL_FAULT": "alloc:1:3"} if check == "armed" else {}
    done = subprocess.run(
        [str(checks), check], env=environment, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, f"{behaviour}: {done.stderr}"


@pytest.mark.stress
@pytest.mark.parametrize("sanitizer", ["thread", "address,undefined"])
def test_c044_eight_threads_with_recycled_addresses(sanitized: Build, sanitizer: str) -> None:
    seconds = os.environ.get("STRESS_SECONDS", "2")
    name = f"side_table_stress_{sanitizer.split(',', maxsplit=1)[0]}"
    program = sanitized(name, ["base/side_table.c", "base/fork.c", "side_table_stress.c"], sanitizer)
    done = subprocess.run([str(program), seconds], capture_output=True, text=True, timeout=900, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("check", ["rebuild", "fault", "growth"])
def test_single_behaviour_under_sanitizers(sanitized: Build, check: str) -> None:
    sanitizer = "thread" if check == "rebuild" else "address,undefined"
    sources = ["base/side_table.c", "base/fork.c", "base/fault.c", "side_table_checks.c"]
    name = f"side_table_checks_{sanitizer.split(',', maxsplit=1)[0]}"
    program = sanitized(name, sources, sanitizer, "-DRL_FAULT_INJECTION")
    done = subprocess.run([str(program), check], capture_output=True, text=True, timeout=100, check=False)
    assert (done.returncode, done.stderr) == (0, "")
