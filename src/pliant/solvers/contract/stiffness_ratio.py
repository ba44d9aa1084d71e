"""How stiff vertices are compared with their inertia: h^2 k / m, k the mean of their diagonal stiffness [N/m].

It is about the number of iterations that an error of a whole body survives in a solver that moves vertex by vertex, and
the square of the number of edges that a pressure wave passes in a step.
"""

from __future__ import annotations

import numpy as np

from pliant.energies import IncrementalPotential
from pliant.energies.elements import energy_of
from pliant.lanes.entry import entry
from pliant.model import CARRIED, Model

SAMPLE = 1500  # elements of a block that are looked at


def bodies_of_vertices(model: Model) -> np.ndarray:
    """(n,) body of each vertex that moves, -1 for those that do not or have no mass."""
    body = np.full(model.n_vertices, -1)
    for k in range(len(model.body_names)):
        body[model.vertices_of(k)] = k
    return np.where(model.is_free & (model.mass > 0), body, -1)


def elastic_ratios(problem: IncrementalPotential, x: np.ndarray, body: np.ndarray) -> np.ndarray:
    """(bodies,) mass-weighted mean of h^2 k / m over a body's vertices at x (n, 3) [m], of a sample of its elements."""
    count = len(problem.model.body_names)
    stiffness = np.zeros(count)
    for block in problem.blocks:
        stride = _stride(len(block.elements))
        part = slice(None, None, stride)
        corners = block.elements[part]
        seen = x - problem.x_prev if block.is_viscous else x
        hessians = energy_of(block).element_hessians(block, seen, part)
        own = np.einsum("mcaca->mc", hessians) / 3 * (len(block.elements) / max(len(corners), 1))
        moves = body[corners] >= 0
        stiffness += np.bincount(body[corners][moves], own[moves], count)
    return np.maximum(stiffness, 0) / weights(problem, body)


def weights(problem: IncrementalPotential, body: np.ndarray) -> np.ndarray:
    """(bodies,) inertia m / h^2 [N/m] of each body's vertices that move; infinite where none does."""
    moves = body >= 0
    inertia = np.bincount(body[moves], problem.inertia[moves], len(problem.model.body_names))
    return np.where(inertia > 0, inertia, np.inf)


def contact_ratios(problem: IncrementalPotential, x: np.ndarray, body: np.ndarray) -> np.ndarray | None:
    """(n,) what contacts add to the vertices at x; to those of a rigid body what they add to the whole."""
    if problem.contacts is None or not problem.contacts.count:
        return None
    ratios, model = problem.contacts.vertex_stiffness(x), problem.model
    is_whole = model.carried is not None and model.contact is not None
    own = model.contact.body if model.contact is not None and is_whole else body
    totals = np.zeros((len(model.body_names) if is_whole else 0, 2))
    write_ratios(body, own, model.subspace, problem.inertia, totals, ratios)
    return ratios


@entry(nogil=True, error_model="numpy")
def write_ratios(body, own, subspace, inertia, totals, ratios):
    """Divide stiffness (n,) [N/m] by the inertia of vertices that move, body (n,) >= 0; that of points which rigid
    bodies carry is summed over their bodies, own (n,). totals (bodies, 2): zero, scratch; empty if there are none.
    """
    for i in range(len(ratios) if len(totals) > 0 else 0):
        if body[i] >= 0:
            totals[body[i], 0] += inertia[i]
        if subspace[i] == CARRIED:
            totals[own[i], 1] += ratios[i]
    for i in range(len(ratios)):
        if len(totals) > 0 and subspace[i] == CARRIED:
            weight, total = totals[own[i], 0], totals[own[i], 1]
            ratios[i] = total / weight if weight > 0.0 else 0.0
        else:
            ratios[i] = ratios[i] / inertia[i] if body[i] >= 0 else 0.0


def _stride(count: int) -> int:
    """A step through elements that takes all kinds of a regular mesh: no multiple of 2, 3 or 5."""
    stride = max(1, count // SAMPLE)
    while np.gcd(stride, 30) > 1:
        stride += 1
    return stride
