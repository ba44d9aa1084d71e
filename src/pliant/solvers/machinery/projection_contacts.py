"""Contacts of a step as constraint solvers keep them."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.contact.contact_set import ContactSet, no_contacts
from pliant.kernels.contact_projection import ContactConstraints


class ProjectionContacts:
    """Contacts and their multipliers, which begin each step at zero (XPBD, Algorithm 1)."""

    def __init__(self, row_of_vertex: np.ndarray):
        self.row_of_vertex = row_of_vertex
        n = len(row_of_vertex)
        self.table = ContactConstraints(no_contacts(), np.zeros((0, 4), np.int64), np.zeros((n, 3)), np.zeros(1))

    def begin_step(self, potential: Any, x_prev: np.ndarray) -> None:
        """Take up a step and its ContactPotential."""
        self.table.x_prev[self.row_of_vertex] = x_prev
        potential.contacts.normal_multiplier[:] = 0
        potential.contacts.tangential_multiplier[:] = 0
        self._load(potential)

    def exchange(self, potential: Any) -> np.ndarray:
        """Take up other contacts in the middle of a step: the change (n, 3) of the forces on the vertices [N].

        A contact that was known keeps its multipliers (tracking.identity); one that is gone takes back what it has
        pushed, so that positions stay those that all multipliers lead to.
        """
        before = self._forces(self.table.contacts)
        self._load(potential)
        return self._forces(self.table.contacts) - before

    def _load(self, potential: Any) -> None:
        potential.has_multipliers = True
        rows = self.row_of_vertex[potential.vertices].astype(np.int64)
        self.table = self.table._replace(contacts=potential.contacts, rows=rows)
        self.table.damping[0] = potential.damping

    def _forces(self, contacts: ContactSet) -> np.ndarray:
        """(n, 3) [N] of all contacts on the vertices."""
        total = np.zeros((len(self.row_of_vertex), 3))
        force = contacts.normal_multiplier[:, None] * contacts.normals + contacts.tangential_multiplier
        vertices = np.where(contacts.vertices >= 0, contacts.vertices, contacts.vertices[:, :1])
        np.add.at(total, vertices, contacts.weights[:, :, None] * force[:, None, :])
        return total
