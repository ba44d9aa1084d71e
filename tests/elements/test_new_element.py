"""An element that Pliant does not have, defined in this file alone: every solver takes it.

It is a triangle that keeps its area, C = A - A_0 with energy k/2 C^2; docs/how-to-add-an-element.md shows the same.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import pliant as pl
from pliant.elements import reference
from pliant.elements.block import Block, Invariance, Tearing
from pliant.elements.element import Element, View
from pliant.elements.registry import ELEMENTS, register
from pliant.energies.elements import energy_of
from pliant.lanes import maximum, number, sqrt
from pliant.lanes.vectors import add_scaled, add_square, cross, dot, physics, subtract
from pliant.model import Cloth


@dataclass(frozen=True)
class AreaTriangles(Block):
    """Triangles (m, 3) that resist a change of their area."""

    energy_name = "area"
    tearing = Tearing.FOLLOWS_TRIANGLES
    invariance = Invariance.RIGID

    areas: np.ndarray  # (m,) at rest [m^2]
    stiffness: np.ndarray  # (m,) k [N/m^3]


@physics
def area_measure(corners, rest_area, stiffness):
    """A - A_0; dA/dx_i = n x e_i / 2 with the unit normal n and the opposite edge e_i."""
    x0, x1, x2 = corners
    n = cross(subtract(x1, x0), subtract(x2, x0))
    double = sqrt(dot(n, n))
    half = 0.5 / maximum(double, number(1e-18, double))
    unit = (half * n[0], half * n[1], half * n[2])
    gradients = (cross(unit, subtract(x2, x1)), cross(unit, subtract(x0, x2)), cross(unit, subtract(x1, x0)))
    return 0.5 * double - rest_area, gradients, stiffness


AREA = Element(
    AreaTriangles,
    "areas",
    corners=3,
    numbers=("areas", "stiffness"),
    measure=area_measure,
    orders=(((0, 1, 2), (1, 2, 0), (2, 0, 1)),),
)


@physics
def area_energy(a, b, rest_area, stiffness):
    n = cross(a, b)
    change = 0.5 * sqrt(dot(n, n)) - rest_area
    return 0.5 * stiffness * change * change


@physics
def add_area(f, H, a, b, rest_area, stiffness):
    zero = number(0.0, rest_area)
    c, gradients, k = area_measure(((zero, zero, zero), a, b), rest_area, stiffness)
    return add_scaled(f, -k * c, gradients[0]), add_square(H, k, gradients[0])


WITH_VIEWS = replace(AREA, views=(View(((0, 1, 2), (1, 2, 0), (2, 0, 1)), add_area, area_energy),))
WITHOUT_ORDERS = replace(AREA, orders=())  # a list for each corner
FORMS = {"measure": AREA, "three lists": WITHOUT_ORDERS, "views": WITH_VIEWS}


class AreaCloth(Cloth):
    """A sheet whose triangles also keep their area."""

    def blocks(self, first: int) -> list[Block]:
        areas = self.mesh.areas
        own = AreaTriangles(self.mesh.triangles + first, areas, np.full(len(areas), 3e4))
        return [*super().blocks(first), own]


@pytest.fixture(params=FORMS.values(), ids=FORMS)
def element(request) -> Iterator[Element]:
    """The new element, known to Pliant as long as a test runs."""
    register(request.param)
    yield request.param
    del ELEMENTS[AreaTriangles]


@pytest.fixture
def problem(element) -> pl.IncrementalPotential:
    """A sheet thrown about in one step, two corners pinned."""
    scene = pl.Scene()
    mesh = pl.shapes.cloth((1, 0.8), (4, 3))
    law = pl.StVenantKirchhoff.from_young(100.0, 0.3)
    sheet = AreaCloth("sheet", mesh, law, 0.2, 1e-3, 0.0, "dihedral", 0.0, 0.0, (1.0, 0.0, 0.0))
    scene.add(sheet)
    sheet.pin([0, 3])
    sheet.set_velocities(np.random.default_rng(3).normal(scale=0.5, size=(mesh.n_vertices, 3)))
    return pl.Simulation(scene, pl.Newton(), frame_rate=100, substeps=1).problem()


def area_block(problem: pl.IncrementalPotential) -> AreaTriangles:
    return next(block for block in problem.blocks if isinstance(block, AreaTriangles))


def shaken(problem: pl.IncrementalPotential) -> np.ndarray:
    return problem.x_prev + np.random.default_rng(1).normal(scale=0.03, size=problem.x_prev.shape)


def central(function, x: np.ndarray, step: float = 1e-6) -> np.ndarray:
    """Derivatives by the 3 n coordinates, last."""
    columns = []
    for i in range(x.size):
        d = np.zeros(x.size)
        d[i] = step
        d = d.reshape(x.shape)
        columns.append((function(x + d) - function(x - d)) / (2 * step))
    return np.stack(columns, axis=-1)


def test_derivatives_are_those_of_the_energy(problem, element) -> None:
    block, x = area_block(problem), shaken(problem)
    of = energy_of(block)
    g = of.gradient(block, x)
    np.testing.assert_allclose(central(lambda p: of.energy(block, p), x), g.ravel(), atol=1e-7 * np.abs(g).max())
    exact = problem._sparse(block.elements, of.element_hessians(block, x, slice(None)), psd=False).toarray()
    measured = central(lambda p: of.gradient(block, p).ravel(), x)
    np.testing.assert_allclose(measured, exact, atol=1e-6 * np.abs(exact).max())
    assert np.abs(exact - exact.T).max() < 1e-12 * np.abs(exact).max()


def test_the_energy_is_that_of_the_areas(problem, element) -> None:
    block, x = area_block(problem), shaken(problem)
    a, b, c = (x[block.elements[:, i]] for i in range(3))
    areas = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)
    expected = 0.5 * block.stiffness * (areas - block.areas) ** 2
    np.testing.assert_allclose(reference.energies(element, block, x), expected, rtol=1e-12)
    assert problem.energies(x)["area"] == pytest.approx(expected.sum(), rel=1e-12)


def test_rigid_motion_changes_nothing(problem, element) -> None:
    block, x = area_block(problem), shaken(problem)
    moved = Rotation.from_rotvec([0.4, -1.1, 0.7]).apply(x) + np.array([3.0, -2.0, 1.0])
    of = energy_of(block)
    assert of.energy(block, moved) == pytest.approx(of.energy(block, x), rel=1e-12)
    g = of.gradient(block, x)
    np.testing.assert_allclose(g.sum(axis=0), 0, atol=1e-12 * np.abs(g).max())
    np.testing.assert_allclose(np.cross(x, g).sum(axis=0), 0, atol=1e-12 * np.abs(g).max())


def test_vertex_block_descent_finds_newtons_minimiser(problem) -> None:
    """Within 1e-6 of the way travelled; and the element matters."""
    exact = pl.solve(problem, pl.Newton(), stop=pl.Stop(iterations=60, residual=1e-10))
    report = pl.solve(problem, pl.VBD(), stop=pl.Stop(iterations=3000, residual=1e-9), measure_every=50)
    travelled = np.abs(exact.x - problem.x_guess).max()
    assert np.abs(report.x - exact.x).max() <= 1e-6 * travelled
    without = replace(problem.model, blocks=tuple(b for b in problem.model.blocks if b.energy_name != "area"))
    other = pl.solve(replace(problem, model=without), pl.Newton(), stop=pl.Stop(iterations=60, residual=1e-10))
    assert np.abs(other.x - exact.x).max() > 1e-2 * travelled


@pytest.mark.slow
def test_the_other_solvers_take_it(problem) -> None:
    """Those that minimise end at the minimiser; GPBD and XPBD near it, as their own error in a step allows."""
    exact = pl.solve(problem, pl.Newton(), stop=pl.Stop(iterations=60, residual=1e-10)).x
    travelled = np.abs(exact - problem.x_guess).max()
    for solver in (pl.LBFGS(), pl.LaplacianQuasiNewton()):
        report = pl.solve(problem, solver, stop=pl.Stop(iterations=2000, residual=1e-9), measure_every=50)
        assert np.abs(report.x - exact).max() <= 1e-6 * travelled
    for solver in (pl.GPBD(), pl.XPBD()):
        report = pl.solve(problem, solver, stop=pl.Stop(iterations=400), measure_every=100)
        assert np.abs(report.x - exact).max() <= 0.05 * travelled


def test_projective_dynamics_refuses_what_has_no_projection(problem) -> None:
    with pytest.raises(pl.SolverError, match="cannot take"):
        pl.solve(problem, pl.ProjectiveDynamics(), stop=pl.Stop(iterations=1))


def test_an_unknown_block_is_refused() -> None:
    with pytest.raises(TypeError, match="AreaTriangles is not a registered kind of element"):
        energy_of(AreaTriangles(np.zeros((1, 3), int), np.ones(1), np.ones(1)))
