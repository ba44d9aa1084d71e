"""Contacts of convex rigid bodies with each other and with obstacles with formulas, where these are all, as one set."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.contact.contact_set import write_unanswered
from pliant.contact.primitives.shapes import distance_and_normal, material_displacement
from pliant.contact.search.convex_pairs import Bounds, PlaneSearch
from pliant.contact.search.near_obstacles import contact_with
from pliant.elements.closest import VERTEX_OBSTACLE, row
from pliant.lanes.compiled import cached, compiled, inlined
from pliant.lanes.vectors import dot, subtract
from pliant.model import ContactModel


class NearRoom(NamedTuple):
    """Vertices near obstacles, one obstacle after another and body after body."""

    obstacles: np.ndarray  # (m,)
    vertices: np.ndarray  # (m,)
    points: np.ndarray  # (m, 3) [m] of the obstacle
    motions: np.ndarray  # (m, 3) [m] of these in the step
    normals: np.ndarray  # (m, 3)


def room_near(m: int) -> NearRoom:
    """For m vertices."""
    three = (m, 3)
    return NearRoom(np.empty(m, np.int64), np.empty(m, np.int64), np.empty(three), np.empty(three), np.empty(three))


class RigidSearch:
    """Finds them. Its arrays serve again in the next search, which writes over what it has found."""

    def __init__(self, planes: PlaneSearch, model: ContactModel):
        self.planes, self.model, self.near = planes, model, room_near(0)

    def find(
        self, x0: np.ndarray, x1: np.ndarray, time: float, h: float, reach: float, bounds: Bounds
    ) -> tuple[int, int]:
        """How many contacts between bodies and with obstacles a step of h [s] from x0 to the guess x1 (n, 3) [m] has:
        the first in `planes.room` and in `near`; bounds of this step. Obstacles as of near_obstacles.near_obstacle.
        """
        model, count, k = self.model, 0, 0
        while k < len(model.shapes):
            shape = model.shapes[k]
            rows = (shape.kind, shape.row(time), shape.row(time + h))
            way = (x0, x1, reach, model.radius, model.skips_obstacles)
            more = cached(find_near)(self.planes.convex, bounds, *rows, *way, k, count, self.near)
            if more > len(self.near.vertices):
                self.near, count, k = room_near(2 * more), 0, 0
            else:
                count, k = more, k + 1
        return self.planes.find(x0, x1, bounds, model.allowed)[0], count


@compiled
def find_near(convex, bounds, kind, row_start, row_end, x0, x1, reach, radius, excluded, number, count, near):
    """Write the vertices of convex bodies that may touch an obstacle, after as many as there are; how many there are
    then. Bodies whose boxes around their ways are far from it are passed over.
    """
    for i in range(len(bounds.own)):
        b = bounds.own[i]
        first, last = convex.start[b], convex.start[b + 1]
        half = subtract(row(bounds.high, i), row(bounds.low, i))
        half = (0.5 * half[0], 0.5 * half[1], 0.5 * half[2])
        low, size = row(bounds.low, i), dot(half, half) ** 0.5
        middle = (low[0] + half[0], low[1] + half[1], low[2] + half[2])
        thickness = largest(convex.vertices, first, last, radius)
        if distance_and_normal(kind, row_end, middle)[0] > size + max(2.0 * size, reach + thickness):
            continue
        for k in range(first, last):
            v = convex.vertices[k]
            if excluded[v]:
                continue
            is_near, q, n = contact_with(kind, row_start, row_end, row(x0, v), row(x1, v), reach, radius[v])
            if is_near and count < len(near.vertices):
                near.obstacles[count], near.vertices[count] = number, v
                motion = material_displacement(kind, row_start, row_end, q)
                for axis in range(3):
                    near.points[count, axis], near.motions[count, axis] = q[axis], motion[axis]
                    near.normals[count, axis] = n[axis]
            count += is_near
    return count


@inlined
def largest(vertices, first, last, values):
    most = 0.0
    for k in range(first, last):
        most = max(most, values[vertices[k]])
    return most


@inlined
def write_plane(c, found, radius, clearance, contacts):
    """Contact c between two bodies; found: kinds, vertices, weights and normals."""
    kind, vertices, weights, normals = found
    a, b = vertices[c, 0], vertices[c, 2]
    write_unanswered(c, kind[c], -1, (radius[a] + clearance[a]) + (radius[b] + clearance[b]), contacts)
    for i in range(4):
        contacts.vertices[c, i], contacts.weights[c, i] = vertices[c, i], weights[c, i]
    for axis in range(3):
        contacts.normals[c, axis], contacts.points[c, axis], contacts.motions[c, axis] = normals[c, axis], 0.0, 0.0


@inlined
def write_near(c, k, near, radius, contacts):
    """Contact c with an obstacle, the k-th of a NearRoom."""
    v = near.vertices[k]
    write_unanswered(c, VERTEX_OBSTACLE, near.obstacles[k], radius[v], contacts)
    for i in range(4):
        contacts.vertices[c, i], contacts.weights[c, i] = v if i == 0 else -1, 1.0 if i == 0 else 0.0
    for axis in range(3):
        contacts.points[c, axis], contacts.motions[c, axis] = near.points[k, axis], near.motions[k, axis]
        contacts.normals[c, axis] = near.normals[k, axis]
