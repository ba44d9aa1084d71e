"""Static shapes of what obstacles with prescribed motions press on."""

import numpy as np
import pytest

import pliant as pl

EDGE, E, STRAIN = 0.2, 1e5, 0.01


@pytest.mark.parametrize("load_steps", [None, 1])
def test_a_plane_presses_a_block_with_the_force_of_hooke(load_steps):
    """A block on a plane, under another one that comes down by a hundredth of its height; in one load step or in ten.
    The plane is in the block as each of them begins.
    """
    scene = pl.Scene()
    scene.gravity = (0, 0, 0)
    mesh = pl.shapes.box((EDGE, EDGE, EDGE), (2, 2, 2)).transformed(translation=(0, 0, EDGE / 2))
    block = scene.add_solid(mesh, pl.StableNeoHookean.from_young(E, 0.0), name="block")
    block.pin(np.abs(mesh.points[:, :2]).max(axis=1) < 1e-9, components="xy")
    floor = scene.add_plane((0, 0, 0), (0, 0, 1))
    press = scene.add_plane(
        (0, 0, EDGE), (0, 0, -1), motion=lambda t: ((0.0, 0.0, -STRAIN * EDGE * min(t, 1.0)), np.eye(3))
    )
    scene.contact = pl.Contact(friction=0.0)
    found = pl.equilibrium(scene, load_steps=load_steps)
    assert found.report.converged
    force = E * EDGE**2 * STRAIN
    assert press.contact_force[2] == pytest.approx(force, rel=0.01)
    assert floor.contact_force[2] == pytest.approx(-force, rel=0.01)
    assert np.ptp(block.positions[:, 2]) == pytest.approx(EDGE * (1 - STRAIN), rel=1e-4)


@pytest.mark.parametrize("friction", [0.0, 0.3])
def test_a_bar_on_two_rollers_is_bent_by_a_third(friction):
    """Three-point bending, the usual friction: Timoshenko's F = w / (L^3 / 48 E I + L / 4 k G A), k = 5/6. Patches of
    two cells across are 2 to 3 % too soft. The bar rolls off the vertices on which it lies, to edges next to them.
    """
    youngs_modulus, width, height, span, way, radius = 1e7, 0.05, 0.04, 0.32, 0.002, 0.01
    scene = pl.Scene(gravity=(0, 0, 0))
    mesh = pl.shapes.box((0.4, width, height), (20, 2, 2))
    bar = scene.add_solid(mesh, pl.StableNeoHookean.from_young(youngs_modulus, 0.3), element="patch")
    bar.friction = friction
    if not friction:
        bar.pin(np.isclose(mesh.points[:, 0], 0), components="x")
        bar.pin(np.isclose(mesh.points[:, 1:], 0).all(axis=1), components="y")
    low, high = -height / 2 - radius, height / 2 + radius
    supports = [
        scene.add_capsule((x, -0.1, low), (x, 0.1, low), radius, friction=friction) for x in (-span / 2, span / 2)
    ]
    top = scene.add_capsule(
        (0, -0.1, high), (0, 0.1, high), radius, friction=friction, motion=lambda t: ((0, 0, -way * t), np.eye(3))
    )
    scene.contact = pl.Contact()
    found = pl.equilibrium(scene)
    assert found.report.converged
    inertia, shear = width * height**3 / 12, 5 / 6 * youngs_modulus / 2.6 * width * height
    force = way / (span**3 / (48 * youngs_modulus * inertia) + span / (4 * shear))
    assert top.contact_force[2] == pytest.approx(force, rel=0.02 if friction else 0.07)
    for support in supports:
        assert support.contact_force[2] == pytest.approx(-top.contact_force[2] / 2, rel=1e-3)
