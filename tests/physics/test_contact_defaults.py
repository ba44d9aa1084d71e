"""Scenes with shapes, materials and friction but no contact numbers: nothing gains energy, nothing is thrown about."""

import numpy as np
import pytest

import pliant as pl
from pliant.contact.search.initial_intersections import pierced_triangles


def two_balls(**contact: float) -> pl.Scene:
    """4.2 kg each, 0.2 m across, meeting at 1 m/s."""
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.contact = pl.Contact(**contact)
    for side in (-1, 1):
        mesh = pl.shapes.ball(0.1, 5).transformed(translation=(0.105 * side, 0, 0))
        body = scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e5, 0.3), density=1000.0)
        body.set_velocities((-0.5 * side, 0, 0))
    return scene


def cloth_over_sphere(cells: int, scale: float = 1.0) -> pl.Scene:
    """A sheet of 1 m falls on a ball and a plane; its mass and stiffness are scaled."""
    scene = pl.Scene()
    scene.contact = pl.Contact()
    mesh = pl.shapes.cloth((1, 1), (cells, cells)).transformed(translation=(0, 0, 0.35))
    scene.add_cloth(mesh, pl.StableNeoHookean(mu=2000.0 * scale, lam=2000.0 * scale), density=0.2 * scale)
    scene.add_sphere((0, 0, 0), 0.3)
    scene.add_plane((0, 0, -0.3), (0, 0, 1))
    return scene


def largest_rise(sim: pl.Simulation, frames: int) -> float:
    """By how much [J] the total energy is ever above what it was before."""
    lowest, rise = sim.energies()["total"], 0.0
    for _ in range(frames):
        sim.advance()
        total = sim.energies()["total"]
        lowest, rise = min(lowest, total), max(rise, total - lowest)
    return rise


def pierced(sim: pl.Simulation) -> int:
    detector = sim._detector
    assert detector is not None
    return pierced_triangles(detector.team, detector.colliders, sim.positions)


def test_two_balls_bounce() -> None:
    """Energy never rises, the restitution is 0.77, near that of a converged solution (0.73), and 20 iterations leave
    0.027 kg m/s of momentum, of 2.1 kg m/s that each ball brings.
    """
    sim = pl.Simulation(two_balls(), pl.VBD())
    start = sim.energies()["total"]
    assert largest_rise(sim, 7) < 1e-6 * start
    assert np.abs(sim.model.mass @ sim.velocities).max() < 0.05
    speed = abs(sim.velocities[: sim.model.body_start[1], 0].mean())
    assert 0.65 < speed / 0.5 < 0.85
    assert pierced(sim) == 0


def test_a_sheet_falls_over_a_ball() -> None:
    """Its energy falls from 0.69 J to about 0.2 J and is never 0.01 J above what it was."""
    sim = pl.Simulation(cloth_over_sphere(20), pl.VBD())
    assert largest_rise(sim, 30) < 0.01
    assert 0.15 < sim.energies()["total"] < 0.3
    assert pierced(sim) == 0


def test_scaled_masses_and_stiffnesses_move_alike() -> None:
    """Stiffness is chosen from what meets, so a sheet of a million times the mass falls in the same way."""
    scale = 1e6
    plain, scaled = (pl.Simulation(cloth_over_sphere(20, s), pl.VBD()) for s in (1.0, scale))
    for sim in (plain, scaled):
        for _ in range(12):
            sim.advance()
    assert plain.n_contacts > 0
    assert np.abs(plain.positions - scaled.positions).max() < 2e-3
    assert scaled.energies()["total"] / scale == pytest.approx(plain.energies()["total"], rel=0.02)


def test_overlap_at_the_start_is_pushed_out_slowly() -> None:
    """Two cubes 1 cm in each other begin without force and part at the speed of a tenth of sqrt(g edge), or of an edge
    in ten steps where there is no gravity; without offsets their overlap would throw them apart with metres a second.
    """
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.contact = pl.Contact(friction=0.0)
    for z in (0.0, 0.09):
        mesh = pl.shapes.box((0.1,) * 3, (2, 2, 2)).transformed(translation=(0.1 * z, 0.2 * z, z))
        scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e5, 0.3), density=1000.0)
    sim = pl.Simulation(scene, pl.VBD(iterations=40))
    assert sim.step().contact.deepest == pytest.approx(0.01, rel=0.1)
    fastest, apart = 0.0, 0.0
    edge = float(sim.model.contact.edge[0])
    for _ in range(120):
        report = sim.step()
        fastest = max(fastest, float(np.abs(sim.velocities).max()))
        apart = report.contact.deepest
    assert fastest < 3 * 0.1 * 0.1 * edge / sim.h
    assert apart < 1e-3


def test_friction_only_dissipates() -> None:
    """A block that slides on a plane: friction's work is never positive, and contact adds no energy."""
    scene = pl.Scene()
    scene.contact = pl.Contact()
    mesh = pl.shapes.box((0.1,) * 3, (2, 2, 2)).transformed(translation=(0, 0, 0.0501))
    scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e5, 0.3), density=1000.0).set_velocities((1, 0, 0))
    scene.add_plane((0, 0, 0), (0, 0, 1), friction=0.4)
    sim = pl.Simulation(scene, pl.VBD(iterations=40))
    reports = [sim.step().contact for _ in range(60)]
    assert sum(report.friction_work for report in reports) < -0.1
    assert max(report.friction_work for report in reports) <= 1e-9
    assert max(report.energy_gain for report in reports) < 1e-3 * 0.5


def test_a_block_at_rest_sinks_in_by_little() -> None:
    """By less than a thousandth of an edge, on its weight."""
    scene = pl.Scene()
    scene.contact = pl.Contact(damping=0.02)
    mesh = pl.shapes.box((0.1,) * 3, (2, 2, 2)).transformed(translation=(0, 0, 0.05))
    scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e5, 0.3), density=1000.0)
    scene.add_plane((0, 0, 0), (0, 0, 1))
    sim = pl.Simulation(scene, pl.VBD(iterations=40))
    for _ in range(120):
        report = sim.step()
    assert 0 < report.contact.deepest < 2e-3 * 0.05 * 10
    assert report.contact.softest is None


def test_a_run_that_has_blown_up_stops() -> None:
    """A stiffness of 1e7 N/m throws the soft balls about: the run ends with the vertex, the number and what helps,
    which is the scene of the first test; the state before is kept.
    """
    sim = pl.Simulation(two_balls(stiffness=1e7), pl.VBD())
    with pytest.raises(pl.SimulationError, match="the run has blown up") as error:
        list(sim.frames(12))
    said = str(error.value)
    assert "of solid" in said
    assert "leave the contact's stiffness=1e+07 N/m out" in said
    steps = sim.state.step
    assert steps < 60
    assert np.isfinite(sim.positions).all()
    with pytest.raises(pl.SimulationError, match="blown up"):
        sim.step()
    assert sim.state.step == steps


@pytest.mark.slow
def test_the_tablecloth_ends_with_few_piercing_pairs() -> None:
    """Of 40 x 40 cells over a ball: 20 pairs with numbers chosen by hand; fewer than a tenth of a percent of its
    triangles without any.
    """
    scene = pl.Scene()
    scene.contact = pl.Contact()
    scene.add_sphere((0, 0, -0.35), 0.3)
    law = pl.StableNeoHookean(mu=400.0, lam=400.0)
    sheet = scene.add_cloth(pl.shapes.cloth((1.2, 1.2), (40, 40)), law, density=0.2, bending=1e-4)
    sheet.air_damping = 1.0
    sim = pl.Simulation(scene, pl.VBD())
    assert largest_rise(sim, 90) < 0.03
    assert pierced(sim) <= 20
