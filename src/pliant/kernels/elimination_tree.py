"""What eliminating the nodes of a sparse symmetric matrix fills, and which nodes are eliminated together.

The elimination tree (Liu, The role of elimination trees in sparse factorization, 1990): the parent of a node is the
first of those beyond that its column of the factor reaches, and what it reaches is among what its parent reaches and
the parent. A *front* is nodes whose columns are kept as one dense panel.
"""

from __future__ import annotations

import numpy as np

from pliant.lanes.entry import entry

# (unknowns of a front, part of its panel that may be zeros): small fronts cost more to handle than to compute
SMALL, FEW = (12, 1.0), (32, 0.3)
MOST_ZEROS = 0.05


@entry(nogil=True)
def find_fronts(start, neighbour, order, place, weight):
    """The last node of each node's front (n,), and the parent of each node (n,), -1: it has none; by place.

    start, neighbour: compressed rows of the graph; order: (n,) nodes, first to last; place: its inverse; weight: (n,)
    unknowns of each node.
    """
    n = len(order)
    parent, mark = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    height = np.zeros(n, np.int64)  # unknowns beyond that the column of each place reaches
    for i in range(n):
        mark[i] = i
        for e in range(start[order[i]], start[order[i] + 1]):
            k = place[neighbour[e]]
            if k > i:
                continue
            while mark[k] != i:  # the columns that reach i are a path up the tree
                mark[k] = i
                height[k] += weight[order[i]]
                if parent[k] < 0:
                    parent[k] = i
                k = parent[k]
    last, width, zeros = np.arange(n), np.empty(n, np.int64), np.zeros(n, np.int64)
    for i in range(n):
        width[i] = weight[order[i]]
    for i in range(n):
        p = parent[i]
        if p < 0:
            continue
        wide = width[i] + width[p]
        empty = zeros[i] + zeros[p] + width[i] * (width[p] + height[p] - height[i])
        part = empty / (wide * (0.5 * wide + height[p]))
        if wide <= SMALL[0] or part <= MOST_ZEROS or (wide <= FEW[0] and part <= FEW[1]):
            last[i], width[p], zeros[p] = p, wide, empty
    for i in range(n - 1, -1, -1):
        last[i] = last[last[i]]
    return last, parent


@entry(nogil=True)
def reached_rows(start, neighbour, order, place, first, parent):
    """Compressed rows: the places beyond each front that its elimination reaches, in any order.

    first: (fronts + 1,) first place of each front; parent: (fronts,), with a larger number; -1: none.
    """
    fronts, n = len(parent), len(order)
    row_start, mark = np.zeros(fronts + 1, np.int64), np.full(n, -1, np.int64)
    rows = np.empty(4 * len(neighbour) + n, np.int64)
    child, sibling = np.full(fronts, -1, np.int64), np.full(fronts, -1, np.int64)
    for f in range(fronts):
        count, end = row_start[f], first[f + 1]
        if count + n > len(rows):
            longer = np.empty(2 * len(rows) + n, np.int64)
            longer[:count] = rows[:count]
            rows = longer
        for p in range(first[f], end):
            for e in range(start[order[p]], start[order[p] + 1]):
                q = place[neighbour[e]]
                if q >= end and mark[q] != f:
                    mark[q], rows[count] = f, q
                    count += 1
        c = child[f]
        while c >= 0:
            for k in range(row_start[c], row_start[c + 1]):
                q = rows[k]
                if q >= end and mark[q] != f:
                    mark[q], rows[count] = f, q
                    count += 1
            c = sibling[c]
        row_start[f + 1] = count
        if parent[f] >= 0:
            sibling[f], child[parent[f]] = child[parent[f]], f
    return row_start, rows[: row_start[fronts]].copy()
