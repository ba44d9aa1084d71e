"""Diagnostics of contact: counts, depths and warnings against scenes where they are known."""

import logging
import re
from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant.contact.detection import find_penetrations
from pliant.contact.response.report import SoftContact, words_of_softness
from pliant.contact.tracking.side_history import no_side_history

G = 9.81
LAW = pl.StableNeoHookean.from_young(1e6, 0.3)


def cube_on_a_plane(stiffness: float, edge: float = 0.1) -> tuple[pl.Simulation, pl.Scene]:
    """1 kg with 9 vertices below, which sinks in by its weight over 9 stiffnesses."""
    scene = pl.Scene()
    scene.contact = pl.Contact(stiffness=stiffness, damping=0.02)
    mesh = pl.shapes.box((edge,) * 3, (2, 2, 2), split="kuhn").transformed(translation=(0, 0, 0.5 * edge))
    scene.add_solid(mesh, LAW, density=1.0 / edge**3)
    scene.add_plane((0, 0, 0), (0, 0, 1))
    return pl.Simulation(scene, pl.VBD(iterations=40), frame_rate=60, substeps=2, precision="double"), scene


def test_the_report_of_a_cube_at_rest(caplog: pytest.LogCaptureFixture) -> None:
    """9 contacts, as deep as weight over stiffness; its energy is in the total."""
    sim, _ = cube_on_a_plane(1e5)
    with caplog.at_level(logging.WARNING, "pliant"):
        for _ in range(120):
            report = sim.step()
    assert report.contact is not None
    assert report.contact.touching == 9
    assert report.contact.missed == 0
    energies = sim.energies()
    assert energies["contacts"] == 9
    assert 1.0 * G / 9e5 <= energies["deepest_penetration"] < 2 * G / 9e5
    assert report.contact.deepest == pytest.approx(energies["deepest_penetration"], rel=1e-3)
    low = np.minimum(sim.positions[:, 2], 0)
    assert energies["contact"] == pytest.approx(0.5e5 * np.sum(low**2), rel=1e-9)
    parts = ("kinetic", "gravity", "elastic", "contact")
    assert energies["total"] == pytest.approx(sum(energies[name] for name in parts), rel=1e-12)
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


def test_a_soft_contact_is_told_with_the_stiffness_that_would_do(caplog: pytest.LogCaptureFixture) -> None:
    """50 N/m lets the cube sink by 2 cm, against a tenth of an edge. The stiffness asked for holds it within that."""
    sim, _ = cube_on_a_plane(50.0)
    with caplog.at_level(logging.WARNING, "pliant"):
        for _ in range(120):
            sim.step()
    told = [record.message for record in caplog.records if "too low for the load" in record.message]
    assert 1 <= len(told) <= 3
    assert "stiffness=50 N/m" in told[0]
    needed = float(told[-1].split("load, ")[1].split(" N/m")[0])
    assert needed > 100
    caplog.clear()
    better, _ = cube_on_a_plane(needed)
    with caplog.at_level(logging.WARNING, "pliant"):
        for _ in range(120):
            better.step()
    assert not [record for record in caplog.records if "too low" in record.message]


@pytest.mark.parametrize(("depth", "told"), [(1.04e-3, "2.1e+03"), (1.0001e-3, "2.1e+03"), (2.5e-3, "5e+03")])
def test_the_stiffness_that_a_warning_names_is_more_than_the_one_that_is_set(depth: float, told: str) -> None:
    """Twice what would just hold the load, rounded up to two digits; not said to be enough before steps converge."""
    soft = SoftContact(3, depth, 1e-3, 0.0, 1000.0, 3000.0, True)
    assert soft.needed_stiffness >= 2 * soft.stiffness * depth / soft.bound
    words = words_of_softness(soft, "vertex 3", 0.01)
    assert f"load, {told} N/m would hold it." in words
    assert "Left out, about 3e+03 N/m is chosen there" in words
    assert "Left out" not in words_of_softness(replace(soft, is_given=False), "vertex 3", np.nan)
    assert "would hold it once steps converge: this one ended with 68 %" in words_of_softness(soft, "vertex 3", 0.68)


def test_a_stiffness_that_is_left_out_as_a_warning_says_is_enough(caplog: pytest.LogCaptureFixture) -> None:
    """A sheet of a square metre on a ball, whose contacts are given 20 N/m."""
    told = []
    for stiffness in (20.0, None):
        scene = pl.Scene(contact=pl.Contact(stiffness=stiffness, thickness=1e-3))
        mesh = pl.shapes.cloth((1, 1), (20, 20)).transformed(translation=(0, 0, 0.31))
        scene.add_cloth(mesh, pl.StVenantKirchhoff(mu=2000.0, lam=2000.0), density=0.2, bending=1e-5)
        scene.add_sphere((0, 0, 0), 0.3)
        sim = pl.Simulation(scene, pl.VBD(40), threads=1)
        caplog.clear()
        with caplog.at_level(logging.WARNING, "pliant"):
            for _ in range(90):
                sim.step()
        told.append([record.message for record in caplog.records if "contact:" in record.message])
    assert "Left out, about" in told[0][0]
    assert not told[1]


def test_missed_contacts_are_counted() -> None:
    """Two iterations leave a fast sheet behind another with pairs that no detection has seen; all in all they are
    counted, with their depth, in the next step.
    """
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.contact = pl.Contact(stiffness=1e5, thickness=1e-3)
    law = pl.StableNeoHookean.from_young(1.0, 0.3)
    target = scene.add_cloth(pl.shapes.cloth((2, 2), (9, 9)), law, density=0.2)
    target.pin(np.arange(target.n_vertices))
    mesh = pl.shapes.cloth((0.5, 0.5), (6, 6)).transformed(translation=(0.01, 0.02, 0.05))
    sheet = scene.add_cloth(mesh, law, density=0.2)
    sheet.set_velocities((0, 0, -10.0))  # 3.3 cm a step: the first step ends before the target
    sim = pl.Simulation(scene, pl.VBD(iterations=2, start="previous"))
    assert sim.step().contact.missed == 0
    second = sim.step().contact  # nothing to be seen from where it starts, and it ends behind the target
    assert second.listed == 0
    assert second.crossed >= 49
    third = sim.step().contact
    assert third.missed >= 49
    assert third.deepest_missed == pytest.approx(2 * 10.0 / 300 - 0.05 + 1e-3, rel=0.05)
    assert sim.step().contact.missed == 0


def test_a_start_in_intersection_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    """A cube 1 cm in another, and a sheet through both."""
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.contact = pl.Contact(stiffness=1e3, thickness=1e-3)
    for z in (0.0, 0.09):
        scene.add_solid(pl.shapes.box((0.1,) * 3, (1, 1, 1)).transformed(translation=(0.1 * z, 0.2 * z, z)), LAW)
    sheet = pl.shapes.cloth((0.4, 0.4), (2, 2)).transformed(translation=(0, 0, 0.02))
    scene.add_cloth(sheet, LAW, density=0.2)
    sim = pl.Simulation(scene, pl.VBD(iterations=2))
    with caplog.at_level(logging.WARNING, "pliant"):
        sim.step()
        sim.step()
    said = [record.message for record in caplog.records if "starts in intersection" in record.message]
    assert len(said) == 1
    assert "3 vertices are inside solids" in said[0]  # a corner of each cube and the middle of the sheet
    assert "edges go through triangles" in said[0]
    assert "the deepest by 3" in said[0]


@pytest.mark.parametrize("is_field", [False, True], ids=["formula", "field of distances"])
@pytest.mark.parametrize("is_held", [False, True], ids=["free", "pinned"])
def test_a_start_inside_an_obstacle_is_said_unless_it_is_held(
    caplog: pytest.LogCaptureFixture, is_held: bool, is_field: bool
) -> None:
    """A sheet of nine vertices, of which the middle one is 3 cm below the top of a ball."""
    scene = pl.Scene(gravity=(0, 0, 0))
    if is_field:
        scene.add_mesh_obstacle(pl.shapes.ball(0.1, 12).surface(), method="sdf")
    else:
        scene.add_sphere((0, 0, 0), 0.1)
    mesh = pl.shapes.cloth((0.4, 0.4), (2, 2)).transformed(translation=(0, 0, 0.07))
    sheet = scene.add_cloth(mesh, LAW, density=0.2)
    if is_held:
        sheet.pin(np.linalg.norm(mesh.points[:, :2], axis=1) < 0.01)
    sim = pl.Simulation(scene, pl.VBD(iterations=2))
    with caplog.at_level(logging.WARNING, "pliant"):
        sim.step()
    said = [record.message for record in caplog.records if "starts in intersection" in record.message]
    assert len(said) == (not is_held)
    assert is_held or re.search(r"1 vertex is inside an obstacle, the deepest by (30|29\.9) mm", said[0])


def test_a_scene_apart_says_nothing(caplog: pytest.LogCaptureFixture) -> None:
    sim, _ = cube_on_a_plane(1e5)
    with caplog.at_level(logging.WARNING, "pliant"):
        sim.step()
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


def test_vertices_without_exit_are_counted(team, assemble) -> None:
    """Five tets, each the boundary of the others, have no surface at all: what is inside has nowhere to go."""
    corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0.2, 0.2, 0.2]])
    closed = np.array([[0, 1, 2, 3], [4, 1, 2, 3], [0, 4, 2, 3], [0, 1, 4, 3], [0, 1, 2, 4]])
    single = (corners[:4] + 3.0, np.array([[0, 1, 2, 3]]))
    sheets = [
        (np.array([[0.1, 0.1, 0.1], [0.3, 0.1, 0.1], [0.1, 0.3, 0.1]]) + shift, np.array([[0, 1, 2]]))
        for shift in (0.0, 3.0)
    ]
    x, colliders, _ = assemble(solids=[(corners, closed), single], sheets=sheets, radius=1e-3)
    found = find_penetrations(team, colliders, x, no_side_history())
    assert (found.inside, found.without_straight_path, found.without_surface_point) == (6, 0, 3)
    assert len(found.contacts.kind) == 3
