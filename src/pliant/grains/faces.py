"""Spheres near triangles, still or moving, and on their way to them: cells with the triangles that pass through."""

from __future__ import annotations

import math

import numpy as np

from pliant.contact.response.friction import friction_between
from pliant.elements.closest import closest_vertex_triangle, combine, row
from pliant.grains.record import bucket_of, write_contact, write_rolling
from pliant.lanes.compiled import compiled, inlined
from pliant.lanes.entry import entry
from pliant.lanes.vectors import add_scaled, dot, subtract

STEPS = 64  # of advancement, at most: then it counts as hit
TOUCH = 1e-4  # of the distance to be kept: nearer than that it has hit


@entry(nogil=True, error_model="numpy")
def place_triangles(faces, motion, counts_only):
    """Write cells of triangles and, unless `counts_only`, the buckets; how many entries they have."""
    mask, total = len(faces.starts) - 2, 0
    faces.starts[:] = 0
    for t in range(len(faces.vertices)):
        span = 1
        for axis in range(3):
            low, high = np.inf, -np.inf
            for corner in range(3):
                vertex = faces.vertices[t, corner]
                low = min(low, motion.start[vertex, axis], motion.end[vertex, axis])
                high = max(high, motion.start[vertex, axis], motion.end[vertex, axis])
            faces.lower[t, axis] = np.int64(math.floor(low / faces.size))
            faces.upper[t, axis] = np.int64(math.floor(high / faces.size))
            span *= faces.upper[t, axis] - faces.lower[t, axis] + 1
        total += span
    if counts_only:
        return total
    for step in range(2):
        for t in range(len(faces.vertices)):
            for x in range(faces.lower[t, 0], faces.upper[t, 0] + 1):
                for y in range(faces.lower[t, 1], faces.upper[t, 1] + 1):
                    for z in range(faces.lower[t, 2], faces.upper[t, 2] + 1):
                        b = bucket_of(x, y, z, mask)
                        if step == 0:
                            faces.starts[b + 1] += 1
                        else:
                            faces.entries[faces.starts[b]] = t
                            faces.starts[b] += 1
        if step == 0:
            for b in range(mask + 1):
                faces.starts[b + 1] += faces.starts[b]
    for b in range(mask, -1, -1):
        faces.starts[b + 1] = faces.starts[b]
    faces.starts[0] = 0
    return total


@inlined
def faces_of(k, grains, motion, faces, first_source, rows, at, writes):
    """Contacts of sphere k with triangles; if `writes`, into rows from `at` on. How many there are."""
    found, i = 0, grains.vertices[k]
    if len(faces.vertices) == 0 or grains.is_excluded[k]:
        return 0
    mask, size = len(faces.starts) - 2, faces.size
    p0, p1 = row(motion.start, i), row(motion.end, i)
    reach = grains.radius[k] + grains.tolerance + faces.thickest
    low = (cell_of(min(p0[0], p1[0]) - reach, size), cell_of(min(p0[1], p1[1]) - reach, size),
           cell_of(min(p0[2], p1[2]) - reach, size))  # fmt: skip
    high = (cell_of(max(p0[0], p1[0]) + reach, size), cell_of(max(p0[1], p1[1]) + reach, size),
            cell_of(max(p0[2], p1[2]) + reach, size))  # fmt: skip
    for x in range(low[0], high[0] + 1):
        for y in range(low[1], high[1] + 1):
            for z in range(low[2], high[2] + 1):
                b = bucket_of(x, y, z, mask)
                for place in range(faces.starts[b], faces.starts[b + 1]):
                    t = faces.entries[place]
                    # a triangle that several cells show is looked at in the first of them
                    if (
                        x == max(low[0], faces.lower[t, 0])
                        and y == max(low[1], faces.lower[t, 1])
                        and z == max(low[2], faces.lower[t, 2])
                        and x <= faces.upper[t, 0]
                        and y <= faces.upper[t, 1]
                        and z <= faces.upper[t, 2]
                        and first_of_bucket(faces, b, place, t)
                    ):
                        found += face(k, t, grains, motion, faces, first_source, rows, at + found, writes)
    return found


@inlined
def cell_of(value, size):
    return np.int64(math.floor(value / size))


@inlined
def first_of_bucket(faces, b, place, t):
    """Whether a triangle has no earlier entry in a bucket: two of its cells may share it."""
    earlier = faces.starts[b]
    while faces.entries[earlier] != t:
        earlier += 1
    return earlier == place


@compiled
def face(k, t, grains, motion, faces, first_source, rows, at, writes):
    """1 if a sphere touches a triangle or would within the step, else 0."""
    i = grains.vertices[k]
    a, b, c = faces.vertices[t, 0], faces.vertices[t, 1], faces.vertices[t, 2]
    if grains.body[k] == faces.body[t] or not grains.allowed[grains.body[k], faces.body[t]]:
        return 0
    w = motion.inverse_mass
    if w[i] + w[a] + w[b] + w[c] == 0.0:
        return 0
    keep = grains.radius[k] + faces.thickness[t]
    if keep == 0.0:  # a point without radius has no side of a surface without thickness
        return 0
    y0 = (row(motion.start, i), row(motion.start, a), row(motion.start, b), row(motion.start, c))
    y1 = (row(motion.end, i), row(motion.end, a), row(motion.end, b), row(motion.end, c))
    is_hit, weights, n, time = meeting_of(y0, y1, keep, grains.tolerance)
    if not is_hit:  # one side may be stopped by something else
        is_hit, weights, n, time = meeting_of(y0, (y1[0], y0[1], y0[2], y0[3]), keep, grains.tolerance)
    if not is_hit:
        is_hit, weights, n, time = meeting_of(y0, (y0[0], y1[1], y1[2], y1[3]), keep, grains.tolerance)
    if not is_hit:
        return 0
    if writes:
        s = combine(weights, y0)
        mu = friction_between(grains.friction[k], faces.friction[t], grains.otherwise)
        opposite = (-weights[1], -weights[2], -weights[3])
        source = first_source + t
        extra, size = grains.size[k] - grains.radius[k], grains.size[k]
        s = add_scaled(s, extra, n)
        write_contact(rows, at, grains.numbers[k], (a, b, c), source, opposite, s, n, keep + extra, size, mu)
        write_rolling(rows, at, grains.rolling[k], 1.0, 0.0)
        rows.bias[at] = time  # until the step is posed
    return 1


@compiled
def meeting_of(y0, y1, keep, tolerance):
    """Whether point and triangle, moving from y0 to y1, come within `keep`, or begin within `keep` + `tolerance`; the
    weights of the closest point there, the unit vector from it to the point, and the part of the way.
    """
    way, fastest = subtract(y1[0], y0[0]), 0.0
    for corner in range(1, 4):
        other = subtract(way, subtract(y1[corner], y0[corner]))
        fastest = max(fastest, dot(other, other))
    fastest = math.sqrt(fastest)
    time = 0.0
    y, weights, s = y0, (1.0, -1.0, 0.0, 0.0), (0.0, 0.0, 1.0)
    for step in range(STEPS):
        y = (between(y0[0], y1[0], time), between(y0[1], y1[1], time), between(y0[2], y1[2], time),
             between(y0[3], y1[3], time))  # fmt: skip
        weights = closest_vertex_triangle(y)
        s = combine(weights, y)
        distance = math.sqrt(dot(s, s))
        if distance <= keep + (tolerance if step == 0 else TOUCH * keep):
            break
        if distance - keep > (1.0 - time) * fastest:
            return False, weights, s, time
        time += (distance - keep) / fastest
    length = math.sqrt(dot(s, s))
    if length == 0.0:
        return True, weights, (0.0, 0.0, 1.0), time
    return True, weights, (s[0] / length, s[1] / length, s[2] / length), time


@inlined
def between(p, q, time):
    return add_scaled(p, time, subtract(q, p))
