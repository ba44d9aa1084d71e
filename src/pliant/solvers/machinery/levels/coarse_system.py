"""The Galerkin matrix of all levels, when it is assembled again, and the motions it proposes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from pliant.energies import IncrementalPotential
from pliant.kernels.coarse_contacts import Touching, find_pattern, gather_contacts, place_corners
from pliant.kernels.coarse_gather import arrange, gather
from pliant.kernels.coarse_levels import UNKNOWNS, CoarseMatrix, Inverses, Room, join, prolong, restrict
from pliant.kernels.coarse_solve import solve
from pliant.kernels.definite_inverse import ROOT, invert_definite, invert_roots
from pliant.kernels.threads import Team
from pliant.lanes.compiled import cached
from pliant.solvers.contract import Execution
from pliant.solvers.machinery.assembly import ELEMENTS_A_THREAD
from pliant.solvers.machinery.factorisation import NotPositiveDefinite
from pliant.solvers.machinery.levels.element_hessians import ElementHessians, build_element_hessians
from pliant.solvers.machinery.levels.foreseen_contacts import (
    FOREIGN,
    LITTLE,
    SOLUTIONS,
    ForeseenContacts,
    foresee,
)
from pliant.solvers.machinery.levels.hierarchy import DENSE, Hierarchy, build_hierarchy
from pliant.solvers.machinery.levels.rigid_forces import RigidForces, find_rigid_forces

TOLERANCE = 0.1  # of the coarse system's residual, where conjugate gradients end
LIMIT = 40  # of their iterations
STIFF = 1e6  # times the largest entry of a rigid body's block: its stiffness against strain
ALWAYS = 1 << 30  # corrections, more than any step has
MISSES = 16  # after which a matrix is stale in any case
RIDGE = 1e-11  # of the largest entry: motions that move no vertex, as across a sheet, have no stiffness


class Proposal(NamedTuple):
    """What the levels propose."""

    motion: np.ndarray  # (n, 3) [m]
    promised: float  # how far the energy falls by quadratics of elements, and contacts where it ends [J]


class Solved(NamedTuple):
    """Solutions of the equations of one correction, added up."""

    force: np.ndarray  # (n, 3) [N] where it begins
    v: np.ndarray  # (m, 12)
    taken: np.ndarray  # (m, 12) their product with the matrices, of elements and contacts


class Sums(NamedTuple):
    """Matrices of joined aggregates: blocks on the diagonal, and the last level's whole matrix."""

    joined: np.ndarray  # (top, 12, 12), or of all if the last level has no matrix of its own
    top: np.ndarray  # (12 t, 12 t), or (0, 0)


@dataclass
class CoarseSystem:
    """What is kept of the levels."""

    elements: ElementHessians
    hierarchy: Hierarchy
    rigid: RigidForces
    team: Team
    room: Room
    others: np.ndarray | None = None  # (k, 3) where vertices that do not move were when the matrix was assembled [m]
    before: np.ndarray | None = None  # (n, 3) positions at the start of that step, on which damping depends [m]
    is_semidefinite: bool = False  # whether elements were made so then
    is_stale: bool = True  # to be assembled again at the first correction of the next step
    corrections: int = 0  # in this step, since the matrix was assembled if that was within it
    is_fresh: bool = False  # whether it was
    served: int = ALWAYS  # corrections until it first failed to promise what the energy did, while fresh
    misses: int = 0  # how often it has failed
    solutions: int = 0  # of the equations of the last correction, for contacts where it ends
    inverses: Inverses | None = field(default=None, repr=False)
    contacts: CoarseMatrix | None = field(default=None, repr=False)  # where a step was taken up, for its first motion
    _plain: Inverses | None = field(default=None, repr=False)  # without contacts
    _sums: Sums | None = field(default=None, repr=False)  # without contacts, once something touches

    @property
    def iterations(self) -> int:
        """Of conjugate gradients in the last solution."""
        return int(self.room.outcome[0])

    @property
    def is_assembled(self) -> bool:
        return self._plain is not None

    @property
    def is_placed(self) -> bool:
        """Whether there is a place where the matrix was assembled."""
        return self.others is not None

    def assemble(self, problem: IncrementalPotential, x: np.ndarray, psd: bool = False) -> None:
        """At positions x (n, 3), as offsets have them; with elements made positive semidefinite if the matrix would not
        be definite.
        """
        self.hierarchy.place(x)
        self.others = x[self.hierarchy.members.of_vertex < 0]
        self.before = problem.x_prev.copy()
        self._assemble_at_place(problem, psd)
        self.is_stale, self.is_fresh, self.corrections, self.misses = False, True, 0, 0
        self.served = ALWAYS

    def assemble_again(self, problem: IncrementalPotential) -> None:
        """Where it was assembled before a checkpoint, for the model and step length of a problem."""
        self.hierarchy.join()
        problem = problem if self.before is None else replace(problem, x_prev=self.before)
        self._assemble_at_place(problem, self.is_semidefinite)
        self.is_fresh = False

    def _assemble_at_place(self, problem: IncrementalPotential, psd: bool) -> None:
        assert self.others is not None
        self._assemble(problem, self.hierarchy.positions(self.others), psd)
        try:
            self._plain = _inverse(self.hierarchy.matrix.own.copy(), self.sums(), self._dtype)
        except NotPositiveDefinite:
            if psd:
                raise
            self._assemble_at_place(problem, psd=True)
            return
        self.is_semidefinite = psd
        self._sums, self.inverses, self.contacts = None, self._plain, None

    def begin_step(self) -> None:
        """Count corrections from here on."""
        self.corrections, self.is_fresh = 0, False

    def miss(self, is_long: bool) -> None:
        """Take note that the energy did not fall as the matrix promised. It is stale where that comes sooner in a step
        than it did in the step of its assembly: what spoils it later is the motion of the step itself. In long steps
        it is stale in any case.
        """
        self.misses += 1
        if self.is_fresh:
            self.served = min(self.served, self.corrections)
        self.is_stale |= self.corrections < self.served or is_long or self.misses >= MISSES

    def begin(self, problem: IncrementalPotential, x: np.ndarray) -> None:
        """Take up a step: turn frames with bodies, and take contacts into the preconditioner."""
        assert self.others is not None
        if self.hierarchy.turns.any():
            self.hierarchy.turn(x, self.hierarchy.positions(self.others))
        self.inverses = self._plain
        self.contacts = self._contact_matrix(problem, x)
        if len(self.contacts.own):
            if self._sums is None:
                self._sums = self.sums()
            sums = Sums(*(part.copy() for part in self._sums))
            cached(join)(self.contacts, self.hierarchy.joined, sums.joined, sums.top)
            self.inverses = _inverse(self.hierarchy.matrix.own + self.contacts.own, sums, self._dtype)

    def direction(
        self, problem: IncrementalPotential, x: np.ndarray, force: np.ndarray, foresees: bool = True
    ) -> Proposal | None:
        """The motion that the levels propose against a force (n, 3) [N] at x (n, 3): as far as conjugate gradients come
        before they meet a direction without positive curvature; None if the first is one. foresees: whether contacts
        are asked where it ends.
        """
        contacts, self.contacts, self.solutions = self.contacts, None, 1
        if contacts is None:
            contacts = self._contact_matrix(problem, x)
        self.team.run(cached(restrict), self.hierarchy.members, force, self.room.r)
        start = self.room.r.copy()
        if not self._solve(contacts):
            return None
        motion = self._motion(problem)
        found = Proposal(motion, 0.5 * float(np.sum(force * motion)))
        potential: Any = problem.contacts
        if not foresees or potential is None or not potential.count:
            return found
        return self._foreseen(
            problem, foresee(potential, x), x, found, Solved(force, self.room.v.copy(), start - self.room.r)
        )

    def _foreseen(
        self, problem: IncrementalPotential, seen: ForeseenContacts, x: np.ndarray, first: Proposal, solved: Solved
    ) -> Proposal:
        """A proposal at x (n, 3) again, for contacts where it ends, if these are others than where it begins."""
        room = self.room
        (motion, promised), step = first, first.motion
        while True:
            surplus = seen.follow(x + motion, step)
            fall = seen.fall(float(np.sum(solved.force * motion)), float(np.sum(solved.v * solved.taken)))
            is_first = self.solutions == 1
            is_known = abs(surplus) <= FOREIGN * promised
            if (is_known and (is_first or promised <= LITTLE * fall)) or self.solutions == SOLUTIONS:
                return first if is_first else Proposal(motion, fall)
            left = room.r.copy()
            self.team.run(cached(restrict), self.hierarchy.members, seen.take_up(x + motion), room.r)
            room.r[:] += left
            start = room.r.copy()
            if not self._solve(self._contact_matrix(problem, x + motion)):
                return first if is_first else Proposal(motion, fall)
            self.solutions += 1
            solved = Solved(solved.force, solved.v + room.v, solved.taken + start - room.r)
            step, promised = self._motion(problem), 0.5 * float(np.sum(room.v * start))
            motion = motion + step

    def _solve(self, contacts: CoarseMatrix) -> bool:
        """Conjugate gradients on what room.r holds; whether they found a direction with positive curvature."""
        room = self.room
        room.outcome[:] = 0
        self.team.run(
            cached(solve),
            self.hierarchy.matrix,
            contacts,
            self.hierarchy.joined,
            self.inverses,
            TOLERANCE,
            LIMIT,
            room,
        )
        return not (room.outcome[1] and room.outcome[0] == 1)

    def _motion(self, problem: IncrementalPotential) -> np.ndarray:
        """(n, 3) [m] of the solution."""
        motion = np.zeros((problem.model.n_vertices, 3))
        self.team.run(cached(prolong), self.hierarchy.members, self.room.v, motion)
        return motion if self.elements.held is None else problem.project(motion)

    @property
    def _dtype(self) -> np.dtype:
        """Precision of blocks beside the diagonal and of the finest level's inverses."""
        return self.hierarchy.matrix.blocks.dtype

    def _assemble(self, problem: IncrementalPotential, x: np.ndarray, psd: bool) -> None:
        level = self.hierarchy
        sums = np.zeros((level.size + len(level.matrix.blocks), UNKNOWNS, UNKNOWNS))
        for part in self.elements.parts(problem, x, psd, self.team):
            arguments = (part.elements, level.members, part.buffer, part.width, level.matrix, sums)
            self.team.run(cached(gather), *arguments, amount=len(part.elements))
        self.team.run(cached(arrange), sums, level.matrix)
        largest = np.einsum("maa->ma", level.matrix.own[level.rigid]).max(axis=1, initial=0.0)
        level.matrix.own[level.rigid] += STIFF * largest[:, None, None] * _strains()

    def sums(self) -> Sums:
        """Matrices of the joined aggregates, without contacts."""
        level = self.hierarchy
        total, top = len(level.joined.child_start) - 1, level.joined.top
        is_dense = total - top <= DENSE
        joined = np.zeros((top if is_dense else total, UNKNOWNS, UNKNOWNS))
        whole = np.zeros((UNKNOWNS * (total - top),) * 2 if is_dense else (0, 0))
        cached(join)(level.matrix, level.joined, joined, whole)
        return Sums(joined, whole)

    def _contact_matrix(self, problem: IncrementalPotential, x: np.ndarray) -> CoarseMatrix:
        """The Galerkin matrix of contacts at x."""
        contacts: Any = problem.contacts
        level, m = self.hierarchy, self.hierarchy.size
        if contacts is None or not contacts.count:
            return CoarseMatrix(*_no_entries(m), *_blocks(0, 0, self._dtype))
        k, weights = contacts.count, contacts.contacts.weights
        aggregate, vertex = np.empty((2, k, 4), np.int64)
        entries = np.empty(m + 1, np.int64), np.empty(4 * k, np.int64)
        touching = Touching(aggregate, vertex, weights, contacts.blocks(x), *entries)
        cached(place_corners)(contacts.vertices, level.members.of_vertex, touching)
        start, column, number, diagonal = _no_entries(m, m + 3 * int(touching.start[-1]))
        count = cached(find_pattern)(touching, start, column, number, diagonal)
        matrix = CoarseMatrix(start, column, number, diagonal, *_blocks(m, count, self._dtype))
        sums = np.zeros((m + count, UNKNOWNS, UNKNOWNS))
        self.team.run(cached(gather_contacts), touching, level.members, matrix, sums)
        self.team.run(cached(arrange), sums, matrix)
        return matrix


def build_coarse_system(problem: IncrementalPotential, execution: Execution, size: int) -> CoarseSystem:
    """Aggregates of about `size` vertices and all coarser levels."""
    hierarchy = build_hierarchy(problem, size, np.float64 if execution.precision == "double" else np.float32)
    m, total = hierarchy.size, len(hierarchy.joined.child_start) - 1
    team = execution.team(sum(len(block.elements) for block in problem.blocks), ELEMENTS_A_THREAD)
    rigid = find_rigid_forces(problem, hierarchy.members.of_vertex, hierarchy.component)
    return CoarseSystem(build_element_hessians(problem), hierarchy, rigid, team, _room(m, total))


def _strains() -> np.ndarray:
    """(12, 12) onto the symmetric parts of A in the unknowns (b, columns of A) of an aggregate."""
    turned = np.arange(9).reshape(3, 3).T.ravel()
    onto = np.zeros((UNKNOWNS, UNKNOWNS))
    onto[3:, 3:] = 0.5 * (np.eye(9) + np.eye(9)[turned])
    return onto


def _room(m: int, total: int) -> Room:
    v, r, z, p, q = (np.zeros((m, UNKNOWNS)) for _ in range(5))
    joined, solved = np.zeros((total, UNKNOWNS)), np.zeros((total, UNKNOWNS))
    return Room(v, r, z, p, q, joined, solved, np.zeros((2, m)), np.zeros(2, np.int64))


def _no_entries(m: int, room: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """start, column, number and diagonal of a matrix without entries, with room for some."""
    columns, numbers = np.zeros((2, room), np.int32)
    return np.zeros(m + 1, np.int32), columns, numbers, np.zeros(m, np.int64)


def _blocks(m: int, count: int, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    """On the diagonal, and others."""
    return np.zeros((m, UNKNOWNS, UNKNOWNS)), np.zeros((count, UNKNOWNS, UNKNOWNS), dtype)


def _inverse(finest: np.ndarray, sums: Sums, dtype: np.dtype) -> Inverses:
    """finest (m, 12, 12): of the finest level, not needed where that is the last one."""
    is_single = not len(sums.joined) and len(sums.top) == UNKNOWNS * len(finest)
    roots = np.empty((0 if is_single else len(finest), ROOT), dtype)
    if not is_single and not invert_roots(_ridged(finest), roots):
        raise NotPositiveDefinite
    top = sums.top if not len(sums.top) else _inverse_blocks(sums.top[None])[0]
    return Inverses(roots, _inverse_blocks(sums.joined), top)


def _inverse_blocks(blocks: np.ndarray) -> np.ndarray:
    ridged = _ridged(blocks)
    if not invert_definite(ridged):
        raise NotPositiveDefinite
    return ridged


def _ridged(blocks: np.ndarray) -> np.ndarray:
    if not len(blocks):
        return blocks
    largest = np.einsum("maa->ma", blocks).max(axis=1)
    ridged: np.ndarray = 0.5 * (blocks + blocks.swapaxes(1, 2))
    return ridged + RIDGE * largest[:, None, None] * np.eye(blocks.shape[1])
