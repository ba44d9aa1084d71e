"""The default solver: how it chooses, that it repeats to the bit, and that its motion is right."""

import logging
import re

import numpy as np
import pytest

import pliant as pl
from pliant import trials

LAW = pl.StableNeoHookean


@pytest.fixture(scope="module", autouse=True)
def measured_advice(solvers_to_try):
    """Warnings here try other solvers, as everywhere outside of the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trials, "candidates", solvers_to_try)
        yield


def _beam(youngs_modulus=5e5, cells=(20, 2, 2)):
    mesh = pl.shapes.beam(length=1.0, width=0.1, height=0.1, cells=cells)
    scene = pl.Scene(gravity=(0, 0, -9.81))
    beam = scene.add_solid(mesh, LAW.from_young(youngs_modulus, 0.45), density=1000.0)
    beam.pin(mesh.points[:, 0] < -0.499)
    return scene, beam, int(np.argmax(mesh.points[:, 0]))


def _warnings(caplog):
    return [record.getMessage() for record in caplog.records if "before they have converged" in record.getMessage()]


def test_it_is_the_default():
    assert pl.Simulation(_beam()[0]).solver == pl.Auto(tolerance=0.005, iterations_max=200, start="adaptive")


def test_free_fall_needs_two_iterations_and_no_levels(caplog):
    scene = pl.Scene(gravity=(0, 0, -9.81))
    scene.add_solid(pl.shapes.box((0.2, 0.2, 0.2), 2), LAW.from_young(1e5, 0.4))
    sim = pl.Simulation(scene)
    reports = [sim.step() for _ in range(12)]
    assert [report.iterations for report in reports[1:]] == [2] * 11
    assert all("vertex block descent" in report.reason for report in reports)
    assert all(stage.work is None for stage in sim._work.stages[1:])
    assert not _warnings(caplog)


def test_stiff_bodies_get_levels_and_converge(caplog):
    scene, *_ = _beam(5e7)
    sim = pl.Simulation(scene)
    reports = [sim.step() for _ in range(20)]
    assert all(report.converged and report.error <= 0.005 for report in reports)
    assert reports[-1].reason.endswith("(Multilevel)")
    assert not _warnings(caplog)


def test_resumed_and_threaded_runs_repeat_to_the_bit(tmp_path):
    """With a checkpoint while levels help, and past the next try without them."""
    runs = []
    for threads in (1, 2):
        sim = pl.Simulation(_beam()[0], threads=threads)
        for _ in range(5):
            sim.step()
        if threads == 1:
            sim.save(tmp_path / "kept.npz")
        runs.append([sim.step().iterations for _ in range(8)] + [sim.positions.tobytes()])
    resumed = pl.Simulation.resume(tmp_path / "kept.npz")
    runs.append([resumed.step().iterations for _ in range(8)] + [resumed.positions.tobytes()])
    assert runs[0] == runs[1] == runs[2]


def test_levels_are_left_again_when_they_are_not_needed():
    """A beam that is let go falls freely: after a while vertex block descent is tried again, and suffices."""
    mesh = pl.shapes.beam(length=1.0, width=0.1, height=0.1, cells=(20, 2, 2))
    scene = pl.Scene(gravity=(0, 0, -9.81))
    beam = scene.add_solid(mesh, LAW.from_young(5e5, 0.45), density=1000.0, damping=0.0)
    beam.set_positions(mesh.points)
    sim = pl.Simulation(scene)
    sim._work.current, sim._work.waits[1] = 1, 8
    reasons = [sim.step().reason for _ in range(12)]
    assert "Multilevel" in reasons[0]
    assert "vertex block descent" in reasons[-1]


def _soft_cloth(threads=None):
    """A sheet that hangs from two corners, h^2 mu / (density dx^2) about 2."""
    mesh = pl.shapes.cloth((1.0, 1.0), (16, 16))
    scene = pl.Scene(gravity=(0, 0, -9.81))
    sheet = scene.add_cloth(mesh, pl.StVenantKirchhoff(mu=100.0, lam=100.0), density=0.2, bending=1e-5)
    sheet.pin((mesh.points[:, 0] < -0.499) & (np.abs(mesh.points[:, 1]) > 0.499))
    return pl.Simulation(scene, frame_rate=100, substeps=1, precision="double", threads=threads)


def test_accelerated_sweeps_end_where_newtons_method_does():
    """To the tolerance, of what forces do in the step, and in fewer sweeps than without momentum."""
    sim, accelerated = _soft_cloth(), 0
    for step in range(24):
        problem = sim.problem().with_own_internal_state()
        report = sim.step()
        if "accelerated" not in report.reason:
            continue
        accelerated += 1
        minimiser = pl.solve(problem, pl.Newton(), stop=pl.Stop(iterations=40, residual=1e-8)).x
        x, mass = sim.positions, problem.model.mass[:, None]
        left, done = (np.sqrt(np.sum(mass * d**2) / mass.sum()) for d in (x - minimiser, x - problem.y))
        assert left <= 0.005 * max(done, problem.h**2 * 9.81)
        if step % 6 == 0:
            plain = pl.solve(problem, pl.VBD(iterations=400, tolerance=0.005), measure_every=400)
            assert report.iterations < plain.iterations
    assert accelerated >= 12


def test_accelerated_runs_repeat_to_the_bit(tmp_path):
    runs = []
    for threads in (1, 2, 3):
        sim = _soft_cloth(threads)
        reports = [sim.step() for _ in range(12)]
        if threads == 1:
            sim.save(tmp_path / "kept.npz")
            assert "accelerated" in reports[-1].reason
        runs.append([sim.step().iterations for _ in range(8)] + [sim.positions.tobytes()])
    resumed = pl.Simulation.resume(tmp_path / "kept.npz")
    runs.append([resumed.step().iterations for _ in range(8)] + [resumed.positions.tobytes()])
    assert all(run == runs[0] for run in runs)


def test_nothing_is_accelerated_in_contact():
    """Momentum would carry vertices through what they touch."""
    scene = pl.Scene(gravity=(0, 0, -9.81))
    mesh = pl.shapes.box((0.2, 0.2, 0.2), 4)
    cube = scene.add_solid(mesh, LAW.from_young(2e4, 0.3), density=1000.0)
    cube.set_positions(mesh.points + np.array([0, 0, 0.1]))
    scene.add_plane((0, 0, 0), (0, 0, 1))
    sim = pl.Simulation(scene, frame_rate=60, substeps=1)
    for _ in range(30):
        report, contacts = sim.step(), sim.contacts
        assert not ("accelerated" in report.reason and len(contacts))


def test_scenes_without_levels_say_so():
    scene = pl.Scene(gravity=(0, 0, -9.81))
    mesh = pl.shapes.beam(length=1.0, width=0.1, height=0.1, cells=(20, 2, 2))
    beam = scene.add_solid(mesh, pl.Invertible(LAW.from_young(5e6, 0.45)), density=1000.0)
    beam.pin(mesh.points[:, 0] < -0.499)
    sim = pl.Simulation(scene, pl.Auto(iterations_max=60))
    for _ in range(3):
        report = sim.step()
    assert report.reason.endswith("(Chebyshev, because Multilevel does not support pl.Invertible materials)")


def _rope():
    """20 springs of 2e6 N/m and 10 g each, hung in a V."""
    scene = pl.Scene(gravity=(0, 0, -9.81))
    x = np.zeros((21, 3))
    x[:, 0] = np.linspace(-0.5, 0.5, 21)
    x[:, 2] = -np.sqrt(0.6**2 - 0.5**2) * (1 - 2 * np.abs(x[:, 0]))
    edges = np.stack([np.arange(20), np.arange(1, 21)], axis=1)
    rope = scene.add_springs(x, edges, stiffness=2e6, mass=0.01, damping=1e-4)
    rope.pin([0, 20])
    return scene


@pytest.mark.slow
def test_ropes_beyond_single_precision_follow_newtons_method(caplog):
    """Where neither vertex block descent nor levels converge, because positions in single precision round to 1 N."""
    ends = []
    for solver in (None, pl.Newton(iterations=8)):
        sim = pl.Simulation(_rope(), solver, precision="single")
        start = sim.positions
        for _ in range(100):
            sim.step()
        ends.append(sim.positions - start)
    assert np.abs(ends[0] - ends[1]).max() < 0.01 * np.abs(ends[1]).max()
    assert not _warnings(caplog)


def test_auto_ends_with_newtons_method_where_nothing_else_converges():
    sim = pl.Simulation(_rope(), precision="single")
    reports = [sim.step() for _ in range(20)]
    assert all(report.converged for report in reports)
    assert reports[-1].reason.endswith("(Newton)")
    assert reports[-1].error <= 0.005


def test_options():
    assert pl.Auto(iterations_max=30).with_iterations(7).iterations == 7
    with pytest.raises(pl.SolverError, match="iterations_max"):
        pl.Auto(iterations_max=0)
    with pytest.raises(pl.SolverError, match="tolerance is None"):
        pl.Auto(tolerance=None)


@pytest.mark.parametrize(("tolerance", "part"), [(0.005, 0.15), (5e-4, 0.01)])
def test_reactions_of_a_stiff_bar_are_as_exact_as_the_tolerance(tolerance, part):
    """It stretches by 1.2e-6 m where gravity moves a body by 1.1e-4 m per step: 1 % of that is all its stretch."""
    mesh = pl.shapes.box((0.05, 0.05, 0.5), (2, 2, 20))
    scene = pl.Scene()
    bar = scene.add_solid(mesh, LAW.from_young(1e9, 0.3), density=1000.0, damping=5e-3)
    bar.pin(mesh.points[:, 2] > 0.25 - 1e-9)
    sim, carried = pl.Simulation(scene, pl.Auto(tolerance=tolerance)), []
    for _ in range(200):
        assert sim.step().converged
        carried.append(sim.reaction_forces[:, 2].sum() / (9.81 * bar.masses.sum()))
    assert np.abs(np.array(carried[100:]) - 1).max() < part


@pytest.mark.slow
def test_beam_of_the_readme(caplog):
    """Tip at t = 1.02 s where Newton's method has it, -0.932 m; the energy never rises."""
    scene, beam, tip = _beam(cells=(40, 4, 4))
    sim = pl.Simulation(scene, frame_rate=60, substeps=5)
    energies = [sim.energies()["total"]]
    for _ in range(306):
        assert sim.step().converged
        energies.append(sim.energies()["total"])
    assert beam.positions[tip, 2] == pytest.approx(-0.932, rel=0.02)
    assert np.diff(energies).max() < 1e-6 * 98.1
    assert not _warnings(caplog)


@pytest.mark.slow
@pytest.mark.parametrize("youngs_modulus", [5e7, 1e8])
def test_stiff_beams_follow_the_converged_motion(youngs_modulus):
    """In double precision against 60 iterations with levels, 0.5 s."""
    ends = []
    for solver in (None, pl.Multilevel(pl.VBD(iterations=60))):
        scene, beam, tip = _beam(youngs_modulus)
        sim = pl.Simulation(scene, solver, precision="double")
        heights = []
        for _ in range(150):
            sim.step()
            heights.append(beam.positions[tip, 2] + 0.05)
        ends.append(np.mean(heights))
    assert ends[0] == pytest.approx(ends[1], rel=0.02)


@pytest.mark.slow
def test_stiff_block_slides_as_a_rigid_one(caplog):
    """0.5 m, E = 1e8 Pa, incline of atan(0.5), friction 0.4: g (sin - 0.4 cos) t^2 / 2 = 0.4387 m in 1 s."""
    angle = np.arctan(0.5)
    scene = pl.Scene(gravity=9.81 * np.array([np.sin(angle), -np.cos(angle), 0]))
    mesh = pl.shapes.box((0.5, 0.5, 0.5), 4)
    block = scene.add_solid(mesh, LAW.from_young(1e8, 0.3), density=1000.0)
    block.set_positions(mesh.points + np.array([0, 0.25, 0]))
    block.friction = 0.4
    scene.add_plane((0, 0, 0), (0, 1, 0), friction=0.4)
    sim = pl.Simulation(scene, frame_rate=200, substeps=1)
    start = sim.positions.mean(axis=0)[0]
    for _ in range(200):
        sim.step()
    assert sim.positions.mean(axis=0)[0] - start == pytest.approx(0.4387, rel=0.02) or _warnings(caplog)


# --- the warning ------------------------------------------------------------------------------------------------------


def _steps(solver, caplog, n=25):
    caplog.clear()
    sim = pl.Simulation(_beam()[0], solver)
    for _ in range(n):
        sim.step()
    return sim, _warnings(caplog)


@pytest.mark.slow
def test_vertex_block_descent_warns_once_and_its_advice_helps(caplog):
    caplog.set_level(logging.WARNING, logger="pliant")
    _, said = _steps(pl.VBD(iterations=10), caplog)
    assert len(said) == 1
    assert "VBD leaves about" in said[0]
    assert "bends or stretches" in said[0]
    advice = re.findall(r"solver=(pl\.\S+) ends this step", said[0])
    assert [words.split("(")[0] for words in advice] == ["pl.Multilevel"]
    for words in advice:
        assert _steps(eval(words, {"pl": pl}), caplog)[1] == []


def test_a_budget_that_is_too_small_is_told_of(caplog):
    caplog.set_level(logging.WARNING, logger="pliant")
    sim, said = _steps(pl.Auto(iterations_max=4), caplog, 8)
    assert len(said) <= 1
    assert not sim.step().converged


def test_diagnosis_of_a_beam_that_does_not_converge():
    """h^2 mu / (density dx^2) and the time of a wave from theory; advice is that of the warning."""
    sim, _ = pl.Simulation(_beam()[0], pl.VBD(iterations=5)), None
    for _ in range(3):
        sim.step()
    before = sim.positions
    found = sim.diagnose()
    np.testing.assert_array_equal(sim.positions, before)
    body = found.bodies[0]
    mesh = sim.scene.bodies[0].mesh
    edge = np.linalg.norm(mesh.points[mesh.tets[:, 1]] - mesh.points[mesh.tets[:, 0]], axis=1).mean()
    mu = 5e5 / (2 * 1.45)
    lam = 5e5 * 0.45 / (1.45 * 0.1)
    assert body.step_number == pytest.approx(mu / (300**2 * 1000 * edge**2))
    assert body.transit == pytest.approx(edge / np.sqrt((lam + 2 * mu) / 1000))
    assert body.smallest_angle == pytest.approx(np.degrees(np.arctan(np.sqrt(2))))  # of the tets at corners of cells
    assert not found.converged
    assert found.error == body.error > 0.05
    page = str(found)
    assert "solver=pl.Multilevel(pl.VBD(iterations=" in page
    assert len(page.splitlines()) < 60


@pytest.mark.slow
def test_newton_ends_the_steps_of_steel_in_either_precision(caplog):
    """Single-precision positions round to more force than its weight; Newton's method measures forces in double."""
    sags = []
    for precision in ("single", "double"):
        scene, beam, tip = _beam(2e11)
        sim = pl.Simulation(scene, precision=precision)
        before = beam.positions[tip, 2]
        assert all(sim.step().converged for _ in range(20))
        sags.append(before - beam.positions[tip, 2])
    assert sags[0] == pytest.approx(sags[1], abs=0.01 * 9.81 / 300**2)  # of what gravity does in a step
    assert not _warnings(caplog)
