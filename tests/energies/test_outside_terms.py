"""Bounds, pressure, attachments and viscosity: derivatives, names and exchange of origin, beside the elastic energy."""

import numpy as np
import pytest

import pliant as pl
from pliant.energies.elements import energy_of
from pliant.geometry.surface import enclosed_volume
from pliant.model import Attachments, Bounds, Dampers, Pressures

EPS = 1e-6  # [m], a 1e-5th of an edge
MESH = pl.shapes.box((0.2, 0.2, 0.2), (2, 2, 2))


@pytest.fixture(scope="module")
def problem(shaken):
    """Two blocks under all of these, and a state in which every term acts."""
    scene = pl.Scene()
    first = scene.add_solid(MESH, pl.StableNeoHookean.from_young(1e4, 0.3), damping=1e-3, damping_form="vertex_block")
    second = scene.add_solid(MESH, pl.StableNeoHookean.from_young(2e4, 0.4))
    first.set_positions(shaken(MESH, seed=1))
    second.set_positions(shaken(MESH, seed=2) + np.array([0.25, 0.0, 0.0]))
    first.pressure, second.pressure = 3000.0, lambda t: -1e5 * t
    first.viscosity = 20.0
    scene.attach(first, [0, 3, 3], second, [5, 6, 7], 400.0)
    scene.attach(first, [[1, 4, 2]], second, [[0, 1, 3, 9]], 300.0, [[0.5, 0.3, 0.2]], [[0.1, 0.2, 0.3, 0.4]])
    scene.attach(second, [[1, 4, 2]], second, [[0, 1, 4]], 200.0, [[0.5, 0.3, 0.2]], [[0.1, 0.2, 0.7]])
    scene.world_box = pl.WorldBox((-0.05, None, -0.06), (0.2, 0.08, np.inf), stiffness=1e3)
    return pl.Simulation(scene, pl.Newton(), frame_rate=100, substeps=1).problem()


@pytest.fixture(scope="module")
def x(problem, shaken):
    return np.vstack([shaken(MESH, seed=3), shaken(MESH, seed=4) + np.array([0.2, 0.0, 0.0])])


KINDS = (Bounds, Pressures, Attachments, Dampers)
every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)


def block_of(problem, kind):
    (block,) = (block for block in problem.blocks if type(block) is kind)
    return block


def central(function, x):
    columns = []
    for k in range(x.size):
        d = np.zeros(x.size)
        d[k] = EPS
        columns.append((function(x + d.reshape(x.shape)) - function(x - d.reshape(x.shape))) / (2 * EPS))
    return np.stack(columns, axis=-1)


@every_kind
def test_gradient_is_the_derivative_of_the_energy(problem, x, kind):
    block, of = block_of(problem, kind), energy_of(block_of(problem, kind))
    g = of.gradient(block, x).ravel()
    assert np.abs(g).max() > 1e-3
    np.testing.assert_allclose(central(lambda q: of.energy(block, q), x), g, rtol=0, atol=1e-7 * np.abs(g).max())


@every_kind
def test_hessian_is_the_derivative_of_the_gradient(problem, x, kind):
    """Assembled over all elements; the elements' parts of pressure make sense in their sum only."""
    block, of, n = block_of(problem, kind), energy_of(block_of(problem, kind)), len(x)
    H = np.zeros((n, 3, n, 3))
    for element, part in zip(block.elements, of.element_hessians(block, x, slice(None)), strict=True):
        for i, v in enumerate(element):
            for j, w in enumerate(element):
                H[v, :, w] += part[i, :, j]
    expected = central(lambda q: of.gradient(block, q).ravel(), x)
    size = np.abs(expected).max()
    np.testing.assert_allclose(H.reshape(3 * n, 3 * n), expected, rtol=0, atol=1e-7 * size)
    own = H[np.arange(n), :, np.arange(n)]
    np.testing.assert_allclose(of.vertex_blocks(block, x), own, rtol=0, atol=1e-12 * size)


def test_derivatives_of_the_whole_step(problem, x):
    """Viscosity in x - x_prev and over h, pressure at the end of the step: as the step's potential has them."""
    g = problem.gradient(x)
    np.testing.assert_allclose(central(problem.energy, x), g.ravel(), rtol=0, atol=1e-7 * np.abs(g).max())
    H = problem.hessian(x).toarray()
    differences = central(lambda q: problem.gradient(q).ravel(), x)
    np.testing.assert_allclose(differences, H, rtol=0, atol=1e-7 * np.abs(H).max())
    np.testing.assert_allclose(H, H.T, rtol=0, atol=1e-13 * np.abs(H).max())
    n = len(x)
    own = H.reshape(n, 3, n, 3)[np.arange(n), :, np.arange(n)]
    np.testing.assert_allclose(problem.vertex_blocks(x), own, rtol=0, atol=1e-13 * np.abs(own).max())


def test_energies_by_hand(problem, x):
    """One name each: -p V, the links' k/2 d^2, k/2 depth^2, and eta V |grad u|^2 / (2 h)."""
    terms, n, h = problem.energies(x), MESH.n_vertices, problem.h
    volumes = [enclosed_volume(q, MESH.surface_triangles) for q in (x[:n], x[n:])]
    assert terms["pressure"] == pytest.approx(-3000.0 * volumes[0] + 1e5 * h * volumes[1], rel=1e-12)

    a, b = x[:n], x[n:]
    links = [(400.0, a[0] - b[5]), (400.0, a[3] - b[6]), (400.0, a[3] - b[7])]
    links += [(300.0, [0.5, 0.3, 0.2] @ a[[1, 4, 2]] - [0.1, 0.2, 0.3, 0.4] @ b[[0, 1, 3, 9]])]
    links += [(200.0, [0.5, 0.3, 0.2] @ b[[1, 4, 2]] - [0.1, 0.2, 0.7] @ b[[0, 1, 4]])]
    assert terms["attachment"] == pytest.approx(sum(k / 2 * d @ d for k, d in links), rel=1e-12)

    depth = np.maximum(x - (0.2, 0.08, np.inf), 0) + np.maximum((-0.05, -np.inf, -0.06) - x, 0)
    assert (depth > 0).any(axis=0).all()
    assert terms["bounds"] == pytest.approx(500.0 * np.sum(depth**2), rel=1e-12)

    u = (a - problem.x_prev[:n])[MESH.tets]
    edges = MESH.points[MESH.tets[:, 1:]] - MESH.points[MESH.tets[:, :1]]
    grad = np.linalg.solve(edges, u[:, 1:] - u[:, :1])
    viscous = 20.0 / (2 * h) * np.sum(MESH.volumes * np.sum(grad**2, axis=(1, 2)))
    assert terms["viscosity"] == pytest.approx(viscous, rel=1e-12)
    assert problem.energy(x) == pytest.approx(sum(terms.values()), rel=1e-14)
    assert {"pressure", "attachment", "bounds", "viscosity"} <= set(terms)


def test_damping_does_not_count_viscosity(problem, x):
    """k_d multiplies stiffness; c / h is damping already, and would come out as k_d c / h^2."""
    inertia = problem.inertia[:, None, None] * np.eye(3)
    viscous = energy_of(block_of(problem, Dampers)).vertex_blocks(block_of(problem, Dampers), x)
    start = problem.x_prev
    stiffness = problem.vertex_blocks(start) - inertia - problem.damping_blocks - viscous
    values, vectors = np.linalg.eigh(stiffness)
    expected = np.einsum("nik,nk,njk->nij", vectors, np.maximum(values, 0), vectors)
    expected *= (problem.model.damping / problem.h)[:, None, None]
    np.testing.assert_allclose(problem.damping_blocks, expected, rtol=0, atol=1e-10 * np.abs(expected).max())


@pytest.mark.parametrize("kind", [Pressures, Attachments, Dampers], ids=lambda kind: kind.__name__)
def test_inner_forces_sum_to_zero_and_do_not_depend_on_the_origin(problem, x, kind):
    """Also a kilometre away, to the rounding of the positions there."""
    block, of = block_of(problem, kind), energy_of(block_of(problem, kind))
    g = of.gradient(block, x)
    np.testing.assert_allclose(g.sum(axis=0), 0, atol=1e-12 * np.abs(g).max())
    np.testing.assert_allclose(of.gradient(block, x + 1e3), g, rtol=0, atol=1e-9 * np.abs(g).max())


@pytest.mark.parametrize("kind", [Pressures, Attachments], ids=lambda kind: kind.__name__)
def test_inner_torques_sum_to_zero(problem, x, kind):
    block, of = block_of(problem, kind), energy_of(block_of(problem, kind))
    g = of.gradient(block, x)
    torque = np.cross(x, g).sum(axis=0)
    np.testing.assert_allclose(torque, 0, atol=1e-12 * np.abs(g).max())
