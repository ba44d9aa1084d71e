"""One implicit Euler step as an optimisation problem, the object every energy solver minimises.

    G(x) = 1/(2 h^2) |x - y|_M^2 + E(x) + D(x),   y = x_t + h v_t + h^2 a_ext        (VBD, Equations 2 and 3)

E is the energy of all blocks of elements (elastic, bounds, pressure ...) and D the damping potential; blocks that are
viscous see the displacement x - x_t instead of x.  D is made of blocks too, which see x and x_t
(elements.strain_rates), or of vertex blocks (decision 0026).  Everything is in double precision and in the scene's
vertex order.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol, Self

import numpy as np

from pliant.arguments import as_numbers
from pliant.energies.elements import energy_of, update_internal_state
from pliant.energies.scatter import chunks
from pliant.errors import SolverError
from pliant.model import CARRIED, Block, Model
from pliant.sparse import sp


class ContactEnergy(Protocol):
    """What touches in a step. Normals and friction limits are held between two refreshes, so that it is a potential."""

    @property
    def count(self) -> int: ...
    @property
    def corners(self) -> np.ndarray: ...
    @property
    def vertices(self) -> np.ndarray: ...
    @property
    def weights(self) -> np.ndarray: ...
    @property
    def is_between_vertices(self) -> np.ndarray: ...
    @property
    def neighbours(self) -> np.ndarray: ...
    @property
    def friction_limits(self) -> np.ndarray: ...
    def refresh(self, x: np.ndarray) -> None: ...
    def copied(self) -> Self: ...
    def energy(self, x: np.ndarray) -> float: ...
    def gradient(self, x: np.ndarray) -> np.ndarray: ...
    def hessian(self, x: np.ndarray) -> sp.csr_matrix: ...
    def blocks(self, x: np.ndarray, is_exact: bool = False) -> np.ndarray: ...
    def forces_and_blocks(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]: ...
    def vertex_blocks(self, x: np.ndarray) -> np.ndarray: ...
    def vertex_stiffness(self, x: np.ndarray) -> np.ndarray: ...


@dataclass(frozen=True)
class IncrementalPotential:
    """G and its derivatives in the positions x (n, 3) of all vertices.

    Derivatives are those of G as a function of every vertex, pinned ones too; `project` takes out the directions that
    are held.
    """

    model: Model
    h: float  # length of the step [s]
    x_prev: np.ndarray  # (n, 3) positions that the step of length h begins at; velocities are (x - x_prev) / h [m]
    y: np.ndarray  # (n, 3) inertial target; for pinned and kinematic vertices where they are to be [m]
    x_guess: np.ndarray  # (n, 3) where a solver begins if nothing else is said; held vertices are in place [m]
    contacts: ContactEnergy | None = None  # what touches in this step
    poses: np.ndarray = field(
        default_factory=lambda: np.zeros((0, 7))
    )  # (b, 7) of rigid bodies; solvers change it with x
    spins: np.ndarray = field(
        default_factory=lambda: np.zeros((0, 3))
    )  # (n, 3) angular velocities of particles [rad/s], none if no particle spins; solvers change it with x
    x_contact: np.ndarray | None = None  # (n, 3) positions that contacts move from, if not from x_prev [m]
    time: float = 0.0  # at the start of the step [s]
    model_at_start: Model | None = None  # with the internal state at the start of the step, if there is one

    @classmethod
    def for_step(
        cls,
        model: Model,
        internal_state: np.ndarray,
        h: float,
        x_prev: np.ndarray,
        y: np.ndarray,
        x_guess: np.ndarray,
        contacts: ContactEnergy | None = None,
        poses: np.ndarray | None = None,
        spins: np.ndarray | None = None,
        time: float = 0.0,
    ) -> IncrementalPotential:
        """The step from x_prev (n, 3) [m], which begins at a time [s].

        internal_state: (k,) of elements, without unit, kept from iteration to iteration.  It is brought up to
        date at x_prev, and changes in place as a solver goes on: between two iterations G is another potential where
        such elements convert.
        """
        own = (np.zeros((0, 7)) if poses is None else poses, np.zeros((0, 3)) if spins is None else spins)
        step = (h, x_prev, y, x_guess, contacts, *own, None, time)
        if not len(internal_state):
            return cls(model, *step)
        problem = cls(model.with_internal_state(internal_state), *step)
        problem.update_internal_state(x_prev)
        return replace(problem, model_at_start=model.with_internal_state(internal_state.copy()))

    def update_internal_state(self, x: np.ndarray) -> None:
        """Update the internal state of elements at x. Solvers do so at the start of an iteration."""
        for block in self.model.blocks:
            if block.internal_state_size:
                update_internal_state(block, x)

    def refresh_contacts(self, x: np.ndarray) -> None:
        """Bring closest points and friction limits up to date at x.

        Between two refreshes G is one potential. Vertex block descent refreshes before every iteration, solvers with a
        line search when the potential of the last refresh is nearly at its minimum (decision 0021).
        """
        if self.contacts is not None:
            self.contacts.refresh(x)

    def with_contacts_at(self, x: np.ndarray) -> IncrementalPotential:
        """The same problem with contacts of its own that are up to date at x: what residuals are measured of, so that
        measuring does not change what a solver holds.
        """
        if self.contacts is None:
            return self
        current = replace(self, contacts=self.contacts.copied())
        current.refresh_contacts(x)
        return current

    def with_own_internal_state(self) -> IncrementalPotential:
        """The same problem, with internal state, contacts and poses that a solve may change without changing this
        one's.
        """
        own = self.model.with_internal_state(self.model.internal_state)
        contacts = None if self.contacts is None else self.contacts.copied()
        return replace(self, model=own, contacts=contacts, poses=self.poses.copy(), spins=self.spins.copy())

    def _checked(self, x: np.ndarray) -> np.ndarray:
        """Positions as they are, or as an array of floats; anything else is refused."""
        if isinstance(x, np.ndarray) and x.shape == self.y.shape and x.dtype.kind == "f":
            return x
        given = as_numbers(x)
        if given is None or given.shape != self.y.shape:
            shape = "" if given is None else f" of shape {given.shape}"
            raise SolverError(
                f"problem: x is {type(x).__name__}{shape}: give positions [m] of shape {self.y.shape}, such as "
                "problem.x_guess."
            )
        return given

    def energy(self, x: np.ndarray) -> float:
        """G [J]."""
        return sum(self.energies(x).values())

    def energies(self, x: np.ndarray) -> dict[str, float]:
        """The terms of G [J]: "inertia", "elastic", "damping", and one for each other name its blocks have."""
        x = self._checked(x)
        d, displacement = x - self.y, x - self.x_prev
        inertia = 0.5 * float(np.sum(self.inertia[:, None] * d**2))
        damping = 0.5 * float(np.einsum("na,nab,nb->", displacement, self.damping_blocks, displacement))
        terms = {"inertia": inertia, "elastic": 0.0, "damping": damping}
        for block in self.blocks:
            energy = energy_of(block).energy(block, self._seen_by(block, x))
            terms[block.energy_name] = terms.get(block.energy_name, 0.0) + energy
        terms["contact"] = 0.0 if self.contacts is None else self.contacts.energy(x)
        return terms

    def gradient(self, x: np.ndarray) -> np.ndarray:
        """dG/dx (n, 3) [N]."""
        x = self._checked(x)
        g = self.inertia[:, None] * (x - self.y)
        for block in self.blocks:
            g += energy_of(block).gradient(block, self._seen_by(block, x))
        if self.contacts is not None:
            g += self.contacts.gradient(x)
        return g + np.einsum("nab,nb->na", self.damping_blocks, x - self.x_prev)

    def hessian(self, x: np.ndarray, psd: bool = False) -> sp.csr_matrix:
        """d2G/dx2 (3n, 3n) [N/m]; with psd, each element's part is made positive semidefinite first."""
        x = self._checked(x)
        parts = [self._diagonal_blocks(self.damping_blocks + self.inertia[:, None, None] * np.eye(3))]
        for block in self.blocks:
            seen = self._seen_by(block, x)
            for part in chunks(len(block.elements)):
                hessians = energy_of(block).element_hessians(block, seen, part)
                parts.append(self._sparse(block.elements[part], hessians, psd))
        if self.contacts is not None:
            parts.append(self.contacts.hessian(x))
        return sum(parts[1:], parts[0])

    def vertex_blocks(self, x: np.ndarray) -> np.ndarray:
        """d2G/dx_i^2 of every vertex (n, 3, 3) [N/m] (Equations 9 and 10), as vertex block descent solves them: thin
        elements leave out stiffness that is negative across them (decision 0007).
        """
        blocks = self.damping_blocks + self.inertia[:, None, None] * np.eye(3) + self._element_blocks(x, self.blocks)
        return blocks if self.contacts is None else blocks + self.contacts.vertex_blocks(x)

    @property
    def x_start(self) -> np.ndarray:
        """(n, 3) positions at the start of the simulation's step [m]: those of contacts and their friction."""
        return self.x_prev if self.x_contact is None else self.x_contact

    def project(self, vectors: np.ndarray) -> np.ndarray:
        """The part of vectors (n, 3) in directions in which their vertices may move."""
        return self.model.project(vectors)

    def residual(self, x: np.ndarray) -> float:
        """How far x is from solving the step: the mass-weighted root mean square of the acceleration still owed
        [m/s^2].

            r = sqrt( sum_i |g_i|^2 / m_i  /  sum_i m_i ),   g = dG/dx, over vertices and directions that may move

        A rigid body has g^T M^-1 g for |g_i|^2 / m_i, with its force and torque g and its mass matrix M (6, 6).
        It does not depend on the resolution of the mesh, has a unit to compare with gravity, and is the only
        definition in Pliant.
        """
        return self.residual_of(self.project(self.gradient(x)))

    def residual_of(self, g: np.ndarray) -> float:
        """The residual [m/s^2] where dG/dx, along the directions in which vertices may move, is g (n, 3) [N]."""
        model = self.model
        own = model.is_free & (model.subspace != CARRIED)
        total, mass = np.sum(np.sum(g[own] ** 2, axis=1) / model.mass[own]), np.sum(model.mass[own])
        if model.carried is not None:
            total += np.sum(self.rigid_squares(g))
            mass += np.sum(model.mass[model.carried.points])
        return float(np.sqrt(total / mass))

    def rigid_squares(self, g: np.ndarray) -> np.ndarray:
        """(bodies,) g^T M^-1 g of the forces and torques g that dG/dx (n, 3) [N] is for rigid bodies."""
        carried = self.model.carried
        assert carried is not None
        force = carried.gathered(g, self.poses)
        masses = carried.mass_matrices(self.model.mass, self.poses)
        return np.einsum("bi,bi->b", force, np.linalg.solve(masses, force[:, :, None])[:, :, 0])

    @cached_property
    def damping_blocks(self) -> np.ndarray:
        """k_d / h times the positive part of the elements' vertex blocks at the start of the step (n, 3, 3) [N/m],
        where the damping's form is that of vertex blocks; without elements that are damping already.

        Deviation: Equations 10 and 11 take the blocks at the current iterate. Taken at the start of the step and made
        positive, damping is a potential, so the step stays a minimisation, and it never adds energy.
        """
        model = self.model
        if not model.vertex_damping.any():
            return np.zeros((model.n_vertices, 3, 3))
        stored = [block for block in (self.model_at_start or model).blocks if block.is_stored]
        blocks = self._element_blocks(self.x_prev, stored)
        values, vectors = np.linalg.eigh(blocks)
        positive = np.einsum("nik,nk,njk->nij", vectors, np.maximum(values, 0), vectors)
        return (model.vertex_damping / self.h)[:, None, None] * positive

    @cached_property
    def inertia(self) -> np.ndarray:
        """(n,) m / h^2, and what air damping adds to it [N/m]."""
        return self.model.mass / self.h**2 * (1 + self.model.air_damping * self.h)

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The model's blocks with the numbers of this step."""
        return tuple(block.over(self.h, self.x_prev) for block in self.model.blocks)

    @cached_property
    def viscous_pull(self) -> np.ndarray | None:
        """What viscous blocks pull at the vertices with when x is zero (n, 3) [N], None without any.

        They are quadratic in x - x_prev, so that they are the same blocks in x and this constant force.
        """
        viscous = [block for block in self.blocks if block.is_viscous]
        pulls = [energy_of(block).gradient(block, self.x_prev) for block in viscous]
        return sum(pulls[1:], pulls[0]) if pulls else None

    def _seen_by(self, block: Block, x: np.ndarray) -> np.ndarray:
        return x - self.x_prev if block.is_viscous else x

    def _element_blocks(self, x: np.ndarray, blocks: Iterable[Block]) -> np.ndarray:
        return sum((energy_of(block).vertex_blocks(block, x) for block in blocks), np.zeros((len(x), 3, 3)))

    def _sparse(self, elements: np.ndarray, hessians: np.ndarray, psd: bool) -> sp.csr_matrix:
        """Hessians of elements (k, corners, 3, corners, 3) as one matrix."""
        size = 3 * self.model.n_vertices
        width = 3 * elements.shape[1]
        blocks = hessians.reshape(-1, width, width)
        if psd:
            values, vectors = np.linalg.eigh(blocks)
            blocks = np.einsum("mik,mk,mjk->mij", vectors, np.maximum(values, 0), vectors, optimize=True)
        index = (3 * elements[:, :, None] + np.arange(3)).reshape(-1, width)
        rows, columns = np.repeat(index, width, axis=1).ravel(), np.tile(index, (1, width)).ravel()
        return sp.csr_matrix((blocks.ravel(), (rows, columns)), shape=(size, size))

    def _diagonal_blocks(self, blocks: np.ndarray) -> sp.csr_matrix:
        n = len(blocks)
        return sp.bsr_matrix((blocks, np.arange(n), np.arange(n + 1)), shape=(3 * n, 3 * n)).tocsr()
