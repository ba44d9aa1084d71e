"""Constraints in lanes have the results of constraints one by one."""

import numpy as np
import pytest

import pliant as pl
from pliant.constraints.lists import COLOURS, FORMS, GROUPS
from pliant.constraints.packed_rows import FIELDS_OF_DISTANCES
from pliant.constraints.packs import SINGLY, STILL, pack_width
from pliant.constraints.rows import CONTACT, DISTANCE, NO_FRICTION

R = 0.01


def falling(friction):
    """A cloth, and spheres in a container, at random velocities."""
    scene, random = pl.Scene(), np.random.default_rng(1)
    points = pl.shapes.packed_spheres((0.1, 0.1, 0.1), radius=R, spacing=1.03)
    grains = scene.add_particles(points, radius=R, friction=friction)
    grains.set_velocities(random.normal(size=points.shape))
    scene.add_container((0, 0, 0.5), (0.11, 0.11, 1.12), friction=friction)
    mesh = pl.shapes.cloth(size=(0.2, 0.2), cells=(5, 5)).transformed(translation=(1, 0, 1))
    cloth = scene.add_cloth(mesh, pl.StVenantKirchhoff.from_young(1e3, 0.3))
    cloth.set_velocities(random.normal(size=mesh.points.shape))
    scene.ignore_contact(cloth, grains)
    return scene


@pytest.mark.parametrize("relaxation", [pl.ImprovedJacobi(), pl.ImprovedGaussSeidel()], ids=["Jacobi", "GaussSeidel"])
@pytest.mark.parametrize("friction", ["cone", "pyramid"])
@pytest.mark.parametrize("scheme", [pl.VelocityTimeStepping, pl.SequentialPositions], ids=["VTS", "SP"])
def test_lanes_do_what_single_constraints_do(pose, scheme, friction, relaxation):
    """The same impulses and velocities to rounding after seven iterations."""
    solver = scheme(relaxation, iterations=15, friction=friction)
    packed, single = (pose(falling(0.4), solver) for _ in range(2))
    assert (packed.colours.kinds[: packed.colours.packs[packed.colours.palettes[0] * GROUPS]] < SINGLY).sum() > 20
    single.colours.kinds[:] = SINGLY
    for problem in (packed, single):
        relaxation.iterate(problem, 7)
        problem.copy_back()
    np.testing.assert_allclose(packed.bodies.velocity, single.bodies.velocity, atol=1e-12)
    impulses = [problem.rows.impulse[: problem.count] for problem in (packed, single)]
    assert (np.abs(impulses[0]).max(axis=0) > 0).all()
    np.testing.assert_allclose(*impulses, atol=1e-12)


@pytest.mark.parametrize("precision", ["single", "double"])
def test_colours_are_packs_of_one_kind_filled_up_with_copies(pose, precision):
    """Each constraint is in the order once, if copies are left out; those of a colour share no sphere, those of a pack
    are all springs, all of spheres or all with obstacles, and none but those with triangles is done one by one.
    """
    problem = pose(falling(0.4), pl.VelocityTimeStepping(pl.GaussSeidel()), precision=precision)
    problem.colour()
    colours, vertices, width = problem.colours, problem.rows.vertices, pack_width(problem.rows.rest.dtype)
    packs = np.diff(colours.packs)
    copies = packs * width - colours.sizes
    assert (copies >= 0).all()
    assert (copies < width).all()
    assert (copies > 0).any()
    found, kinds = [], {0: [DISTANCE], 1: [CONTACT], 2: [STILL], 3: [SINGLY]}
    assert {0, 1, 2} <= set(np.flatnonzero(packs) % FORMS)
    for group in np.flatnonzero(packs):
        assert np.isin(colours.kinds[colours.packs[group] : colours.packs[group + 1]], kinds[group % FORMS]).all()
        places = colours.order[width * colours.packs[group] : width * colours.packs[group + 1]]
        assert (places[: copies[group]] == places[copies[group]]).all()
        own = places[copies[group] :]
        found.extend(own.tolist())
        moved = vertices[own][vertices[own] >= 0]
        moved = moved[problem.bodies.inverse_mass[moved] > 0]
        assert len(np.unique(moved)) == len(moved)
    assert sorted(found) == list(range(problem.count))


@pytest.mark.parametrize("relaxation", [pl.ImprovedJacobi(), pl.ImprovedGaussSeidel()], ids=["Jacobi", "GaussSeidel"])
def test_without_friction_packs_hold_normals_alone(pose, relaxation):
    """Where nothing has friction, packs are smaller, and impulses are those of single constraints, along normals."""
    solver = pl.VelocityTimeStepping(relaxation, iterations=15)
    packed, single = (pose(falling(0.0), solver) for _ in range(2))
    assert packed.scheme.friction == NO_FRICTION
    single.colours.kinds[:] = SINGLY
    for problem in (packed, single):
        relaxation.iterate(problem, 15)
    assert packed._packs.size == FIELDS_OF_DISTANCES
    np.testing.assert_allclose(packed.bodies.velocity, single.bodies.velocity, atol=1e-12)
    impulses = [problem.rows.impulse[: problem.count] for problem in (packed, single)]
    assert impulses[0][:, 0].max() > 0
    assert not impulses[0][:, 1:].any()
    np.testing.assert_allclose(*impulses, atol=1e-12)


@pytest.mark.parametrize("relaxation", [pl.ImprovedJacobi(), pl.ImprovedGaussSeidel()], ids=["Jacobi", "GaussSeidel"])
def test_more_constraints_at_a_vertex_than_there_are_colours(pose, relaxation):
    """A shell of spheres that fall on one in their middle: what fits in no colour shares it, pack by pack or singly."""
    scene, random = pl.Scene(), np.random.default_rng(2)
    heights = np.linspace(-0.99, 0.99, 200)
    turns = np.pi * (3 - np.sqrt(5)) * np.arange(200)
    shell = np.column_stack([np.cos(turns), np.sin(turns), heights])
    shell[:, :2] *= np.sqrt(1 - heights**2)[:, None]
    around = scene.add_particles(11.05 * R * shell, radius=R, friction=0.3)
    around.set_velocities(-shell + 0.1 * random.normal(size=shell.shape))
    scene.add_particles([[0.0, 0.0, 0.0]], radius=10 * R, friction=0.3)
    packed, single = (pose(scene, pl.VelocityTimeStepping(relaxation, iterations=15)) for _ in range(2))
    single.colours.kinds[:] = SINGLY
    assert packed.colours.sizes.reshape(-1, COLOURS + 1, FORMS)[:, COLOURS].sum() > pack_width(packed.rows.rest.dtype)
    for problem in (packed, single):
        relaxation.iterate(problem, 15)
    np.testing.assert_allclose(packed.bodies.velocity, single.bodies.velocity, atol=1e-12)
    impulses = [problem.rows.impulse[: problem.count] for problem in (packed, single)]
    assert impulses[0][:, 0].max() > 0
    np.testing.assert_allclose(*impulses, atol=1e-12)
