"""The precision of a simulation that names none."""

from __future__ import annotations

from dataclasses import replace

from pliant.energies import IncrementalPotential
from pliant.kernels.step_error import HIDDEN
from pliant.solvers import Execution
from pliant.solvers.contract.error import ErrorMeter


def with_default_precision(
    execution: Execution, problem: IncrementalPotential, meter: ErrorMeter
) -> tuple[Execution, ErrorMeter]:
    """The execution of a simulation that names no precision, by its first step, and the meter of its errors.

    Single precision, unless rounding of positions would keep the solver from the tolerance that it iterates to
    (decision 0130).
    """
    supports = meter.solver.supports
    iterates_to_tolerance = meter.solver.asked_tolerance is not None and supports.minimises and supports.local
    if execution.device is not None or supports.hard_constraints or not iterates_to_tolerance:
        return execution, meter
    if meter.rounding_at_start(problem).max(initial=0.0) <= HIDDEN:
        return execution, meter
    in_double = ErrorMeter(meter.solver, problem, "double")
    in_double.stiffness_ratios = meter.stiffness_ratios
    return replace(execution, precision="double"), in_double
