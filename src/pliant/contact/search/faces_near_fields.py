"""Edges and triangles near a field of distances, where a point between their vertices is nearest.

They are tested where they end: a vertex that comes in is stopped where it does (near_obstacles.py), a face is pushed
out by the shortest way. Where they end is a guess. Corners that are inside are contacts of their own and will be pushed
out, others within reach may come to rest; faces are tested as they are when all such corners lie on the obstacle, since
what bends about it is inside between corners which are not.
"""

from __future__ import annotations

import numpy as np

from pliant.contact.contact_set import FACE_THICKNESS, ContactSet, face_contacts
from pliant.contact.primitives.lowest_on_field import lowest_on_edge, lowest_on_triangle
from pliant.contact.primitives.lowest_points import mix
from pliant.contact.primitives.shapes import distance_and_normal, material_displacement
from pliant.elements.closest import row
from pliant.kernels.threads import Team, share
from pliant.lanes.compiled import cached, compiled, inlined
from pliant.lanes.vectors import add_scaled, dot, subtract
from pliant.model import ContactModel

LOWER = 1e-3  # of the size of a triangle or an edge: by so much a point between corners must be nearer than these
BETWEEN = 0.01  # the least weight of each corner
NANOSECONDS = 5e3  # that a triangle takes


def field_contacts_at(
    team: Team,
    model: ContactModel,
    number: int,
    corners: np.ndarray,
    distances: np.ndarray,
    rows: tuple[np.ndarray, np.ndarray],
    x: np.ndarray,
    reach: float,
) -> ContactSet:
    """Of edges and triangles with corners (k, 3), the last -1 for edges, near an obstacle, by its number; distances
    (n,) of all vertices x (n, 3); rows of the shape's numbers at the start and at the end.
    """
    k, kind = len(corners), model.shapes[number].kind
    weights, is_contact = np.empty((k, 3)), np.empty(k, bool)
    points, motions, normals = np.empty((k, 3)), np.empty((k, 3)), np.empty((k, 3))
    found = (weights, points, motions, normals, is_contact)
    places = (corners, distances, x, reach, model.radius)
    team.run_for(NANOSECONDS * k, cached(describe_on_field), kind, *rows, *places, *found)
    corners, weights = corners[is_contact], weights[is_contact]
    where = (points[is_contact], motions[is_contact], normals[is_contact])
    return face_contacts(number, corners, weights, *where, FACE_THICKNESS * model.radius[corners[:, 0]])


@compiled
def describe_on_field(
    thread, threads, barrier, kind, start, end, corners, distances, x, reach, radius,
    weights, points, motions, normals, is_contact,
):  # fmt: skip
    """The lowest point of each, and whether it is a contact that the corners are not."""
    first, last = share(0, len(corners), thread, threads)
    for k in range(first, last):
        is_face = corners[k, 2] >= 0
        a, b = corners[k, 0], corners[k, 1]
        c = corners[k, 2] if is_face else b
        y = (row(x, a), row(x, b), row(x, c))
        nearest = min(distances[a], min(distances[b], distances[c]))
        lifts = (
            lift(distances[a], radius[a], reach), lift(distances[b], radius[a], reach),
            lift(distances[c], radius[a], reach),
        )  # fmt: skip
        corner = nearest + lift(nearest, radius[a], reach)
        sides = (subtract(y[1], y[0]), subtract(y[2], y[1]), subtract(y[0], y[2]))
        size = np.sqrt(max(dot(sides[0], sides[0]), max(dot(sides[1], sides[1]), dot(sides[2], sides[2]))))
        if is_face:
            w, d = lowest_on_triangle(kind, end, y, lifts)
        else:
            t, d = lowest_on_edge(kind, end, y[0], y[1], lifts)
            w = (1.0 - t, t, 0.0)
        is_between = min(w[0], w[1]) > BETWEEN and (not is_face or w[2] > BETWEEN)
        is_contact[k] = is_between and d < corner - max(LOWER * size, radius[a])
        if not is_contact[k]:
            continue
        p = mix(w, y)
        d, n = distance_and_normal(kind, end, p)
        is_contact[k] = d <= reach + radius[a]
        q = add_scaled(p, -d, n)
        motion = material_displacement(kind, start, end, q)
        for axis in range(3):
            weights[k, axis] = w[axis]
            points[k, axis], motions[k, axis], normals[k, axis] = q[axis], motion[axis], n[axis]


@inlined
def lift(d, radius, reach):
    """How far [m] a vertex at a distance d is from lying on the obstacle, no lower than by `reach`."""
    return max(radius - d, -reach)
