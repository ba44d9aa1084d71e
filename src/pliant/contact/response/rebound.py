"""Contacts do not throw soft bodies back because of a multistep integrator.

Backward differences of second order take velocities from three positions. Where a contact has stopped a vertex within a
step, the position before still carries the velocity of approach, and the difference shows a vertex that comes back: by
up to all of the speed it came with. So after a step no contact that presses separates: impulses along the normals take
that part of the velocities out, and the vertices they act on go on without their history. Bodies that are elastic
bounce by their own deformation, as they do with implicit Euler.
"""

from __future__ import annotations

import numpy as np

from pliant.contact.contact_set import depths
from pliant.contact.response.potential import ContactPotential
from pliant.lanes.compiled import cached, compiled
from pliant.model import CARRIED, Model

ITERATIONS = 10


def stop_rebound(potential: ContactPotential, model: Model, x: np.ndarray, v: np.ndarray, h: float) -> np.ndarray:
    """Take separating velocities out of v (n, 3) [m/s], in place, at contacts that press at x (n, 3) [m] at the end of
    a step of h [s]; which vertices (n,) have changed.
    """
    chosen = np.flatnonzero(depths(potential.contacts, x) > 0)
    if not len(chosen):
        return np.zeros(len(x), bool)
    contacts, before = potential.contacts, v.copy()
    moves = model.is_free & (model.subspace != CARRIED)
    inverse_mass = np.where(moves, 1 / np.where(moves, model.mass, 1.0), 0.0)
    motions = np.einsum("ka,ka->k", contacts.motions[chosen], contacts.normals[chosen]) / h
    vertices = potential.vertices[chosen].astype(np.int64)
    arrays = (vertices, contacts.weights[chosen], np.ascontiguousarray(contacts.normals[chosen]), motions)
    cached(stop_separating)(*arrays, inverse_mass, v)
    changed = np.any(v != before, axis=1)
    v[changed] = (before + model.project(v - before))[changed]
    return changed


@compiled
def stop_separating(vertices, weights, normals, motions, inverse_mass, v):
    """Sequential impulses: sum_i w_i v_i . n of contacts is at most the motion of the obstacle along n."""
    for _ in range(ITERATIONS):
        for k in range(len(vertices)):
            speed, response = -motions[k], 0.0
            for i in range(4):
                j, w = vertices[k, i], weights[k, i]
                if w != 0.0:
                    speed += w * (v[j, 0] * normals[k, 0] + v[j, 1] * normals[k, 1] + v[j, 2] * normals[k, 2])
                    response += w * w * inverse_mass[j]
            if speed <= 0.0 or response == 0.0:
                continue
            for i in range(4):
                j, w = vertices[k, i], weights[k, i]
                if w != 0.0:
                    for a in range(3):
                        v[j, a] -= speed / response * w * inverse_mass[j] * normals[k, a]
