"""Which rigid motions of a connected part of a scene nothing holds, and which of them the loads drive.

A rigid motion moves the point x by t + w x (x - c). It is free if no held direction of any vertex feels it: if (t, w)
is in the null space of one row for each held direction. A part that may translate along a net load, without a
rotation, has no equilibrium; one that can only turn finds one, as a pendulum does.
"""

from __future__ import annotations

import numpy as np

from pliant.contact.contact_set import gaps
from pliant.contact.response.potential import ContactPotential
from pliant.elements.block import Invariance
from pliant.energies import IncrementalPotential
from pliant.errors import SceneError
from pliant.geometry.components import connected_components
from pliant.model import CARRIED, FREE, DeadLoads, Model

HELD = 1e-9  # of the largest singular value: below, a motion is free
HARDLY = 1e-3  # the same where contacts hold: by the slope of a bent beam alone, say
STILL = 1e-6  # of a motion: a rotation that is none
NO_LOAD = 1e-9  # of the sum of all loads: below, loads along a free motion are rounding
SEEN = 1e-6  # of a motion: a component that is rounding below
LARGE = 0.2  # the same where contacts hold
NEARLY = 1e-2  # of an edge: what is nearer to something than that is held by it
AXES = "xyz"


def check_held(model: Model, x: np.ndarray, loads: np.ndarray) -> None:
    """Refuse a part of the model that loads (n, 3) [N] push where nothing holds it, at positions x (n, 3) [m].

    What contact may hold is not refused.
    """
    if model.contact is not None:
        return
    count, label = connected_parts(model)
    for part in range(count):
        own = np.flatnonzero(label == part)
        if anchored(model, own):
            continue
        free = free_motions(model, own, x)
        net, size = loads[own].sum(axis=0), np.abs(loads[own]).sum()
        drive = np.abs(_translations(free) @ net).max(initial=0.0)
        if drive > NO_LOAD * size:
            raise SceneError(
                f"equilibrium: {_owner(model, own)} has no equilibrium: nothing holds it against "
                f"{describe(free)}, and the loads on it sum to {_vector(net)} N. Pin vertices (body.pin), hold them to "
                "lines or planes, attach them, or add an obstacle that carries it."
            )


def connected_parts(model: Model) -> tuple[int, np.ndarray]:
    """Number of parts that elements and rigid bodies join, and the part (n,) of each vertex."""
    pairs = [
        np.stack([np.repeat(block.elements[:, 0], block.elements.shape[1] - 1), block.elements[:, 1:].ravel()], axis=1)
        for block in model.blocks
    ]
    if model.carried is not None:
        first = model.carried.points[model.carried.start[:-1]]
        pairs.append(np.stack([first[model.carried.body], model.carried.points], axis=1))
    return connected_components(np.concatenate(pairs), model.n_vertices)


def anchored(model: Model, own: np.ndarray) -> bool:
    """Whether all of a part's vertices are fixed, or an element ties it to a place in the world."""
    ties = (block for block in model.blocks if block.invariance is Invariance.NONE and not isinstance(block, DeadLoads))
    return not model.is_free[own].any() or any(np.isin(block.elements, own).any() for block in ties)


def left_free(problem: IncrementalPotential) -> str:
    """What pins and pressed contacts leave free at a problem's positions, as a sentence; empty if that is nothing."""
    model, x, contacts = problem.model, problem.x_prev, problem.contacts
    if not isinstance(contacts, ContactPotential):
        return ""
    count, label = connected_parts(model)
    found, axes = [], np.zeros(3, bool)
    for part in range(count):
        own = np.flatnonzero(label == part)
        if anchored(model, own):
            continue
        free = free_motions(model, own, x, *_touches(contacts, model, own, x))
        if len(free):
            found.append(f"{_owner(model, own)} ({describe(free, LARGE)})")
            axes |= np.abs(free[:, :3]).max(axis=0) > LARGE
    if not found:
        return ""
    components = "".join(name for name, is_free in zip(AXES, axes, strict=True) if is_free) or AXES
    return (
        f"Neither pins nor contacts hold {'; '.join(found)}: give contact friction, or pin components of vertices that "
        f'stay where they are by symmetry, as body.pin(vertices, components="{components}").'
    )


def _touches(
    contacts: ContactPotential, model: Model, own: np.ndarray, x: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Points (m, 3) of some vertices that are in contact, or nearly, and directions (m, 3) in which they are held: that
    of the normal, and where there is friction all.
    """
    assert model.contact is not None
    c = contacts.contacts
    length = np.where(contacts.weights != 0, model.contact.edge[contacts.vertices], np.inf).min(axis=1)
    presses = gaps(c, x) < NEARLY * length
    points, directions = [np.zeros((0, 3))], [np.zeros((0, 3))]
    for sign in (1.0, -1.0):
        w = np.where(np.isin(contacts.vertices, own), np.maximum(sign * contacts.weights, 0.0), 0.0)
        takes_part = presses & (w.sum(axis=1) > 0)
        w, vertices = w[takes_part], contacts.vertices[takes_part]
        at = np.einsum("ki,kia->ka", w, x[vertices]) / w.sum(axis=1)[:, None]
        rubs = c.friction[takes_part] > 0
        points += [at, *(at[rubs] for _ in AXES)]
        directions += [c.normals[takes_part], *(np.tile(axis, (int(rubs.sum()), 1)) for axis in np.eye(3))]
    return np.concatenate(points), np.concatenate(directions)


def free_motions(
    model: Model, own: np.ndarray, x: np.ndarray, points: np.ndarray | None = None, held_at: np.ndarray | None = None
) -> np.ndarray:
    """(k, 6) orthonormal motions (t, w) of the vertices `own` that nothing holds; w scaled by the extent of the part,
    about the middle of what is held of it. points (m, 3) are held in the directions held_at (m, 3) too.
    """
    held_at_all = model.subspace[own] < FREE
    middle = x[own[held_at_all] if held_at_all.any() else own].mean(axis=0)
    extent = max(float(np.abs(x[own] - middle).max()), 1e-300)
    rows = []
    for axis in np.eye(3):
        held = axis - _movable(model, own, axis)  # the part of the axis that is held, (k, 3)
        keep = np.linalg.norm(held, axis=1) > 0
        arms = (x[own[keep]] - middle) / extent
        rows.append(np.hstack([held[keep], np.cross(arms, held[keep])]))
    if points is not None and held_at is not None:
        rows.append(np.hstack([held_at, np.cross((points - middle) / extent, held_at)]))
    matrix = np.vstack([*rows, np.zeros((1, 6))])
    _, values, motions = np.linalg.svd(matrix.T @ matrix)
    return motions[values <= (HELD if points is None else HARDLY) * max(values[0], 1e-300)]


def _translations(free: np.ndarray) -> np.ndarray:
    """(t, 3) orthonormal ones among free motions (k, 6): combinations of these that do not turn."""
    if not len(free):
        return np.zeros((0, 3))
    _, values, combinations = np.linalg.svd(free[:, 3:].T)
    still = combinations[np.pad(values, (0, max(len(free) - 3, 0))) <= STILL]
    return still @ free[:, :3]


def _movable(model: Model, own: np.ndarray, axis: np.ndarray) -> np.ndarray:
    everywhere = np.tile(axis, (model.n_vertices, 1))
    moved = model.project(everywhere)
    moved[model.subspace == CARRIED] = axis
    return moved[own]


def describe(free: np.ndarray, seen: float = SEEN) -> str:
    """Free motions (k, 6) in words: axes along and about which some of them move, by more than a part `seen`."""
    words = []
    for what, part in (("translation along", free[:, :3]), ("rotation about", free[:, 3:])):
        axes = [name for name, column in zip(AXES, part.T, strict=True) if np.abs(column).max(initial=0.0) > seen]
        if axes:
            words.append(f"{what} {', '.join(axes)}")
    return " and ".join(words)


def _owner(model: Model, own: np.ndarray) -> str:
    """Names of the bodies of some vertices."""
    bodies = np.unique(np.searchsorted(model.body_start, own, side="right") - 1)
    return " with ".join(model.body_names[k] for k in bodies)


def _vector(values: np.ndarray) -> str:
    return f"({', '.join(f'{value:.3g}' for value in values)})"
