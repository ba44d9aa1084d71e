"""Contacts of a step as constraint solvers keep them."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.kernels.contact_projection import TouchRows


class TouchTables:
    """Contacts and their multipliers, which begin each step at zero."""

    def __init__(self, row_of_vertex: np.ndarray):
        self.row_of_vertex = row_of_vertex
        self.vertices = np.zeros((0, 4), np.int64)  # of the scene, -1 where there are fewer
        n = len(row_of_vertex)
        self.rows = TouchRows(
            rows=np.zeros((0, 4), np.int64),
            weights=np.zeros((0, 4)),
            normals=np.zeros((0, 3)),
            outside=np.zeros(0),
            points=np.zeros((0, 3)),
            motions=np.zeros((0, 3)),
            gaps=np.zeros(0),
            friction=np.zeros(0),
            follows=np.zeros(0, np.uint8),
            multipliers=np.zeros((0, 4)),
            x_prev=np.zeros((n, 3)),
            numbers=np.zeros(2),
        )

    def begin_step(self, potential: Any, x_prev: np.ndarray) -> None:
        """Take up a step and its contact.ContactPotential."""
        self.rows.x_prev[self.row_of_vertex] = x_prev
        self._load(potential)

    def exchange(self, potential: Any) -> np.ndarray:
        """Take up other contacts in the middle of a step: the change (n, 3) of the forces on the vertices [N].

        A contact of the same vertices keeps its multipliers; one that is gone takes back what it has pushed, so that
        positions stay those that all multipliers lead to.
        """
        before, vertices, multipliers = self._forces(), self.vertices, self.rows.multipliers
        self._load(potential)
        places: dict[tuple[int, ...], list[int]] = {}
        for c, corners in enumerate(vertices.tolist()):
            places.setdefault(tuple(corners), []).append(c)
        for c, corners in enumerate(self.vertices.tolist()):
            if places.get(tuple(corners)):
                self.rows.multipliers[c] = multipliers[places[tuple(corners)].pop(0)]
        return self._forces() - before

    def _load(self, potential: Any) -> None:
        t = potential.touches
        self.vertices = t.vertices
        present = np.where(t.vertices >= 0, t.vertices, t.vertices[:, :1])
        self.rows = TouchRows(
            self.row_of_vertex[present],
            t.weights.copy(),
            t.normals.copy(),
            t.outside,
            t.points,
            t.motions,
            t.gaps,
            t.friction,
            t.follows.astype(np.uint8),
            np.zeros((len(t.vertices), 4)),
            self.rows.x_prev,
            np.array([potential.stiffness, potential.damping]),
        )

    def _forces(self) -> np.ndarray:
        """(n, 3) [N] of all contacts on the vertices."""
        rows, total = self.rows, np.zeros((len(self.row_of_vertex), 3))
        force = rows.multipliers[:, :1] * rows.normals + rows.multipliers[:, 1:]
        np.add.at(total, np.where(self.vertices >= 0, self.vertices, self.vertices[:, :1]),
                  rows.weights[:, :, None] * force[:, None, :])  # fmt: skip
        return total

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self.rows)
