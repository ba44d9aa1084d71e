"""What the schemes with hard constraints share: a step posed as a ConstraintProblem, its contacts, its impulses."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from pliant.constraints.distances import BEND, SHEAR, begin_distances, fill_distances
from pliant.constraints.levers import write_levers
from pliant.constraints.motion import begin_velocities, write_positions, write_velocities
from pliant.constraints.numbering import numbering_of, own_numbers
from pliant.constraints.one_row import Scheme
from pliant.constraints.problem import ConstraintProblem
from pliant.constraints.rows import NO_FRICTION, Bodies, Rows, copied, empty_rows
from pliant.constraints.sweeps import STRIDE, end_corrections, end_passages, find_ends, friction_at_end
from pliant.constraints.warm_start import as_lists, from_lists, keep_impulses, kept_room, list_kept, restore_impulses
from pliant.contact.response.step_contacts import StepContacts
from pliant.energies import IncrementalPotential
from pliant.grains.convex_pairs import ConvexPairs
from pliant.grains.detection import GrainDetector
from pliant.grains.near_lists import NearLists
from pliant.grains.overlaps import report_rows
from pliant.grains.passages import Passages
from pliant.grains.record import Motion
from pliant.grains.rims import drop_rims
from pliant.grains.sleeping import Sleepers
from pliant.grains.thrown import find_thrown, keep_unknown
from pliant.grains.touching import contact_radii, surface_triangles, touching_points
from pliant.lanes.integers import MARGIN
from pliant.model import FREE, Model
from pliant.relaxations import GaussSeidel, Relaxation
from pliant.solvers.contract import Execution, Work
from pliant.solvers.machinery.constraint_scene import check_scene, distances_of
from pliant.solvers.machinery.device_rows import RowsOnDevice
from pliant.solvers.machinery.grain_contacts import grain_step_contacts
from pliant.solvers.machinery.rigid_step import RigidStep

PASSES = 4  # over contacts that are half way through at the end
SETTLER = GaussSeidel()  # momentum would overshoot in so few iterations
DEEPENING = 0.01  # of the sum of two radii: growth of an overlap within a step after which iterations go on


class Ending(NamedTuple):
    """How the iterations of a step end."""

    relaxation: Relaxation
    rounds: int  # of the planned iterations, at most
    settling: int  # iterations in which velocities lose what corrected positions


class Options(NamedTuple):
    """What the schemes' work needs to know of them."""

    iterations: int
    margin: float
    shear: float
    bend: float
    relaxation: Relaxation
    sleep_speed: float  # [m/s]; 0: nothing sleeps


class ConstraintWork(Work):
    """Rows, bodies and lists of a scene, and what one step hands on to the next."""

    def __init__(self, name: str, problem: IncrementalPotential, execution: Execution, options: Options):
        model = problem.model
        check_scene(name, model, options.relaxation)
        self.model = model
        self._on_device = None if execution.device is None else RowsOnDevice(name, model, execution, options.relaxation)
        self.team = execution.team(is_steady=True)
        self.dtype = np.dtype(np.float32 if execution.precision == "single" else np.float64)
        self.distances = distances_of(model)
        shear, bend = (1 - (1 - k) ** (1 / options.iterations) for k in (options.shear, options.bend))
        role = self.distances.role
        factors = np.where(role == SHEAR, shear, np.where(role == BEND, bend, 1.0))
        n, m = model.n_vertices, len(role)
        self.rigid = RigidStep(model, self.dtype)
        rolls = model.particles is not None and bool(model.particles.rolling.any())
        self.rows = empty_rows(m + 64, self.dtype, model.carried is not None, rolls)
        fill_distances(self.rows, self.distances, factors)
        points = touching_points(model)
        has_own_order = self._on_device is not None or bool(options.sleep_speed)
        self.numbering = own_numbers(n) if has_own_order else numbering_of(model)
        self.detector, self._convex, self._radii = None, None, np.zeros(n)
        if model.contact is not None and (model.particles is not None or len(points.vertices)):
            about = (model, options.margin, self.team, points, surface_triangles(model))
            self.detector = GrainDetector(*about, keeps_lists=True, numbering=self.numbering)
            self._radii = contact_radii(model)
        if model.contact is not None and model.carried is not None:
            self._convex = ConvexPairs(model)
        self._passages = None if model.particles is None else Passages(model, execution.team())
        self._sleepers = None
        if options.sleep_speed and model.particles is not None:
            self._sleepers = Sleepers(model.particles.vertices, n, float(options.sleep_speed))
        self._held = np.zeros((0, 3))  # where what does not move is at the end of the step
        self._all_masses, self._inverse_mass = np.zeros(0), np.zeros(n)
        self._way, self._end = np.zeros((0, 3)), np.zeros((0, 3))
        self.radius = np.ones(n)
        self.turns = np.zeros(n, bool)
        if model.particles is not None:
            self.radius[model.particles.vertices] = model.particles.radius
            self.turns[model.particles.vertices] = model.particles.spins
        spins = n if self.turns.any() else 0
        self.bodies = Bodies(
            np.zeros((n, 4), self.dtype), np.zeros((spins, 3), self.dtype), np.zeros(n, self.dtype),
            np.zeros(n, self.dtype), np.zeros(n, self.dtype), np.zeros(n + 1, np.int32),
            np.zeros(4 * (m + 64), np.int32), np.zeros(4 * (m + 64), np.int32), np.zeros(n, np.int32),
            self.rigid.room,
        )  # fmt: skip
        self._nothing = kept_room(0, 0, False, self.dtype)
        self.kept = self._nothing
        self.problem: ConstraintProblem | None = None
        self._has_lists = False  # of the kept impulses' contacts, in `bodies`
        self._ends = np.zeros(STRIDE * self.team.threads)
        self._plain = np.zeros(0)  # inverse masses of a step without contacts
        self._h = problem.h
        self._scheme = Scheme(problem.h, False, 1.0, 1.0, NO_FRICTION, False, False)
        self._ending: Ending | None = None
        self._gamma = 1.0
        self._before: ConstraintProblem | None = None  # the step as its positions were found

    @property
    def posed(self) -> ConstraintProblem:
        """The step."""
        assert self.problem is not None
        return self.problem

    def begin_step(
        self, problem: IncrementalPotential, scheme: Scheme, planned: int, gamma: float, warm_start: float,
        relaxation: Relaxation, ending: Ending | None = None,
    ) -> None:  # fmt: skip
        """Pose a step: velocities without constraints (Equation 21), contacts, rows, impulses to begin with."""
        self._ending, self._before, self._gamma = ending, None, gamma
        self._keep()
        self._h, base = problem.h, len(self.distances.pairs)
        if base:
            begin_distances(self.rows, self.distances.stiffness, problem.x_prev, self._h)
        self._load_motion(problem)
        count = self._detect(problem)
        if self._sleepers is not None:
            while self._sleepers.wake_touched(self.rows, base, count, self._all_masses > 0):
                self._load_motion(problem)
                count = self._detect(problem)
        bodies = self.bodies
        if self.problem is None:
            has_triangles = self._convex is not None or (self.detector is not None and self.detector.has_triangles)
            self.problem = ConstraintProblem(self.rows, count, bodies, scheme, planned, self.team, has_triangles)
            if problem.time <= 0:
                report_rows(problem.model, self.rows, self.numbering, base, count)
        posed = self.problem
        self._scheme = scheme
        posed.rows, posed.count, posed.scheme, posed.planned = self.rows, count, self._scheme_of(count), planned
        if warm_start > 0:
            self._restore(base, count, float(warm_start))
        if self._on_device is not None:
            self._on_device.kept = self.kept
        self.kept = self._nothing  # millions of contacts need the room
        posed.prepare(gamma, self._is_unchanged(count), warm_start > 0)
        self.bodies, self._has_lists = posed.bodies, True
        if count and self._on_device is None:
            relaxation.begin(posed)

    def _scheme_of(self, count: int) -> Scheme:
        """The scheme without friction, if none of `count` rows has any and none resists rolling: then iterations have
        nothing to do with it. A device keeps the one that its program is for.
        """
        scheme = self._scheme
        is_fixed = scheme.is_moving or self._on_device is not None or len(self.rows.rolling) > 0
        if is_fixed or self.rows.friction[len(self.distances.pairs) : count].any():
            return scheme
        return scheme._replace(friction=NO_FRICTION, is_relaxed=False)

    def _is_unchanged(self, count: int) -> bool:
        """Whether there are `count` distances and nothing else, as in the step before, between the same masses."""
        is_plain = count == len(self.distances.pairs)
        masses = self.bodies.inverse_mass.copy() if is_plain else np.zeros(0, self.dtype)
        is_same = is_plain and np.array_equal(masses, self._plain)
        self._plain = masses
        return is_same

    def _load_motion(self, problem: IncrementalPotential) -> None:
        """Masses and velocities without constraints; what sleeps has none of either."""
        model, h, bodies, x = problem.model, problem.h, self.bodies, problem.x_prev
        is_free = (model.subspace == FREE) & (model.mass > 0)
        if model.particles is not None:
            is_free[model.particles.waiting(problem.time)] = False
        self._held = problem.y
        if self._sleepers is not None and self.detector is not None:
            asleep = self._sleepers.begin(x, problem.y, is_free, self.detector.obstacles(problem.time, h))
            if asleep.any():
                is_free &= ~asleep
                self._held = np.where(asleep[:, None], x, problem.y)
        about = (problem.inertia, self.turns, x, self._held, h, h**2, self._inverse_mass, bodies)
        self.team.run_for(5.0 * len(x), begin_velocities, self.numbering.numbers, is_free, *about)
        if len(bodies.spin):
            bodies.spin[:] = (problem.spins * self.radius[:, None])[self.numbering.vertices]
        self.rigid.begin(problem, bodies.rigid)
        self._all_masses = self.rigid.inverse_mass_of_vertices(self._inverse_mass)

    def _detect(self, problem: IncrementalPotential) -> int:
        """Contacts into rows after the distances, and levers of rigid bodies into all; how many rows there are."""
        x, rigid, count = problem.x_prev, self.rigid, len(self.distances.pairs)
        if self.detector is not None:
            motion = Motion(x, self._held, self._all_masses, problem.h)
            base = count
            self.rows, count = self.detector.detect(motion, problem.time, self.rows, base)
            if self.detector.has_triangles:
                count = drop_rims(self.rows, base, count)
        if rigid.carried is not None:
            write_levers(self.rows, 0, count, rigid.carrier_of, x, self._radii, rigid.centres)
        if self._convex is not None:
            self.rows, count = self._convex.append(self.rows, count, x, rigid.carrier_of, rigid.centres)
        return count

    def iterate(self, relaxation: Relaxation, n: int) -> None:
        """n iterations, if there is anything to do."""
        if self.posed.count:
            self._relax(relaxation, n)
        else:
            self.posed.done += n

    def _relax(self, relaxation: Relaxation, n: int) -> None:
        if self._on_device is None:
            relaxation.iterate(self.posed, n)
        else:
            self._on_device.iterate(self, relaxation, n)

    def finish(self, problem: IncrementalPotential, x: np.ndarray, friction: Scheme | None) -> None:
        """Positions x (n, 3) [m] and spins that the velocities lead to; once all iterations are done, `friction`, if
        given, acts in one pass.
        """
        posed = self.posed
        has_contacts = posed.count > len(self.distances.pairs)
        if posed.done == posed.planned and has_contacts and friction is not None:
            posed.forget_packs()
            self.team.run_for(60.0 * posed.count, friction_at_end, self.rows, posed.count, self.bodies, friction)
        self._write(problem, x)
        if self._sleepers is not None:
            self._way, self._end = problem.y - problem.x_prev, x

    def _write(self, problem: IncrementalPotential, x: np.ndarray) -> None:
        about = (self.numbering.numbers, self.bodies, problem.x_prev, self._held, problem.h, x)
        self.team.run_for(5.0 * len(x), write_positions, *about)
        self.rigid.write(problem, x, self.bodies.rigid.twist)
        if len(self.bodies.spin):
            problem.spins[:] = self.bodies.spin[self.numbering.numbers] / self.radius[:, None]

    def end_solve(self, problem: IncrementalPotential, x: np.ndarray) -> int:
        """Go on with iterations, up to `ending.rounds` times the planned ones in all, while an overlap grows by too
        much; then push out what is half way through, and stop what has passed sheets.
        """
        posed, ending, more = self.posed, self._ending, 0
        if not posed.count:
            return 0
        posed.copy_back()
        deepening, is_through = self._find_ends()
        while ending is not None and more < (ending.rounds - 1) * posed.planned:
            if not self._add_thrown(problem, x, ending) and deepening <= DEEPENING:
                break
            posed.done = 0
            self._relax(ending.relaxation, posed.planned)
            self._write(problem, x)
            more += posed.planned
            deepening, is_through = self._find_ends()
        if is_through:
            posed.forget_packs()
            self.team.call(end_passages, *self._about(), PASSES)
            self._write(problem, x)
        if self._passages is not None and self._passages.may_pass(problem.x_prev, x, 0.0):
            self._stop_passages(self._passages, problem, x)
        return more

    def _find_ends(self) -> tuple[float, bool]:
        """By how much an overlap grows within the step, at most, and whether any contact is half way through."""
        self._ends[:] = 0.0
        self.team.run_for(8.0 * self.posed.count, find_ends, *self._about(), self._ends)
        deepest, through = (float(self._ends[k::STRIDE].max()) for k in range(2))
        return deepest, through > 0.0

    def _about(self) -> tuple[Rows, int, Bodies, Scheme]:
        """What compiled passes over all constraints read."""
        return self.rows, self.posed.count, self.bodies, self.posed.scheme

    def _add_thrown(self, problem: IncrementalPotential, x: np.ndarray, ending: Ending) -> bool:
        """Add contacts that spheres have come to on their way to x (n, 3) [m] because others threw them; whether there
        are any.
        """
        detector, posed, thrown = self.detector, self.posed, np.zeros(len(x))
        if detector is None:
            return False
        known = posed.count
        reach = 0.5 * detector.tolerance + DEEPENING * float(detector.grains.size.min())
        if not find_thrown(detector.touching, problem.x_prev, self._held, x, self._all_masses, reach, thrown):
            return False
        motion, base = Motion(problem.x_prev, x, thrown, problem.h), len(self.distances.pairs)
        self.rows, count = detector.detect(motion, problem.time, self.rows, known, uses_lists=False)
        moved = (x - problem.x_prev)[self.numbering.vertices]
        count = keep_unknown(self.rows, base, known, count, moved, problem.h, DEEPENING)
        if count > known and self.rigid.carried is not None:
            about = (self.rigid.carrier_of, problem.x_prev, self._radii, self.rigid.centres)
            write_levers(self.rows, known, count, *about)
        posed.rows, posed.count = self.rows, count
        if count > known:
            self._plain = np.zeros(0)  # lists have more than the distances
            posed.scheme = self._scheme_of(count)
            posed.prepare(self._gamma)
            self.bodies = posed.bodies
            ending.relaxation.begin(posed)
        return count > known

    def _stop_passages(self, passages: Passages, problem: IncrementalPotential, x: np.ndarray) -> None:
        """Stop at x (n, 3) [m] what has passed a sheet without a contact, because something else threw the sheet."""
        before = x.copy()
        if passages.stop(problem.x_prev, x, problem.time, problem.h):
            moved = (x != before).any(axis=1)
            self.bodies.velocity[moved, :3] = (x[moved] - problem.x_prev[moved]) / problem.h

    def end_step(self, v: np.ndarray, spins: np.ndarray, twists: np.ndarray) -> None:
        """Let velocities settle, and let fall asleep what is at rest."""
        ending = self._ending
        if ending is not None and ending.settling and self.posed.count:
            self._settle(ending, v, spins, twists)
        if self._sleepers is not None:
            about = (self.rows, len(self.distances.pairs), self.posed.count, self._all_masses > 0)
            self._sleepers.end(*about, self._way, self._end, v, spins, self._h)

    @property
    def note(self) -> str:
        """How many particles sleep."""
        asleep = 0 if self._sleepers is None else int(np.count_nonzero(self._sleepers.asleep))
        return f"{asleep} particles asleep" if asleep else ""

    def _settle(self, ending: Ending, v: np.ndarray, spins: np.ndarray, twists: np.ndarray) -> None:
        """Iterations that correct no positions, so that no overlap becomes speed."""
        posed, bodies = self.posed, self.bodies
        own = self.rows.impulse[: posed.count], self.rows.bias[: posed.count]
        rows = self.rows._replace(impulse=own[0].copy(), bias=own[1].copy())
        self._before = replace(posed, rows=rows, bodies=copied(bodies))
        moving = posed.scheme
        posed.scheme, posed.done, posed.planned = moving._replace(is_moving=False), 0, ending.settling
        self.team.call(end_corrections, self.rows, posed.count)
        SETTLER.begin(posed)
        SETTLER.iterate(posed, ending.settling)
        posed.scheme = moving
        self.team.run_for(3.0 * len(v), write_velocities, self.numbering.numbers, bodies, v)
        self.rigid.settle(v, twists, bodies.rigid.twist)
        if len(bodies.spin):
            spins[:] = bodies.spin[self.numbering.numbers] / self.radius[:, None]

    @property
    def solved(self) -> ConstraintProblem:
        """The step as its positions were found, before velocities settled."""
        return self.posed if self._before is None else self._before

    def step_contacts(self, model: Model, x: np.ndarray, time: float) -> StepContacts | None:
        if self.problem is None:
            return None
        gaps = self.solved.constraint_values()
        about = (self.problem, self.numbering, gaps, len(self.distances.pairs))
        return grain_step_contacts(*about, model, x, time, self._h)

    def _keep(self) -> None:
        """Keep the impulses of the step before."""
        if self.problem is None:
            return
        base, count = len(self.distances.pairs), self.problem.count
        k = count - base
        self.kept = kept_room(k, base, len(self.rows.rolling) > 0, self.dtype)
        self.team.run_for(6.0 * count, keep_impulses, self.rows, base, count, self.kept)

    def _restore(self, base: int, count: int, part: float) -> None:
        """Begin with a part of the kept impulses, found by the lists of vertices of the step before."""
        bodies, kept = self.bodies, self.kept
        start, entries, sources = bodies.start, bodies.entries, bodies.sources
        if not self._has_lists:
            entries, sources = (np.zeros(len(kept.first) + MARGIN, np.int32) for _ in range(2))
            list_kept(base, kept, start, entries, sources)
        about = (kept, part, start, entries, sources)
        self.team.run_for(8.0 * count, restore_impulses, self.rows, base, count, *about)

    def state_dict(self) -> dict[str, Any]:
        self._keep()
        state = as_lists(self.kept, self.numbering.vertices)
        if self.detector is not None:
            state["near"] = {"places": self.detector.lists.places.tolist(), "reach": self.detector.lists.reach}
        if self._sleepers is not None:
            state["sleepers"] = self._sleepers.state_dict()
        return state

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.kept = from_lists(state, self._nothing, self.numbering.numbers)
        self.problem, self._before, self._has_lists = None, None, False
        if self.detector is not None and "near" in state:
            near = state["near"]
            self.detector.lists = NearLists(np.array(near["places"], float).reshape(-1, 3), float(near["reach"]))
        if self._sleepers is not None and "sleepers" in state:
            self._sleepers.load_state_dict(state["sleepers"])
