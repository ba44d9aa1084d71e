"""Elements with one constraint of linear compliance on a device (kernels.scalar_constraints), in C."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pliant.device.corrections import CorrectionSource, Tracing
from pliant.device.functions import Argument
from pliant.kernels.corners import inner, moved
from pliant.kernels.scalar_constraints import multiplier_step


def scalar_source(name: str, measure: Callable, corners: int, sizes: list[int], tracing: Tracing) -> CorrectionSource:
    """measure(r, *numbers): of the rows r and the element's numbers, gives C, g and k.

    sizes: of its numbers, 0 for one that stands alone, else how many are in a tuple; after them comes the relaxation.
    """
    count = sum(max(size, 1) for size in sizes) + 1

    def correct(r, n, D):
        rows = tuple(r[4 * i : 4 * i + 4] for i in range(corners))
        c, g, k = measure(rows, *_grouped(n, sizes))
        gg = sum(inner(row, own, own) for row, own in zip(rows, g, strict=True))
        change = n[-1] * multiplier_step(c, k, gg, D)
        return tuple(moved(row, change, own) for row, own in zip(rows, g, strict=True)), D + change

    arguments = [Argument("r", 4 * corners), Argument("n", count, is_array=True), Argument("D", 1)]
    results = [f"d {3 * corners}", "D 1"]
    call = lambda r, n, D: correct(r, n, D[0])  # noqa: E731
    function = tracing.function("project_K", measure, call, arguments, results)
    return CorrectionSource(name, corners, count, 1, (), function, "project_K(r, n, D, d);")


def _grouped(numbers: tuple[Any, ...], sizes: list[int]) -> list[Any]:
    result, place = [], 0
    for size in sizes:
        result.append(numbers[place : place + size] if size else numbers[place])
        place += max(size, 1)
    return result
