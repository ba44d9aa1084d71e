"""Which bodies a warning of unconverged steps names, and when."""

import numpy as np

from pliant.convergence import OFTEN, ConvergenceWatch
from pliant.solvers.contract import StepError

BEND = "it bends or stretches less than its forces ask, as if it were stiffer or slower"


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
