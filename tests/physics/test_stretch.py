"""A block pulled along x with free sides: lateral stretch and reaction against the closed form of each law."""

import numpy as np
import pytest
from scipy.optimize import brentq

import pliant as pl
from pliant.materials import SOLID_LAWS, LameLaw

MU, LAM = 4e4, 9e4
SIZE = np.array([0.4, 0.3, 0.2])


def material(law):
    """With the moduli MU and LAM, or with MU alone where the law has no lam."""
    return law(MU, LAM) if issubclass(law, LameLaw) else law(MU)


@pytest.fixture(scope="module")
def closed_form(nominal_stress):
    """A function of a law and s: for F = diag(s, t, t), the lateral stretch t with no lateral stress, and the nominal
    stress P_xx [Pa].
    """

    def principal_stretches(law, s):
        stress = nominal_stress[law.__name__]
        t = brentq(lambda t: stress(t, s, t, MU, LAM), 0.5, 1.5, xtol=1e-15)
        return t, stress(s, t, t, MU, LAM)

    return lambda law, s: explicit_form(law, s) or principal_stretches(law, s)


def explicit_form(law, s):
    """The same where paper and pencil get that far."""
    if law is pl.StVenantKirchhoff:  # S_yy = 0: E_yy = -nu E_xx, S_xx = E_young E_xx
        poisson, young = LAM / (2 * (LAM + MU)), MU * (3 * LAM + 2 * MU) / (LAM + MU)
        strain = (s**2 - 1) / 2
        return np.sqrt(1 - 2 * poisson * strain), s * young * strain
    if law is pl.NeoHookean:
        t = brentq(lambda t: MU * (t - 1 / t) + LAM * np.log(s * t * t) / t, 0.1, 3, xtol=1e-15)
        return t, MU * (s - 1 / s) + LAM * np.log(s * t * t) / s
    if law is pl.StableNeoHookean:
        l = LAM + MU
        J = 1 + MU * (1 - 1 / s) / l
        t = np.sqrt(J / s)
        return t, MU * s + (l * (J - 1) - MU) * t * t
    return None


def pulled(law, s, solver):
    """A step of 10 s, long enough to come to rest, from a block stretched along x only.

    Its ends slide in their planes; so do the sides at least y and least z, or the block could turn and drift.
    """
    mesh = pl.shapes.box(SIZE, (3, 2, 2))
    held = np.isclose(mesh.points, -SIZE / 2)
    right = np.isclose(mesh.points[:, 0], SIZE[0] / 2)
    held[:, 0] |= right
    scene = pl.Scene(gravity=(0, 0, 0))
    body = scene.add_solid(mesh, material(law), density=1.0)
    body.set_positions(mesh.points * (s, 1, 1))
    body.pin(held.all(1))
    for axis in np.eye(3, dtype=bool):
        body.constrain_to_plane((held == axis).all(1), axis.astype(float))
        body.constrain_to_line((held == ~axis).all(1), axis.astype(float))
    sim = pl.Simulation(scene, solver, frame_rate=0.1, substeps=1, precision="double")
    return mesh, right, sim


def stretched(mesh, s, t):
    """The block at rest after x -> s x, with sides that leave y = z = -SIZE / 2 in place."""
    corner = -SIZE / 2 * (0, 1, 1)
    return corner + (mesh.points - corner) * (s, t, t)


@pytest.mark.parametrize("law", SOLID_LAWS.values(), ids=SOLID_LAWS)
@pytest.mark.parametrize("s", [0.8, 1.1, 1.6])
def test_uniaxial_stretch(closed_form, law, s):
    """Positions and force = sum of the gradient over the pulled face = P_xx times the face's area at rest."""
    if law is pl.StVenantKirchhoff and s > 1.5:
        s = 1.5  # beyond sqrt(1 + 1/nu) it would have no sides left
    mesh, right, sim = pulled(law, s, pl.Newton(iterations=40))
    problem = sim.problem()
    report = sim.step()
    assert report.residual < 1e-6
    t, stress = closed_form(law, s)
    np.testing.assert_allclose(sim.positions, stretched(mesh, s, t), rtol=0, atol=1e-9)
    reaction = problem.gradient(sim.positions)[right, 0].sum()
    assert reaction == pytest.approx(stress * SIZE[1] * SIZE[2], rel=1e-8)


@pytest.mark.parametrize("law", SOLID_LAWS.values(), ids=SOLID_LAWS)
def test_led_faces_give_the_same_as_the_closed_form(closed_form, law):
    """Both ends moved to the stretched shape, vertex block descent for the sides: 60 steps to rest."""
    s = 1.3
    t, stress = closed_form(law, s)
    mesh = pl.shapes.box(SIZE, (3, 2, 2))
    ends = np.abs(mesh.points[:, 0]) > 0.499 * SIZE[0]
    target = mesh.points[ends] * (s, t, t)
    scene = pl.Scene(gravity=(0, 0, 0))
    body = scene.add_solid(mesh, material(law), density=1000.0)
    body.move(ends, lambda time: mesh.points[ends] + min(time / 0.5, 1.0) * (target - mesh.points[ends]))
    sim = pl.Simulation(scene, pl.VBD(iterations=60), frame_rate=20, substeps=1, precision="double")
    for _ in range(60):
        sim.step()
    np.testing.assert_allclose(sim.positions, mesh.points * (s, t, t), rtol=0, atol=1e-7)
    right = ends & (mesh.points[:, 0] > 0)
    reaction = sim.problem().gradient(sim.positions)[right, 0].sum()
    assert reaction == pytest.approx(stress * SIZE[1] * SIZE[2], rel=1e-5)
