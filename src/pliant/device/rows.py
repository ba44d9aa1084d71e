"""Constraints with bounds on a device: buffers, and the launches of Jacobi's iterations."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from pliant.constraints.packs import WALL
from pliant.constraints.problem import ConstraintProblem
from pliant.constraints.sweeps import Pace, momentum
from pliant.device.opencl import Executor, Launch
from pliant.device.row_source import GROUP, RowProgram, RowVariant, columns_of, row_program, variant_of
from pliant.lanes.types import DTYPES

ROOM = 1.5  # buffers have so much more than they need now, so that they seldom grow
BETA = 5  # place of beta among the arguments of `relax`


class DeviceRows:
    """A scene's constraints on a device, which change from step to step."""

    def __init__(self, executor: Executor, precision: str):
        self.executor, self.precision, self.dtype = executor, precision, DTYPES[precision]
        self._buffers: dict[str, Any] = {}
        self._sizes: dict[str, int] = {}

    def iterate(self, problem: ConstraintProblem, pace: Pace, n: int) -> None:
        """n iterations, enqueued one after another; impulses and velocities are those of the problem, in place."""
        columns = columns_of(problem.rows)
        program = _program(variant_of(self.precision, problem.scheme, pace), tuple(columns.items()))
        arrays = {name: problem.rows._asdict()[name][: problem.count] for name in program.arrays}
        self._load(problem, arrays)
        relax, gather = self._launches(problem, program, pace)
        for k in range(n):
            relax.set(BETA, self.dtype(momentum.py_func(pace, k)))
            relax(-(-problem.count // GROUP), GROUP)
            gather(-(-len(problem.bodies.inverse_mass) // GROUP), GROUP)
        for name in program.written:
            self._read(name, arrays[name])
        velocity = np.empty((len(problem.bodies.velocity), 3), self.dtype)
        self._read("velocity", velocity)
        problem.bodies.velocity[:, :3] = velocity

    def _load(self, problem: ConstraintProblem, arrays: dict[str, np.ndarray]) -> None:
        """Write what the iterations begin with."""
        rows, bodies, count = problem.rows, problem.bodies, problem.count
        walls = rows.vertices[:count, 1] < 0
        fixed = {
            "kinds": np.where(walls, WALL, rows.kind[:count]).astype(np.uint8), "vertices": rows.vertices[:count],
            "velocity": np.ascontiguousarray(bodies.velocity[:, :3]), "inverse_mass": bodies.inverse_mass,
            "start": bodies.start, "entries": bodies.entries[: bodies.start[-1]],
        }  # fmt: skip
        for name, array in (fixed | arrays).items():
            if self._sizes.get(name, -1) < array.nbytes:
                room = np.zeros((int(len(array) * ROOM) + 1, *array.shape[1:]), array.dtype)
                self._buffers[name], self._sizes[name] = self.executor.buffer(room), room.nbytes
            self.executor.write(self._buffers[name], array)

    def _launches(self, problem: ConstraintProblem, program: RowProgram, pace: Pace) -> tuple[Launch, Launch]:
        scheme, own = problem.scheme, self._buffers
        parts = (scheme.h, scheme.velocity_part, scheme.position_part, pace.omega, 0.0)
        arguments = [np.int32(problem.count), *map(self.dtype, parts), own["kinds"], own["vertices"], own["velocity"]]
        relax = self.executor.kernel(program.text, "relax", [*arguments, *(own[name] for name in program.arrays)])
        names = ("velocity", "inverse_mass", "start", "entries", "push")
        count = np.int32(len(problem.bodies.inverse_mass))
        return relax, self.executor.kernel(program.text, "gather", [count, *(own[name] for name in names)])

    def _read(self, name: str, array: np.ndarray) -> None:
        """From a buffer to an array whose rows follow each other."""
        if array.size:
            self.executor.read(self._buffers[name], array)


@cache
def _program(variant: RowVariant, columns: tuple[tuple[str, int], ...]) -> RowProgram:
    return row_program(variant, dict(columns))
