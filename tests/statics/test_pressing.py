"""Static shapes of what obstacles with prescribed motions press on."""

from typing import Any

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


def pressed_bar(friction: float, cells: int = 20, **options: Any) -> tuple[pl.Scene, Any, list[Any]]:
    """A beam 1 m long on two boxes, bent by a third one between them that goes down by 2 cm, by itself: no gravity."""
    scene = pl.Scene(gravity=(0, 0, 0))
    mesh = pl.shapes.beam(length=1.0, width=0.05, height=0.05, cells=(cells, 2, 2)).transformed(
        translation=(0, 0, 0.125)
    )
    bar = scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e6, 0.3), name="bar", **options)
    boxes = [scene.add_box((x, 0, 0.05), (0.04, 0.1, 0.1), friction=friction) for x in (-0.4, 0.4)]
    boxes.append(
        scene.add_box(
            (0, 0, 0.17), (0.04, 0.1, 0.04), friction=friction, motion=lambda t: ((0, 0, -0.02 * t), np.eye(3))
        )
    )
    scene.contact = pl.Contact(friction=friction)
    return scene, bar, boxes


@pytest.mark.parametrize("friction", [0.0, pytest.param(0.3, marks=pytest.mark.slow)])
def test_a_beam_is_bent_by_a_box_between_two_boxes(friction):
    """Four rims press, at -L, -a, a, L with L = 0.38 m, a = 0.02 m: two loads F / 2 at c = L - a from the supports sink
    by F c^2 (c + 3 a) / (6 E I) and, by shear, F c / (2 k G A). Patches of two cells across are 2 to 3 % too soft, and
    the supports turn with the slope. Without friction nothing but symmetry keeps the bar in its place.
    """
    scene, bar, (left, right, top) = pressed_bar(friction, cells=40, element="patch")
    found = pl.equilibrium(scene)
    assert found.report.converged
    inertia, c, area = 0.05**4 / 12, 0.36, 0.05**2
    bending = c**2 * (c + 3 * 0.02) / (6 * 1e6 * inertia)
    shear = c / (2 * 5 / 6 * 1e6 / 2.6 * area)
    assert top.contact_force[2] == pytest.approx(0.02 / (bending + shear), rel=0.07)
    assert left.contact_force[2] == pytest.approx(-0.5 * top.contact_force[2], rel=1e-3)
    assert right.contact_force[2] == pytest.approx(-0.5 * top.contact_force[2], rel=1e-3)
    assert np.abs((bar.positions - found.case.model.positions)[:, :2].mean(axis=0)).max() < 1e-7


def test_a_smooth_bar_bent_by_linear_tets_stays_between_the_boxes():
    """It was thrown aside, or ended at 21 % of the way after 1,422 iterations."""
    scene, _, (_, _, top) = pressed_bar(0.0)
    found = pl.equilibrium(scene)
    assert found.report.converged
    assert found.report.iterations < 90
    assert top.contact_force[2] == pytest.approx(2.64, rel=0.01)  # of the same tets with friction 0.3: 2.67


@pytest.mark.parametrize("load_steps", [None, 20])
def test_a_plane_with_friction_drags_what_it_presses(load_steps):
    """A flat block on the ground, pressed by 1 % of its height and then sheared by 0.5 % by a plane that sticks to it:
    T = G A u / h, less what its free sides give away; the same in any number of load steps.
    """
    height, youngs_modulus = 0.1, 1e6
    scene = pl.Scene(gravity=(0, 0, 0))
    mesh = pl.shapes.box((0.4, 0.4, height), (6, 6, 3)).transformed(translation=(0, 0, height / 2))
    block = scene.add_solid(mesh, pl.StableNeoHookean.from_young(youngs_modulus, 0.0), name="block")
    block.pin(mesh.points[:, 2] < 1e-9)
    top = scene.add_plane(
        (0, 0, height), (0, 0, -1), friction=0.5,
        motion=lambda t: ((5e-4 * max(0, 2 * t - 1), 0, -1e-3 * min(2 * t, 1)), np.eye(3)),
    )  # fmt: skip
    scene.contact = pl.Contact(friction=0.5)
    found = pl.equilibrium(scene, load_steps=load_steps)
    assert found.report.converged
    assert top.contact_force[2] == pytest.approx(youngs_modulus * 0.16 * 0.01, rel=0.01)
    assert -top.contact_force[0] == pytest.approx(0.5 * youngs_modulus * 0.16 * 0.005, rel=0.1)
    assert -top.contact_force[0] == pytest.approx(363.74, rel=1e-3)  # in any number of load steps
    assert found.reaction_force(block)[0] == pytest.approx(top.contact_force[0], rel=1e-4)


def test_what_contacts_leave_free_is_named():
    """A bar on smooth rollers that nothing holds lengthwise; held as the message says, it is bent (above)."""
    scene = pl.Scene(gravity=(0, 0, 0))
    mesh = pl.shapes.box((0.4, 0.05, 0.04), (20, 2, 2))
    bar = scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e7, 0.3), element="patch", name="bar")
    bar.friction = 0.0
    for x, z, way in ((-0.16, -0.03, 0.0), (0.16, -0.03, 0.0), (0.0, 0.03, -0.002)):
        scene.add_capsule(
            (x, -0.1, z), (x, 0.1, z), 0.01, motion=(lambda t, way=way: ((0, 0, way * t), np.eye(3))) if way else None
        )
    scene.contact = pl.Contact()
    found = pl.equilibrium(scene, smallest_step=0.03)
    assert not found.report.converged
    assert "Neither pins nor contacts hold bar (translation along x, y and rotation about z)" in found.report.reason
    assert 'body.pin(vertices, components="xy")' in found.report.reason
