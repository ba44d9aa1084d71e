"""Elements of one kind as the vertices of a device see them: sorted by vertex, with a C function that adds what one of
them does to its vertex.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class ListState:
    """Numbers of each element, brought up to date at the positions before every iteration.

    One number that follows from the one before, which the model keeps from step to step: entries read it as the
    argument "state", and while it is below 1 a barrier of the law holds.  Or, with a table, `size` numbers that follow
    from the positions alone: entries take them as the argument "states".
    """

    function: str  # text of `inline real update_K(const real before, ...)`, with a table of
    # `inline void update_K(GLOBAL real *state, GLOBAL const real *table, ...)`
    arguments: tuple[str, ...]  # of a call after these: "other j" from corner 0 on, "vector i", "number i"
    corners: np.ndarray  # (elements, corners) rows
    constants: np.ndarray  # (elements, c)
    size: int = 1
    table: np.ndarray | None = None  # flat (rows, 4)


@dataclass
class DeviceList:
    """One list. Positions are numbered by row, the order of vertices on the device."""

    name: str  # for readers
    function: str  # text of `inline void add_K(real *f, real *H, ...)`, where K stands for the number of the list
    arguments: tuple[str, ...]  # of a call after f and H: see vbd_source
    owner: np.ndarray  # (m,) row of the vertex
    others: np.ndarray  # (m, k) rows of the other vertices
    constants: np.ndarray  # (m, c) numbers of each entry
    parameters: np.ndarray  # (rows, p) numbers of the vertex, p = 0: none
    has_barrier: bool = False  # tets of a law that no step may take through zero volume
    state: ListState | None = None  # of its elements, if they have any
    element: np.ndarray | None = None  # (m,) of each entry, where elements have a state
    is_projected: bool = False  # blocks are summed on their own, and the sum is added with positive eigenvalues
    order: np.ndarray = field(init=False)  # (m,) entries sorted by vertex
    start: np.ndarray = field(init=False)  # (rows + 1,) first entry of each vertex

    def __post_init__(self) -> None:
        rows = len(self.parameters)
        self.order = np.argsort(self.owner, kind="stable")
        self.start = np.concatenate([[0], np.cumsum(np.bincount(self.owner, minlength=rows))]).astype(np.int32)

    @property
    def sorted_others(self) -> np.ndarray:
        """(k, m): neighbouring work-items read neighbouring numbers."""
        return np.ascontiguousarray(self.others[self.order].T, np.int32)

    def sorted_constants(self, constants: np.ndarray, dtype: type) -> np.ndarray:
        """(c, m)."""
        return np.ascontiguousarray(constants[self.order].T, dtype)
