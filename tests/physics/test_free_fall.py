"""A body in free fall moves exactly as implicit Euler says."""

import numpy as np
import pytest

import pliant as pl
from pliant.materials import SOLID_LAWS

G = np.array([1.0, -2.0, -9.81])
# The others differ from one of these in their formula alone, and a kernel takes seconds to compile.
FULLY_TRIED = (pl.StableNeoHookean, pl.NeoHookean, pl.StVenantKirchhoff)
every_law_slowly = pytest.mark.parametrize(
    "law",
    [
        pytest.param(law, id=name, marks=() if law in FULLY_TRIED else pytest.mark.slow)
        for name, law in SOLID_LAWS.items()
    ],
)


def fall(law, solver, precision, n=20, velocity=(0.3, 0.2, 1.0)):
    mesh = pl.shapes.box((0.3, 0.2, 0.2), (3, 2, 2))
    scene = pl.Scene(gravity=G)
    scene.add_solid(mesh, law.from_young(1e5, 0.0 if law is pl.ARAP else 0.35)).set_velocities(velocity)
    sim = pl.Simulation(scene, solver, frame_rate=50, substeps=2, precision=precision)
    for _ in range(n):
        sim.step()
    h = sim.h
    x = mesh.points + n * h * np.array(velocity) + h**2 * n * (n + 1) / 2 * G
    return sim, x, np.array(velocity) + n * h * G


@every_law_slowly
@pytest.mark.parametrize(
    "solver",
    [pl.VBD(iterations=2, start="accelerated"), pl.VBD(iterations=120, start="previous"), pl.Newton(iterations=3)],
    ids=["VBD-accelerated", "VBD-previous", "Newton"],
)
def test_free_fall_is_implicit_eulers(law, solver):
    """x_n = x_0 + n h v_0 + g h^2 n (n + 1) / 2 and v_n = v_0 + n h g, to 1e-12 where the start is exact."""
    sim, x, v = fall(law, solver, "double")
    tolerance = 1e-12 if solver.start == "accelerated" else 1e-9
    np.testing.assert_allclose(sim.positions, x, rtol=0, atol=tolerance)
    np.testing.assert_allclose(sim.velocities, np.tile(v, (len(x), 1)), rtol=0, atol=tolerance / sim.h)


@every_law_slowly
def test_free_fall_in_single_precision(law):
    """To 1e-5 m after falling 0.2 m."""
    sim, x, _ = fall(law, pl.VBD(iterations=2, start="accelerated"), "single")
    np.testing.assert_allclose(sim.positions, x, rtol=0, atol=1e-5)


def test_adaptive_start_falls_freely_after_the_first_step():
    """Once the body follows gravity, the adaptive start solves the next step already."""
    sim, _, _ = fall(pl.StableNeoHookean, pl.VBD(iterations=200), "double", n=1)
    assert sim.problem().residual(sim.problem().x_guess) < 1e-8
