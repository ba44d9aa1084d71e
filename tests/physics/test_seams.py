"""Sewn sheets: a seam in series with two strips, a seam that closes, and all solvers at one minimum."""

import numpy as np
import pytest

import pliant as pl
from pliant.geometry.boundary import chain_within

LAW = pl.StVenantKirchhoff(mu=100.0, lam=0.0)  # 200 N/m, Poisson's ratio 0
WIDTH, PULL = 0.2, 2.0  # [m], [N/m]


def strips(gap=0.0, seconds=0.0, contact=None, stiffness=2000.0):
    """Two strips one behind the other along x, of 3 and 4 cells across, sewn where they meet."""
    one, two = pl.shapes.cloth((0.2, WIDTH), (3, 3)), pl.shapes.cloth((0.2, WIDTH), (3, 4))
    scene = pl.Scene(gravity=(0, 0, 0), contact=contact)
    left, right = (scene.add_cloth(mesh, LAW, density=0.2, bending=1e-5) for mesh in (one, two))
    right.set_positions(two.points + np.array([0.2 + gap, 0, 0]))
    a = chain_within(one, np.flatnonzero(one.points[:, 0] > 0.099))
    b = chain_within(two, np.flatnonzero(two.points[:, 0] < -0.099))
    seam = scene.add_seam(left, a, right, b, stiffness=stiffness, seconds=seconds)
    return scene, left, right, seam.chain_a, seam.chain_b


def test_a_seam_is_a_spring_in_series():
    """Pulled by 2 N/m along the whole width, a seam of 2000 N/m^2 opens by 1 mm, whatever the cells at both sides."""
    scene, left, right, a, b = strips()
    left.pin(left.mesh.points[:, 0] < -0.099)
    end = right.mesh.points[:, 0] > 0.099
    y = np.sort(right.mesh.points[end, 1])
    share = np.gradient(y)
    share[[0, -1]] /= 2
    loads = np.zeros((right.n_vertices, 3))
    loads[np.flatnonzero(end)[np.argsort(right.mesh.points[end, 1])], 0] = PULL * share
    right.add_force(lambda x, v, t: loads)
    rest = pl.equilibrium(scene)
    x = rest.positions
    opened = x[len(left.mesh.points) + b, 0].mean() - x[a, 0].mean()
    assert opened == pytest.approx(PULL / 2000.0, rel=1e-6)


def closing(solver, contact=None):
    scene, left, right, a, b = strips(gap=0.05, seconds=0.1, contact=contact)
    sim = pl.Simulation(scene, solver=solver, frame_rate=100, substeps=2, precision="double")
    return sim, left, right, a, b


def test_a_seam_closes_in_its_time_and_keeps_momentum():
    """The gap is never much above l(t) = 0.05 m (1 - t / 0.1 s); after that it is closed. No outer force acts."""
    sim, left, right, a, b = closing(pl.VBD(iterations=40), pl.Contact())
    mass = sim.model.mass[:, None]
    for _ in range(40):
        sim.step()
        ends = right.positions[b][[0, -1]] - left.positions[a][[0, -1]]
        allowed = 0.05 * max(0.0, 1 - sim.time / 0.1)
        assert np.linalg.norm(ends, axis=1).max() < allowed + 0.004
        assert np.abs((mass * sim.velocities).sum(axis=0)).max() < 1e-6 * mass.sum()
    assert np.linalg.norm(ends, axis=1).max() < 5e-4
    assert sim.energies()["seam"] < 1e-5


@pytest.mark.slow
@pytest.mark.parametrize(
    "solver",
    [
        pl.LBFGS(iterations=400),
        pl.XPBD(iterations=3000),
        pl.GPBD(iterations=3000),
        pl.Multilevel(pl.VBD(iterations=200)),
    ],
    ids=lambda solver: type(solver).__name__,
)
def test_solvers_agree_on_a_step_of_a_closing_seam(solver):
    """In the middle of closing: other lengths than at the start."""
    scene = strips(gap=0.05, seconds=0.1)[0]
    for body in scene.bodies:
        body.bending = 0.0
    sim = pl.Simulation(scene, solver=pl.Newton(iterations=30), frame_rate=100, substeps=1, precision="double")
    for _ in range(3):
        sim.step()
    problem = sim.problem()
    exact = pl.solve(problem, pl.Newton(iterations=60)).x
    other = pl.solve(problem, solver).x
    assert np.abs(other - exact).max() < 1e-6
