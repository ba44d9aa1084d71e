"""Every warning and error of contact says what helps: who follows it does not hear of it again.

Others: more substeps and no stiffness (physics/test_contact_defaults.py), a higher stiffness (response/test_report.py),
edges that sink in (search/test_edge_depths.py), other solvers (solvers/test_auto.py).
"""

import logging

import numpy as np
import pytest

import pliant as pl
from pliant.errors import PliantError

LAW = pl.StableNeoHookean(mu=2000.0, lam=2000.0)
SOFT = pl.StableNeoHookean.from_young(1e5, 0.3)


def said(sim: pl.Simulation, steps: int, words: str, caplog: pytest.LogCaptureFixture) -> bool:
    """Whether a warning with these words is given in so many steps."""
    caplog.clear()
    with caplog.at_level(logging.WARNING, "pliant"):
        for _ in range(steps):
            sim.step()
    return any(words in record.message for record in caplog.records)


def cubes_in_each_other() -> pl.Scene:
    scene = pl.Scene(gravity=(0, 0, 0), contact=pl.Contact())
    for height in (0.0, 0.09):
        mesh = pl.shapes.box((0.1, 0.1, 0.1), (2, 2, 2)).transformed(translation=(0.01 * height, 0.02 * height, height))
        scene.add_solid(mesh, SOFT)
    return scene


def test_untangling_a_start(caplog: pytest.LogCaptureFixture) -> None:
    scene = cubes_in_each_other()
    assert said(pl.Simulation(scene, pl.VBD(20)), 1, "scene.untangle() takes bodies apart", caplog)
    scene.untangle()
    assert not said(pl.Simulation(scene, pl.VBD(20)), 1, "contact:", caplog)


def crossed_sheets(way: tuple[float, float, float] = (0.1, 0.13, 0.0)) -> pl.Scene:
    """From rim to rim."""
    scene = pl.Scene(contact=pl.Contact(guarantee=True))
    scene.add_cloth(pl.shapes.cloth((1, 1), (2, 2)), LAW, name="flat")
    turned = pl.shapes.cloth((1, 1), (2, 2)).transformed(rotation=((1, 0, 0), (0, 0, -1), (0, 1, 0)))
    scene.add_cloth(turned.transformed(translation=way), LAW, name="upright")
    return scene


def test_a_refused_start() -> None:
    """A gap, untangling, or bodies that do not touch: each is taken."""
    with pytest.raises(PliantError, match=r"Leave a gap .* scene\.untangle\(\) .* scene\.ignore_contact"):
        pl.Simulation(crossed_sheets(), pl.VBD(2)).step()
    parted, joined = crossed_sheets(), crossed_sheets()
    parted.untangle()
    joined.ignore_contact(*joined.bodies)
    for scene in (crossed_sheets((0.1, 0.13, 0.6)), parted, joined):
        pl.Simulation(scene, pl.VBD(2)).step()


def squeezed(depth: float) -> pl.Simulation:
    """A cube of 10 cm between a plane and a box that comes down on it by so much [m]."""
    scene = pl.Scene(gravity=(0, 0, 0), contact=pl.Contact(guarantee=True))
    scene.add_solid(pl.shapes.box((0.1, 0.1, 0.1), (2, 2, 2)).transformed(translation=(0, 0, 0.055)), SOFT)
    scene.add_plane()
    scene.add_box((0.02, 0.01, 0.16), (0.3, 0.3, 0.1), motion=lambda t: ((0, 0, -min(2 * t, depth)), np.eye(3)))
    return pl.Simulation(scene, pl.VBD(5))


@pytest.mark.slow
def test_more_room_for_what_is_squeezed() -> None:
    sim = squeezed(0.2)
    with pytest.raises(PliantError, match="Leave more room"):
        [sim.step() for _ in range(60)]
    sim = squeezed(0.04)
    for _ in range(20):
        sim.step()


def ball_at_a_cloth(finer: int) -> pl.Simulation:
    """Which is as much finer than in the mean, by this power, where the ball meets it."""
    scene = pl.Scene(gravity=(0, 0, 0), contact=pl.Contact())
    mesh = pl.shapes.cloth((2.0, 2.0), (40, 40))
    scene.add_cloth(pl.TriMesh(np.sign(mesh.points) * np.abs(mesh.points) ** finer, mesh.triangles), LAW)
    scene.add_rigid(pl.Sphere(0.05), position=(0, 0, 0.055), velocity=(0, 0, -10.0))
    return pl.Simulation(scene, pl.VBD(5))


@pytest.mark.slow
def test_coarser_meshes_around_a_round_body(caplog: pytest.LogCaptureFixture) -> None:
    assert said(ball_at_a_cloth(3), 1, "Coarser meshes", caplog)
    assert not said(ball_at_a_cloth(1), 1, "sliding points", caplog)
