"""Restitution: how fast rigid bodies leave each other and obstacles after a step.

A contact is a stiff spring, which gives back some of what it took, more or less of it as the step is short or long. So
after a step the normal velocities at contacts of rigid bodies are set right by impulses, as of sequential impulses:

    v_n = e v   where it met with v faster than gravity brings about in two steps,    v_n <= 0   otherwise

v is the speed of approach at the start of the step and what fields add on the rest of the way, v^2 = v_n^2 + 2 a_n gap.
Where anything has e > 0, impacts go on from body to body in rounds: those that approach each other now part with e
times that speed, all at the same time, then those who approach each other because of it. So the last ball of Newton's
cradle leaves and the others stay. What meets in a round ends the step with the v_n that the last round leaves it.
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
from pliant.lanes.compiled import allocating, cached, compiled, inlined
from pliant.lanes.vectors import cross, dot
from pliant.model import FREE

ITERATIONS = 10
IN_CHAINS = 200  # iterations where impacts go on from body to body: a push takes one for each body that it passes
ROUNDS = 50
SMALL, SMALL_IN_CHAINS = 1e-3, 1e-6  # of the threshold: where no speed changes by more, iterations end
AT_MOST_ZERO = -1.0  # in place of a speed that is asked for


class Impacts(NamedTuple):
    """Contacts of rigid bodies with each other, with obstacles and with what is held; k at most."""

    sides: np.ndarray  # (k, 2) the two bodies, -1 for what no solver moves
    arms: np.ndarray  # (k, 2, 3) [m] of the place on both sides
    motion: np.ndarray  # (k, 2, 3) [m/s] of sides that no solver moves
    normals: np.ndarray  # (k, 3)
    turns: np.ndarray  # (k, 2, 3) [1/(kg m)] change of angular velocities by an impulse of 1 N s
    numbers: np.ndarray  # (k, 5) as below


# columns: e; 2 a_n gap [m^2/s^2]; impulse of the contact so far [N s]; speed asked for afterwards [m/s], or
# AT_MOST_ZERO; what an impulse of 1 N s adds to the normal velocity [1/kg]
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
    """Changes of the twists (b, 6) of rigid bodies, (0, 6) where none touches anything.

    x (n, 3) [m], poses (b, 7) at the end of the step of h [s]; twists (b, 6) at its start and its end.
    """
    model, potential = problem.model, problem.contacts
    if not isinstance(potential, ContactPotential) or not potential.count:
        return np.zeros((0, 6))
    if model.carried is None or model.contact is None:
        return np.zeros((0, 6))
    contacts, carried, change = potential.contacts, model.carried, np.zeros((len(after), 6))
    if not cached(is_any_pressed)(contacts, model.subspace, x):
        return change
    own = (model.contact.body, model.contact.restitution, model.subspace, model.gravity)
    bodies = Bodies(carried.carrier, *own, carried.inverse_inertia)
    steps, masses = (h, problem.h, 2 * h * model.contact.gravity), (model.mass, carried.points, carried.start)
    add = add_impulses_in_rounds if bodies.restitution.any() else add_impulses
    cached(add)(contacts, bodies, x, potential.x_prev, poses, *steps, *masses, before, after, change)
    return change


@allocating
def add_impulses(contacts, bodies, x, x_prev, poses, h, s, threshold, mass, points, start, before, after, change):
    """Write the change (b, 6) of the twists; s [s]: the step that the solver has seen, threshold [m/s]: up to which
    nothing is given back; points (k,) and start (b + 1,): what bodies carry, of masses (n,) [kg].
    """
    impacts, inverse_mass = impacts_of(contacts, bodies, x, x_prev, poses, h, s, mass, points, start)
    settle(impacts, inverse_mass, SMALL * threshold, ITERATIONS, copied(after), change)


@allocating
def add_impulses_in_rounds(
    contacts, bodies, x, x_prev, poses, h, s, threshold, mass, points, start, before, after, change
):
    """The same where impacts go on from body to body."""
    impacts, inverse_mass = impacts_of(contacts, bodies, x, x_prev, poses, h, s, mass, points, start)
    then = copied(before)
    go_on(impacts, inverse_mass, threshold, then, np.empty(len(impacts.numbers)))
    for k in range(len(impacts.numbers)):
        if impacts.numbers[k, TARGET] >= 0.0:
            impacts.numbers[k, TARGET] = max(normal_velocity(impacts, then, k, row(impacts.normals, k)), 0.0)
    settle(impacts, inverse_mass, SMALL_IN_CHAINS * threshold, IN_CHAINS, copied(after), change)


@allocating
def copied(twists):
    """Another array of these twists (b, 6); `copy` would take longer to compile."""
    copy = np.empty((len(twists), 6))
    for body in range(len(twists)):
        for i in range(6):
            copy[body, i] = twists[body, i]
    return copy


@allocating
def impacts_of(contacts, bodies, x, x_prev, poses, h, s, mass, points, start):
    """The impacts with their responses, and inverse masses (b,) [1/kg]."""
    k, b = len(contacts.kind), len(start) - 1
    sides, normals, numbers = np.empty((k, 2), np.int64), np.empty((k, 3)), np.empty((k, 5))
    arms, motion, turns = np.empty((k, 2, 3)), np.empty((k, 2, 3)), np.empty((k, 2, 3))
    room = Impacts(sides, arms, motion, normals, turns, numbers)
    n = find_impacts(contacts, bodies, x, x_prev, poses, h, s, room)
    inverse_mass = np.empty(b)
    for body in range(b if n > 0 else 0):
        total = 0.0
        for place in range(start[body], start[body + 1]):
            total += mass[points[place]]
        inverse_mass[body] = 1.0 / total
    impacts = Impacts(sides[:n], arms[:n], motion[:n], normals[:n], turns[:n], numbers[:n])
    for place in range(n):
        write_response(impacts, bodies.inverse_inertia, inverse_mass, poses, place)
    return impacts, inverse_mass


@compiled
def is_any_pressed(contacts, subspace, x):
    """Whether a contact presses of which no vertex is soft: what follows is much more to compile."""
    for place in range(len(contacts.kind)):
        c = np.uint64(place)
        if not is_soft(c, contacts, subspace) and depth_of(c, contacts, x) > 0.0:
            return True
    return False


@inlined
def depth_of(c, contacts, x):
    """[m] that a contact is pressed by."""
    return contacts.thickness[c] - dot(
        closest_separation(c, positions_of(c, contacts, x), contacts), row(contacts.normals, c)
    )


@compiled
def find_impacts(contacts, bodies, x, x_prev, poses, h, s, room):
    """How many contacts press of which no vertex is soft."""
    count = 0
    for place in range(len(contacts.kind)):
        c = np.uint64(place)
        n, d = row(contacts.normals, c), depth_of(c, contacts, x)
        if d <= 0.0 or is_soft(c, contacts, bodies.subspace):
            continue
        before = dot(closest_separation(c, positions_of(c, contacts, x_prev), contacts), n) - contacts.thickness[c]
        write_impact(c, count, contacts, bodies, x, x_prev, poses, h, room)
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
def write_impact(c, k, contacts, bodies, x, x_prev, poses, h, room):
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
def go_on(impacts, inverse_mass, threshold, twists, pushed):
    """Rounds of impacts, from twists (b, 6) before the first to those after the last; targets for all that met."""
    numbers = impacts.numbers
    for count in range(ROUNDS):
        fastest = 0.0
        for k in range(len(numbers)):
            approach = -normal_velocity(impacts, twists, k, row(impacts.normals, k))
            pushed[k] = -1.0
            if approach > threshold and numbers[k, RESPONSE] > 0.0:
                gained = numbers[k, GAINED] if count == 0 else 0.0
                numbers[k, TARGET] = numbers[k, RESTITUTION] * math.sqrt(approach * approach + gained)
                pushed[k], fastest = 0.0, max(fastest, approach)
        if fastest == 0.0:
            return
        part(impacts, inverse_mass, SMALL_IN_CHAINS * threshold, pushed, twists)


@compiled
def part(impacts, inverse_mass, small, pushed, twists):
    """Those that meet in a round, whose impulses `pushed` (k,) [N s] are zero and not negative, get their targets."""
    numbers = impacts.numbers
    for _ in range(IN_CHAINS):
        largest = 0.0
        for k in range(len(numbers)):
            if pushed[k] >= 0.0:
                speed = normal_velocity(impacts, twists, k, row(impacts.normals, k))
                wanted = max((numbers[k, TARGET] - speed) / numbers[k, RESPONSE], -pushed[k])
                pushed[k] += wanted
                largest = max(largest, abs(wanted) * numbers[k, RESPONSE])
                push(impacts, inverse_mass, k, wanted, twists)
        if largest <= small:
            return


@compiled
def settle(impacts, inverse_mass, small, iterations, after, change):
    """Impulses until speeds are their targets; no contact pulls in all, its spring included."""
    numbers = impacts.numbers
    for _ in range(iterations):
        largest = 0.0
        for k in range(len(numbers)):
            target, weight = numbers[k, TARGET], numbers[k, RESPONSE]
            speed = normal_velocity(impacts, after, k, row(impacts.normals, k))
            if weight == 0.0 or (target < 0.0 and speed <= 0.0):
                continue
            wanted = max((max(target, 0.0) - speed) / weight, -numbers[k, IMPULSE])
            numbers[k, IMPULSE] += wanted
            largest = max(largest, abs(wanted) * weight)
            if wanted != 0.0:
                push(impacts, inverse_mass, k, wanted, after)
                push(impacts, inverse_mass, k, wanted, change)
        if largest <= small:
            return


@inlined
def push(impacts, inverse_mass, k, impulse, twists):
    """What an impulse [N s] along the normal of impact k does to twists (b, 6) of its sides."""
    n = row(impacts.normals, k)
    for side in range(2):
        b = impacts.sides[k, side]
        if b >= 0:
            sign = impulse if side == 0 else -impulse
            for i in range(3):
                twists[b, i] += sign * inverse_mass[b] * n[i]
                twists[b, 3 + i] += sign * impacts.turns[k, side, i]


@inlined
def write_response(impacts, inverse_inertia, inverse_mass, poses, k):
    """What the iterations need of impact k and do not change."""
    n, weight = row(impacts.normals, k), 0.0
    for side in range(2):
        if impacts.sides[k, side] >= 0:
            turn, away = response(impacts, inverse_inertia, poses, k, side, n)
            weight += inverse_mass[impacts.sides[k, side]] + dot(turn, away)
            for i in range(3):
                impacts.turns[k, side, i] = away[i]
    impacts.numbers[k, TARGET], impacts.numbers[k, RESPONSE] = AT_MOST_ZERO, weight


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
