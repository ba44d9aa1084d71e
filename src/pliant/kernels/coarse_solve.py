"""The system of all coarse levels (coarse_levels) by conjugate gradients, preconditioned by the levels added up."""

from __future__ import annotations

import numpy as np

from pliant.kernels.coarse_levels import UNKNOWNS
from pliant.kernels.definite_inverse import ROOT
from pliant.kernels.threads import barrier_wait, share
from pliant.lanes.inner import inner
from pliant.lanes.memory import load, load_widened, store
from pliant.lanes.types import make_zero

_nothing = make_zero("double", 4)


@inner(nogil=True, error_model="numpy")
def solve(thread, threads, barrier, matrix, contacts, joined, inverses, tolerance, limit, room):
    """Conjugate gradients on (K + contacts) v = r until |r| in the norm of the preconditioner has fallen enough."""
    m = len(matrix.diagonal)
    first, last = share(0, m, thread, threads)
    arrivals = _precondition(thread, threads, barrier, 0, joined, inverses, room)
    for a in range(first, last):
        for c in range(UNKNOWNS):
            room.v[a, c], room.p[a, c] = 0.0, room.z[a, c]
    product = start = np.sum(room.sums[0])
    arrivals += threads
    barrier_wait(barrier, arrivals)
    for iteration in range(limit):
        if not product > 0:
            return
        _multiply(first, last, matrix, contacts, room)
        arrivals += threads
        barrier_wait(barrier, arrivals)
        curvature = np.sum(room.sums[1])
        if thread == 0:
            room.outcome[0], room.outcome[1] = iteration + 1, not curvature > 0
        if not curvature > 0:
            return
        alpha = product / curvature
        for a in range(first, last):
            for c in range(UNKNOWNS):
                room.v[a, c] += alpha * room.p[a, c]
                room.r[a, c] -= alpha * room.q[a, c]
        arrivals += threads
        barrier_wait(barrier, arrivals)
        arrivals = _precondition(thread, threads, barrier, arrivals, joined, inverses, room)
        before, product = product, np.sum(room.sums[0])
        if product <= tolerance**2 * start:
            return
        for a in range(first, last):
            for c in range(UNKNOWNS):
                room.p[a, c] = room.z[a, c] + product / before * room.p[a, c]
        arrivals += threads
        barrier_wait(barrier, arrivals)


@inner(nogil=True, error_model="numpy")
def _multiply(first, last, matrix, contacts, room):
    """q = (K + contacts) p and the shares of p . q."""
    p, q = room.p.reshape(-1), room.q.reshape(-1)
    rows = np.empty(4 * UNKNOWNS)  # each row of a product in four lanes, which are added up at the end
    for a in range(first, last):
        for c in range(0, 4 * UNKNOWNS, 4):
            store(rows, c, _nothing())
        for own in (matrix, contacts):
            if own.diagonal[a] < own.start[a + 1]:
                _add_rows(own.own.reshape(-1), 144 * a, p, UNKNOWNS * a, rows)
            blocks = own.blocks.reshape(-1)
            for k in range(own.diagonal[a] + 1, own.start[a + 1]):
                _add_rows(blocks, 144 * own.number[k], p, UNKNOWNS * own.column[k], rows)
        for c in range(UNKNOWNS):
            room.q[a, c] = (rows[4 * c] + rows[4 * c + 1]) + (rows[4 * c + 2] + rows[4 * c + 3])
        for own in (matrix, contacts):
            blocks = own.blocks.reshape(-1)
            for k in range(own.start[a], own.diagonal[a]):
                _add_columns(blocks, 144 * own.number[k], UNKNOWNS, p, UNKNOWNS * own.column[k], q, UNKNOWNS * a)
        total = 0.0
        for c in range(UNKNOWNS):
            total += room.p[a, c] * room.q[a, c]
        room.sums[1, a] = total


@inner(nogil=True, error_model="numpy")
def _add_rows(blocks, start, p, place, rows):
    """Add the product of a block with twelve numbers from a place of p to its rows in lanes."""
    like = _nothing()
    p0, p1, p2 = load(p, place, like), load(p, place + 4, like), load(p, place + 8, like)
    for c in range(UNKNOWNS):
        row = start + UNKNOWNS * c
        own = load_widened(blocks, row, like) * p0 + load_widened(blocks, row + 4, like) * p1
        store(rows, 4 * c, load(rows, 4 * c, like) + (own + load_widened(blocks, row + 8, like) * p2))


@inner(nogil=True, error_model="numpy")
def _add_columns(blocks, start, stride, p, place, q, end):
    """Add the product of a transposed block, whose rows lie a stride apart, with twelve numbers from a place of p to
    twelve from a place of q.
    """
    like = _nothing()
    q0, q1, q2 = load(q, end, like), load(q, end + 4, like), load(q, end + 8, like)
    for d in range(UNKNOWNS):
        row, by = start + stride * d, p[place + d]
        q0 = q0 + by * load_widened(blocks, row, like)
        q1 = q1 + by * load_widened(blocks, row + 4, like)
        q2 = q2 + by * load_widened(blocks, row + 8, like)
    store(q, end, q0)
    store(q, end + 4, q1)
    store(q, end + 8, q2)


@inner(nogil=True, error_model="numpy")
def _add_root(roots, start, p, place, q, parts):
    """Add W^T W times twelve numbers from a place of p to those of q; W has columns in lanes of four rows, from that
    with the diagonal on; parts: room.
    """
    like = _nothing()
    y0, y1, y2 = like, like, like
    for d in range(4):
        row, by = start + 12 * d, p[place + d]
        y0 = y0 + by * load_widened(roots, row, like)
        y1 = y1 + by * load_widened(roots, row + 4, like)
        y2 = y2 + by * load_widened(roots, row + 8, like)
    for d in range(4):
        row, by = start + 48 + 8 * d, p[place + 4 + d]
        y1 = y1 + by * load_widened(roots, row, like)
        y2 = y2 + by * load_widened(roots, row + 4, like)
    for d in range(4):
        y2 = y2 + p[place + 8 + d] * load_widened(roots, start + 80 + 4 * d, like)
    for d in range(4):
        row = start + 12 * d
        own = load_widened(roots, row, like) * y0 + load_widened(roots, row + 4, like) * y1
        store(parts, 4 * d, own + load_widened(roots, row + 8, like) * y2)
        row = start + 48 + 8 * d
        own = load_widened(roots, row, like) * y1 + load_widened(roots, row + 4, like) * y2
        store(parts, 16 + 4 * d, own)
        store(parts, 32 + 4 * d, load_widened(roots, start + 80 + 4 * d, like) * y2)
    for d in range(UNKNOWNS):
        q[place + d] += (parts[4 * d] + parts[4 * d + 1]) + (parts[4 * d + 2] + parts[4 * d + 3])


@inner(nogil=True, error_model="numpy")
def _precondition(thread, threads, barrier, arrivals, joined, inverses, room):
    """z = sum over levels of Q D^-1 Q^T r, and the shares of r . z; returns the arrivals so far.

    Inverses are symmetric: their rows are their columns.
    """
    M, m = len(joined.child_start) - 1, len(room.r)
    left, z, below, solved = (
        room.r.reshape(-1),
        room.z.reshape(-1),
        room.joined.reshape(-1),
        room.solved.reshape(-1),
    )
    finest, middle, top = inverses.finest.reshape(-1), inverses.joined.reshape(-1), inverses.top.reshape(-1)
    first, last = share(0, M, thread, threads)
    for g in range(first, last):
        level = _level_of(g, joined)
        own = room.joined[g]
        for c in range(UNKNOWNS):
            own[c] = 0.0
        for place in range(joined.child_start[g], joined.child_start[g + 1]):
            a = joined.child[place]
            r = room.r[a]
            for x in range(3):
                own[x] += r[x]
                for s in range(3):
                    own[3 * s + 3 + x] += joined.shift[level, a, s] * r[x] + joined.scale[level, a] * r[3 * s + 3 + x]
        if g < len(inverses.joined):
            for c in range(UNKNOWNS):
                room.solved[g, c] = 0.0
            _add_columns(middle, 144 * g, UNKNOWNS, below, UNKNOWNS * g, solved, UNKNOWNS * g)
    arrivals += threads
    barrier_wait(barrier, arrivals)
    first, last = share(joined.top, M if len(inverses.top) else joined.top, thread, threads)
    for g in range(first, last):
        stride = UNKNOWNS * (M - joined.top)
        for c in range(UNKNOWNS):
            room.solved[g, c] = 0.0
        for other in range(joined.top, M):
            start = UNKNOWNS * (stride * (other - joined.top) + g - joined.top)
            _add_columns(top, start, stride, below, UNKNOWNS * other, solved, UNKNOWNS * g)
    arrivals += threads
    barrier_wait(barrier, arrivals)
    first, last = share(0, m, thread, threads)
    parts = np.empty(4 * UNKNOWNS)
    for a in range(first, last):
        out = room.z[a]
        for c in range(UNKNOWNS):
            out[c] = 0.0
        if len(inverses.finest):
            _add_root(finest, ROOT * a, left, UNKNOWNS * a, z, parts)
        for level in range(len(joined.parent)):
            v = room.solved[joined.parent[level, a]]
            for x in range(3):
                out[x] += v[x]
                for s in range(3):
                    out[x] += joined.shift[level, a, s] * v[3 * s + 3 + x]
                    out[3 * s + 3 + x] += joined.scale[level, a] * v[3 * s + 3 + x]
        total = 0.0
        for c in range(UNKNOWNS):
            total += out[c] * room.r[a, c]
        room.sums[0, a] = total
    arrivals += threads
    barrier_wait(barrier, arrivals)
    return arrivals


@inner(nogil=True, error_model="numpy")
def _level_of(g, joined):
    """The level of a joined aggregate: that on which its first child has it for a parent."""
    a, level = joined.child[joined.child_start[g]], 0
    while joined.parent[level, a] != g:
        level += 1
    return level
