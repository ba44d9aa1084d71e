"""Contacts of a step with hard constraints as their users see them."""

from __future__ import annotations

import numpy as np

from pliant.constraints.numbering import Numbering
from pliant.constraints.problem import ConstraintProblem
from pliant.constraints.rows import taken
from pliant.contact.response.step_contacts import StepContacts
from pliant.contact.tracking.identity import ID
from pliant.grains.walls import FACES
from pliant.model import Model


def grain_step_contacts(
    problem: ConstraintProblem, numbering: Numbering, values: np.ndarray, base: int, model: Model, x: np.ndarray,
    time: float, h: float,
) -> StepContacts:  # fmt: skip
    """Contacts, which follow `base` distances, with the values (m,) [m] of all constraints, at positions x (n, 3) [m]
    at the end of a step of h seconds.
    """
    assert model.contact is not None
    rows = taken(problem.rows, problem.count)
    gaps = values[base:]
    rows = type(rows)(*(array[base:] for array in rows))
    vertices, source = numbering.in_scene(problem.rows, base, problem.count)
    rows = rows._replace(vertices=vertices, source=source)
    n_vertices, body = model.n_vertices, model.contact.body
    n, t = rows.normal.astype(float), rows.tangent.astype(float)
    impulse = rows.impulse.astype(float)
    forces = (impulse[:, :1] * n + impulse[:, 1:2] * t + impulse[:, 2:] * np.cross(n, t)) / h
    first, second = rows.vertices[:, 0].astype(np.int64), rows.vertices[:, 1].astype(np.int64)
    at_obstacle = second < 0
    obstacles = np.where(at_obstacle, (rows.source - n_vertices) // FACES, -1).astype(np.int64)
    bodies = np.column_stack([body[first], np.where(at_obstacle, -1, body[second])])
    radius = np.zeros(n_vertices)
    if model.particles is not None:
        radius[model.particles.vertices] = model.particles.radius
    points = x[first] - radius[first, None] * n
    vertex_forces, penetrations = np.zeros((n_vertices, 3)), np.zeros(n_vertices)
    np.add.at(vertex_forces, first, forces)
    np.maximum.at(penetrations, first, -gaps)
    for slot in range(1, 4):
        own = rows.vertices[:, slot] >= 0
        vertex = rows.vertices[own, slot]
        np.add.at(vertex_forces, vertex, -rows.weights[own, slot - 1, None] * forces[own])
        np.maximum.at(penetrations, vertex, -gaps[own])
    count = len(model.body_names)
    centres = np.array([_centre(model, x, k) for k in range(count)]).reshape(-1, 3)
    places = np.array([shape.row(time)[:3] for shape in model.contact.shapes]).reshape(-1, 3)
    on_bodies = _sums(bodies[:, 0], points, forces, centres) + _sums(bodies[:, 1], points, -forces, centres)
    on_obstacles = _sums(obstacles, points, -forces, places)
    ids = np.full((len(first), ID), -1, np.int32)
    ids[:, 1], ids[:, 2] = first, rows.source
    limits = rows.friction.astype(float) * impulse[:, 0] / h
    measured = (ids, bodies, obstacles, points, n, gaps, forces, limits, vertex_forces, penetrations)
    return StepContacts(*measured, *on_bodies, *on_obstacles)


def _centre(model: Model, x: np.ndarray, k: int) -> np.ndarray:
    own = model.vertices_of(k)
    mass = model.mass[own]
    return np.average(x[own], axis=0, weights=mass if mass.sum() > 0 else None)


def _sums(owner: np.ndarray, points: np.ndarray, forces: np.ndarray, centres: np.ndarray) -> np.ndarray:
    own = owner >= 0
    total = np.zeros((2, len(centres), 3))
    np.add.at(total[0], owner[own], forces[own])
    np.add.at(total[1], owner[own], np.cross(points[own] - centres[owner[own]], forces[own]))
    return total
