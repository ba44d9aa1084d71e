"""Connected components of a graph, by union-find.

SciPy has the same, but importing its graph routines takes longer than a small simulation.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pliant.lanes.compiled import compiled
from pliant.lanes.entry import entry


def connected_components(pairs: NDArray[np.integer], n_vertices: int) -> tuple[int, NDArray[np.int64]]:
    """Number of components, and the component (n,) of each vertex, numbered by their first vertices.

    pairs (m, 2): vertices that are connected.
    """
    label = np.arange(n_vertices)
    return _label(np.ascontiguousarray(pairs, np.int64), label), label


@compiled
def root_of(label, a):  # type: ignore[no-untyped-def]
    """The one that stands for all that a is connected with: it is labelled as itself."""
    while label[a] != a:
        label[a] = label[label[a]]
        a = label[a]
    return a


@compiled
def join(label, a, b):  # type: ignore[no-untyped-def]
    """Connect a with b: the lower root of the two stands for both."""
    a, b = root_of(label, a), root_of(label, b)
    label[max(a, b)] = min(a, b)


@entry(nogil=True)
def _label(pairs, label):  # type: ignore[no-untyped-def]
    """Fill `label`, which begins as 0, 1, 2 ...: each vertex points to one before it, a root to itself."""
    for k in range(len(pairs)):
        join(label, pairs[k, 0], pairs[k, 1])
    count = 0
    for i in range(len(label)):
        if label[i] == i:
            label[i] = count
            count += 1
        else:
            label[i] = label[label[i]]
    return count
