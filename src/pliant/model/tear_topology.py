"""How the elements of a whole scene hang on the corners of its sheets' triangles: what tearing takes apart.

Corners are numbered 3 t + c through the triangles t of all sheets.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pliant.elements.conversion import Converted
from pliant.elements.quadratic_bending import square_corners
from pliant.geometry import TriMesh
from pliant.geometry.fans import fold_fans
from pliant.geometry.folds import hinge_corners
from pliant.geometry.tearing import Fans, fans_of
from pliant.model.blocks import Block, Patches, PatchTets, Tearing
from pliant.model.body import Body
from pliant.model.cloth import Cloth
from pliant.model.solid import Solid
from pliant.model.spring_net import SpringNet
from pliant.model.wind import WindForce

if TYPE_CHECKING:
    from pliant.model.model import Model


class Surfaces(NamedTuple):
    """Triangles of several bodies, some of them sheets."""

    triangles: np.ndarray  # (k, 3) vertices
    corners: np.ndarray  # (k, 3) corners where they are a sheet's, else -1


class PatchMembers(NamedTuple):
    """Which tets the patches of a block are means of."""

    block: int  # number of the block of these tets
    patch: np.ndarray  # (t,) patch of each tet, of all bodies


@dataclass(frozen=True)
class TearTopology:
    """It never changes. Arrays of blocks are None where a block has nothing to do with it."""

    body_start: np.ndarray  # (bodies + 1,) first vertex of each body
    triangle_start: np.ndarray  # (bodies + 1,) first triangle of each body; only sheets have any
    corners: np.ndarray  # (3 m,) vertex of each corner
    limits: np.ndarray  # (3 m,) length at which the edge from each corner to the next tears [m]
    shares: np.ndarray  # (3 m,) mass of each corner [kg]
    fans: Fans
    elements: tuple[np.ndarray, ...]  # of each block
    follow: tuple[
        np.ndarray | None, ...
    ]  # of each block: corners (r, 3) of triangles, (r, 6) of hinges, (r, 11) of pairs, (r, 19) of fans,
    # (r, 12 k) of plates
    spring_limits: tuple[np.ndarray | None, ...]  # of each block: length at which springs (r,) break [m]
    patches: tuple[PatchMembers | None, ...]  # of each block
    tets: np.ndarray  # (t, 4) of all solids, body by body
    wind: Surfaces  # that the wind meets on both sides
    wind_skin: np.ndarray  # (k, 3) triangles of solids in the wind
    contact: Surfaces


def seams_of(model: Model, bodies: Sequence[Body]) -> TearTopology:
    """The tear_topology of a scene that was just frozen."""
    placed = list(zip(bodies, model.body_start[:-1].tolist(), strict=True))
    sheets = [(body, first) for body, first in placed if isinstance(body, Cloth)]
    counts = [len(body.mesh.triangles) if isinstance(body, Cloth) else 0 for body in bodies]
    start = np.concatenate([[0], np.cumsum(counts)])
    corners = _joined([body.mesh.triangles + first for body, first in sheets], int).ravel()
    areal = _joined([body.mesh.areas * body.density for body, _ in sheets])
    blown = next((force for force in model.forces if isinstance(force, WindForce)), None)
    wind = np.empty((0, 3), int) if blown is None else blown.triangles[~blown.has_inside]
    skin = np.empty((0, 3), int) if blown is None else blown.triangles[blown.has_inside]
    touching = np.empty((0, 3), int) if model.contact is None else model.contact.triangles
    tets = [body.mesh.tets + first for body, first in placed if isinstance(body, Solid)]
    return TearTopology(
        model.body_start,
        start,
        corners,
        _joined([_edge_limits(body) for body, _ in sheets]),
        np.repeat(areal / 3, 3),
        fans_of(corners, model.n_vertices),
        tuple(block.elements for block in model.blocks),
        tuple(_follow(block, placed, start) for block in model.blocks),
        tuple(_spring_limits(block, placed) for block in model.blocks),
        tuple(_patch_members(block, model) for block in model.blocks),
        np.concatenate([np.empty((0, 4), int), *tets]),
        Surfaces(wind, _corners_of(wind, placed, start)),
        skin,
        Surfaces(touching, _corners_of(touching, placed, start)),
    )


def rows_of(elements: np.ndarray, first: int, last: int) -> np.ndarray:
    """Rows of the elements (m, k) whose vertices are first..last - 1."""
    return np.flatnonzero((elements[:, 0] >= first) & (elements[:, 0] < last))


def _joined(parts: list[np.ndarray], dtype: type = float) -> np.ndarray:
    return np.concatenate(parts) if parts else np.empty(0, dtype)


def _edge_limits(body: Cloth) -> np.ndarray:
    points = body.mesh.points[body.mesh.triangles]
    lengths = np.linalg.norm(np.roll(points, -1, axis=1) - points, axis=2).ravel()
    return np.full(len(lengths), np.inf) if body.tear_at is None else body.tear_at * lengths


def _corners_of(triangles: np.ndarray, placed: list[tuple[Body, int]], start: np.ndarray) -> np.ndarray:
    """Corners of triangles that are the sheets', in their order, once or several times; -1 of others."""
    corners = np.full(triangles.shape, -1)
    for k, (body, first) in enumerate(placed):
        if isinstance(body, Cloth):
            own = np.arange(3 * start[k], 3 * start[k + 1]).reshape(-1, 3)
            rows = rows_of(triangles, first, first + body.n_vertices)
            corners[rows] = np.tile(own, (len(rows) // len(own), 1))
    return corners


def _follow(block: Block, placed: list[tuple[Body, int]], start: np.ndarray) -> np.ndarray | None:
    if block.tearing is Tearing.FOLLOWS_TRIANGLES:
        return _corners_of(block.elements, placed, start)
    if block.tearing not in _FOLD_CORNERS:
        return None
    found = [
        (rows, 3 * start[k] + _FOLD_CORNERS[block.tearing](body.mesh))
        for k, (body, first) in enumerate(placed)
        if isinstance(body, Cloth) and len(rows := rows_of(block.elements, first, first + body.n_vertices))
    ]
    own, width = block.elements.shape[1], max(part.shape[1] for _, part in found)
    corners = np.empty((len(block.elements), width), int)
    for rows, part in found:
        more = part[:, np.arange(width - part.shape[1]) % own]  # again, where other sheets have more
        corners[rows] = np.concatenate((part, more), axis=1)
    return corners


#: Which corners of the triangles of a sheet elements follow.
_FOLD_CORNERS: dict[Tearing, Callable[[TriMesh], np.ndarray]] = {
    Tearing.FOLLOWS_FOLDS: lambda mesh: hinge_corners(mesh.triangles, mesh.n_vertices),
    Tearing.FOLLOWS_FOLD_PAIRS: lambda mesh: fold_fans(mesh.points, mesh.triangles).pair_corners,
    Tearing.FOLLOWS_FOLD_FANS: lambda mesh: fold_fans(mesh.points, mesh.triangles).fan_corners,
    Tearing.FOLLOWS_PLATE: lambda mesh: square_corners(mesh.points, mesh.triangles),
}


def _patch_members(patches: Block, model: Model) -> PatchMembers | None:
    if not isinstance(patches, Patches):
        return None
    is_converted = isinstance(patches, Converted)
    for number, tets in enumerate(model.blocks):
        if isinstance(tets, PatchTets) and tets.law is patches.law and isinstance(tets, Converted) is is_converted:
            body = np.searchsorted(model.body_start, tets.elements[:, 0], side="right") - 1
            bodies = np.searchsorted(model.body_start, patches.elements[:, 0], side="right") - 1  # ascending
            first = np.searchsorted(bodies, np.arange(len(model.body_start)))
            return PatchMembers(number, tets.patch + first[body])
    raise AssertionError("patches without tets")


def _spring_limits(block: Block, placed: list[tuple[Body, int]]) -> np.ndarray | None:
    if block.tearing is not Tearing.BREAKS:
        return None
    limits = np.full(len(block.elements), np.inf)
    for body, first in placed:
        if isinstance(body, SpringNet) and body.tear_at is not None:
            limits[rows_of(block.elements, first, first + body.n_vertices)] = body.tear_at * body.lengths
    return limits
