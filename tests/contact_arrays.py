"""Primitives of contact for arrays of pairs, as tests ask for them; imported by test modules."""

import math

import numpy as np

from pliant.contact.primitives import shapes, time_of_impact
from pliant.contact.search.broad_phase import Rules
from pliant.elements.closest import closest, combine, row
from pliant.lanes.compiled import cached, compiled
from pliant.lanes.vectors import dot


@compiled
def closest_of_all(kind, points, weights, distances):
    for i in range(len(points)):
        y = (row(points[i], 0), row(points[i], 1), row(points[i], 2), row(points[i], 3))
        w = closest(kind, y)
        weights[i, 0], weights[i, 1], weights[i, 2], weights[i, 3] = w
        r = combine(w, y)
        distances[i] = math.sqrt(dot(r, r))


@compiled
def impacts_of_all(kind, start, end, separation, times):
    for i in range(len(start)):
        x0 = (row(start[i], 0), row(start[i], 1), row(start[i], 2), row(start[i], 3))
        x1 = (row(end[i], 0), row(end[i], 1), row(end[i], 2), row(end[i], 3))
        times[i] = time_of_impact.impact(kind, x0, x1, separation)[0]


@compiled
def impacts_with_shape(kind, row_start, row_end, start, end, times):
    for i in range(len(start)):
        p0, p1 = (start[i, 0], start[i, 1], start[i, 2]), (end[i, 0], end[i, 1], end[i, 2])
        times[i] = shapes.vertex_impact(kind, row_start, row_end, p0, p1)


def closest_points(kind, points):
    """Signed weights (k, 4) and distances (k,) [m] of pairs given as points (k, 4, 3) [m]."""
    points = np.ascontiguousarray(points, dtype=float)
    weights, distances = np.empty((len(points), 4)), np.empty(len(points))
    cached(closest_of_all)(kind, points, weights, distances)
    return weights, distances


def impact_times(kind, start, end, separation=0.0):
    """Times (k,) of impact in 0..1, infinite where there is none, of pairs moving from start to end (k, 4, 3) [m]."""
    start, end = np.ascontiguousarray(start, dtype=float), np.ascontiguousarray(end, dtype=float)
    times = np.empty(len(start))
    cached(impacts_of_all)(kind, start, end, float(separation), times)
    return times


def times_of_impact_with(shape, start, end, time=0.0, h=0.0):
    """Times (k,) in 0..1 at which vertices moving from start to end (k, 3) [m] in the step from `time` to `time` + h
    [s] first touch a shape, infinite where they do not.
    """
    start, end = np.ascontiguousarray(start, dtype=float), np.ascontiguousarray(end, dtype=float)
    times = np.empty(len(start))
    cached(impacts_with_shape)(shape.kind, shape.row(time), shape.row(time + h), start, end, times)
    return times


def open_rules(n_vertices, body=None):
    """Everything may touch everything, bodies themselves too."""
    body = np.zeros(n_vertices, np.int32) if body is None else np.ascontiguousarray(body, dtype=np.int32)
    bodies = int(body.max(initial=0)) + 1
    return Rules(body, np.ones((bodies, bodies), bool), np.zeros(n_vertices, bool))
