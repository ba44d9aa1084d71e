"""The refresh of a contact before an iteration, the same for every solver and for the NumPy reference (VBD 3.5)."""

from __future__ import annotations

import numpy as np

from pliant.elements.closest import (
    closest_point_and_normal,
    closest_point_to_centre,
    closest_separation,
    combine,
    normal_there,
    on_rim,
    over_triangle,
    row,
)
from pliant.lanes import count, load, maximum, narrow, number, select, store, widen, width_of
from pliant.lanes.rows import gather4, load4, load_vectors, store4, store_vectors
from pliant.lanes.vectors import dot, physics, subtract


@physics
def refresh_contact(c, y, contacts):
    """Bring contact c of a ContactSet, whose vertices are at y, up to date: the closest point and the normal where they
    change with the positions, and the friction limit mu k d. Side 0 with a triangle: the vertex is a sphere's centre.
    """
    if contacts.updates_closest_point[c]:
        n = row(contacts.normals, c)
        w = (contacts.weights[c, 0], contacts.weights[c, 1], contacts.weights[c, 2], contacts.weights[c, 3])
        if contacts.side[c] == 0:
            w, n = closest_point_to_centre(y, w, n)
        else:
            w, n = closest_point_and_normal(y, n, float(contacts.side[c]))
        for i in range(4):
            contacts.weights[c, i] = w[i]
        for axis in range(3):
            contacts.normals[c, axis] = n[axis]
    if contacts.friction[c] > 0.0:
        d = contacts.thickness[c] - dot(closest_separation(c, y, contacts), row(contacts.normals, c))
        contacts.friction_limit[c] = contacts.friction[c] * contacts.stiffness[c] * max(0.0, d)


@physics
def refresh_block(block, x, table, like):
    """The same for a block of contacts of vertices and triangles that follow the closest point, in lanes of double
    precision; like: a number of the kernel's kind. What lanes of the kernel read of them is written too (ContactRows).
    """
    width, contacts = width_of(like), table.contacts
    c, z = block * width, widen(like)
    y = _corners(block, x, table, like)
    w, is_inside, is_certain = over_triangle(y)
    if count(is_certain) < width:
        rim = on_rim(y, w, is_inside)
        w = (w[0], select(is_certain, w[1], rim[1]), select(is_certain, w[2], rim[2]), select(is_certain, w[3], rim[3]))
    n = normal_there(y, w, load_vectors(contacts.normals, c, z), load(table.sides, c, z))
    mu_k = load(contacts.friction, c, z) * load(contacts.stiffness, c, z)
    thickness = load(contacts.thickness, c, z)
    limit = mu_k * maximum(thickness - dot(combine(w, y), n), number(0.0, z))
    s = combine(w, _corners(block, table.x_prev, table, like))
    if table.compliance[0] < np.inf:
        s = subtract(s, load_vectors(contacts.tangential_shift, c, z))
    store4(contacts.weights, 4 * c, 4, w[0], w[1], w[2], w[3])
    store_vectors(contacts.normals, c, n[0], n[1], n[2])
    store(contacts.friction_limit, c, limit)
    _store_narrow(table.normal_rows, 4 * c, n, limit, like)
    _store_narrow(table.prev_rows, 4 * c, s, thickness, like)
    _store_narrow(table.weight_rows, 4 * c, (w[0], w[1], w[2]), w[3], like)


@physics
def refresh_held_block(block, x, table, like):
    """The same for a block of contacts between vertices whose weights and normals stay, in lanes of the kernel's kind:
    the friction limit alone changes.
    """
    contacts, c = table.contacts, block * width_of(like)
    n = load4(table.normal_rows, 4 * c, 4, like)
    w = load4(table.weight_rows, 4 * c, 4, like)
    thickness = load4(table.prev_rows, 4 * c, 4, like)[3]
    gap = dot(combine(w, _rows_at(block, x, table, like)), (n[0], n[1], n[2])) - thickness
    mu_k = load(contacts.friction, c, widen(like)) * load(contacts.stiffness, c, widen(like))
    limit = mu_k * widen(maximum(-gap, number(0.0, like)))
    store(contacts.friction_limit, c, limit)
    store4(table.normal_rows, 4 * c, 4, n[0], n[1], n[2], narrow(limit, like))


@physics
def _corners(block, x, table, like):
    """Positions (rows, 4) of the four vertices of a block of contacts, in double precision."""
    y = _rows_at(block, x, table, like)
    return (_wide(y[0]), _wide(y[1]), _wide(y[2]), _wide(y[3]))


@physics
def _rows_at(block, x, table, like):
    """The same in the kernel's precision."""
    width = width_of(like)
    return (
        gather4(x, table.corners, (4 * block) * width, like),
        gather4(x, table.corners, (4 * block + 1) * width, like),
        gather4(x, table.corners, (4 * block + 2) * width, like),
        gather4(x, table.corners, (4 * block + 3) * width, like),
    )


@physics
def _wide(p):
    return (widen(p[0]), widen(p[1]), widen(p[2]))


@physics
def _store_narrow(rows, start, three, last, like):
    store4(rows, start, 4, narrow(three[0], like), narrow(three[1], like), narrow(three[2], like), narrow(last, like))
