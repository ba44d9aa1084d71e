"""Descent that moves all vertices at once, with its iterations on an OpenCL device.

The step length is chosen on the CPU, from energies every eight iterations (guarded_descent); those eight are enqueued
without waiting.
"""

from __future__ import annotations

import numpy as np

from pliant.device.descent import DeviceDescent
from pliant.device.opencl import open_device
from pliant.energies import IncrementalPotential
from pliant.errors import DeviceError
from pliant.solvers.contract import Execution
from pliant.solvers.machinery.device_work import DeviceWork, device_scene


class DescentOnDevice:
    """The device's side of a work object."""

    def __init__(self, problem: IncrementalPotential, execution: Execution, name: str, kind: str):
        """name: of the solver, for errors; kind: "jacobi" or "blocks"."""
        assert execution.device is not None
        if problem.model.contact is not None:
            raise DeviceError(f'{name}: contact does not run on an OpenCL device: use pl.VBD(...), or device="cpu".')
        scene = device_scene(problem, execution.precision, descent=kind)
        executor = open_device(execution.device.index)
        self._sweeps = DeviceDescent(executor, scene.variant, scene.colours, scene.numbers, "items")
        order = (scene.vertex_of_row, scene.colour_of_row)
        self._work = DeviceWork(self._sweeps, scene.terms, *order, problem.model.is_free)

    def begin_step(self, problem: IncrementalPotential) -> None:
        """Load the step's target and other numbers."""
        self._work.begin_step(problem)

    def measure_scales(self, x: np.ndarray) -> None:
        """Measure 1 / diag(H) at x (n, 3) [m]."""
        self._work.write(x)
        self._sweeps.measure_scales()

    def descend(self, x: np.ndarray, length: float, omegas: np.ndarray | None, n: int, fresh: bool) -> None:
        """n iterations from x (n, 3) [m] in place; fresh: what was before them is forgotten."""
        self._work.write(x)
        if fresh:
            self._sweeps.forget_momentum()
        self._sweeps.descend(length, omegas, n)
        self._work.read(x)
