"""Packs and walks of meshes, put together as solvers do."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.spatial import Delaunay

from pliant.elements.tet import rest_data
from pliant.geometry import TetMesh, colour_vertices, shapes, spatial_order, vertex_graph
from pliant.geometry.links import LinkWalks, walk_links
from pliant.kernels.links import longest_paths
from pliant.kernels.packs import Packs, arrange, needs_wide_pack


@dataclass(frozen=True)
class Packed:
    """A mesh with some fixed vertices, its walks and its packs."""

    mesh: TetMesh
    fixed: np.ndarray
    walks: LinkWalks
    packs: Packs

    @property
    def rest(self) -> tuple[np.ndarray, np.ndarray]:
        return rest_data(self.mesh.points, self.mesh.tets)


def packed(mesh: TetMesh, width: int) -> Packed:
    n = mesh.n_vertices
    rng = np.random.default_rng(10)
    fixed = rng.random(n) < 0.1
    fixed[0] = False
    colours = colour_vertices(*vertex_graph([mesh.tets], n))
    used = np.unique(colours[~fixed])
    colours = np.where(fixed, -1, np.searchsorted(used, colours))
    elements_of = np.bincount(mesh.tets.ravel(), minlength=n)
    wide = needs_wide_pack(elements_of, width)
    walks = walk_links(mesh.tets, n, longest_paths(elements_of, wide, width))
    place = np.empty(n, np.int64)
    place[spatial_order(mesh.points)] = np.arange(n)
    subspace = np.where(fixed, 0, rng.choice([3, 3, 3, 2, 1], n))
    return Packed(mesh, fixed, walks, arrange(colours, np.diff(walks.start), wide, subspace, place, width))


def star(n: int = 150) -> TetMesh:
    """A vertex in the middle of a sphere, at which all tets meet: it needs a wide pack."""
    rng = np.random.default_rng(11)
    points = rng.normal(size=(n, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    hull = Delaunay(points).convex_hull
    tets = np.column_stack([np.zeros(len(hull), np.int64), hull + 1])
    return TetMesh(np.vstack([np.zeros(3), points]), tets, orient=True)


@pytest.fixture(scope="session", params=["ball-4", "ball-16", "star-4", "star-8", "box-1"])
def example(request: pytest.FixtureRequest) -> Packed:
    name, width = request.param.split("-")
    mesh = {"ball": lambda: shapes.ball(cells=3), "star": star, "box": lambda: shapes.box(cells=2)}[name]()
    made = packed(mesh, int(width))
    assert made.packs.is_wide.any() == (name == "star")
    return made
