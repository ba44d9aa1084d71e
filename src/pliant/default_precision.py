"""The precision of a simulation that names none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pliant.elements.spring import Springs
from pliant.energies import IncrementalPotential
from pliant.solvers import Execution
from pliant.solvers.contract.error import ErrorMeter

# part of the step's forces that rounding of positions may take from a body: ten times as much is missing of how far a
# chain of springs sags, where a vertex has two neighbours, and a tenth of it of a solid or a sheet
OF_BODIES, OF_SPRINGS = 0.01, 0.001


def with_default_precision(
    execution: Execution, problem: IncrementalPotential, meter: ErrorMeter
) -> tuple[Execution, ErrorMeter]:
    """The execution of a simulation that names no precision, by its first step, and the meter of its errors.

    Single precision, unless rounding of positions would keep the solver from the tolerance that it iterates to, or
    bodies from where they rest in double precision, by a thousandth of how far they sag (decision 0130).
    """
    supports = meter.solver.supports
    iterates_to_tolerance = meter.solver.asked_tolerance is not None and supports.minimises and supports.local
    if execution.device is not None or supports.hard_constraints or not iterates_to_tolerance:
        return execution, meter
    if (meter.rounding_at_start(problem) <= _limits(problem, meter.body)).all():
        return execution, meter
    in_double = ErrorMeter(meter.solver, problem, "double")
    in_double.stiffness_ratios = meter.stiffness_ratios
    return replace(execution, precision="double"), in_double


def _limits(problem: IncrementalPotential, body: np.ndarray) -> np.ndarray:
    """(bodies,) rounding up to which single precision serves; body (n,): of each vertex, negative where it is held."""
    limits = np.full(len(problem.model.body_names), OF_BODIES)
    for block in problem.blocks:
        if isinstance(block, Springs):
            owners = body[block.elements]
            limits[owners[owners >= 0]] = OF_SPRINGS
    return limits
