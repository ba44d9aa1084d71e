"""Compiled searches for contacts of round features, with an obstacle and with bodies (see contact.round_bodies)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pliant.contact.primitives.round_pairs import INNER, first_touch, mixed, point_and_triangle, scaled, segments
from pliant.contact.primitives.shapes import distance_and_normal, material_displacement
from pliant.contact.search.near_obstacles import contact_with
from pliant.elements.closest import closest_edge_edge, row
from pliant.lanes.compiled import compiled, inlined
from pliant.lanes.vectors import add_scaled, cross, dot, subtract
from pliant.model.rigid_shapes import CORE

MARGIN = 0.02  # of the radius: what is nearer may come to touch within a step, however slow it is
SEARCHES = 40  # thirds of a segment left out in the search for its point that is nearest to an obstacle


BOX, WAY, RADIUS = 8, 6, 7  # numbers of the box of a body, and places of the last two


class Parts(NamedTuple):
    """What bodies consist of, body after body, and where each begins (bodies + 1,)."""

    triangles: np.ndarray  # (t, 3)
    triangle_start: np.ndarray
    edges: np.ndarray  # (e, 2)
    edge_start: np.ndarray
    corners: np.ndarray  # (c,) of both
    corner_start: np.ndarray


class Found(NamedTuple):
    """Room for contacts of round features."""

    feature: np.ndarray  # (k,) the round feature
    other: np.ndarray  # (k,) the other one, -1 if the contact is with no round feature
    vertices: np.ndarray  # (k, 4) int32; the first names the feature's end
    weights: np.ndarray  # (k, 4) of the others
    places: np.ndarray  # (k, 3) on the feature's surface [m]
    opposite: np.ndarray  # (k, 3) on the other's [m]; of an obstacle, its closest point
    motions: np.ndarray  # (k, 3) of that point of an obstacle in the step [m]
    normals: np.ndarray  # (k, 3)
    gaps: np.ndarray  # (k,) [m]


@inlined
def carried_point(x, first, weights):
    """sum_i w_i x_i over four mass points."""
    p = (0.0, 0.0, 0.0)
    for i in range(4):
        p = add_scaled(p, weights[i], row(x, first + i))
    return p


@inlined
def write(found, k, feature, place, opposite, n, gap):
    """Contact k, if there is room; one more than k."""
    if k < len(found.gaps):
        found.feature[k], found.gaps[k] = feature, gap
        for axis in range(3):
            found.places[k, axis], found.opposite[k, axis] = place[axis], opposite[axis]
            found.normals[k, axis] = n[axis]
    return k + 1


@inlined
def write_mesh(found, k, feature, end, vertices, w, place, n, gap, features):
    """A contact with up to three vertices."""
    if k < len(found.gaps):
        found.vertices[k, 0], found.weights[k, 0] = features.masses[feature] + end, 1.0
        for i in range(3):
            found.vertices[k, i + 1], found.weights[k, i + 1] = vertices[i], w[i + 1]
    return write(found, k, feature, place, place, n, gap)


@compiled
def nearest_on_segment(kind, shape_row, a, b):
    """t in 0..1 at which a segment is nearest to an obstacle: the distance to what is convex is a convex function."""
    low, high = 0.0, 1.0
    for _ in range(SEARCHES):
        one, two = low + (high - low) / 3.0, high - (high - low) / 3.0
        if (
            distance_and_normal(kind, shape_row, mixed(a, b, one))[0]
            <= distance_and_normal(kind, shape_row, mixed(a, b, two))[0]
        ):
            high = two
        else:
            low = one
    return 0.5 * (low + high)


@compiled
def find_obstacle(features, kind, row_start, row_end, x0, x1, found):
    """Contacts of all round features with one obstacle; how many there are, also where there is no room."""
    k = 0
    for f in range(len(features.kind)):
        first, r = features.masses[f], features.radius[f]
        a0, b0 = carried_point(x0, first, features.ends[f, 0]), carried_point(x0, first, features.ends[f, 1])
        a1, b1 = carried_point(x1, first, features.ends[f, 0]), carried_point(x1, first, features.ends[f, 1])
        along = subtract(b1, a1)
        length = math.sqrt(dot(along, along))
        inner = nearest_on_segment(kind, row_end, a1, b1) if length > 0.0 else 0.0
        has_inner = 0.02 < inner < 0.98
        for place in range(3 if has_inner else 2):
            t = inner if place == 2 else float(place)
            if place == 1 and length == 0.0:
                continue
            c0, c1 = mixed(a0, b0, t), mixed(a1, b1, t)
            way = subtract(c1, c0)
            reach = math.sqrt(dot(way, way)) + MARGIN * r
            if features.kind[f] == CORE:
                is_near, q, n = contact_with(kind, row_start, row_end, c0, c1, reach, r)
                if is_near:
                    k = write_obstacle(found, k, f, add_scaled(c1, -r, n), q, n, kind, row_start, row_end)
            else:
                k = find_rim(found, k, f, features, kind, row_start, row_end, x0, x1, c1, along, place, reach)
    return k


@compiled
def find_rim(found, k, f, features, kind, row_start, row_end, x0, x1, centre, along, place, reach):
    """Contacts of four points of a circle around a cylinder's axis, of which one is the nearest; between the ends only
    that one.
    """
    r, length = features.radius[f], math.sqrt(dot(along, along))
    axis = scaled(1.0 / length, along)
    n = distance_and_normal(kind, row_end, centre)[1]
    down = add_scaled(scaled(-1.0, n), dot(n, axis), axis)
    size = math.sqrt(dot(down, down))
    if size < 1e-6:  # it stands upright: any four points do, the same in every step
        first = features.masses[f]
        arm = subtract(row(x1, first), row(x1, first + 1))
        down = add_scaled(arm, -dot(arm, axis), axis)
        size = math.sqrt(dot(down, down))
    down = scaled(1.0 / size, down)
    aside = cross(axis, down)
    for corner in range(1 if place == 2 else 4):
        out = down if corner % 2 == 0 else aside
        p1 = add_scaled(centre, r if corner < 2 else -r, out)
        p0 = where_it_was(features, f, p1, x0, x1)
        is_near, q, m = contact_with(kind, row_start, row_end, p0, p1, reach, 0.0)
        if is_near:
            k = write_obstacle(found, k, f, p1, q, m, kind, row_start, row_end)
    return k


@inlined
def where_it_was(features, f, p1, x0, x1):
    """Where the body had the point at x0 that it has at p1 at x1."""
    first = features.masses[f]
    centre = carried_point(x1, first, (0.25, 0.25, 0.25, 0.25))
    arm, p0 = subtract(p1, centre), carried_point(x0, first, (0.25, 0.25, 0.25, 0.25))
    for signs in ((1.0, 1.0, -1.0, -1.0), (1.0, -1.0, 1.0, -1.0), (1.0, -1.0, -1.0, 1.0)):
        w = (0.25 * signs[0], 0.25 * signs[1], 0.25 * signs[2], 0.25 * signs[3])
        now = carried_point(x1, first, w)
        p0 = add_scaled(p0, dot(arm, now) / dot(now, now), carried_point(x0, first, w))
    return p0


@inlined
def write_obstacle(found, k, f, place, q, n, kind, row_start, row_end):
    if k < len(found.gaps):
        motion = material_displacement(kind, row_start, row_end, q)
        for axis in range(3):
            found.motions[k, axis] = motion[axis]
    return write(found, k, f, place, q, n, dot(subtract(place, q), n))


@compiled
def find_pairs(features, parts, allowed, radius, x0, x1, boxes, found):
    """Contacts of all cores with triangles and edges of bodies, and with each other; boxes (bodies, BOX): room."""
    k = 0
    triangles, triangle_start, edges, edge_start = parts.triangles, parts.triangle_start, parts.edges, parts.edge_start
    write_boxes(parts, radius, x0, x1, boxes)
    for f in range(len(features.kind)):
        if features.kind[f] != CORE:
            continue
        ends0 = ends_of(features, f, x0)
        ends1 = ends_of(features, f, x1)
        own = features.body[f]
        for b in range(len(allowed)):
            if b == own or not allowed[own, b] or is_far(boxes, b, features.radius[f], ends0, ends1):
                continue
            own_triangles = triangles[triangle_start[b] : triangle_start[b + 1]]
            is_rope = len(own_triangles) == 0
            part = way_before_passing(own_triangles, features.radius[f], ends0, ends1, x0, x1)
            farthest = nearest_distance(own_triangles, features.radius[f], ends0, ends1, part, x0, x1)
            for t in range(len(own_triangles)):
                k = touch_triangle(
                    found, k, f, features, own_triangles[t], radius, ends0, ends1, part, farthest, x0, x1
                )
            if is_rope or ends1[0] != ends1[1]:
                for e in range(edge_start[b], edge_start[b + 1]):
                    k = touch_edge(found, k, f, features, edges[e], is_rope, radius, ends0, ends1, part, x0, x1)
        for g in range(f + 1, len(features.kind)):
            if features.kind[g] == CORE and features.body[g] != own and allowed[own, features.body[g]]:
                others = ends_of(features, g, x0), ends_of(features, g, x1)
                k = touch_round(found, k, f, g, features, ends0, ends1, others[0], others[1])
    return k


@compiled
def write_boxes(parts, radius, x0, x1, boxes):
    """Where corners of each body are from x0 to x1 (n, 3) [m]: low, high, the longest way and the largest radius."""
    for b in range(len(boxes)):
        for axis in range(3):
            boxes[b, axis], boxes[b, 3 + axis] = np.inf, -np.inf
        longest, thickest = 0.0, 0.0
        for k in range(parts.corner_start[b], parts.corner_start[b + 1]):
            v = np.uint64(parts.corners[k])
            way = 0.0
            for axis in range(3):
                p, q = x0[v, axis], x1[v, axis]
                boxes[b, axis] = min(boxes[b, axis], min(p, q))
                boxes[b, 3 + axis] = max(boxes[b, 3 + axis], max(p, q))
                way += (q - p) * (q - p)
            longest, thickest = max(longest, way), max(thickest, radius[v])
        boxes[b, WAY], boxes[b, RADIUS] = math.sqrt(longest), thickest


@inlined
def is_far(boxes, b, r, ends0, ends1):
    """Whether a core of radius r is too far from a body to touch any of it in the step."""
    way, other = subtract(ends1[0], ends0[0]), subtract(ends1[1], ends0[1])
    way = math.sqrt(max(dot(way, way), dot(other, other)))
    distance = (1.0 + MARGIN) * r + boxes[b, RADIUS] + way + boxes[b, WAY]
    for axis in range(3):
        low = min(min(ends0[0][axis], ends0[1][axis]), min(ends1[0][axis], ends1[1][axis]))
        high = max(max(ends0[0][axis], ends0[1][axis]), max(ends1[0][axis], ends1[1][axis]))
        if boxes[b, axis] > high + distance or boxes[b, 3 + axis] < low - distance:
            return True
    return False


@inlined
def ends_of(features, f, x):
    first = features.masses[f]
    return (carried_point(x, first, features.ends[f, 0]), carried_point(x, first, features.ends[f, 1]))


@inlined
def longest_way(y0, y1):
    """The sum [m] of the ways of the first of four points and of the farthest going of the others."""
    way, most = subtract(y1[0], y0[0]), 0.0
    for i in range(1, 4):
        other = subtract(y1[i], y0[i])
        most = max(most, dot(other, other))
    return math.sqrt(dot(way, way)) + math.sqrt(most)


@inlined
def are_apart(ends0, ends1, y0, y1, first, distance):
    """Whether the boxes around all ways keep a distance, for the ends of a core and points y from `first` on."""
    for axis in range(3):
        low = min(min(ends0[0][axis], ends0[1][axis]), min(ends1[0][axis], ends1[1][axis]))
        high = max(max(ends0[0][axis], ends0[1][axis]), max(ends1[0][axis], ends1[1][axis]))
        least, most = y1[3][axis], y1[3][axis]
        for i in range(first, 4):
            least = min(least, min(y0[i][axis], y1[i][axis]))
            most = max(most, max(y0[i][axis], y1[i][axis]))
        if least > high + distance or most < low - distance:
            return True
    return False


@inlined
def four(first, second, x, corners):
    """A core's points and the last corners of an element: four points."""
    if len(corners) == 3:
        return (first, row(x, corners[0]), row(x, corners[1]), row(x, corners[2]))
    return (first, second, row(x, corners[0]), row(x, corners[1]))


@inlined
def on_the_way(y0, y1, t):
    return (mixed(y0[0], y1[0], t), mixed(y0[1], y1[1], t), mixed(y0[2], y1[2], t), mixed(y0[3], y1[3], t))


@compiled
def way_before_passing(triangles, radius, ends0, ends1, x0, x1):
    """The part of the way from x0 to x1 after which a core would pass through a body: what it meets is found there."""
    part = 1.0
    for t in range(len(triangles)):
        y0, y1 = four(ends0[0], ends0[0], x0, triangles[t]), four(ends1[0], ends1[0], x1, triangles[t])
        if not are_apart(ends0, ends1, y0, y1, 1, 0.0):
            for end in range(2):
                ways = (ends0[end], y0[1], y0[2], y0[3]), (ends1[end], y1[1], y1[2], y1[3])
                part = min(part, first_touch(ways[0], ways[1], radius))
    return part


@compiled
def nearest_distance(triangles, radius, ends0, ends1, part, x0, x1):
    """How far [m] triangles may be that count: any, but of what a core would pass through only the nearest; planes of
    its neighbours would lie across the way.
    """
    if part == 1.0:
        return np.inf
    least = np.inf
    for t in range(len(triangles)):
        y0, y1 = four(ends0[0], ends0[0], x0, triangles[t]), four(ends1[0], ends1[0], x1, triangles[t])
        for end in range(2):
            ways = (ends0[end], y0[1], y0[2], y0[3]), (ends1[end], y1[1], y1[2], y1[3])
            least = min(least, point_and_triangle(on_the_way(ways[0], ways[1], part))[2])
    return least + 1e-6 * radius


@compiled
def touch_triangle(found, k, f, features, corners, radius, ends0, ends1, part, farthest, x0, x1):
    """Contacts of the ends with a triangle that is no farther than `farthest` [m]."""
    y0, y1 = four(ends0[0], ends0[0], x0, corners), four(ends1[0], ends1[0], x1, corners)
    keeps = features.radius[f] + radius[corners[1]]
    reach = longest_way(y0, y1) + MARGIN * features.radius[f]
    if are_apart(ends0, ends1, y0, y1, 1, keeps + reach):
        return k
    for end in range(1 if ends1[0] == ends1[1] else 2):
        ways = (ends0[end], y0[1], y0[2], y0[3]), (ends1[end], y1[1], y1[2], y1[3])
        w, n, distance = point_and_triangle(on_the_way(ways[0], ways[1], part))
        if distance - keeps <= reach and distance <= farthest:
            place = add_scaled(ends1[end], -features.radius[f], n)
            vertices = (corners[0], corners[1], corners[2])
            k = write_mesh(found, k, f, end, vertices, w, place, n, distance - keeps, features)
    return k


@compiled
def touch_edge(found, k, f, features, corners, is_rope, radius, ends0, ends1, part, x0, x1):
    """Between the ends of the core; what is nearest to an end, triangles see, if there are any."""
    y0, y1 = four(ends0[0], ends0[1], x0, corners), four(ends1[0], ends1[1], x1, corners)
    keeps = features.radius[f] + radius[corners[1]]
    reach = longest_way(y0, y1) + MARGIN * features.radius[f]
    if are_apart(ends0, ends1, y0, y1, 2, keeps + reach):
        return k
    y1 = on_the_way(y0, y1, part)
    w = closest_edge_edge(y1)
    if not is_rope and (w[0] < INNER or w[1] < INNER):
        return k
    n, distance = segments(w, y0, y1)
    if distance - keeps <= reach:
        place = add_scaled(mixed(ends1[0], ends1[1], w[1]), -features.radius[f], n)
        vertices = (corners[0], corners[1], corners[1])
        k = write_mesh(found, k, f, 2, vertices, (1.0, w[2], w[3], 0.0), place, n, distance - keeps, features)
    return k


@compiled
def touch_round(found, k, f, g, features, ends0, ends1, others0, others1):
    y0, y1 = (ends0[0], ends0[1], others0[0], others0[1]), (ends1[0], ends1[1], others1[0], others1[1])
    r, s = features.radius[f], features.radius[g]
    reach = longest_way(y0, y1) + MARGIN * min(r, s)
    if are_apart(ends0, ends1, y0, y1, 2, r + s + reach):
        return k
    w = closest_edge_edge(y1)
    k = write_round(found, k, f, g, w, y0, y1, r, s, reach)
    if ends1[0] == ends1[1] or others1[0] == others1[1]:
        return k
    for end in range(4):  # two segments that lie along each other touch at two points
        if end < 2:
            own = (1.0 - end, float(end))
            t = along_segment(y1[end], y1[2], y1[3])
            v = (own[0], own[1], t - 1.0, -t)
        else:
            t = along_segment(y1[end], y1[0], y1[1])
            v = (1.0 - t, t, float(end) - 3.0, 2.0 - float(end))
        is_other = abs(v[1] - w[1]) + abs(v[3] - w[3]) > 1e-3
        if is_other and 0.0 < t < 1.0:
            k = write_round(found, k, f, g, v, y0, y1, r, s, reach)
    return k


@inlined
def along_segment(p, a, b):
    e = subtract(b, a)
    return min(max(dot(subtract(p, a), e) / dot(e, e), 0.0), 1.0)


@compiled
def write_round(found, k, f, g, w, y0, y1, r, s, reach):
    n, distance = segments(w, y0, y1)
    if distance - r - s > reach:
        return k
    place = add_scaled(mixed(y1[0], y1[1], w[1]), -r, n)
    opposite = add_scaled(mixed(y1[2], y1[3], -w[3]), s, n)
    if k < len(found.gaps):
        found.other[k] = g
    return write(found, k, f, place, opposite, n, distance - r - s)
