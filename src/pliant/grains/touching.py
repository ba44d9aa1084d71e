"""What of a scene takes part beside particles: points that touch as spheres do, and triangles that spheres touch."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.contact.search.solid import solid_of
from pliant.model import Model
from pliant.model.rigid_shapes import CORE

BARE = 0.1  # of a body's mean edge: the length that overlaps of its vertices, which have no radius, are compared with


class Points(NamedTuple):
    """k vertices that touch obstacles, and triangles of other bodies, as spheres do, but not each other."""

    vertices: np.ndarray  # (k,) int32
    radius: np.ndarray  # (k,) [m]
    size: np.ndarray  # (k,) [m] the radius, or a length of the body where there is none


class Triangles(NamedTuple):
    """What spheres touch beside each other: triangles."""

    corners: np.ndarray  # (t, 3) int32
    thickness: np.ndarray  # (t,) half of it [m]


def no_points() -> Points:
    """Particles alone touch."""
    return Points(np.zeros(0, np.int32), np.zeros(0), np.zeros(0))


def no_triangles() -> Triangles:
    """Particles touch each other and obstacles alone."""
    return Triangles(np.zeros((0, 3), np.int32), np.zeros(0))


def surface_triangles(model: Model) -> Triangles:
    """Triangles of sheets, rigid bodies and mesh obstacles, then those of solids' boundaries, then the cores of round
    rigid bodies.
    """
    contact = model.contact
    assert contact is not None
    solid = solid_of(contact.tets, len(contact.body)).faces
    corners = np.concatenate([contact.triangles.astype(np.int32), solid])
    corners = corners[~contact.excluded[corners].any(axis=1)]
    cores = core_triangles(model)
    thickness = np.concatenate([contact.radius[corners[:, 0]], cores.thickness])
    return Triangles(np.concatenate([corners, cores.corners]), thickness)


def core_triangles(model: Model) -> Triangles:
    """Cores of round rigid bodies as triangles without width, between the points at their ends."""
    assert model.contact is not None
    features = model.contact.round_bodies
    own = np.flatnonzero(features.kind == CORE)
    corners = features.core_ends[own][:, [0, 1, 1]]
    return Triangles(corners.astype(np.int32), features.radius[own])


def touching_points(model: Model) -> Points:
    """Vertices of sheets and springs with half the thickness, ends of the cores of rigid bodies that move with their
    radius, and the vertices of other such bodies and of solids' boundaries without one.
    """
    contact = model.contact
    if contact is None:
        return no_points()
    thick = np.flatnonzero((contact.radius > 0) & ~contact.excluded)
    bare = np.unique(solid_of(contact.tets, len(contact.body)).faces)
    cores = no_triangles()
    if model.carried is not None:
        moves = np.zeros(model.n_vertices, bool)
        moves[model.carried.points] = True
        cores = core_triangles(model)
        cores = Triangles(*(array[moves[cores.corners[:, 0]]] for array in cores))
        bare = np.union1d(bare, model.carried.points[~contact.excluded[model.carried.points]])
    ends, core = np.unique(cores.corners, return_index=True)
    parts = (thick, ends, bare)
    radii = (contact.radius[thick], cores.thickness[core // 3], np.zeros(len(bare)))
    sizes = (*radii[:2], BARE * contact.edge[bare])
    return Points(np.concatenate(parts).astype(np.int32), np.concatenate(radii), np.concatenate(sizes))


def contact_radii(model: Model) -> np.ndarray:
    """(n,) [m] of vertices as contacts see them: particles, halves of thicknesses, ends of cores."""
    assert model.contact is not None
    radius, cores = model.contact.radius.copy(), core_triangles(model)
    if model.particles is not None:
        radius[model.particles.vertices] = model.particles.radius
    radius[cores.corners] = cores.thickness[:, None]
    return radius
