"""Every law with every element of solids: derivatives, patch test, rigid motions, no spurious modes, solvers."""

import numpy as np
import pytest

import pliant as pl
from pliant.energies import IncrementalPotential
from pliant.materials import SOLID_LAWS, LameLaw, SolidLaw
from pliant.materials.rest_moduli import lame_parameters_at_rest
from pliant.model import build_model
from pliant.model.solid import ELEMENTS as SOLID_ELEMENTS

MU, LAM = 3.0e4, 9.0e4
LAWS = {name: law(MU, LAM) if issubclass(law, LameLaw) else law(MU) for name, law in SOLID_LAWS.items()}
MESH = pl.shapes.box((0.3, 0.2, 0.2), (3, 2, 2), split="alternating")

every_law = pytest.mark.parametrize("law", LAWS.values(), ids=list(LAWS))
every_element = pytest.mark.parametrize("element", SOLID_ELEMENTS)


def potential_of(law, element):
    """Energies without inertia that matters: a step of 1e6 s."""
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.add_solid(MESH, law, element=element)
    model = build_model(scene)
    return IncrementalPotential(model, 1e6, model.positions, model.positions, model.positions)


@every_law
@every_element
def test_derivatives_by_finite_differences(law, element):
    problem = potential_of(law, element)
    rng = np.random.default_rng(1)
    F = np.array([[1.1, 0.05, 0.0], [-0.05, 0.95, 0.1], [0.05, 0.0, 1.05]])
    x = problem.x_prev @ F.T + 0.004 * rng.standard_normal(problem.x_prev.shape)
    g, d, e = problem.gradient(x), rng.standard_normal(MESH.points.shape), 1e-6
    slope = (problem.energy(x + e * d) - problem.energy(x - e * d)) / (2 * e)
    assert np.sum(g * d) == pytest.approx(slope, rel=1e-6, abs=1e-7 * np.abs(g * d).sum())
    change = (problem.gradient(x + e * d) - problem.gradient(x - e * d)) / (2 * e)
    np.testing.assert_allclose(problem.hessian(x) @ d.ravel(), change.ravel(), atol=1e-6 * np.abs(change).max())
    np.testing.assert_allclose(g.sum(axis=0), 0, atol=1e-9 * np.abs(g).max())
    np.testing.assert_allclose(np.cross(x, g).sum(axis=0), 0, atol=1e-9 * np.abs(g).max())


@pl.material
def _own(I, II, J, mu, lam):
    return mu / 2 * (I - 3) - mu * (J - 1) + lam / 2 * (J - 1) ** 2


def test_no_law_is_refused_by_any_element():
    """Every public law, one of a user's own, and each of them in pl.Invertible: all elements take it, and agree under
    a small homogeneous strain; where it is converted, in the mirror image too.
    """
    names = (getattr(pl, name) for name in pl.__all__)
    public = {kind for kind in names if isinstance(kind, type) and issubclass(kind, SolidLaw)}
    assert {type(law) for law in LAWS.values()} == public - {SolidLaw, LameLaw}
    for law in [*LAWS.values(), _own(mu=MU, lam=LAM)]:
        strained, mirrored = (1.001, 0.999, 1.0), (-1.0, 1.0, 1.0)
        for material, strains in ((law, [strained]), (pl.Invertible(law), [strained, mirrored])):
            for stretches in strains:
                energies = []
                for element in SOLID_ELEMENTS:
                    problem = potential_of(material, element)
                    x = problem.x_prev * stretches
                    problem.update_internal_state(x)
                    energies.append(problem.energies(x)["elastic"] - problem.energies(problem.x_prev)["elastic"])
                assert np.isfinite(energies).all(), (type(law).__name__, energies)
                assert energies == pytest.approx([energies[0]] * len(energies), rel=5e-3), type(law).__name__


@every_law
@every_element
def test_patch_test(law, element):
    """A homogeneous deformation leaves no force inside, whatever the law."""
    problem = potential_of(law, element)
    F = np.array([[1.1, 0.1, 0.0], [-0.05, 0.97, 0.1], [0.05, 0.0, 1.05]])
    g = problem.gradient(problem.x_prev @ F.T + np.array([0.3, -0.2, 1.0]))
    inside = np.ones(len(g), bool)
    inside[np.unique(MESH.surface_triangles)] = False
    assert inside.any()
    np.testing.assert_allclose(g[inside], 0, atol=1e-9 * np.abs(g).max())


@every_law
@every_element
def test_only_rigid_motions_are_free_and_no_mode_is_spurious(law, element):
    """Six motions without energy; the softest that strains has at least a tenth of the stiffness of linear tets'."""
    own, linear = potential_of(law, element), potential_of(law, "linear")
    modes, plain = (np.linalg.eigvalsh(p.hessian(p.x_prev).toarray()) for p in (own, linear))
    assert np.abs(modes[:6]).max() < 1e-8 * modes[-1]
    assert modes[6] > 0.1 * plain[6] > 1e-5 * plain[-1]
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    strained = own.energies(own.x_prev * [1.1, 1.0, 1.0])["elastic"]
    turned = own.energies(own.x_prev @ turn.T + 5.0)["elastic"] - own.energies(own.x_prev)["elastic"]
    assert abs(turned) < 1e-10 * strained


@every_law
@every_element
def test_small_strains_are_those_of_lames_parameters(law, element):
    """The energy of a small homogeneous strain: mu |e|^2 + lam/2 (tr e)^2, lam as the law has it at rest."""
    problem, e = potential_of(law, element), 1e-5 * np.array([[1.0, 0.3, 0.0], [0.3, -0.5, 0.2], [0.0, 0.2, 0.8]])
    x = problem.x_prev
    energy = problem.energies(x @ (np.eye(3) + e).T)["elastic"] - problem.energies(x)["elastic"]
    parameters = np.array([law.parameters])
    lam, mu = (float(np.ravel(value)[0]) for value in lame_parameters_at_rest(type(law), parameters))
    assert energy == pytest.approx(MESH.volume * (mu * np.sum(e**2) + lam / 2 * np.trace(e) ** 2), rel=1e-3)


@pytest.mark.slow
@every_law
@every_element
def test_static_shape_and_descent_find_newtons_minimum(law, element):
    """A clamped block under its weight: a step by vertex block descent is that of Newton's method, and equilibrium is
    where all forces balance.
    """
    positions = []
    for solver in (pl.Newton(), pl.VBD(iterations=600)):
        scene = pl.Scene()
        body = scene.add_solid(MESH, law, element=element)
        body.pin(MESH.points[:, 0] < -0.149)
        sim = pl.Simulation(scene, solver, precision="double")
        sim.step()
        positions.append(sim.positions)
    np.testing.assert_allclose(positions[1], positions[0], atol=1e-6 * 0.3 * 1e-2)
    found = pl.equilibrium(scene)
    assert found.report.converged
    assert found.report.residual < 1e-6
    np.testing.assert_allclose(found.reaction_force(body), [0, 0, 9.81 * body.masses.sum()], atol=1e-3)
