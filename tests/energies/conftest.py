"""Deformed elements of sheets, rods and nets, with the functions of their energies; and their views, compiled alone."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from pliant.elements import (
    fibre,
    fold_fan,
    fold_pair,
    hinge,
    plate_square,
    reference,
    rest_height,
    rod_bend,
    spring,
    triangle,
)
from pliant.elements.bound import Bounds
from pliant.elements.dead_load import DeadLoads
from pliant.elements.element import Element
from pliant.elements.fibre import Fibres
from pliant.elements.hinge import Hinges
from pliant.elements.pair import Pairs
from pliant.elements.registry import element_of
from pliant.elements.rod_bend import RodBends
from pliant.elements.sheet import Sheets
from pliant.elements.spring import Springs
from pliant.energies import triangles
from pliant.kernels.element_lists import structured
from pliant.kernels.term_source import import_lines, law_functions
from pliant.lanes.cache import load_module
from pliant.lanes.types import DTYPES
from pliant.materials import ARAP, SOLID_LAWS
from pliant.materials.calculus import law_code

N = 48  # a multiple of every lane width


@dataclass(frozen=True)
class Case:
    """N separate elements of k vertices: element e has vertices k e ... k e + k - 1."""

    block: Any
    rest: np.ndarray  # (N k, 3)
    x: np.ndarray  # (N k, 3)

    @property
    def element(self) -> Element:
        return element_of(self.block)

    @property
    def elements(self) -> np.ndarray:
        return self.block.elements

    def energy(self, x: np.ndarray) -> np.ndarray:
        return self._of("energies", "energy", x)

    def gradient(self, x: np.ndarray) -> np.ndarray:
        return self._of("gradients", "gradient", x)

    def hessian(self, x: np.ndarray) -> np.ndarray:
        return self._of("hessians", "hessian", x)

    def vertex_blocks(self, x: np.ndarray) -> np.ndarray:
        return self._of("vertex_blocks", "vertex_blocks", x)

    def _of(self, name: str, of_triangles: str, x: np.ndarray) -> np.ndarray:
        b = self.block
        if isinstance(b, Sheets):
            return getattr(triangles, of_triangles)(x, b.elements, b.gradients, b.areas, b.law, b.parameters)
        return getattr(reference, name)(self.element, b, x)


def deformed(k: int, seed: int, shape: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rest, deformed positions and elements: N noisy copies of a shape (k, 3), placed and turned at random, then
    stretched and noisy; half of them compressed.
    """
    rng = np.random.default_rng(seed)
    copies = shape + 0.1 * rng.normal(size=(N, k, 3))
    turned = np.einsum("eab,ekb->eka", Rotation.random(N, random_state=seed).as_matrix(), copies)
    rest = turned + rng.normal(size=(N, 1, 3))
    A = np.eye(3) + 0.2 * rng.normal(size=(N, 3, 3))
    A[::2] *= 0.7
    x = np.einsum("eab,ekb->eka", A, turned) + 0.15 * rng.normal(size=rest.shape)
    return rest.reshape(-1, 3), x.reshape(-1, 3), np.arange(N * k).reshape(N, k)


def spring_case(compression: float) -> Case:
    rest, x, edges = deformed(2, 1, np.array([[0.0, 0, 0], [1, 0, 0]]))
    stiffness = np.random.default_rng(2).uniform(0.5, 2, N)
    return Case(Springs(edges, spring.rest_data(rest, edges), stiffness, np.full(N, compression)), rest, x)


TRIANGLE = np.array([[0.0, 0, 0], [1, 0, 0], [0.3, 0.9, 0]])


def triangle_case(law) -> Case:
    rest, x, elements = deformed(3, 3, TRIANGLE)
    gradients, areas, _ = triangle.rest_data(rest, elements)
    material = law.from_young(1.3, 0.0 if law is ARAP else 0.3)
    parameters = np.random.default_rng(4).uniform(0.9, 1.1, (N, 1)) * material.parameters
    return Case(Sheets(elements, law, gradients, areas, parameters), rest, x)


def fibre_case() -> Case:
    rest, x, elements = deformed(3, 5, TRIANGLE)
    slopes = fibre.rest_data(rest, elements, np.random.default_rng(6).normal(size=(N, 3)))
    return Case(Fibres(elements, slopes, np.random.default_rng(7).uniform(0.5, 2, N)), rest, x)


def hinge_case() -> Case:
    rest, x, elements = deformed(4, 8, np.array([[0.0, 0, 0], [1, 0, 0], [0.4, 0.9, 0.3], [0.6, -0.8, 0.2]]))
    angles, weights = hinge.rest_data(rest, elements)
    return Case(Hinges(elements, angles, 1.4 * weights), rest, x)


def fold_pair_case() -> Case:
    shape = np.array([[0.0, 0, 0], [1, 0, 0], [0.4, 0.9, 0.1], [0.6, -0.8, 0.3], [-0.7, 0.6, 0.2]])
    rest, x, elements = deformed(5, 16, shape)
    return Case(
        fold_pair.fold_pair_block(rest, elements, np.random.default_rng(17).uniform(-1.5, 1.5, (N, 2)), 1.4), rest, x
    )


FAN = np.array([[0.0, 0, 0], [1, 0, 0.1], [0.4, 0.9, 0.1], [-0.5, 0.7, 0.2], [0.6, -0.8, 0.3], [-1, -0.2, 0.1]])


def fold_fan_case() -> Case:
    rest, x, elements = deformed(6, 20, FAN)
    return Case(
        fold_fan.fold_fan_block(rest, elements, np.random.default_rng(21).uniform(-1.5, 1.5, (N, 3)), 1.4), rest, x
    )


def rest_height_case() -> Case:
    rest, x, elements = deformed(4, 18, np.vstack(([0.2, 0.3, 0.4], TRIANGLE)))
    return Case(rest_height.rest_heights(rest, elements, np.random.default_rng(19).normal(size=N)), rest, x)


def plate_square_case() -> Case:
    rest, x, elements = deformed(12, 22, np.random.default_rng(23).normal(size=(12, 3)))
    weights = np.random.default_rng(24).normal(size=(N, 12, 3))
    return Case(plate_square.PlateSquares(elements, weights - weights.mean(axis=1, keepdims=True)), rest, x)


def bend_case(straight: bool) -> Case:
    rest, x, elements = deformed(3, 9, np.array([[0.0, 0, 0], [1, 0, 0], [1.8, 0.4, 0]]))
    angles, lengths = rod_bend.rest_data(rest, elements)
    return Case(RodBends(elements, 0 * angles if straight else angles, 1.4 / lengths), rest, x)


def pair_case() -> Case:
    rest, x, pairs = deformed(2, 10, np.array([[0.0, 0, 0], [1, 0, 0]]))
    return Case(Pairs(pairs, np.random.default_rng(11).normal(size=N)), rest, x)


def bound_case() -> Case:
    """Vertices around a box, some bounds missing."""
    rest, x, vertices = deformed(1, 12, np.zeros((1, 3)))
    lower, upper = np.full((N, 3), -0.3), np.full((N, 3), 0.4)
    lower[::3, 1], upper[::4, 2] = -np.inf, np.inf
    return Case(Bounds(vertices, lower, upper, np.random.default_rng(13).uniform(0.5, 2, N)), 0.1 * rest, x)


def dead_load_case() -> Case:
    rest, x, vertices = deformed(1, 14, np.zeros((1, 3)))
    return Case(DeadLoads(vertices, np.random.default_rng(15).normal(size=(N, 3))), rest, x)


CASES: dict[str, Callable[[], Case]] = {
    "spring": lambda: spring_case(1.0),
    "rope": lambda: spring_case(0.0),
    **{f"triangle {name}": lambda law=law: triangle_case(law) for name, law in SOLID_LAWS.items()},
    "fibre": fibre_case,
    "hinge": hinge_case,
    "fold pair": fold_pair_case,
    "fold fan": fold_fan_case,
    "rest height": rest_height_case,
    "plate square": plate_square_case,
    "straight rod": lambda: bend_case(True),
    "bent rod": lambda: bend_case(False),
    "pair": pair_case,
    "bound": bound_case,
    "dead load": dead_load_case,
}


@pytest.fixture(scope="session")
def sheet_case() -> Callable[[str], Case]:
    """A function: the case of a name."""
    return cache(lambda name: CASES[name]())


def view_columns(case: Case, x: np.ndarray, view: int, order: tuple[int, ...]) -> list[np.ndarray]:
    """What a view takes, one column (n, c) for each argument: positions, numbers of corners and element, parameters."""
    element, block, corners = case.element, case.block, x[case.elements]
    own = corners[:, order[0]]
    columns = [own] if element.views[view].is_absolute else []
    columns += [corners[:, other] - own for other in order[1:]]
    seen = element.seen(view, order)
    columns += [values[:, corner] for values in element.corner_numbers_of(block) for corner in seen]
    columns += element.numbers_of(block)
    return [*columns, block.parameters] if element.has_law else columns


class ViewKernels:
    """The views of a case's element, each in a loop of its own, in floats (width 1) or lanes."""

    def __init__(self, case: Case, precision: str, width: int):
        self.case, self.width, self.dtype = case, width, DTYPES[precision]
        self.module = _module(case, precision, width)

    def run(self, view: int, columns: list[np.ndarray]) -> np.ndarray:
        """Energy, force (3) and block (6) of n elements (n, 10), from what the view takes."""
        n = len(columns[0])
        table = np.concatenate([values.reshape(n, -1) for values in columns], axis=1).astype(self.dtype)
        out = np.full(10 * n, np.nan, self.dtype)
        packed = table.reshape(-1, self.width, table.shape[1]).transpose(0, 2, 1).ravel()
        getattr(self.module, f"view{view}")(packed, out)
        return out.reshape(-1, 10, self.width).transpose(0, 2, 1).reshape(n, 10).astype(float)


def _module(case: Case, precision: str, width: int) -> ModuleType:
    element = case.element
    loops = []
    for number, view in enumerate(element.views):
        columns = view_columns(case, case.x, number, view.orders[0])
        sizes = [0 if values.ndim == 1 else values.shape[1] for values in columns]
        count = sum(max(size, 1) for size in sizes)
        arguments = structured(sizes, lambda i, count=count: f"load(numbers, (p * {count} + {i}) * WIDTH, z)")
        slopes, density = (["derivatives_law"], ["energy_density_law"]) if element.has_law else ([], [])
        add = f"{view.add.__name__}({', '.join(['f', 'H', *arguments, *slopes])})"
        energy = f"{view.energy.__name__}({', '.join([*arguments, *density])})"
        loops.append(LOOP.format(number=number, add=add, energy=energy))
    law = law_functions(law_code(case.block.law).text).replace("_K", "_law") if element.has_law else ""
    functions = import_lines(*(f for view in element.views for f in (view.add, view.energy)))
    text = HEADER.format(precision=precision, width=width, functions=functions, law=law) + "\n\n".join(loops)
    return load_module("views", text, f"views of {element.name} under test ({precision}, {width})")


HEADER = """
from pliant.lanes.entry import entry

{functions}
from pliant.lanes import exp, inverse_cube_root, load, log, make_zero, sqrt, store
from pliant.lanes.vectors import physics

WIDTH = {width}
zero = make_zero("{precision}", WIDTH)
{law}
"""

LOOP = """
@entry(error_model="numpy")
def view{number}(numbers, out):
    for p in range(len(out) // (10 * WIDTH)):
        z = zero()
        f, H = (z, z, z), (z, z, z, z, z, z)
        f, H = {add}
        store(out, 10 * p * WIDTH, {energy})
        for k in range(3):
            store(out, (10 * p + 1 + k) * WIDTH, f[k])
        for k in range(6):
            store(out, (10 * p + 4 + k) * WIDTH, H[k])
"""


@pytest.fixture(scope="session")
def view_kernels() -> Callable[[Case, str, int], ViewKernels]:
    """A function: the views of a case's element, compiled for a precision and a width."""
    return ViewKernels


@pytest.fixture(scope="session")
def one_element() -> Callable[[Any, np.ndarray], Case]:
    """A function: the case of a single element at the vertices of x."""

    def make(block: Any, x: np.ndarray) -> Case:
        return Case(replace(block, elements=np.arange(len(x))[None]), x, x)

    return make


@pytest.fixture(scope="session")
def columns_of() -> Callable[..., list[np.ndarray]]:
    return view_columns
