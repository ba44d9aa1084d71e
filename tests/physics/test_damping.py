"""Damping of vertex blocks, the paper's form, damps rigid motion too: by how much, analytically.

For a free regular tet of edge a: V = a^3 / (6 sqrt 2), |b| = 1 / height = sqrt(3/2) / a, and each vertex block is
K_ii = V (mu |b|^2 1 + (lam + mu) b_i b_i^T); summed over the four vertices, sum K_ii = 4 V |b|^2 (mu + (lam + mu)/3) 1.
"""

import numpy as np
import pytest

import pliant as pl
from pliant.materials import SOLID_LAWS

EDGE, RHO, MU, LAM = 0.2, 800.0, 3e4, 5e4
CORNERS = EDGE / np.sqrt(8) * np.array([[1.0, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
VOLUME, B2 = EDGE**3 / (6 * np.sqrt(2)), 1.5 / EDGE**2
# The others differ from one of these in their formula alone, and a kernel takes seconds to compile.
FULLY_TRIED = (pl.StableNeoHookean, pl.NeoHookean, pl.StVenantKirchhoff)
every_law = pytest.mark.parametrize(
    "law",
    [
        pytest.param(law, id=name, marks=() if law in FULLY_TRIED else pytest.mark.slow)
        for name, law in SOLID_LAWS.items()
    ],
)


def lam_of(law):
    return 0.0 if law is pl.ARAP else LAM


def tet(law, damping, h, velocity):
    scene = pl.Scene(gravity=(0, 0, 0))
    material = law(MU) if law is pl.ARAP else law(MU, LAM)
    body = scene.add_solid(
        pl.TetMesh(CORNERS, [[0, 1, 2, 3]], orient=True), material, RHO, damping, damping_form="vertex_block"
    )
    body.set_velocities(velocity)
    return pl.Simulation(scene, pl.VBD(iterations=200), frame_rate=1 / h, substeps=1, precision="double")


@every_law
def test_vertex_block_and_drag_of_a_regular_tet(law):
    """damping_blocks are k_d / h times the analytic blocks, b_i pointing from the opposite face to the vertex."""
    problem = tet(law, 2e-3, 0.01, (0, 0, 0)).problem()
    b = CORNERS / np.linalg.norm(CORNERS, axis=1)[:, None] * np.sqrt(B2)
    K = VOLUME * (MU * B2 * np.eye(3) + (lam_of(law) + MU) * np.einsum("ia,ib->iab", b, b))
    np.testing.assert_allclose(problem.damping_blocks, 2e-3 / 0.01 * K, rtol=0, atol=1e-9 * K.max())


@every_law
def test_rigid_translation_is_braked_at_the_documented_rate(law):
    """Momentum decays by 1 / (1 + h c) a step, c = k_d sum K_ii / M, up to terms of second order in k_d."""
    damping, h, n = 3e-6, 0.01, 20
    velocity = np.array([1e-3, -2e-3, 0.5e-3])
    sim = tet(law, damping, h, velocity)
    for _ in range(n):
        sim.step()
    rate = damping * 4 * VOLUME * B2 * (MU + (lam_of(law) + MU) / 3) / (RHO * VOLUME)
    kept = (1 + h * rate) ** -n
    measured = sim.model.mass @ sim.velocities / sim.model.mass.sum() / velocity
    assert 1 - kept > 4e-3
    assert 1 - measured == pytest.approx(1 - kept, rel=1e-3)


@pytest.mark.parametrize("form", ["strain_rate", "vertex_block"])
def test_damping_never_adds_energy(form):
    """A squeezed block released without gravity: kinetic plus elastic energy falls every step."""
    mesh = pl.shapes.box((0.3, 0.2, 0.2), (3, 2, 2))
    scene = pl.Scene(gravity=(0, 0, 0))
    law = pl.StVenantKirchhoff.from_young(1e5, 0.3)
    scene.add_solid(mesh, law, damping=2e-3, damping_form=form).set_positions(mesh.points * 0.7)
    sim = pl.Simulation(scene, pl.VBD(iterations=60, line_search=True), frame_rate=200, substeps=1, precision="double")
    course = [sim.energies()["total"]]
    for _ in range(40):
        sim.step()
        course.append(sim.energies()["total"])
    assert np.diff(course).max() < 0
    assert course[-1] < 0.05 * course[0]
