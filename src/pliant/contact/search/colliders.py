"""What takes part in contact, as arrays, and the trees over it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from pliant.contact.primitives.pair import are_sharp
from pliant.contact.search import bvh
from pliant.contact.search.broad_phase import Rules, Surface, Trees, surface_of, with_springs
from pliant.contact.search.bvh import NOTHING, Tree
from pliant.contact.search.inversion import apexes, opposite_edges
from pliant.contact.search.motion import Motion, motion_of
from pliant.contact.search.patches import Patches, patches_of
from pliant.contact.search.self_collision_culling import SelfCollisionCulling, self_collision_culling_of
from pliant.contact.search.solid import Solid, solid_of
from pliant.contact.search.stitched import are_stitched, stitched_keys
from pliant.errors import SceneError, SimulationError
from pliant.kernels.threads import Team
from pliant.lanes.compiled import cached, compiled

if TYPE_CHECKING:
    from pliant.contact.search.surface_pairs import Search

SHARP_AT_START = 0.985  # cosine of half the angle (20 degrees) between the faces of an edge that may become sharp
LONG = 0.03  # of a mean edge: boxes are of both ends of ways that are longer
REBUILD = 1.5  # a tree is built again when its blocks have grown by so much in sum


@dataclass
class FittedTree:
    """A tree that is refitted to new positions, and built again when that makes its boxes too wide."""

    corners: np.ndarray  # (m, c) int32
    body: np.ndarray  # (n,) int32 of the vertices
    numbers: np.ndarray | None = None  # (m,) int32 by which pairs name the primitives; None: their rows
    tree: Tree | None = None
    extent_when_built: float = 0.0

    def build(self, team: Team, motion: Motion) -> Tree:
        """A new tree for vertices in motion."""
        self.tree = bvh.build(team, self.corners, motion, self.body)
        if self.numbers is not None:
            order = self.tree.order
            self.tree = self.tree._replace(order=np.where(order == NOTHING, NOTHING, self.numbers[order]))
        self.extent_when_built = bvh.block_extent(self.tree)
        return self.tree


def fit_trees(team: Team, trees: tuple[FittedTree, ...], motion: Motion) -> list[Tree]:
    """The trees for a motion of vertices: refitted, all together, or built again."""
    old = [tree for tree in trees if tree.tree is not None]
    if old:
        refitted = bvh.refit(team, tuple(tree.tree for tree in old if tree.tree is not None), motion)
        for tree, new in zip(old, refitted, strict=True):
            tree.tree = new
    return [
        tree.tree
        if tree.tree is not None and bvh.block_extent(tree.tree) <= REBUILD * tree.extent_when_built
        else tree.build(team, motion)
        for tree in trees
    ]


@dataclass(frozen=True)
class Colliders:
    """Surfaces, springs and solids of all bodies and mesh obstacles, by vertices of the scene (n in all)."""

    surface: Surface  # triangles of solids (outward), cloth and mesh obstacles; edges of springs are the last
    faces_of_edge: np.ndarray  # (e, 2) int32 triangles at each edge, twice the same at a rim; -1 at springs
    patches: Patches
    solid: Solid
    rules: Rules
    radius: np.ndarray  # (n,) half the thickness [m]: two primitives keep the sum of their radii apart
    clearance: np.ndarray  # (n,) [m] what of it is no thickness, but a small distance that solids keep
    has_inside: np.ndarray  # (n,) bool: belongs to a solid, whose triangles are touched from outside only
    is_closed: np.ndarray  # (n,) bool: of a rigid body, whose triangles enclose it and look outwards
    stitched: np.ndarray  # pairs of vertices that seams join (stitched.stitched_keys)
    opposite: np.ndarray  # pairs of edges that do not touch: opposite in a tet (inversion.opposite_edges), or springs
    edge: float  # [m] mean length where they start, infinite if it is not known
    self_collision_culling: SelfCollisionCulling
    vertex_tree: FittedTree
    edge_tree: FittedTree
    triangle_tree: FittedTree
    tet_tree: FittedTree
    face_tree: FittedTree
    sharp_tree: FittedTree  # edges of solids that are sharp as they start
    bare_tree: FittedTree  # edges of sheets and springs
    searches: list[Search] = field(default_factory=list, kw_only=True)  # the last ones, the latest first


def make_colliders(
    triangles: np.ndarray,
    tets: np.ndarray,
    rules: Rules,
    radius: np.ndarray | None = None,
    start: np.ndarray | None = None,
    springs: np.ndarray | None = None,
    stitched: np.ndarray | None = None,
    clearance: np.ndarray | None = None,
    is_closed: np.ndarray | None = None,
) -> Colliders:
    """Connect sheets' triangles (t, 3) and springs (s, 2), in addition to the boundary of tets (m, 4) of positive
    volume at rest.

    start (n, 3) [m]: where vertices start; without it no body is known to be convex, and all edges count as sharp.
    stitched (k, 2): vertices that seams join. clearance (n,) [m], is_closed (n,): as of
    Colliders.
    """
    n = len(rules.body)
    _check_rules(rules)
    solid = solid_of(tets, n)
    sheets = np.asarray(triangles, np.int32).reshape(-1, 3)
    hull = surface_of(np.concatenate([solid.faces, sheets]), n)
    surface = with_springs(hull, np.zeros((0, 2), np.int32) if springs is None else springs)
    radius = np.zeros(n) if radius is None else np.asarray(radius, dtype=float)
    bad = np.flatnonzero(~(np.isfinite(radius) & (radius >= 0)))
    if radius.shape != (n,) or len(bad):
        where = f"vertex {bad[0]} has {radius[bad[0]]}" if len(bad) else f"the shape is {radius.shape}"
        raise SceneError(f"contact: radius must be a number of at least 0 [m] for each of {n} vertices; {where}.")
    has_inside = np.zeros(n, bool)
    has_inside[solid.faces] = True
    trees = [FittedTree(corners, rules.body) for corners in (*surface, solid.tets, solid.faces)]
    of_hull = _faces_of_edges(hull, n)
    faces_of_edge = np.full((len(surface.edges), 2), -1, np.int32)
    faces_of_edge[: len(hull.edges)] = of_hull
    apex = np.concatenate([apexes(solid), np.full(len(sheets), -1, np.int32)])
    patches = patches_of(surface.triangles, hull.edges, of_hull, has_inside, rules.excluded, apex)
    opposite = opposite_edges(solid, hull, n)
    if len(opposite):
        opposite = opposite // len(hull.edges) * len(surface.edges) + opposite % len(hull.edges)
    start = np.zeros((n, 3)) if start is None else np.ascontiguousarray(start, dtype=float)
    is_solid = has_inside[surface.edges[:, 0]]
    edges = np.flatnonzero(is_solid).astype(np.int32)
    sharp = edges[are_sharp(start, surface.triangles, faces_of_edge, edges, SHARP_AT_START)]
    for numbers in (sharp, np.flatnonzero(~is_solid).astype(np.int32)):
        trees.append(FittedTree(surface.edges[numbers], rules.body, numbers))
    culling = self_collision_culling_of(solid, surface.edges[is_solid], faces_of_edge[is_solid], start, rules.body)
    keys = stitched_keys(np.zeros((0, 2), np.int64) if stitched is None else stitched, n)
    about = (
        surface,
        faces_of_edge,
        patches,
        solid,
        rules,
        radius,
        np.zeros(n) if clearance is None else clearance,
        has_inside,
        np.zeros(n, bool) if is_closed is None else is_closed,
        keys,
        opposite,
        _mean_length(start, surface.edges),
        culling,
    )
    return Colliders(*about, *trees)


def across_seams(colliders: Colliders, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """(m,) bool: which primitives with vertices first (m, p) and second (m, q) are neighbours across a seam."""
    return are_stitched(colliders.stitched, len(colliders.rules.body), first, second)


def any_of(chosen: np.ndarray, primitives: np.ndarray) -> np.ndarray:
    """(m,) bool: which primitives (m, c) have a vertex that is chosen, (n,) bool."""
    found = np.empty(len(primitives), bool)
    cached(mark_any)(chosen, primitives, found)
    return found


@compiled
def mark_any(chosen, primitives, found):
    for k in range(len(primitives)):
        found[k] = False
        for i in range(primitives.shape[1]):
            found[k] = found[k] or chosen[primitives[k, i]]


def check_positions(x: np.ndarray, colliders: Colliders, what: str) -> np.ndarray:
    """Finite positions (n, 3) in double precision: a NaN would be in no box and so be lost without a word."""
    n = len(colliders.rules.body)
    x = np.ascontiguousarray(x, dtype=float)
    if x.shape != (n, 3):
        raise SimulationError(f"contact: {what} has shape {x.shape}; give positions of all {n} vertices, ({n}, 3).")
    if not np.isfinite(x.sum()):
        bad = np.flatnonzero(~np.isfinite(x).all(axis=1))
        if len(bad):
            raise SimulationError(
                f"contact: {what} of vertex {bad[0]} is {x[bad[0]].tolist()}: the step before has failed; take smaller "
                "steps or a softer contact."
            )
    return x


def way_of(team: Team, colliders: Colliders, x0: np.ndarray, x1: np.ndarray, separation: float) -> Motion:
    """The way from x0 to x1 (n, 3) [m], with boxes that meet within a separation [m]."""
    return motion_of(team, x0, x1, 0.5 * separation, LONG * colliders.edge)


def fit_surface(team: Team, colliders: Colliders, x0: np.ndarray, x1: np.ndarray, separation: float) -> Trees:
    """Trees over vertices, edges and triangles for motion from x0 to x1; boxes meet within separation [m]."""
    motion = way_of(team, colliders, x0, x1, separation)
    parts = (colliders.vertex_tree, colliders.edge_tree, colliders.triangle_tree)
    vertices, edges, triangles = fit_trees(team, parts, motion)
    no_self_contact = colliders.self_collision_culling.mark(team, x0, x1, separation, len(colliders.rules.allowed))
    return Trees(vertices, edges, triangles, motion, float(separation), no_self_contact)


def _check_rules(rules: Rules) -> None:
    n, bodies = len(rules.body), len(rules.allowed)
    if rules.excluded.shape != (n,) or rules.allowed.shape != (bodies, bodies):
        raise SceneError(
            f"contact: {n} vertices and {bodies} bodies need excluded ({n},) and allowed ({bodies}, {bodies}), not "
            f"{rules.excluded.shape} and {rules.allowed.shape}."
        )
    if n and not 0 <= rules.body.min() <= rules.body.max() < bodies:
        raise SceneError(
            f"contact: vertices are of bodies {rules.body.min()} to {rules.body.max()}, but there are {bodies}."
        )


def _mean_length(x: np.ndarray, edges: np.ndarray) -> float:
    """[m] of edges (e, 2) at positions (n, 3) [m], infinite if there is none or all are points."""
    length = float(np.linalg.norm(x[edges[:, 1]] - x[edges[:, 0]], axis=1).mean()) if len(edges) else 0.0
    return length if length > 0 else np.inf


def _faces_of_edges(surface: Surface, n_vertices: int) -> np.ndarray:
    """Two triangles at each edge; of more than two, the first and the last."""
    if not len(surface.edges):
        return np.zeros((0, 2), np.int32)
    edges, triangles = surface.edges.astype(np.int64), surface.triangles.astype(np.int64)
    ends = np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), axis=1)
    face = np.tile(np.arange(len(triangles)), 3)
    proper = ends[:, 0] != ends[:, 1]
    edge = np.searchsorted(edges @ (n_vertices, 1), ends[proper] @ (n_vertices, 1))
    order = np.lexsort((face[proper], edge))
    start = np.searchsorted(edge[order], np.arange(len(edges) + 1))
    return face[proper][order][np.column_stack([start[:-1], start[1:] - 1])].astype(np.int32)
