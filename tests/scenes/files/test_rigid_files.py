"""Rigid bodies in scene files, checkpoints and results: the same bits, surfaces and poses."""

import numpy as np
import pytest

import pliant as pl
from pliant.geometry import rotations
from pliant.io.results import open_result


@pytest.fixture(scope="module")
def simulation() -> pl.Simulation:
    """One body of every shape, of which one is pinned and one led, after some steps."""
    scene = pl.Scene()
    scene.add_plane((0, 0, 0), (0, 0, 1))
    scene.add_rigid(pl.Sphere(0.1), position=(0, 0, 0.12), name="ball", restitution=0.5, friction=0.4)
    scene.add_rigid(pl.Box((0.2, 0.3, 0.1)), position=(0.4, 0, 0.1), orientation=(1, 0.2, 0.1, 0))
    scene.add_rigid(pl.Cylinder(0.1, 0.2), position=(-0.4, 0, 0.2), angular_velocity=(0, 1, 3))
    scene.add_rigid(pl.shapes.ball(0.1, cells=1), 500.0, position=(0, 0.4, 0.2), velocity=(0, 0, 1)).air_damping = 0.1
    scene.add_rigid(pl.Capsule(0.05, 0.2), position=(0, -0.4, 0.3)).pin()
    scene.add_rigid(pl.Sphere(0.05), position=(1, 1, 1)).move(pl.motions.Slide.rigid(velocity=(0, 1, 0)))
    return pl.Simulation(scene)


def test_a_scene_file_gives_the_same_bodies_back(simulation, tmp_path) -> None:
    pl.save_scene(simulation, tmp_path / "bodies.toml")
    again = pl.load_simulation(tmp_path / "bodies.toml")
    for one, other in zip(simulation.scene.bodies, again.scene.bodies, strict=True):
        assert one.name == other.name
        assert one.ingredients().keys() == other.ingredients().keys()
        for name in ("pose", "twist", "mass", "inertia", "restitution", "friction", "air_damping", "subspace"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    simulation.step()
    again.step()
    np.testing.assert_array_equal(again.state.poses, simulation.state.poses)
    np.testing.assert_array_equal(again.state.x, simulation.state.x)


def test_a_checkpoint_goes_on_with_the_same_bits(simulation, tmp_path) -> None:
    for _ in range(10):
        simulation.step()
    simulation.save(tmp_path / "run.npz")
    again = pl.Simulation.resume(tmp_path / "run.npz", threads=1)
    for _ in range(10):
        simulation.step()
        again.step()
    for name in ("poses", "twists", "x", "v"):
        np.testing.assert_array_equal(getattr(again.state, name), getattr(simulation.state, name))


def test_results_hold_surfaces_and_poses(simulation, tmp_path) -> None:
    """Points of a frame are the shape's, carried by the pose beside them."""
    with simulation.record(tmp_path / "run.npz"):
        for _ in simulation.frames(2):
            pass
    with open_result(tmp_path / "run.npz") as result:
        layout, frame = result.layout, result.frame(2)
        assert layout.rigid == tuple(range(6))
        for k, body in enumerate(simulation.scene.bodies):
            np.testing.assert_allclose(frame.poses[k, :3], body.position, atol=1e-12)
            assert abs(frame.poses[k, 3:] @ body.orientation) == pytest.approx(1, abs=1e-10)
            points, _ = body.shape.surface
            carried = points @ rotations.matrices(frame.poses[k, 3:]).T + frame.poses[k, :3]
            own = frame.points[layout.body_start[k] : layout.body_start[k + 1]]
            np.testing.assert_allclose(own, carried, atol=1e-9)
            np.testing.assert_allclose(body.positions, carried, atol=1e-9)


def test_wrong_keys_of_a_rigid_body_are_told_with_their_line(tmp_path) -> None:
    for line, match in (
        ('shape = { kind = "sphere", radius = -1.0 }', "line 4: bodies.0.shape.radius"),
        ('shape = { kind = "sphere", radius = 1.0 }\norientation = [0.0, 0.0, 0.0, 0.0]', "line 5: .*quaternion"),
        ('shape = { kind = "sphere", radius = 1.0 }\nrestitution = 2.0', "line 5: .*from 0 to 1"),
    ):
        path = tmp_path / "scene.toml"
        path.write_text(f'[[bodies]]\nkind = "rigid"\nname = "a"\n{line}\n')
        with pytest.raises(pl.SceneError, match=match):
            pl.load_scene(path)
