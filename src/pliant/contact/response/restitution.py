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
from typing import NamedTuple

import numpy as np

from pliant.contact.response.potential import ContactPotential
from pliant.elements.closest import closest_separation, positions_of, row
from pliant.energies import IncrementalPotential
from pliant.kernels.turns import matrix_of, rotated, rotated_back
from pliant.lanes.compiled import cached, compiled, inlined
from pliant.lanes.vectors import cross, dot
from pliant.model import FREE

ITERATIONS = 10
SMALL = 1e-3  # of the threshold: where no speed changes by more, no further iterations are needed


class Impacts(NamedTuple):
    """Contacts of rigid bodies with each other, with obstacles and with what is held; k at most."""

    sides: np.ndarray  # (k, 2) the two bodies, -1 for what no solver moves
    arms: np.ndarray  # (k, 2, 3) [m] of the place on both sides
    motion: np.ndarray  # (k, 2, 3) [m/s] of sides that no solver moves
    normals: np.ndarray  # (k, 3)
    turns: np.ndarray  # (k, 2, 3) [1/(kg m)] change of angular velocities by an impulse of 1 N s
    numbers: np.ndarray  # (k, 5) as below


# columns: e; 2 a_n gap [m^2/s^2]; impulse of the contact so far [N s]; speed asked for afterwards [m/s]; what an
# impulse of 1 N s adds to the normal velocity [1/kg]
RESTITUTION, GAINED, IMPULSE, TARGET, RESPONSE = 0, 1, 2, 3, 4


class Bodies(NamedTuple):
    """Of the model: what does not change from step to step."""

    carrier: np.ndarray  # (m,) rigid body of each vertex, -1 for others, as for all from m on
    body: np.ndarray  # (n,) body of each vertex
    restitution: np.ndarray  # (bodies,)
    subspace: np.ndarray  # (n,)
    gravity: np.ndarray  # (n, 3) [m/s^2]
    inverse_inertia: np.ndarray  # (b, 3, 3) in the bodies' axes


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
    contacts, carried = potential.contacts, model.carried
    if not contacts.size:
        return change
    own = (model.contact.body, model.contact.restitution, model.subspace, model.gravity)
    bodies = Bodies(carried.carrier, *own, carried.inverse_inertia)
    room = _room(contacts.size)
    count = cached(find_impacts)(contacts, bodies, x, potential.x_prev, poses, h, problem.h, room)
    if count:
        threshold = 2 * h * model.contact.gravity
        impacts = Impacts(*(array[:count] for array in room))
        inverse_mass = 1 / np.add.reduceat(model.mass[carried.points], carried.start[:-1])
        cached(bounce)(impacts, bodies.inverse_inertia, inverse_mass, poses, threshold, before, after.copy(), change)
    return change


def _room(k: int) -> Impacts:
    three = np.empty((3, k, 2, 3))
    return Impacts(np.empty((k, 2), np.int64), three[0], three[1], np.empty((k, 3)), three[2], np.empty((k, 5)))


@compiled
def find_impacts(contacts, bodies, x, x_prev, poses, h, s, room):
    """How many contacts press of which no vertex is soft; s [s]: the step that the solver has seen."""
    count = 0
    for place in range(len(contacts.kind)):
        c = np.uint64(place)
        n = row(contacts.normals, c)
        d = contacts.thickness[c] - dot(closest_separation(c, positions_of(c, contacts, x), contacts), n)
        if d <= 0.0 or is_soft(c, contacts, bodies.subspace):
            continue
        before = dot(closest_separation(c, positions_of(c, contacts, x_prev), contacts), n) - contacts.thickness[c]
        write_meeting(c, count, contacts, bodies, x, x_prev, poses, h, room)
        ahead = max(before - min(contacts.offset[c], 0.0), 0.0)
        room.numbers[count, GAINED] *= ahead
        room.numbers[count, IMPULSE] = s * contacts.stiffness[c] * d
        count += 1
    return count


@inlined
def is_soft(c, contacts, subspace):
    """Whether a vertex takes part that moves by itself."""
    for i in range(4):  # noqa: SIM110 (a loop compiles, any() over a generator does not)
        if contacts.weights[c, i] != 0.0 and 0 < subspace[contacts.vertices[c, i]] <= FREE:
            return True
    return False


@inlined
def write_meeting(c, k, contacts, bodies, x, x_prev, poses, h, room):
    """Contact c as impact k; its impulse and the way to it are still to be told."""
    v, has_obstacle = contacts.vertices, contacts.obstacle[c] >= 0
    first, second = v[c, 0], v[c, 2]
    room.sides[k, 0] = carrier_of(bodies, first)
    room.sides[k, 1] = -1 if has_obstacle else carrier_of(bodies, second)
    e, fall = bodies.restitution[bodies.body[first]], 0.0
    for axis in range(3):
        room.normals[k, axis] = contacts.normals[c, axis]
        if room.sides[k, 0] >= 0:
            fall -= bodies.gravity[first, axis] * contacts.normals[c, axis]
        if room.sides[k, 1] >= 0:
            fall += bodies.gravity[second, axis] * contacts.normals[c, axis]
        for side in range(2):
            at, way = 0.0, 0.0
            for i in range(4):
                w = max(contacts.weights[c, i] if side == 0 else -contacts.weights[c, i], 0.0)
                if w > 0.0:
                    at += w * x[v[c, i], axis]
                    way += w * (x[v[c, i], axis] - x_prev[v[c, i], axis]) / h
            b = room.sides[k, side]
            room.arms[k, side, axis] = at - poses[b, axis] if b >= 0 else at
            room.motion[k, side, axis] = 0.0 if b >= 0 else way
        if has_obstacle:
            room.motion[k, 1, axis] = contacts.motions[c, axis] / h
    if not has_obstacle:
        e = max(e, bodies.restitution[bodies.body[second]])
    room.numbers[k, RESTITUTION], room.numbers[k, GAINED] = e, max(2.0 * fall, 0.0)


@inlined
def carrier_of(bodies, v):
    return bodies.carrier[v] if v < len(bodies.carrier) else -1


@compiled
def bounce(impacts, inverse_inertia, inverse_mass, poses, threshold, before, after, change):
    """Sequential impulses along the normals; `after` and `change` (b, 6) are brought up to date."""
    numbers = impacts.numbers
    for k in range(len(numbers)):
        write_response(impacts, inverse_inertia, inverse_mass, poses, threshold, before, k)
    for _ in range(ITERATIONS):
        largest = 0.0
        for k in range(len(numbers)):
            n, target, weight = row(impacts.normals, k), numbers[k, TARGET], numbers[k, RESPONSE]
            speed = normal_velocity(impacts, after, k, n)
            if weight == 0.0 or (target == 0.0 and speed <= 0.0):
                continue
            wanted = (target - speed) / weight
            if target == 0.0:
                wanted = min(wanted, 0.0)
            wanted = max(wanted, -numbers[k, IMPULSE])
            numbers[k, IMPULSE] += wanted
            largest = max(largest, abs(wanted) * weight)
            if wanted == 0.0:
                continue
            for side in range(2):
                b = impacts.sides[k, side]
                if b >= 0:
                    sign = wanted if side == 0 else -wanted
                    for i in range(3):
                        after[b, i] += sign * inverse_mass[b] * n[i]
                        change[b, i] += sign * inverse_mass[b] * n[i]
                        after[b, 3 + i] += sign * impacts.turns[k, side, i]
                        change[b, 3 + i] += sign * impacts.turns[k, side, i]
        if largest <= SMALL * threshold:
            return


@inlined
def write_response(impacts, inverse_inertia, inverse_mass, poses, threshold, before, k):
    """What the iterations need of impact k and do not change."""
    n, weight, target = row(impacts.normals, k), 0.0, 0.0
    approach = -normal_velocity(impacts, before, k, n)
    if approach > threshold:
        target = impacts.numbers[k, RESTITUTION] * math.sqrt(approach * approach + impacts.numbers[k, GAINED])
    for side in range(2):
        if impacts.sides[k, side] >= 0:
            turn, away = response(impacts, inverse_inertia, poses, k, side, n)
            weight += inverse_mass[impacts.sides[k, side]] + dot(turn, away)
            for i in range(3):
                impacts.turns[k, side, i] = away[i]
    impacts.numbers[k, TARGET], impacts.numbers[k, RESPONSE] = target, weight


@inlined
def arm_of(impacts, k, side):
    return (impacts.arms[k, side, 0], impacts.arms[k, side, 1], impacts.arms[k, side, 2])


@compiled
def normal_velocity(impacts, twists, k, n):
    """Of the first side against the second [m/s]."""
    total = 0.0
    for side in range(2):
        b = impacts.sides[k, side]
        v = (impacts.motion[k, side, 0], impacts.motion[k, side, 1], impacts.motion[k, side, 2])
        if b >= 0:
            turned = cross((twists[b, 3], twists[b, 4], twists[b, 5]), arm_of(impacts, k, side))
            v = (twists[b, 0] + turned[0], twists[b, 1] + turned[1], twists[b, 2] + turned[2])
        total += dot(v, n) if side == 0 else -dot(v, n)
    return total


@compiled
def response(impacts, inverse_inertia, poses, k, side, n):
    """The torque of an impulse of 1 N s along n on one side [m], and the change of its angular velocity by it."""
    b = impacts.sides[k, side]
    turn = cross(arm_of(impacts, k, side), n)
    R, J = matrix_of((poses[b, 3], poses[b, 4], poses[b, 5], poses[b, 6])), inverse_inertia[b]
    u = rotated_back(R, turn)
    own = (
        J[0, 0] * u[0] + J[0, 1] * u[1] + J[0, 2] * u[2],
        J[1, 0] * u[0] + J[1, 1] * u[1] + J[1, 2] * u[2],
        J[2, 0] * u[0] + J[2, 1] * u[1] + J[2, 2] * u[2],
    )
    return turn, rotated(R, own)
