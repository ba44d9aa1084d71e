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

    component: np.ndarray  # (m,) connected part of a body that an aggregate of the finest level belongs to
    turns: np.ndarray  # (components,) whether it may turn: nothing of it is held
    rigid: np.ndarray  # aggregates of the finest level that are rigid bodies
    members: Members
    matrix: CoarseMatrix
    joined: Joined
    centre: np.ndarray = field(repr=False)  # (m, 3) of the aggregates of the finest level [m]
    radius: np.ndarray = field(repr=False)  # (m,) [m]

    @property
    def size(self) -> int:
        """Aggregates of the finest level."""
        return len(self.component)

    def place(self, x: np.ndarray) -> None:
        """Let offsets be those of positions x (n, 3), and frames not be turned."""
        vertices, of_row = self._rows()
        self.centre[:] = centres(x[vertices], of_row, self.size)
        self.radius[:] = _radii(x[vertices], self.centre, of_row)
        self.members.offset[vertices] = (x[vertices] - self.centre[of_row]) / self.radius[of_row, None]
        self.join()

    def join(self) -> None:
        """Let joined aggregates lie around those of the finest level, and frames not be turned."""
        self.members.frame[:] = np.eye(3)
        sizes = np.diff(self.members.start).astype(float)
        for level in range(len(self.joined.parent)):
            parent = self.joined.parent[level] - self.joined.parent[level].min()
            count = int(parent.max()) + 1
            weights = np.bincount(parent, sizes, count)
            own = np.column_stack([np.bincount(parent, sizes * c, count) for c in self.centre.T]) / weights[:, None]
            squares = np.sum((self.centre - own[parent]) ** 2, axis=1) + np.where(sizes > 1, self.radius**2, 0.0)
            radius = np.sqrt(np.bincount(parent, sizes * squares, count) / weights)
            radius[radius == 0] = 1.0
            self.joined.shift[level] = (self.centre - own[parent]) / radius[parent, None]
            self.joined.scale[level] = self.radius / radius[parent]

    def positions(self, others: np.ndarray) -> np.ndarray:
        """(n, 3) where vertices were placed; others (k, 3): where those are that do not move [m]."""
        vertices, of_row = self._rows()
        x = np.empty((len(self.members.of_vertex), 3))
        x[self.members.of_vertex < 0] = others
        x[vertices] = self.centre[of_row] + self.radius[of_row, None] * self.members.offset[vertices]
        return x

    def turn(self, x: np.ndarray, reference: np.ndarray) -> None:
        """Frames of bodies that are free to turn: the rotation nearest to what took reference (n, 3) to x."""
        k, (vertices, of_row) = len(self.turns), self._rows()
        part = self.component[of_row]
        here, there = (p - centres(p, part, k)[part] for p in (x[vertices], reference[vertices]))
        products = np.stack([np.bincount(part, here[:, i] * there[:, j], k) for i in range(3) for j in range(3)])
        U, _, Vt = np.linalg.svd(products.T.reshape(k, 3, 3))
        U[:, :, 2] *= np.sign(np.linalg.det(U @ Vt))[:, None]
        R = np.where(self.turns[:, None, None], U @ Vt, np.eye(3))
        self.members.frame[:] = R[self.component]

    def _rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Vertices that move, and their aggregates."""
        vertices = np.flatnonzero(self.members.of_vertex >= 0)
        return vertices, self.members.of_vertex[vertices]


def build_hierarchy(problem: IncrementalPotential, size: int, dtype: type) -> Hierarchy:
    """Aggregates of about `size` vertices, and of JOINED aggregates on every further level; a rigid body is one.
    dtype: of offsets and of blocks beside the diagonal.
    """
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
    of_vertex = np.full(n, -1, np.int32)
    of_vertex[vertices] = finest.of_point
    room: tuple[np.ndarray, ...] = (np.zeros((n, 3), dtype), np.tile(np.eye(3), (finest.size, 1, 1)))
    members = Members(starts, vertices[order].astype(np.int32), of_vertex, *room)
    levels = (members, _matrix(finest, dtype), _joined(finest, points))
    place = (np.zeros((finest.size, 3)), np.ones(finest.size))
    return Hierarchy(finest.component, turns, np.flatnonzero(is_rigid[finest.component]), *levels, *place)


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


def _matrix(finest: Aggregates, dtype: type) -> CoarseMatrix:
    graph, m = finest.graph, finest.size
    rows, columns = np.repeat(np.arange(m, dtype=np.int64), np.diff(graph.indptr)), graph.indices.astype(np.int64)
    diagonal, is_stored = np.flatnonzero(rows == columns), rows < columns
    keys = rows[is_stored] * m + columns[is_stored]
    number = np.searchsorted(keys, np.minimum(rows, columns) * m + np.maximum(rows, columns)).astype(np.int32)
    number[diagonal] = np.arange(m)
    own = np.zeros((m, UNKNOWNS, UNKNOWNS))
    blocks: np.ndarray = np.zeros((len(keys), UNKNOWNS, UNKNOWNS), dtype)
    return CoarseMatrix(graph.indptr.astype(np.int32), graph.indices.astype(np.int32), number, diagonal, own, blocks)


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
