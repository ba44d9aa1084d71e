"""Cholesky's factors of sparse matrices by the multifrontal method (Duff and Reid 1983; Liu, SIAM Review 34, 1992).

The order of elimination, of least degree, and the tree of fronts (`kernels.elimination_tree`) depend on the pattern
alone and are kept for the next matrix with the same pattern. From the leaves up, each front is a dense matrix: its
entries of A and what its children have left to it. LAPACK eliminates its own unknowns; the rest goes to its parent.

BLAS works on one thread here: fronts are small, and other processes on the same cores would make threads wait for each
other. So the same matrix has the same factors on any number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np

from pliant.kernels.elimination_tree import find_fronts, reached_rows
from pliant.kernels.fronts import add_front, solve_fronts
from pliant.sparse import sp

KEPT = 3  # patterns


class NotPositiveDefinite(Exception):
    """The matrix has no Cholesky factor."""


@dataclass(frozen=True)
class Front:
    """Unknowns that are eliminated together, in the order of elimination, and the rows beyond that they reach."""

    width: int
    height: int  # rows beyond
    padded: int  # columns of its panel
    own: tuple[np.ndarray, np.ndarray]  # entries of the matrix among its unknowns, and where they go, column by column
    below: tuple[np.ndarray, np.ndarray]  # the same in the rows beyond
    children: tuple[tuple[int, np.ndarray, int], ...]  # number; its rows here, of which the first so many are own


@dataclass(frozen=True)
class Elimination:
    """How matrices of one pattern are eliminated."""

    order: np.ndarray  # (n,) unknowns, first to last
    begin: np.ndarray  # (fronts + 1,) first unknown of each front in that order
    row_start: np.ndarray  # (fronts + 1,)
    rows: np.ndarray  # beyond each front, in that order
    panel_start: np.ndarray  # (fronts + 1,) in the array of all panels
    fronts: list[Front]


@dataclass(frozen=True)
class Factors:
    """A = L L^T in the panels of all fronts."""

    elimination: Elimination
    panels: np.ndarray

    def solve(self, b: np.ndarray) -> np.ndarray:
        """A^-1 b for b (n,) or (n, k)."""
        how = self.elimination
        sides = np.ascontiguousarray(b.T.reshape(-1, len(b))[:, how.order], float)
        largest = max((front.padded + front.height for front in how.fronts), default=0)
        scratch = np.empty((len(sides), largest))
        solve_fronts(self.panels, how.panel_start, how.begin, how.row_start, how.rows, scratch, sides)
        x = np.empty(b.shape)
        x[how.order] = sides.T.reshape(b.shape)
        return x


def eliminate(A: sp.spmatrix) -> Factors:
    """Factors of A (n, n), symmetric; its lower triangle is read."""
    A = A.tocsc()
    A.sort_indices()
    start, index = A.indptr.astype(np.int32), A.indices.astype(np.int32)
    how = _elimination(start.tobytes(), index.tobytes())
    panels = np.empty(how.panel_start[-1])
    left: list[Any] = [None] * len(how.fronts)  # to the parent of each front
    lapack = _lapack()
    with lapack.one_thread():
        for number, front in enumerate(how.fronts):
            w, m = front.width, front.height
            own, below, beyond = (np.zeros(shape, order="F") for shape in ((w, w), (m, w), (m, m)))
            for matrix, (source, at) in ((own, front.own), (below, front.below)):
                matrix.reshape(-1, order="F")[at] = A.data[source]
            for child, at, inner_count in front.children:
                add_front(left[child], at, inner_count, own, below, beyond)
                left[child] = None
            own, failed = lapack.dpotrf(own, lower=1, overwrite_a=1, clean=0)
            if failed:
                raise NotPositiveDefinite
            if m:
                below = lapack.dtrsm(1.0, own, below, side=1, lower=1, trans_a=1, overwrite_b=1)
                left[number] = lapack.dsyrk(-1.0, below, beta=1.0, c=beyond, lower=1, overwrite_c=1)
            p = front.padded
            panel = panels[how.panel_start[number] : how.panel_start[number + 1]].reshape((p + m, p), order="F")
            panel[:w, :w], panel[p:, :w] = own, below
            panel[w:p, :w], panel[:, w:], panel[range(w, p), range(w, p)] = 0.0, 0.0, 1.0
    if not np.isfinite(panels.sum()):
        raise NotPositiveDefinite
    return Factors(how, panels)


@dataclass(frozen=True)
class Lapack:
    """Functions of LAPACK and BLAS, and a context in which they work on one thread."""

    dpotrf: Any
    dtrsm: Any
    dsyrk: Any
    one_thread: Any


@cache
def _lapack() -> Lapack:
    from scipy.linalg.blas import dsyrk, dtrsm  # takes a tenth of a second to import
    from scipy.linalg.lapack import dpotrf
    from threadpoolctl import ThreadpoolController

    controller = ThreadpoolController()
    return Lapack(dpotrf, dtrsm, dsyrk, lambda: controller.limit(limits=1, user_api="blas"))


@lru_cache(maxsize=KEPT)
def _elimination(start_bytes: bytes, index_bytes: bytes) -> Elimination:
    """The order of elimination for a pattern in compressed columns, and where its entries go."""
    start, index = np.frombuffer(start_bytes, np.int32), np.frombuffer(index_bytes, np.int32)
    node, graph_start, neighbour = _graph(start, index)
    weight = np.bincount(node)
    nodes, first, parent = _fronts_of_nodes(graph_start, neighbour, weight)
    place, count = np.argsort(nodes), len(parent)
    row_start, reached = reached_rows(graph_start, neighbour, nodes, place, first, parent)
    front_of_row = np.repeat(np.arange(count), np.diff(row_start))
    reached = np.sort(front_of_row * len(nodes) + reached) - front_of_row * len(nodes)

    order = np.argsort(place[node], kind="stable")
    unknown = np.concatenate([[0], np.cumsum(weight[nodes])])  # first unknown of each place
    rows, sizes = _ranges(unknown[reached], weight[nodes][reached])
    row_start = np.concatenate([[0], np.cumsum(sizes)])[row_start]
    begin = unknown[first]
    width, height = np.diff(begin), np.diff(row_start)
    columns = (width + 3) // 4 * 4
    panel_start = np.concatenate([[0], np.cumsum(columns * (columns + height))])
    fronts = _fronts(start, index, order, begin, row_start, rows, parent)
    return Elimination(order, begin, row_start, rows, panel_start, fronts)


def _graph(start: np.ndarray, index: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Node of each unknown, and the compressed rows of nodes' neighbours: those with the same columns are one node."""
    n = len(start) - 1
    length = np.diff(start)
    is_first = np.ones(n, bool)
    alike = np.flatnonzero(length[1:] == length[:-1]) + 1
    alike = alike[length[alike] > 0]
    entries, lengths = _ranges(start[alike], length[alike])
    if len(alike):
        is_equal = index[entries] == index[entries - np.repeat(lengths, lengths)]
        is_first[alike] = ~np.logical_and.reduceat(is_equal, np.cumsum(lengths) - lengths)
    node = np.cumsum(is_first) - 1
    heads = np.flatnonzero(is_first)
    entries, lengths = _ranges(start[heads], length[heads])
    shape = (len(heads), len(heads))
    columns = np.concatenate([[0], np.cumsum(lengths)])
    graph = sp.csc_matrix((np.ones(len(entries)), node[index[entries]], columns), shape=shape)
    graph = (graph + graph.T).tocsc()  # an entry may be a zero that only its mirror image has
    graph.sort_indices()
    return node, graph.indptr.astype(np.int64), graph.indices.astype(np.int64)


def _fronts_of_nodes(
    start: np.ndarray, neighbour: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Nodes in the order of elimination, first place of each front, and the parents of fronts."""
    place = _minimum_degree(start, neighbour)
    nodes = np.argsort(place)
    last, above = find_fronts(start, neighbour, nodes, place, weight)
    tops, front = np.unique(last, return_inverse=True)
    parent = np.where(above[tops] >= 0, front[above[tops]], -1)
    by_front = np.argsort(front, kind="stable")
    return nodes[by_front], np.searchsorted(front[by_front], np.arange(len(tops) + 1)), parent


def _minimum_degree(start: np.ndarray, neighbour: np.ndarray) -> np.ndarray:
    """The place of each node in an elimination that fills little: SuperLU's, of a matrix that it hardly factorises."""
    from scipy.sparse.linalg import spilu

    n = len(start) - 1
    values = np.full(len(neighbour), -1.0)
    A = sp.csc_matrix((values, neighbour, start), shape=(n, n)) + sp.diags(np.diff(start) + 1.0)
    symmetric = {"permc_spec": "MMD_AT_PLUS_A", "diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}}
    return spilu(A.tocsc(), drop_tol=np.inf, fill_factor=1.0, **symmetric).perm_c.astype(np.int64)


def _ranges(start: np.ndarray, length: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """start[0], start[0] + 1, ... length[0] of them, then those of the next; and the lengths."""
    ends = np.cumsum(length)
    return np.repeat(start - (ends - length), length) + np.arange(ends[-1] if len(ends) else 0), length


def _fronts(
    start: np.ndarray, index: np.ndarray, order: np.ndarray, begin: np.ndarray, row_start: np.ndarray,
    rows: np.ndarray, parent: np.ndarray,
) -> list[Front]:  # fmt: skip
    """Where the entries of the lower triangle, in the order of elimination, and children's rows go."""
    count = len(parent)
    place = np.argsort(order)
    row, column = place[index], np.repeat(place, np.diff(start))
    source = np.flatnonzero(row >= column)
    front = np.repeat(np.arange(count), np.diff(begin))[column[source]]
    source = source[np.argsort(front, kind="stable")]
    row, column = row[source], column[source]
    ends = np.cumsum(np.bincount(front, minlength=count))
    children: list[list[tuple[int, np.ndarray, int]]] = [[] for _ in range(count)]
    found = []
    for f in range(count):
        a, b, height = begin[f], begin[f + 1], row_start[f + 1] - row_start[f]
        own_rows = rows[row_start[f] : row_start[f + 1]]
        entries = slice(ends[f - 1] if f else 0, ends[f])
        r, c, s = row[entries], column[entries] - a, source[entries]
        is_own = r < b
        own = (s[is_own], c[is_own] * (b - a) + r[is_own] - a)
        below = (s[~is_own], c[~is_own] * height + np.searchsorted(own_rows, r[~is_own]))
        found.append(Front(int(b - a), int(height), int(b - a + 3) // 4 * 4, own, below, tuple(children[f])))
        above = parent[f]
        if above >= 0:
            inner_count = int(np.searchsorted(own_rows, begin[above + 1]))
            outer = np.searchsorted(rows[row_start[above] : row_start[above + 1]], own_rows[inner_count:])
            at = np.concatenate([own_rows[:inner_count] - begin[above], outer])
            children[above].append((f, at, inner_count))
    return found
