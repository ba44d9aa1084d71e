"""Constraint solvers on a device: buffers, and the launches of an iteration."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pliant.device.opencl import Executor, Launch
from pliant.device.projection_source import GROUP, CorrectionVariant, program_source
from pliant.lanes.types import DTYPES


class Elements(NamedTuple):
    """All elements of one kind."""

    corners: np.ndarray  # (k, m) rows
    numbers: np.ndarray  # (c, m)


class DeviceCorrections:
    """The tables of a scene on a device. Positions are rows (r, 4): x, y, z and h^2 / m, zero where nothing moves."""

    def __init__(self, executor: Executor, variant: CorrectionVariant, elements: list[Elements], rows: int):
        self.executor, self.rows = executor, rows
        dtype = DTYPES[variant.tracing.precision]
        self.x = executor.buffer(np.zeros((rows, 4), dtype))
        self._left = executor.buffer(np.zeros(1, np.int32))
        self._left_now = np.zeros(1, np.int32)
        self._numbers = [executor.buffer(own.numbers) for own in elements]
        self._memory = [
            executor.buffer(np.zeros((source.memory, own.corners.shape[1]), dtype))
            for source, own in zip(variant.sources, elements, strict=True)
        ]
        self._launches = self._iteration(program_source(variant), elements, dtype)

    def _iteration(self, source: str, elements: list[Elements], dtype: Any) -> list[tuple[Launch, int]]:
        """Launches of one iteration, with their numbers of groups."""
        total = sum(own.corners.size for own in elements)
        corrections = self.executor.buffer(np.zeros((total, 4), dtype))
        launches, first = [], 0
        for k, own in enumerate(elements):
            m = own.corners.shape[1]
            corners = self.executor.buffer(own.corners.astype(np.int32))
            arguments = [np.int32(m), np.int32(first), self.x, corrections, self._left, corners]
            arguments += [self._numbers[k], self._memory[k]]
            launches.append((self.executor.kernel(source, f"correct_all_{k}", arguments), groups_for(m)))
            first += own.corners.size
        start, places = places_of([own.corners for own in elements], self.rows)
        arguments = [np.int32(self.rows), self.x, corrections, *map(self.executor.buffer, (start, places))]
        launches.append((self.executor.kernel(source, "collect", arguments), groups_for(self.rows)))
        return launches

    def forget(self) -> None:
        """Elements have moved nothing yet."""
        for memory in self._memory:
            self.executor.zero(memory)

    def write_numbers(self, k: int, numbers: np.ndarray) -> None:
        """Other numbers (c, m) of the elements of kind k."""
        self.executor.write(self._numbers[k], numbers)

    def iterate(self, n: int) -> None:
        """Enqueue n iterations without waiting."""
        for _ in range(n):
            self.executor.zero(self._left)
            for launch, groups in self._launches:
                launch(groups, GROUP)

    def left(self) -> int:
        """Elements that the last iteration could not correct."""
        self.executor.read(self._left, self._left_now)
        return int(self._left_now[0])


def places_of(corners: list[np.ndarray], rows: int) -> tuple[np.ndarray, np.ndarray]:
    """For every row where in the buffer its corrections are, `start` (rows + 1,) and `places`; corners (k, m) of each
    kind follow each other there.
    """
    owner = np.concatenate([own.ravel() for own in corners])
    counts = np.bincount(owner, minlength=rows)
    start = np.concatenate([[0], np.cumsum(counts)])
    return start.astype(np.int32), np.argsort(owner, kind="stable").astype(np.int32)


def groups_for(items: int) -> int:
    """Work-groups for so many items."""
    return -(-items // GROUP)
