"""One tet as a spring: a single mode with known stiffness and mass, against implicit Euler's own solution.

Three vertices are pinned, the apex slides on the line along the height H. With F = diag(1, 1, s):
k = V (lam + 2 mu) / H^2 and m = rho V / 4, so omega = 2 sqrt((lam + 2 mu) / rho) / H for small motion.
"""

import numpy as np
import pytest

import pliant as pl
from pliant.materials import SOLID_LAWS

HEIGHT, RHO, MU, LAM = 0.3, 500.0, 2e4, 3e4
OMEGA = 2 * np.sqrt((LAM + 2 * MU) / RHO) / HEIGHT
SMALL = 1e-6  # amplitude over height: the law is linear to this
# The others differ from one of these in their formula alone, and a kernel takes seconds to compile.
FULLY_TRIED = (pl.StableNeoHookean, pl.NeoHookean, pl.StVenantKirchhoff)
every_law_slowly = pytest.mark.parametrize(
    "law",
    [
        pytest.param(law, id=name, marks=() if law in FULLY_TRIED else pytest.mark.slow)
        for name, law in SOLID_LAWS.items()
    ],
)


def oscillator(law, steps_a_period, damping=0.0, solver=None, form="strain_rate"):
    points = np.array([[0.0, 0, 0], [0.2, 0, 0], [0.05, 0.25, 0], [0.1, 0.1, HEIGHT]])
    scene = pl.Scene(gravity=(0, 0, 0))
    material = pl.ARAP(MU + LAM / 2) if law is pl.ARAP else law(MU, LAM)  # the same lam + 2 mu
    body = scene.add_solid(pl.TetMesh(points, [[0, 1, 2, 3]]), material, RHO, damping, damping_form=form)
    body.pin([0, 1, 2])
    body.constrain_to_line([3], (0, 0, 1))
    body.set_positions(points + np.outer([0, 0, 0, 1], (0, 0, SMALL * HEIGHT)))
    rate = steps_a_period * OMEGA / (2 * np.pi)
    solver = pl.VBD(iterations=4) if solver is None else solver
    return pl.Simulation(scene, solver, frame_rate=rate, substeps=1, precision="double")


def course(sim, n):
    """Displacement of the apex over its amplitude, for n steps."""
    heights = [sim.positions[3, 2]]
    for _ in range(n):
        sim.step()
        heights.append(sim.positions[3, 2])
    return (np.array(heights) - HEIGHT) / (SMALL * HEIGHT)


@every_law_slowly
def test_motion_is_implicit_eulers_at_every_step(law):
    """z_(n+1) (1 + w^2 h^2) = 2 z_n - z_(n-1) from rest: z_n = Re((1 - i w h)^-n), decaying by 1/sqrt(1 + w^2 h^2)."""
    sim = oscillator(law, 40)
    n = np.arange(81)
    expected = np.real((1 - 1j * OMEGA * sim.h) ** -n.astype(float))
    np.testing.assert_allclose(course(sim, 80), expected, rtol=0, atol=1e-5)


@every_law_slowly
def test_period_and_decay_match_theory(law):
    """Measured from zero crossings and peaks alone: within 1 % of 2 pi / w, and of the damping a period."""
    sim = oscillator(law, 400)
    z = course(sim, 1200)
    down = np.flatnonzero((z[:-1] > 0) & (z[1:] <= 0))
    crossing = down + z[down] / (z[down] - z[down + 1])
    assert np.diff(crossing) * sim.h == pytest.approx(2 * np.pi / OMEGA, rel=0.01)
    peaks = np.flatnonzero((z[1:-1] > z[:-2]) & (z[1:-1] >= z[2:])) + 1
    decay = np.log(z[peaks[:-1]] / z[peaks[1:]]) / np.diff(peaks)
    assert decay == pytest.approx(np.log1p((OMEGA * sim.h) ** 2) / 2, rel=0.01)


@pytest.mark.parametrize("form", ["strain_rate", "vertex_block"])
@pytest.mark.parametrize("damping", [1e-4, 1e-3, 1e-2])
def test_damping_is_the_documented_drag(damping, form):
    """k_d / h times the stiffness k of the only vertex that moves, in both forms:
    z_(n+1) (1 + w^2 h^2 + w^2 h k_d) = (2 + w^2 h k_d) z_n - z_(n-1)."""
    sim = oscillator(pl.StableNeoHookean, 40, damping, form=form)
    stiff, drag = (OMEGA * sim.h) ** 2, OMEGA**2 * sim.h * damping
    expected = [1.0, 1.0]
    for _ in range(80):
        expected.append(((2 + drag) * expected[-1] - expected[-2]) / (1 + stiff + drag))
    np.testing.assert_allclose(course(sim, 80), expected[1:], rtol=0, atol=1e-5)


def test_more_damping_decays_faster():
    """Energy left after a period falls with k_d."""
    left = []
    for damping in (0.0, 1e-4, 1e-3, 3e-3):
        sim = oscillator(pl.NeoHookean, 40, damping)
        course(sim, 40)
        left.append(sim.energies()["total"])
    assert (np.diff(left) < 0).all()
    assert left[1] / left[0] == pytest.approx(np.exp(-(OMEGA**2) * 1e-4 * 2 * np.pi / OMEGA), rel=0.05)
