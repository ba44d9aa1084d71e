"""Spheres as vertices with a radius, for solvers that minimise: their contacts as a ContactSet.

A sphere has three unknowns, its centre. It touches an obstacle as a vertex of half the thickness r does, and a triangle
as a vertex that keeps r from it. Another sphere is a triangle without area, and the core of a round rigid body one
without width (elements.closest), so that all of these are contacts of a vertex and a triangle whose normal leads from
the closest point to the centre.
"""

from __future__ import annotations

import numpy as np

from pliant.constraints.rows import Rows, empty_rows, taken
from pliant.contact.contact_set import (
    ContactSet,
    chosen,
    gaps,
    joined,
    obstacle_contacts,
    pair_contacts,
    penetrations,
)
from pliant.contact.response.scale import ContactScale
from pliant.elements.closest import VERTEX_TRIANGLE
from pliant.grains.detection import GrainDetector
from pliant.grains.overlaps import report_overlaps
from pliant.grains.passages import Passages
from pliant.grains.record import Motion
from pliant.grains.rims import nearest_features
from pliant.grains.touching import contact_radii, core_triangles, no_points, no_triangles, surface_triangles
from pliant.grains.walls import FACES
from pliant.kernels.threads import Team
from pliant.model import Model

TOLERANCE = 0.2  # of the smallest radius: what is nearer is a contact
NEIGHBOURS = 0.6  # of it: who is nearer gets another colour
CHANGED = 0.1  # of the pairs in contact: so many that were not neighbours before make new colours worth their time
STOP = 0.25  # of the radius: within which what comes in fast is stopped
REST = 0.05  # of the radius: by which spheres at rest overlap, about, under what lies on them
SLOW = 0.5  # of the radius in a step: closest points on triangles follow what moves less
INSTANT = 1e-9  # [s] stands for a step of no length


class SphereContacts:
    """Finds what the spheres of a model touch; keeps who were neighbours when vertices were coloured last."""

    def __init__(self, model: Model, team: Team):
        assert model.particles is not None
        assert model.contact is not None
        self.model = model
        n, particles = model.n_vertices, model.particles
        cores = core_triangles(model)
        self._search = GrainDetector(model, TOLERANCE, team, no_points(), surface_triangles(model))
        self._near = GrainDetector(model, NEIGHBOURS, team, no_points(), no_triangles())
        self._passages = Passages(model, team)
        self._rows = empty_rows(64, np.float64)
        self._radius = contact_radii(model)
        self._sphere_radius = np.zeros(n)  # of particles alone
        self._sphere_radius[particles.vertices] = particles.radius
        self._body = model.contact.body.astype(np.int32)
        self._has_inside = np.zeros(n, bool)  # vertices of what is touched from outside only
        self._has_inside[model.contact.tets] = True
        if model.carried is not None:
            self._has_inside[model.carried.points] = True
        self._has_inside[cores.corners] = False
        self.neighbours = np.zeros((0, 2), np.int32)  # by which vertices are coloured
        self._touching = self.neighbours  # in the last step

    # --- colours ----------------------------------------------------------------------------------------------------

    def finds_new_neighbours(self, x: np.ndarray, time: float) -> bool:
        """Whether many touch who were not neighbours; then those who are near each other at x (n, 3) [m] are."""
        n = self.model.n_vertices
        touching, known = (
            pairs[:, 0].astype(np.int64) * n + pairs[:, 1] for pairs in (self._touching, self.neighbours)
        )
        if (~np.isin(touching, known)).sum() <= CHANGED * len(touching):
            return False
        rows = self._found(self._near, x, x, time, INSTANT, np.ones(len(x)))
        self.neighbours = rows.vertices[self._is_sphere(rows), :2].copy()
        return True

    def _is_sphere(self, rows: Rows) -> np.ndarray:
        return (rows.vertices[:, 1] >= 0) & (rows.vertices[:, 2] < 0)

    # --- contacts ---------------------------------------------------------------------------------------------------

    def find(
        self, x0: np.ndarray, x1: np.ndarray, time: float, h: float, scale: ContactScale, is_hard: bool
    ) -> ContactSet:
        """What spheres touch or may touch on the way from x0 to x1 (n, 3) [m] in a step of h [s] from `time` [s] on,
        with the least stiffnesses that contacts need, if none is given; is_hard: multipliers stop what comes in.
        """
        rows = self._found(self._search, x0, x1, time, h or INSTANT, 1 / scale.inertia)
        is_sphere, is_wall = self._is_sphere(rows), rows.vertices[:, 1] < 0
        self._touching = rows.vertices[is_sphere, :2].copy()
        faces = self._faces(rows, np.flatnonzero(~is_sphere & ~is_wall), x0, x1)
        pairs = self._pairs(rows, is_sphere, x0, x1)
        contacts = joined(pairs, faces, self._walls(rows, np.flatnonzero(is_wall), x0, h))
        if contacts.size:
            if time == 0.0:
                report_overlaps(self.model, contacts.vertices[:, 0], -gaps(contacts, x0))
            least = self._least_radius(contacts)
            contacts.stiffness[:] = self._load(contacts, x0, time) / (REST * least)
            if not is_hard:
                np.maximum(contacts.stiffness, self._stopping(contacts, least, x1, scale), out=contacts.stiffness)
        return contacts

    def stop_passages(self, x0: np.ndarray, x1: np.ndarray, time: float, h: float, contacts: ContactSet) -> int:
        """Change x1 (n, 3) [m], the end of a step of h [s] with these contacts, so that no sphere passes a sheet."""
        v = contacts.vertices
        own = (contacts.obstacle < 0) & (self._sphere_radius[v[:, 0]] > 0) & (contacts.thickness > 0)
        deep = penetrations(contacts, x1)[own] / contacts.thickness[own]
        if not self._passages.may_pass(x0, x1, float(deep.max(initial=0.0))):
            return 0
        return self._passages.stop(x0, x1, time, h)

    def _found(
        self, search: GrainDetector, x0: np.ndarray, x1: np.ndarray, time: float, h: float, inverse_mass: np.ndarray
    ) -> Rows:
        self._rows, count = search.detect(Motion(x0, x1, inverse_mass, h), time, self._rows, 0)
        return taken(self._rows, count)

    def _pairs(self, rows: Rows, which: np.ndarray, x0: np.ndarray, x1: np.ndarray) -> ContactSet:
        """With spheres: normals are where two meet on straight ways, or at the ends of the ways if they do not."""
        i, j = rows.vertices[which, 0], rows.vertices[which, 1]
        rest, s, end = self._radius[i] + self._radius[j], x0[i] - x0[j], x1[i] - x1[j]
        way = end - s
        # |s + t way|^2 = rest^2
        a, b, c = np.sum(way**2, axis=1), np.sum(way * s, axis=1), np.sum(s**2, axis=1) - rest**2
        root = b**2 - a * c
        meets = (c > 0) & (b < 0) & (root >= 0)
        t = np.divide(-b - np.sqrt(np.maximum(root, 0.0)), a, out=np.ones_like(a), where=meets)
        there = np.where((c > 0)[:, None], s + np.minimum(t, 1.0)[:, None] * way, s)
        size = np.linalg.norm(there, axis=1, keepdims=True)
        normals = np.divide(there, size, out=rows.normal[which].copy(), where=size > 0)
        weights = np.tile([1.0, -1.0, 0.0, 0.0], (len(i), 1))
        return self._round(np.column_stack([i, j, j, j]), weights, normals)

    def _faces(self, rows: Rows, which: np.ndarray, x: np.ndarray, x1: np.ndarray) -> ContactSet:
        """With triangles: those that are nearest, of neighbours that see the same corner or edge. What moves fast keeps
        the point and the normal of its impact for the step: beyond the rim it would slip round the triangle.
        """
        vertices, normals = rows.vertices[which], rows.normal[which].copy()
        weights = np.column_stack([np.ones(len(which)), -rows.weights[which]])
        contacts = self._round(vertices, weights, normals)
        if not contacts.size:
            return contacts
        v, n = contacts.vertices, contacts.normals
        outward = np.cross(x[v[:, 2]] - x[v[:, 1]], x[v[:, 3]] - x[v[:, 1]])
        is_behind = self._has_inside[v[:, 1]] & (np.sum(outward * n, axis=1) < 0)
        distances = gaps(contacts, x)
        keep = nearest_features(v, contacts.weights, distances, is_behind, self._body)
        n[is_behind] *= -1.0  # a centre that is inside comes out
        way = np.einsum("ki,kia->ka", contacts.weights, (x1 - x)[v])
        contacts.updates_closest_point[:] = np.linalg.norm(way, axis=1) < SLOW * self._radius[v[:, 0]]
        return chosen(contacts, keep & (~is_behind | (distances < 0)))

    def _round(self, vertices: np.ndarray, weights: np.ndarray, normals: np.ndarray) -> ContactSet:
        thickness = self._radius[vertices[:, 0]] + self._radius[vertices[:, 1]]
        side = np.zeros(len(vertices))
        return pair_contacts(VERTEX_TRIANGLE, vertices, weights, normals, thickness, side, updates_closest_point=True)

    def _walls(self, rows: Rows, which: np.ndarray, x0: np.ndarray, h: float) -> ContactSet:
        """With obstacles with formulas; a container has one for each of its faces."""
        i, n = rows.vertices[which, 0], self.model.n_vertices
        number, face = np.divmod(rows.source[which] - n, FACES)
        motions = h * rows.weights[which]
        points = x0[i] - rows.separation[which] + motions
        sets = [
            obstacle_contacts(int(k), i[own], points[own], motions[own], rows.normal[which][own], self._radius[i[own]])
            for k in np.unique(number)
            for own in [np.flatnonzero(number == k)]
        ]
        for contacts, k in zip(sets, np.unique(number), strict=True):
            contacts.vertices[:, 3] -= face[number == k]  # so that each has an id of its own
        return joined(*sets) if sets else self._round(np.zeros((0, 4), int), np.zeros((0, 4)), np.zeros((0, 3)))

    def _least_radius(self, contacts: ContactSet) -> np.ndarray:
        """(k,) [m] of the spheres of a contact."""
        v, radius = contacts.vertices, self._sphere_radius
        own, other = radius[v[:, 0]], np.where(v[:, 2] >= 0, radius[v[:, 2]], 0.0)
        return np.where(other > 0, np.minimum(own, other), own)

    def _stopping(self, contacts: ContactSet, least: np.ndarray, x1: np.ndarray, scale: ContactScale) -> np.ndarray:
        """(k,) [N/m] that stops within a part of the radius what comes in: m / h^2 a / (STOP r) for an overlap a that
        there would be without contact.
        """
        v = contacts.vertices
        ahead = np.maximum(-gaps(contacts, x1), 0.0) / (STOP * least)
        inertia = np.where(np.isfinite(scale.inertia) & (self._sphere_radius > 0), scale.inertia, 0.0)
        return ahead * np.maximum(inertia[v[:, 0]], np.where(v[:, 2] >= 0, inertia[v[:, 2]], 0.0))

    def _load(self, contacts: ContactSet, x: np.ndarray, time: float) -> float:
        """[N] that a sphere carries, about: a column as high as a heap that is spread as evenly as the spheres are at
        x (n, 3) [m], and its share of the bodies that contacts of spheres carry.
        """
        model, particles = self.model, self.model.particles
        assert particles is not None
        assert model.contact is not None
        own = particles.vertices[~particles.absent(time)]
        direction = model.gravity[own].sum(axis=0)
        g = model.contact.gravity
        if g == 0.0 or not direction.any():
            return 0.0
        heights = x[own] @ direction / np.linalg.norm(direction)
        layers = 1.0 + np.sqrt(12.0) * heights.std() / (2 * particles.radius.mean())
        mass = layers * model.mass[own].mean()
        second = contacts.vertices[:, 2]
        count = int(((second >= 0) & (self._sphere_radius[second] == 0)).sum())
        if count:
            is_other = model.mass > 0
            is_other[particles.vertices] = False
            mass += model.mass[is_other & (model.subspace != 0)].sum() / count
        return float(g * mass)


def sphere_contacts(model: Model, team: Team) -> SphereContacts | None:
    """For a model with particles."""
    return None if model.particles is None else SphereContacts(model, team)
