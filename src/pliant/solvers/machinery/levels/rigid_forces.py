"""Force and torque on whole bodies without the rounding of stresses.

Forces inside a body sum to zero and have no torque. In single precision their rounding does not: of a stiff body it
sums to more than what moves it. What is left, inertia and contacts, is known in double precision.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.energies import IncrementalPotential
from pliant.energies.free_parts import free_parts
from pliant.kernels.rigid_sums import add_rigid_forces, rigid_sums

THIN = 1e-10  # of the moments of inertia, added to them: forces along a line have no torque about it


@dataclass(frozen=True)
class RigidForces:
    """Connected parts of bodies on which nothing acts but inertia, fields and contacts."""

    of_vertex: np.ndarray  # (n,) aggregate of each vertex, -1 for none
    part: np.ndarray  # (m + 1,) of each aggregate, -1 for those of other parts; the last one stands for none
    count: int

    def correct(self, problem: IncrementalPotential, x: np.ndarray, force: np.ndarray) -> None:
        """Add to -dG/dx (n, 3) [N] at x what makes force and torque on each part exact, in proportion to masses."""
        if not self.count:
            return
        w, k, part = problem.inertia, self.count, self.part[self.of_vertex]
        missing = w[:, None] * (problem.y - x) - force
        if problem.contacts is not None and problem.contacts.count:
            missing -= problem.contacts.gradient(x)
        middle, lacking, moments = np.zeros((k, 4)), np.zeros((k, 6)), np.zeros((k, 3, 3))
        rigid_sums(part, w, x, missing, middle, lacking, moments)
        thick = moments + THIN * np.trace(moments, axis1=1, axis2=2)[:, None, None] * np.eye(3)
        is_point = ~(moments > 0).any(axis=(1, 2))
        thick[is_point] = np.eye(3)
        turned = np.linalg.solve(thick, lacking[:, 3:, None])[:, :, 0]
        add_rigid_forces(part, w, x, middle, lacking[:, :3] / middle[:, 3:], turned, force)


def find_rigid_forces(problem: IncrementalPotential, of_vertex: np.ndarray, component: np.ndarray) -> RigidForces:
    """of_vertex (n,): aggregate of each vertex, -1 for none; component (m,): the connected part of a body it is of."""
    is_free = free_parts(problem, np.append(component, -1)[of_vertex])
    number = np.where(is_free, np.cumsum(is_free) - 1, -1)
    return RigidForces(of_vertex, np.append(number[component], -1), int(np.count_nonzero(is_free)))
