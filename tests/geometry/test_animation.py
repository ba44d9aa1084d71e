"""Animated meshes: interpolation, files, the walking figure, and what is refused."""

import numpy as np
import pytest

import pliant as pl

TRIANGLES = [[0, 1, 2]]
FRAMES = np.array(
    [[[0.0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 0, 1], [1, 0, 1], [0, 1, 1]], [[0, 0, 3], [1, 0, 3], [0, 1, 3]]]
)


def test_vertices_move_straight_between_frames():
    animation = pl.Animation(TRIANGLES, FRAMES, [0.0, 0.5, 1.0])
    assert animation.positions(0.25)[:, 2] == pytest.approx(0.5)
    assert animation.positions(0.75)[:, 2] == pytest.approx(2.0)
    assert animation.velocities(0.75)[:, 2] == pytest.approx(4.0)
    assert animation.positions(7.0)[:, 2] == pytest.approx(3.0)  # it rests
    assert not animation.velocities(7.0).any()
    again = pl.Animation(TRIANGLES, FRAMES, [0.0, 0.5, 1.0], repeat=True)
    assert again.positions(1.25)[:, 2] == pytest.approx(0.5)


@pytest.mark.parametrize("ending", [".obj", ".ply"])
def test_sequences_of_files(tmp_path, ending):
    for k in (0, 1, 2):
        pl.save_mesh(tmp_path / f"walk_{9 + k}{ending}", pl.TriMesh(FRAMES[k], TRIANGLES))  # 9, 10, 11
    for path in (tmp_path, tmp_path / f"walk_*{ending}"):
        animation = pl.load_animation(path, frame_rate=10)
        assert np.allclose(animation.frames, FRAMES, atol=1e-6)
        assert animation.times == pytest.approx([0, 0.1, 0.2])


def test_arrays(tmp_path):
    np.savez(tmp_path / "walk.npz", frames=FRAMES, triangles=TRIANGLES, times=[0.0, 1.0, 3.0])
    animation = pl.load_animation(tmp_path / "walk.npz")
    assert np.array_equal(animation.frames, FRAMES)
    assert animation.seconds == 3.0


def test_a_change_of_topology_is_refused(tmp_path):
    pl.save_mesh(tmp_path / "a0.obj", pl.TriMesh(FRAMES[0], TRIANGLES))
    pl.save_mesh(tmp_path / "a1.obj", pl.TriMesh(FRAMES[1], [[0, 2, 1]]))
    with pytest.raises(pl.FileError, match=r"a1\.obj: it has 3 vertices and 1 triangles, not those of"):
        pl.load_animation(tmp_path)


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"frames": FRAMES}, "'triangles' is missing"),
        ({"frames": FRAMES[:, :, :2], "triangles": TRIANGLES}, r"frames have shape \(3, 3, 2\)"),
        ({"frames": FRAMES * np.nan, "triangles": TRIANGLES}, "frame 0 has a position that is not finite"),
        ({"frames": FRAMES, "triangles": TRIANGLES, "times": [0.0, 2.0, 1.0]}, "give 3 that ascend"),
        ({"frames": FRAMES, "triangles": [[0, 1, 7]]}, "7"),
    ],
)
def test_bad_arrays_are_refused(tmp_path, arrays, words):
    np.savez(tmp_path / "bad.npz", **arrays)
    with pytest.raises(pl.FileError, match=words):
        pl.load_animation(tmp_path / "bad.npz")


def test_frames_of_different_topology_are_refused():
    ball = pl.shapes.ball(cells=2).surface()
    with pytest.raises(pl.MeshError, match="frame 1 has 41 vertices, frame 0 has 42: all frames"):
        pl.Animation.from_frames(ball.triangles, [ball.points, ball.points[:-1]])


def test_no_frames_are_refused(tmp_path):
    with pytest.raises(pl.FileError, match="no frames are there"):
        pl.load_animation(tmp_path / "walk_*.obj")


def test_the_walking_figure():
    walk = pl.Animation.walking_mannequin(height=1.7, strides=2, frame_rate=30, speed=1.2)
    assert walk.mesh.is_closed
    assert walk.seconds == pytest.approx(2 * 0.8 * 1.7 / 1.2, abs=1 / 30)
    lowest, highest = walk.frames[:, :, 2].min(axis=1), walk.frames[:, :, 2].max(axis=1)
    # a sole is on the ground in every frame, but for what facets of 30 degrees cut off a shin of 6.1 cm
    assert lowest.min() > -1e-9
    assert lowest.max() < 0.036 * 1.7 * (1 - np.cos(np.pi / 12))
    assert highest.max() == pytest.approx(1.7, rel=1e-3)  # standing straight
    assert highest.min() > 0.95 * 1.7
    # the figure as a whole moves at the speed of walking, no vertex faster than a swinging foot
    moved = walk.frames[-1].mean(axis=0) - walk.frames[0].mean(axis=0)
    assert moved[0] / walk.seconds == pytest.approx(1.2, rel=0.02)
    speeds = np.linalg.norm(np.diff(walk.frames, axis=0), axis=2) * 30
    assert speeds.max() < 4 * 1.2
    # limbs are rigid: lengths of edges do not change
    edges = walk.mesh.edges
    lengths = np.linalg.norm(walk.frames[:, edges[:, 0]] - walk.frames[:, edges[:, 1]], axis=2)
    assert np.ptp(lengths, axis=0).max() < 0.02


def test_an_animation_is_an_obstacle_that_moves():
    scene = pl.Scene()
    animation = pl.Animation(TRIANGLES, FRAMES, [0.0, 0.5, 1.0])
    body = scene.add_mesh_obstacle(animation, friction=0.5)
    assert np.array_equal(body.positions, FRAMES[0])
    ((vertices, motion),) = body.motions
    assert len(vertices) == 3
    assert motion(0.5)[:, 2] == pytest.approx(1.0)
    with pytest.raises(pl.SceneError, match="moves by itself"):
        scene.add_mesh_obstacle(animation, motion=pl.motions.Slide.rigid(velocity=(1, 0, 0)))
