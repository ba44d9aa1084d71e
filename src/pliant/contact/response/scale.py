"""How stiff a contact is and how fast it pushes out, from masses, step and elements, if nothing is given (0024).

    k = STIFFNESS max(m / h^2, min(e_a, e_b)),     1 / m = 1 / m_a + 1 / m_b

and several times that where a solid meets an obstacle with a formula (0165).

m_a is the mean mass of the vertices of one side that may move, infinite if none may; a rigid body counts as a whole.
e_a is the mean of the elastic stiffnesses that resist the motion of these vertices alone. Inertia takes what presses
for one step; the softer material needs no contact that is much stiffer than itself.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pliant.contact.contact_set import ContactSet
from pliant.contact.tracking.pressing import Pushes
from pliant.elements.closest import VERTEX_OBSTACLE, VERTEX_TRIANGLE
from pliant.energies.elements import energy_of
from pliant.lanes.compiled import cached, compiled, inlined
from pliant.model import ContactModel, Model

STIFFNESS = 2.0
AT_VERTICES = 10.0  # times, of solids at obstacles: no clearance hides there how deep they press
BETWEEN_VERTICES = 3.0  # the same of points of edges and triangles, which take iterations longer to balance
FRICTION_SPEED = 0.01  # of the speed of a scene: below it friction falls to zero
PUSH_SPEED = 0.1  # of the speed of the bodies that meet: at which what was found late is pushed out
EDGES_A_STEP = 0.1  # the speed without gravity


class ContactScale(NamedTuple):
    """What the vertices of a scene can take."""

    elastic: np.ndarray  # (n,) [N/m] of the elements around a vertex
    inertia: np.ndarray  # (n,) m / h^2 [N/m]; infinite for vertices that are held
    resistance: np.ndarray  # (n,) the elastic stiffness [N/m]; infinite for vertices that are held or of rigid bodies


def elastic_stiffness(model: Model) -> np.ndarray:
    """(n,) [N/m]: a third of the trace of the block of each vertex (VBD, Equation 10) as the scene starts."""
    total = np.zeros(model.n_vertices)
    for block in model.blocks:
        if block.energy_name == "elastic" and not block.is_viscous:
            total += np.trace(energy_of(block).vertex_blocks(block, model.positions), axis1=1, axis2=2) / 3.0
    return np.maximum(total, 0.0)


def scale_of(model: Model, h: float, elastic: np.ndarray) -> ContactScale:
    """For steps of h [s]; elastic: as of `elastic_stiffness`."""
    mass, resistance = model.mass.copy(), elastic.copy()
    if model.carried is not None:
        points, body = model.carried.points, model.carried.body
        mass[points] = np.bincount(body, model.mass[points], model.carried.count)[body]
        resistance[points] = np.inf
    held = ~model.is_free
    mass[held], resistance[held] = np.inf, np.inf
    return ContactScale(elastic, mass / h**2, resistance)


def chosen_stiffness(contacts: ContactSet, scale: ContactScale, is_solid: np.ndarray | None = None) -> np.ndarray:
    """k (k,) [N/m]; is_solid (n,) bool: vertices whose contacts with obstacles are harder."""
    stiffness = np.empty(contacts.size)
    harder = np.zeros(len(scale.inertia), bool) if is_solid is None else is_solid
    cached(write_stiffness)(contacts, scale.inertia, scale.resistance, harder, stiffness)
    return stiffness


@compiled
def write_stiffness(contacts, inertia, resistance, is_solid, stiffness):
    for k in range(len(stiffness)):
        stiffness[k] = stiffness_of(k, contacts, inertia, resistance)
        if contacts.obstacle[k] >= 0 and is_solid[contacts.vertices[k, 0]]:
            stiffness[k] *= AT_VERTICES if contacts.kind[k] == VERTEX_OBSTACLE else BETWEEN_VERTICES


@inlined
def stiffness_of(k, contacts, inertia, resistance):
    """Of contact k [N/m]."""
    v = contacts.vertices[k]
    first, last = 1 if contacts.kind[k] == VERTEX_TRIANGLE else 2, 4
    if contacts.obstacle[k] >= 0:
        first = 1 if v[1] < 0 else (2 if v[2] < 0 else 3)
        last = first
    ours, theirs = mean_of(inertia, v, 0, first), mean_of(inertia, v, first, last)
    least = min(mean_of(resistance, v, 0, first), mean_of(resistance, v, first, last))
    largest = 1.0 / (1.0 / ours + 1.0 / theirs) if min(ours, theirs) < np.inf else 0.0
    if least < np.inf:
        largest = max(largest, least)
    return STIFFNESS * largest if largest > 0.0 else 1.0


@inlined
def mean_of(values, vertices, first, last):
    """Of the finite values of some vertices; infinite without any."""
    total, count = 0.0, 0
    for i in range(first, last):
        value = values[vertices[i]]
        if value < np.inf:
            total += value
            count += 1
    return total / count if count else np.inf


def friction_speed(model: ContactModel, h: float) -> float:
    """[m/s]: that of the settings, or chosen for the body with the shortest edges."""
    given = model.settings.friction_speed
    return float(FRICTION_SPEED * speed(model.gravity, model.edge.min(), h)) if given is None else given


def pushes(contacts: ContactSet, model: ContactModel, h: float) -> Pushes:
    """How far what was found late is pushed out in a step of h [s]."""
    edge, most = np.empty(contacts.size), np.zeros(contacts.size)
    cached(write_pushes)(contacts, model.edge, model.gravity, h, edge, most)
    return Pushes(most, edge)


@compiled
def write_pushes(contacts, edge, gravity, h, shorter, most):
    """The shorter of the mean edges (n,) [m] of both sides, or that of the first at an obstacle, and how far they are
    pushed out (`speed`).
    """
    for c in range(len(shorter)):
        one, other = contacts.vertices[c, 0], contacts.vertices[c, 2]
        own = min(edge[one], edge[other]) if other >= 0 else edge[one]
        shorter[c] = own
        if h > 0.0:
            most[c] = push_of(own, gravity, h)


@inlined
def push_of(edge, gravity, h):
    """How far a contact between bodies, the shorter edge of which is given [m], is pushed out in a step of h [s]."""
    return PUSH_SPEED * h * (math.sqrt(gravity) * math.sqrt(edge) if gravity > 0.0 else EDGES_A_STEP * edge / h)


def speed(gravity: float, edge: np.ndarray, h: float) -> np.ndarray:
    """sqrt(g edge) [m/s], what falls by an edge has of it; without gravity a part of an edge a step."""
    return math.sqrt(gravity) * np.sqrt(edge) if gravity > 0 else EDGES_A_STEP * edge / h
