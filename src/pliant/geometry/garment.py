"""Garments: panels that lie in the plane of UV coordinates at rest, where they are on a body, and what is sewn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pliant.arguments import is_finite_number
from pliant.errors import MeshError
from pliant.geometry.mesh import TriMesh
from pliant.geometry.uv import corner_uv
from pliant.geometry.vest import vest_panels

FINEST = 1e-3  # spacing of a vest over its height: some 300,000 vertices


@dataclass(frozen=True, eq=False)
class Garment:
    """Panels of cloth, cut and laid out in a plane.

    mesh: all panels at rest, in the plane z = 0, x along u and y along v; positions: (n, 3) where they are put on [m].
    seams: pairs of chains of vertices (indices), of equal length, that are one chain in the file: edges along
    which its mesh goes on but its UV coordinates do not. origin: (n,) the vertex of the file's mesh that each vertex
    comes from. Give it to scene.add_garment.
    """

    mesh: TriMesh
    positions: np.ndarray
    seams: tuple[tuple[np.ndarray, np.ndarray], ...]
    origin: np.ndarray

    @classmethod
    def from_uv(cls, mesh: TriMesh, uv: ArrayLike, scale: float = 1.0) -> Garment:
        """Panels of a mesh, cut where its UV coordinates are.

        uv: (m, 3, 2) of corners or (n, 2) of vertices, without unit.
        scale: [m] of one unit of u and v; garment programs write UVs in metres, millimetres or parts of a square.
        """
        if not (is_finite_number(scale) and scale > 0):
            raise MeshError(f"Garment.from_uv: scale is {scale!r}; give the length [m] of one unit of u and v.")
        corners = corner_uv(mesh, uv)
        keys = np.column_stack([mesh.triangles.ravel(), corners.reshape(-1, 2)])
        split, inverse = np.unique(keys, axis=0, return_inverse=True)
        triangles, origin = inverse.reshape(-1, 3), split[:, 0].astype(np.int64)
        flat = np.column_stack([scale * split[:, 1:], np.zeros(len(split))])
        _check_areas(flat, triangles)
        seams = _seams(mesh.triangles, triangles, mesh.n_vertices)
        return cls(TriMesh(flat, triangles), mesh.points[origin], seams, origin)

    @classmethod
    def vest(cls, height: float = 1.7, spacing: float = 0.03) -> Garment:
        """A vest of two panels that fits `Animation.walking_mannequin(height, arms=0.3)` as it starts [m].

        spacing: of its vertices [m], at most 0.06 of a figure of 1.7 m.
        """
        are_lengths = is_finite_number(height) and is_finite_number(spacing) and height > 0
        if not (are_lengths and FINEST * height <= spacing <= 0.06 / 1.7 * height):
            raise MeshError(
                f"Garment.vest: height is {height!r}, spacing {spacing!r}: give positive lengths [m], and a spacing of "
                f"{FINEST:g} to 0.035 of the height."
            )
        return cls.from_uv(*vest_panels(float(height), float(spacing)))


def _check_areas(points: np.ndarray, triangles: np.ndarray) -> None:
    corner = points[triangles]
    areas = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])[:, 2]
    longest = (np.diff(corner[:, [0, 1, 2, 0]], axis=1) ** 2).sum(axis=2).max(axis=1)
    flat = np.flatnonzero(np.abs(areas) <= 1e-10 * longest)
    if flat.size:
        raise MeshError(
            f"Garment.from_uv: triangle {flat[0]} has no area in the uv plane, its corners are at "
            f"{corner[flat[0], :, :2].tolist()} [m]: unwrap the mesh again."
        )


def _seams(whole: np.ndarray, cut: np.ndarray, n: int) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
    """Chains on both sides of edges at which two triangles of the whole mesh have no common vertices once cut."""
    starts, ends = whole.ravel(), np.roll(whole, -1, axis=1).ravel()
    low, high = np.minimum(starts, ends), np.maximum(starts, ends)
    own = np.stack([cut.ravel(), np.roll(cut, -1, axis=1).ravel()], axis=1)
    own = np.where((starts == low)[:, None], own, own[:, ::-1])  # both ends, that of the smaller vertex first
    order = np.argsort(low * n + high, kind="stable")
    same = np.flatnonzero((low * n + high)[order][1:] == (low * n + high)[order][:-1])
    one, other = own[order[same]], own[order[same + 1]]
    apart = (one != other).any(axis=1)
    return tuple(_joined(one[apart], other[apart]))


def _joined(one: np.ndarray, other: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Pairs of edges (k, 2), (k, 2) put together into chains that are as long as they can be."""
    joints: dict[tuple[int, int], list[int]] = {}
    for k, (a, b) in enumerate(zip(one.tolist(), other.tolist(), strict=True)):
        for pair in zip(a, b, strict=True):
            joints.setdefault(_unordered(pair), []).append(k)
    left, chains = dict.fromkeys(range(len(one))), []
    ends = [k for ks in joints.values() if len(ks) != 2 for k in ks]
    for k in [*ends, *range(len(one))]:
        if k in left:
            chains.append(_chain(k, left, joints, one.tolist(), other.tolist()))
    return chains


def _unordered(pair: tuple[int, int]) -> tuple[int, int]:
    return (min(pair), max(pair))


def _chain(
    k: int, left: dict[int, None], joints: dict[tuple[int, int], list[int]], one: list, other: list
) -> tuple[np.ndarray, np.ndarray]:
    """From edge k on, away from an end where it has one, as far as two edges and no more meet."""
    pairs = list(zip(one[k], other[k], strict=True))
    if len(joints[_unordered(pairs[0])]) == 2 and len(joints[_unordered(pairs[1])]) != 2:
        pairs.reverse()
    left.pop(k)
    while True:
        here = joints[_unordered(pairs[-1])]
        following = [edge for edge in here if edge in left]
        if len(here) != 2 or not following:
            break
        k = following[0]
        left.pop(k)
        ends = list(zip(one[k], other[k], strict=True))
        is_flipped = not any(end == pairs[-1] for end in ends)  # the sides of this edge are listed the other way round
        ends = [end[::-1] for end in ends] if is_flipped else ends
        pairs.append(ends[1] if ends[0] == pairs[-1] else ends[0])
    a, b = np.array(pairs).T
    return a, b
