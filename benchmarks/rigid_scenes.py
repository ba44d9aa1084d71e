"""Scenes of benchmarks.rigid as plain arrays, which every simulator builds in its own way; how well they are solved."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.resources import files

import numpy as np
from scipy.spatial import ConvexHull, cKDTree

import pliant as pl
from pliant.geometry import rotations

SHARP = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)


@dataclass(frozen=True)
class RigidScene:
    """Convex rigid bodies, by their corners, on a floor at z = 0 or in a box; soft balls among them.

    A body is a box where `sizes` are given, and a closed mesh otherwise.
    """

    name: str
    positions: np.ndarray  # (n, 3) [m] of the centres
    turns: np.ndarray  # (n, 4) unit quaternions (w, x, y, z)
    sizes: np.ndarray | None = None  # (n, 3) [m] edges of boxes
    corners: np.ndarray | None = None  # (n, k, 3) [m] about the centres of mass, of meshes
    triangles: np.ndarray | None = None  # (m, 3) of each mesh
    friction: float = 0.5
    density: float = 1000.0
    walls: tuple[float, float] | None = None  # [m] width and depth of a container about the origin
    pot: tuple[np.ndarray, np.ndarray] | None = None  # points and triangles of a mesh that stands still
    soft: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)  # points and tets
    youngs_modulus: float = 1e5
    poissons_ratio: float = 0.3

    @property
    def count(self) -> int:
        return len(self.positions)

    def own_corners(self) -> np.ndarray:
        """(n, k, 3) [m] in each body's own axes."""
        return self.corners if self.sizes is None else 0.5 * self.sizes[:, None] * SHARP


def pyramid(rows: int = 16) -> RigidScene:
    """Bricks of 1 x 0.5 x 0.5 m, 2 cm apart."""
    places = [(1.02 * (i - 0.5 * (rows - 1 - r)), 0, 0.25 + 0.5 * r) for r in range(rows) for i in range(rows - r)]
    n = len(places)
    return RigidScene("pyramid", np.array(places), _level(n), np.tile((1, 0.5, 0.5), (n, 1)))


def drop(count: int = 1000) -> RigidScene:
    """Cubes of 0.2 m, turned at random, above the floor of a container that they fill about two cubes per metre^2."""
    across = max(3, round((count / 2) ** (1 / 3)))
    rng = np.random.default_rng(1)
    k = np.arange(count)
    grid = np.stack([k % across - 0.5 * (across - 1), k // across % across - 0.5 * (across - 1), k // across**2], 1)
    places = 0.4 * grid + rng.uniform(-0.01, 0.01, (count, 3)) + np.array([0, 0, 0.25])
    turns = rotations.normalised(rng.normal(size=(count, 4)))
    width = 0.4 * across + 0.1
    return RigidScene("drop", places, turns, np.full((count, 3), 0.2), walls=(width, width))


def teapot(count: int = 60) -> RigidScene:
    """Meshes of 12 corners, 6 cm long, into the pot of the gallery."""
    pot = pl.load_mesh(files("pliant.scenes.gallery").joinpath("teapot.obj"))
    rng = np.random.default_rng(2)
    golden = 0.5 * (1 + 5**0.5)
    ball = np.array([np.roll((0, a, b * golden), s) for s in range(3) for a in (-1, 1) for b in (-1, 1)])
    hull = ConvexHull(ball).simplices
    a, b, c = (ball[hull[:, i]] for i in range(3))
    outward = np.einsum("ma,ma->m", np.cross(b - a, c - a), a) > 0
    triangles = np.where(outward[:, None], hull, hull[:, ::-1])
    corners = 0.018 * (ball / np.linalg.norm(ball[0]))[None] * rng.uniform(0.8, 1.4, (count, 1, 3))
    angle = 2.4 * np.arange(count)
    radius = 0.06 * (np.arange(count) % 3) / 2
    places = np.stack([radius * np.cos(angle), radius * np.sin(angle), 0.45 + 0.025 * np.arange(count)], 1)
    turns = rotations.normalised(rng.normal(size=(count, 4)))
    mesh = (np.array(pot.points), np.array(pot.triangles))
    return RigidScene("teapot", places, turns, None, corners, triangles, 0.4, 800.0, pot=mesh)


def soft_and_rigid(balls: int = 20, boxes: int = 100) -> RigidScene:
    """Soft balls of 0.4 m on a heap of cubes of 0.2 m, in a container."""
    below = drop(boxes)
    assert below.walls is not None
    mesh = pl.shapes.ball(radius=0.2, cells=4)
    across = max(2, int(below.walls[0] // 0.45))
    top = below.positions[:, 2].max() + 0.4
    soft = []
    for k in range(balls):
        place = 0.45 * np.array([k % across, k // across % across, k // across**2], float)
        place[:2] -= 0.225 * (across - 1)
        soft.append((mesh.points + place + np.array([0, 0, top]), np.array(mesh.tets)))
    return RigidScene("soft", below.positions, below.turns, below.sizes, walls=below.walls, soft=soft)


def _level(count: int) -> np.ndarray:
    return np.tile((1.0, 0, 0, 0), (count, 1))


def deepest(scene: RigidScene, positions: np.ndarray, turns: np.ndarray) -> float:
    """[m] how far a corner of a body is within another one or below the floor, at most."""
    own = scene.own_corners()
    R = rotations.matrices(turns)
    world = np.einsum("nab,nkb->nka", R, own) + positions[:, None]
    planes = [_planes(points) for points in own] if scene.sizes is None else None
    reach = np.linalg.norm(own, axis=2).max(axis=1)
    worst = 0.0 if scene.pot is not None else float(max(0.0, -world[:, :, 2].min()))
    for i, j in cKDTree(positions).query_pairs(2 * reach.max(), output_type="ndarray"):
        for a, b in ((i, j), (j, i)):
            inside = (world[a] - positions[b]) @ R[b]
            if planes is None:
                depth = (0.5 * scene.sizes[b] - np.abs(inside)).min(axis=1)
            else:
                depth = -(inside @ planes[b][:, :3].T + planes[b][:, 3]).max(axis=1)
            worst = max(worst, float(depth.max()))
    return worst


def _planes(points: np.ndarray) -> np.ndarray:
    """(m, 4) outward normals and offsets of a hull."""
    return ConvexHull(points).equations
