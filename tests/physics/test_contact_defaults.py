"""Scenes with shapes, materials and friction but no contact numbers: nothing gains energy, nothing is thrown about."""

import logging
from collections.abc import Callable

import numpy as np
import pytest

import pliant as pl
from pliant.contact.search.initial_intersections import piercing_pairs


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
    add_sheet(scene, mesh, scale)
    scene.add_sphere((0, 0, 0), 0.3)
    scene.add_plane((0, 0, -0.3), (0, 0, 1))
    return scene


def cloth_over_sphere_20(scale: float) -> pl.Scene:
    return cloth_over_sphere(20, scale)


def add_sheet(scene: pl.Scene, mesh, scale: float):
    law = pl.StableNeoHookean(mu=2000.0 * scale, lam=2000.0 * scale)
    return scene.add_cloth(mesh, law, density=0.2 * scale, bending=1e-5 * scale)


def ball_on_a_sheet(scale: float = 1.0) -> pl.Scene:
    """A soft ball of 150 mm falls 0.3 m onto a sheet of 1 m that is pinned at its corners."""
    scene = pl.Scene()
    scene.contact = pl.Contact()
    mesh = pl.shapes.ball(0.075, 4).transformed(translation=(0, 0, 0.375))
    scene.add_solid(mesh, pl.StableNeoHookean.from_young(3e4 * scale, 0.3), density=300.0 * scale)
    sheet = pl.shapes.cloth((1, 1), (30, 30))
    corners = np.abs(sheet.points[:, :2]).min(axis=1) > 0.499
    assert corners.sum() == 4
    add_sheet(scene, sheet, scale).pin(corners)
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
    return len(piercing_pairs(detector.team, detector.colliders, sim.positions))


def test_two_balls_bounce() -> None:
    """Energy never rises, momentum stays to rounding, and the restitution is near that of Newton's method with a stiff
    contact, 0.73: 0.774 with 20 iterations and with 200.
    """
    sim = pl.Simulation(two_balls(), pl.VBD())
    start = sim.energies()["total"]
    assert largest_rise(sim, 7) < 1e-6 * start
    assert np.abs(sim.model.mass @ sim.velocities).max() < 1e-11
    speed = abs(sim.velocities[: sim.model.body_start[1], 0].mean())
    assert speed / 0.5 == pytest.approx(0.73, abs=0.06)
    assert pierced(sim) == 0


def test_a_sheet_falls_over_a_ball() -> None:
    """Its energy falls from 0.69 J to about 0.2 J and is never 0.01 J above what it was."""
    sim = pl.Simulation(cloth_over_sphere(20), pl.VBD())
    assert largest_rise(sim, 30) < 0.01
    assert 0.15 < sim.energies()["total"] < 0.3
    assert pierced(sim) == 0


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_scaled_masses_and_stiffnesses_move_alike(scale: float) -> None:
    """Stiffness is chosen from what meets, so a sheet of a millionth or a million of the mass falls in the same way, to
    what single precision leaves.
    """
    plain, scaled = (pl.Simulation(cloth_over_sphere(20, s), pl.VBD()) for s in (1.0, scale))
    for sim in (plain, scaled):
        for _ in range(12):
            sim.advance()
    assert plain.n_contacts > 0
    assert np.abs(plain.positions - scaled.positions).max() < 1e-4
    assert scaled.energies()["total"] / scale == pytest.approx(plain.energies()["total"], rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_a_ball_falls_into_a_sheet(scale: float) -> None:
    """Whatever it weighs; of 1.88 J, with iterations that converge, the energy never rises by more than 0.01 J."""
    sim = pl.Simulation(ball_on_a_sheet(scale), pl.VBD(iterations=100))
    assert sim.energies()["total"] / scale == pytest.approx(1.884, rel=1e-3)
    assert largest_rise(sim, 30) / scale < 0.01
    assert sim.energies()["total"] / scale == pytest.approx(1.186, rel=0.01)
    assert pierced(sim) == 0


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("make", [cloth_over_sphere_20, ball_on_a_sheet], ids=["cloth on a sphere", "ball on a sheet"])
def test_the_default_solver_gains_no_energy(make: Callable[[float], pl.Scene], scale: float) -> None:
    """In 1/3 s, whatever the masses: the total energy falls in every step, to a millionth, and none is removed."""
    sim = pl.Simulation(make(scale))
    before = start = sim.energies()["total"]
    for _ in range(100):
        report = sim.step()
        after = sim.energies()["total"]
        assert after - before < 1e-6 * start
        assert report.contact.energy_removed < 1e-6 * start
        before = after
    assert sim.n_contacts > 0


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


def falling_cube(substeps: int, speed: float, **contact: float) -> pl.Simulation:
    scene = pl.Scene()
    scene.contact = pl.Contact(**contact)
    mesh = pl.shapes.box((0.1,) * 3, (2, 2, 2)).transformed(translation=(0, 0, 0.12))
    body = scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e4, 0.3), density=1000.0)
    body.set_velocities((0, 0, -speed))
    scene.add_plane((0, 0, 0), (0, 0, 1))
    return pl.Simulation(scene, pl.VBD(iterations=40), substeps=substeps)


def told(sim: pl.Simulation, frames: int, caplog: pytest.LogCaptureFixture, words: str) -> list[str]:
    caplog.clear()
    with caplog.at_level(logging.WARNING, "pliant"):
        for _ in sim.frames(frames):
            pass
    return [record.message for record in caplog.records if words in record.message]


@pytest.mark.parametrize("given", [{}, {"stiffness": 1.5e4}])
def test_advice_to_take_smaller_steps_helps(given: dict[str, float], caplog: pytest.LogCaptureFixture) -> None:
    """A cube that falls on a plane with 20 m/s in one step per frame comes too near in a step; with as many times the
    substeps as the warning asks for, and no stiffness, it does not. With 3 m/s it does not either.
    """
    said = told(falling_cube(1, 20.0, **given), 6, caplog, "nearer in a step")
    assert said
    assert all(("leave stiffness out" in message) == bool(given) for message in said)
    times = max(int(message.split("Take ")[1].split(" times")[0]) for message in said)
    assert 2 <= times <= 100
    assert not told(falling_cube(times, 20.0), 6, caplog, "contact:")
    assert not told(falling_cube(1, 3.0), 6, caplog, "contact:")


def test_advice_to_leave_the_stiffness_out_helps(caplog: pytest.LogCaptureFixture) -> None:
    """1e8 N/m is more than ten thousand times what is chosen for the balls: steps do not converge, and without it there
    is no warning of contact.
    """
    said = told(pl.Simulation(two_balls(stiffness=1e8), pl.VBD()), 1, caplog, "Leave stiffness out")
    assert said
    assert not told(pl.Simulation(two_balls(), pl.VBD()), 7, caplog, "contact:")


@pytest.mark.slow
def test_the_tablecloth_ends_without_piercing_pairs() -> None:
    """Of 40 x 40 cells over a ball, 120 iterations: no pair pierces another without any numbers, and the energy never
    rises. (60 are too few since its bending converges to the plate: 11 pairs, and a rise of 0.07 J.)
    """
    scene = pl.Scene()
    scene.contact = pl.Contact()
    scene.add_sphere((0, 0, -0.35), 0.3)
    law = pl.StableNeoHookean(mu=400.0, lam=400.0)
    sheet = scene.add_cloth(pl.shapes.cloth((1.2, 1.2), (40, 40)), law, density=0.2, bending=1e-4)
    sheet.air_damping = 1.0
    sim = pl.Simulation(scene, pl.VBD(iterations=120))
    assert largest_rise(sim, 90) < 1e-3
    assert pierced(sim) == 0
