"""Augmented vertex block descent of rigid bodies that only contacts join: Gauss-Seidel over bodies (decision 0075).

A body goes to the minimum of the step's potential in its six unknowns, by one step of Newton's method, where the others
are: those of one colour do not touch each other, and are solved side by side in lanes (kernels.rigid_solve). After all
colours every multiplier becomes the force of its contact. When islands of bodies end is told by their errors
(kernels.rigid_errors).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.kernels.rigid_blocks import write_rotation
from pliant.kernels.rigid_contacts import (
    MOST_COLOURS,
    NORMAL,
    OTHER_PLACE,
    PLACE,
    PREV,
    RUBBED,
    SHIFT,
    refresh_moving,
    store_contacts,
    stride_after,
    write_places,
)
from pliant.kernels.rigid_errors import DONE, ENDED, SINGULAR, is_looked_at, measure
from pliant.kernels.rigid_motion import place_bodies
from pliant.kernels.rigid_packs import COLUMNS, WIDTH, load_pose, store_errors, store_pose, zero
from pliant.kernels.rigid_solve import solve_pack
from pliant.kernels.threads import barrier_wait, share
from pliant.lanes.entry import entry
from pliant.lanes.inner import inner
from pliant.lanes.math import absolute, maximum, number, select, sqrt
from pliant.lanes.memory import load
from pliant.lanes.rows import gather4, gather4_beyond, store4
from pliant.lanes.vectors import dot, subtract

TINY = 1e-300  # divides in place of zero
FAINT = 1e-100  # [N] multipliers that die out end here: with numbers below 1e-308 a CPU computes a hundred times slower

# called in inner loops: handing the arrays over would take longer than the work
inlined = inner(nogil=True, error_model="numpy", forceinline=True, _nrt=False)


class RigidBodies(NamedTuple):
    """b bodies; matrices are (b, 9), row after row."""

    poses: np.ndarray  # (b, 7) position [m] and orientation
    R: np.ndarray  # their rotations
    weight: np.ndarray  # (b,) w = m / h^2 [kg/s^2]
    moments: np.ndarray  # sum w r r^T in the bodies' axes [N m]
    inverse: np.ndarray  # of the tensor of inertia over h^2, in the bodies' axes
    targets: np.ndarray  # (b, 3) y [m]
    start_places: np.ndarray  # (b, 3) [m] where the step begins
    spread: np.ndarray  # K [N m]
    target_R: np.ndarray  # rotations of the targets
    gravity: np.ndarray  # (b,) h^2 |g| [m]
    moved: np.ndarray  # (b, 2 WINDOW) [m] root mean squares of the last motions, in turn
    owed: np.ndarray  # (b,) [m] by the residual before the last motion
    errors: np.ndarray  # (b, 4)
    ways: np.ndarray  # (b,) [m] the longest of an island in the step, at the number of the island
    worst: np.ndarray  # (b,) the largest error of an island, over what is allowed
    is_solved: np.ndarray  # (b,) bool: islands that have ended, while others go on
    progress: np.ndarray  # (4,) int64


@entry(nogil=True, error_model="numpy")
def sweep_bodies(thread, threads, barrier, n, tolerance, poses, bodies, table, packs, rows, carried, x, x_prev):
    """n iterations from poses (b, 7) on, fewer where all errors are at most a tolerance. x (n, 3): where held vertices
    are; where bodies carry the others to is written there in the end.
    """
    offsets = carried.offsets
    if thread == 0:
        load_poses(poses, bodies, table, packs)
    arrivals = threads
    barrier_wait(barrier, arrivals)
    for k in range(n):
        done = bodies.progress[DONE]
        for colour in range(MOST_COLOURS):
            start, end = packs.colour_start[colour], packs.colour_start[colour + 1]
            if start == end:
                break
            first, last = share(start, end, thread, threads)
            if colour == MOST_COLOURS - 1:
                first, last = (start, end) if thread == 0 else (start, start)
            for pack in range(first, last):
                if solve_pack(pack, done, table, packs):
                    bodies.progress[SINGULAR] = 1
            arrivals += threads
            barrier_wait(barrier, arrivals)
        if table.refreshes[0] > 0:
            first, last = share(0, len(table.order), thread, threads)
            for b in range(first, last):
                store_pose(b, bodies, packs)
            arrivals += threads
            barrier_wait(barrier, arrivals)
        first, last = share(0, len(table.numbers) // WIDTH, thread, threads)
        for pack in range(first, last):
            update_multipliers(pack, stride_after(done), packs.masks[thread], bodies, table, packs)
            if table.refreshes[0] > 0:
                refresh_pack(pack, table, rows, offsets, x, x_prev, bodies)
        arrivals += threads
        barrier_wait(barrier, arrivals)
        if thread == 0:
            bodies.progress[DONE] += 1
            if is_looked_at(bodies.progress[DONE]) or k == n - 1:
                measure(bodies, table.island, packs, tolerance)
        arrivals += threads
        barrier_wait(barrier, arrivals)
        if bodies.progress[ENDED] > 0:
            break
    if thread == 0:
        store_contacts(table)
        store_poses(poses, bodies, packs)
        place_bodies(carried, poses, x)


@inlined
def is_solved(c, table, bodies):
    """Whether contact c, if there is one, is of an island that has ended."""
    return c >= len(table.first) or bodies.is_solved[table.island[max(table.first[c], table.second[c])]]


@inlined
def refresh_pack(pack, table, rows, offsets, x, x_prev, bodies):
    """Closest points and normals that change with the positions."""
    for c in range(pack * WIDTH, min((pack + 1) * WIDTH, len(table.first))):
        if table.contacts.updates_closest_point[c] and not is_solved(c, table, bodies):
            refresh_moving(np.uint64(c), table, rows, offsets, x, x_prev, bodies)


@inlined
def update_multipliers(pack, stride, mask, bodies, table, packs):
    """Bring the multipliers of contacts, one after another in the lanes, nearer to their forces
    (kernels.contact_multipliers) by a part of the way, and set their friction limits, which follow from them.
    """
    first, moving = pack * WIDTH, 0
    for lane in range(WIDTH):
        mask[lane] = 0.0 if is_solved(first + lane, table, bodies) else 1.0
        moving += mask[lane] > 0.0
    if moving == 0:
        return
    z, numbers, places, at = zero(), table.numbers, packs.contact_rows, first * COLUMNS
    moves = load(mask, 0, z) > z
    n0, n1, n2, thickness = gather4(numbers, places, first, z)
    p0, p1, p2, limit = gather4_beyond(numbers, places, first, PREV, z)
    x0, x1, x2, k = gather4_beyond(numbers, places, first, PLACE, z)
    y0, y1, y2, _ = gather4_beyond(numbers, places, first, OTHER_PLACE, z)
    r0, r1, r2, pressed = gather4_beyond(numbers, places, first, RUBBED, z)
    s0, s1, s2, mu = gather4_beyond(numbers, places, first, SHIFT, z)
    n, s = (n0, n1, n2), (x0 - y0, x1 - y1, x2 - y2)
    d = maximum(thickness - dot(s, n), z)
    part = maximum(1.0 - k * table.compliance[0], z)  # k / rho
    before = pressed
    pressed = select(moves, (1.0 - stride) * pressed + stride * (k * d), pressed)
    pressed = select(pressed > number(FAINT, z), pressed, z)
    store4(numbers, at + NORMAL, COLUMNS, n0, n1, n2, thickness + part * (pressed - before) / k)
    u = subtract(s, (p0, p1, p2))
    across = dot(u, n)
    w = (u[0] - across * n0, u[1] - across * n1, u[2] - across * n2)
    length, furthest = sqrt(dot(w, w)), mu * pressed / k
    held = select(length <= furthest, 1.0 + z, furthest / maximum(length, number(TINY, z)))
    rubs = moves & (mu > z)
    a0 = rubbed(rubs, r0, stride, k * held * w[0])
    a1 = rubbed(rubs, r1, stride, k * held * w[1])
    a2 = rubbed(rubs, r2, stride, k * held * w[2])
    g0, g1, g2 = (r0 - a0) / k, (r1 - a1) / k, (r2 - a2) / k  # without lambda_T / k: what has drifted
    store4(numbers, at + PREV, COLUMNS, p0 - g0, p1 - g1, p2 - g2, select(rubs, mu * pressed, limit))
    store4(numbers, at + RUBBED, COLUMNS, a0, a1, a2, pressed)
    store4(numbers, at + SHIFT, COLUMNS, s0 + g0, s1 + g1, s2 + g2, mu)


@inlined
def rubbed(rubs, before, stride, pull):
    """A part of the way from a tangential multiplier to -pull."""
    after, z = (1.0 - stride) * before - stride * pull, zero()
    return select(rubs, select(absolute(after) > number(FAINT, z), after, z), before)


@inlined
def load_poses(poses, bodies, table, packs):
    """Take poses (b, 7) over; all islands are still to be solved."""
    bodies.is_solved[:] = False
    for b in range(len(poses)):
        for i in range(7):
            bodies.poses[b, i] = poses[b, i]
        write_rotation(bodies.poses, b, bodies.R)
        load_pose(b, bodies, packs)
    for c in range(len(table.first)):
        write_places(np.uint64(c), table, bodies)


@inlined
def store_poses(poses, bodies, packs):
    """Give poses (b, 7), and errors."""
    for b in range(len(poses)):
        store_pose(b, bodies, packs)
        store_errors(b, bodies, packs)
        for i in range(7):
            poses[b, i] = bodies.poses[b, i]
