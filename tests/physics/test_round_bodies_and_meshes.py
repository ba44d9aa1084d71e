"""Round rigid bodies under meshes that are finer than they are: every triangle that touches counts."""

import numpy as np
import pytest

import pliant as pl
from pliant.model import Cloth, RigidBody, build_model

G = 9.81
LYING = (np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0)
SHAPES = {"sphere": pl.Sphere(0.08), "capsule": pl.Capsule(0.08, 0.2)}


def sheet_on(shape: object, motion: object = None) -> tuple[pl.Scene, RigidBody, Cloth]:
    """A sheet of 0.3 m and 20 x 20 cells that falls on a held body from 2 mm above it."""
    scene = pl.Scene(contact=pl.Contact())
    body = scene.add_rigid(shape, position=(0, 0, 0), orientation=LYING)
    if motion is None:
        body.pin()
    else:
        body.move(motion)
    mesh = pl.shapes.cloth(size=(0.3, 0.3), cells=(20, 20))
    sheet = scene.add_cloth(mesh, pl.StVenantKirchhoff.from_young(1e3, 0.3), density=0.3, bending=1e-4)
    sheet.set_positions(mesh.points + np.array([0, 0, 0.084]))
    sheet.set_velocities((0, 0, -0.5))
    return scene, body, sheet


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_all_contacts_of_a_fine_sheet_count(shape, caplog) -> None:
    """The body feels what changes the sheet's momentum beside its weight, to 2e-3 of the force; energy never rises;
    nothing is deeper than a tenth of an edge.
    """
    scene, body, sheet = sheet_on(shape)
    mass = build_model(scene).mass[-sheet.n_vertices :, None]
    sim = pl.Simulation(scene, solver=pl.Auto(tolerance=1e-3), threads=1)
    momentum = (mass * sim.velocities[-sheet.n_vertices :]).sum(axis=0)
    total, most = sim.energies()["total"], 0
    for _ in range(25):
        sim.step()
        before, momentum = momentum, (mass * sim.velocities[-sheet.n_vertices :]).sum(axis=0)
        force = (momentum - before) * 300 + mass.sum() * np.array([0, 0, G])
        np.testing.assert_allclose(-body.contact_force, force, atol=2e-3 * max(np.linalg.norm(force), 0.1))
        energies, before = sim.energies(), total
        total = energies["total"]
        assert total <= before
        assert energies["deepest_penetration"] < 0.1 * 0.3 / 20
        most = max(most, len(sim.contacts.gaps))
    assert most > 2 * 31  # for each contact one at the core and one on the surface, of which there were 62
    assert "sliding points" not in caplog.text


def test_points_that_slide_come_last_and_are_provided_once() -> None:
    """A point that is attached later has the number that it has without them; a ball has two for each triangle that may
    lie around it.
    """
    scene, body, _ = sheet_on(SHAPES["sphere"])
    first = body.n_vertices
    assert len(body.sliding) == 62
    build_model(scene)
    build_model(scene)
    assert (
        len(body.sliding) == body.n_vertices - 6 == min(2 * 800, int(np.ceil(2 * 4 * np.pi * 0.08**2 / 1.125e-4)) * 2)
    )
    assert body.add_point(np.array([0.0, 0.0, 0.08])) == first
    build_model(scene)
    assert body.anchors.tolist() == [first]
    np.testing.assert_allclose(body.offsets[first], [0, 0, 0.08])
    np.testing.assert_array_equal(body.offsets[body.sliding], 0.0)


def test_a_moved_ball_under_a_sheet_goes_on_from_a_checkpoint_with_the_same_bits(tmp_path) -> None:
    scene, body, _ = sheet_on(SHAPES["sphere"], pl.motions.Slide.rigid(velocity=(0.1, 0, 0)))
    sim = pl.Simulation(scene, solver=pl.VBD(iterations=10), threads=1)
    for _ in range(6):
        sim.step()
    sim.save(tmp_path / "ball.npz")
    again = pl.Simulation.resume(tmp_path / "ball.npz")
    for _ in range(4):
        sim.step()
        again.step()
    np.testing.assert_array_equal(sim.positions, again.positions)
    assert len(sim.contacts.gaps) == len(again.contacts.gaps) > 62
    assert body.position[0] == pytest.approx(0.1 * 10 / 300)
