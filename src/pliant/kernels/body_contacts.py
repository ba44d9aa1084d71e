"""Contacts of rigid bodies among vertices, as rows of the bodies' own blocks in double precision (kernels.bodies).

Unlike those of kernels.rigid_contacts, they may be penalties, with smoothed friction and damping (elements.contact),
and a side may be vertices, which are where the packs have them. What belongs to the ContactSet of the step, and changes
from iteration to iteration, is taken over before bodies move.
"""

from __future__ import annotations

import numpy as np

from pliant.elements.closest import closest_separation, positions_of
from pliant.elements.contact import damped_depth, friction_slope
from pliant.kernels.bodies import move_pose, solve_six
from pliant.kernels.rigid_blocks import NO_SUMS, add_sums, owed_by, with_force, write_rotation, write_targets
from pliant.kernels.rigid_contacts import (
    ARM,
    FRICTION,
    GOAL,
    LIMIT,
    NORMAL,
    OTHER_ARM,
    OTHER_GOAL,
    OTHER_PLACE,
    PLACE,
    PREV,
    RUBBED,
    STIFFNESS,
    THICKNESS,
    colour_bodies,
    list_entries,
    middle_of,
    separation,
    three,
    write_place,
    write_places,
    write_side,
)
from pliant.kernels.rigid_motion import place_bodies
from pliant.kernels.threads import share
from pliant.kernels.transfer import read_rows, write_rows
from pliant.lanes.entry import entry
from pliant.lanes.inner import inner

BEFORE = RUBBED  # s at the start of the step [m]: multipliers are those of the ContactSet

inlined = inner(nogil=True, error_model="numpy", forceinline=True, _nrt=False)


@entry(nogil=True, error_model="numpy")
def count_body_contacts(table, carrier):
    """How many contacts have a side that a rigid body carries; carrier (rows,)."""
    count = 0
    for c in range(len(table.rows)):
        if carrier[table.rows[c, 0]] >= 0 or carrier[table.rows[c, middle_corner(table, c)]] >= 0:
            count += 1
    return count


@inlined
def middle_corner(table, c):
    """The corner that stands for the second side; the first one where that is an obstacle."""
    middle = middle_of(table.contacts, c)
    return 0 if middle == 4 else middle


@entry(nogil=True, error_model="numpy")
def load_body_contacts(table, bodies):
    """Take up the contacts of a detection that have a side which a body carries."""
    contacts, numbers, carrier = table.contacts, bodies.numbers, bodies.carrier
    bodies.start[:] = 0
    k = 0
    for c in range(len(table.rows)):
        a, b = carrier[table.rows[c, 0]], np.int64(-1)
        if contacts.obstacle[c] < 0:
            b = carrier[table.rows[c, middle_corner(table, c)]]
        if a < 0 and b < 0:
            continue
        bodies.contact[k], bodies.first[k], bodies.second[k] = c, a, b
        if a >= 0:
            bodies.start[a + 1] += 1
        if b >= 0:
            bodies.start[b + 1] += 1
        numbers[k, STIFFNESS], numbers[k, FRICTION] = contacts.stiffness[c], contacts.friction[c]
        numbers[k, LIMIT] = -1.0  # not known
        if contacts.obstacle[c] >= 0:
            for axis in range(3):
                numbers[k, OTHER_ARM + axis] = contacts.points[c, axis] - table.origin[axis]
        write_before(k, c, contacts, bodies.x_start, numbers)
        write_arms(k, c, table.x_prev, table, bodies, True)
        k += 1
    list_entries(bodies)
    colour_bodies(bodies)


@entry(nogil=True, error_model="numpy")
def colour_alone(bodies):
    """Colours of bodies that nothing touches."""
    bodies.start[:] = 0
    colour_bodies(bodies)


@entry(nogil=True, error_model="numpy")
def begin_bodies(bodies, masses, places, offsets, y, x_start, origin):
    """Begin a step from x_start (n, 3) [m] with targets y (n, 3) of MassPoints, and offsets (k, 3) [m] of the carried
    points, which belong to the rows `places` (k,): some slide. All relative to an origin (3,) [m].
    """
    for k in range(len(places)):
        for axis in range(3):
            bodies.offsets[places[k], axis] = offsets[k, axis]
    for i in range(len(x_start)):
        for axis in range(3):
            bodies.x_start[i, axis] = x_start[i, axis]
    write_targets(bodies, masses, bodies.offsets, y, x_start, origin)


@entry(nogil=True, error_model="numpy")
def read_positions_and_poses(x, origin, vertex_of_row, is_wide, width, rows, poses, own, R):
    """Positions x (n, 3) [m] relative to an origin (3,) to rows (r, 4), and poses (b, 7) to a solver's own, with their
    rotations (b, 9).
    """
    read_rows(x, origin, vertex_of_row, is_wide, width, rows)
    for b in range(len(poses)):
        for i in range(7):
            own[b, i] = poses[b, i] - (origin[i] if i < 3 else 0.0)
        write_rotation(own, b, R)


@entry(nogil=True, error_model="numpy")
def write_positions_and_poses(rows, origin, row_of_vertex, held, x, own, carried, poses):
    """The way back: positions of vertices but those that are held (k,), poses, and where bodies carry their points."""
    write_rows(rows, origin, row_of_vertex, held, x)
    for b in range(len(poses)):
        for i in range(7):
            poses[b, i] = own[b, i] + (origin[i] if i < 3 else 0.0)
    place_bodies(carried, poses, x)


@inlined
def write_before(k, c, contacts, x_start, numbers):
    """Normal, and s at the start of the step, of contact c in row k."""
    before = closest_separation(c, positions_of(c, contacts, x_start), contacts)
    for axis in range(3):
        numbers[k, NORMAL + axis] = contacts.normals[c, axis]
        numbers[k, BEFORE + axis] = before[axis] + contacts.motions[c, axis]


@inlined
def write_arms(k, c, x, table, bodies, of_bodies):
    """Arms of contact c in row k: those of bodies, if they are asked for, or where vertices are, x (rows, 4) [m]."""
    contacts, numbers, middle = table.contacts, bodies.numbers, middle_of(table.contacts, c)
    own = (contacts.weights, table.rows, bodies.offset_rows, bodies.offsets, x, numbers)
    if (bodies.first[k] >= 0) == of_bodies:
        write_side(k, ARM, c, 0, middle, 1.0, bodies.first[k], *own)
    if middle < 4 and (bodies.second[k] >= 0) == of_bodies:
        write_side(k, OTHER_ARM, c, middle, 4, -1.0, bodies.second[k], *own)


@inlined
def refresh_rows(thread, threads, x, table, bodies):
    """Before bodies move: what has changed of their contacts since they did; x (rows, 4)."""
    contacts, numbers = table.contacts, bodies.numbers
    is_hard = table.compliance[0] < np.inf
    first, last = share(0, len(bodies.contact), thread, threads)
    for k in range(first, last):
        c = bodies.contact[k]
        if contacts.updates_closest_point[c]:
            write_before(k, c, contacts, bodies.x_start, numbers)
            write_arms(k, c, x, table, bodies, True)
        if bodies.first[k] < 0 or bodies.second[k] < 0:
            write_arms(k, c, x, table, bodies, False)
        for axis in range(3):
            numbers[k, PREV + axis] = numbers[k, BEFORE + axis] - contacts.tangential_shift[c, axis]
        numbers[k, THICKNESS] = contacts.thickness[c]
        if is_hard:
            write_places(k, bodies, bodies)
        else:
            write_place(k, PLACE, ARM, bodies.first[k], numbers, bodies.poses, bodies.R)
            write_place(k, OTHER_PLACE, OTHER_ARM, bodies.second[k], numbers, bodies.poses, bodies.R)
        s, n = separation(k, numbers), three(numbers, k, NORMAL)
        d = max(0.0, numbers[k, THICKNESS] - (s[0] * n[0] + s[1] * n[1] + s[2] * n[2]))
        limit, before = numbers[k, FRICTION] * numbers[k, STIFFNESS] * d, numbers[k, LIMIT]
        # Friction may lift the corner that it acts on, and then there is none: halfway the two do not take turns.
        numbers[k, LIMIT] = limit if is_hard or before < 0.0 else 0.5 * (before + limit)


@inlined
def add_contacts(b, table, bodies, system):
    """Add force, torque and blocks of all contacts of body b."""
    slip, damping, is_hard = np.float64(table.slip[0]), np.float64(table.damping[0]), table.compliance[0] < np.inf
    sums, p = NO_SUMS, three(bodies.poses, b, 0)
    for place in range(bodies.start[b], bodies.start[b + 1]):
        k = bodies.entries[place]
        sums = with_row(sums, p, k // 2, k % 2 == 1, slip, damping, is_hard, bodies.numbers)
    add_sums(sums, system)


@inlined
def with_row(sums, p, k, is_second, slip, damping, is_hard, numbers):
    """Sums with row k, of one side of a contact on a body at p (elements.contact.add_contact)."""
    at, sign = (OTHER_PLACE, -1.0) if is_second else (PLACE, 1.0)
    n, stiffness, limit, s = three(numbers, k, NORMAL), numbers[k, STIFFNESS], numbers[k, LIMIT], separation(k, numbers)
    u = (s[0] - numbers[k, PREV], s[1] - numbers[k, PREV + 1], s[2] - numbers[k, PREV + 2])
    push, _ = damped_depth(s, u, n, numbers[k, THICKNESS], damping)
    pressed = stiffness * (1.0 + damping) if push > 0.0 else 0.0
    if is_hard and push <= 0.0:  # one that it would press on the way to its target has its block already
        here = numbers[k, at] * n[0] + numbers[k, at + 1] * n[1] + numbers[k, at + 2] * n[2]
        ahead = sign * (here - numbers[k, OTHER_GOAL if is_second else GOAL])
        gap = numbers[k, THICKNESS] - (s[0] * n[0] + s[1] * n[1] + s[2] * n[2])
        if ahead > 0.0 and gap + ahead > 0.0:
            pressed = stiffness
    slope, t = 0.0, (0.0, 0.0, 0.0)
    if limit > 0.0:
        across = u[0] * n[0] + u[1] * n[1] + u[2] * n[2]
        t = (u[0] - across * n[0], u[1] - across * n[1], u[2] - across * n[2])
        slope = friction_slope((t[0] * t[0] + t[1] * t[1] + t[2] * t[2]) ** 0.5, stiffness, limit, slip)
    if pressed == 0.0 and slope == 0.0:
        return sums
    f = sign * stiffness * push
    f0, f1, f2 = f * n[0] - sign * slope * t[0], f * n[1] - sign * slope * t[1], f * n[2] - sign * slope * t[2]
    a = (numbers[k, at] - p[0], numbers[k, at + 1] - p[1], numbers[k, at + 2] - p[2])
    return with_force(sums, a, (f0, f1, f2), n, pressed, slope)


@inlined
def move_body(b, bodies, system):
    """Move body b to the solution of its system; 1 if it is singular. Where its contacts are follows."""
    bodies.owed[b] = owed_by(b, bodies, system[:, 6])
    if solve_six(system):
        return 1
    move_pose(bodies.poses, b, system)
    write_rotation(bodies.poses, b, bodies.R)
    for place in range(bodies.start[b], bodies.start[b + 1]):
        k = bodies.entries[place] // 2
        if bodies.entries[place] % 2 == 1:
            write_place(k, OTHER_PLACE, OTHER_ARM, b, bodies.numbers, bodies.poses, bodies.R)
        else:
            write_place(k, PLACE, ARM, b, bodies.numbers, bodies.poses, bodies.R)
    return 0
