"""The source of elements whose second derivatives are lane functions, as many at a time as there are lanes: hinges,
pairs of folds, their damping, and that of tets and triangles.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import combinations_with_replacement, count
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from pliant.elements.element import Element
from pliant.elements.measure_rates import measured_change
from pliant.elements.measured import measured_block, measured_energy, measured_gradient
from pliant.kernels.assembly_source import in_lanes
from pliant.kernels.block_pattern import pair_count
from pliant.kernels.pair_blocks import store_block, store_vector
from pliant.kernels.term_source import import_lines
from pliant.lanes.cache import load_module


class CurvedElements(NamedTuple):
    """Elements in lanes; the last pack repeats the last element."""

    vertices: np.ndarray  # flat (packs, corners, width)
    numbers: np.ndarray  # flat (packs, numbers, width): corners before, of damping, then what a measure takes


def curved_elements(element: Element, block: Any, part: slice, width: int) -> CurvedElements:
    """Some elements of a block."""
    before = [block.previous[part]] if element.sees_previous else []
    numbers = (*before, *element.corner_numbers_of(block, part), *element.numbers_of(block, part))
    columns = [values.reshape(len(values), -1) for values in numbers]
    vertices = in_lanes(block.elements[part], width).astype(np.uint32)
    return CurvedElements(vertices, in_lanes(np.concatenate(columns, axis=1).astype(float), width))


def element_module(element: Element, block: Any, width: int) -> ModuleType:
    """Functions of a kind of element for a team of threads; x (n, 4). The block tells how many numbers its fields have.

    hessians(..., x, elements, buffer)   flat (packs, pairs i <= j of corners, 9, width) [N/m]
    energies(..., x, elements, out)      flat (packs, width) [J], and
    gradients(..., x, elements, out)     flat (packs, corners, 3, width) [N], of elements with a measure
    """
    loads, arguments = _loads(element, block)
    text = _SOURCE if element.curvature is None else _SOURCE + _MEASURED
    functions, lines, results = _measured(element, arguments) if element.curvature else _blocks(element, arguments)
    stores = [f"store_block(buffer, place + {9 * number} * WIDTH, {own})" for number, own in enumerate(results)]
    vectors = [
        f"store_vector(out, {element.corners} * p + {i}, measured_gradient(c, k, g[{i}]))" for i in _range(element)
    ]
    text = text.format(
        name=element.name,
        functions=import_lines(*functions, store_block, store_vector),
        width=width,
        corners=element.corners,
        pairs=pair_count(element.corners),
        lines=_indented([*loads, *lines, *stores]),
        measured=_indented([*loads, *lines[:1]]),
        vectors=_indented(vectors),
    )
    return load_module("curved", text, f"{element.name} in lanes")


def _range(element: Element) -> range:
    return range(element.corners)


def _indented(lines: list[str]) -> str:
    return "\n".join(f"    {line}" for line in lines)


def _blocks(element: Element, arguments: list[str]) -> tuple[list[Any], list[str], list[str]]:
    """Functions to import, lines, and expressions of all blocks, of an element that gives these."""
    assert element.blocks is not None
    before = "previous, " if element.sees_previous else ""
    lines = [f"blocks = {element.blocks.__name__}(corners, {before}{', '.join(arguments)})"]
    return [element.blocks], lines, [f"blocks[{number}]" for number in range(pair_count(element.corners))]


def _measured(element: Element, arguments: list[str]) -> tuple[list[Any], list[str], list[str]]:
    """The same of an element with a measure and its second derivatives."""
    assert element.measure is not None
    assert element.curvature is not None
    functions: list[Any] = [element.measure, element.curvature, measured_block, measured_energy, measured_gradient]
    measured, own = f"{element.measure.__name__}(corners, {', '.join(arguments)})", ", ".join(arguments)
    if element.sees_previous:
        functions.append(measured_change)
        own = f"*{arguments[0]}"
        measured = f"measured_change({element.measure.__name__}, corners, previous, {', '.join(arguments)})"
    lines = [f"c, g, k = {measured}", f"second = {element.curvature.__name__}(corners, {own})"]
    pairs = combinations_with_replacement(_range(element), 2)
    blocks = [f"measured_block(c, k, g[{i}], g[{j}], second[{number}])" for number, (i, j) in enumerate(pairs)]
    return functions, lines, blocks


def _loads(element: Element, block: Any) -> tuple[list[str], list[str]]:
    """Lines that load corners, and expressions of what a measure takes after them."""
    place = count()
    corners = range(element.corners)
    at = [f"gather3(x, elements.vertices, ({element.corners} * p + {i}) * WIDTH, like)" for i in corners]
    lines = [f"corners = ({', '.join(at)})"]
    before = [_numbers(place, 3) for _ in corners] if element.sees_previous else []
    of_corners = [
        _numbers(place, values.shape[2] if values.ndim == 3 else None)
        for values in element.corner_numbers_of(block)
        for _ in corners
    ]
    own = [_numbers(place, values.shape[1] if values.ndim == 2 else None) for values in element.numbers_of(block)]
    if before:
        lines.append(f"previous = ({', '.join(before)})")
    arguments = [f"n{k}" for k in range(len(of_corners) + len(own))]
    lines += [f"{name} = {value}" for name, value in zip(arguments, (*of_corners, *own), strict=True)]
    total = next(place)
    return [line.replace("COUNT", str(total)) for line in lines], arguments


def _numbers(place: Iterator[int], size: int | None) -> str:
    """The next number, or a tuple of so many."""
    loads = [f"load(elements.numbers, (COUNT * p + {next(place)}) * WIDTH, like)" for _ in range(size or 1)]
    return loads[0] if size is None else f"({', '.join(loads)},)"


@cache
def positive_module(width: int) -> ModuleType:
    """make_all_positive(..., corners, packs, buffer): Hessians as above without their negative eigenvalues."""
    return load_module("positive", _POSITIVE.format(width=width), "positive parts of Hessians")


_SOURCE = '''"""{name} in lanes. Written by pliant.kernels.curved_source: change that, not this."""
from pliant.lanes.entry import entry

{functions}
from pliant.kernels.threads import share
from pliant.lanes import gather3, load, make_zero, store
from pliant.lanes.vectors import physics

WIDTH = {width}
zero = make_zero("double", WIDTH)


@physics
def store_hessian(p, place, x, elements, buffer):
    """The blocks of pack p at buffer[place:]."""
    like = zero()
{lines}


@entry(nogil=True, error_model="numpy")
def hessians(thread, threads, barrier, x, elements, buffer):
    first, last = share(0, len(elements.vertices) // ({corners} * WIDTH), thread, threads)
    for p in range(first, last):
        store_hessian(p, p * {pairs} * 9 * WIDTH, x, elements, buffer)
'''

_MEASURED = """

@physics
def store_energy(p, x, elements, out):
    like = zero()
{measured}
    store(out, p * WIDTH, measured_energy((c, g, k)))


@physics
def store_gradient(p, x, elements, out):
    like = zero()
{measured}
{vectors}


@entry(nogil=True, error_model="numpy")
def energies(thread, threads, barrier, x, elements, out):
    first, last = share(0, len(elements.vertices) // ({corners} * WIDTH), thread, threads)
    for p in range(first, last):
        store_energy(p, x, elements, out)


@entry(nogil=True, error_model="numpy")
def gradients(thread, threads, barrier, x, elements, out):
    first, last = share(0, len(elements.vertices) // ({corners} * WIDTH), thread, threads)
    for p in range(first, last):
        store_gradient(p, x, elements, out)
"""

_POSITIVE = '''"""Positive parts of Hessians. Written by pliant.kernels.curved_source: change that, not this."""
import numpy as np
from pliant.lanes.entry import entry

from pliant.kernels.positive_elements import make_positive
from pliant.kernels.threads import share
from pliant.lanes import make_zero

WIDTH = {width}
zero = make_zero("double", WIDTH)


@entry(nogil=True, error_model="numpy")
def make_all_positive(thread, threads, barrier, corners, packs, buffer):
    H, V = np.empty(corners ** 2 * 9 * WIDTH), np.empty(corners ** 2 * 9 * WIDTH)
    first, last = share(0, packs, thread, threads)
    size = corners * (corners + 1) // 2 * 9 * WIDTH
    for p in range(first, last):
        make_positive(buffer, p * size, corners, H, V, zero())
'''
