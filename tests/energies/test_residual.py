"""The residual: the one measure of how far a step is from solved."""

import numpy as np
import pytest

import pliant as pl


def test_residual_equals_hand_computation(make_simulation, shaken):
    """r = sqrt(sum |g_i|^2 / m_i / sum m_i) over directions that may move, by a loop over vertices."""
    problem = make_simulation(held=True, damping=1e-3).problem()
    model = problem.model
    x = problem.x_guess + 1e-3 * np.random.default_rng(0).normal(size=problem.x_guess.shape)
    total, mass = 0.0, 0.0
    for i, g in enumerate(problem.gradient(x)):
        dimension, d = model.subspace[i], model.directions[i]
        if dimension == 0:
            continue
        if dimension == 1:
            g = (g @ d) * d
        elif dimension == 2:
            g = g - (g @ d) * d
        total += g @ g / model.mass[i]
        mass += model.mass[i]
    assert {0, 1, 2, 3} == set(model.subspace.tolist())
    assert problem.residual(x) == pytest.approx(np.sqrt(total / mass), rel=1e-12)


def test_residual_of_the_start_at_rest_is_gravity():
    """A body at rest that has not begun to fall owes 9.81 m/s^2, whatever its mesh, mass and step."""
    for cells, density, rate in ((1, 10.0, 30), (3, 5000.0, 700)):
        scene = pl.Scene()
        scene.add_solid(pl.shapes.box(cells=cells), pl.NeoHookean.from_young(1e6, 0.3), density)
        problem = pl.Simulation(scene, pl.Newton(), frame_rate=rate).problem()
        assert problem.residual(problem.x_guess) == pytest.approx(9.81, rel=1e-9)


def test_projection_keeps_vectors_in_their_subspace(make_simulation):
    """Along the line, across the normal, nothing if pinned; twice is once."""
    problem = make_simulation(held=True).problem()
    model = problem.model
    vectors = np.random.default_rng(1).normal(size=(model.n_vertices, 3))
    kept = problem.project(vectors)
    np.testing.assert_allclose(problem.project(kept), kept, rtol=0, atol=1e-15)
    assert not kept[model.subspace == 0].any()
    np.testing.assert_array_equal(kept[model.subspace == 3], vectors[model.subspace == 3])
    line, plane = model.subspace == 1, model.subspace == 2
    np.testing.assert_allclose(np.cross(kept[line], model.directions[line]), 0, atol=1e-15)
    np.testing.assert_allclose(np.einsum("na,na->n", kept[plane], model.directions[plane]), 0, atol=1e-15)
