"""`device="auto"`: the faster of CPU and OpenCL device, by a short measurement.

Both give the same results to rounding where the solver is the same; a simulation that names no solver has one for each.
What was measured is logged.
"""

from __future__ import annotations

import logging
import time
from dataclasses import replace
from typing import Any

from pliant.device.opencl import OpenCL, as_device
from pliant.energies import IncrementalPotential
from pliant.errors import DeviceError, SolverError
from pliant.solvers import Execution, Solver
from pliant.solvers.contract import Work, check_device, check_supports
from pliant.solvers.contract.error import ErrorMeter

ITERATIONS, TRIES = 5, 3

logger = logging.getLogger("pliant")


def device_for(device: object, solver: Solver[Any]) -> OpenCL | None:
    """The device that a user names, for a solver that runs on it; None for the CPU, which "auto" begins with."""
    if isinstance(device, str) and device == "auto":
        return None
    named = as_device(device)
    if named is not None:
        check_device(solver)
    return named


def is_faster_on_device(
    problem: IncrementalPotential, solver: Solver[Any], execution: Execution, work: Work, on_device: Solver[Any]
) -> bool:
    """Whether a step is faster on the first OpenCL device, by the solver `on_device`, than on the CPU, where `work` is
    the solver's. Where both solvers are the same, their iterations are compared, else the whole step.

    What cannot run there is not: the reason is logged.
    """
    is_same = solver == on_device
    measured = _iteration if is_same else _step
    try:
        check_device(on_device)
        check_supports(on_device, problem.model)
        other = on_device.init(problem, replace(execution, device=OpenCL()))
        kept = work.state_dict()
        on_cpu = measured(problem, solver, work, execution.precision)
        seconds = on_cpu, measured(problem, on_device, other, execution.precision)
        work.load_state_dict(kept)  # the measurement leaves nothing behind that a step would begin with
    except (DeviceError, SolverError) as reason:
        logger.info('device="auto" takes the CPU: %s', reason)
        return False
    is_faster = seconds[1] < seconds[0]
    names = ["", ""] if is_same else [f" with {type(own).__name__}" for own in (solver, on_device)]
    logger.info(
        'device="auto" takes %s: %s takes %.3g ms on the CPU%s and %.3g ms on the device%s.',
        "the OpenCL device" if is_faster else "the CPU", "an iteration" if is_same else "a step",
        1e3 * seconds[0], names[0], 1e3 * seconds[1], names[1],
    )  # fmt: skip
    return is_faster


def _iteration(problem: IncrementalPotential, solver: Solver[Any], work: Any, precision: str) -> float:
    """The least time of an iteration [s], after one that may compile."""
    own = problem.with_own_internal_state()
    solver.begin_step(own, work)
    x = own.x_guess.copy()
    solver.sweep(own, x, work, 1)
    times = []
    for _ in range(TRIES):
        began = time.perf_counter()
        solver.sweep(own, x, work, ITERATIONS)
        times.append(time.perf_counter() - began)
    return min(times) / ITERATIONS


def _step(problem: IncrementalPotential, solver: Solver[Any], work: Any, precision: str) -> float:
    """The time of a step's iterations [s], until they meet the solver's tolerance; the first time may compile."""
    meter, seconds = ErrorMeter(solver, problem, precision), 0.0
    for _ in range(2):
        own = problem.with_own_internal_state()
        x, began = own.x_guess.copy(), time.perf_counter()
        solver.begin_step(own, work)
        meter.begin_step(own, x, solver.iterations, work)
        meter.sweep(own, x, work, solver.iterations)
        seconds = time.perf_counter() - began
    return seconds
