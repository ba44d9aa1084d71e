"""Damping of strain rates: derivatives, rigid motions, the limit of small motion, for every kind of element."""

import numpy as np
import pytest

import pliant as pl
from pliant.energies.elements import energy_of
from pliant.geometry import rotations

K_D, H = 3e-3, 0.01


def solid(scene):
    return scene.add_solid(
        pl.shapes.box((0.3, 0.2, 0.2), (2, 1, 1), "alternating"), pl.NeoHookean.from_young(1e5, 0.35), damping=K_D
    )


def cloth(scene, **options):
    mesh = pl.shapes.cloth((0.3, 0.3), (3, 3))
    law = pl.StVenantKirchhoff(1e3, 2e3)
    return scene.add_cloth(mesh, law, bending=0.1, damping=K_D, warp=300.0, weft=100.0, **options)


def dihedral(scene):
    return cloth(scene, bending_model="dihedral")


def rod(scene, **options):
    points = np.column_stack([np.linspace(0, 1, 6), 0.1 * np.sin(np.arange(6)), np.zeros(6)])
    edges = np.column_stack([np.arange(5), np.arange(1, 6)])
    return scene.add_springs(points, edges, 1e3, 0.1, damping=K_D, bending=2.0, **options)


every_body = pytest.mark.parametrize("make", [solid, cloth, dihedral, rod])


def step_of(make, stretch=0.02, turn=0.0):
    """The damping blocks of a step from a deformed state, and that state."""
    scene = pl.Scene()
    body = make(scene)
    x0 = body.initial_positions
    random = np.random.default_rng(0)
    body.set_positions(x0 + stretch * random.normal(size=x0.shape))
    sim = pl.Simulation(scene, pl.Newton(), frame_rate=1 / H, substeps=1, precision="double", threads=1)
    problem = sim.problem()
    return problem, [block for block in problem.blocks if block.energy_name == "damping"]


def total(blocks, x):
    return sum(energy_of(block).energy(block, x) for block in blocks)


def gradient(blocks, x):
    return sum(energy_of(block).gradient(block, x) for block in blocks)


@every_body
def test_gradient_and_hessian_are_derivatives(make):
    """Central differences of the energy and of the gradient, to 1e-6 of the largest entry."""
    problem, blocks = step_of(make)
    x = problem.x_prev + 0.01 * np.random.default_rng(1).normal(size=problem.x_prev.shape)
    g, step = gradient(blocks, x), 1e-6
    for block in blocks:
        own = [block]
        g = gradient(own, x)
        H = problem._sparse(block.elements, energy_of(block).element_hessians(block, x, slice(None)), False)
        for direction in np.random.default_rng(2).normal(size=(4, *x.shape)):
            ahead, behind = x + step * direction, x - step * direction
            slope = (total(own, ahead) - total(own, behind)) / (2 * step)
            assert slope == pytest.approx(np.sum(g * direction), abs=1e-6 * np.abs(g).max())
            bend = (gradient(own, ahead) - gradient(own, behind)) / (2 * step)
            product = (H @ direction.ravel()).reshape(x.shape)
            np.testing.assert_allclose(bend, product, rtol=0, atol=1e-6 * np.abs(product).max())
        blocks_of_vertices = energy_of(block).vertex_blocks(block, x)
        assert np.linalg.eigvalsh(blocks_of_vertices).min() > -1e-9 * np.abs(blocks_of_vertices).max()


@every_body
def test_rigid_motion_of_a_deformed_body_is_not_damped(make):
    """However far it is moved and turned: no energy and no force, to rounding."""
    problem, blocks = step_of(make)
    R = rotations.matrices(np.array([[0.3, -0.5, 0.2, 0.79]]) / np.linalg.norm([0.3, -0.5, 0.2, 0.79]))[0]
    moved = problem.x_prev @ R.T + [0.4, -3.0, 2.0]
    strained = problem.x_prev * 1.01
    assert total(blocks, strained) > 0
    assert total(blocks, moved) < 1e-24 * total(blocks, strained) / 1e-4 + 1e-20
    assert np.abs(gradient(blocks, moved)).max() < 1e-10 * np.abs(gradient(blocks, strained)).max()


@pytest.mark.parametrize("make", [solid, dihedral, rod])
def test_small_motion_is_damped_by_its_stiffness(make):
    """At rest the Hessian of D is k_d / h times that of the elastic energy: Rayleigh's damping."""
    problem, blocks = step_of(make, stretch=0.0)
    elastic = [block for block in problem.blocks if block.energy_name == "elastic"]

    def hessian(own):
        x = problem.x_prev
        parts = [problem._sparse(b.elements, energy_of(b).element_hessians(b, x, slice(None)), False) for b in own]
        return sum(parts).toarray()

    expected = K_D / H * hessian(elastic)
    np.testing.assert_allclose(hessian(blocks), expected, rtol=0, atol=1e-8 * np.abs(expected).max())


def test_a_slack_rope_is_not_damped():
    scene = pl.Scene()
    body = rod(scene, one_sided=True)
    _, blocks = step_of(lambda scene: rod(scene, one_sided=True), stretch=0.0)
    springs = [block for block in blocks if block.elements.shape[1] == 2]
    springs = [block.over(1.0, 0.9 * body.initial_positions) for block in springs]
    assert total(springs, body.initial_positions) == 0
    springs = [block.over(1.0, 1.1 * body.initial_positions) for block in springs]
    assert total(springs, body.initial_positions) > 0


def test_damping_form_is_one_of_two():
    with pytest.raises(
        pl.SceneError, match="solid0: damping_form is 'rayleigh': choose one of strain_rate, vertex_blo"
    ):
        pl.Scene().add_solid(pl.shapes.box(), pl.StableNeoHookean(1e5, 1e5), damping_form="rayleigh")
