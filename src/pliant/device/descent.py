"""Iterations that move all vertices at once, on a device: tables and buffers of vertex block descent, one launch for
all vertices in place of one per colour.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.device.opencl import Launch
from pliant.device.vbd import DeviceSweep, groups_for
from pliant.device.vbd_source import GROUP


class DeviceDescent(DeviceSweep):
    """`variant.descent` says how vertices move."""

    _scales: Any = None  # 1 / diag(H) of all vertices

    def _iteration(self) -> list[tuple[Launch, int]]:
        """Move all vertices into a buffer, then show it."""
        moving, rows, count = np.int32(self.moving), np.int32(self.rows), groups_for(self.moving)
        if self._scales is None:
            self.moved, self._scales = self._empty_rows(), self._empty_rows()
        tables = [*self._vertex, *self._tables]
        arguments = [moving, rows, self.dtype(1), self.x, self.moved, self._scales, *tables]
        self._descend = self._launch(f"descend_{self.variant.descent}", arguments)
        self._measure_scales = self._launch("inverse_diagonals", [moving, rows, self.x, self._scales, *tables])
        return [(self._descend, count), (self._launch("show", [np.int32(0), moving, self.x, self.moved]), count)]

    def _begin_iteration(self) -> None:
        """Contacts are brought up to date on the CPU, where energies are measured."""
        self._derive_states(self.x)

    def measure_scales(self) -> None:
        """Measure 1 / diag(H) at the positions on the device."""
        self._derive_states(self.x)
        self._measure_scales(groups_for(self.moving), GROUP)

    def descend(self, length: float, omegas: np.ndarray | None, n: int) -> None:
        """Enqueue n iterations of a step length."""
        self._descend.set(2, self.dtype(length))
        self.sweep(omegas, n)

    def forget_momentum(self) -> None:
        """The next iteration has none before it."""
        self._memory_is_fresh = True
