"""Spheres on their way through a sheet at the end of a step: stopped, as by an inelastic impact.

Penalties that are too soft for an impact, or iterations that end early, may let a sphere come out behind a sheet, which
has no inside to be pushed out of. So the way of the step is searched for spheres whose centres come nearer to a
triangle than a third of the distance to be kept; these are moved back, and the triangle ahead, by their inverse masses
along the normal of the place where they met. Momentum stays; what is left of the approach is lost.
"""

from __future__ import annotations

import math

import numpy as np

from pliant.constraints.rows import empty_rows
from pliant.elements.closest import row
from pliant.grains.detection import GrainDetector
from pliant.grains.faces import between
from pliant.grains.record import Motion
from pliant.grains.touching import Triangles, no_points
from pliant.kernels.threads import Team
from pliant.lanes.compiled import inlined
from pliant.lanes.entry import entry
from pliant.lanes.vectors import cross, dot, subtract
from pliant.model import FREE, Model

PART = 1 / 3  # of the distance to be kept: nearer is on the way through
ROUNDS, PASSES = 40, 20  # searches in a step, and passes over what each finds, at most
MORE = 0.05  # of the distance to be kept: by how much farther than needed a correction goes, so that they end
RIM = 0.2  # cosine to the normal of a triangle of what meets it at its rim


class Passages:
    """Looks for spheres that pass sheets."""

    def __init__(self, model: Model, team: Team):
        assert model.contact is not None
        assert model.particles is not None
        contact = model.contact
        corners = contact.triangles[(contact.radius[contact.triangles] > 0).all(axis=1)].astype(np.int32)
        corners = corners[~contact.excluded[corners].any(axis=1)]
        self._vertices = np.unique(corners)
        self._spheres, self._least = model.particles.vertices, float(model.particles.radius.min())
        sheets = Triangles(corners, PART * contact.radius[corners[:, 0]])
        self._search = GrainDetector(model, 0.0, team, no_points(), sheets, PART)
        self._inverse_mass = np.where(model.subspace == FREE, 1 / np.where(model.mass > 0, model.mass, np.inf), 0.0)
        self._rows = empty_rows(64, np.float64)

    def may_pass(self, x0: np.ndarray, x1: np.ndarray, deepest: float) -> bool:
        """Whether anything may have come that near on the way from x0 to x1 (n, 3) [m]: contacts with sheets are as
        deep as `deepest`, a part of the distance to be kept, or who was farther away than a contact has moved so far.
        """
        if not len(self._vertices):
            return False
        way = sum(float(np.abs(x1[own] - x0[own]).max(initial=0.0)) for own in (self._spheres, self._vertices))
        return deepest > 1 - PART or way > self._least

    def stop(self, x0: np.ndarray, x1: np.ndarray, time: float, h: float) -> int:
        """Change x1 (n, 3) [m] in place until none passes; how many corrections it took."""
        pushes = 0
        for _ in range(ROUNDS):
            motion = Motion(x0, x1, self._inverse_mass, h)
            self._rows, count = self._search.detect(motion, time, self._rows, 0)
            pushed = push_back(self._rows, count, self._inverse_mass, x0, x1, PASSES)
            pushes += pushed
            if not pushed:
                break
        return pushes


@entry(nogil=True, error_model="numpy")
def push_back(rows, count, inverse_mass, x0, x, passes):
    """Move spheres and triangles at x (n, 3), who came there from x0, apart, one contact after another; how often.

    Each sphere stays before the plane of the place where it met the triangle; and where it is above the triangle at the
    end, which may have turned since, on the side from which it came.
    """
    for i in range(count):
        if rows.vertices[i, 2] >= 0:
            rows.bias[i] = side_of(rows, i, x0, x, rows.bias[i])
    pushes = 0
    for _ in range(passes):
        before = pushes
        for i in range(count):
            if rows.vertices[i, 2] < 0:  # another sphere or an obstacle
                continue
            pushes += push_along(rows, i, row(rows.normal, i), row(rows.weights, i), inverse_mass, x)
            area = area_vector(rows, i, x)
            size = rows.bias[i] * math.sqrt(dot(area, area))
            weights, is_above = weights_above(rows, i, x, area)
            if is_above and size != 0.0:
                n = (area[0] / size, area[1] / size, area[2] / size)
                pushes += push_along(rows, i, n, weights, inverse_mass, x)
        if pushes == before:
            break
    return pushes


@inlined
def area_vector(rows, i, x):
    v = rows.vertices[i]
    a = row(x, v[1])
    return cross(subtract(row(x, v[2]), a), subtract(row(x, v[3]), a))


@inlined
def side_of(rows, i, x0, x, time):
    """1 or -1: from which side of the triangle the sphere met it at a part `time` of the way; 0 at its rim."""
    v = rows.vertices[i]
    a, b, c = (between(row(x0, v[1]), row(x, v[1]), time), between(row(x0, v[2]), row(x, v[2]), time),
               between(row(x0, v[3]), row(x, v[3]), time))  # fmt: skip
    area = cross(subtract(b, a), subtract(c, a))
    along, size = dot(area, row(rows.normal, i)), math.sqrt(dot(area, area))
    if abs(along) < RIM * size:
        return 0.0
    return 1.0 if along > 0.0 else -1.0


@inlined
def weights_above(rows, i, x, area):
    """Of the point of a triangle's plane below the sphere, and whether it is in the triangle."""
    v = rows.vertices[i]
    a = row(x, v[1])
    u, w, r = subtract(row(x, v[2]), a), subtract(row(x, v[3]), a), subtract(row(x, v[0]), a)
    square = dot(area, area)
    if square == 0.0:
        return (1.0, 0.0, 0.0), False
    one, two = dot(cross(r, w), area) / square, dot(cross(u, r), area) / square
    return (1.0 - one - two, one, two), min(min(one, two), 1.0 - one - two) >= 0.0


@inlined
def push_along(rows, i, n, weights, inverse_mass, x):
    """1 if a sphere and a point of a triangle had to be moved apart along n, else 0."""
    v = rows.vertices[i]
    value, d = -rows.rest[i], inverse_mass[v[0]]
    for axis in range(3):
        opposite = 0.0
        for k in range(3):
            opposite += weights[k] * x[v[k + 1], axis]
        value += n[axis] * (x[v[0], axis] - opposite)
    for k in range(3):
        d += weights[k] ** 2 * inverse_mass[v[k + 1]]
    if value >= 0.0 or d == 0.0:
        return 0
    for axis in range(3):
        push = (MORE * rows.rest[i] - value) / d * n[axis]
        x[v[0], axis] += inverse_mass[v[0]] * push
        for k in range(3):
            x[v[k + 1], axis] -= weights[k] * inverse_mass[v[k + 1]] * push
    return 1
