"""Descent that moves all vertices at once, with its iterations on an OpenCL device.

The step length is chosen on the CPU, from energies every eight iterations (guarded_descent); those eight are enqueued
without waiting. Contacts are brought up to date with the energies, and the device takes over what that has changed.
"""

from __future__ import annotations

import numpy as np

from pliant.device.descent import DeviceDescent
from pliant.device.opencl import open_device
from pliant.energies import IncrementalPotential
from pliant.solvers.contract import Execution
from pliant.solvers.machinery.device_work import DeviceWork, device_scene


class DescentOnDevice:
    """The device's side of a work object."""

    def __init__(self, problem: IncrementalPotential, execution: Execution, kind: str):
        """kind: "jacobi" or "blocks"."""
        assert execution.device is not None
        scene = device_scene(problem, execution.precision, descent=kind)
        executor = open_device(execution.device.index)
        self._sweeps = DeviceDescent(executor, scene.variant, scene.colours, scene.numbers, "items")
        # vertices of a contact take nothing back together: the step length sees to that
        colours = np.where(scene.colour_of_row >= 0, np.arange(len(scene.colour_of_row)), -1)
        self._work = DeviceWork(self._sweeps, scene.terms, scene.vertex_of_row, colours, problem.model.is_free)
        self._problem = problem

    def begin_step(self, problem: IncrementalPotential) -> None:
        """Load the step's target and other numbers."""
        self._problem = problem
        self._work.begin_step(problem)

    def update_contacts(self, problem: IncrementalPotential) -> None:
        """Load what was detected within a step."""
        self._problem = problem
        self._work.update_contacts(problem)

    def take_up_contacts(self) -> None:
        """Load the closest points and friction limits that the contacts have now."""
        self._work.update_contacts(self._problem)

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
