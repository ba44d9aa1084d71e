"""Edges and triangles near obstacles with formulas, where a point between their vertices is nearest.

Signed distances of spheres, boxes, capsules and cylinders are convex functions, so that on an edge or a triangle there
is one lowest value (primitives/lowest_points.py). Where it is at a corner, that vertex is a contact already
(near_obstacles.py). Planes need vertices alone, and so does the inside of a container, which is convex. Fields of
distances are not: faces_near_fields.py.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pliant.contact.contact_set import FACE_THICKNESS, ContactSet, face_contacts, no_contacts
from pliant.contact.primitives.lowest_points import lowest, lowest_more_exactly, mix, nearest, values_at_corners
from pliant.contact.primitives.ridge_normals import outward_normal
from pliant.contact.primitives.shapes import direction_to_world, distance_and_normal, to_local
from pliant.contact.search.broad_phase import Surface
from pliant.contact.search.faces_near_fields import field_contacts_at
from pliant.contact.search.near_obstacles import contact_with
from pliant.elements.closest import row
from pliant.kernels.threads import Team, share
from pliant.lanes.compiled import cached, compiled, inlined
from pliant.lanes.vectors import add_scaled, dot, subtract
from pliant.model import ContactModel
from pliant.model.obstacles import BOX, CAPSULE, CYLINDER, MESH, SIZES, SPHERE

CONVEX = (SPHERE, BOX, CAPSULE, CYLINDER)
# of the size of a triangle or an edge: by so much a point between corners must be nearer than these; and in statics,
# where contacts are so stiff that the energy would jump where one appears
LOWER, LOWER_STATIC = 1e-3, 1e-6
SHALLOW_STATIC = 1e-2  # of it: what is no deeper at the end is taken as it is there, and not as it came in
# the least weight of each corner; in statics near corners too, as where a beam that bends rolls off its supports
BETWEEN, BETWEEN_STATIC = 1e-2, 1e-3
MAX_STEPS = 24  # of conservative advancement
HIT = 1e-6  # of the way: what comes nearer has hit


def edges_and_triangles(surface: Surface) -> np.ndarray:
    """(m, 3) int32 corners of all, the last -1 for edges."""
    edges = np.column_stack([surface.edges, np.full(len(surface.edges), -1, np.int32)])
    return np.concatenate([edges, surface.triangles]).astype(np.int32)


def faces_near_obstacles(team: Team, model: ContactModel, corners: np.ndarray, *way: Any) -> list[ContactSet]:
    """What `face_contacts_at` gives of each obstacle."""
    return [face_contacts_at(team, model, k, corners, *way) for k in range(len(model.shapes))]


def face_contacts_at(
    team: Team,
    model: ContactModel,
    number: int,
    corners: np.ndarray,
    x0: np.ndarray,
    x1: np.ndarray,
    time: float,
    h: float,
    reach: float,
    is_static: bool = False,
) -> ContactSet:
    """Edges and triangles of which an inner point is within `reach` [m] of an obstacle, by its number, at x1 (n, 3), or
    met it on the way from x0; corners as of `edges_and_triangles`; the obstacle moves as for `obstacle_contacts_at`.
    """
    shape = model.shapes[number]
    if shape.kind not in CONVEX and shape.kind != MESH:
        return no_contacts()
    start, end = shape.row(time), shape.row(time + h)
    if shape.kind == SPHERE and not is_static:
        about = (corners, x0, x1, model.radius, model.skips_obstacles)
        if cached(all_hug_sphere)(start, end, *about):
            return no_contacts()
    distances, is_near = np.empty(len(x1)), np.empty(len(corners), bool)
    team.run_for(6 * len(x1), cached(write_distances), shape.kind, end, x1, distances)
    near = (x1, distances, 2.0 * reach + 2.0 * float(model.radius.max(initial=0.0)), model.skips_obstacles)
    team.run_for(10 * len(corners), cached(mark_near), corners, *near, is_near)
    corners = corners[is_near]
    if shape.kind == MESH:
        return field_contacts_at(team, model, number, corners, distances, (start, end), x1, reach)
    k = len(corners)
    weights, is_contact = np.empty((k, 3)), np.empty(k, bool)
    points, motions, normals = np.empty((k, 3)), np.empty((k, 3)), np.empty((k, 3))
    parts = (LOWER_STATIC, SHALLOW_STATIC, BETWEEN_STATIC) if is_static else (LOWER, 0.0, BETWEEN)
    places = (x0, x1, reach, *parts, model.radius)
    found = (weights, points, motions, normals, is_contact)
    team.run_for(2e4 * k, cached(describe), shape.kind, start, end, _local(start), corners, *places, *found)
    corners, weights = corners[is_contact], weights[is_contact]
    where = (points[is_contact], motions[is_contact], normals[is_contact])
    return face_contacts(number, corners, weights, *where, FACE_THICKNESS * model.radius[corners[:, 0]])


def _local(numbers: np.ndarray) -> np.ndarray:
    """A shape's row of numbers in its own frame."""
    local = numbers.copy()
    local[:SIZES] = 0.0
    local[[3, 7, 11]] = 1.0
    return local


@compiled
def write_distances(thread, threads, barrier, kind, numbers, x, distances):
    first, last = share(0, len(x), thread, threads)
    for i in range(first, last):
        distances[i] = distance_and_normal(kind, numbers, row(x, i))[0]


@compiled
def mark_near(thread, threads, barrier, corners, x, distances, reach, excluded, is_near):
    """Edges and triangles that may come within reach: a distance falls by no more than the way to a corner."""
    first, last = share(0, len(corners), thread, threads)
    for k in range(first, last):
        a, b, c = corners[k, 0], corners[k, 1], corners[k, 2]
        is_near[k] = not (excluded[a] or excluded[b] or (c >= 0 and excluded[c]))
        if is_near[k]:
            least = 0.5 * (distances[a] + distances[b] - length_between(x, a, b))
            if c >= 0:
                longest = max(length_between(x, a, c), max(length_between(x, b, c), length_between(x, a, b)))
                least = max(distances[a], max(distances[b], distances[c])) - longest
            is_near[k] = least < reach


@inlined
def length_between(x, a, b):
    way = subtract(row(x, b), row(x, a))
    return math.sqrt(dot(way, way))


@compiled
def describe(
    thread, threads, barrier, kind, start, end, local, corners, x0, x1, reach, least, shallow, between, radius,
    weights, points, motions, normals, is_contact,
):  # fmt: skip
    """Weights of the point of each edge or triangle that meets the obstacle first, or is nearest where its corners will
    be held, or where they begin; in statics (shallow > 0), where they are.
    """
    first, last = share(0, len(corners), thread, threads)
    for k in range(first, last):
        is_face = corners[k, 2] >= 0
        a, b = corners[k, 0], corners[k, 1]
        c = corners[k, 2] if is_face else b
        before = (to_local(start, row(x0, a)), to_local(start, row(x0, b)), to_local(start, row(x0, c)))
        after = (to_local(end, row(x1, a)), to_local(end, row(x1, b)), to_local(end, row(x1, c)))
        if kind == SPHERE and hugs_sphere(local[SIZES], before, after, radius[a]):
            is_contact[k] = False
            continue
        held, is_exact = after, shallow > 0.0
        if not is_exact:
            held = (
                to_local(end, held_at(kind, start, end, row(x0, a), row(x1, a), reach, radius[a])),
                to_local(end, held_at(kind, start, end, row(x0, b), row(x1, b), reach, radius[b])),
                to_local(end, held_at(kind, start, end, row(x0, c), row(x1, c), reach, radius[c])),
            )
        longest = longest_way(before, after)
        is_contact[k] = not is_face or kind != BOX or sees_corner(local, before, held, longest)
        if not is_contact[k]:
            continue
        within = min(reach, 2.0 * longest) + radius[a]
        place, has_hit = at_impact(kind, local, before, after, longest, is_face)
        has_sunk = is_exact and not is_shallow(kind, local, after, is_face, shallow)
        if not has_hit or (is_exact and not has_sunk):
            place = held
        has_sunk = has_sunk and not has_hit and is_shallow(kind, local, before, is_face, shallow)
        is_contact[k], w, d, size = is_lower_between(kind, local, place, is_face, least, between, radius[a])
        for other in (held, before):
            if not is_exact and not (is_contact[k] and (has_hit or d <= within)):
                place, has_hit = other, False
                is_contact[k], w, d, size = is_lower_between(kind, local, place, is_face, least, between, radius[a])
        is_contact[k] = is_contact[k] and (has_hit or d <= within)
        if not is_contact[k]:
            continue
        if not is_face and is_exact:
            t = lowest_more_exactly(kind, local, place[0], place[1], w[1])[0]
            w = (1.0 - t, t, 0.0)
        if has_sunk:  # from where it touched: its deepest point is to go back to the face on which it was
            place = before
        p = mix(w, place)
        d, n = distance_and_normal(kind, local, p)
        n, d = outward_normal(kind, local, place, is_face, p, d, n, size)
        q = add_scaled(p, -d, n)
        now, then, n = direction_to_world(end, q), direction_to_world(start, q), direction_to_world(end, n)
        for axis in range(3):
            weights[k, axis] = w[axis]
            points[k, axis] = now[axis] + end[axis]
            motions[k, axis] = now[axis] + end[axis] - then[axis] - start[axis]
            normals[k, axis] = n[axis]


@compiled
def all_hug_sphere(start, end, corners, x0, x1, radius, excluded):
    """Whether `hugs_sphere` is true of all edges and triangles, as can be seen from the nearest vertex and the longest
    edge of all, at both ends of the way.
    """
    least2, far2, thin, thick = np.inf, 0.0, np.inf, 0.0
    for k in range(len(corners)):
        a, b = corners[k, 0], corners[k, 1]
        if corners[k, 2] >= 0:  # edges come first
            break
        if excluded[a] or excluded[b]:
            continue
        thin, thick = min(thin, min(radius[a], radius[b])), max(thick, max(radius[a], radius[b]))
        for p, q, centre in ((row(x0, a), row(x0, b), row3(start)), (row(x1, a), row(x1, b), row3(end))):
            from_one, from_other, side = subtract(p, centre), subtract(q, centre), subtract(q, p)
            least2 = min(least2, min(dot(from_one, from_one), dot(from_other, from_other)))
            far2 = max(far2, dot(side, side))
    least, size = math.sqrt(least2), end[SIZES]
    if not least < np.inf:
        return True
    far = math.sqrt(far2) + 2.0 * max(size + thick - least, 0.0)
    rest2 = least2 - far * far / 3.0
    return rest2 > 0.0 and least - math.sqrt(rest2) <= thin


@inlined
def row3(numbers):
    return (numbers[0], numbers[1], numbers[2])


@inlined
def hugs_sphere(size, before, after, radius):
    """Whether an edge or a triangle is so short for a sphere of radius `size` that vertices which keep their distance
    keep all of it outside, wherever it is on its way or held. For a point p between corners y_i no further from each
    other than s, of which the nearest is m from the centre, |p|^2 >= m^2 - s^2 / 3.
    """
    least2, far2 = size * size, 0.0
    for y in (before, after):
        least2 = min(least2, min(dot(y[0], y[0]), min(dot(y[1], y[1]), dot(y[2], y[2]))))
        sides = (subtract(y[1], y[0]), subtract(y[2], y[1]), subtract(y[0], y[2]))
        far2 = max(far2, max(dot(sides[0], sides[0]), max(dot(sides[1], sides[1]), dot(sides[2], sides[2]))))
    least, far = math.sqrt(least2), math.sqrt(far2)
    far += 2.0 * (size + radius - least)  # as far as two corners may be held apart
    rest2 = least * least - far * far / 3.0
    return rest2 > 0.0 and least - math.sqrt(rest2) <= radius


@inlined
def held_at(kind, start, end, p0, p1, reach, radius):
    """Where a vertex on its way from p0 to p1 would be held by its own contact."""
    is_near, q, n = contact_with(kind, start, end, p0, p1, reach, radius)
    return add_scaled(p1, max(radius - dot(subtract(p1, q), n), 0.0), n) if is_near else p1


@inlined
def is_shallow(kind, local, place, is_face, part):
    """Whether no point of an edge or a triangle is deeper than a part of its size."""
    return lowest(kind, local, place, is_face)[1] > -part * values_at_corners(kind, local, place)[2]


@compiled
def is_lower_between(kind, local, place, is_face, least, between, radius):
    """Whether an edge or a triangle is nearest between its corners, by so much that it does not keep outside what
    vertices do that keep their distance; weights and distance of its lowest point, and its size.
    """
    corner, bound, size = values_at_corners(kind, local, place)
    lower = corner - max(least * size, radius)
    if bound >= lower:
        return False, (0.0, 0.0, 0.0), bound, size
    w, d = lowest(kind, local, place, is_face)
    is_between = min(w[0], w[1]) > between and (not is_face or w[2] > between)
    return is_between and d < lower, w, d, size


@inlined
def longest_way(before, after):
    """Of three corners [m]."""
    ways = (subtract(after[0], before[0]), subtract(after[1], before[1]), subtract(after[2], before[2]))
    return math.sqrt(max(dot(ways[0], ways[0]), max(dot(ways[1], ways[1]), dot(ways[2], ways[2]))))


@inlined
def sees_corner(local, before, after, longest):
    """Whether a triangle has a corner of a box before it, at one end of its way: what else of a box it meets, its edges
    meet too.
    """
    a, b = subtract(after[1], after[0]), subtract(after[2], after[0])
    far = longest + math.sqrt(max(dot(a, a), dot(b, b)))
    for j in range(8):
        p = (
            local[SIZES] if j & 1 else -local[SIZES],
            local[SIZES + 1] if j & 2 else -local[SIZES + 1],
            local[SIZES + 2] if j & 4 else -local[SIZES + 2],
        )
        w, d = nearest(p, after, True)
        v, e = nearest(p, before, True)
        if (min(w[0], min(w[1], w[2])) > 0.0 and d < far) or (min(v[0], min(v[1], v[2])) > 0.0 and e < far):
            return True
    return False


@inlined
def at_impact(kind, local, before, after, longest, is_face):
    """Corners where an edge or a triangle that comes from outside first meets the shape, or where it ends; and whether
    it meets it.
    """
    ways = (subtract(after[0], before[0]), subtract(after[1], before[1]), subtract(after[2], before[2]))
    if longest == 0.0 or values_at_corners(kind, local, before)[1] >= longest:
        return after, False
    time, place = 0.0, before
    for step in range(MAX_STEPS):
        d = lowest(kind, local, place, is_face)[1]
        if d <= HIT * longest:
            return (place, True) if step > 0 else (after, False)
        time += d / longest
        if time >= 1.0:
            return after, False
        place = (
            add_scaled(before[0], time, ways[0]),
            add_scaled(before[1], time, ways[1]),
            add_scaled(before[2], time, ways[2]),
        )
    return place, True
