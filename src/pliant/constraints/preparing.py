"""What iterations read beside the rows: lists, diagonals and delta; compiled, once per step."""

from __future__ import annotations

import numpy as np

from pliant.constraints.blocks import plan_blocks, rows_of_block
from pliant.constraints.lists import list_bodies, list_vertices
from pliant.constraints.one_row import in_space, put_row, write_diagonals
from pliant.constraints.sweeps import gather_block
from pliant.elements.closest import row
from pliant.kernels.threads import barrier_wait, share
from pliant.lanes.compiled import inlined
from pliant.lanes.entry import entry


@entry(nogil=True, error_model="numpy")
def prepare(thread, threads, barrier, rows, count, bodies, blocks, cursor, scheme, gamma, keeps_lists, is_warm):
    """Lists of the vertices, blocks, diagonals and delta = gamma / h C(x_t) (Equation 28); keeps_lists: lists, blocks
    and diagonals are those of the step before; is_warm: impulses as they are push the vertices.

    Deviation: a gap may close within the step, delta = C / h where C > 0; gamma would stop spheres before they touch.
    """
    if thread == 0 and not keeps_lists:
        if len(bodies.rigid.twist) > 0:
            list_bodies(rows, count, bodies.rigid, cursor)
        list_vertices(rows, count, bodies, cursor)
        plan_blocks(count, bodies, blocks)
    barrier_wait(barrier, threads)
    block_count = blocks.numbers[0] if blocks.numbers[3] == 1 else 1
    for block in range(block_count):
        first, last = rows_of_block(block, block_count, blocks.numbers[2], count)
        first, last = share(first, last, thread, threads)
        for k in range(first, last):
            i = np.uint64(k)
            if not keeps_lists:
                write_diagonals(rows, bodies, i)
            value = -rows.rest[i]
            for axis in range(3):
                value += rows.normal[i, axis] * rows.separation[i, axis]
            is_gap = value > 0.0 and rows.kind[i] == 1
            rows.bias[i] = value / scheme.h * (1.0 if is_gap or rows.compliance[i] > 0.0 else gamma)
            if is_warm:
                put_push(rows, i)
        if is_warm:
            barrier_wait(barrier, (block + 2) * threads)
            gather_block(thread, threads, rows, bodies, scheme, blocks, block)


@inlined
def put_push(rows, i):
    """Let the whole impulse of a constraint be its next push."""
    put_row(rows.push, i, in_space(rows, i, row(rows.impulse, i)))
    if len(rows.rolling) > 0:
        put_row(rows.roll_change, i, row(rows.roll, i))
