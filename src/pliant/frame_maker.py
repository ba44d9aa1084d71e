"""Frames of results: which points and triangles of a scene are drawn, and the fields on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pliant.contact.response.step_contacts import StepContacts
from pliant.energies.stress import cauchy_stress, fields_of, green_strain, in_rows
from pliant.io.results.result import OBSTACLE_COLOUR, Frame, Layout
from pliant.io.results.surfaces import Part, layout_of_parts
from pliant.model import Body, MeshObstacleBody, Model, Particles, RigidBody, Scene, Solid, Solids, SpringNet
from pliant.model.blocks import PatchTets
from pliant.model.drawing import Drawing
from pliant.model.embedded import skin_of
from pliant.model.outlines import Outline, outlines

CELL_FIELDS = ("energy_density", "von_mises")
TENSORS = ("stress", "strain")  # Cauchy [Pa] and Green-Lagrange, nine numbers per cell, on request

#: Rows of obstacles with formulas (Shape.row) one step earlier and now.
Rows = tuple[np.ndarray, np.ndarray]


class FrameMaker:
    """Makes frames of positions: chooses the points that are kept and computes the fields of the cells."""

    def __init__(
        self,
        model: Model,
        scene: Scene,
        h: float,
        frame_rate: float,
        volume: bool,
        with_fields: bool,
        tensors: bool = False,
        obstacles: bool = True,
    ):
        """volume: keep tets and inner points; with_fields: measure the cells; tensors: stress and strain too;
        obstacles: show those with formulas.
        """
        self._obstacles = outlines(scene.shapes, model.positions) if obstacles else []
        self._h, self.with_fields = h, with_fields
        self._drawing = Drawing.of(scene.bodies, model, skins=not volume)
        whole = _layout(scene, model, self._obstacles, frame_rate, skins=not volume)
        # the model keeps tets by law, the layout by body: row[t] is the model's place of the layout's tet t
        bodies = [np.searchsorted(model.body_start, solids.tets[:, 0], side="right") for solids in model.solids]
        row = np.argsort(np.concatenate([np.empty(0, int), *bodies]), kind="stable")
        self._kept: np.ndarray | slice = slice(None)
        self.layout, wanted = whole, row
        if not volume:
            self.layout, self._kept = whole.surface()
            wanted = np.append(row, -1)[whole.triangle_tets]  # a sheet's triangle has no tet, -1
        elif not len(whole.tets):
            wanted = np.full(whole.n_cells, -1)
        # only the tets behind surface triangles, unless all are kept; patches need all of theirs
        needed = np.unique(np.concatenate([wanted[wanted >= 0], _tets_of_patches(model.solids)]))
        self._place = np.where(wanted >= 0, np.searchsorted(needed, wanted), -1)
        groups = [part for solids in _some(model.solids, needed) for part in _by_body(solids, model.body_start)]
        chosen = [solids for solids in groups if len(solids.tets)]
        self._measured = [fields_of(solids) for solids in chosen]
        self._tensors_of = chosen if tensors else []
        self._is_ordered = len(self._measured) == 1 and np.array_equal(wanted, needed)

    def frame(
        self,
        time: float,
        x: np.ndarray,
        fields: dict[str, np.ndarray],
        of_bodies: dict[str, np.ndarray],
        drawn: np.ndarray | None,
        rows: Rows | None,
    ) -> Frame:
        """A time [s], positions and fields of all vertices, fields of bodies, which vertices are drawn if not simply
        all, and where obstacles are, if they are shown.
        """
        cells = self._cell_fields(x) if self.with_fields else {}
        if drawn is not None:
            x, fields = x[drawn], {name: values[drawn] for name, values in fields.items()}
        poses, matrix = self._drawing.poses(x), self._drawing.matrix
        if matrix is not None:
            x, fields = matrix @ x, {name: matrix @ own for name, own in fields.items()}
        if self._obstacles and rows is not None:
            x, fields = self._with_obstacles(rows, x, fields)
        kept = {name: values[self._kept] for name, values in fields.items()}
        return Frame(time, x[self._kept], kept, cells, of_bodies, poses)

    def _cell_fields(self, x: np.ndarray) -> dict[str, np.ndarray]:
        rows, tensors = in_rows(x), self._tensor_fields(x)
        if self._is_ordered:
            return dict(zip(CELL_FIELDS, self._measured[0].measure(rows), strict=True)) | tensors
        nothing = np.full(1, np.nan)  # at place -1, of sheets
        measured = [*(tets.measure(rows) for tets in self._measured), (nothing, nothing)]
        placed = (np.concatenate(values)[self._place] for values in zip(*measured, strict=True))
        return dict(zip(CELL_FIELDS, placed, strict=True)) | tensors

    def _tensor_fields(self, x: np.ndarray) -> dict[str, np.ndarray]:
        """Stress and strain (cells, 9), row by row; not a number where a cell is no tet."""
        if not self._tensors_of:
            return {}
        nothing = np.full((1, 3, 3), np.nan)
        stresses = [*(cauchy_stress(solids, x) for solids in self._tensors_of), nothing]
        strains = [*(green_strain(solids, x) for solids in self._tensors_of), nothing]
        return {
            name: np.concatenate(parts)[self._place].reshape(-1, 9)
            for name, parts in zip(TENSORS, (stresses, strains), strict=True)
        }

    def _with_obstacles(
        self, rows: Rows, x: np.ndarray, fields: dict[str, np.ndarray]
    ) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Points of obstacles after those of the bodies; of the fields they have a velocity, and zeros."""
        before, now = (
            np.concatenate([outline.placed(row) for outline, row in zip(self._obstacles, at, strict=True)])
            for at in rows
        )
        longer = {name: np.concatenate([own, np.zeros((len(now), *own.shape[1:]))]) for name, own in fields.items()}
        if "velocity" in longer:
            longer["velocity"][len(x) :] = (now - before) / self._h
        return np.concatenate([x, now]), longer


def _layout(scene: Scene, model: Model, obstacles: Sequence[Outline], frame_rate: float, skins: bool) -> Layout:
    """Bodies, then obstacles with formulas; their colours, and which are obstacles."""
    parts = [_part(k, body, model, skins) for k, body in enumerate(scene.bodies)]
    parts += [Part(len(obstacle.points), obstacle.triangles, np.empty((0, 4))) for obstacle in obstacles]
    names = [*model.body_names, *(obstacle.name for obstacle in obstacles)]
    whole = layout_of_parts(parts, names, frame_rate)
    n = len(scene.bodies)
    scenery = [k for k, body in enumerate(scene.bodies) if body.kind == MeshObstacleBody.kind] + [*range(n, len(parts))]
    whole.colours[scenery] = OBSTACLE_COLOUR
    for k, body in enumerate(scene.bodies):
        if body.colour is not None:
            whole.colours[k] = body.colour
    rigid = tuple(k for k, body in enumerate(scene.bodies) if isinstance(body, RigidBody))
    return replace(_with_spheres(whole, scene.bodies), scenery=tuple(scenery), rigid=rigid)


def _with_spheres(layout: Layout, bodies: Sequence[Body]) -> Layout:
    """The layout with the radii of particles, and the times at which they come."""
    radii, births = np.zeros(layout.n_points), np.zeros(layout.n_points)
    for k, body in enumerate(bodies):
        if isinstance(body, Particles):
            own = slice(*layout.body_start[k : k + 2])
            radii[own], births[own] = body.radius, body.births
    return replace(layout, radii=radii, births=births) if radii.any() else layout


def _part(number: int, body: Body, model: Model, skins: bool) -> Part:
    nothing = np.empty((0, 3), int), np.empty((0, 4), int)
    drawn = None if model.topology is None else model.topology.drawn(number)
    if drawn is not None:  # triangles and springs that may come apart have points of their own
        points = np.arange(len(drawn))
        if isinstance(body, SpringNet):
            return Part(len(points), *nothing, points.reshape(-1, 2))
        return Part(len(points), points.reshape(-1, 3), nothing[1])
    if isinstance(body, Solid):
        tets, skin = model.elements_of(number), skin_of(body) if skins else None
        if skin is None:
            return Part(body.n_vertices, nothing[0], tets)
        is_whole = len(tets) == len(body.mesh.tets)  # else tets were deleted, and have other numbers
        behind = skin.owners if is_whole else np.full(len(skin.triangles), -1)
        points = body.n_vertices + skin.matrix.shape[0]
        return Part(points, skin.triangles + body.n_vertices, tets, skin_tets=behind)
    if isinstance(body, RigidBody):
        points, triangles = body.shape.surface
        return Part(len(points), triangles, nothing[1])
    edges = body.edges if isinstance(body, SpringNet) else np.empty((0, 2))
    return Part(body.n_vertices, body.surface, nothing[1], edges)


def contact_fields(contacts: StepContacts, n: int) -> dict[str, np.ndarray]:
    """contact_force (n, 3) [N], friction included, and penetration (n,) [m] of n vertices; zero before the first step,
    and of vertices that tearing has added since the contacts were found.
    """
    added = n - len(contacts.penetrations)
    return {
        "contact_force": np.concatenate([contacts.vertex_forces, np.zeros((added, 3))]),
        "penetration": np.concatenate([contacts.penetrations, np.zeros(added)]),
    }


def body_fields(contacts: StepContacts) -> dict[str, np.ndarray]:
    """Net contact_force [N] and contact_torque [N m] (m, 3) of bodies, then of obstacles."""
    return {
        "contact_force": np.concatenate([contacts.body_forces, contacts.obstacle_forces]),
        "contact_torque": np.concatenate([contacts.body_torques, contacts.obstacle_torques]),
    }


def _tets_of_patches(groups: Sequence[Solids]) -> np.ndarray:
    """Their numbers through all groups."""
    is_of_patch = [np.full(len(group.tets), isinstance(group, PatchTets)) for group in groups]
    return np.flatnonzero(np.concatenate([np.zeros(0, bool), *is_of_patch]))


def _by_body(solids: Solids, body_start: np.ndarray) -> list[Solids]:
    """Tets of patches, which are numbered within a body, one body after the other; others as they are."""
    if not isinstance(solids, PatchTets):
        return [solids]
    bodies = np.searchsorted(body_start, solids.tets[:, 0], side="right")
    return [solids.taken(np.flatnonzero(bodies == body)) for body in np.unique(bodies)]


def _some(groups: Sequence[Solids], rows: np.ndarray) -> list[Solids]:
    """Some tets, numbered through all groups in ascending order."""
    ends = np.cumsum([len(group.tets) for group in groups])
    parts = np.split(rows, np.searchsorted(rows, ends))
    firsts = np.concatenate([[0], ends])
    return [group.taken(part - first) for group, part, first in zip(groups, parts, firsts, strict=False)]
