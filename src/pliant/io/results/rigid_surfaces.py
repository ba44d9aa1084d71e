"""Surfaces of rigid bodies as formats with transforms have them: points in the body's axes, and a pose per frame."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.geometry import rotations
from pliant.io.results.result import Layout, Result
from pliant.io.results.surfaces import vertex_normals


class RigidSurface(NamedTuple):
    """A rigid body's surface."""

    number: int  # of the body
    points: np.ndarray  # (n, 3) [m] from the centre of mass, in the body's axes
    normals: np.ndarray  # (n, 3)
    triangles: np.ndarray  # (k, 3)
    positions: np.ndarray  # (frames, 3) [m]
    orientations: np.ndarray  # (frames, 4) unit quaternions wxyz, each on the side of the one before


def rigid_surfaces(result: Result, layout: Layout, kept: np.ndarray) -> list[RigidSurface]:
    """Of the bodies whose poses a result has; layout: of its surface, which keeps some of the points (n,)."""
    if not len(result) or not layout.rigid or len(result.poses(0)) != len(layout.rigid):
        return []
    poses = np.stack([result.poses(k) for k in range(len(result))])
    first = result.positions(0)[kept]
    found = []
    for place, number in enumerate(layout.rigid):
        begin, end = layout.body_start[number : number + 2]
        triangles = layout.triangles[layout.triangle_bodies == number] - begin
        if not len(triangles):
            continue
        points = (first[begin:end] - poses[0, place, :3]) @ rotations.matrices(poses[0, place, 3:])
        normals = vertex_normals(points, triangles)
        own = poses[:, place]
        found.append(RigidSurface(number, points, normals, triangles, own[:, :3], continued(own[:, 3:])))
    return found


def continued(quaternions: np.ndarray) -> np.ndarray:
    """The same rotations (frames, 4), each quaternion on the side of the one before, so that linear interpolation goes
    the shorter way.
    """
    turns = np.einsum("ka,ka->k", quaternions[1:], quaternions[:-1]) < 0
    signs = np.concatenate([[1.0], np.cumprod(np.where(turns, -1.0, 1.0))])
    return quaternions * signs[:, None]
