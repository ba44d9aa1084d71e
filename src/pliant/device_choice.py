"""`device="auto"`: the faster of CPU and OpenCL device, by a short measurement.

Both give the same results to rounding. What was measured is logged.
"""

from __future__ import annotations

import logging
import time
from dataclasses import replace
from typing import Any

from pliant.device.opencl import OpenCL, as_device
from pliant.energies import IncrementalPotential
from pliant.errors import DeviceError
from pliant.solvers import Execution, Solver
from pliant.solvers.contract import Work, check_device

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


def is_faster_on_device(problem: IncrementalPotential, solver: Solver[Any], execution: Execution, work: Work) -> bool:
    """Whether iterations of a step are faster on the first OpenCL device than on the CPU, where `work` is the solver's.

    What cannot run there is not: the reason is logged.
    """
    try:
        check_device(solver)
        other = solver.init(problem, replace(execution, device=OpenCL()))
        kept = work.state_dict()
        on_cpu, on_device = _seconds(problem, solver, work), _seconds(problem, solver, other)
        work.load_state_dict(kept)  # the measurement leaves nothing behind that a step would begin with
    except DeviceError as reason:
        logger.info('device="auto" takes the CPU: %s', reason)
        return False
    logger.info(
        'device="auto" takes %s: an iteration takes %.3g ms on the CPU and %.3g ms on the device.',
        "the OpenCL device" if on_device < on_cpu else "the CPU", 1e3 * on_cpu, 1e3 * on_device,
    )  # fmt: skip
    return on_device < on_cpu


def _seconds(problem: IncrementalPotential, solver: Solver[Any], work: Any) -> float:
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
