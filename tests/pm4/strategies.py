# SPDX-License-Identifier: Apache-2.0
"""Random kernels, dispatches and graphs of dispatches."""

from __future__ import annotations

from hypothesis import strategies as st

from .library import Dispatch, Kernel, levels

MAX_NODES = 24
PROPERTIES_USERS = {1: 4, 2: 2, 4: 2, 8: 2, 16: 2}


def kernel(gfx: str) -> st.SearchStrategy[Kernel]:
    bits = [2, 4, 8, 16] + ([1] if gfx.startswith("gfx10") else [])

    def make(chosen: set[int], wave32: bool, number: int, rsrc3: int, spare: int, lds: int) -> Kernel:
        users = sum(PROPERTIES_USERS[bit] for bit in chosen)
        declared = min(16, users + spare)
        return Kernel(
            entry=0x7F10_0000_0000 + 256 * number,
            group_bytes=lds,
            rsrc1=0x60AF_0040 if number % 3 else 0x600F_0081,
            rsrc2=declared << 1 | (0x1380 if number % 2 else 0x80),
            rsrc3=rsrc3 if gfx.startswith("gfx10") else rsrc3 << 4,
            properties=sum(chosen) | wave32 << 10,
        )

    return st.builds(
        make,
        st.sets(st.sampled_from(bits)),
        st.booleans(),
        st.integers(0, 2**20),
        st.integers(0, 3),
        st.integers(0, 6),
        st.sampled_from([0, 0, 4, 512, 2048]),
    )


@st.composite
def program(draw: st.DrawFn, gfx: str) -> tuple[list[Kernel], list[Dispatch], list[tuple[int, int]]]:
    """Kernels, dispatches with the levels of a random acyclic graph, and its edges."""
    kernels = draw(st.lists(kernel(gfx), min_size=1, max_size=4))
    count = draw(st.integers(1, MAX_NODES))
    edges = draw(
        st.lists(st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)), max_size=3 * count)
    )
    edges = [(min(edge), max(edge)) for edge in edges if edge[0] != edge[1]]
    level = levels(count, edges)
    assert level is not None
    sizes = st.sampled_from([(64, 1, 1), (256, 1, 1), (8, 8, 1), (4, 4, 4), (1, 1, 1), (32, 1, 32)])
    dispatches = []
    for node in range(count):
        workgroup = draw(sizes)
        chosen = draw(st.integers(0, len(kernels) - 1))
        repeat = draw(st.tuples(*[st.integers(1, 4)] * 3))
        dispatches.append(
            Dispatch(
                kernel=chosen,
                level=level[node],
                workgroup=workgroup,
                grid=(workgroup[0] * repeat[0], workgroup[1] * repeat[1], workgroup[2] * repeat[2]),
                lds_bytes=kernels[chosen].group_bytes + draw(st.sampled_from([0, 0, 100, 16384])),
                kernarg=0x7F20_0000_0000 + 4096 * node + (draw(st.integers(0, 1)) << 32),
                packet=0x7F30_0000_0000 + 64 * node,
                dispatch_id=draw(st.sampled_from([0, 1, 2**40 + 7])),
            )
        )
    return kernels, dispatches, edges
