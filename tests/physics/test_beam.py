"""A clamped beam: its sag against Euler and Bernoulli, rho A g L^4 / (8 E I), and its first two frequencies."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import eigsh

import pliant as pl

LENGTH, YOUNG, RHO, G = 1.0, 1e7, 1000.0, 1e-3  # gravity so small that the sag is linear


def deflection_error(cells, thickness):
    """Relative error of the static tip deflection; inertia vanishes in a step of 1e4 s. nu = 0, as in the theory."""
    mesh = pl.shapes.beam(LENGTH, thickness, thickness, cells)
    scene = pl.Scene(gravity=(0, 0, -G))
    scene.add_solid(mesh, pl.StableNeoHookean.from_young(YOUNG, 0.0), RHO).pin(mesh.points[:, 0] < -0.4999 * LENGTH)
    sim = pl.Simulation(scene, pl.Newton(start="previous"), frame_rate=1e-4, substeps=1, precision="double")
    report = pl.solve(sim.problem(), pl.Newton(), stop=pl.Stop(iterations=2))
    assert report.residual < 1e-4 * G
    tip = mesh.points[:, 0] > 0.4999 * LENGTH
    area, inertia = thickness**2, thickness**4 / 12
    theory = RHO * area * G * LENGTH**4 / (8 * YOUNG * inertia)
    return 1 - (mesh.points - report.x)[tip, 2].mean() / theory


@pytest.mark.slow
def test_bending_converges_with_the_square_of_the_cell():
    """Linear tets are too stiff in bending: 36 % with 2 cells across, falling fourfold when cells halve."""
    errors = [deflection_error((16 * n, n, n), 1 / 16) for n in (2, 4, 8)]
    assert errors[0] == pytest.approx(0.36, abs=0.02)
    # stiffness 1 / (1 - error) goes as 1 + c / n^2
    excess = [1 / (1 - e) - 1 for e in errors]
    assert excess[0] / excess[1] == pytest.approx(4, rel=0.1)
    assert excess[1] / excess[2] == pytest.approx(4, rel=0.1)


@pytest.mark.slow
def test_fine_beam_sags_as_euler_and_bernoulli_say():
    """Within 3 % with 10 cubic cells across the thickness; shear adds 0.6 % at L = 12 d."""
    assert abs(deflection_error((120, 10, 10), LENGTH / 12)) < 0.03


@pytest.mark.parametrize(
    ("cells", "difference"),
    [
        ((16, 2, 2), 1e-9),
        ((15, 2, 2), 1e-9),
        ((15, 3, 3), 5e-3),
        ((16, 3, 3), 5e-3),
        ((16, 1, 1), 1e-9),
    ],
)
def test_both_bending_modes_of_a_square_beam_have_one_frequency(cells, difference):
    """Of the default split, with even and odd numbers of cells; a bar one cell across is body-centred. Kuhn's
    split has modes along the diagonals that differ by more than 5 %.
    """
    first, second = bending_frequencies(pl.shapes.beam(LENGTH, 0.1, 0.1, cells))
    assert second == pytest.approx(first, rel=difference)
    first, second = bending_frequencies(pl.shapes.beam(LENGTH, 0.1, 0.1, cells, split="kuhn"))
    assert second > 1.05 * first


def bending_frequencies(mesh):
    """The two lowest angular frequencies [1/s] of a beam that is clamped at one end."""
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.add_solid(mesh, pl.StableNeoHookean.from_young(YOUNG, 0.3), RHO).pin(mesh.points[:, 0] < -0.4999 * LENGTH)
    sim = pl.Simulation(scene, pl.Newton(), frame_rate=1, substeps=1, precision="double")
    free = np.repeat(sim.model.is_free, 3)
    inertia = sp.diags(np.repeat(sim.model.mass, 3)[free]).tocsc()
    stiffness = sim.problem().hessian(sim.positions).tocsc()[free][:, free] - inertia  # of a step of 1 s
    squares = eigsh(stiffness, 2, inertia, sigma=0.0, v0=np.ones(stiffness.shape[0]), return_eigenvectors=False)
    return np.sqrt(np.sort(squares))
