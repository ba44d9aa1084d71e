"""Depths of edges inside other bodies, of which no vertex tells."""

import logging

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import pliant as pl
from contact_arrays import open_rules
from pliant.contact.search.colliders import make_colliders
from pliant.contact.search.edge_depths import deepest_edge

SOFT = pl.StableNeoHookean.from_young(1e5, 0.3)
CUBE = pl.shapes.box((0.1, 0.1, 0.1), (2, 2, 2))  # its top at z = 0.05
BAR = pl.shapes.box((0.06, 0.2, 0.06), (2, 1, 2)).transformed(
    rotation=Rotation.from_euler("y", 45, degrees=True).as_matrix()
)
TIP = 0.03 * np.sqrt(2)  # of the edge of the bar below its middle


def colliders_of(*meshes: pl.TetMesh, sheet: np.ndarray | None = None):
    first = np.cumsum([0, *(len(mesh.points) for mesh in meshes)])
    tets = np.concatenate([mesh.tets + k for mesh, k in zip(meshes, first, strict=False)])
    n = first[-1] + (0 if sheet is None else 3)
    body = np.searchsorted(first, np.arange(n), side="right") - 1
    triangles = np.zeros((0, 3), np.int32) if sheet is None else np.arange(first[-1], n, dtype=np.int32)[None]
    points = np.concatenate([*(mesh.points for mesh in meshes), *([] if sheet is None else [sheet])])
    return make_colliders(triangles, tets, open_rules(n, body.astype(np.int32)), start=points), points


@pytest.mark.parametrize("depth", [0.001, 0.01, 0.02])
def test_an_edge_across_a_face_is_as_deep_as_it_was_pushed(team, depth: float) -> None:
    """A bar that stands on its edge, longer than the cube: no vertex of either is inside the other."""
    bar = BAR.transformed(translation=(0.025, 0.004, 0.05 + TIP - depth))
    found = deepest_edge(team, *colliders_of(CUBE, bar))
    assert found is not None
    assert found.depth == pytest.approx(depth, rel=1e-6)
    assert found.body == 0
    assert min(found.vertices) >= len(CUBE.points)


def test_an_edge_through_a_corner_is_deepest_in_its_middle(team) -> None:
    """A triangle of cloth whose edge cuts 20 mm off both sides at a vertical edge of the cube: 10 mm from both."""
    ends = np.array([[0.08, 0.0, 0.011], [0.0, 0.08, 0.011], [0.2, 0.2, 0.3]])
    found = deepest_edge(team, *colliders_of(CUBE, sheet=ends))
    assert found is not None
    assert found.depth == pytest.approx(0.01, rel=1e-3)


def test_bodies_apart_have_no_edge_inside(team) -> None:
    assert deepest_edge(team, *colliders_of(CUBE, BAR.transformed(translation=(0, 0, 0.06 + TIP)))) is None


def bar_on_cube(depth: float, speed: float = 0.0, **contact) -> pl.Simulation:
    scene = pl.Scene(gravity=(0, 0, 0), contact=pl.Contact(**contact))
    scene.add_solid(CUBE, SOFT).pin(CUBE.points[:, 2] < -0.049)
    bar = scene.add_solid(BAR.transformed(translation=(0.025, 0.004, 0.05 + TIP - depth)), SOFT)
    bar.set_velocities((0, 0, -speed))
    return pl.Simulation(scene, pl.VBD(40))


def test_the_report_sees_edges() -> None:
    """No contact is listed, as no vertex is inside and nothing has crossed on the way; the depth is known."""
    sim = bar_on_cube(0.007)
    report = sim.step().contact
    assert report.deepest == pytest.approx(0.007, rel=1e-6)
    assert sim.energies()["deepest_penetration"] == pytest.approx(0.007, rel=1e-6)


def test_an_edge_that_sinks_in_is_warned_of_and_the_advice_helps(caplog: pytest.LogCaptureFixture) -> None:
    """1 N/m does not hold the bar at 1 m/s; the guarantee does."""
    told = []
    for settings in ({"stiffness": 1.0}, {"guarantee": True}):
        caplog.clear()
        with caplog.at_level(logging.WARNING, "pliant"):
            sim = bar_on_cube(-0.02, 1.0, **settings)
            for _ in range(12):
                sim.step()
        told.append([record.message for record in caplog.records if "mm inside" in record.message])
    assert told[0]
    assert "of solid1 is" in told[0][0]
    assert "inside solid0" in told[0][0]
    assert not told[1]
