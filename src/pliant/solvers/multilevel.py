"""A coarse correction around any iteration of positions: what vertex by vertex would take thousands of iterations.

A cycle is one correction and `sweeps` iterations of the wrapped solver. The correction moves aggregates of vertices by
affine motions, 12 unknowns each:

    x <- x + t P v,    (P^T H P) v = -P^T dG/dx

with the Hessian H of inertia, elements and contacts, solved on all levels of aggregates at once
(kernels.coarse_levels). Contacts are those that press where the correction begins, or, where these are others, where it
ends (machinery.levels.foreseen_contacts). t = 1, halved until the energy falls. A cycle starts at the least energy of
what the last ones have passed (machinery.levels.subspace).

A rigid body is an aggregate on its own whose strains are very stiff; of its motion, also that to where a cycle starts,
the six numbers with the same momenta are taken. Grains rest during a correction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pliant.energies import IncrementalPotential
from pliant.errors import SolverError
from pliant.kernels.transfer import from_rows
from pliant.solvers.contract import Capabilities, Execution, SweepResult, check_count, register_solver
from pliant.solvers.machinery.accelerator import EnergyAccelerator, EnergyWork
from pliant.solvers.machinery.levels.coarse_system import CoarseSystem, Proposal, build_coarse_system
from pliant.solvers.machinery.levels.hierarchy import soft_members
from pliant.solvers.machinery.levels.subspace import PassedPoints, no_points

TRIALS = 6  # lengths of a correction: 1, 1/2 ...
SUFFICIENT = 1e-4  # part of the fall that the slope promises
SHORT = 0.25  # length of a correction up to which the matrix is assembled again within a step
VISITS = 4  # of the contacts of a vertex in an iteration: one that raises the energy throws away what was gained
MANY = 3  # solutions of a correction at the beginning of a step, for contacts, in place of which iterations begin
AGAIN = 16  # corrections in a step in contact after which the matrix is assembled again
LONG = 25  # corrections in a step without contact, beside which assembling takes little
WAIT = 8  # steps that begin by iterations after one in which a correction at the beginning was cut to that
ROUNDING = 4.0  # machine epsilons of a position, of what the forces that a matrix is judged by are uncertain
GOOD = (0.5, 2.0)  # fall of the energy over that of the quadratic model: outside, the matrix is stale


@dataclass
class MultilevelWork(EnergyWork):
    """With the levels, and where in a cycle the step is."""

    levels: CoarseSystem
    force: np.ndarray  # (rows, 4) room, also that of the diagonal of H
    passed: PassedPoints
    done: int = 0  # iterations of this step
    has_begun: bool = False  # the levels have taken up this step
    length: float = 0.0  # t of the last correction; 0 if none was accepted
    waiting: int = 0  # steps in contact that begin by iterations, not by a correction
    unseen: int = 0  # iterations of this step whose motions are not those of whole cycles, with the cycle after them
    vain: int = 0  # how often assembling again within this step has not helped

    @property
    def blind_iterations(self) -> int:
        return self.unseen

    def state_dict(self) -> dict[str, Any]:
        levels, place = self.levels, self.levels.hierarchy
        kept = {"others": _flat(levels.others), "before": _flat(levels.before)}
        if levels.is_placed:
            places = {"offset": place.members.offset, "centre": place.centre, "radius": place.radius}
            kept |= {name: _flat(values) for name, values in places.items()}
        flags = {"is_stale": levels.is_stale, "is_semidefinite": levels.is_semidefinite}
        counts = {"served": levels.served, "misses": levels.misses, "waiting": self.waiting}
        return {**kept, **flags, **counts, "inner": self.inner.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.inner.load_state_dict(state["inner"])
        self.waiting = state.get("waiting", 0)
        levels, place, others = self.levels, self.levels.hierarchy, state.get("others")
        if others is None or len(state["offset"]) != place.members.offset.size:
            return  # a sheet has torn since, and has other vertices: the matrix is assembled again
        levels.is_stale, levels.is_semidefinite = state["is_stale"], state["is_semidefinite"]
        levels.served, levels.misses = state.get("served", levels.served), state.get("misses", 0)
        levels.others = np.array(others, dtype=float).reshape(-1, 3)
        levels.before = None if state["before"] is None else np.array(state["before"]).reshape(-1, 3)
        place.members.offset[:] = np.reshape(state["offset"], (-1, 3))
        place.centre[:], place.radius[:] = np.reshape(state["centre"], (-1, 3)), state["radius"]


def _flat(positions: np.ndarray | None) -> list[float] | None:
    return None if positions is None else positions.ravel().tolist()


@register_solver
@dataclass(frozen=True)
class Multilevel(EnergyAccelerator[MultilevelWork]):
    """Wraps a solver, best VBD: corrections on coarse levels between its iterations, none of which raises the energy.

    sweeps: iterations of the wrapped solver after each correction. A step counts those; a correction takes as long as
        about ten of them.
    aggregate: vertices of an aggregate of the finest level.
    """

    sweeps: int = 4
    aggregate: int = 32

    capabilities = Capabilities("minimise", contact=True, pressure=True, rigid_bodies=True, particles=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count(self.sweeps, "Multilevel: sweeps")
        check_count(self.aggregate, "Multilevel: aggregate")

    def period(self, work: MultilevelWork) -> int:
        return self.sweeps

    def moves_bound_error(self, work: MultilevelWork) -> bool:
        return self.solver.moves_bound_error(work.inner)

    def is_blind_to_rounding(self, work: MultilevelWork) -> bool:
        """Forces on whole bodies are summed in double precision."""
        return False

    def init(self, problem: IncrementalPotential, execution: Execution) -> MultilevelWork:
        if not soft_members(problem.model).any():
            raise SolverError(
                "Multilevel: nothing in this scene that is free to move is soft, so levels would move nothing; use VBD "
                "or AVBD."
            )
        inner, packed, is_own = self.init_inner(problem, execution)
        levels = build_coarse_system(problem, execution, self.aggregate)
        return MultilevelWork(inner, packed, is_own, levels, packed.scales, no_points(packed))

    def forget(self, work: MultilevelWork) -> None:
        work.has_begun = False
        work.passed.forget()

    def begin_step(self, problem: IncrementalPotential, work: MultilevelWork) -> None:
        super().begin_step(problem, work)
        work.done, work.unseen, work.vain = 0, 0, 0
        work.levels.begin_step()

    def sweep(self, problem: IncrementalPotential, x: np.ndarray, work: MultilevelWork, n: int = 1) -> SweepResult:
        done = 0
        while done < n:
            if work.done == 0 and begins_by_sweeps(problem, work):
                work.unseen = 3 * self.sweeps
            elif work.done % self.sweeps == 0:
                correct(problem, x, work)
            left = min(n - done, self.sweeps - work.done % self.sweeps)
            with work.packed.tables.visiting_contacts(VISITS):
                result = self.solver.sweep(problem, x, work.inner, left)
            done, work.done = done + result.iterations, work.done + result.iterations
            if result.ended or not result.iterations:
                return result._replace(iterations=done)
        return SweepResult(n)


def begins_by_sweeps(problem: IncrementalPotential, work: MultilevelWork) -> bool:
    """Whether a step in contact begins by iterations: the first correction of an earlier one was cut short, as where
    bodies press on each other in other places than they did.
    """
    work.waiting = max(work.waiting - 1, 0) if is_touching(problem) else 0
    return work.waiting > 0


def is_touching(problem: IncrementalPotential) -> bool:
    """Whether something touches in this step."""
    return problem.contacts is not None and problem.contacts.count > 0


def correct(problem: IncrementalPotential, x: np.ndarray, work: MultilevelWork) -> None:
    """Move x (n, 3) by a correction, if one lowers the energy.

    It starts from the point of least energy between those of the last cycles; where that does not serve, from x. A step
    that begins with a matrix of an earlier one which cuts its first correction short begins again with its own.
    """
    is_refreshed = refresh_matrix(problem, x, work)
    work.length = 0.0
    rows, passed = work.packed.tables.x, work.passed
    before = work.energy_at_start(x)
    force = measured_force(problem, work)
    if not np.isfinite(force).all():
        return  # the descent overshoots, and goes back where it next looks at the energy
    passed.minimise(work.packed, rows, work.force)
    is_carried_on = passed.count > 0
    if is_carried_on:
        motion = in_scene_order(work, passed.start) - in_scene_order(work, rows)
        changed = without_rounding(problem, work, passed.start, passed.start_force)
        proposal = proposed(problem, x + motion, work, changed, foresees=False)
        promised = 0.5 * float(np.sum(force * motion)) + proposal.promised
        motion += proposal.motion
        twists = as_rigid(problem, motion)
        direction = Direction(motion, twists, force, promised)
    passed.take(rows, work.force)
    if is_carried_on and not search(problem, work, x, direction, before, trials=1):
        passed.forget()
    if not work.length:
        start = x.copy()
        correct_from(problem, x, work, force, before)
        if work.done == 0 and not work.levels.is_fresh and refresh_matrix(problem, start, work):
            x[:] = start
            correct_from(problem, x, work, force, before)
    if work.done == 0 and (work.length <= SHORT or work.levels.solutions > MANY):
        work.waiting = WAIT
    work.levels.corrections += 1
    work.vain += is_refreshed and work.length <= SHORT


def correct_from(
    problem: IncrementalPotential, x: np.ndarray, work: MultilevelWork, force: np.ndarray, before: float
) -> None:
    """Move x by a correction against a force (n, 3) [N] there; before: the energy there [J]."""
    proposal = proposed(problem, x, work, force)
    twists = as_rigid(problem, proposal.motion)
    search(problem, work, x, Direction(proposal.motion, twists, force, proposal.promised), before, TRIALS)


def refresh_matrix(problem: IncrementalPotential, x: np.ndarray, work: MultilevelWork) -> bool:
    """Assemble the matrix again at x (n, 3) within a step whose last correction was cut short by the body's own
    stiffness, as long as that helps, at last with elements made positive semidefinite; whether it was. Contacts and
    rigid bodies cut it short whatever the matrix. Where something touches, the fall of the energy, which is that of
    contacts, tells little of the elements: there it is assembled again after so many corrections that this takes little
    beside them. Not beside rigid bodies: their poses on the way are in no checkpoint, from which the matrix is
    assembled again.
    """
    if problem.model.carried is not None or not work.has_begun:
        return False
    if is_touching(problem):
        is_due = work.levels.corrections >= AGAIN
    else:
        is_due = work.vain < 2 and work.levels.misses > 0 and work.length <= SHORT
    if not is_due:
        return False
    work.levels.assemble(problem, x, psd=work.vain > 0 and not is_touching(problem))
    work.levels.begin(problem, x)
    return True


class Direction(NamedTuple):
    """A motion of all vertices, and how far the energy should fall."""

    motion: np.ndarray  # (n, 3) [m]
    twists: np.ndarray  # (b, 6) of rigid bodies [m, rad]
    force: np.ndarray  # (n, 3) where it begins [N]
    promised: float  # by quadratic models [J]


def search(
    problem: IncrementalPotential, work: MultilevelWork, x: np.ndarray, direction: Direction, before: float, trials: int
) -> bool:
    """Move x along a direction, by its half if that is too far, and so on; whether there is a length that serves."""
    slope = float(np.sum(direction.force * direction.motion))
    if not slope > 0:
        return False
    length = 1.0
    for _ in range(trials):
        end, poses = moved(problem, x, direction, length)
        after = work.energy(end)
        fall, least = measured_fall(problem, work, direction, slope, length, before - after)
        if np.isfinite(after) and fall >= least:
            x[:], problem.poses[:] = end, poses
            work.length = length
            break
        length *= 0.5
    agreement = fall / direction.promised if work.length == 1.0 else 0.0
    has_settled = work.length > 0 or trials > 1  # otherwise another direction follows, which tells of the matrix alone
    if has_settled and not GOOD[0] < agreement < GOOD[1] and slope > rounding_of_slope(work, direction.motion):
        touches = is_touching(problem)
        if work.length == 1.0 or not touches:
            work.levels.miss(is_long=not touches and work.levels.corrections >= LONG)
    return work.length > 0


def as_rigid(problem: IncrementalPotential, motion: np.ndarray) -> np.ndarray:
    """Motions (b, 6) of rigid bodies that have the momenta of what their mass points do in `motion` (n, 3) [m], which
    becomes theirs.
    """
    carried = problem.model.carried
    if carried is None:
        return np.zeros((0, 6))
    mass, poses = problem.model.mass, problem.poses
    momenta = carried.gathered(mass[:, None] * motion, poses)
    twists: np.ndarray = np.linalg.solve(carried.mass_matrices(mass, poses), momenta[:, :, None])[:, :, 0]
    motion[carried.points] = carried.spread(twists, poses)
    return twists


def moved(
    problem: IncrementalPotential, x: np.ndarray, direction: Direction, length: float
) -> tuple[np.ndarray, np.ndarray]:
    """Positions (n, 3) and poses (b, 7) a length along a direction."""
    end, carried, poses = x + length * direction.motion, problem.model.carried, problem.poses
    if carried is not None:
        poses = carried.moved(poses, length * direction.twists)
        end[carried.points] = carried.places(poses)
    return end, poses


def proposed(
    problem: IncrementalPotential, x: np.ndarray, work: MultilevelWork, force: np.ndarray, foresees: bool = True
) -> Proposal:
    """The motion of the levels, whose matrix is assembled again where it is stale."""
    levels = work.levels
    if not work.has_begun:
        changes = problem.model.pressure_schedules or problem.model.volume_controls
        if levels.is_stale or not levels.is_placed or changes:
            levels.assemble(problem, x)
        elif not levels.is_assembled:
            levels.assemble_again(problem)
        levels.begin(problem, x)
        work.has_begun = True
    direction = levels.direction(problem, x, force, foresees)
    if direction is None:
        levels.assemble(problem, x, psd=True)
        levels.begin(problem, x)
        direction = levels.direction(problem, x, force, foresees)
    return Proposal(np.zeros_like(x), 0.0) if direction is None else direction


def measured_force(problem: IncrementalPotential, work: MultilevelWork) -> np.ndarray:
    """-dG/dx (n, 3) [N] at the positions that the tables hold; in their order it is in work.force."""
    work.force.fill(0.0)  # of rows that do not move, too
    work.packed.force(work.packed.tables.x, work.force)
    return without_rounding(problem, work, work.packed.tables.x, work.force)


def without_rounding(
    problem: IncrementalPotential, work: MultilevelWork, x_rows: np.ndarray, force_rows: np.ndarray
) -> np.ndarray:
    """Forces (n, 3) [N] at positions, both in rows; in single precision without what stresses round to on a body."""
    force = in_scene_order(work, force_rows)
    if force_rows.dtype == np.float32:
        x = in_scene_order(work, x_rows) + work.packed.tables.origin
        work.levels.rigid.correct(problem, x, force)
    return force


def in_scene_order(work: MultilevelWork, rows: np.ndarray) -> np.ndarray:
    """Rows (rows, 4) of the tables as (n, 3) in double precision."""
    packs = work.packed.tables.packs
    out = np.zeros((len(packs.row_of_vertex), 3))
    from_rows(rows, packs.row_of_vertex, out)
    return out


def measured_fall(
    problem: IncrementalPotential, work: MultilevelWork, direction: Direction, slope: float, length: float, drop: float
) -> tuple[float, float]:
    """How far the energy has fallen over a length of a direction, at whose end the tables are, and how far it has to
    [J]: by its drop, or, below what energies round to, by the work of the forces at both ends.
    """
    if abs(drop) > work.packed.noise:
        return drop, SUFFICIENT * length * slope
    return 0.5 * length * (slope + float(np.sum(measured_force(problem, work) * direction.motion))), 0.0


def rounding_of_slope(work: MultilevelWork, motion: np.ndarray) -> float:
    """What rounding of positions leaves uncertain of the slope along a motion (n, 3): forces of vertices round, each on
    its own, to their stiffness times what positions round to [J].
    """
    packed = work.packed
    packed.measure_diagonal(packed.tables.x)
    x, rows = packed.tables.x[: packed.moving_rows, :3], packed.tables.packs.row_of_vertex
    moves = np.flatnonzero((rows >= 0) & (rows < packed.moving_rows))
    uncertain = motion[moves] / packed.scales[rows[moves], :3]
    size = float(np.abs(x).max(initial=0.0))
    return ROUNDING * float(np.finfo(x.dtype).eps) * size * float(np.sqrt(np.sum(uncertain**2, dtype=np.float64)))
