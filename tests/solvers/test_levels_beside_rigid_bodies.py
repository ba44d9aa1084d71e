"""Coarse levels in scenes with rigid bodies: they move what is soft, and the minimiser is Newton's."""

import numpy as np
import pytest

import pliant as pl


def _scene(is_linked: bool = False) -> pl.Scene:
    """A stiff beam, clamped at one end, with a rigid ball on it and a rigid box beside it, or fixed to its end."""
    mesh = pl.shapes.beam(length=1.0, width=0.1, height=0.1, cells=(20, 2, 2))
    scene = pl.Scene(gravity=(0, 0, -9.81))
    beam = scene.add_solid(mesh, pl.StableNeoHookean.from_young(5e6, 0.45), density=1000.0, name="beam")
    beam.pin(mesh.points[:, 0] < -0.499)
    scene.add_rigid(pl.Sphere(0.05), density=2000.0, position=(0.2, 0.0, 0.099), name="ball")
    box = scene.add_rigid(pl.Box((0.1, 0.1, 0.1)), density=500.0, position=(0.56, 0.0, 0.0), name="box")
    if is_linked:
        end = np.flatnonzero(mesh.points[:, 0] > 0.499)
        scene.attach(box, [box.point(mesh.points[v]) for v in end], beam, end, stiffness=np.inf)
    scene.contact = pl.Contact()
    return scene


@pytest.mark.slow
def test_same_minimiser_as_newton_with_a_ball_on_a_beam() -> None:
    sim = pl.Simulation(_scene(), pl.VBD(iterations=5), precision="double", frame_rate=60, substeps=1)
    for _ in range(3):
        sim.step()
    problem = sim.problem()
    minimiser = pl.solve(problem, pl.Newton(), stop=pl.Stop(iterations=60, residual=1e-9)).x
    levels = pl.Multilevel(pl.VBD())
    found = pl.solve(problem, levels, stop=pl.Stop(iterations=800, residual=1e-9), measure_every=80)
    travelled = np.abs(minimiser - problem.x_guess).max()
    assert np.abs(found.x - minimiser).max() <= 1e-6 * travelled
    alone = pl.solve(problem, pl.VBD(), stop=pl.Stop(iterations=400), measure_every=400)
    assert np.abs(alone.x - minimiser).max() > 0.01 * travelled


@pytest.mark.slow
@pytest.mark.parametrize("is_linked", [False, True], ids=["box falls", "box hangs on the beam"])
def test_the_default_uses_levels_beside_rigid_bodies(is_linked: bool) -> None:
    """Half a second of the beam beside the same with a hundred times smaller errors in double precision."""
    runs, strict = {}, pl.Auto(tolerance=5e-5, iterations_max=4000)
    for name, solver in (("default", None), ("strict", strict)):
        precision = "single" if solver is None else "double"
        sim = pl.Simulation(_scene(is_linked), solver, frame_rate=60, substeps=2, precision=precision)
        reports = [sim.step() for _ in range(60)]
        # points that slide to where the ball touches have no mass, and are nowhere while it does not
        runs[name] = sim.positions[sim.model.mass > 0]
        if solver is None:
            assert all(report.converged for report in reports)
            assert sum("Multilevel" in report.reason for report in reports) > 50
    moved = np.abs(runs["strict"] - sim.model.positions[sim.model.mass > 0]).max()
    assert np.abs(runs["default"] - runs["strict"]).max() < 0.02 * moved


def _draped(is_pinned: bool) -> pl.Scene:
    """A cloth just above a rigid box that stands on the ground."""
    scene = pl.Scene()
    mesh = pl.shapes.cloth(size=(1.0, 1.0), cells=(12, 12))
    sheet = scene.add_cloth(mesh, pl.StableNeoHookean.from_young(1e4, 0.3), density=0.2, bending=1e-5)
    sheet.set_positions(mesh.points + np.array([0.13, 0.07, 0.51]))
    box = scene.add_rigid(pl.Box((0.5, 0.5, 0.5)), density=500.0, position=(0.0, 0.0, 0.25))
    if is_pinned:
        box.pin()
    scene.add_plane((0, 0, 0), (0, 0, 1))
    return scene


def test_cloth_over_a_free_box_takes_as_many_iterations_as_over_a_pinned_one() -> None:
    """A heavy box hardly moves, so that both steps are nearly the same minimisation."""
    iterations = {}
    for is_pinned in (True, False):
        sim = pl.Simulation(_draped(is_pinned), pl.Multilevel(pl.VBD(iterations=400), tolerance=0.005))
        reports = [sim.step() for _ in range(30)]
        assert all(report.converged for report in reports[15:])
        iterations[is_pinned] = sum(report.iterations for report in reports)
    assert iterations[False] < 1.3 * iterations[True]


def test_scenes_without_anything_soft_are_refused() -> None:
    scene = pl.Scene()
    scene.add_rigid(pl.Sphere(0.1), density=1000.0)
    with pytest.raises(pl.SolverError, match="nothing in this scene that is free to move is soft"):
        pl.Simulation(scene, pl.Multilevel(pl.VBD())).step()
