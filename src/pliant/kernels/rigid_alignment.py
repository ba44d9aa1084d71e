"""Sums over components of a mesh, and rigid motions of them: what the correction of momenta needs of every vertex."""

from __future__ import annotations

import numpy as np

from pliant.geometry.components import join, root_of
from pliant.lanes.entry import entry
from pliant.lanes.inner import inner


@entry(nogil=True)
def centres(component, mass, air_damping, h, x, y, out):
    """Means of x and y (n, 3) of each component, to out (components, 7): of x, of y, and the weight; weighted by
    inertia in a step of h [s], of masses (n,) [kg] and air damping (n,) [1/s].

    component: (n,), negative for vertices that belong to none.
    """
    write_centres(component, mass, air_damping, h, x, y, out)


@inner(nogil=True)
def write_centres(component, mass, air_damping, h, x, y, out):
    for c in range(len(out)):
        for k in range(7):
            out[c, k] = 0.0
    for i in range(len(component)):
        c = component[i]
        if c >= 0:
            weight = mass[i] / h**2 * (1.0 + air_damping[i] * h)
            for k in range(3):
                out[c, k] += weight * x[i, k]
                out[c, 3 + k] += weight * y[i, k]
            out[c, 6] += weight
    for c in range(len(out)):
        for k in range(6):
            out[c, k] /= out[c, 6]


@entry(nogil=True)
def cross_moments(component, weight, x, y, middles, out):
    """A = sum of w (y - mean y) (x - mean x)^T of each component, to out (components, 3, 3)."""
    out[:] = 0.0
    for i in range(len(component)):
        c = component[i]
        if c >= 0:
            for a in range(3):
                arm = weight[i] * (y[i, a] - middles[c, 3 + a])
                for b in range(3):
                    out[c, a, b] += arm * (x[i, b] - middles[c, b])


@entry(nogil=True)
def move_rigidly(component, middles, turns, x):
    """Turn each component by R - 1 = turns (components, 3, 3) about the mean of x, and move that to the mean of y."""
    for i in range(len(component)):
        c = component[i]
        if c >= 0:
            r0, r1, r2 = x[i, 0] - middles[c, 0], x[i, 1] - middles[c, 1], x[i, 2] - middles[c, 2]
            for k in range(3):
                turned = turns[c, k, 0] * r0 + turns[c, k, 1] * r1 + turns[c, k, 2] * r2
                x[i, k] += turned + (middles[c, 3 + k] - middles[c, k])


@entry(nogil=True)
def shift_components(component, mass, air_damping, h, x, y, first, middles, poses):
    """Move each component so that the mean of x (n, 3) is that of y, and the poses (b, 7) of bodies with it whose first
    points (b,) it has; the others and middles (components, 7), which are filled in, as of `centres`.
    """
    write_centres(component, mass, air_damping, h, x, y, middles)
    for i in range(len(component)):
        c = component[i]
        if c >= 0:
            for k in range(3):
                x[i, k] += middles[c, 3 + k] - middles[c, k]
    for b in range(len(first)):
        c = component[first[b]]
        if c >= 0:
            for k in range(3):
                poses[b, k] += middles[c, 3 + k] - middles[c, k]


@entry(nogil=True)
def join_components(component, turns, vertices, is_between_vertices, label, marks, joint, joint_turns):
    """Components of vertices as contacts join them: component (n,), -1 for none, turns (components,); contacts of
    vertices (k, 4), -1 where there are fewer. Fills in joint (n,) and joint_turns (components,), and gives how many
    there are; joint is not written where there are none.

    label: 0, 1, 2 ..., and marks (3, components): zero, scratch.
    """
    touches, is_held, numbers = marks[0], marks[1], marks[2]
    for place in range(len(vertices)):
        k = np.uint64(place)
        joins, first = is_between_vertices[k], component_of(component, vertices[k, 0])
        for i in range(4):
            joins = joins and component_of(component, vertices[k, i]) >= 0
        for i in range(4):
            c = component_of(component, vertices[k, i])
            if c >= 0 and joins:
                touches[np.uint64(c)] = 1
                if c != first:
                    join(label, first, c)
            elif c >= 0:
                is_held[np.uint64(c)] = 1
    for c in range(len(label)):
        if is_held[c] > 0:
            is_held[root_of(label, c)] = 1
    count = 0
    for c in range(len(label)):
        if root_of(label, c) == c and is_held[c] == 0:  # what touches has torques that its own parts do not know
            numbers[c], joint_turns[count] = count, turns[c] and touches[c] == 0
            count += 1
        else:
            numbers[c] = -1
    for c in range(len(label) if count > 0 else 0):
        touches[c] = numbers[root_of(label, c)]
    for i in range(len(component) if count > 0 else 0):
        joint[i] = component_of(touches, component[i])
    return count


@inner(nogil=True, forceinline=True)
def component_of(component, v):
    return component[np.uint64(v)] if v >= 0 else np.int64(-1)
