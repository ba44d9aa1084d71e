"""Deformed elements of sheets, rods and nets, each with the functions of its energy bound to its data."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from pliant.elements import fibre, hinge, joint, spring, triangle
from pliant.energies import fibres, hinges, joints, springs, triangles
from pliant.energies import pairs as weighted_pairs
from pliant.kernels.term_source import law_functions
from pliant.lanes.cache import load_module
from pliant.materials import ARAP, SOLID_LAWS
from pliant.materials.calculus import law_code

N = 48  # a multiple of every lane width


@dataclass(frozen=True)
class Case:
    """N separate elements of k vertices: element e has vertices k e ... k e + k - 1."""

    module: ModuleType
    rest: np.ndarray  # (N k, 3)
    x: np.ndarray  # (N k, 3)
    elements: np.ndarray  # (N, k)
    data: tuple  # what energy, gradient ... take after x and elements

    def energy(self, x: np.ndarray) -> np.ndarray:
        return self.module.energy(x, self.elements, *self.data)

    def gradient(self, x: np.ndarray) -> np.ndarray:
        return self.module.gradient(x, self.elements, *self.data)

    def hessian(self, x: np.ndarray) -> np.ndarray:
        return self.module.hessian(x, self.elements, *self.data)

    def vertex_blocks(self, x: np.ndarray) -> np.ndarray:
        return self.module.vertex_blocks(x, self.elements, *self.data)


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
    return Case(springs, rest, x, edges, (stiffness, spring.rest_data(rest, edges), np.full(N, compression)))


TRIANGLE = np.array([[0.0, 0, 0], [1, 0, 0], [0.3, 0.9, 0]])


def triangle_case(law) -> Case:
    rest, x, elements = deformed(3, 3, TRIANGLE)
    gradients, areas, _ = triangle.rest_data(rest, elements)
    material = law.from_young(1.3, 0.0 if law is ARAP else 0.3)
    parameters = np.random.default_rng(4).uniform(0.9, 1.1, (N, 1)) * material.parameters
    return Case(triangles, rest, x, elements, (gradients, areas, law, parameters))


def fibre_case() -> Case:
    rest, x, elements = deformed(3, 5, TRIANGLE)
    beta = fibre.rest_data(rest, elements, np.random.default_rng(6).normal(size=(N, 3)))
    return Case(fibres, rest, x, elements, (beta, np.random.default_rng(7).uniform(0.5, 2, N)))


def hinge_case() -> Case:
    rest, x, elements = deformed(4, 8, np.array([[0.0, 0, 0], [1, 0, 0], [0.4, 0.9, 0.3], [0.6, -0.8, 0.2]]))
    angles, weights = hinge.rest_data(rest, elements)
    return Case(hinges, rest, x, elements, (angles, 1.4 * weights))


def joint_case(straight: bool) -> Case:
    rest, x, elements = deformed(3, 9, np.array([[0.0, 0, 0], [1, 0, 0], [1.8, 0.4, 0]]))
    angles, lengths = joint.rest_data(rest, elements)
    return Case(joints, rest, x, elements, (0 * angles if straight else angles, 1.4 / lengths))


def pair_case() -> Case:
    rest, x, pairs = deformed(2, 10, np.array([[0.0, 0, 0], [1, 0, 0]]))
    return Case(weighted_pairs, rest, x, pairs, (np.random.default_rng(11).normal(size=N),))


CASES: dict[str, Callable[[], Case]] = {
    "spring": lambda: spring_case(1.0),
    "rope": lambda: spring_case(0.0),
    **{f"triangle {name}": lambda law=law: triangle_case(law) for name, law in SOLID_LAWS.items()},
    "fibre": fibre_case,
    "hinge": hinge_case,
    "straight joint": lambda: joint_case(True),
    "bent joint": lambda: joint_case(False),
    "pair": pair_case,
}


@pytest.fixture(scope="session")
def sheet_case() -> Callable[[str], Case]:
    """A function: the case of a name."""
    return cache(lambda name: CASES[name]())


KERNELS = Path(__file__).parent / "sheet_kernels.py"
DECLARATION = 'PRECISION, WIDTH = "single", 1\n'
LAW = "density_K, derivatives_K, law_parameters = None, None, None  # the law's functions stand here\n"


@pytest.fixture(scope="session")
def sheet_kernels() -> Callable[[str, int, str], ModuleType]:
    """The module sheet_kernels for a precision, a width (1: plain floats) and a law's name."""
    text = KERNELS.read_text()
    assert DECLARATION in text
    assert LAW in text

    @cache
    def load(precision: str, width: int, law: str = "StVenantKirchhoff") -> ModuleType:
        count = len(SOLID_LAWS[law].parameter_names())
        kept = ", ".join("abcd"[:count])
        chosen = law_functions(law_code(SOLID_LAWS[law]).text)
        chosen += f"\n\n@physics\ndef law_parameters(a, b, c, d):\n    return ({kept},)\n"
        own = text.replace(DECLARATION, f'PRECISION, WIDTH = "{precision}", {width}\n').replace(LAW, chosen)
        return load_module("sheet_kernels", own, f"sheets under test ({law}, {precision}, {width})")

    return load
