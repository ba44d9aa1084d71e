"""Force and torque on whole bodies without the rounding of stresses.

Forces inside a body sum to zero and have no torque. In single precision their rounding does not: of a stiff body it
sums to more than what moves it. What is left, inertia and contacts, is known in double precision.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.elements.block import Invariance
from pliant.energies import IncrementalPotential

THIN = 1e-10  # of the largest moment of inertia: there is no turn about an axis with less


@dataclass(frozen=True)
class RigidForces:
    """Connected parts of bodies on which nothing acts but inertia, fields and contacts."""

    part: np.ndarray  # (n,) of each vertex, -1 for those of other parts
    count: int

    def correct(self, problem: IncrementalPotential, x: np.ndarray, force: np.ndarray) -> None:
        """Add to -dG/dx (n, 3) [N] at x what makes force and torque on each part exact, in proportion to masses."""
        if not self.count:
            return
        exact = problem.inertia[:, None] * (problem.y - x)
        if problem.contacts is not None and problem.contacts.count:
            exact -= problem.contacts.gradient(x)
        own = np.flatnonzero(self.part >= 0)
        part, w, missing = self.part[own], problem.inertia[own], (exact - force)[own]
        total = np.bincount(part, w, self.count)
        arm = x[own] - (self._sums(part, w[:, None] * x[own]) / total[:, None])[part]
        moved = self._sums(part, missing) / total[:, None]
        turned = np.einsum("kab,kb->ka", self._inverse_moments(part, w, arm), self._sums(part, np.cross(arm, missing)))
        force[own] += w[:, None] * (moved[part] + np.cross(turned[part], arm))

    def _sums(self, part: np.ndarray, values: np.ndarray) -> np.ndarray:
        columns = [np.bincount(part, column, self.count) for column in values.T]
        return np.stack(columns, axis=1)

    def _inverse_moments(self, part: np.ndarray, w: np.ndarray, arm: np.ndarray) -> np.ndarray:
        products = [w * arm[:, a] * arm[:, b] for a in range(3) for b in range(3)]
        S = self._sums(part, np.stack(products, axis=1)).reshape(-1, 3, 3)
        moments = np.trace(S, axis1=1, axis2=2)[:, None, None] * np.eye(3) - S
        return np.linalg.pinv(moments, rcond=THIN, hermitian=True)


def find_rigid_forces(problem: IncrementalPotential, vertices: np.ndarray, component: np.ndarray) -> RigidForces:
    """vertices (rows,) that move, and the connected part of a body that each belongs to."""
    model = problem.model
    part = np.full(model.n_vertices, -1)
    part[vertices] = component
    is_out = np.zeros(int(component.max(initial=-1)) + 1, bool)
    is_out[component[(model.subspace[vertices] < 3) | (model.damping[vertices] > 0)]] = True
    for block in problem.blocks:
        of_corner = part[block.elements]
        leaves = (of_corner != of_corner[:, :1]).any(axis=1) | (block.invariance is not Invariance.RIGID)
        touched = of_corner[leaves]
        is_out[touched[touched >= 0]] = True
    number = np.where(is_out, -1, np.cumsum(~is_out) - 1)
    return RigidForces(np.where(part >= 0, number[part], -1), int(np.count_nonzero(~is_out)))
