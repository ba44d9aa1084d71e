"""Elements of one kind as the vertices of a device see them: sorted by vertex, with a C function that adds what one of
them does to its vertex.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class ListState:
    """One number of each element, brought up to date at the positions before every iteration; entries read it as the
    argument "state". While it is below 1 a barrier of the law holds.
    """

    function: str  # text of `inline real update_K(const real before, ...)`
    arguments: tuple[str, ...]  # of a call after the number before: "other j" from corner 0 on, "vector i", "number i"
    corners: np.ndarray  # (elements, corners) rows
    constants: np.ndarray  # (elements, c)
    element: np.ndarray  # (m,) of each entry of the list


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
