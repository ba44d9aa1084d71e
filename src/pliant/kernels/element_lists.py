"""Lists and lines of kernel of any element (elements.element): how its corners see it in vertex block descent."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pliant.elements.element import Element
from pliant.elements.measure_rates import measured_change
from pliant.elements.measured import add_measured, measured_energy
from pliant.kernels.lists import Incidences, list_constant, other
from pliant.kernels.term_source import TermSource, import_lines, law_functions, load_parameters


class LawText(NamedTuple):
    """A law as a kernel sees it."""

    name: str
    text: str
    parameter_count: int
    varies: bool  # whether elements at one vertex differ in their parameters, which then are numbers of each


def incidences_of(element: Element, block: Any, parameters: np.ndarray | None = None) -> tuple[Incidences, ...]:
    """Elements as their corners see them, list by list; parameters (m, p): numbers that come last."""
    own = [_flat(values) for values in element.numbers_of(block)]
    if parameters is not None:
        own.append(parameters)
    return tuple(_incidences(element, block, k, own) for k in range(len(element.lists)))


def _incidences(element: Element, block: Any, k: int, own: list[np.ndarray]) -> Incidences:
    """Of list k, element after element."""
    m, orders = len(block.elements), element.lists[k]
    of_corners = element.corner_numbers_of(block)
    rows = []
    for order in orders:
        seen = list(element.seen(k, order))
        columns = [_flat(values[:, seen]) for values in of_corners] + own
        rows.append(np.concatenate([np.empty((m, 0)), *columns], axis=1))
    constants = np.stack(rows, axis=1)  # (m, orders, numbers)
    corners = block.elements[:, np.array(orders)]  # (m, orders, corners)
    return Incidences(
        corners[:, :, 0].ravel(),
        corners[:, :, 1:].reshape(m * len(orders), element.corners - 1),
        constants.reshape(m * len(orders), constants.shape[2]),
    )


def _flat(values: np.ndarray) -> np.ndarray:
    """(m, ...) as (m, k), also where m is 0."""
    return values.reshape(len(values), int(np.prod(values.shape[1:])))


def list_source(element: Element, block: Any, law: LawText | None = None) -> TermSource:
    """An element as a kernel sees it; the block tells how many numbers its fields have."""
    names = tuple(f"list{k}_K" for k in range(len(element.lists)))
    lines = [_lines(element, block, k, law) for k in range(len(names))]
    load = [] if law is None or law.varies else [load_parameters(law.parameter_count)]
    before = ["before_K = load3(previous_K, p * WIDTH, z)"] if element.sees_previous else []
    functions = [f for view in element.views for f in (view.add, view.energy)] or [element.measure]
    return TermSource(
        name=element.name if law is None else f"{element.name} of {law.name}",
        imports=import_lines(other, list_constant, *_shared_functions(element))
        + "\n"
        + import_lines(*functions, suffix="_K"),
        tables=(*names, *(["parameters_K"] if load else []), *(["previous_K"] if before else [])),
        force=(*load, *before, *(line for force, _ in lines for line in force)),
        energy=(*load, *before, *(line for _, energy in lines for line in energy)),
        definitions="" if law is None else law_functions(law.text),
    )


def _shared_functions(element: Element) -> list[Any]:
    """What is called for every element that is given by a measure alone."""
    if element.views:
        return []
    return [add_measured, measured_energy, *([measured_change] if element.sees_previous else [])]


def _lines(element: Element, block: Any, k: int, law: LawText | None) -> tuple[list[str], list[str]]:
    """Loops over list k that add to force and block, and to the energy."""
    arguments = _arguments(element, block, k, law)
    loop = f"for k in range(list{k}_K.start[p], list{k}_K.start[p + 1]):"
    share = f"energy = energy + SHARE_OF_{element.corners} *"
    if not element.views:
        assert element.measure is not None
        name = f"{element.measure.__name__}_K"
        measured = f"{name}({', '.join(arguments)})"
        if element.sees_previous:
            measured = f"measured_change({', '.join([name, *arguments])})"
        force = [f"c_K, g_K, k_K = {measured}", f"f, H = add_measured(f, H, c_K, g_K[{element.lists[k][0][0]}], k_K)"]
        return [loop, *(f"    {line}" for line in force)], [loop, f"    {share} measured_energy({measured})"]
    view = element.views[k]
    own = ["xi", *arguments] if view.is_absolute else arguments
    slopes, density = ([], []) if law is None else (["derivatives_K"], ["energy_density_K"])
    add = f"{view.add.__name__}_K({', '.join(['f', 'H', *own, *slopes])})"
    energy = f"{view.energy.__name__}_K({', '.join([*own, *density])})"
    return [loop, f"    f, H = {add}"], [loop, f"    {share} {energy}"]


def _arguments(element: Element, block: Any, k: int, law: LawText | None) -> list[str]:
    """What the functions of list k take, as text: positions, numbers of corners, numbers, parameters of a law."""
    first = element.lists[k][0]
    positions = _positions(element, k, "x", "xi")
    if element.sees_previous:
        positions += _positions(element, k, "previous_K", "before_K")
    seen = len(element.seen(k, first))
    sizes = [_size(values[:, 0]) for values in element.corner_numbers_of(block) for _ in range(seen)]
    sizes += [_size(values) for values in element.numbers_of(block)]
    if law is not None and law.varies:
        sizes.append(law.parameter_count)
    total = sum(max(size, 1) for size in sizes)
    numbers = structured(sizes, lambda i: f"list_constant(list{k}_K, k, {i}, {total}, xi[0])")
    return positions + numbers + (["law_K"] if law is not None and not law.varies else [])


def _positions(element: Element, k: int, rows: str, own: str) -> list[str]:
    """Positions of the corners relative to the vertex itself, all of them in one tuple for a measure."""
    count, first = element.corners - 1, element.lists[k][0]
    relative = [f"other({rows}, {own}, list{k}_K, k, {j}, {count})" for j in range(count)]
    if element.views:
        return relative
    at = dict(zip(first, ["(z, z, z)", *relative], strict=True))
    return [f"({', '.join(at[corner] for corner in range(element.corners))},)"]


def _size(values: np.ndarray) -> int:
    """How many numbers a lane function takes as a tuple; 0 for one that stands alone."""
    return 0 if values.ndim == 1 else values.shape[1]


def structured(sizes: list[int], load) -> list[str]:
    """Texts of numbers that lie one after another, some alone (0), some in tuples of a size; load(i): number i."""
    texts, first = [], 0
    for size in sizes:
        texts.append(load(first) if size == 0 else f"({', '.join(load(first + i) for i in range(size))},)")
        first += max(size, 1)
    return texts
