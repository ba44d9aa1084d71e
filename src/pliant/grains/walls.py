"""Spheres near obstacles with formulas, at rest or moving, and on their way to them."""

from __future__ import annotations

import math

from pliant.contact.primitives.shapes import direction_to_world, distance_and_normal, material_displacement, to_local
from pliant.contact.response.friction import friction_between
from pliant.elements.closest import row
from pliant.grains.record import write_contact, write_rolling
from pliant.lanes.compiled import inlined
from pliant.lanes.vectors import add_scaled, dot, subtract
from pliant.model.obstacles import CONTAINER, FRICTION, SIZES

FACES = 8  # numbers that an obstacle's faces have among the sources of contacts; fewer than eight are used
STEPS, TOUCH = 100, 1e-6  # of advancement: at most so many; part of the way at which it has hit


@inlined
def walls_of(k, radius, x, x_end, grains, motion, obstacles, n_vertices, rows, at, writes):
    """Contacts of sphere k, of a radius, on its way from x to x_end, with obstacles; if `writes`, into rows from `at`
    on. How many there are.
    """
    found, reach = 0, radius + grains.tolerance
    far = 1.001 * (reach + abs(x_end[0] - x[0]) + abs(x_end[1] - x[1]) + abs(x_end[2] - x[2]))
    for m in range(len(obstacles.kinds)):
        start = to_local(obstacles.at_start[m], x)
        if obstacles.kinds[m] == CONTAINER and obstacles.is_still[m] and depth_inside(start, obstacles.local[m]) > far:
            continue
        end = to_local(obstacles.at_end[m], x_end)
        if obstacles.kinds[m] == CONTAINER:
            inside = min(depth_inside(start, obstacles.local[m]), depth_inside(end, obstacles.local[m]))
            for face in range(0 if inside > reach else 5):
                d, n = container_face(face, start, obstacles.local[m])
                d_end = d + dot(n, subtract(end, start))
                if min(d, d_end) <= reach:
                    source = n_vertices + FACES * m + face
                    if writes:
                        write_wall(k, grains, motion, obstacles, m, start, d, n, source, rows, at + found)
                    found += 1
        else:
            is_near, d, n = meeting(obstacles.kinds[m], obstacles.local[m], start, end, radius, grains.tolerance)
            if is_near:
                if writes:
                    write_wall(k, grains, motion, obstacles, m, start, d, n, n_vertices + FACES * m, rows, at + found)
                found += 1
    return found


@inlined
def depth_inside(p, local):
    """Distance [m] from the nearest face of a cavity, and from the height of its rim, of what is in it."""
    return min(min(local[SIZES] - abs(p[0]), local[SIZES + 1] - abs(p[1])), local[SIZES + 2] - abs(p[2]))


@inlined
def container_face(face, p, local):
    """Distance and normal of floor and walls of a cavity, and of their rims for what is above; a large distance where
    a face is out of sight.
    """
    a, b, c = local[SIZES], local[SIZES + 1], local[SIZES + 2]
    is_over_wall = abs(p[0]) > a or abs(p[1]) > b
    if face == 4:
        if is_over_wall:  # on top of the wall
            return p[2] - c, (0.0, 0.0, 1.0)
        return p[2] + c, (0.0, 0.0, 1.0)
    if is_over_wall:
        return 1e30, (0.0, 0.0, 1.0)
    sign = 1.0 if face % 2 == 0 else -1.0
    d = a - sign * p[0] if face < 2 else b - sign * p[1]
    n = (-sign, 0.0, 0.0) if face < 2 else (0.0, -sign, 0.0)
    above = p[2] - c
    if above <= 0.0:
        return d, n
    length = math.sqrt(d * d + above * above)
    return length, (n[0] * d / length, n[1] * d / length, above / length)


@inlined
def meeting(kind, local, start, end, radius, tolerance):
    """Whether a sphere touches a shape or would on its way, the shape's distance from the start along the normal of
    that place, and the normal, all in the shape's axes.
    """
    d, n = distance_and_normal(kind, local, start)
    if d <= radius + tolerance:
        return True, d, n
    way = subtract(end, start)
    length = math.sqrt(dot(way, way))
    if d - radius > length + tolerance:
        return False, d, n
    time = 0.0
    for _ in range(STEPS):
        place = add_scaled(start, time, way)
        d, n = distance_and_normal(kind, local, place)
        if d - radius <= max(TOUCH * length, 0.0):
            return True, d + dot(n, subtract(start, place)), n
        time += (d - radius) / length
        if time >= 1.0:
            place = end
            d, n = distance_and_normal(kind, local, place)
            return d - radius <= tolerance, d + dot(n, subtract(start, place)), n
    return True, d + dot(n, subtract(start, place)), n


@inlined
def write_wall(k, grains, motion, obstacles, m, start, d, n, source, rows, at):
    """The contact with a plane at the distance d along n from the start of the sphere."""
    normal = direction_to_world(obstacles.at_end[m], n)
    touch = add_scaled(start, -d, n)
    moved = direction_to_world(obstacles.at_end[m], touch)
    q = (moved[0] + obstacles.at_end[m, 0], moved[1] + obstacles.at_end[m, 1], moved[2] + obstacles.at_end[m, 2])
    way = material_displacement(obstacles.kinds[m], obstacles.at_start[m], obstacles.at_end[m], q)
    drift = (way[0] / motion.h, way[1] / motion.h, way[2] / motion.h)
    i = grains.vertices[k]
    s = subtract(row(motion.start, i), subtract(q, way))
    mu = friction_between(grains.friction[k], obstacles.at_end[m, FRICTION], grains.otherwise)
    size = grains.size[k]
    s = add_scaled(s, size - grains.radius[k], normal)  # so that the distance to be kept is not zero
    write_contact(rows, at, grains.numbers[k], (-1, -1, -1), source, drift, s, normal, size, size, mu)
    write_rolling(rows, at, grains.rolling[k], 1.0, 0.0)
