"""Nothing in the local solve has a unit: a body as light as dust falls like any other."""

import numpy as np
import pytest

import pliant as pl


@pytest.mark.parametrize(("precision", "tolerance"), [("double", 1e-9), ("single", 1e-4)])
@pytest.mark.parametrize("size", [1e-4, 1e-2, 1.0])
def test_free_fall_does_not_depend_on_how_light_a_vertex_is(precision, tolerance, size):
    """Vertices of 3e-15 to 2e-10 kg, det H of 1e-28 to 1e-14: each falls g h^2 n (n + 1) / 2."""
    density = 1e-9 / size**2  # lightest for the smallest body, and K like m / h^2 for all
    mesh = pl.shapes.ball(size, 2)
    scene = pl.Scene()
    scene.add_solid(mesh, pl.StableNeoHookean.from_young(density * (100 * size) ** 2, 0.3), density)
    sim = pl.Simulation(
        scene, pl.VBD(iterations=300, start="previous"), frame_rate=100, substeps=1, precision=precision
    )
    n = 3
    for _ in range(n):
        report = sim.step()
    assert report.singular_blocks == 0
    fall = 9.81 * sim.h**2 * n * (n + 1) / 2
    rounding = 0 if precision == "double" else 1e-6 * size
    np.testing.assert_allclose(sim.positions[:, 2] - mesh.points[:, 2], -fall, rtol=tolerance, atol=rounding)
