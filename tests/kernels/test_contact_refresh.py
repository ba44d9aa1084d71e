"""Contacts that are refreshed in lanes are those of the plain refresh, over triangles and beside them."""

from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant.contact.contact_set import ContactSet, pair_contacts
from pliant.contact.response.potential import ContactPotential
from pliant.elements.closest import EDGE_EDGE, VERTEX_TRIANGLE
from pliant.kernels.contacts import FOLLOWING, HELD
from pliant.solvers import Execution
from pliant.solvers.machinery.packed import pack

COUNT = 43  # contacts: no multiple of a width, so that a block is not full


def simulation(precision):
    scene = pl.Scene()
    scene.contact = pl.Contact(stiffness=1e3, friction=0.4)
    scene.add_solid(pl.shapes.box((1, 1, 1), (3, 3, 3)), pl.StableNeoHookean.from_young(1e5, 0.3))
    return pl.Simulation(scene, pl.VBD(2), precision=precision)


@pytest.mark.parametrize("precision", ["single", "double"])
def test_contacts_whose_weights_stay_have_the_friction_of_the_plain_refresh(precision):
    rng, sim = np.random.default_rng(5), simulation(precision)
    x = sim.state.x + rng.normal(0, 0.02, sim.state.x.shape)
    vertices = np.array([rng.permutation(sim.model.n_vertices)[:4] for _ in range(COUNT)])
    s, t = rng.uniform(size=(2, COUNT))
    weights, normals = np.column_stack([1 - s, s, t - 1, -t]), rng.normal(size=(COUNT, 3))
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    thickness, side = rng.uniform(0.0, 1.0, COUNT), np.zeros(COUNT)
    contacts = pair_contacts(EDGE_EDGE, vertices, weights, normals, thickness, side)
    contacts.stiffness[:], contacts.friction[:] = 1e3, 0.4
    expected = ContactPotential(ContactSet(*(array.copy() for array in contacts)), 1e-3, 0.0, sim.state.x)
    problem = replace(sim.problem(), contacts=ContactPotential(contacts, 1e-3, 0.0, sim.state.x))
    packed = pack(problem, Execution(precision, 1))
    packed.begin_step(problem)
    packed.tables.read(x)
    packed.refresh(packed.tables.x)
    expected.refresh(x)
    rows = packed.tables.contacts.rows
    assert (rows.in_lanes == HELD).sum() == COUNT // packed.tables.packs.width
    limits = expected.contacts.friction_limit
    assert 0.2 < (limits > 0).mean() < 0.95, "some press, and some do not"
    rounding = 1e-6 if precision == "single" else 1e-14
    np.testing.assert_allclose(contacts.friction_limit, limits, rtol=0, atol=rounding * limits.max())
    np.testing.assert_allclose(rows.normal_rows[:COUNT, 3], contacts.friction_limit, rtol=1e-6)
    np.testing.assert_allclose(rows.normal_rows[:COUNT, :3], normals, rtol=0, atol=1e-6)


@pytest.mark.parametrize("precision", ["single", "double"])
def test_blocks_in_lanes_are_the_plain_refresh(precision):
    rng, sim = np.random.default_rng(3), simulation(precision)
    x = sim.state.x + rng.normal(0, 0.02, sim.state.x.shape)
    vertices = np.array([rng.permutation(sim.model.n_vertices)[:4] for _ in range(COUNT)])
    normals = rng.normal(size=(COUNT, 3))
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    side = rng.choice([-1, 1], COUNT)
    thickness = rng.uniform(0.0, 1.0, COUNT)
    contacts = pair_contacts(VERTEX_TRIANGLE, vertices, np.zeros((COUNT, 4)), normals, thickness, side, True)
    contacts.stiffness[:], contacts.friction[:] = 1e3, 0.4
    contacts.friction[::3] = 0.0
    expected = ContactPotential(ContactSet(*(array.copy() for array in contacts)), 1e-3, 0.0, sim.state.x)
    found = ContactPotential(contacts, 1e-3, 0.0, sim.state.x)
    problem = replace(sim.problem(), contacts=found)
    packed = pack(problem, Execution(precision, 1))
    packed.begin_step(problem)
    packed.tables.read(x)
    packed.refresh(packed.tables.x)
    expected.refresh(x)
    rows = packed.tables.contacts.rows
    assert (rows.in_lanes == FOLLOWING).sum() == COUNT // packed.tables.packs.width
    rounding = 2e-6 if precision == "single" else 1e-11
    beside = (expected.contacts.weights == 0).any(axis=1)
    assert 0.2 < beside.mean() < 0.95, "both kinds of closest points"
    for name in ("weights", "normals", "friction_limit"):
        one, other = getattr(expected.contacts, name), getattr(found.contacts, name)
        np.testing.assert_allclose(other, one, rtol=0, atol=50 * rounding * max(1.0, np.abs(one).max()), err_msg=name)
    np.testing.assert_allclose(rows.normal_rows[:COUNT, :3], found.contacts.normals, rtol=0, atol=1e-6)
    np.testing.assert_allclose(rows.normal_rows[:COUNT, 3], found.contacts.friction_limit, rtol=1e-6)
    np.testing.assert_allclose(rows.weight_rows[:COUNT], found.contacts.weights, rtol=0, atol=1e-6)
    before = np.einsum("ki,kia->ka", found.contacts.weights, sim.state.x[vertices])
    np.testing.assert_allclose(rows.prev_rows[:COUNT, :3], before, rtol=0, atol=1e-5)
    np.testing.assert_allclose(rows.prev_rows[:COUNT, 3], thickness, rtol=1e-6)
