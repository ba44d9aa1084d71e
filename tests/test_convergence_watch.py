"""Which bodies a warning of unconverged steps names, and when."""

from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant import trials
from pliant.convergence import OFTEN, RECENT, ConvergenceWatch
from pliant.solvers import Execution, Multilevel, Newton
from pliant.solvers.contract import StepError

BEND = "it bends or stretches too little, as if it were stiffer or slower"


def error_of(bodies: np.ndarray) -> StepError:
    zero, one = np.zeros(len(bodies)), np.ones(len(bodies))
    return StepError(bodies, zero, one, 0.9 * one, zero, 10 * one, zero, zero)


def warnings_of(history: np.ndarray) -> dict[int, list[int]]:
    """Bodies named at each step, of errors (steps, bodies)."""
    watch = ConvergenceWatch(history.shape[1])
    found = {step: watch.observe(error_of(errors)) for step, errors in enumerate(history)}
    assert all(list(due) == [BEND] for due in found.values() if due)
    return {step: due[BEND] for step, due in found.items() if due}


def test_the_first_body_is_named_at_once_and_once() -> None:
    history = np.zeros((40, 2))
    history[3:, 1] = 0.2
    assert warnings_of(history) == {3 + OFTEN - 1: [1]}


def test_bodies_that_follow_one_another_share_lines() -> None:
    """A hundred bodies fail from one step after another on: all are named, in lines at ever longer intervals."""
    history = np.where(np.arange(400)[:, None] >= np.arange(100), 0.2, 0.0)
    named = warnings_of(history)
    assert sorted(k for bodies in named.values() for k in bodies) == list(range(100))
    assert list(named) == [4, 14, 34, 74, 154]


def test_a_body_that_has_recovered_waits_for_one_that_has_not() -> None:
    """A warning states the errors of its step, so one of its bodies is off in it."""
    history = np.zeros((60, 3))
    history[:10, 0] = history[8:13, 1] = history[40:, 2] = 0.2
    assert warnings_of(history) == {4: [0], 44: [1, 2]}


def test_a_cause_that_has_gone_is_not_told_with_another() -> None:
    """Errors of a warning are those of its step: a cause waits until one of its bodies is off again."""
    watch, touching = ConvergenceWatch(3), np.array([0.0, 1e3, 0.0])
    named = {}
    for step in range(60):
        errors = np.array([0.2 * (step < 6), 0.2 * (3 <= step < 9 or step >= 55), 0.2 * (step >= 20)])
        due = watch.observe(replace(error_of(errors), touching=touching))
        named.update({step: list(due.values())} if due else {})
    assert named == {4: [[0]], 24: [[2]], 55: [[1]]}


def test_what_has_failed_is_tried_once_in_a_run(solvers_to_try, monkeypatch, caplog) -> None:
    """Two causes in one step, and a third in a later one: each solver is tried once, and the warnings name when."""
    tried = []
    monkeypatch.setattr(trials, "candidates", solvers_to_try)
    monkeypatch.setattr(trials, "tried", lambda problem, trial: tried.append(type(trial.solver)))
    sim = pl.Simulation(three_boxes(), pl.VBD(20))
    problem, watch, errors = sim.problem(), ConvergenceWatch(3), np.array([0.2, 0.2, 0.0])
    for step in range(5 * RECENT):
        if step == RECENT:
            errors = np.array([0.2, 0.2, 0.2])
        error = replace(error_of(errors), touching=np.array([0.0, 1e3, 0.0]))
        watch.watch(problem, error, sim.solver, Execution("single", 1), 0.01 * step)
    said = [record.getMessage() for record in caplog.records if "repeatedly" in record.getMessage()]
    assert len(said) == 3
    assert tried == [Multilevel, Newton]
    assert all("pl.Newton did not converge in the step at t = 0.04 s within 40 iterations" in words for words in said)
    assert all("Smaller steps" in words for words in said)


@pytest.mark.parametrize("solver", [pl.VBD(2), pl.VBD(100), pl.Newton(20), pl.Auto()])
def test_trials_cost_at_most_ten_usual_steps_or_little(solver) -> None:
    tried = {}
    for n in (100, 1_000, 20_000, 1_000_000):
        usual = solver.iterations * trials.vertex_updates(solver, n)
        for candidate in (pl.Multilevel(pl.VBD(400)), pl.Newton(40)):
            chosen = trials.affordable(candidate, solver, n, 5)
            tried[type(candidate), n] = len(chosen)
            work = [one.iterations * trials.vertex_updates(one, n) for one in chosen]
            assert all(one <= max(10 * usual, trials.ALWAYS) for one in work)
    assert tried[pl.Newton, 1_000] == 1
    assert tried[pl.Newton, 1_000_000] == isinstance(solver, pl.Newton)


def three_boxes() -> pl.Scene:
    scene = pl.Scene()
    for k in range(3):
        mesh = pl.shapes.box((0.1, 0.1, 0.1), 2).transformed(translation=(0.2 * k, 0, 0))
        scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e5, 0.3))
    return scene


def test_nothing_softer_is_advised_in_place_of_hard_constraints(solvers_to_try) -> None:
    scene = pl.Scene()
    scene.add_rigid(pl.Box((0.1, 0.1, 0.1)))
    problem = pl.Simulation(scene, pl.AVBD()).problem()
    assert solvers_to_try(problem, pl.AVBD()) == []


def test_levels_are_not_tried_where_nothing_is_soft(solvers_to_try) -> None:
    """They would be refused, and the warning with them."""
    scene = pl.Scene()
    scene.add_rigid(pl.Box((0.1, 0.1, 0.1)))
    problem = pl.Simulation(scene, pl.Newton()).problem()
    assert [type(solver) for solver in solvers_to_try(problem, pl.VBD())] == [pl.Newton]
