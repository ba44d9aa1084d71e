"""Static equilibrium of a scene: load steps from nothing to the full load.

A step that finds no equilibrium is halved, so that what ends at a limit point ends near it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from pliant.contact.detector import Detector
from pliant.contact.response.scale import elastic_stiffness, scale_of
from pliant.energies import IncrementalPotential
from pliant.errors import SceneError, SolverError
from pliant.model import Model, Scene, checks
from pliant.model.rigid import initial_poses, show_poses
from pliant.progress import status_line, stop_flag
from pliant.solvers import Execution, Newton, Solver
from pliant.solvers.contract import check_solver, check_supports
from pliant.state import State
from pliant.statics.element_notes import element_notes, mesh_notes
from pliant.statics.free_motions import check_held, left_free
from pliant.statics.limit_point import LoadPoint, Snap, find_snap
from pliant.statics.load_step import LoadStep, Outcome, Stopped, Watch
from pliant.statics.loads import LoadCase
from pliant.statics.result import Equilibrium, StaticReport
from pliant.statics.settling import Settling

logger = logging.getLogger("pliant")

STEPS_ALONG_PATHS = 10  # load steps where something is moved, if none are asked for
MOST_DIRECT = 10_000  # vertices whose systems are solved directly
PATIENCE = 5  # times the iterations, of load steps until one fails
CONTACT_STIFFNESS = 50.0  # of solids, times that of motions (contact.response.scale), which lets them sink in visibly
FEW = 60  # iterations of scenes with contact before they are let go (statics.settling)
QUIET_SECONDS = 2.0  # before anything is shown of a solve
UNSTABLE = (
    "equilibrium: the forces balance, but the shape is not stable: the least push would take it to another one. A "
    "symmetry of mesh and loads keeps it there; add a load that breaks it, a thousandth of the others, to see where it "
    "goes."
)
SLIP_SECONDS = 1 / 300  # friction's slip is this times Contact.friction_speed


def equilibrium(
    scene: Scene,
    solver: Solver[Any] | None = None,
    load_steps: int | None = None,
    tolerance: float = 1e-6,
    iterations: int = 200,
    time: float = 1.0,
    smallest_step: float = 1e-3,
    threads: int | None = None,
    stop_at_limit: bool = True,
    progress: bool = True,
) -> Equilibrium:
    """The static shape of a scene under its loads: gravity, forces, wind, pressures, contact, prescribed motions and
    volumes.

    solver: of each load step; None: Newton's method, which is right for nearly all, with conjugate gradients for more
        than 10,000 vertices. Others that minimise do too.
    load_steps: equal parts in which loads and prescribed motions grow; None: 1, or 10 where something is moved
        or inflated to a volume.
    tolerance: ratio of |forces out of balance| to |loads| and |reactions|.
    iterations: per load step. A load step that does not converge within them is halved; until one has not, each may
        take five times as many, as of cloth that turns and folds a long way.
    time: [s] at which prescribed motions end, and at which pressures and forces that functions give are evaluated.
    smallest_step: part of the load below which a step is not halved again; then the last equilibrium is returned,
        with report.converged False and the load factor that was reached.

    stop_at_limit: end where the shape would snap, as an arch, rather than take the shape after the snap: the last
        equilibrium before it is returned as above. Scenes with contact are not examined.
    progress: a line on standard error, where that is a terminal, from the second second on.

    Ctrl-C ends the solve after the current iteration: `body.positions` is then the shape that it had got to.
    Initial velocities, damping and viscosity have no effect. Bodies start where they are set; `body.positions` is then
    the static shape. A body that its loads push where nothing holds it is refused.
    """
    checks.instance(scene, Scene, "equilibrium: scene", "a pl.Scene")
    case = LoadCase.of(scene, checks.number(time, "equilibrium: time", "s"))
    checks.number(tolerance, "equilibrium: tolerance", "1", positive=True)
    checks.count(iterations, "equilibrium: iterations")
    checks.flag(stop_at_limit, "equilibrium: stop_at_limit")
    checks.number(smallest_step, "equilibrium: smallest_step", "1", positive=True)
    if load_steps is None:
        load_steps = STEPS_ALONG_PATHS if case.is_path else 1
    checks.count(load_steps, "equilibrium: load_steps")
    solver = _default_solver(case.model) if solver is None else solver
    check_solver(solver, "equilibrium: solver")
    check_supports(solver, case.model)
    if not solver.supports.minimises:
        raise SolverError(
            f"equilibrium: {type(solver).__name__} does not minimise the energy: use Newton, VBD or LBFGS."
        )
    if case.model.volume_controls and not isinstance(solver, Newton):
        raise SolverError(
            f"equilibrium: {case.model.volume_controls[0].what} is prescribed, which takes Newton's method; "
            f"{type(solver).__name__} was given: leave solver out."
        )
    checks.thread_count(threads, "equilibrium: threads")
    checks.flag(progress, "equilibrium: progress")
    x = case.model.positions.copy()
    check_held(case.model, x, case.loads(x, 1.0))
    for note, entry in element_notes(scene):
        logger.info(note, extra={"entry": entry})
    execution = Execution("double", threads or 0)
    detector = _detector(case.model, execution)
    poses = initial_poses(case.model, scene.bodies).get("poses", np.zeros((0, 7)))
    examine = bool(stop_at_limit) and detector is None
    settling = None if detector is None else partial(Settling.of, scene, case, threads)
    with stop_flag() as flag, status_line(QUIET_SECONDS if progress else np.inf) as tell:
        step = LoadStep(case, solver, execution, detector, tolerance, PATIENCE * iterations, Watch(flag, tell))
        try:
            outcome, report = _follow(step, x, poses, load_steps, smallest_step, examine, iterations, settling)
        except Stopped as stopped:
            outcome, report = stopped.outcome, _stopped(stopped.outcome)
        found = Equilibrium(scene, case, report, outcome.problem)
        _show(scene, found)
        if not report.converged:
            if flag.is_set():
                logger.warning("equilibrium: %s", report.reason, extra={"entry": "stopped"})
            else:
                logger.warning("equilibrium: %s", report.reason, extra={"entry": "no-equilibrium"})
        elif outcome.is_doubtful and case.model.n_vertices <= MOST_DIRECT and not found.stable:
            logger.warning(UNSTABLE, extra={"entry": "unstable-shape"})
    for note, entry in mesh_notes(scene, found.stress, found.discretisation_error):
        logger.info(note, extra={"entry": entry})
    return found


def _show(scene: Scene, found: Equilibrium) -> None:
    """Let bodies and obstacles give positions, poses and contact forces of the equilibrium."""
    x, poses = found.problem.x_prev, found.problem.poses
    state = State(x, np.zeros_like(x), np.zeros_like(x), poses=poses, twists=np.zeros((len(poses), 6)))
    show_poses(scene.bodies, lambda: state, found.case.model.vertices_of)
    for k, body in enumerate(scene.bodies):
        body._simulated = partial(found.positions_of, body)
        body._contact_load = lambda k=k: (found.contacts.body_forces[k], found.contacts.body_torques[k])
    for k, shape in enumerate(scene.shapes):
        shape.watch(partial(_obstacle_load, found, k), None)


def _obstacle_load(found: Equilibrium, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Net contact force (3,) [N] and torque (3,) [N m] on an obstacle."""
    return found.contacts.obstacle_forces[k], found.contacts.obstacle_torques[k]


def _default_solver(model: Model) -> Newton:
    """Newton's method; a direct solution of large systems takes too long."""
    is_large = model.n_vertices > MOST_DIRECT and model.carried is None
    return Newton(linear="cg" if is_large else "direct")


def _detector(model: Model, execution: Execution) -> Detector | None:
    if model.contact is None:
        return None
    if model.contact.settings.guarantee:
        raise SceneError(
            "equilibrium: Contact(guarantee=True) is for motion, which load steps are not: leave the guarantee out."
        )
    scale = scale_of(model, SLIP_SECONDS, elastic_stiffness(model))
    for solids in model.solids:
        scale.resistance[np.unique(solids.tets)] *= CONTACT_STIFFNESS
    return Detector(model.contact, SLIP_SECONDS, execution.team(), scale, is_static=True)


def _follow(
    step: LoadStep, x: np.ndarray, poses: np.ndarray, load_steps: int, smallest: float, examine: bool, iterations: int,
    settling: Callable[[], Settling | None] | None,
) -> tuple[Outcome, StaticReport]:  # fmt: skip
    """Load steps up to the full load, or to where the shape snaps if that is examined; the last equilibrium.
    iterations: of load steps after one that has failed; settling: what lets the scene go where one has, if it has
    contact.
    """
    report = StaticReport(False, "", 0.0, 0, np.inf)
    if settling is not None and not step.case.is_path:
        found = _settled(step, x, poses, settling, report)
        if found is not None:
            return found
    last = LoadPoint(0.0, x, poses, np.zeros(len(step.case.model.volume_controls)), None)
    size = 1.0 / load_steps
    while last.factor < 1.0:
        factor = min(last.factor + size, 1.0)
        tried = last.next(step, 1.0 if factor > 1.0 - 1e-9 else factor)
        assert tried.outcome is not None
        report.iterations += tried.outcome.iterations
        if tried.is_equilibrium:
            snap = find_snap(step, last, tried, smallest, iterations) if examine else 0
            if isinstance(snap, Snap):
                report.iterations += snap.iterations
                return _ended(step, snap.last, report), _snapped(report, snap)
            report.iterations += snap
            step.accept(last.x, tried.outcome)
            last = tried
            _note(report, last)
            continue
        if 0.5 * size < smallest:
            ended = _ended(step, last, report)
            return ended, _given_up(report, tried.factor, tried.outcome, ended.problem)
        size *= 0.5
        step.iterations = iterations
    assert last.outcome is not None
    return last.outcome, _reached(report, last.outcome)


def _reached(report: StaticReport, outcome: Outcome) -> StaticReport:
    """The full load."""
    report.converged = outcome.converged
    balance = f"{report.residual:.3g} of the forces are out of balance after {report.iterations} iterations"
    report.reason = f"converged: {balance}" if report.converged else f"rounding keeps it above the tolerance: {balance}"
    return report


def _settled(
    step: LoadStep, x: np.ndarray, poses: np.ndarray, settling: Callable[[], Settling | None], report: StaticReport
) -> tuple[Outcome, StaticReport] | None:
    """The full load at once, and where a few iterations do not find its equilibrium, from where the scene comes to
    rest when it is let go; None if it cannot be.
    """
    tries = replace(step, iterations=min(FEW, step.iterations))
    last = LoadPoint(0.0, x, poses, np.zeros(0), None)
    tried, motion = last.next(tries, 1.0), None
    while True:
        assert tried.outcome is not None
        report.iterations += tried.outcome.iterations
        if tried.is_equilibrium:
            _note(report, tried)
            return tried.outcome, _reached(report, tried.outcome)
        motion = settling() if motion is None else motion
        if motion is None:
            return None
        goes_on = motion.advance(step.watch)
        if step.watch.is_stopped:
            raise Stopped(step.at(motion.positions.copy(), motion.poses.copy(), 1.0))
        if not goes_on:
            if motion.leads_away or tries is step:
                return _ended(step, last, report), _left_over(report, motion, tried.outcome)
            tries = step  # it rests, or nearly: with all iterations
        assert step.detector is not None
        step.detector.load_state_dict(motion.contact_state(), motion.positions)
        tried = LoadPoint(0.0, motion.positions, motion.poses, np.zeros(0), None).next(tries, 1.0)


def _note(report: StaticReport, point: LoadPoint) -> None:
    """Take an equilibrium into the report, unless it is the last of it already."""
    assert point.outcome is not None
    if point.factor > report.load_factor:
        report.load_factor, report.residual = point.factor, point.outcome.residual
        report.load_factors.append(point.factor)


def _ended(step: LoadStep, last: LoadPoint, report: StaticReport) -> Outcome:
    """The last equilibrium of a path that does not reach the full load."""
    if last.outcome is None:
        return step.at(last.x, last.poses, 0.0)
    _note(report, last)
    return last.outcome


def _snapped(report: StaticReport, snap: Snap) -> StaticReport:
    reason = (
        f"limit point at the load factor {snap.last.factor:.4g}: under more load the shape snaps by {snap.way:.3g} m. "
        "The shape returned is the last one before. Prescribe motions or volumes rather than loads to go on along the "
        "branch, or pass stop_at_limit=False for the shape after the snap."
    )
    return replace(report, reason=reason)


def _stopped(outcome: Outcome) -> StaticReport:
    balance = f" with {outcome.residual:.3g} of the forces out of balance" if np.isfinite(outcome.residual) else ""
    reason = f"stopped{balance}; positions are those that it had got to, which are no equilibrium."
    return StaticReport(False, reason, 0.0, outcome.iterations, outcome.residual)


def _left_over(report: StaticReport, motion: Settling, outcome: Outcome) -> StaticReport:
    return replace(
        report, reason=f"no equilibrium found: {motion.words()} ({outcome.reason}, residual {outcome.residual:.2g})."
    )


def _given_up(report: StaticReport, factor: float, outcome: Outcome, last: IncrementalPotential) -> StaticReport:
    found = (
        f"no equilibrium found at {factor:.4g} of the load ({outcome.reason}, residual {outcome.residual:.2g}); the "
        f"last is at the load factor {report.load_factor:.4g}."
    )
    beyond = (
        left_free(outcome.problem)
        or "What slides or folds a long way may come to rest in a pl.Simulation; take more "
        "load_steps where something is moved."
        if outcome.problem.contacts is not None
        else "Beyond a limit point there is none near: prescribe motions rather than loads to go past it, or start "
        "from another shape."
    )
    return replace(report, reason=f"{found} {beyond}")
