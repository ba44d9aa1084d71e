"""Sums over components of a mesh, and rigid motions of them: what the correction of momenta needs of every vertex."""

from __future__ import annotations

import math

import numpy as np

from pliant.geometry.components import join, root_of
from pliant.kernels.turns import matrix_of, rotated, turned
from pliant.lanes.entry import entry
from pliant.lanes.inner import inner
from pliant.lanes.vectors import eigen_symmetric

ITERATIONS = 6  # of Newton's method for a rotation, at most; each doubles the digits
ENOUGH = 1e-9  # [rad] of one of them: its square is below rounding
THIN = 1e-10  # of the largest moment: a turn about an axis with less moves nothing


@entry(nogil=True, error_model="numpy")
def restore_momenta(component, turns, mass, air_damping, h, x, y, first, middles, moments, poses):
    """Turn each component that turns (components,) about the mean of x (n, 3) to where it is nearest to y (n, 3), and
    move the means of x of all to those of y, and with them the poses (b, 7) of bodies whose first points (b,) they
    have. Means are weighted by inertia in a step of h [s], of masses (n,) [kg] and air damping (n,) [1/s].

    component: (n,), negative for vertices that belong to none. middles (components, 7): room for means of x, of y, and
    the weight; moments (components, 3, 3): for sums of w (y - mean y) (x - mean x)^T, and then for rotations less 1. A
    step that broke down is left as it is.
    """
    write_centres(component, mass, air_damping, h, x, y, middles)
    for c in range(len(moments)):
        for a in range(3):
            for b in range(3):
                moments[c, a, b] = 0.0
    for i in range(len(component)):
        c = component[i]
        if c >= 0 and turns[c]:
            weight = mass[i] / h**2 * (1.0 + air_damping[i] * h)
            for a in range(3):
                arm = weight * (y[i, a] - middles[c, 3 + a])
                for b in range(3):
                    moments[c, a, b] += arm * (x[i, b] - middles[c, b])
    for c in range(len(moments)):
        for a in range(3):
            for b in range(3):
                if not math.isfinite(moments[c, a, b]):
                    return
        if turns[c]:
            write_alignment(moments[c], moments[c])
    for i in range(len(component)):
        c = component[i]
        if c >= 0:
            r0, r1, r2 = x[i, 0] - middles[c, 0], x[i, 1] - middles[c, 1], x[i, 2] - middles[c, 2]
            R = moments[c]
            for k in range(3):
                turned = R[k, 0] * r0 + R[k, 1] * r1 + R[k, 2] * r2
                x[i, k] += turned + (middles[c, 3 + k] - middles[c, k])
    for b in range(len(first)):
        c = component[first[b]]
        if c >= 0:
            for k in range(3):
                poses[b, k] += middles[c, 3 + k] - middles[c, k]


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


@inner(nogil=True, error_model="numpy")
def write_alignment(A, out):
    """R - 1 (3, 3) of the rotation R near 1 that makes sum w y . R x greatest; moments A = sum w y x^T (3, 3).

    Newton's method: with R = exp(theta), y . R x rises by theta . tau - 1/2 theta . (tr S - S) theta, where S is the
    symmetric part of A R^T and tau = sum w x x y. Turns about axes with no moment, as of a straight rope, are left out.
    """
    moments = (A[0, 0], A[0, 1], A[0, 2], A[1, 0], A[1, 1], A[1, 2], A[2, 0], A[2, 1], A[2, 2])
    own, q = moments, (1.0, 0.0, 0.0, 0.0)
    for _ in range(ITERATIONS):
        tau = (own[7] - own[5], own[2] - own[6], own[3] - own[1])
        xy, xz, yz = -0.5 * (own[1] + own[3]), -0.5 * (own[2] + own[6]), -0.5 * (own[5] + own[7])
        values, axes = eigen_symmetric((own[4] + own[8], xy, xz, own[0] + own[8], yz, own[0] + own[4]))
        thin, largest = THIN * max(abs(values[0]), abs(values[1]), abs(values[2])), 0.0
        t0, t1, t2 = 0.0, 0.0, 0.0
        for k in range(3):
            value, axis = values[k], axes[k]
            along = (axis[0] * tau[0] + axis[1] * tau[1] + axis[2] * tau[2]) / value if value > thin else 0.0
            t0, t1, t2 = t0 + along * axis[0], t1 + along * axis[1], t2 + along * axis[2]
            largest = max(largest, abs(along))
        q = turned(q, (t0, t1, t2))
        if largest < ENOUGH:
            break
        R = matrix_of(q)
        r0, r1, r2 = rotated(R, moments[0:3]), rotated(R, moments[3:6]), rotated(R, moments[6:9])
        own = (r0[0], r0[1], r0[2], r1[0], r1[1], r1[2], r2[0], r2[1], r2[2])
    w, x, y, z = q
    out[0, 0], out[0, 1], out[0, 2] = -2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)
    out[1, 0], out[1, 1], out[1, 2] = 2 * (x * y + w * z), -2 * (x * x + z * z), 2 * (y * z - w * x)
    out[2, 0], out[2, 1], out[2, 2] = 2 * (x * z - w * y), 2 * (y * z + w * x), -2 * (x * x + y * y)


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
