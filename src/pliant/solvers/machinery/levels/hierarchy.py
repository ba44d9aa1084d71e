"""Levels of aggregates, as many as pay off, and how they lie in each other."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pliant.energies import IncrementalPotential
from pliant.geometry import vertex_graph
from pliant.kernels.coarse_levels import UNKNOWNS, CoarseMatrix, Joined, Members
from pliant.model import CARRIED, Model
from pliant.solvers.machinery.levels.aggregates import Aggregates, centres, components, join_points
from pliant.sparse import sp

JOINED = 16  # aggregates of a level that the next one joins to one
FEWEST = (8, 12)  # aggregates of the last level, the more the finer the mesh: its matrix is dense
DENSE = 64  # aggregates of the last level whose matrix is inverted; more, as of many bodies, are only smoothed


@dataclass
class Hierarchy:
    """Aggregates of the vertices that move, and the frames of their bodies."""

    finest: Aggregates
    component: np.ndarray  # (rows,) connected part of a body that a vertex belongs to
    turns: np.ndarray  # (components,) whether it may turn: nothing of it is held
    rigid: np.ndarray  # aggregates of the finest level that are rigid bodies
    members: Members
    matrix: CoarseMatrix
    joined: Joined
    radius: np.ndarray = field(repr=False)  # (m,) of the aggregates of the finest level [m]

    def place(self, x: np.ndarray) -> None:
        """Let offsets be those of positions x (rows, 3), and frames not be turned."""
        of_row, m = self.finest.of_point, self.finest.size
        middle = centres(x, of_row, m)
        self.radius[:] = _radii(x, middle, of_row)
        self.members.offset[:] = (x - middle[of_row]) / self.radius[of_row, None]
        self.members.frame[:] = np.eye(3)
        for level in range(len(self.joined.parent)):
            parent = self.joined.parent[level] - self.joined.parent[level].min()
            count = int(parent.max()) + 1
            own = centres(x, parent[of_row], count)
            radius = _radii(x, own, parent[of_row])
            self.joined.shift[level] = (middle - own[parent]) / radius[parent, None]
            self.joined.scale[level] = self.radius / radius[parent]

    def turn(self, x: np.ndarray, reference: np.ndarray) -> None:
        """Frames of bodies that are free to turn: the rotation nearest to what took reference (rows, 3) to x."""
        if not self.turns.any():
            return
        k = len(self.turns)
        here, there = (p - centres(p, self.component, k)[self.component] for p in (x, reference))
        products = np.stack(
            [np.bincount(self.component, here[:, i] * there[:, j], k) for i in range(3) for j in range(3)]
        )
        U, _, Vt = np.linalg.svd(products.T.reshape(k, 3, 3))
        U[:, :, 2] *= np.sign(np.linalg.det(U @ Vt))[:, None]
        R = np.where(self.turns[:, None, None], U @ Vt, np.eye(3))
        self.members.frame[:] = R[self.finest.component]


def build_hierarchy(problem: IncrementalPotential, size: int) -> Hierarchy:
    """Aggregates of about `size` vertices, and of JOINED aggregates on every further level; a rigid body is one."""
    model, n = problem.model, problem.model.n_vertices
    is_carried = model.subspace == CARRIED
    is_member = soft_members(model) | is_carried
    vertices = np.flatnonzero(is_member)
    whole = _neighbours(model)
    graph = whole[vertices][:, vertices].tocsr()
    body = np.searchsorted(model.body_start, np.arange(n), side="right") - 1
    if model.topology is not None:
        body = body[model.topology.origin]
    component = components(graph, body[vertices])
    points, parts = model.positions[vertices], int(component.max(initial=-1)) + 1
    is_rigid = np.bincount(component, is_carried[vertices], parts) > 0
    finest = join_points(points, graph, component, -(-len(vertices) // size), is_rigid)
    held = model.subspace[vertices] < 3
    beside = np.asarray(whole[vertices][:, np.flatnonzero(~is_member)].sum(axis=1)).ravel() > 0
    turns = np.bincount(component, held | beside, parts) == 0
    order = np.argsort(finest.of_point, kind="stable")
    starts = np.searchsorted(finest.of_point[order], np.arange(finest.size + 1))
    room = (np.zeros((len(vertices), 3)), np.tile(np.eye(3), (finest.size, 1, 1)))
    members = Members(starts, order.astype(np.int32), vertices, *room)
    levels = (members, _matrix(finest), _joined(finest, points), np.ones(finest.size))
    return Hierarchy(finest, component, turns, np.flatnonzero(is_rigid[finest.component]), *levels)


def soft_members(model: Model) -> np.ndarray:
    """(n,) vertices that levels move: those of elements. Grains are none, and rigid bodies move by six numbers."""
    has_element = np.zeros(model.n_vertices, bool)
    for block in model.blocks:
        has_element[block.elements] = True
    is_soft: np.ndarray = has_element & model.is_free & (model.subspace != CARRIED)
    return is_soft


def _neighbours(model: Model) -> sp.csr_matrix:
    """(n, n) by elements, and of the points of a rigid body with its first one."""
    elements = [block.elements for block in model.blocks]
    if model.carried is not None:
        points, start = model.carried.points, model.carried.start
        elements.append(np.column_stack([np.repeat(points[start[:-1]], np.diff(start)), points]))
    start, neighbours = vertex_graph(elements, model.n_vertices)
    return sp.csr_matrix((np.ones(len(neighbours)), neighbours, start), shape=(model.n_vertices,) * 2)


def _matrix(finest: Aggregates) -> CoarseMatrix:
    graph, m = finest.graph, finest.size
    rows, columns = np.repeat(np.arange(m, dtype=np.int64), np.diff(graph.indptr)), graph.indices.astype(np.int64)
    diagonal, is_stored = np.flatnonzero(rows == columns), rows <= columns
    keys = rows[is_stored] * m + columns[is_stored]
    number = np.searchsorted(keys, np.minimum(rows, columns) * m + np.maximum(rows, columns)).astype(np.int32)
    blocks = np.zeros((len(keys), UNKNOWNS, UNKNOWNS))
    return CoarseMatrix(graph.indptr.astype(np.int32), graph.indices.astype(np.int32), number, diagonal, blocks)


def _joined(finest: Aggregates, points: np.ndarray) -> Joined:
    """Coarser and coarser levels; one that repeats the finest if that has few aggregates."""
    m = finest.size
    parents, total, top = [np.arange(m)], m, 0
    level, middle = finest, centres(points, finest.of_point, m)
    fewest = int(np.clip(m // 8, *FEWEST))
    while 2 * level.size > 3 * fewest:
        count = max(-(-level.size // JOINED), fewest)
        fewer = join_points(middle, level.graph, _dense(level.component), count)
        if fewer.size > 0.7 * level.size:
            break
        if level is finest:
            parents, total = [], 0
        above = fewer.of_point if level is finest else fewer.of_point[parents[-1] - top]
        top, total = total, total + fewer.size
        parents.append(above + top)
        middle, level = centres(middle, fewer.of_point, fewer.size), fewer
    parent = np.array(parents)
    children = np.argsort(parent.ravel(), kind="stable")
    start = np.searchsorted(parent.ravel()[children], np.arange(total + 1))
    shape = (len(parents), m)
    return Joined(parent, np.zeros((*shape, 3)), np.ones(shape), start, children % m, top)


def _dense(labels: np.ndarray) -> np.ndarray:
    return np.unique(labels, return_inverse=True)[1]


def _radii(x: np.ndarray, middle: np.ndarray, of_row: np.ndarray) -> np.ndarray:
    """(m,) root mean square distances from the centres [m]; 1 where there is one vertex."""
    squares = np.sum((x - middle[of_row]) ** 2, axis=1)
    radius = np.sqrt(np.bincount(of_row, squares, len(middle)) / np.bincount(of_row, minlength=len(middle)))
    return np.where(radius > 0, radius, 1.0)
