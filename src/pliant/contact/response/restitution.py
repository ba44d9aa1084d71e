"""Restitution: how fast rigid bodies leave each other and obstacles after a step.

A contact is a stiff spring, which gives back some of what it took, more or less of it as the step is short or long. So
after a step the normal velocities at contacts of rigid bodies are set right by impulses, as of sequential impulses:

    v_n = e v   where it met with v faster than gravity brings about in two steps,    v_n <= 0   otherwise

v is the speed of approach at the start of the step and what fields add on the rest of the way, v^2 = v_n^2 + 2 a_n gap.
The total impulse of a contact, the spring's included, never pulls. e = 0 keeps nothing of the energy of the
approach, e = 1 all of it: a ball rises to e^2 of the height it fell from. Impulses are equal and opposite, so that
momentum stays. Soft bodies are left alone: they keep energy by deforming.
"""

from __future__ import annotations

import math

import numpy as np

from pliant.contact.contact_set import depths, gaps
from pliant.contact.response.potential import ContactPotential
from pliant.energies import IncrementalPotential
from pliant.lanes.compiled import cached, compiled
from pliant.lanes.vectors import cross, dot
from pliant.model import FREE, Model
from pliant.model.body import LINE, PLANE

ITERATIONS = 10
SMALL = 1e-3  # of the threshold: where no speed changes by more, no further iterations are needed


def restitution_impulses(
    problem: IncrementalPotential, x: np.ndarray, poses: np.ndarray, before: np.ndarray, after: np.ndarray, h: float
) -> np.ndarray:
    """Changes of the twists (b, 6) of rigid bodies.

    x (n, 3) [m], poses (b, 7) at the end of the step of h [s]; twists (b, 6) at its start and its end.
    """
    model, potential = problem.model, problem.contacts
    change = np.zeros_like(after)
    if model.carried is None or model.contact is None or not isinstance(potential, ContactPotential):
        return change
    pressing = depths(potential.contacts, x)
    chosen = np.flatnonzero((pressing > 0) & _are_hard(potential, model))
    if not len(chosen):
        return change
    contacts, vertices = potential.contacts, potential.vertices[chosen]
    weights, normals = contacts.weights[chosen], np.ascontiguousarray(contacts.normals[chosen])
    body, has_obstacle = model.contact.body, contacts.obstacle[chosen] >= 0
    number = np.full(model.n_vertices, -1)
    number[model.carried.points] = model.carried.body
    sides = np.column_stack([number[vertices[:, 0]], np.where(has_obstacle, -1, number[vertices[:, 2]])])
    given = model.contact.restitution
    second = np.where(has_obstacle, 0.0, given[body[vertices[:, 2]]])
    e = np.maximum(given[body[vertices[:, 0]]], second)
    points = np.stack([np.einsum("ki,kia->ka", np.maximum(s * weights, 0.0), x[vertices]) for s in (1, -1)], axis=1)
    arms = points - np.where((sides >= 0)[:, :, None], poses[sides, :3], 0.0)
    # what no solver moves: obstacles, and bodies that are held or led
    motion = np.zeros((len(chosen), 2, 3))
    displaced = (x - potential.x_prev)[vertices] / h
    for side, sign in ((0, 1), (1, -1)):
        led = np.einsum("ki,kia->ka", np.maximum(sign * weights, 0.0), displaced)
        motion[:, side] = np.where((sides[:, side] < 0)[:, None], led, 0.0)
    motion[has_obstacle, 1] = contacts.motions[chosen[has_obstacle]] / h
    masses = model.carried.inverse_masses(model.mass, poses)
    threshold = 2 * h * float(np.linalg.norm(model.gravity, axis=1).max())
    impulses = problem.h * contacts.stiffness[chosen] * pressing[chosen]
    fall = np.where(has_obstacle | (sides[:, 1] < 0), 0.0, 1.0)[:, None] * model.gravity[vertices[:, 2]]
    fall = np.einsum("ka,ka->k", fall - (sides[:, :1] >= 0) * model.gravity[vertices[:, 0]], normals)
    ahead = (gaps(contacts, potential.x_prev) - np.minimum(contacts.offset, 0.0))[chosen]
    gained = np.maximum(2 * fall * np.maximum(ahead, 0.0), 0.0)
    arrays = (sides, arms, motion, normals, e, gained, threshold, impulses, masses, before, after.copy(), change)
    cached(bounce)(*arrays)
    return change


def _are_hard(potential: ContactPotential, model: Model) -> np.ndarray:
    """(k,) contacts of which no vertex is soft."""
    assert model.contact is not None
    is_soft = np.isin(model.subspace, (FREE, LINE, PLANE))
    takes_part = potential.contacts.weights != 0
    return ~(is_soft[potential.vertices] & takes_part).any(axis=1)


@compiled
def bounce(sides, arms, motion, normals, e, gained, threshold, impulses, inverse_masses, before, after, change):
    """Sequential impulses along the normals; `after` and `change` (b, 6) are brought up to date."""
    for _ in range(ITERATIONS):
        largest = 0.0
        for k in range(len(sides)):
            n = (normals[k, 0], normals[k, 1], normals[k, 2])
            approach = -normal_velocity(sides, arms, motion, before, k, n)
            target = e[k] * math.sqrt(approach * approach + gained[k]) if approach > threshold else 0.0
            speed = normal_velocity(sides, arms, motion, after, k, n)
            weight = response(sides, arms, inverse_masses, k, n)
            if weight == 0.0:
                continue
            wanted = (target - speed) / weight
            if target == 0.0:
                wanted = min(wanted, 0.0)
            wanted = max(wanted, -impulses[k])
            impulses[k] += wanted
            largest = max(largest, abs(wanted) * weight)
            for side in range(2):
                b = sides[k, side]
                if b >= 0:
                    sign = wanted if side == 0 else -wanted
                    arm = (arms[k, side, 0], arms[k, side, 1], arms[k, side, 2])
                    turn = cross(arm, n)
                    for i in range(6):
                        total = 0.0
                        for j in range(3):
                            total += inverse_masses[b, i, j] * n[j] + inverse_masses[b, i, j + 3] * turn[j]
                        after[b, i] += sign * total
                        change[b, i] += sign * total
        if largest <= SMALL * threshold:
            return


@compiled
def normal_velocity(sides, arms, motion, twists, k, n):
    """Of the first side against the second [m/s]."""
    total = 0.0
    for side in range(2):
        b, v = sides[k, side], (motion[k, side, 0], motion[k, side, 1], motion[k, side, 2])
        if b >= 0:
            arm = (arms[k, side, 0], arms[k, side, 1], arms[k, side, 2])
            turned = cross((twists[b, 3], twists[b, 4], twists[b, 5]), arm)
            v = (twists[b, 0] + turned[0], twists[b, 1] + turned[1], twists[b, 2] + turned[2])
        total += dot(v, n) if side == 0 else -dot(v, n)
    return total


@compiled
def response(sides, arms, inverse_masses, k, n):
    """The change of the normal velocity by an impulse of 1 [1/kg]."""
    total = 0.0
    for side in range(2):
        b = sides[k, side]
        if b >= 0:
            turn = cross((arms[k, side, 0], arms[k, side, 1], arms[k, side, 2]), n)
            way = (n[0], n[1], n[2], turn[0], turn[1], turn[2])
            for i in range(6):
                for j in range(6):
                    total += way[i] * inverse_masses[b, i, j] * way[j]
    return total
