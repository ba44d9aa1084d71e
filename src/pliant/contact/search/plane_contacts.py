"""Contacts of two convex bodies with the plane between them: corners above faces, and edges that cross.

Both bodies are seen in a frame of the plane's normal and two directions along it, so that a corner is above a face, or
two edges cross, where their pictures in the plane do.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.contact.search.convex_bodies import ConvexBodies
from pliant.elements.closest import EDGE_EDGE, VERTEX_TRIANGLE
from pliant.lanes.compiled import inlined
from pliant.lanes.vectors import cross

RIM = 2e-3  # how far outside a triangle, in its weights, a corner still counts as above it
STEEP = 0.99  # cosine to the axis of faces that take part
UPRIGHT = 1e-4  # squared sine to the axis of edges that do not, and between edges that do not cross
ENDS = 1e-3  # of an edge: nearer to its ends its corners are the contact


class Room(NamedTuple):
    """Contacts that are found, in the order of the search, and scratch."""

    kind: np.ndarray  # (k,) int8
    vertices: np.ndarray  # (k, 4) int32
    weights: np.ndarray  # (k, 4)
    normals: np.ndarray  # (k, 3)
    flat: np.ndarray  # (m, 3) [m] corners of the pair: twice along the plane, and above it
    edges: np.ndarray  # (e, 7) of the second body: one end, the way to the other [m] and its square
    near: np.ndarray  # (e,) which they are
    upper: np.ndarray  # (t, 6) of faces of a body that look along the axis: one corner, two sides over the area
    numbers: np.ndarray  # (t,) which they are
    is_upper: np.ndarray  # (p,) bool: the same of planes


def room_for(convex: ConvexBodies, k: int) -> Room:
    """For k contacts."""
    found = (np.empty(k, np.int8), np.empty((k, 4), np.int32), np.empty((k, 4)), np.empty((k, 3)))
    m, e, t, p = (len(part) for part in (convex.vertices, convex.edges, convex.faces, convex.planes))
    scratch = (np.empty((m, 3)), np.empty((e, 7)), np.empty(e, np.int64), np.empty((t, 6)), np.empty(t, np.int64))
    return Room(*found, *scratch, np.zeros(p, bool))


@inlined
def add_contacts_of_pair(convex, x, a, b, n, margin, room, count):
    """Those of bodies a and b, with the axis n from b to a, at positions x (n, 3) [m]; how many there are then."""
    one, other = directions_along(n)
    lowest, _ = flatten(convex, x, a, one, other, n, room.flat)
    _, highest = flatten(convex, x, b, one, other, n, room.flat)
    if lowest - highest > 2 * margin:
        return count
    count = add_corners(convex, a, b, n, 1.0, highest, margin, room, count)
    count = add_corners(convex, b, a, n, -1.0, -lowest, margin, room, count)
    return add_edges(convex, a, b, n, lowest, highest, margin, room, count)


@inlined
def directions_along(n):
    """Two directions e, f of a plane: e, f and its normal n are a right-handed frame."""
    if abs(n[0]) < abs(n[1]):
        size = (n[1] * n[1] + n[2] * n[2]) ** 0.5
        one = (0.0, n[2] / size, -n[1] / size)
    else:
        size = (n[0] * n[0] + n[2] * n[2]) ** 0.5
        one = (-n[2] / size, 0.0, n[0] / size)
    return one, cross(n, one)


@inlined
def flatten(convex, x, body, one, other, n, flat):
    """Write the corners of a body to `flat`; how low and how high they are [m]."""
    lowest, highest = np.inf, -np.inf
    for k in range(convex.start[body], convex.start[body + 1]):
        v = convex.vertices[k]
        p0, p1, p2 = x[v, 0], x[v, 1], x[v, 2]
        height = p0 * n[0] + p1 * n[1] + p2 * n[2]
        flat[k, 0] = p0 * one[0] + p1 * one[1] + p2 * one[2]
        flat[k, 1] = p0 * other[0] + p1 * other[1] + p2 * other[2]
        flat[k, 2] = height
        lowest, highest = min(lowest, height), max(highest, height)
    return lowest, highest


@inlined
def list_faces(convex, body, sign, room):
    """Faces of a body that look along the axis, times a sign; how many there are."""
    flat, upper, count = room.flat, room.upper, 0
    for plane in range(convex.plane_start[body], convex.plane_start[body + 1]):
        rows = convex.plane_rows
        u0, u1, u2 = between(flat, rows[plane, 0], rows[plane, 1])
        w0, w1, w2 = between(flat, rows[plane, 0], rows[plane, 2])
        m0, m1, m2 = u1 * w2 - u2 * w1, u2 * w0 - u0 * w2, u0 * w1 - u1 * w0
        room.is_upper[plane] = sign * m2 > 0.0 and m2 * m2 >= STEEP * STEEP * (m0 * m0 + m1 * m1 + m2 * m2)
    for f in range(convex.face_start[body], convex.face_start[body + 1]):
        if room.is_upper[convex.face_plane[f]]:
            i, rows = convex.face_rows[f, 0], convex.face_rows
            (u0, u1, _), (w0, w1, _) = between(flat, i, rows[f, 1]), between(flat, i, rows[f, 2])
            over = 1.0 / (u0 * w1 - u1 * w0)
            room.numbers[count], upper[count, 0], upper[count, 1] = f, flat[i, 0], flat[i, 1]
            upper[count, 2], upper[count, 3] = u0 * over, u1 * over
            upper[count, 4], upper[count, 5] = w0 * over, w1 * over
            count += 1
    return count


@inlined
def between(flat, i, j):
    """The way from one corner to another [m]."""
    return flat[j, 0] - flat[i, 0], flat[j, 1] - flat[i, 1], flat[j, 2] - flat[i, 2]


@inlined
def add_corners(convex, a, b, n, sign, top, margin, room, count):
    """Corners of body a above faces of body b, along n times a sign; b reaches up to `top` [m]."""
    flat, upper, uppers = room.flat, room.upper, list_faces(convex, b, sign, room)
    for k in range(convex.start[a], convex.start[a + 1]):
        if sign * flat[k, 2] - top > margin:
            continue
        best, chosen, first, second = -RIM, np.int64(-1), 0.0, 0.0
        for place in range(uppers):
            r0, r1 = flat[k, 0] - upper[place, 0], flat[k, 1] - upper[place, 1]
            one = r0 * upper[place, 5] - r1 * upper[place, 4]
            two = r1 * upper[place, 2] - r0 * upper[place, 3]
            least = min(1.0 - one - two, min(one, two))
            if least > best:
                best, chosen, first, second = least, room.numbers[place], one, two
        if chosen >= 0:
            if count < len(room.kind):
                room.kind[count] = VERTEX_TRIANGLE
                room.vertices[count, 0], room.weights[count, 0] = convex.vertices[k], 1.0
                for i in range(3):
                    room.vertices[count, i + 1] = convex.faces[chosen, i]
                    room.normals[count, i] = sign * n[i]
                room.weights[count, 1] = first + second - 1.0
                room.weights[count, 2], room.weights[count, 3] = -first, -second
            count += 1
    return count


@inlined
def add_edges(convex, a, b, n, lowest, highest, margin, room, count):
    """Edges of both bodies near the plane that cross in its picture; a reaches down to `lowest` and b up to `highest`
    [m].
    """
    flat, nears = room.flat, list_edges(convex, b, highest - margin, room)
    for e in range(convex.edge_start[a], convex.edge_start[a + 1]):
        i, j = convex.edge_rows[e, 0], convex.edge_rows[e, 1]
        x0, y0, z0 = flat[i, 0], flat[i, 1], flat[i, 2]
        u0, u1, u2 = flat[j, 0] - x0, flat[j, 1] - y0, flat[j, 2] - z0
        level = u0 * u0 + u1 * u1
        square = level + u2 * u2
        if min(z0, z0 + u2) - lowest > margin or level < UPRIGHT * square:
            continue
        for place in range(nears):
            v0, v1 = room.edges[place, 3], room.edges[place, 4]
            area = u0 * v1 - u1 * v0
            if area * area < UPRIGHT * square * room.edges[place, 6]:
                continue
            r0, r1 = room.edges[place, 0] - x0, room.edges[place, 1] - y0
            s, t = r0 * v1 - r1 * v0, r0 * u1 - r1 * u0  # times the area
            half = abs(area) * (0.5 - ENDS)
            if max(abs(s - 0.5 * area), abs(t - 0.5 * area)) > half:
                continue
            s, t = s / area, t / area
            gap = z0 + s * u2 - room.edges[place, 2] - t * room.edges[place, 5]
            if gap > 2 * margin:
                continue
            if count < len(room.kind):
                f = room.near[place]
                room.kind[count] = EDGE_EDGE
                for k in range(2):
                    room.vertices[count, k], room.vertices[count, k + 2] = convex.edges[e, k], convex.edges[f, k]
                room.weights[count, 0], room.weights[count, 1] = 1.0 - s, s
                room.weights[count, 2], room.weights[count, 3] = t - 1.0, -t
                for k in range(3):
                    room.normals[count, k] = n[k]
            count += 1
    return count


@inlined
def list_edges(convex, b, least, room):
    """Edges of body b that reach up to `least` [m] and are not upright; how many there are."""
    flat, edges, nears = room.flat, room.edges, 0
    for f in range(convex.edge_start[b], convex.edge_start[b + 1]):
        i, j = convex.edge_rows[f, 0], convex.edge_rows[f, 1]
        v0, v1, v2 = flat[j, 0] - flat[i, 0], flat[j, 1] - flat[i, 1], flat[j, 2] - flat[i, 2]
        level = v0 * v0 + v1 * v1
        square = level + v2 * v2
        if max(flat[i, 2], flat[j, 2]) < least or level < UPRIGHT * square:
            continue
        edges[nears, 0], edges[nears, 1], edges[nears, 2] = flat[i, 0], flat[i, 1], flat[i, 2]
        edges[nears, 3], edges[nears, 4], edges[nears, 5], edges[nears, 6] = v0, v1, v2, square
        room.near[nears] = f
        nears += 1
    return nears
