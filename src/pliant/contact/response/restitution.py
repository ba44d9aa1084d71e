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
from pliant.kernels.turns import matrix_of, rotated
from pliant.lanes.compiled import allocating, cached, compiled, inlined
from pliant.lanes.vectors import add_scaled, cross, dot, subtract
from pliant.model import FREE

ITERATIONS = 10
IN_CHAINS = 200  # iterations where impacts go on from body to body: a push takes one for each body that it passes
ROUNDS = 50
SMALL, SMALL_IN_CHAINS = 1e-3, 1e-6  # of the threshold: where no speed changes by more, iterations end
AT_MOST_ZERO = -1.0  # in place of a speed that is asked for


class Impacts(NamedTuple):
    """Contacts of rigid bodies with each other, with obstacles and with what is held; k at most."""

    sides: np.ndarray  # (k, 2) the two bodies, -1 for what no solver moves
    numbers: np.ndarray  # (k, COLUMNS) as below


# columns: the normal n; a x n [m] of the arms a of both sides; by how much an impulse of 1 N s changes their angular
# velocities [1/(kg m)]; speed along n of sides that no solver moves [m/s]; e; 2 a_n gap [m^2/s^2]; impulse of the
# contact so far [N s]; speed asked for afterwards [m/s], or AT_MOST_ZERO; what an impulse of 1 N s adds to the normal
# velocity [1/kg]
NORMAL, ARM, OTHER_ARM, TURN, OTHER_TURN, MOTION = 0, 3, 6, 9, 12, 15
RESTITUTION, GAINED, IMPULSE, TARGET, RESPONSE, COLUMNS = 16, 17, 18, 19, 20, 21


class Bodies(NamedTuple):
    """Of the model: what does not change from step to step."""

    carrier: np.ndarray  # (m,) rigid body of each vertex, -1 for others, as for all from m on
    body: np.ndarray  # (n,) body of each vertex
    restitution: np.ndarray  # (bodies,)
    subspace: np.ndarray  # (n,)
    gravity: np.ndarray  # (n, 3) [m/s^2]
    inverse_mass: np.ndarray  # (b,) [1/kg]
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
    bodies = Bodies(carried.carrier, *own, model.inverse_body_mass, carried.inverse_inertia)
    steps = (h, problem.h, 2 * h * model.contact.gravity)
    add = add_impulses_in_rounds if bodies.restitution.any() else add_impulses
    cached(add)(contacts, bodies, x, potential.x_prev, poses, *steps, before, after, change)
    return change


@allocating
def add_impulses(contacts, bodies, x, x_prev, poses, h, s, threshold, before, after, change):
    """Write the change (b, 6) of the twists; s [s]: the step that the solver has seen, threshold [m/s]: up to which
    nothing is given back.
    """
    impacts = impacts_of(contacts, bodies, x, x_prev, poses, h, s, False)
    settle(impacts, bodies.inverse_mass, SMALL * threshold, ITERATIONS, after, change)


@allocating
def add_impulses_in_rounds(contacts, bodies, x, x_prev, poses, h, s, threshold, before, after, change):
    """The same where impacts go on from body to body."""
    impacts = impacts_of(contacts, bodies, x, x_prev, poses, h, s, True)
    then, numbers = copied(before), impacts.numbers
    go_on(impacts, bodies.inverse_mass, threshold, then, np.empty(len(numbers)))
    for k in range(len(numbers)):
        if numbers[k, TARGET] >= 0.0:
            numbers[k, TARGET] = max(normal_velocity(impacts, then, k), 0.0)
    settle(impacts, bodies.inverse_mass, SMALL_IN_CHAINS * threshold, IN_CHAINS, after, change)


@allocating
def copied(twists):
    """Another array of these twists (b, 6); `copy` would take longer to compile."""
    copy = np.empty((len(twists), 6))
    for body in range(len(twists)):
        for i in range(6):
            copy[body, i] = twists[body, i]
    return copy


@allocating
def impacts_of(contacts, bodies, x, x_prev, poses, h, s, gives_back):
    """The impacts with their responses; gives_back: whether anything has e > 0."""
    k, inertia = len(contacts.kind), np.empty((len(poses), 6))
    for b in range(len(poses)):
        write_inertia(bodies.inverse_inertia, poses, b, inertia)
    room = Impacts(np.empty((k, 2), np.int64), np.empty((k, COLUMNS)))
    n = find_impacts(contacts, bodies, x, x_prev, poses, h, s, gives_back, inertia, room)
    return Impacts(room.sides[:n], room.numbers[:n])


@inlined
def write_inertia(inverse_inertia, poses, b, inertia):
    """The inverse tensor of inertia of body b in world axes: xx, xy, xz, yy, yz, zz."""
    R, J = matrix_of((poses[b, 3], poses[b, 4], poses[b, 5], poses[b, 6])), inverse_inertia[b]
    own = (J[0, 0], J[0, 1], J[0, 2], J[1, 0], J[1, 1], J[1, 2], J[2, 0], J[2, 1], J[2, 2])
    x = rotated(R, rotated(own, (R[0], R[1], R[2])))  # R J times the columns of R^T
    y = rotated(R, rotated(own, (R[3], R[4], R[5])))
    z = rotated(R, rotated(own, (R[6], R[7], R[8])))
    inertia[b, 0], inertia[b, 1], inertia[b, 2] = x
    inertia[b, 3], inertia[b, 4], inertia[b, 5] = y[1], y[2], z[2]


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
def find_impacts(contacts, bodies, x, x_prev, poses, h, s, gives_back, inertia, room):
    """How many contacts press of which no vertex is soft."""
    count, numbers = np.uint64(0), room.numbers
    for place in range(len(contacts.kind)):
        c = np.uint64(place)
        n, d = row(contacts.normals, c), depth_of(c, contacts, x)
        if d <= 0.0 or is_soft(c, contacts, bodies.subspace):
            continue
        write_impact(c, count, contacts, bodies, x, x_prev, poses, h, inertia, room)
        if gives_back:
            before = dot(closest_separation(c, positions_of(c, contacts, x_prev), contacts), n) - contacts.thickness[c]
            write_gains(c, count, contacts, bodies, max(before - min(contacts.offset[c], 0.0), 0.0), room)
        numbers[count, IMPULSE], numbers[count, TARGET] = s * contacts.stiffness[c] * d, AT_MOST_ZERO
        count += np.uint64(1)
    return np.int64(count)


@inlined
def is_soft(c, contacts, subspace):
    """Whether a vertex takes part that moves by itself."""
    for i in range(4):  # noqa: SIM110 (a loop compiles, any() over a generator does not)
        if contacts.weights[c, i] != 0.0 and 0 < subspace[contacts.vertices[c, i]] <= FREE:
            return True
    return False


@inlined
def write_impact(c, k, contacts, bodies, x, x_prev, poses, h, inertia, room):
    """Where contact c acts, as impact k, and how both sides answer to an impulse along its normal n."""
    numbers, n, has_obstacle = room.numbers, row(contacts.normals, c), contacts.obstacle[c] >= 0
    a = carrier_of(bodies, contacts.vertices[c, 0])
    b = np.int64(-1) if has_obstacle else carrier_of(bodies, contacts.vertices[c, 2])
    room.sides[k, 0], room.sides[k, 1] = a, b
    motion, weight = 0.0, 0.0
    if a >= 0:
        weight += write_side(c, k, 1.0, np.uint64(a), ARM, contacts, x, poses, n, bodies.inverse_mass, inertia, numbers)
    else:
        motion += dot(way_of_side(c, 1.0, contacts, x, x_prev), n) / h
    if has_obstacle:
        motion -= dot(row(contacts.motions, c), n) / h
    elif b >= 0:
        weight += write_side(
            c, k, -1.0, np.uint64(b), OTHER_ARM, contacts, x, poses, n, bodies.inverse_mass, inertia, numbers
        )
    else:
        motion -= dot(way_of_side(c, -1.0, contacts, x, x_prev), n) / h
    numbers[k, NORMAL], numbers[k, NORMAL + 1], numbers[k, NORMAL + 2] = n
    numbers[k, MOTION], numbers[k, RESPONSE] = motion, weight


@inlined
def write_side(c, k, sign, b, at, contacts, x, poses, n, inverse_mass, inertia, numbers):
    """Arm and turn of the side with weights of a sign, whose body is b; what an impulse of 1 N s adds to its normal
    velocity [1/kg].
    """
    p = place_of_side(c, sign, contacts, x)
    r = cross((p[0] - poses[b, 0], p[1] - poses[b, 1], p[2] - poses[b, 2]), n)
    t0 = inertia[b, 0] * r[0] + inertia[b, 1] * r[1] + inertia[b, 2] * r[2]
    t1 = inertia[b, 1] * r[0] + inertia[b, 3] * r[1] + inertia[b, 4] * r[2]
    t2 = inertia[b, 2] * r[0] + inertia[b, 4] * r[1] + inertia[b, 5] * r[2]
    numbers[k, at], numbers[k, at + 1], numbers[k, at + 2] = r
    at += TURN - ARM
    numbers[k, at], numbers[k, at + 1], numbers[k, at + 2] = t0, t1, t2
    return inverse_mass[b] + dot(r, (t0, t1, t2))


@inlined
def place_of_side(c, sign, contacts, x):
    """The point of the side whose weights have a sign [m]."""
    p = (0.0, 0.0, 0.0)
    for i in range(4):
        w = sign * contacts.weights[c, i]
        if w > 0.0:
            p = add_scaled(p, w, row(x, contacts.vertices[c, i]))
    return p


@inlined
def way_of_side(c, sign, contacts, x, x_prev):
    """How far it has come in the step [m]."""
    return subtract(place_of_side(c, sign, contacts, x), place_of_side(c, sign, contacts, x_prev))


@inlined
def write_gains(c, k, contacts, bodies, ahead, room):
    """What contact c gives back, as impact k, and what fields add to its speed on the way ahead [m]."""
    first, second = contacts.vertices[c, 0], contacts.vertices[c, 2]
    e, fall = bodies.restitution[bodies.body[first]], 0.0
    for axis in range(3):
        if room.sides[k, 0] >= 0:
            fall -= bodies.gravity[first, axis] * contacts.normals[c, axis]
        if room.sides[k, 1] >= 0:
            fall += bodies.gravity[second, axis] * contacts.normals[c, axis]
    if contacts.obstacle[c] < 0:
        e = max(e, bodies.restitution[bodies.body[second]])
    room.numbers[k, RESTITUTION], room.numbers[k, GAINED] = e, max(2.0 * fall, 0.0) * ahead


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
            approach = -normal_velocity(impacts, twists, k)
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
                speed = normal_velocity(impacts, twists, k)
                wanted = max((numbers[k, TARGET] - speed) / numbers[k, RESPONSE], -pushed[k])
                pushed[k] += wanted
                largest = max(largest, abs(wanted) * numbers[k, RESPONSE])
                push(impacts, inverse_mass, k, wanted, twists)
        if largest <= small:
            return


@allocating
def settle(impacts, inverse_mass, small, iterations, before, change):
    """Impulses until speeds are their targets, from twists (b, 6) before on; no contact pulls in all, its spring
    included. Writes the change of the twists.
    """
    numbers, after = impacts.numbers, copied(before)
    for _ in range(iterations):
        largest = 0.0
        for k in range(len(numbers)):
            target, weight = numbers[k, TARGET], numbers[k, RESPONSE]
            speed = normal_velocity(impacts, after, k)
            if weight == 0.0 or (target < 0.0 and speed <= 0.0):
                continue
            wanted = max((max(target, 0.0) - speed) / weight, -numbers[k, IMPULSE])
            numbers[k, IMPULSE] += wanted
            largest = max(largest, abs(wanted) * weight)
            if wanted != 0.0:
                push(impacts, inverse_mass, k, wanted, after)
        if largest <= small:
            break
    for b in range(len(after)):
        for i in range(6):
            change[b, i] = after[b, i] - before[b, i]


@inlined
def push(impacts, inverse_mass, k, impulse, twists):
    """What an impulse [N s] along the normal of impact k does to twists (b, 6) of its sides."""
    a, b, numbers = impacts.sides[k, 0], impacts.sides[k, 1], impacts.numbers
    if a >= 0:
        push_side(np.uint64(a), k, TURN, impulse, inverse_mass, numbers, twists)
    if b >= 0:
        push_side(np.uint64(b), k, OTHER_TURN, -impulse, inverse_mass, numbers, twists)


@inlined
def push_side(b, k, at, impulse, inverse_mass, numbers, twists):
    for i in range(3):
        twists[b, i] += impulse * inverse_mass[b] * numbers[k, NORMAL + i]
        twists[b, 3 + i] += impulse * numbers[k, at + i]


@inlined
def normal_velocity(impacts, twists, k):
    """Of the first side against the second [m/s]."""
    a, b, numbers = impacts.sides[k, 0], impacts.sides[k, 1], impacts.numbers
    total = numbers[k, MOTION]
    if a >= 0:
        total += speed_of_side(np.uint64(a), k, ARM, numbers, twists)
    if b >= 0:
        total -= speed_of_side(np.uint64(b), k, OTHER_ARM, numbers, twists)
    return total


@inlined
def speed_of_side(b, k, at, numbers, twists):
    along = (
        twists[b, 0] * numbers[k, NORMAL]
        + twists[b, 1] * numbers[k, NORMAL + 1]
        + twists[b, 2] * numbers[k, NORMAL + 2]
    )
    return along + twists[b, 3] * numbers[k, at] + twists[b, 4] * numbers[k, at + 1] + twists[b, 5] * numbers[k, at + 2]
