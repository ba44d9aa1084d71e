"""The source of a law's elements, element after element: energies, gradients, and Hessians that are made positive if
asked and summed into a sparse matrix of blocks (block_pattern).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement
from types import ModuleType
from typing import NamedTuple

import numpy as np

from pliant.kernels.block_pattern import CHUNK, pair_count
from pliant.kernels.pair_blocks import (
    add_tet_curvature,
    add_triangle_curvature,
    curvature_rows,
    pair_block,
    store_block,
    store_vector,
    tet_state,
    tet_vertex,
    triangle_state,
    triangle_vertex,
    vertex_gradient,
)
from pliant.kernels.term_source import import_lines, law_functions
from pliant.lanes.cache import load_module
from pliant.lanes.functions import LaneFunction


class ElementTable(NamedTuple):
    """Tets or triangles, as many as there are lanes at a time; the last pack repeats the last element."""

    vertices: np.ndarray  # flat (packs, corners, width)
    gradients: np.ndarray  # flat (packs, corners - 1, axes, width): b of all corners but the first [1/m]
    sizes: np.ndarray  # flat (packs, width): volumes [m^3] or areas [m^2]
    parameters: np.ndarray  # flat (packs, parameters, width) of the law


@dataclass(frozen=True)
class Shape:
    """What of the code depends on the kind of element."""

    name: str  # tet or triangle
    corners: int
    axes: int  # of a shape-function gradient
    functions: tuple[LaneFunction, ...]  # {name}_state, {name}_vertex and add_{name}_curvature

    def buffer_size(self, width: int) -> int:
        """Numbers of a chunk's blocks."""
        return CHUNK // width * pair_count(self.corners) * 9 * width


TET = Shape("tet", 4, 3, (tet_state, tet_vertex, add_tet_curvature))
TRIANGLE = Shape("triangle", 3, 2, (triangle_state, triangle_vertex, add_triangle_curvature))


def element_table(elements, gradients, sizes, parameters, width: int) -> ElementTable:
    """elements (m, corners), gradients (m, corners, axes), sizes (m,), parameters (m, p)."""
    return ElementTable(
        in_lanes(elements, width).astype(np.uint32),
        in_lanes(gradients[:, 1:], width),
        in_lanes(sizes, width),
        in_lanes(parameters, width),
    )


def in_lanes(values: np.ndarray, width: int) -> np.ndarray:
    """Numbers of elements (m, ...) as flat (packs, ..., width)."""
    m = len(values)
    filled = values[np.minimum(np.arange(-(-m // width) * width), m - 1)].reshape(
        -1, width, int(np.prod(values.shape[1:]))
    )
    return np.ascontiguousarray(filled.transpose(0, 2, 1)).reshape(-1)


def assembly_module(
    shape: Shape, law_name: str, law_text: str, has_barrier: bool, parameter_count: int, width: int
) -> ModuleType:
    """Functions of a law in elements of one shape, for a team of threads; x (n, 4):

    energies(..., x, elements, out)     flat (packs, width) [J]
    gradients(..., x, elements, out)    dE/dx, flat (packs, corners, 3, width) [N]
    hessians(..., psd, x, elements, buffer)
                                        flat (packs, pairs i <= j of corners, 9, width) [N/m]; psd: as below
    assemble(..., psd, x, elements, places, buffer, values)
                                        adds Hessians to values (blocks, 3, 3) [N/m]; psd: each made semidefinite first
    """
    text = _SOURCE.format(
        name=law_name,
        shape=shape.name,
        width=width,
        corners=shape.corners,
        pairs=pair_count(shape.corners),
        law=law_functions(law_text).replace("_K", "_law"),
        loads=_loads(shape, parameter_count),
        vertices=_vertices(shape),
        gradients=_gradients(shape),
        blocks=_blocks(shape),
        packs=CHUNK // width,
        functions=import_lines(
            *shape.functions, curvature_rows, pair_block, store_block, store_vector, vertex_gradient
        ),
        inside=_INSIDE if has_barrier else "",
    )
    return load_module("elements", text, f"{law_name} in {shape.name}s")


def _loads(shape: Shape, parameter_count: int) -> str:
    """Lines that load what an element has."""
    corners = range(shape.corners)
    at = [f"gather3(x, elements.vertices, ({shape.corners} * p + {i}) * WIDTH, like)" for i in corners]
    numbers = (shape.corners - 1) * shape.axes
    places = [[f"({numbers} * p + {i * shape.axes + a}) * WIDTH" for a in range(shape.axes)] for i in corners[:-1]]
    gradients = [f"({', '.join(f'load(elements.gradients, {place}, like)' for place in own)})" for own in places]
    law = [f"load(elements.parameters, ({parameter_count} * p + {i}) * WIDTH, like)" for i in range(parameter_count)]
    return _indented(
        [f"corners = ({', '.join(at)})", f"gradients = ({', '.join(gradients)})", f"law = ({', '.join(law)},)"]
    )


def _vertices(shape: Shape) -> str:
    """Lines that compute what each vertex brings; gradients of all corners sum to zero."""
    corners = range(shape.corners)
    first = " + ".join(f"gradients[{i}][#]" for i in corners[:-1])
    own = ", ".join(f"-({first.replace('#', str(a))})" for a in range(shape.axes))
    lines = [f"v0 = {shape.name}_vertex(state, B, ({own}))"]
    return _indented([*lines, *(f"v{i} = {shape.name}_vertex(state, B, gradients[{i - 1}])" for i in corners[1:])])


def _gradients(shape: Shape) -> str:
    """Lines that compute and store the gradient of every vertex."""
    corners = range(shape.corners)
    stores = [f"store_vector(out, {shape.corners} * p + {i}, vertex_gradient(first, size, v{i}))" for i in corners]
    return _indented(stores)


def _blocks(shape: Shape) -> str:
    """Lines that compute and store every block."""
    corners = range(shape.corners)
    lines = [f"rows{i} = curvature_rows(second, size, v{i})" for i in corners]
    for k, (i, j) in enumerate(combinations_with_replacement(corners, 2)):
        lines += [
            f"block = pair_block(first, rows{j}, size, B, v{i}, v{j})",
            f"block = unless_zero(add_{shape.name}_curvature, block, first[2], size, state, v{i}, v{j})",
            f"store_block(buffer, place + {9 * k} * WIDTH, block)",
        ]
    return _indented(lines)


def _indented(lines: list[str]) -> str:
    return "\n".join("    " + line for line in lines)


_INSIDE = """    inside = invariants[2] > 0.0
    invariants = (invariants[0], invariants[1], select(inside, invariants[2], number(1.0, size)))
    outside = select(inside, number(0.0, size), number(np.inf, size))
"""

_SOURCE = '''"""{name} in {shape}s. Written by pliant.kernels.assembly_source: change that, not this."""
import numpy as np
from pliant.lanes.entry import entry

from pliant.kernels.block_sums import add_to_blocks
{functions}
from pliant.kernels.positive_elements import make_positive
from pliant.kernels.threads import barrier_wait, share
from pliant.lanes import exp, gather3, inverse_cube_root, load, log, make_zero, number, select, sqrt, store
from pliant.lanes.vectors import physics, unless_zero

WIDTH = {width}
zero = make_zero("double", WIDTH)

{law}

@physics
def state_of(p, x, elements):
    """Size, parameters, shape-function gradients and what {shape}_state gives of the elements of pack p."""
    like = zero()
{loads}
    size = load(elements.sizes, p * WIDTH, like)
    state, B, invariants = {shape}_state(corners, gradients, size)
    return size, law, gradients, state, B, invariants


@physics
def store_hessian(p, place, x, elements, buffer):
    """The blocks of pack p at buffer[place:]."""
    size, law, gradients, state, B, invariants = state_of(p, x, elements)
    first, second = derivatives_law(*invariants, *law)
{vertices}
{blocks}


@entry(nogil=True, error_model="numpy")
def energies(thread, threads, barrier, x, elements, out):
    first, last = share(0, len(elements.sizes) // WIDTH, thread, threads)
    for p in range(first, last):
        store(out, p * WIDTH, energy_of(p, x, elements))


@physics
def energy_of(p, x, elements):
    """Of the elements of pack p; infinite where a law has no value."""
    size, law, _, _, _, invariants = state_of(p, x, elements)
    outside = number(0.0, size)
{inside}    return size * energy_density_law(*invariants, *law) + outside


@entry(nogil=True, error_model="numpy")
def gradients(thread, threads, barrier, x, elements, out):
    begin, end = share(0, len(elements.sizes) // WIDTH, thread, threads)
    for p in range(begin, end):
        store_gradient(p, x, elements, out)


@physics
def store_gradient(p, x, elements, out):
    size, law, gradients, state, B, invariants = state_of(p, x, elements)
    first, _ = derivatives_law(*invariants, *law)
{vertices}
{gradients}


@entry(nogil=True, error_model="numpy")
def hessians(thread, threads, barrier, psd, x, elements, buffer):
    H, V = np.empty({corners} ** 2 * 9 * WIDTH), np.empty({corners} ** 2 * 9 * WIDTH)
    first, last = share(0, len(elements.sizes) // WIDTH, thread, threads)
    for p in range(first, last):
        place = p * {pairs} * 9 * WIDTH
        store_hessian(p, place, x, elements, buffer)
        if psd:
            make_positive(buffer, place, {corners}, H, V, zero())


@entry(nogil=True, error_model="numpy")
def assemble(thread, threads, barrier, psd, x, elements, places, buffer, values):
    arrivals = 0
    packs = len(elements.sizes) // WIDTH
    H, V = np.empty({corners} ** 2 * 9 * WIDTH), np.empty({corners} ** 2 * 9 * WIDTH)
    for chunk in range(len(places.chunk_start) - 1):
        begin = chunk * {packs}
        first, last = share(begin, min(begin + {packs}, packs), thread, threads)
        for p in range(first, last):
            place = (p - begin) * {pairs} * 9 * WIDTH
            store_hessian(p, place, x, elements, buffer)
            if psd:
                make_positive(buffer, place, {corners}, H, V, zero())
        arrivals += threads
        barrier_wait(barrier, arrivals)
        add_to_blocks(thread, threads, barrier, chunk, places, buffer, values)
        arrivals += threads
        barrier_wait(barrier, arrivals)
'''
