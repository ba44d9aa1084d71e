"""Particles in files: checkpoints, scene files, solvers by name."""

import numpy as np
import pytest

import pliant as pl
from pliant.solvers.contract.registry import describe_solver, rebuild_solver


def heap(spin=True, friction=0.4):
    scene = pl.Scene()
    points = pl.shapes.packed_spheres((0.06, 0.06, 0.1), radius=0.01, spacing=1.05, jitter=1.0) + np.array([0, 0, 0.06])
    scene.add_particles(points, radius=0.01, friction=friction, spin=spin, name="sand")
    scene.add_container((0, 0, 0.5), (0.1, 0.1, 1.0))
    return scene


@pytest.mark.parametrize("scheme", [pl.VelocityTimeStepping(pl.GaussSeidel()), pl.SequentialPositions()])
def test_a_checkpoint_continues_with_the_same_bits(tmp_path, scheme):
    straight = pl.Simulation(heap(), scheme, substeps=2)
    for _ in range(20):
        straight.step()
    straight.save(tmp_path / "run.npz")
    resumed = pl.Simulation.resume(tmp_path / "run.npz")
    assert resumed.solver == scheme
    assert np.array_equal(resumed.state.spins, straight.state.spins)
    for _ in range(10):
        straight.step()
        resumed.step()
    assert np.array_equal(resumed.positions, straight.positions)
    assert np.array_equal(resumed.state.spins, straight.state.spins)
    assert np.abs(straight.state.spins).max() > 0


def test_scene_files_keep_particles(tmp_path):
    scene = heap()
    scene.bodies[0].radius[::2] = 0.009
    sim = pl.Simulation(scene, pl.VelocityTimeStepping(pl.Jacobi(omega=0.25), gamma=0.4), substeps=2)
    pl.save_scene(sim, tmp_path / "heap.toml")
    again = pl.load_simulation(tmp_path / "heap.toml")
    assert again.solver == sim.solver
    for _ in range(3):
        sim.step()
        again.step()
    assert np.array_equal(again.positions, sim.positions)


def test_a_scene_file_with_packed_spheres(tmp_path):
    (tmp_path / "sand.toml").write_text(
        """
[[bodies]]
kind = "particles"
friction = 0.5
spin = true
shape = { kind = "packed_spheres", space = [0.1, 0.1, 0.04], radius = 0.01 }
transform = { translation = [0, 0, 0.03] }

[[obstacles]]
kind = "plane"

[solver]
name = "VelocityTimeStepping"
relaxation = { name = "GaussSeidel", omega = 1.1 }
"""
    )
    sim = pl.load_simulation(tmp_path / "sand.toml")
    assert sim.solver == pl.VelocityTimeStepping(pl.GaussSeidel(omega=1.1))
    assert len(sim.positions) == 5 * 5 * 2
    assert sim.positions[:, 2].min() == pytest.approx(0.02)


@pytest.mark.parametrize("name", ["Jacobi", "GaussSeidel", "ImprovedJacobi", "MinimumResidual", "ConjugateResiduals"])
def test_solvers_are_described_and_rebuilt(name):
    solver = pl.SequentialPositions(name, k_v=0.2)
    assert rebuild_solver(describe_solver(solver)) == solver


def test_reports_measure_the_constraints():
    sim = pl.Simulation(
        heap(friction=0.0), pl.VelocityTimeStepping(pl.GaussSeidel(), iterations=400), precision="double"
    )
    for _ in range(60):
        report = sim.step()
    assert report.residual < 1e-6
    assert "Equation 28" in report.residual_definition
    solved = pl.solve(sim.problem(), pl.VelocityTimeStepping(pl.GaussSeidel()), stop=pl.Stop(iterations=40))
    assert solved.residuals[-1] < 1e-2 * solved.residuals[0]
    assert "Equation 28" in solved.residual_definition


def test_packings_do_not_overlap_and_stay_inside():
    ball = pl.shapes.ball(radius=0.1)
    for space, options in (
        ((0.2, 0.1, 0.1), {}),
        ((0.2, 0.1, 0.1), {"arrangement": "hexagonal"}),
        ((0.1,), {"fill": "ball", "spacing": 1.1, "jitter": 1.0}),
        ((0.05, 0.2), {"fill": "cylinder"}),
        (ball, {}),
        (ball.surface(), {"arrangement": "hexagonal"}),
    ):
        points = pl.shapes.packed_spheres(space, radius=0.01, **options)
        assert len(points) > 20
        distances = np.linalg.norm(points[:, None] - points[None], axis=2) + np.eye(len(points))
        assert distances.min() >= 0.02 * (1 - 1e-9)
        if "fill" in options or not isinstance(space, tuple):
            assert np.linalg.norm(points, axis=1).max() <= np.hypot(0.1, 0.1) - 0.01
        else:
            assert (np.abs(points) <= 0.5 * np.array(space) - 0.01 + 1e-12).all()
    assert len(pl.shapes.packed_spheres((0.2, 0.1, 0.1))) == 10 * 5 * 5
    assert len(pl.shapes.packed_spheres((0.3, 0.3, 0.3), arrangement="hexagonal")) > 1.1 * 15**3


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"radius": 0.0}, r"packed_spheres got radius=0.0"),
        ({"spacing": 0.5}, r"spacing=0.5; pass at least 1"),
        ({"radius": 1.0}, r"no sphere of radius 1 m fits"),
        ({"fill": "cone"}, r"fill='cone'; choose box, ball or cylinder"),
        ({"space": pl.shapes.cloth(cells=(2, 2))}, r"the mesh is not closed"),
        ({"radius": 1e-6}, r"would have 1.25e\+17 spheres; pass a larger radius"),
    ],
)
def test_bad_packings(options, words):
    with pytest.raises(pl.MeshError, match=words):
        pl.shapes.packed_spheres(**options)
