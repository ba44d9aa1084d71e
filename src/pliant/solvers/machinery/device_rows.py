"""Iterations over constraints with bounds on an OpenCL device; contacts are found and rows are posed on the CPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.constraints.one_row import Scheme
from pliant.constraints.rows import empty_rows
from pliant.constraints.warm_start import Kept
from pliant.device.opencl import open_device
from pliant.device.row_source import columns_of, row_program, variant_of
from pliant.device.rows import DeviceRows
from pliant.errors import DeviceError
from pliant.grains.touching import surface_triangles
from pliant.lanes.types import DTYPES
from pliant.model import Model
from pliant.relaxations import ImprovedJacobi, Jacobi, Relaxation
from pliant.solvers.contract import Execution

if TYPE_CHECKING:
    from pliant.solvers.machinery.constraint_work import ConstraintWork

DEVICE_RELAXATIONS = (ImprovedJacobi, Jacobi)


class RowsOnDevice:
    """The device's side of a work object."""

    def __init__(self, name: str, model: Model, execution: Execution, relaxation: Relaxation):
        """name: of the solver, for errors."""
        assert execution.device is not None
        check_rows_on_device(name, model, relaxation)
        self._rows = DeviceRows(open_device(execution.device.index), execution.precision)
        self.kept: Kept | None = None  # impulses that the step begins with

    def iterate(self, work: ConstraintWork, relaxation: Relaxation, n: int) -> None:
        """n iterations of a relaxation; a device that is lost leaves what the step began with."""
        problem = work.posed
        pace = relaxation.pace(problem.done, problem.planned)
        assert pace is not None
        assert self.kept is not None
        try:
            self._rows.iterate(problem, pace, n)
        except DeviceError:
            work.kept, work.problem = self.kept, None
            raise
        problem.done += n


def check_rows_on_device(name: str, model: Model, relaxation: Relaxation) -> None:
    """Refuse what has no form on a device."""
    if not isinstance(relaxation, DEVICE_RELAXATIONS):
        raise DeviceError(
            f"{name}: relaxation=pl.{type(relaxation).__name__}() does not run on an OpenCL device, where all "
            'constraints change at once: use pl.ImprovedJacobi() or pl.Jacobi(), or device="cpu".'
        )
    particles = model.particles
    missing = {
        "rigid bodies": model.carried is not None,
        "particles with spin=True": particles is not None and particles.has_spin,
        "particles with rolling_resistance": particles is not None and bool(np.any(particles.rolling)),
        "triangles (of cloth, solids or mesh obstacles) that particles touch": _has_triangles(model),
    }
    for words, is_there in missing.items():
        if is_there:
            raise DeviceError(
                f'{name}: {words} do not run on an OpenCL device: use device="cpu", or build the scene without them.'
            )


def rows_source(name: str, model: Model, relaxation: Relaxation, scheme: Scheme, precision: str, language: str) -> str:
    """The C text of a solver's iterations."""
    check_rows_on_device(name, model, relaxation)
    rows = empty_rows(0, DTYPES[precision])
    pace = relaxation.pace(0, 1)
    assert pace is not None
    return row_program(variant_of(precision, scheme, pace), columns_of(rows), language).text


def _has_triangles(model: Model) -> bool:
    return model.contact is not None and len(surface_triangles(model).corners) > 0
